"""Pages of the open image file: the first is the labeled image, the others can be displayed in its place."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.core.images import image_files
from workbench.core.problems import ImageBroken, Problem
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner


class ImagePages(QObject):
    """Page display of the open image. Labels, training and predictions always belong to the first page."""

    turned = Signal(object)  # image of the page; None: the first page again
    changed = Signal()  # `number` or `count`

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 0  # page displayed, from 0
        self._session = session
        self._requested = 0
        self._tasks = TaskRunner(parent=self)
        for signal in (session.image_opened, session.image_failed, session.project_closed):
            signal.connect(self._reset)

    @property
    def count(self) -> int:
        return self._session.pages if self._session.image is not None else 1

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
