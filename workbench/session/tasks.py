"""Background tasks: work in worker threads; results, progress and errors are delivered in the owner's thread.

Long tasks of the application, one at a time for each owner, and their progress.
"""

from __future__ import annotations

import itertools
import queue
from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, Generic, TypeVar, cast

from PySide6.QtCore import QCoreApplication, QObject, QRunnable, Qt, QThread, QThreadPool, Signal, Slot

from workbench.core.problems import NotEnoughMemory, Problem, UnexpectedError
from workbench.inference.cpu_environment import release_free_memory
from workbench.inference.engines import EngineError
from workbench.inference.io.image_io import ReadError
from workbench.inference.model_settings import SettingsError
from workbench.session.error_log import log_error, report_error

Result = TypeVar("Result")
_EXPECTED = (OSError, SettingsError, EngineError, ReadError)  # not logged if the owner turns them into a Problem
OnFailed = Callable[[Problem], object]


def ignore_failure(problem: Problem) -> None:
    """Do nothing: `on_failed` of a task whose failure has no consequence."""


def call_at_end(close: Callable[[], object]) -> None:
    """Call a bound method when the application ends."""
    app = QCoreApplication.instance()
    if app is not None:
        app.aboutToQuit.connect(close)


class Task(Generic[Result]):
    """Call of a function in a worker thread. The function receives the task."""

    def __init__(self, runner: TaskRunner, work: Callable[[Task], Result], key: Hashable) -> None:
        self.key = key
        self.started = False
        self._runner = runner
        self._work: Callable[[Task], Result] | None = work
        self._interrupted = False
        self._on_done: Callable[[Result], object] | None = None
        self._on_failed: OnFailed | None = None
        self._on_progress: Callable[..., object] | None = None
        self._as_problem: Callable[[Exception], Problem] | None = None

    # --- in any thread ----------------------------------------------------------------------------

    def cancelled(self) -> bool:
        """Return True if the work should end early, because the task was canceled or its end was requested."""
        return self._interrupted

    def report(self, *progress: Any) -> None:
        """Call `on_progress(*progress)` in the owner's thread, before the result is delivered."""
        self._runner._post(partial(self._deliver_progress, *progress))

    def finish_early(self) -> None:
        """Request the end of the work. Its result is delivered."""
        self._interrupted = True

    # --- in the owner's thread --------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """True once the result or the error is delivered, or the task is canceled."""
        return self not in self._runner._open

    def cancel(self) -> None:
        """Request the end of the work and deliver nothing more; a task that has not started does not run."""
        self._interrupted = True
        self._runner._open.pop(self, None)

    def _deliver_progress(self, *progress: Any) -> None:
        if not self.done and self._on_progress is not None:
            self._on_progress(*progress)

    def _deliver(self, result: Result | None, error: Exception | None) -> None:
        on_done, on_failed, as_problem = self._on_done, self._on_failed, self._as_problem
        self._on_done = self._on_failed = self._on_progress = self._as_problem = None  # freed in the owner's thread
        if self.done:
            if error is not None and not isinstance(error, Problem):
                log_error(error)
            return
        del self._runner._open[self]
        if error is None:
            if on_done is not None:
                on_done(cast("Result", result))
            return
        if on_failed is None:
            report_error(error)
        elif isinstance(error, Problem):
            on_failed(error)
        elif isinstance(error, MemoryError):
            report_error(error)  # not all callers show a problem
            on_failed(NotEnoughMemory())
        elif as_problem is not None:
            if not isinstance(error, _EXPECTED):
                log_error(error)
            on_failed(as_problem(error))
        else:
            report_error(error)
            on_failed(UnexpectedError(what=f"{type(error).__name__}: {error}"))


class TaskRunner(QObject):
    """Runner of tasks in `threads` threads, which exist only while there are tasks. They start in order of submission.

    A failed task calls `on_failed` with a Problem. An error that is no Problem is unexpected: it is reported by the
    error log, and `on_failed` receives an UnexpectedError. Without `on_failed` a Problem is reported as unexpected too.
    """

    _arrived = Signal()

    def __init__(
        self,
        threads: int = 1,
        parent: QObject | None = None,
        *,
        priority: QThread.Priority = QThread.Priority.InheritPriority,
    ) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._pool.setThreadPriority(priority)
        self._pool.setExpiryTimeout(1000)
        # The order is kept here: for a thread that is about to wake up, QThreadPool ignores the priority of a runnable.
        self._waiting: queue.PriorityQueue[tuple[bool, int, Task]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._open: dict[Task, None] = {}  # not delivered and not canceled, in order of submission
        self._deliveries: deque[Callable[[], object]] = deque()
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @property
    def busy(self) -> bool:
        """True while there are tasks whose results are not delivered."""
        return bool(self._open)

    def submit(
        self,
        work: Callable[[Task], Result],
        on_done: Callable[[Result], object] | None = None,
        on_failed: OnFailed | None = None,
        *,
        on_progress: Callable[..., object] | None = None,
        as_problem: Callable[[Exception], Problem] | None = None,
        key: Hashable = None,
        finish_running: bool = False,
        urgent: bool = False,
    ) -> Task[Result]:
        """Call `work(task)` in a worker thread, then `on_done(result)` or `on_failed(problem)` in this thread.

        on_progress: called with the arguments of each `Task.report`.
        as_problem: returns the Problem for `on_failed` from another error, which then is only logged, if unexpected.
        key: earlier tasks with the same key are canceled. finish_running: only those that have not started.
        urgent: run before the waiting tasks that are not urgent.
        """
        if key is not None:
            self.cancel(key, finish_running=finish_running)
        task = Task(self, work, key)
        task._on_done, task._on_failed, task._on_progress = on_done, on_failed, on_progress
        task._as_problem = as_problem
        self._open[task] = None
        self._waiting.put((not urgent, next(self._numbers), task))
        self._pool.start(_Runnable(self))
        return task

    def cancel(self, key: Hashable = None, *, finish_running: bool = False) -> None:
        """Cancel the tasks with this key, or all tasks, without waiting.

        finish_running: only those that have not started.
        """
        for task in list(self._open):
            if (key is None or task.key == key) and not (finish_running and task.started):
                task.cancel()

    def wait(self) -> None:
        """Wait until all tasks are done, and deliver their results now."""
        self.finish_work()
        self._deliver()

    def finish_work(self) -> None:
        """Wait until all tasks are done, without the delivery of their results."""
        self._pool.waitForDone()

    def stop(self) -> None:
        """Cancel all tasks and wait for the running ones; afterwards new tasks may be submitted."""
        self.cancel()
        self._pool.clear()
        while self._next_waiting() is not None:
            pass
        self.wait()

    def _next_waiting(self) -> Task | None:
        """Remove and return the task to run next, in any thread; None if no task waits."""
        try:
            return self._waiting.get_nowait()[2]
        except queue.Empty:
            return None

    def _post(self, delivery: Callable[[], object]) -> bool:
        """Schedule a call in the thread of the runner, from any thread. Return False if the runner is destroyed."""
        self._deliveries.append(delivery)
        try:
            self._arrived.emit()
        except RuntimeError:
            self._deliveries.clear()
            return False
        return True

    @Slot()
    def _deliver(self) -> None:
        for _ in range(len(self._deliveries)):  # those that arrive meanwhile come with a signal of their own
            if not self._deliveries:  # delivered by a nested `wait`
                return
            delivery = self._deliveries.popleft()
            try:
                delivery()
            except Exception as error:  # a failing callback must block neither the others nor the caller of `wait`
                report_error(error)


class _Runnable(QRunnable):
    """Run of the next waiting task."""

    def __init__(self, runner: TaskRunner) -> None:
        super().__init__()
        self._runner = runner

    def run(self) -> None:
        task, error, result = self._runner._next_waiting(), None, None
        work = None if task is None else task._work
        if task is None or task.done or work is None:
            return
        task.started = True
        try:
            result = work(task)
        except Exception as problem:
            error = problem
        task._work = None
        posted = task._runner._post(partial(task._deliver, result, error))
        if not posted and error is not None and not isinstance(error, Problem):
            log_error(error)


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
