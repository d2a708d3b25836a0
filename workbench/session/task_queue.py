"""Background jobs whose results are delivered in the thread that owns the lane."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, Slot

Work = Callable[[], Any]
Then = Callable[[Any, Exception | None], None]


class _Task(QRunnable):
    def __init__(self, work: Work, answer: Callable[[Any, Exception | None], None]) -> None:
        super().__init__()
        self._work = work
        self._answer = answer

    def run(self) -> None:
        try:
            found, error = self._work(), None
        except Exception as problem:
            found, error = None, problem
        self._answer(found, error)


class TaskQueue(QObject):
    """Queue of jobs run in order by `threads` threads, which exist only while there are jobs."""

    _arrived = Signal()

    def __init__(self, threads: int = 1, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._pool.setExpiryTimeout(1000)
        self._answers: deque[tuple[Then, Any, Exception | None]] = deque()
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def submit(self, work: Work, then: Then, *, urgent: bool = False) -> None:
        """Call `work()` in a worker thread and later `then(result, error)` in this thread; urgent jobs go first."""

        def answer(found: Any, error: Exception | None) -> None:
            self._answers.append((then, found, error))
            self._arrived.emit()

        self._pool.start(_Task(work, answer), 1 if urgent else 0)

    def finish(self) -> None:
        """Wait until all jobs are done, and deliver their results now."""
        self._pool.waitForDone()
        self._deliver()

    def cancel_pending(self) -> None:
        """Drop queued jobs, wait for running ones, and deliver nothing."""
        self._pool.clear()
        self._pool.waitForDone()
        self._answers.clear()

    @Slot()
    def _deliver(self) -> None:
        while self._answers:
            then, found, error = self._answers.popleft()
            try:
                then(found, error)
            except Exception:  # a failing callback must block neither the others nor the caller of `finish`
                sys.excepthook(*sys.exc_info())
