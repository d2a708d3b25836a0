"""Suggestions stored for later decision in proposals/<key>.json of the project, and their creation for many images.

The window shows them when an image is opened. Labelers are functions of other programs that suggest regions, see
`core.plugins`.
"""

from __future__ import annotations

import base64
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import ConfigDict, Field

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.images import image_files
from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.plugins import plugins
from workbench.core.problems import CannotWrite, ImageBroken, Problem, ProposesNothing, SuggestionsBroken, UnknownModel
from workbench.core.project import annotation
from workbench.core.project.project import MAX_CLASS_ID, ClassInfo, Project
from workbench.core.project.storage import file_stamp, inside, write_json
from workbench.core.stored_model import StoredModel
from workbench.core.suggestions.suggestions import (
    MAX_REGION_PIXELS,
    Suggestion,
    class_table,
    open_ones,
    suggest_regions,
    suggestion_of_region,
)
from workbench.inference.batch.results_log import model_fingerprint
from workbench.inference.inspection_area import InspectionArea, placed_area
from workbench.inference.io.image_io import ReadError
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import Prediction, PredictionCancelled, Predictor
from workbench.inference.regions import most_certain_regions

PREFIX = "labeler:"
_MOST = 2000  # regions of an image


class Labeler:
    """Labeler that suggests regions of the classes of a project, in its inspection areas, as a model does.

    name: "labeler:NAME". Raises UnknownModel.
    """

    def __init__(self, name: str, classes: Sequence[ClassInfo], areas: Sequence[InspectionArea]) -> None:
        found = plugins("workbench.labelers", callable).get(name.removeprefix(PREFIX))
        if found is None:
            raise UnknownModel(path=name)
        self._label: Callable[[np.ndarray], Mapping[str, np.ndarray]] = found
        own = tuple(ClassSettings(info.id, info.name, info.color) for info in classes)
        thresholds, sizes = (0.5,) * len(own), (0,) * len(own)
        self.settings = ModelSettings(
            task="segmentation", name=name, classes=own, areas=tuple(areas), thresholds=thresholds, min_area=sizes
        )

    def predict(
        self, image: np.ndarray, *, name: str = "", cancelled: Callable[[], bool] = lambda: False
    ) -> Prediction:
        """Return the regions of an image as stored; classes that the project lacks are left out. Raises ImageBroken."""
        mask = np.zeros(image.shape[:2], np.uint8)
        ids = {info.name: info.id for info in self.settings.classes}
        try:
            for label, inside in self._label(image).items():
                if label in ids:
                    mask[np.asarray(inside, bool)] = ids[label]
        except Exception as error:  # of a program of somebody else
            raise ImageBroken(path=self.settings.name, why=f"{type(error).__name__}: {error}") from error
        area, placement = placed_area(self.settings.areas, name, image)
        if area is not None:
            mask[~area.inside(mask.shape)] = 0
        scores = np.where(mask > 0, np.uint8(255), np.uint8(0))
        regions, left_out = most_certain_regions(mask, scores, self.settings, _MOST)
        return Prediction(mask, scores, regions, None, None, 0.0, left_out=left_out, placement=placement)


# --- suggestions in files -------------------------------------------------------------------------


FORMAT = 1


class StoredRegion(StoredModel):
    """Region in proposals/<key>.json."""

    model_config = ConfigDict(extra="ignore")
    class_id: int = Field(ge=1, le=MAX_CLASS_ID)
    x: int = Field(ge=0)
    y: int = Field(ge=0)
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    score: float = Field(ge=0, le=1)
    pixels: str

    def inside(self) -> np.ndarray:
        """Return the pixels as bool (height, width). Raises ValueError."""
        count = self.width * self.height
        if count > MAX_REGION_PIXELS:
            raise ValueError(Message("suggestions.region_too_large"))
        unpack = zlib.decompressobj()
        bits = unpack.decompress(base64.b64decode(self.pixels, validate=True), (count + 7) // 8 + 1)
        if len(bits) != (count + 7) // 8:
            raise ValueError(Message("suggestions.region_box"))
        return np.unpackbits(np.frombuffer(bits, np.uint8), count=count).reshape(self.height, self.width).view(bool)


class StoredSuggestions(StoredModel):
    """Content of proposals/<key>.json."""

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    model: str
    fingerprint: str = ""
    when: str = ""
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    regions: list[StoredRegion] = []


def suggestions_path(project: Project, key: str) -> Path:
    return inside(project.root / "proposals", key + ".json")


def load_stored(project: Project, key: str) -> tuple[StoredSuggestions, tuple[Suggestion, ...]] | None:
    """Load the stored suggestions of an image. Return None if there is no file. Raises SuggestionsBroken."""
    path = suggestions_path(project, key)
    try:
        stored = load_versioned(path, StoredSuggestions, FORMAT, SuggestionsBroken)
        return stored, tuple(_restore(stored))
    except FileNotFoundError:
        return None
    except (ValueError, zlib.error) as error:
        raise SuggestionsBroken(path=str(path), why=str(error)) from error


def _restore(stored: StoredSuggestions) -> Iterable[Suggestion]:
    for region in stored.regions:
        if region.x + region.width > stored.width or region.y + region.height > stored.height:
            raise ValueError(Message("suggestions.region_outside"))
        rect, pixels = Rect(region.x, region.y, region.width, region.height), region.inside()
        area = cv2.countNonZero(pixels.view(np.uint8))
        if not area:
            raise ValueError(Message("suggestions.region_empty"))
        yield suggestion_of_region(Selection(rect, pixels), region.class_id, region.score, stored.model, area)


def save_stored(
    project: Project,
    key: str,
    suggestions: Iterable[Suggestion],
    *,
    model: str,
    fingerprint: str,
    size: tuple[int, int],
) -> None:
    """Write the suggestions for an image of `size` (width, height). Raises CannotWrite, ProjectReadOnly."""
    regions = [
        StoredRegion(
            class_id=suggestion.class_id,
            x=suggestion.selection.rect.x,
            y=suggestion.selection.rect.y,
            width=suggestion.selection.rect.width,
            height=suggestion.selection.rect.height,
            score=suggestion.score,
            pixels=base64.b64encode(zlib.compress(np.packbits(suggestion.selection.inside).tobytes(), 6)).decode(
                "ascii"
            ),
        )
        for suggestion in suggestions
    ]
    when = time.strftime("%Y-%m-%dT%H:%M:%S")
    stored = StoredSuggestions(
        model=model, fingerprint=fingerprint, when=when, width=size[0], height=size[1], regions=regions
    )
    write_stored(project, key, stored)


def write_stored(project: Project, key: str, stored: StoredSuggestions) -> None:
    project.need_write(Message("what.suggestions"))
    write_json(suggestions_path(project, key), stored.model_dump(mode="json"), root=project.root)


def without_decided(
    stored: StoredSuggestions, suggestions: Sequence[Suggestion], open_now: Iterable[Suggestion]
) -> StoredSuggestions:
    """Return `stored` with only the regions that are still open. Regions and `suggestions` correspond one to one."""
    open_origins = {id(suggestion.origin) for suggestion in open_now}
    regions = [
        region for region, entry in zip(stored.regions, suggestions, strict=True) if id(entry.origin) in open_origins
    ]
    return stored.model_copy(update={"regions": regions})


@dataclass(frozen=True)
class SuggestionStore:
    """Content of proposals/<key>.json as last read or written while the user decides on the suggestions."""

    stored: StoredSuggestions
    suggestions: tuple[Suggestion, ...]
    stamp: str
    open_origins: frozenset[int]  # identities of the origins that are in the file

    @classmethod
    def read(cls, project: Project, key: str) -> SuggestionStore | None:
        """Read the file. Return None if there is none. Raises SuggestionsBroken."""
        stamp = file_stamp(suggestions_path(project, key))
        stored = load_stored(project, key)
        return (
            None
            if stored is None
            else cls(*stored, stamp, frozenset(id(suggestion.origin) for suggestion in stored[1]))
        )

    def cleared(self, project: Project, key: str, remaining: Iterable[Suggestion]) -> SuggestionStore:
        """Remove decided suggestions from the file so that they are not checked again.

        A file written by another program in the meantime is not changed.
        """
        remaining = list(remaining)
        path, open_origins = (
            suggestions_path(project, key),
            frozenset(id(suggestion.origin) for suggestion in remaining),
        )
        if not project.writable or open_origins == self.open_origins or file_stamp(path) != self.stamp:
            return self
        try:
            write_stored(project, key, without_decided(self.stored, self.suggestions, remaining))
        except CannotWrite:
            return replace(self, stamp="")  # the decisions are in the note; saving the note reports the write error
        return replace(self, stamp=file_stamp(path), open_origins=open_origins)


@dataclass(frozen=True)
class ImageSuggested:
    """Result for one image. milliseconds: 0 for a result that existed already. why: reason for skipping the image."""

    key: str
    suggestions: tuple[Suggestion, ...] = ()
    milliseconds: float = 0.0
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
    predictor: Predictor | Labeler,
    folder: Path,
    keys: Sequence[str],
    *,
    on_image: Callable[[int, ImageSuggested], None],
    resume: bool = False,
    stop: Callable[[], bool] = lambda: False,
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """Predict images and replace their stored suggestions. Labels are not changed.

    folder: of the model; any path for a labeler. on_image: called with the number and result of each image; unreadable
    images are reported and skipped. resume: keep existing results of the same model. stop: polled between images.
    cancelled: polled within one. Return True if all images were processed. Raises ProposesNothing, ProjectReadOnly,
    CannotWrite.
    """
    if predictor.settings.task != "segmentation":
        raise ProposesNothing(name=model_name(folder))
    project.need_write(Message("what.suggestions"))
    fingerprint = predictor.settings.name if isinstance(predictor, Labeler) else model_fingerprint(folder)
    model = _SuggestionModel(folder, fingerprint)
    for number, key in enumerate(keys, 1):
        if stop():
            return False
        try:
            existing = _load_existing(project, key) if resume else None
            if existing is not None and existing[0].fingerprint == model.fingerprint:
                result = ImageSuggested(key, existing[1])
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
    project: Project, predictor: Predictor | Labeler, key: str, model: _SuggestionModel, cancelled: Callable[[], bool]
) -> ImageSuggested:
    note = annotation.load_note(project, key)
    image = image_files.read(project.image_path(key))
    size = (image.shape[1], image.shape[0])
    labels = annotation.load_mask(project, key, size)
    result = predictor.predict(image, name=key, cancelled=cancelled)
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
