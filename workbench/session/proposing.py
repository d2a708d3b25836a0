"""All pictures of the project through one model, in a thread beside the window; what it finds waits as proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal

from workbench.core.problems import ModelUnusable, Problem
from workbench.core.project import Project
from workbench.core.proposing import Looked
from workbench.session.session import Session


@dataclass(frozen=True)
class Ended:
    """pictures: that were looked at. proposals: found in them. skipped: could not be read. whole: none was left."""

    pictures: int
    proposals: int
    skipped: int
    whole: bool


class _Thread(QThread):
    looked = Signal(int, str, int, str)  # number, key, proposals, why it was skipped
    ended = Signal(object)  # Ended | Problem

    def __init__(self, project: Project, model: Path, keys: Sequence[str], parent: QObject) -> None:
        super().__init__(parent)
        self._project, self._model, self._keys = project, model, list(keys)
        self._pictures = self._proposals = self._skipped = 0

    def run(self) -> None:
        try:
            self.ended.emit(self._work())
        except Problem as problem:
            self.ended.emit(problem)
        except Exception as error:  # a thread that dies silently would leave the window waiting
            self.ended.emit(ModelUnusable(path=str(self._model), why=str(error) or type(error).__name__))

    def _work(self) -> Ended:
        # Imported here, since the window starts without them.
        from workbench.core.models import model_folder, open_model
        from workbench.core.proposing import propose_all

        folder = model_folder(self._model)
        predictor = open_model(folder)
        whole = propose_all(
            self._project, predictor, folder, self._keys, on_picture=self._tell, go_on=True,
            stop=self.isInterruptionRequested, cancelled=self.isInterruptionRequested,
        )  # fmt: skip
        return Ended(self._pictures, self._proposals, self._skipped, whole)

    def _tell(self, number: int, looked: Looked) -> None:
        if looked.why:
            self._skipped += 1
        else:
            self._pictures += 1
            self._proposals += len(looked.proposals)
        self.looked.emit(number, looked.key, len(looked.proposals), looked.why)


class AllPictures(QObject):
    """One round at a time. Pictures that this very model has looked at before are not looked at again."""

    began = Signal(int)  # pictures
    looked = Signal(int, str, int, str)  # number, key, proposals, why it was skipped
    ended = Signal(object)  # Ended
    failed = Signal(object)  # Problem
    state_changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._thread: _Thread | None = None
        session.project_closed.connect(self.close)
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.close)

    @property
    def running(self) -> bool:
        return self._thread is not None

    def start(self, model: Path) -> None:
        """`began`, `looked` for each picture, and `ended` or `failed` follow. The labels in memory are saved first."""
        project, keys = self._session.project, self._session.keys
        if self.running or project is None or not project.writable or not keys:
            return
        self._session.flush()
        self._thread = _Thread(project, model, keys, self)
        self._thread.looked.connect(self.looked)
        self._thread.ended.connect(self._end)
        self.began.emit(len(keys))
        self._thread.start(QThread.Priority.LowPriority)
        self.state_changed.emit()

    def cancel(self) -> None:
        """Stop in the middle of a picture; `ended` follows, and what was found is kept."""
        if self._thread is not None:
            self._thread.requestInterruption()

    def close(self) -> None:
        """End without a word; what was found is kept."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.blockSignals(True)
            thread.requestInterruption()
            thread.wait()
            self.state_changed.emit()

    def _end(self, ending: Ended | Problem) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.wait()
        thread.deleteLater()
        (self.failed if isinstance(ending, Problem) else self.ended).emit(ending)
        self.state_changed.emit()
