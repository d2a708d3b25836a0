"""Computations of tools outside the GUI thread: ordered tasks, and previews of which the newest counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.session.tasks import TaskRunner, ignore_failure

Compute = Callable[[], Any]
Deliver = Callable[[Any], None]


class ToolTasks(QObject):
    """Tasks of the tools: `run` delivers every result, `preview` only the newest, both in the GUI thread."""

    changed = Signal(bool)  # True when tasks start, False when all are done
    failed = Signal(object)  # Problem

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = TaskRunner(1, self)  # one thread: the tasks of one gesture are computed in order
        self._running = 0  # number of tasks besides previews

    @property
    def busy(self) -> bool:
        return self._running > 0

    def run(self, compute: Compute, deliver: Deliver) -> None:
        """Compute in a thread, then call `deliver` with the result."""

        def end() -> None:
            self._running -= 1
            if not self._running:
                self.changed.emit(False)

        def on_done(result: Any) -> None:
            end()
            deliver(result)

        def on_failed(problem: Problem) -> None:
            end()
            self.failed.emit(problem)

        self._running += 1
        self.changed.emit(True)
        self._tasks.submit(lambda _: compute(), on_done, on_failed, urgent=True)

    def cancel(self) -> None:
        """Cancel all tasks and previews."""
        self._tasks.cancel()
        if self._running:
            self._running = 0
            self.changed.emit(False)

    def preview(self, compute: Compute, deliver: Deliver) -> None:
        """Compute a preview during a pointer move; skipped if a newer one is requested before its start."""
        # A Problem is ignored: the click that follows reports it.
        self._tasks.submit(lambda _: compute(), deliver, ignore_failure, key="preview", finish_running=True)

    def cancel_preview(self) -> None:
        """Cancel the previews."""
        self._tasks.cancel("preview")

    def finish(self) -> None:
        """Wait for all tasks and deliver their results now."""
        self.cancel_preview()
        if self._running:
            self._tasks.wait()

    def close(self) -> None:
        self.cancel()
        self._tasks.stop()
