"""Computations of tools outside the GUI thread: an ordered queue of jobs, and previews of which the newest counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.session.task_queue import TaskQueue

Compute = Callable[[], Any]
Then = Callable[[Any], None]


class ToolTasks(QObject):
    """Job queue of the tools: `do` delivers every result, `glance` only the last, later and in the GUI thread."""

    changed = Signal(bool)  # True when jobs start, False when all are done
    troubled = Signal(object)  # Exception

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lane = TaskQueue(1, self)  # one thread: the jobs of one gesture are computed in order
        self._round = 0
        self._open = 0
        self._look = 0
        self._next: tuple[Compute, Then] | None = None
        self._glancing = False

    @property
    def busy(self) -> bool:
        return self._open > 0

    def run(self, compute: Compute, then: Then) -> None:
        round = self._round
        self._open += 1
        self.changed.emit(True)

        def answer(found: Any, error: Exception | None) -> None:
            if round != self._round:
                return
            self._open -= 1
            if not self._open:
                self.changed.emit(False)
            if error is not None:
                self.troubled.emit(error)
            else:
                then(found)

        # A job dropped before its start costs nothing.
        self._lane.submit(lambda: compute() if round == self._round else None, answer, urgent=True)

    def cancel(self) -> None:
        """Discard all jobs and previews."""
        self._round += 1
        self.cancel_preview()
        if self._open:
            self._open = 0
            self.changed.emit(False)

    def preview(self, compute: Compute, then: Then) -> None:
        """Compute a preview during a pointer move; skipped if a newer one is requested before its start."""
        self._next = (compute, then)
        if not self._glancing:
            self._go_on()

    def cancel_preview(self) -> None:
        """Discard pending previews."""
        self._look += 1
        self._next = None

    def _go_on(self) -> None:
        order, self._next = self._next, None
        self._glancing = order is not None
        if order is None:
            return
        compute, then = order
        look = self._look

        def answer(found: Any, error: Exception | None) -> None:
            # Errors of previews are ignored; the following click reports them.
            if look == self._look and error is None:
                then(found)
            self._go_on()

        self._lane.submit(compute, answer)

    def finish(self) -> None:
        """Wait for all jobs and deliver their results now."""
        self.cancel_preview()
        if self._open:
            self._lane.finish()

    def end(self) -> None:
        self.cancel()
        self._lane.cancel_pending()
