"""Prediction for an image, with which other thresholds can be applied without repeated inference, and its maturity: the
prediction of a model in training is shown as regions, or only as a probability map.

A network that has just begun to learn marks nearly everything, thousands of small regions, or nothing. `maturity`
compares facts of one prediction with the labels of the project and with the newest validation. It depends on no number
of steps: a warm start is mature at once, and a difficult surface later.

Limits are wider if the prediction before was mature (hysteresis), so that the display does not alternate between
predictions of similar quality. A model whose validation has shown that it detects defects
may mark more than the labels: an unlabeled image may have larger defects than all labeled ones.

The best model of a finished run is judged by `trained_maturity`: a short training may end before it is mature.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.core.problems import Problem
from workbench.core.project.image_row import ImageRow, count_regions
from workbench.core.project.project import DONT_CARE, NOT_LABELED
from workbench.core.runs.run import Run
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import apply_thresholds

MOST_BYTES = 96 << 20  # largest size of the class probabilities kept per image
State = Literal["everything", "too_much", "scattered", "nothing", "uncertain", "wrong", "unmeasured", "mature"]
MOST_MARKED = 0.02  # share of marked pixels that is never too much
MARKED_RATIO = 3.0  # marked share, relative to the greatest labeled share of an image, that is not too much
LEAST_MARKED = 0.02  # marked share, relative to that greatest labeled share, that is nearly nothing
MOST_REGIONS = 10  # regions of an image that are never too many
MOST_DENSITY = 40.0  # regions per megapixel that are never too many
DENSITY_RATIO = 4.0  # regions per megapixel, relative to the greatest number in the labels, that are not too many
MOST_UNDECIDED = 0.3  # share of pixels with an intermediate probability
LEAST_DICE = 0.15  # agreement with the label of a finished image, or in the validation
PROVEN = 0.4  # a model detects defects if the Dice of its validation is at least this
_MATURE_BEFORE, _PROVEN = 2.0, 4.0  # factors of the limits
_EVERYTHING = 0.5  # share of marked pixels that is nearly everything
_INTERMEDIATE = (64, 191)  # 255 * probability, bounds included


@dataclass(frozen=True, eq=False)
class PredictionMaps:
    """Prediction for one image.

    mask: uint8 (H, W) class ids, NOT_LABELLED where nothing was predicted. scores: uint8 (H, W), 255 * greatest
    probability of any class. planes: uint8 (n, H, W), 255 * probability of each class; None if too large. settings:
    those of the mask; None if unknown. step: training step, for a preview of an active run.
    """

    mask: np.ndarray
    scores: np.ndarray
    planes: np.ndarray | None = None
    settings: ModelSettings | None = None
    step: int | None = None

    @property
    def class_probabilities(self) -> np.ndarray | None:
        """255 * class probability, uint8 (n, H, W); for a single class equal to `scores`. None if not kept."""
        single_class = self.settings is not None and len(self.settings.classes) == 1
        return self.scores[None] if single_class and self.planes is None else self.planes

    @property
    def adjustable(self) -> bool:
        """True if other thresholds can be applied."""
        return self.settings is not None and self.class_probabilities is not None

    def with_thresholds(self, thresholds: Sequence[float]) -> np.ndarray:
        """Return the mask at other thresholds (one per class), uint8 (H, W), identical to a prediction with them.

        For a partial preview, only that part is set. Takes some milliseconds per megapixel and class.
        """
        planes = self.class_probabilities
        assert self.settings is not None and planes is not None
        if tuple(thresholds) == self.settings.thresholds:
            return self.mask
        mask, _ = apply_thresholds(planes, dataclasses.replace(self.settings, thresholds=tuple(thresholds)))
        mask[self.mask == NOT_LABELED] = NOT_LABELED
        return mask

    def uncertainty(self) -> np.ndarray:
        """Return the uncertainty, uint8 (H, W): 255 for equal, 0 for certain probabilities.

        This is the margin of Scheffer, Decomain and Wrobel 2001 between the two most probable classes, including
        background. Without class probabilities, all classes count as one.
        """
        planes = self.class_probabilities
        planes = self.scores[None] if planes is None else planes
        if len(planes) == 1:
            margin = np.abs(2 * planes[0].astype(np.int16) - 255)
        else:
            first = np.zeros(planes.shape[1:], np.uint8)
            second = first.copy()
            rest = np.full(first.shape, 255, np.int16)  # remaining probability, of the background
            for plane in planes:
                rest -= plane
                np.maximum(second, np.minimum(first, plane), out=second)
                np.maximum(first, plane, out=first)
            background = np.clip(rest, 0, 255).astype(np.uint8)
            np.maximum(second, np.minimum(first, background), out=second)
            np.maximum(first, background, out=first)
            margin = first.astype(np.int16) - second
        result = (255 - np.minimum(margin, 255)).astype(np.uint8)
        result[self.mask == NOT_LABELED] = 0
        return result

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.mask, self.scores, self.planes) if array is not None)


class ActivationMap(PredictionMaps):
    """Heat map of a verdict, stored as `scores`. It has no marked regions and no uncertainty."""

    def uncertainty(self) -> np.ndarray:
        return np.zeros_like(self.scores)


@dataclass(frozen=True)
class PredictionFacts:
    """Facts about the prediction for one image.

    marked: share of the predicted pixels that are marked as a defect, 0..1. regions: number of regions of all classes.
    megapixels: predicted area. part: share of the image that was predicted. undecided: share of the predicted pixels
    with a probability between 25 and 75 %. dice: agreement with the label of the image, without regard to classes; None
    for an unfinished image or a label without defects.
    """

    marked: float = 0.0
    regions: int = 0
    megapixels: float = 0.0
    part: float = 1.0
    undecided: float = 0.0
    dice: float | None = None


@dataclass(frozen=True)
class LabelFacts:
    """Greatest share of labeled pixels, and of labeled regions per megapixel, of any image used for a training."""

    marked: float = 0.0
    density: float = 0.0

    @classmethod
    def of(cls, keys: Iterable[str], rows: Mapping[str, ImageRow]) -> LabelFacts:
        """Return the facts of the images `keys`. rows: of the index by key; images without one are skipped."""
        known = [rows[key] for key in keys if key in rows]
        sizes = [(row, row.width * row.height) for row in known if row.width * row.height]
        return cls(
            max((_defects(row.counts) / pixels for row, pixels in sizes), default=0.0),
            max((1e6 * _defects(row.regions) / pixels for row, pixels in sizes), default=0.0),
        )


def training_keys(run: Run) -> list[str]:
    """Return the images that a run is trained on; none if its dataset cannot be read."""
    try:
        return [item.key for item in run.dataset().of("train")]
    except Problem:
        return []


@dataclass(frozen=True)
class Maturity:
    """State of the model in its prediction for one image. "mature", or the reason why it is not."""

    state: State
    facts: PredictionFacts

    @property
    def mature(self) -> bool:
        return self.state == "mature"


def measure_prediction(maps: PredictionMaps, label: np.ndarray | None = None) -> PredictionFacts:
    """Return the facts about a prediction. label: uint8 (H, W) of a finished image, else None.

    Of a partial preview, only the predicted part counts. Takes some milliseconds per megapixel.
    """
    mask = maps.mask
    predicted = mask != NOT_LABELED
    pixels = cv2.countNonZero(predicted.view(np.uint8))
    if not pixels:
        return PredictionFacts()
    marked = predicted & (mask > 0) & (mask < DONT_CARE)
    ids = np.flatnonzero(np.bincount(mask[marked], minlength=1))
    undecided = cv2.countNonZero(cv2.inRange(maps.scores, *_INTERMEDIATE) & predicted.view(np.uint8))
    return PredictionFacts(
        marked=cv2.countNonZero(marked.view(np.uint8)) / pixels,
        regions=sum(count_regions(mask, int(id)) for id in ids),
        megapixels=pixels / 1e6,
        part=pixels / mask.size,
        undecided=undecided / pixels,
        dice=None if label is None or label.shape != mask.shape else _dice(marked, predicted, label),
    )


def maturity(
    facts: PredictionFacts,
    labels: LabelFacts,
    validation: float | None = None,
    *,
    mature_before: bool = False,
    needs_score: bool = False,
) -> Maturity:
    """Return the maturity of a model in its prediction for one image.

    validation: Dice of the newest validation, None without one. mature_before: the prediction before this one was
    mature, so wider limits apply. needs_score: without a validation, regions are mature only if they agree with the
    label of their own image.
    """
    state = _state(facts, labels, validation, mature_before)
    unknown = needs_score and validation is None and facts.dice is None and facts.regions > 0
    return Maturity("unmeasured" if state == "mature" and unknown else state, facts)


def trained_maturity(facts: PredictionFacts, labels: LabelFacts, validation: float | None) -> Maturity:
    """Return the maturity of the best model of a finished run in its prediction for one image.

    validation: Dice of its evaluation on the validation images, None without one. Only the mark of nearly everything
    counts against a model that has shown that it detects defects, or that was never measured, such as an adopted one.
    An image without any region is a result of every model.
    """
    state = _state(facts, labels, validation, mature_before=False)
    if state == "everything":
        return Maturity(state, facts)
    if validation is None or validation >= PROVEN:
        return Maturity("mature", facts)
    if state == "nothing":
        state = "wrong" if facts.regions and validation < LEAST_DICE else "mature"
    return Maturity(state, facts)


def _state(facts: PredictionFacts, labels: LabelFacts, validation: float | None, mature_before: bool) -> State:
    proven = validation is not None and validation >= PROVEN
    factor = _PROVEN if proven else _MATURE_BEFORE if mature_before else 1.0
    # A partial preview is made around the labels: all of them may be in it.
    labeled, density = min(1.0, labels.marked / facts.part), labels.density / facts.part
    if facts.marked > max(_EVERYTHING, (1 + labeled) / 2):
        return "everything"
    most_regions = max(MOST_REGIONS, max(MOST_DENSITY, DENSITY_RATIO * density) * facts.megapixels)
    if facts.regions > factor * most_regions:
        return "scattered"
    if proven:
        return "mature"
    if facts.marked > factor * max(MOST_MARKED, MARKED_RATIO * labeled):
        return "too_much"
    if not mature_before and facts.marked <= LEAST_MARKED * labels.marked:
        return "nothing"
    if facts.undecided > factor * MOST_UNDECIDED:
        return "uncertain"
    agreement = validation if facts.dice is None else facts.dice
    if facts.regions and agreement is not None and agreement < LEAST_DICE / factor:
        return "wrong"
    return "mature"


def _defects(numbers: Iterable[tuple[int, int]]) -> int:
    """Return the sum of the numbers of all classes, without ignored areas."""
    return sum(number for id, number in numbers if 0 < id < DONT_CARE)


def _dice(marked: np.ndarray, predicted: np.ndarray, label: np.ndarray) -> float | None:
    """Return the Dice coefficient where the prediction and the label are known; None without a labeled defect."""
    known = predicted & (label < DONT_CARE)
    real = known & (label > 0)
    total = cv2.countNonZero(real.view(np.uint8))
    if not total:
        return None
    marked = marked & known
    both = cv2.countNonZero((marked & real).view(np.uint8))
    return 2 * both / (cv2.countNonZero(marked.view(np.uint8)) + total)
