"""Pages of the open image file: the first is the labeled image, the others can be displayed in its place."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.images import image_files
from workbench.core.problems import ImageBroken, Problem
from workbench.session.session import Session
from workbench.session.task_queue import TaskQueue


class ImagePages(QObject):
    """Page display of the open image. Labels, training and predictions always belong to the first page."""

    turned = Signal(object)  # image of the page; None: the first page again
    changed = Signal()  # `number` or `count`

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = 0  # page displayed, from 0
        self._session = session
        self._wanted = 0
        self._lane = TaskQueue(parent=self)
        for signal in (session.image_opened, session.image_failed, session.project_closed):
            signal.connect(self._another)

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
        number = self._wanted = (self._wanted + step) % self.count
        if number == 0:
            self._show(0, None)
            return
        path = project.image_path(key)

        def work() -> np.ndarray | None:
            return image_files.read_displayed_page(path, number) if number == self._wanted else None

        def then(found: np.ndarray | None, error: Exception | None) -> None:
            if key != self._session.key or number != self._wanted:
                return
            if error is not None:
                self._wanted = self.number
                problem = error if isinstance(error, Problem) else ImageBroken(path=str(path), why=str(error))
                self._session.problem_met.emit(problem)
            elif found is not None:
                self._show(number, found)

        self._lane.submit(work, then, urgent=True)

    def close(self) -> None:
        self._lane.cancel_pending()

    def _show(self, number: int, image: np.ndarray | None) -> None:
        if number != self.number:
            self.number = number
            self.turned.emit(image)
            self.changed.emit()

    def _another(self, *_: object) -> None:
        self.number = self._wanted = 0
        self.changed.emit()
