"""Long background tasks: one at a time in a thread, cancelable, with a single result."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal, Slot

from workbench.core.problems import Problem
from workbench.session.error_log import LOGGER
from workbench.session.process_memory import release_free_memory


class JobThread(QThread):
    """Thread of one task. `work` returns the result, or None to report nothing, and polls for interruption."""

    ended = Signal(object, object)  # the thread itself, and the result or a Problem

    def run(self) -> None:
        try:
            ending = self.work()
        except Problem as problem:
            ending = problem
        except Exception as error:  # without a result the window would stay busy forever
            LOGGER.exception("A background task failed")
            ending = self.as_problem(error)
        release_free_memory()  # frees the memory of models and images
        if ending is not None:
            self.ended.emit(self, ending)

    @abstractmethod
    def work(self) -> Any:
        """Do the work, in the thread. Return the result; may raise a Problem."""

    @abstractmethod
    def as_problem(self, error: Exception) -> Problem:
        """Return the Problem that reports an unexpected error."""

    def request_stop(self) -> None:
        """Request interruption, from any thread."""
        self.requestInterruption()


class BackgroundJob(QObject):
    """Owner of one background task. Subclasses implement `heed`, which receives the result or the problem."""

    failed = Signal(object)  # Problem
    state_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: JobThread | None = None
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.close)

    @property
    def running(self) -> bool:
        return self._thread is not None

    def begin(self, thread: JobThread, priority: QThread.Priority = QThread.Priority.InheritPriority) -> None:
        self._thread = thread
        thread.ended.connect(self._end)
        thread.start(priority)
        self.state_changed.emit()

    def cancel(self) -> None:
        """Cancel the task; its result follows."""
        if self._thread is not None:
            self._thread.request_stop()

    def close(self) -> None:
        """Cancel the task without a result, when the window closes; finished parts are kept."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.blockSignals(True)
            thread.request_stop()
            thread.wait()
            thread.deleteLater()

    @abstractmethod
    def on_finished(self, thread: JobThread, ending: Any) -> None:
        """Handle the result. ending: return value of `work`, or a Problem."""

    @Slot(object, object)
    def _end(self, thread: JobThread, ending: Any) -> None:
        if thread is not self._thread:  # the task was closed meanwhile, and another may have begun
            return
        self._thread = None
        thread.wait()
        thread.deleteLater()
        self.on_finished(thread, ending)
        self.state_changed.emit()
