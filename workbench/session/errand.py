"""Long background tasks: one at a time in a thread, cancelable, with a single result."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal, Slot

from workbench.core.problems import Problem
from workbench.session.error_log import LOGGER
from workbench.session.memory import give_back


class ErrandThread(QThread):
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
        give_back()  # frees the memory of models and images
        if ending is not None:
            self.ended.emit(self, ending)

    @abstractmethod
    def work(self) -> Any:
        """Do the work, in the thread. Return the result; may raise a Problem."""

    @abstractmethod
    def as_problem(self, error: Exception) -> Problem:
        """Return the Problem that reports an unexpected error."""

    def give_up(self) -> None:
        """Request interruption, from any thread."""
        self.requestInterruption()


class Errand(QObject):
    """Owner of one background task. Subclasses implement `heed`, which receives the result or the problem."""

    failed = Signal(object)  # Problem
    state_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: ErrandThread | None = None
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.close)

    @property
    def running(self) -> bool:
        return self._thread is not None

    def begin(self, thread: ErrandThread, priority: QThread.Priority = QThread.Priority.InheritPriority) -> None:
        self._thread = thread
        thread.ended.connect(self._end)
        thread.start(priority)
        self.state_changed.emit()

    def cancel(self) -> None:
        """Cancel the task; its result follows."""
        if self._thread is not None:
            self._thread.give_up()

    def close(self) -> None:
        """Cancel the task without a result, when the window closes; finished parts are kept."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.blockSignals(True)
            thread.give_up()
            thread.wait()
            thread.deleteLater()

    @abstractmethod
    def heed(self, thread: ErrandThread, ending: Any) -> None:
        """Handle the result. ending: return value of `work`, or a Problem."""

    @Slot(object, object)
    def _end(self, thread: ErrandThread, ending: Any) -> None:
        if thread is not self._thread:  # the task was closed meanwhile, and another may have begun
            return
        self._thread = None
        thread.wait()
        thread.deleteLater()
        self.heed(thread, ending)
        self.state_changed.emit()
