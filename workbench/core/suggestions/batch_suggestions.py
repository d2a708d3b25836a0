"""Batch creation of suggestions for a project's images. The GUI shows them when an image is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core.images import image_files
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, Problem, ProposesNothing, SuggestionsBroken
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.suggestions.suggestion_files import StoredSuggestions, load_stored, save_stored
from workbench.core.suggestions.suggestions import Suggestion, class_table, open_ones, suggest_regions
from workbench.inference.batch.results_log import model_fingerprint
from workbench.inference.io.image_io import ReadError
from workbench.inference.predictor import PredictionCancelled, Predictor


@dataclass(frozen=True)
class ImageSuggested:
    """Result for one image. kept: an existing result of the same model was reused. why: reason for skipping it."""

    key: str
    suggestions: tuple[Suggestion, ...] = ()
    milliseconds: float = 0.0
    reused: bool = False
    why: str = ""


@dataclass(frozen=True)
class _SuggestionModel:
    folder: Path
    fingerprint: str

    @property
    def name(self) -> str:
        return model_name(self.folder)


def model_name(folder: Path) -> str:
    """Return the name of a model in decisions and suggestions: that of its run or export."""
    return folder.parent.name if folder.name == "best" else folder.name


def suggest_all(
    project: Project,
    predictor: Predictor,
    folder: Path,
    keys: Sequence[str],
    *,
    on_image: Callable[[int, ImageSuggested], None],
    go_on: bool = False,
    stop: Callable[[], bool] = lambda: False,
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """Predict images and replace their stored suggestions. Labels are not changed.

    folder: of the model. on_picture(number, looked) is called per image; unreadable images are reported and skipped.
    go_on: keep existing results of the same model. stop() is checked between images, cancelled() within one. Return
    True if all images were processed. Raises ProposesNothing, ProjectReadOnly, CannotWrite.
    """
    if predictor.settings.task != "segmentation":
        raise ProposesNothing(name=model_name(folder))
    project.need_write(Message("what.suggestions"))
    model = _SuggestionModel(folder, model_fingerprint(folder))
    for number, key in enumerate(keys, 1):
        if stop():
            return False
        try:
            existing = _load_existing(project, key) if go_on else None
            if existing is not None and existing[0].fingerprint == model.fingerprint:
                result = ImageSuggested(key, existing[1], reused=True)
            else:
                result = _predict_image(project, predictor, key, model, cancelled)
        except PredictionCancelled:
            return False
        except CannotWrite:
            raise
        except (Problem, ReadError) as problem:
            result = ImageSuggested(key, why=Message.of(problem))
        on_image(number, result)
    return True


def _predict_image(
    project: Project, predictor: Predictor, key: str, model: _SuggestionModel, cancelled: Callable[[], bool]
) -> ImageSuggested:
    note = annotation.load_note(project, key)
    image = image_files.read(project.image_path(key))
    size = (image.shape[1], image.shape[0])
    labels = annotation.load_mask(project, key, size)
    result = predictor.predict(image, cancelled=cancelled)
    assert result.mask is not None
    own_model = model.folder.resolve().is_relative_to(project.root.resolve())
    table = class_table(project.classes, result.regions, own=own_model)
    suggestions = suggest_regions(result.mask, result.regions, table, model.name).suggestions
    remaining = tuple(open_ones(suggestions, labels, note.decided, painted_only=note.explicit_background))
    save_stored(project, key, remaining, model=model.name, fingerprint=model.fingerprint, size=size)
    return ImageSuggested(key, remaining, result.milliseconds)


def _load_existing(project: Project, key: str) -> tuple[StoredSuggestions, tuple[Suggestion, ...]] | None:
    try:
        return load_stored(project, key)
    except SuggestionsBroken:
        return None  # the file will be rewritten
