"""Comparison of the open image with the good sample of the project, computed in a worker thread while switched on."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.images import image_files, reference_difference
from workbench.core.problems import Problem, SampleWrongSize
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp
from workbench.session.display_presets import DisplayPresets
from workbench.session.session import Session
from workbench.session.task_queue import TaskQueue


class ReferenceComparison(QObject):
    """Difference between the open image and the good sample.

    `compared` carries uint8 (H, W), the difference per pixel, or None.
    """

    compared = Signal(object)
    switched = Signal(bool)
    changed = Signal()  # the good sample was replaced or removed

    def __init__(self, session: Session, shelf: DisplayPresets, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._shelf = session, shelf
        self.on = False
        self._lane = TaskQueue(1, self)
        self._sample: tuple[str, str, np.ndarray] | None = None  # key, stamp of its file, pixels
        self._asked = 0
        session.image_opened.connect(self._compute)
        session.image_failed.connect(self._compute)
        session.project_closed.connect(self._forget)
        shelf.changed.connect(self._shelf_changed)
        self._former: str | None = None
        self._told: str | None = None

    def close(self) -> None:
        self._lane.cancel_pending()

    @property
    def sample(self) -> str | None:
        """Key of the good sample."""
        return self._shelf.good_sample

    def possible(self) -> bool:
        return self._session.image is not None and self.sample is not None

    def choose(self) -> None:
        """Make the open image the good sample."""
        if self._session.image is not None:
            self._shelf.choose_good_sample(self._session.key)

    def switch(self, on: bool) -> None:
        if on != self.on:
            self.on = on
            self.switched.emit(on)
            self._compute()

    def _shelf_changed(self) -> None:
        if self.sample != self._former:
            self._former = self.sample
            if self.sample is None:
                self.switch(False)
            self._compute()
            self.changed.emit()

    def _forget(self) -> None:
        self._sample = None
        self.switch(False)

    def _compute(self, *_: object) -> None:
        self._asked += 1
        asked, project = self._asked, self._session.project
        key, image, sample = self._session.key, self._session.image, self._shelf.good_sample
        self.compared.emit(None)
        if not self.on or project is None or image is None or sample is None or sample == key:
            return
        if not isinstance(image, np.ndarray):
            return  # too large to be read as a whole

        def work() -> np.ndarray | None:
            # A newer request may have arrived while this one was queued.
            return self._compare(project, image, sample) if asked == self._asked else None

        self._lane.submit(work, lambda found, error: self._arrived(asked, found, error))

    def _compare(self, project: Project, image: np.ndarray, key: str) -> np.ndarray:
        path = project.image_path(key)
        stamp = file_stamp(path)
        if self._sample is None or self._sample[:2] != (key, stamp):
            self._sample = key, stamp, image_files.read(path)
        sample = self._sample[2]
        if sample.shape[:2] != image.shape[:2]:
            (h, w), (height, width) = sample.shape[:2], image.shape[:2]
            raise SampleWrongSize(path=str(path), sample_width=w, sample_height=h, width=width, height=height)
        return reference_difference.difference_map(image, sample)

    def _arrived(self, asked: int, found: np.ndarray | None, error: Exception | None) -> None:
        if asked != self._asked:
            return
        if isinstance(error, Problem):
            if self._told != self.sample:  # once per sample: images of a project may differ in size
                self._told = self.sample
                self._session.problem_met.emit(error)
        elif error is not None:
            raise error
        self.compared.emit(found)
