"""Maturity of a model in training: its prediction for an image is shown as regions, or only as a probability map.

A network that has just begun to learn marks nearly everything, thousands of small regions, or nothing. `maturity`
compares facts of one prediction with the labels of the project and with the newest validation. It depends on no number
of steps: a warm start is mature at once, and a difficult surface later.

Limits are wider if the prediction before was mature (hysteresis), so that the display does not alternate between
predictions of similar quality. A model whose validation has shown that it detects defects
may mark more than the labels: an unlabeled image may have larger defects than all labeled ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.core.evaluation.prediction_maps import PredictionMaps
from workbench.core.project.image_row import ImageRow, count_regions
from workbench.core.project.project import DONT_CARE, NOT_LABELED
from workbench.inference.io.opencv import cv2

State = Literal["everything", "too_much", "scattered", "nothing", "uncertain", "wrong", "mature"]

MOST_MARKED = 0.02  # share of marked pixels that is never too much
MARKED_RATIO = 3.0  # marked share, relative to the greatest labeled share of an image, that is not too much
LEAST_MARKED = 0.02  # marked share, relative to that greatest labeled share, that is nearly nothing
MOST_REGIONS = 10  # regions of an image that are never too many
MOST_DENSITY = 40.0  # regions per megapixel that are never too many
DENSITY_RATIO = 4.0  # regions per megapixel, relative to the greatest number in the labels, that are not too many
MOST_UNDECIDED = 0.3  # share of pixels with an intermediate probability
LEAST_DICE = 0.15  # agreement with the label of a finished image, or in the validation
PROVEN = 0.4  # Dice of the validation from which on the model has shown that it detects defects
_MATURE_BEFORE, _PROVEN = 2.0, 4.0  # factors of the limits
_EVERYTHING = 0.5  # share of marked pixels that is nearly everything
_INTERMEDIATE = (64, 191)  # 255 * probability, bounds included


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
    def of(cls, rows: Iterable[ImageRow]) -> LabelFacts:
        """Return the facts of labeled images from their rows in the index."""
        sizes = [(row, row.width * row.height) for row in rows if row.width * row.height]
        return cls(
            max((_defects(row.counts) / pixels for row, pixels in sizes), default=0.0),
            max((1e6 * _defects(row.regions) / pixels for row, pixels in sizes), default=0.0),
        )


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
    facts: PredictionFacts, labels: LabelFacts, validation: float | None = None, *, mature_before: bool = False
) -> Maturity:
    """Return the maturity of a model in its prediction for one image.

    validation: Dice of the newest validation, None without one. mature_before: the prediction before this one was
    mature, so wider limits apply.
    """
    return Maturity(_state(facts, labels, validation, mature_before), facts)


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
