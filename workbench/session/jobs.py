"""Long tasks of the application, one at a time for each owner, and their progress."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QThread, Signal

from workbench.core.problems import Problem
from workbench.inference.process_memory import release_free_memory
from workbench.session.tasks import OnFailed, Task, TaskRunner, call_at_end

Result = TypeVar("Result")


class ThinnedProgress:
    """Progress callback that forwards about 100 calls in total."""

    def __init__(self, progress: Callable[[int, int], object]) -> None:
        self._progress = progress

    def __call__(self, done: int, total: int) -> None:
        if done == total or done % max(1, total // 100) == 0:
            self._progress(done, total)


class Job(QObject):
    """Owner of one long task at a time, in a thread of low priority. It is closed when the application ends."""

    failed = Signal(object)  # Problem
    state_changed = Signal()
    progressed = Signal(int, int)  # done, total

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.tasks = TaskRunner(parent=self, priority=QThread.Priority.LowPriority)
        self._task: Task | None = None
        self._interrupt: Callable[[], object] | None = None
        call_at_end(self.close)

    @property
    def running(self) -> bool:
        return self._task is not None

    def begin(
        self,
        work: Callable[[Task], Result],
        on_done: Callable[[Result], object],
        on_failed: OnFailed | None = None,
        *,
        on_progress: Callable[..., object] | None = None,
        as_problem: Callable[[Exception], Problem] | None = None,
        interrupt: Callable[[], object] | None = None,
    ) -> None:
        """Start the task; the arguments are those of `TaskRunner.submit`.

        on_failed: by default emits `failed`. interrupt: called to end work that does not poll `Task.cancelled`.
        """

        def run(task: Task) -> Result:
            try:
                return work(task)
            finally:
                release_free_memory()  # of models and images

        self._interrupt = interrupt
        self._task = self.tasks.submit(
            run,
            partial(self._end, on_done),
            partial(self._end, on_failed or self.failed.emit),
            on_progress=on_progress,
            as_problem=as_problem,
        )
        self.state_changed.emit()

    def cancel(self) -> None:
        """Request the end of the task; its result follows."""
        if self._task is not None:
            self._task.finish_early()
            if self._interrupt is not None:
                self._interrupt()

    def close(self) -> None:
        """Cancel the task without a result and wait for its end; finished parts are kept."""
        if self._task is not None:
            self.cancel()
            self._task = self._interrupt = None
            self.tasks.stop()

    def _end(self, callback: Callable[[Any], object], ending: Any) -> None:
        self._task = self._interrupt = None
        try:
            callback(ending)
        finally:
            self.state_changed.emit()
