"""One long work at a time, in a thread beside the window, that can be given up and ends with one word."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal, Slot

from workbench.core.problems import Problem
from workbench.session.error_log import LOGGER
from workbench.session.memory import give_back


class ErrandThread(QThread):
    """Does the work. `work` gives what came of it, or None if there is nothing to say; it looks now and then whether
    an interruption was asked for."""

    ended = Signal(object, object)  # itself, and what came of it or a Problem

    def run(self) -> None:
        try:
            ending = self.work()
        except Problem as problem:
            ending = problem
        except Exception as error:  # a thread that dies silently would leave the window waiting
            LOGGER.exception("A background task failed")
            ending = self.as_problem(error)
        give_back()  # a model has been asked, or thousands of pictures were looked at
        if ending is not None:
            self.ended.emit(self, ending)

    @abstractmethod
    def work(self) -> Any:
        """In the thread. Raises a Problem."""

    @abstractmethod
    def as_problem(self, error: Exception) -> Problem:
        """What is to be said of an error that nobody has foreseen."""

    def give_up(self) -> None:
        """From any thread."""
        self.requestInterruption()


class Errand(QObject):
    """Orders and facts of the one who has it done. `heed` is told how it ended."""

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
        """Give it up; how it ended follows."""
        if self._thread is not None:
            self._thread.give_up()

    def close(self) -> None:
        """Give it up without a word, for the end of the window; what is done stays done."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.blockSignals(True)
            thread.give_up()
            thread.wait()
            thread.deleteLater()

    @abstractmethod
    def heed(self, thread: ErrandThread, ending: Any) -> None:
        """ending: what came of it, or a Problem."""

    @Slot(object, object)
    def _end(self, thread: ErrandThread, ending: Any) -> None:
        if thread is not self._thread:  # it was closed meanwhile, and perhaps another has begun
            return
        self._thread = None
        thread.wait()
        thread.deleteLater()
        self.heed(thread, ending)
        self.state_changed.emit()
