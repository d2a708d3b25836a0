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
from workbench.session.tasks import Task, TaskRunner


class ReferenceComparison(QObject):
    """Difference between the open image and the reference image.

    `compared` carries uint8 (H, W), the difference per pixel, or None.
    """

    compared = Signal(object)
    switched = Signal(bool)
    changed = Signal()  # the reference image was replaced or removed

    def __init__(self, session: Session, presets: DisplayPresets, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._presets = session, presets
        self.on = False
        self._tasks = TaskRunner(1, self)
        self._sample: tuple[str, str, np.ndarray] | None = None  # key, stamp of its file, pixels
        session.image_opened.connect(self._compute)
        session.image_failed.connect(self._compute)
        session.project_closed.connect(self._clear)
        presets.changed.connect(self._presets_changed)
        self._former: str | None = None
        self._reported: str | None = None  # sample whose problem was reported

    def close(self) -> None:
        self._tasks.stop()

    @property
    def sample(self) -> str | None:
        """Key of the reference image."""
        return self._presets.good_sample

    def possible(self) -> bool:
        return self._session.image is not None and self.sample is not None

    def choose(self) -> None:
        """Make the open image the reference image."""
        if self._session.image is not None:
            self._presets.set_good_sample(self._session.key)

    def switch(self, on: bool) -> None:
        if on != self.on:
            self.on = on
            self.switched.emit(on)
            self._compute()

    def _presets_changed(self) -> None:
        if self.sample != self._former:
            self._former = self.sample
            if self.sample is None:
                self.switch(False)
            self._compute()
            self.changed.emit()

    def _clear(self) -> None:
        self._sample = None
        self.switch(False)

    def _compute(self, *_: object) -> None:
        self._tasks.cancel()
        project, key, image = self._session.project, self._session.key, self._session.image
        sample = self._presets.good_sample
        self.compared.emit(None)
        if not self.on or project is None or image is None or sample is None or sample == key:
            return
        if not isinstance(image, np.ndarray):
            return  # too large to be read as a whole

        def work(_: Task) -> np.ndarray:
            return self._compare(project, image, sample)

        self._tasks.submit(work, self.compared.emit, self._on_failed)

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

    def _on_failed(self, problem: Problem) -> None:
        if self._reported != self.sample:  # once per sample: images of a project may differ in size
            self._reported = self.sample
            self._session.problem_met.emit(problem)
