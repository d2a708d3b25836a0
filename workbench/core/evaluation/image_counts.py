"""Comparison of predictions with labels per image: metrics by defect size, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.evaluation.metrics import find_false_alarms, match_defects
from workbench.core.project.project import MAX_CLASS_ID

ANY = 0  # any class, in place of a class id
ENOUGH = 10  # images with defects required for a meaningful bootstrap interval
_RESAMPLES = 2000


@dataclass(frozen=True)
class DefectCount:
    """Labeled region. area: pixels. found: True if predictions cover enough of it."""

    class_id: int
    area: int
    found: bool


@dataclass(frozen=True)
class ImageCounts:
    """Counts of one image.

    pixels: class id, or ANY, to (hit, false, missed) pixels. regions: number of predicted regions. false: number of
    those that touch no defect.
    """

    key: str
    pixels: Mapping[int, tuple[int, int, int]]
    defects: tuple[DefectCount, ...]
    regions: int
    false: int

    @property
    def missed(self) -> int:
        return sum(not defect.found for defect in self.defects)


def count_image(key: str, truth: np.ndarray, predicted: np.ndarray, classes: Sequence[int]) -> ImageCounts:
    """Compare a label with a prediction, both uint8 (H, W); counts as in core.metrics."""
    counted = truth <= MAX_CLASS_ID
    labeled, marked = (truth > 0) & counted, (predicted > 0) & counted
    pixels = {ANY: _pixels(labeled, marked)}
    defects = []
    for id in classes:
        pixels[id] = _pixels(truth == id, (predicted == id) & counted)
        areas, detected = match_defects(truth == id, marked)
        defects += [DefectCount(id, int(area), bool(is_detected)) for area, is_detected in zip(areas, detected)]
    false = find_false_alarms(predicted > 0, labeled, marked)
    return ImageCounts(key, pixels, tuple(defects), len(false), int(false.sum()))


def _pixels(labeled: np.ndarray, predicted: np.ndarray) -> tuple[int, int, int]:
    hit = int(np.count_nonzero(labeled & predicted))
    return hit, int(np.count_nonzero(predicted)) - hit, int(np.count_nonzero(labeled)) - hit


def dice(counts: Sequence[ImageCounts], id: int = ANY) -> float | None:
    """Return the Dice of all images together; None if neither labels nor predictions have any pixels."""
    hit, false, missed = (sum(image.pixels[id][index] for image in counts) for index in range(3))
    return 2 * hit / (2 * hit + false + missed) if hit + false + missed else None


def dice_interval(counts: Sequence[ImageCounts], id: int = ANY) -> list[float] | None:
    """Return the 95 % interval by Efron's percentile bootstrap over images; None below ENOUGH images with defects.

    Whole images are drawn, since the pixels of one image are not independent. The result is deterministic.
    """
    informative = sum(image.pixels[id][0] + image.pixels[id][2] > 0 for image in counts)
    if informative < ENOUGH:
        return None
    values = np.array([image.pixels[id] for image in counts], float)
    resamples = np.random.default_rng(0).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), _RESAMPLES)
    hit, false, missed = (resamples @ values).T
    denominator = 2 * hit + false + missed
    values_of_dice = 2 * hit[denominator > 0] / denominator[denominator > 0]
    return [float(edge) for edge in np.percentile(values_of_dice, (2.5, 97.5))]


def size_edges(areas: Sequence[int]) -> list[int]:
    """Return areas in pixels that divide defects into three about equally full size ranges; [] if there are too few."""
    if len(areas) < 9:
        return []
    edges = [_round(float(edge)) for edge in np.quantile(areas, (1 / 3, 2 / 3))]
    sizes = [np.count_nonzero(np.digitize(areas, edges) == index) for index in range(3)]
    return edges if edges[0] < edges[1] and min(sizes) >= 2 else []


def _round(value: float) -> int:
    """Round to two significant digits."""
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value, -digits))
