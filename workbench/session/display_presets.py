"""Display presets, reference image and scale of the open project, and the comparison with the reference image.

Pages of the open image file: the first is the labeled image, the others can be displayed in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, ConfigDict
from PySide6.QtCore import QObject, Signal

from workbench.core.images import display, image_files
from workbench.core.images.display import MAX_LOCAL_CONTRAST, Display
from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.problems import ImageBroken, Problem, ProjectBroken, SampleWrongSize
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp, write_json
from workbench.core.stored_model import StoredModel
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner

FORMAT = 1


def _check(display: Display) -> Display:
    """Check that an image can be shown with these values. Raises ValueError."""
    if not 1e-3 <= display.gamma <= 1e3:
        raise ValueError(Message("display.gamma"))
    if not 0 <= display.local_contrast <= MAX_LOCAL_CONTRAST:
        raise ValueError(Message("display.local_contrast", n=f"{MAX_LOCAL_CONTRAST:g}"))
    if not -1e30 <= display.low <= display.high <= 1e30:
        raise ValueError(Message("display.range"))
    return display


class DisplayFile(StoredModel):
    """Content of display.json, a file of the project because it depends on the camera and its illumination.

    No other program reads it, and it may be deleted. presets: by name, in order of creation. good_sample: key of an
    image, or None.
    """

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    presets: dict[str, Annotated[Display, AfterValidator(_check)]] = {}
    good_sample: str | None = None


def load_displays(project: Project) -> DisplayFile:
    """Load display.json; return empty settings if it is missing. Raises ProjectBroken."""
    try:
        return load_versioned(project.root / "display.json", DisplayFile, FORMAT, ProjectBroken)
    except FileNotFoundError:
        return DisplayFile.of_defaults()


def save_displays(project: Project, displays: DisplayFile) -> None:
    """Write display.json, atomically. Raises ProjectReadOnly, CannotWrite."""
    project.need_write("display.json")
    write_json(project.root / "display.json", displays.model_dump(mode="json"))


class DisplayPresets(QObject):
    """Display presets, reference image and scale. A file that cannot be read is reported once and never overwritten."""

    changed = Signal()
    scale_changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._content = DisplayFile.of_defaults()
        self._broken: Problem | None = None
        session.project_opened.connect(self._load)
        session.project_closed.connect(self._load)
        session.classes.changed.connect(self.scale_changed)  # another program may have changed project.json

    @property
    def presets(self) -> dict[str, Display]:
        return dict(self._content.presets)

    @property
    def writable(self) -> bool:
        return self._session.writable and self._broken is None

    @property
    def reference(self) -> str | None:
        """Key of the reference image, which others are compared with."""
        return self._content.good_sample

    @property
    def um_per_pixel(self) -> float | None:
        return self._session.project.file.um_per_pixel if self._session.project else None

    def save_preset(self, name: str, display: Display) -> bool:
        """Save a display under a name, replacing one of the same name."""
        name = name.strip()[:60]
        return bool(name) and self._change(lambda content: content.presets.update({name: display}))

    def delete_preset(self, name: str) -> bool:
        return self._change(lambda content: content.presets.pop(name, None))

    def set_reference(self, key: str | None) -> bool:
        def choose(content: DisplayFile) -> None:
            content.good_sample = key

        return self._change(choose)

    def set_scale(self, um_per_pixel: float | None) -> bool:
        """Set the size of a pixel in micrometers, in project.json."""
        saved = self._session.set_project_field("um_per_pixel", um_per_pixel)
        if saved:
            self.scale_changed.emit()
        return saved

    def _change(self, change: Callable[[DisplayFile], object]) -> bool:
        project = self._session.project
        if project is None:
            return False
        content = self._content.model_copy(deep=True)
        change(content)
        try:
            if self._broken is not None:
                raise self._broken
            save_displays(project, content)
        except Problem as problem:
            self._session.problem_met.emit(problem)
            return False
        self._content = content
        self.changed.emit()
        return True

    def _load(self) -> None:
        self._content, self._broken = DisplayFile.of_defaults(), None
        if self._session.project is not None:
            try:
                self._content = load_displays(self._session.project)
            except Problem as problem:
                self._broken = problem
                self._session.problem_met.emit(problem)
        self.changed.emit()
        self.scale_changed.emit()


class ReferenceComparison(QObject):
    """Difference between the open image and the reference image.

    `compared` carries uint8 (H, W), the difference per pixel, or None.
    """

    compared = Signal(object)
    switched = Signal(bool)
    changed = Signal()  # the reference image was replaced or removed

    def __init__(self, session: Session, presets: DisplayPresets) -> None:
        super().__init__()
        self._session, self._presets = session, presets
        self.on = False
        self._tasks = TaskRunner(1, self)
        self._loaded: tuple[str, str, np.ndarray] | None = None  # key, stamp of its file, pixels
        session.current.opened.connect(self._compute)
        session.current.failed.connect(self._compute)
        session.project_closed.connect(self._clear)
        presets.changed.connect(self._presets_changed)
        self._former: str | None = None
        self._reported: str | None = None  # reference image whose problem was reported

    def close(self) -> None:
        self._tasks.stop()

    @property
    def reference(self) -> str | None:
        """Key of the reference image."""
        return self._presets.reference

    def possible(self) -> bool:
        return self._session.image is not None and self.reference is not None

    def choose(self) -> None:
        """Make the open image the reference image."""
        if self._session.image is not None:
            self._presets.set_reference(self._session.key)

    def switch(self, on: bool) -> None:
        if on != self.on:
            self.on = on
            self.switched.emit(on)
            self._compute()

    def _presets_changed(self) -> None:
        if self.reference != self._former:
            self._former = self.reference
            if self.reference is None:
                self.switch(False)
            self._compute()
            self.changed.emit()

    def _clear(self) -> None:
        self._loaded = None
        self.switch(False)

    def _compute(self, *_: object) -> None:
        self._tasks.cancel()
        project, key, image = self._session.project, self._session.key, self._session.image
        reference = self._presets.reference
        self.compared.emit(None)
        if not self.on or project is None or image is None or reference is None or reference == key:
            return
        if not isinstance(image, np.ndarray):
            return  # too large to be read as a whole

        def work(_: Task) -> np.ndarray:
            return self._compare(project, image, reference)

        self._tasks.submit(work, self.compared.emit, self._on_failed)

    def _compare(self, project: Project, image: np.ndarray, key: str) -> np.ndarray:
        path = project.image_path(key)
        stamp = file_stamp(path)
        if self._loaded is None or self._loaded[:2] != (key, stamp):
            self._loaded = key, stamp, image_files.read(path)
        reference = self._loaded[2]
        if reference.shape[:2] != image.shape[:2]:
            (h, w), (height, width) = reference.shape[:2], image.shape[:2]
            raise SampleWrongSize(path=str(path), sample_width=w, sample_height=h, width=width, height=height)
        return display.difference_map(image, reference)

    def _on_failed(self, problem: Problem) -> None:
        if self._reported != self.reference:  # once per reference image: images of a project may differ in size
            self._reported = self.reference
            self._session.problem_met.emit(problem)


# --- pages of the image file ----------------------------------------------------------------------


class ImagePages(QObject):
    """Page display of the open image. Labels, training and predictions always belong to the first page."""

    turned = Signal(object)  # image of the page; None: the first page again
    changed = Signal()  # `number` or `count`

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.number = 0  # page displayed, from 0
        self._session = session
        self._requested = 0
        self._tasks = TaskRunner(parent=self)
        for signal in (session.current.opened, session.current.failed, session.project_closed):
            signal.connect(self._reset)

    @property
    def count(self) -> int:
        return self._session.current.pages if self._session.image is not None else 1

    def possible(self) -> bool:
        return self.count > 1

    def go(self, step: int) -> None:
        """Turn by `step` pages, cyclically."""
        project, key = self._session.project, self._session.key
        if not self.possible() or project is None or key is None:
            return
        number = self._requested = (self._requested + step) % self.count
        self._tasks.cancel()
        if number == 0:
            self._show(0, None)
            return
        path = project.image_path(key)

        def work(_: Task) -> ImageArray:
            return image_files.read_displayed_page(path, number)

        def on_failed(problem: Problem) -> None:
            self._requested = self.number
            self._session.problem_met.emit(problem)

        self._tasks.submit(
            work,
            lambda image: self._show(number, image),
            on_failed,
            as_problem=lambda error: ImageBroken(path=str(path), why=str(error)),
        )

    def close(self) -> None:
        self._tasks.stop()

    def _show(self, number: int, image: ImageArray | None) -> None:
        if number != self.number:
            self.number = number
            self.turned.emit(image)
            self.changed.emit()

    def _reset(self, *_: object) -> None:
        self._tasks.cancel()
        self.number = self._requested = 0
        self.changed.emit()
