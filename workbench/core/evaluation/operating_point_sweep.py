"""Metrics at other operating points: curves over the threshold and the point of least cost.

Counts per image and class are made once on a grid of thresholds and minimum areas, with each pixel assigned to its
strongest class. If all thresholds are at least 0.5, or equal, this equals a prediction. Otherwise it differs at pixels
where a class above its own lower threshold is second. A point is therefore *chosen* by these counts, and its metrics
are recomputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.stored_predictions import StoredPrediction, classify_regions
from workbench.inference.io.opencv import cv2

THRESHOLDS = tuple(percent / 100 for percent in (5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 85, 90, 93, 95, 97, 98, 99))
AREAS = (0, *(side**2 for side in (2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100)))
_ROUNDS = 3


@dataclass(frozen=True)
class ThresholdCounts:
    """Counts of one class on one image.

    covered: int32 (thresholds, areas, defects), pixels. regions, false_regions: int32 (thresholds, areas), predicted
    regions and those that touch no defect.
    """

    covered: np.ndarray
    regions: np.ndarray
    false_regions: np.ndarray


def count_thresholds(prediction: StoredPrediction, classes: int) -> tuple[ThresholdCounts, ...]:
    """Return the counts of each class, in the model's order."""
    shape = (len(THRESHOLDS), len(AREAS))
    counts = tuple(
        ThresholdCounts(
            np.zeros((*shape, len(prediction.defects)), np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        )
        for _ in range(classes)
    )
    for patch, truth, numbers in zip(prediction.patches, prediction.truths, prediction.numbers):
        for number, target in enumerate(counts):
            plane = np.where(patch.strongest == number, patch.highest, np.uint8(0))
            if plane.any():
                _count(plane, truth, numbers, target)
    return counts


def _count(plane: np.ndarray, truth: np.ndarray, numbers: np.ndarray, target: ThresholdCounts) -> None:
    rows, columns = np.flatnonzero(plane.any(axis=1)), np.flatnonzero(plane.any(axis=0))
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    plane, truth, numbers = plane[part], truth[part], numbers[part]
    highest = int(plane.max())
    marked, counts = np.flatnonzero(plane), None
    for step, threshold in enumerate(THRESHOLDS):
        level = int(np.ceil(255 * threshold - 1e-9))
        if level > highest:
            break
        remaining = marked[plane.reshape(-1)[marked] >= level]
        if counts is None or len(remaining) < len(marked):
            marked = remaining
            counts = _count_at_level(plane, level, marked, truth, numbers)
        target.regions[step] += counts[0]
        target.false_regions[step] += counts[1]
        for covered, (defects, pixels) in zip(target.covered[step], counts[2]):
            np.add.at(covered, defects, pixels)


def _count_at_level(
    plane: np.ndarray, level: int, marked: np.ndarray, truth: np.ndarray, numbers: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Return regions, false regions, and covered defects with their pixels, for each minimum area at `level`.

    marked: flat indices of the pixels that reach it. A patch covers few of the defects of its image.
    """
    covered: list[tuple[np.ndarray, np.ndarray]] = []
    _, labels, stats, _ = cv2.connectedComponentsWithStats((plane >= level).view(np.uint8), connectivity=8)
    region, area = labels.reshape(-1)[marked], stats[:, cv2.CC_STAT_AREA]
    _, false = classify_regions(region, truth.reshape(-1)[marked], area)
    large_enough = area[None, 1:] >= np.array(AREAS)[:, None]
    defect = numbers.reshape(-1)[marked]
    if defect.any():
        stride = int(defect.max()) + 1
        pairs, pixels = np.unique((region.astype(np.int64) * stride + defect)[defect > 0], return_counts=True)
        region_of_pair, defect = np.divmod(pairs, stride)
        for min_area in AREAS:
            selected = area[region_of_pair] >= min_area
            covered.append((defect[selected] - 1, pixels[selected].astype(np.int32)))
    regions, false_regions = large_enough.sum(axis=1), (large_enough & false[None, 1:]).sum(axis=1)
    return regions.astype(np.int32), false_regions.astype(np.int32), covered


@dataclass(frozen=True)
class PrecisionRecallCurve:
    """Metrics over the thresholds at one minimum area, float64 (thresholds,).

    recall: share of defects found. precision: share of regions that touch a defect, NaN without regions. false: false
    alarms per image.
    """

    thresholds: np.ndarray
    recall: np.ndarray
    precision: np.ndarray
    false: np.ndarray


class OperatingPointSweep:
    """Sum of the tallies of all images. tallies: per image, one per class."""

    def __init__(
        self,
        predictions: Sequence[StoredPrediction],
        tallies: Sequence[Sequence[ThresholdCounts]],
        classes: Sequence[int],
    ) -> None:
        self.images = len(predictions)
        self._ids = np.array([defect.class_id for entry in predictions for defect in entry.defects], np.int64)
        needed = [entry.needed_pixels for entry in predictions]
        self._needed = np.concatenate(needed) if needed else np.zeros(0)
        self._classes = tuple(classes)
        shape = (len(THRESHOLDS), len(AREAS))
        self._covered = [
            np.concatenate([np.zeros((*shape, 0), np.int32), *(entry[index].covered for entry in tallies)], axis=2)
            for index in range(len(classes))
        ]
        zeros, numbers = np.zeros(shape, int), range(len(classes))
        self._regions = [sum((entry[index].regions for entry in tallies), zeros) for index in numbers]
        self._false = [sum((entry[index].false_regions for entry in tallies), zeros) for index in numbers]

    def curve(self, point: OperatingPoint, number: int | None = None) -> PrecisionRecallCurve:
        """Return the curve of class index `number` by its own regions, or of all classes at a common threshold."""
        indices = range(len(self._classes)) if number is None else [number]
        areas = [_nearest(AREAS, point.min_area[index]) for index in indices]
        selected = slice(None) if number is None else self._ids == self._classes[number]
        none = np.zeros(len(THRESHOLDS), int)
        covered = sum(
            (self._covered[index][:, area][:, selected] for index, area in zip(indices, areas)), none[:, None]
        )
        regions = sum((self._regions[index][:, area] for index, area in zip(indices, areas)), none)
        false = sum((self._false[index][:, area] for index, area in zip(indices, areas)), none)
        needed = self._needed[selected]
        detected = (covered >= needed).sum(axis=1)
        recall = detected / len(needed) if len(needed) else np.full(len(THRESHOLDS), np.nan)
        with np.errstate(invalid="ignore"):
            precision = np.where(regions > 0, (regions - false) / regions, np.nan)
        return PrecisionRecallCurve(np.array(THRESHOLDS), recall, precision, false / max(1, self.images))

    def where(self, point: OperatingPoint, number: int) -> tuple[float, float]:
        """Return recall and precision of one class near `point`, as in `curve`; NaN without defects or regions."""
        curve = self.curve(point, number)
        step = _nearest(THRESHOLDS, point.thresholds[number])
        return float(curve.recall[step]), float(curve.precision[step])

    def cheapest(
        self, start: OperatingPoint, escape: float, overkill: float = 1.0, *, number: int | None = None
    ) -> OperatingPoint:
        """Return the grid point of least cost: missed defects times `escape` plus false alarms times `overkill`.

        Coordinate descent over the classes; on ties the point nearest to `start`. Classes without defects in the images
        keep their values, since the cost of missing them is unknown. number: optimize only this class.
        """
        positions = [(_nearest(THRESHOLDS, t), _nearest(AREAS, a)) for t, a in zip(start.thresholds, start.min_area)]
        initial = list(positions)
        adjustable = [k for k, id in enumerate(self._classes) if (self._ids == id).any() and number in (None, k)]
        for _ in range(_ROUNDS):
            previous = list(positions)
            for current in adjustable:
                other_covered = sum(
                    (self._covered[k][positions[k]] for k in range(len(positions)) if k != current),
                    np.zeros(len(self._ids)),
                )
                missed = (self._covered[current] + other_covered < self._needed).sum(axis=2)
                cost = escape * missed + overkill * self._false[current]
                steps = np.abs(np.arange(len(THRESHOLDS)) - initial[current][0])[:, None]
                distance = steps + np.abs(np.arange(len(AREAS)) - initial[current][1])[None, :]
                best = np.lexsort((distance.ravel(), cost.ravel()))[0]
                positions[current] = (int(best) // len(AREAS), int(best) % len(AREAS))
            if positions == previous:
                break
        moved = [k in adjustable and positions[k] != initial[k] for k in range(len(positions))]
        return replace(
            start,
            thresholds=tuple(
                THRESHOLDS[positions[k][0]] if moved[k] else start.thresholds[k] for k in range(len(positions))
            ),
            min_area=tuple(AREAS[positions[k][1]] if moved[k] else start.min_area[k] for k in range(len(positions))),
        )


def _nearest(values: Sequence[float], value: float) -> int:
    return int(np.argmin(np.abs(np.array(values, float) - value)))
