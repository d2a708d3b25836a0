"""Computations of tools outside the GUI thread: an ordered queue of jobs, and previews of which the newest counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.session.task_queue import TaskQueue

Compute = Callable[[], Any]
Deliver = Callable[[Any], None]


class ToolTasks(QObject):
    """Job queue of the tools: `run` delivers every result, `preview` only the newest, both in the GUI thread."""

    changed = Signal(bool)  # True when jobs start, False when all are done
    failed = Signal(object)  # Exception

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._queue = TaskQueue(1, self)  # one thread: the jobs of one gesture are computed in order
        self._generation = 0  # of the jobs; raised by `cancel`
        self._open = 0
        self._preview_generation = 0
        self._next: tuple[Compute, Deliver] | None = None
        self._previewing = False

    @property
    def busy(self) -> bool:
        return self._open > 0

    def run(self, compute: Compute, deliver: Deliver) -> None:
        """Compute in a thread, then call `deliver` with the result."""
        generation = self._generation
        self._open += 1
        self.changed.emit(True)

        def finish(result: Any, error: Exception | None) -> None:
            if generation != self._generation:
                return
            self._open -= 1
            if not self._open:
                self.changed.emit(False)
            if error is not None:
                self.failed.emit(error)
            else:
                deliver(result)

        # A job dropped before its start costs nothing.
        self._queue.submit(lambda: compute() if generation == self._generation else None, finish, urgent=True)

    def cancel(self) -> None:
        """Discard all jobs and previews."""
        self._generation += 1
        self.cancel_preview()
        if self._open:
            self._open = 0
            self.changed.emit(False)

    def preview(self, compute: Compute, deliver: Deliver) -> None:
        """Compute a preview during a pointer move; skipped if a newer one is requested before its start."""
        self._next = (compute, deliver)
        if not self._previewing:
            self._start_preview()

    def cancel_preview(self) -> None:
        """Discard pending previews."""
        self._preview_generation += 1
        self._next = None

    def _start_preview(self) -> None:
        request, self._next = self._next, None
        self._previewing = request is not None
        if request is None:
            return
        compute, deliver = request
        generation = self._preview_generation

        def finish(result: Any, error: Exception | None) -> None:
            # Errors of previews are ignored; the following click reports them.
            if generation == self._preview_generation and error is None:
                deliver(result)
            self._start_preview()

        self._queue.submit(compute, finish)

    def finish(self) -> None:
        """Wait for all jobs and deliver their results now."""
        self.cancel_preview()
        if self._open:
            self._queue.finish()

    def close(self) -> None:
        self.cancel()
        self._queue.cancel_pending()
