"""Labeled cells of a project's images, the heads fitted to them, and the features of the images shown last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.core.evaluation.prediction_maps import (
    PROVEN,
    LabelFacts,
    Maturity,
    PredictionMaps,
    maturity,
    measure_prediction,
)
from workbench.core.frozen_encoder import FrozenEncoder
from workbench.core.images import image_files
from workbench.core.instant_model import (
    THRESHOLD,
    DefectHead,
    FrozenFeatures,
    LabeledCells,
    cross_fit,
    fit_head,
    labeled_cells,
    read_features,
    value_range,
)
from workbench.core.problems import Problem
from workbench.core.project.annotation import load_truth
from workbench.core.project.grouping import groups_by_name
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp
from workbench.inference.io.tiff_regions import ImageArray
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import apply_thresholds

REDUCED = 1024  # pixels of the longer side of an image that is processed at once; a larger one is reduced first
_MOST_PIXELS = 40_000_000  # of an image that is also processed in full size
_CACHED = 96 << 20  # bytes of features kept: 90 images of 512 x 512 pixels
_OF_RANGE = 8  # images that the range of gray values is measured on, besides the open one
LEAST_SCORED = 5  # labeled images from which on the head is scored and its regions may be suggested


@dataclass(frozen=True, eq=False)
class InstantPrediction:
    """Prediction of the head for an image. images: that it was fitted to. dice: see `cross_fit`; None if unknown."""

    maps: PredictionMaps
    maturity: Maturity
    images: int
    dice: float | None


@dataclass(frozen=True, eq=False)
class ShownImage:
    """The open image. mask: uint8 (H, W), which may change meanwhile. edits: number that changes with it.

    next_key: of the image that will be opened next, if it is known.
    """

    key: str
    image: ImageArray
    mask: np.ndarray | None
    edits: int
    done: bool
    next_key: str | None = None


@dataclass(frozen=True, eq=False)
class _Learned:
    """Cells of an image; None if it has no usable label. saved: its label on the disk. edits: of it while open."""

    cells: LabeledCells | None
    saved: object
    edits: object = None


@dataclass
class _Scale:
    """Knowledge of the images at one scale. most: pixels of the longer side."""

    most: int
    learned: dict[str, _Learned] = field(default_factory=dict)
    head: DefectHead | None = None

    def fit(self) -> None:
        self.head = fit_head(list(self.cells.values()), self.head)

    @property
    def cells(self) -> dict[str, LabeledCells]:
        return {key: entry.cells for key, entry in self.learned.items() if entry.cells is not None}


class InstantLearner:
    """Head of a project, which learns from its labels. Used by one thread at a time.

    Images of more than `REDUCED` pixels are processed reduced at first, and in full size once there is time.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._encoder: FrozenEncoder | None = None
        self._settings: ModelSettings | None = None
        self._features: OrderedDict[tuple[str, str, int], FrozenFeatures] = OrderedDict()
        self._reduced, self._full = _Scale(REDUCED), _Scale(1 << 30)
        self.dice: float | None = None
        self._scored: object = None  # labels that the score belongs to

    def update(
        self,
        shown: ShownImage,
        labeled: Mapping[str, ImageRow],
        measured: Sequence[str],
        report: Callable[[InstantPrediction], object],
        cancelled: Callable[[], bool],
    ) -> None:
        """Learn the present labels and report the prediction for the open image, again whenever it becomes better.

        labeled: rows of the labeled images, the most important first. measured: see `cross_fit`. A canceled update is
        continued by the next one.
        """
        for scale in (self._reduced, self._full):
            gone = [scale.learned.pop(key) for key in set(scale.learned) - {*labeled, shown.key}]
            if any(entry.cells is not None for entry in gone):
                scale.fit()
        ready = self._full if {*labeled, shown.key} <= set(self._full.learned) else self._reduced
        if self._learn_shown(ready, shown, labeled, cancelled):
            self._predict(ready, shown, labeled, report)
        if shown.next_key is not None and not cancelled():
            self._read(self._reduced, shown.next_key, None, cancelled, keep=True)
        if self._learn_others(self._reduced, shown, labeled, cancelled) and ready is self._reduced:
            self._predict(ready, shown, labeled, report)
        if self._score(shown.key, labeled, measured, cancelled) and ready is self._reduced:
            self._predict(ready, shown, labeled, report)
        height, width = shown.image.shape[:2]
        if max(height, width) > REDUCED and height * width <= _MOST_PIXELS:
            learned = self._learn_shown(self._full, shown, labeled, cancelled)
            changed = self._learn_others(self._full, shown, labeled, cancelled)
            if learned and (changed or ready is self._reduced) and not cancelled():
                self._predict(self._full, shown, labeled, report)

    # --- labels -----------------------------------------------------------------------------------

    def _learn_shown(
        self, scale: _Scale, shown: ShownImage, labeled: Mapping[str, ImageRow], cancelled: Callable[[], bool]
    ) -> bool:
        """Learn the label of the open image, which may have just changed. Return False if it was canceled."""
        features = self._read(scale, shown.key, shown.image, cancelled, keep=True)
        if features is None or cancelled():
            return False
        before, edits = scale.learned.get(shown.key), (shown.edits, shown.done)
        saved = _saved_label(labeled.get(shown.key))
        if before is None or (before.saved, before.edits) != (saved, edits):
            cells = None if shown.mask is None else labeled_cells(features, shown.mask, done=shown.done)
            scale.learned[shown.key] = _Learned(cells, saved, edits)
            if cells is not None or (before is not None and before.cells is not None):
                scale.fit()
        return True

    def _learn_others(
        self, scale: _Scale, shown: ShownImage, labeled: Mapping[str, ImageRow], cancelled: Callable[[], bool]
    ) -> bool:
        """Learn labels that are new or were changed elsewhere. Return whether there are any."""
        changed = False
        for key, row in labeled.items():
            saved, before = _saved_label(row), scale.learned.get(key)
            if key == shown.key or (before is not None and before.saved == saved):
                continue
            if cancelled():
                break
            features, mask = self._read(scale, key, None, cancelled), self._mask(row)
            if not cancelled():
                cells = None
                if features is not None and mask is not None:
                    cells = labeled_cells(features, mask, done=row.status == "done")
                scale.learned[key], changed = _Learned(cells, saved), True
        if changed:
            scale.fit()
        return changed

    def _mask(self, row: ImageRow) -> np.ndarray | None:
        try:
            return load_truth(self._project, row.key, (row.width, row.height))
        except (Problem, OSError):
            return None

    def _read(
        self,
        scale: _Scale,
        key: str,
        image: ImageArray | None,
        cancelled: Callable[[], bool],
        *,
        keep: bool = False,
    ) -> FrozenFeatures | None:
        """Return the features of an image; None if it cannot be read or it was canceled.

        image: None to read it. keep: it is the open image or the next one.
        """
        try:
            path = self._project.image_path(key)
            name = key, file_stamp(path), scale.most
            if name in self._features:
                self._features.move_to_end(name)
                return self._features[name]
            image = image_files.read_displayed(path) if image is None else image
        except (Problem, OSError):
            return None
        most = scale.most if image.shape[0] * image.shape[1] <= _MOST_PIXELS else REDUCED
        self._settings = self._settings or value_range([image, *self._others_of_range(image)])
        self._encoder = self._encoder or FrozenEncoder(arena=False)
        features = read_features(self._encoder, image, self._settings, most, cancelled)
        if features is not None and keep:
            self._features[name] = features
            while len(self._features) > 2 and sum(entry.nbytes for entry in self._features.values()) > _CACHED:
                self._features.popitem(last=False)
        return features

    def _others_of_range(self, image: ImageArray) -> list[ImageArray]:
        """Return a few images of the same number format, evenly spaced over the project; none if it has 8 bits."""
        keys = [] if image.dtype == np.uint8 else self._project.images()
        others = []
        for key in keys[:: max(1, len(keys) // _OF_RANGE)][:_OF_RANGE]:
            try:
                other = image_files.read_displayed(self._project.image_path(key))
            except (Problem, OSError):
                continue
            if other.dtype == image.dtype:
                others.append(other)
        return others

    # --- predictions ------------------------------------------------------------------------------

    def _score(
        self, shown: str, labeled: Mapping[str, ImageRow], measured: Sequence[str], cancelled: Callable[[], bool]
    ) -> bool:
        """Score the head, unless only the label of the shown image is new. Return whether there is another score."""
        cells, before = self._reduced.cells, self.dice
        labels = {key: id(entry) for key, entry in cells.items() if key != shown}, set(cells), tuple(measured)
        if cancelled() or labels == self._scored:
            return False
        dice = None
        if len(cells) >= LEAST_SCORED:
            note_groups = {key: row.group for key, row in labeled.items() if row.group}
            groups = groups_by_name(list(cells), self._project.file.grouping, note_groups)
            dice = cross_fit(cells, groups, measured, cancelled)
            if cancelled():
                return False
        self.dice, self._scored = dice, labels
        return dice != before

    def _predict(
        self,
        scale: _Scale,
        shown: ShownImage,
        labeled: Mapping[str, ImageRow],
        report: Callable[[InstantPrediction], object],
    ) -> None:
        features = self._read(scale, shown.key, shown.image, lambda: False)
        classes = {info.id: info for info in self._project.classes}
        head = scale.head
        if features is None or head is None or not set(head.ids) <= set(classes):
            return
        known = [classes[id] for id in head.ids]
        settings = ModelSettings(
            task="segmentation",
            name="instant",  # where others have the name of a run
            classes=tuple(ClassSettings(info.id, info.name, info.color) for info in known),
            thresholds=(THRESHOLD,) * len(known),
            min_area=(features.cell**2,) * len(known),
        )
        planes = np.stack(head.scores(features))
        mask, scores = apply_thresholds(planes, settings)
        maps = PredictionMaps(mask, scores, planes if len(known) > 1 else None, settings)
        facts = measure_prediction(maps)
        state = Maturity("uncertain", facts)
        if self.dice is not None and self.dice >= PROVEN:  # still within narrow limits: few labels show little
            state = maturity(facts, LabelFacts.of(labeled, labeled))
        report(InstantPrediction(maps, state, len(scale.cells), self.dice))


def _saved_label(row: ImageRow | None) -> object:
    """Return what shows a change of a label on the disk."""
    return None if row is None else (row.status, row.counts)
