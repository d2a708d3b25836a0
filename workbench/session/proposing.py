"""Suggestions for all images of the project by one model, in a background thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from workbench.core.problems import ModelUnusable, Problem
from workbench.core.project import Project
from workbench.core.proposing import Looked
from workbench.session.errand import Errand, ErrandThread
from workbench.session.session import Session


@dataclass(frozen=True)
class Ended:
    """Summary. pictures: predicted. proposals: found in them. skipped: unreadable. whole: all images were processed."""

    pictures: int
    proposals: int
    skipped: int
    whole: bool


class _Thread(ErrandThread):
    looked = Signal(int, str, int, str)  # number, key, suggestions, reason for skipping

    def __init__(self, project: Project, model: Path, keys: Sequence[str], parent: QObject) -> None:
        super().__init__(parent)
        self._project, self._model, self._keys = project, model, list(keys)
        self._pictures = self._proposals = self._skipped = 0

    def as_problem(self, error: Exception) -> Problem:
        return ModelUnusable(path=str(self._model), why=str(error) or type(error).__name__)

    def work(self) -> Ended:
        # Imported here to keep the start of the window fast.
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


class AllPictures(Errand):
    """Prediction of all images, one round at a time. Images already predicted by the same model are skipped."""

    began = Signal(int)  # number of images
    looked = Signal(int, str, int, str)  # number, key, suggestions, reason for skipping
    ended = Signal(object)  # Ended

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, model: Path) -> None:
        """Save unsaved labels and start; emits `began`, `looked` per image, then `ended` or `failed`."""
        project, keys = self._session.project, self._session.keys
        if self.running or project is None or not project.writable or not keys:
            return
        self._session.flush()
        thread = _Thread(project, model, keys, self)
        thread.looked.connect(self.looked)
        self.began.emit(len(keys))
        self.begin(thread, QThread.Priority.LowPriority)

    def close(self) -> None:
        """Cancel without a result; suggestions found so far are kept."""
        if self.running:
            super().close()
            self.state_changed.emit()

    def heed(self, thread: ErrandThread, ending: Ended | Problem) -> None:
        (self.failed if isinstance(ending, Problem) else self.ended).emit(ending)
