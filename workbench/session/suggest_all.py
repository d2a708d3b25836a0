"""Suggestions for all images of the project by one model, in a background thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QThread, Signal

from workbench.core.problems import ModelUnusable, Problem
from workbench.core.project.project import Project
from workbench.core.suggestions.batch_suggestions import ImageSuggested
from workbench.session.background_job import BackgroundJob, JobThread
from workbench.session.session import Session


@dataclass(frozen=True)
class SuggestAllSummary:
    """Summary. pictures: predicted. proposals: found in them. skipped: unreadable. whole: all images were processed."""

    images: int
    suggestions: int
    skipped: int
    whole: bool


class _SuggestThread(JobThread):
    looked = Signal(int, str, int, str)  # number, key, suggestions, reason for skipping

    def __init__(self, project: Project, model: Path, keys: Sequence[str], parent: QObject) -> None:
        super().__init__(parent)
        self._project, self._model, self._keys = project, model, list(keys)
        self._images = self._suggestions = self._skipped = 0

    def as_problem(self, error: Exception) -> Problem:
        return ModelUnusable(path=str(self._model), why=str(error) or type(error).__name__)

    def work(self) -> SuggestAllSummary:
        # Imported here to keep the start of the window fast.
        from workbench.core.runs.model_lookup import model_folder, open_model
        from workbench.core.suggestions.batch_suggestions import suggest_all

        folder = model_folder(self._model)
        predictor = open_model(folder)
        whole = suggest_all(
            self._project,
            predictor,
            folder,
            self._keys,
            on_image=self._tell,
            go_on=True,
            stop=self.isInterruptionRequested,
            cancelled=self.isInterruptionRequested,
        )
        return SuggestAllSummary(self._images, self._suggestions, self._skipped, whole)

    def _tell(self, number: int, looked: ImageSuggested) -> None:
        if looked.why:
            self._skipped += 1
        else:
            self._images += 1
            self._suggestions += len(looked.suggestions)
        self.looked.emit(number, looked.key, len(looked.suggestions), looked.why)


class SuggestAll(BackgroundJob):
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
        thread = _SuggestThread(project, model, keys, self)
        thread.looked.connect(self.looked)
        self.began.emit(len(keys))
        self.begin(thread, QThread.Priority.LowPriority)

    def close(self) -> None:
        """Cancel without a result; suggestions found so far are kept."""
        if self.running:
            super().close()
            self.state_changed.emit()

    def on_finished(self, thread: JobThread, ending: SuggestAllSummary | Problem) -> None:
        (self.failed if isinstance(ending, Problem) else self.ended).emit(ending)
