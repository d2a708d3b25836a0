"""Suggestions for all images of the project by one model, in a background thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import ModelUnusable
from workbench.core.project.project import Project
from workbench.session.session import Session
from workbench.session.tasks import Job, Task

if TYPE_CHECKING:
    from workbench.core.suggestions.suggestion_files import ImageSuggested


@dataclass(frozen=True)
class SuggestAllSummary:
    """Summary. images: predicted. suggestions: for them. skipped: unreadable. whole: all images were processed."""

    images: int
    suggestions: int
    skipped: int
    whole: bool


def _suggest(project: Project, model: Path, keys: Sequence[str], task: Task) -> SuggestAllSummary:
    """Predict the images, in the worker thread. Reports (number, key, suggestions, reason for skipping) per image."""
    # Imported here to keep the start of the window fast.
    from workbench.core.runs.model_lookup import model_folder, open_model
    from workbench.core.suggestions.suggestion_files import suggest_all

    images = suggestions = skipped = 0

    def on_image(number: int, image: ImageSuggested) -> None:
        nonlocal images, suggestions, skipped
        if image.why:
            skipped += 1
        else:
            images, suggestions = images + 1, suggestions + len(image.suggestions)
        task.report(number, image.key, len(image.suggestions), image.why)

    folder = model_folder(model)
    predictor = open_model(folder)
    whole = suggest_all(
        project,
        predictor,
        folder,
        keys,
        on_image=on_image,
        resume=True,
        stop=task.cancelled,
        cancelled=task.cancelled,
    )
    return SuggestAllSummary(images, suggestions, skipped, whole)


class SuggestAll(Job):
    """Prediction of all images, one pass at a time. Images already predicted by the same model are skipped."""

    began = Signal(int)  # number of images
    predicted = Signal(int, object, int, str)  # number, key, suggestions, reason for skipping
    ended = Signal(object)  # SuggestAllSummary

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, model: Path) -> None:
        """Save unsaved labels and start; emits `began`, `predicted` per image, then `ended` or `failed`."""
        project, keys = self._session.project, self._session.keys
        if self.running or project is None or not project.writable or not keys:
            return
        self._session.flush()
        self.began.emit(len(keys))
        keys = list(keys)
        self.begin(
            lambda task: _suggest(project, model, keys, task),
            self.ended.emit,
            on_progress=self.predicted.emit,
            as_problem=lambda error: ModelUnusable(path=str(model), why=str(error) or type(error).__name__),
        )

    def close(self) -> None:
        """Cancel without a result; suggestions found so far are kept."""
        if self.running:
            super().close()
            self.state_changed.emit()
