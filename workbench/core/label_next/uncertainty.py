"""Regions predicted by a model, their uncertainty, and the uncertainty of the whole image.

Regions are rated rather than pixels, because in a mean over pixels an uncertain scratch would vanish among a million
certain background pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings

HALF = 128  # certainty at the class threshold, where the model begins to mark a defect
FAINT = 64  # certainty; lower values are background
CERTAIN = 0.8  # strength from which on a region counts as certain
UNCERTAIN = 0.2  # uncertainty from which on a region counts as uncertain
MAX_REGIONS = 100  # regions kept per image


@dataclass(frozen=True)
class RegionCertainty:
    """Connected region predicted by a model, faint or clear.

    class_id: the most likely class; rival: the next likely one, 0 if none. strength: 0..1, with 0.5 at the model's
    threshold. uncertainty: 0..0.5, the model's estimate that it is wrong here, from the distance to the threshold or to
    the rival class. area: pixels.
    """

    class_id: int
    rival: int
    strength: float
    uncertainty: float
    rect: Rect
    area: int


def certainty_tables(settings: ModelSettings) -> np.ndarray:
    """Return tables of uint8 (n_classes, 256) from 255 times the probability of a class to its certainty.

    The middle of the certainty, HALF, is the threshold of the class, so that classes with different thresholds, such as
    0.3 and 0.98, are comparable.
    """
    value = np.arange(256, dtype=np.float64)
    tables = []
    for threshold in settings.thresholds:
        edge = min(max(255 * threshold, 1.0), 254.0)
        low, high = HALF * value / edge, HALF + (255 - HALF) * (value - edge) / (255 - edge)
        tables.append(np.rint(np.where(value < edge, low, high)))
    return np.array(tables).astype(np.uint8)


def certainties(class_scores: np.ndarray, settings: ModelSettings) -> tuple[np.ndarray, np.ndarray]:
    """Return the greatest certainty per pixel and the index of its class in the settings, both uint8 (H, W).

    class_scores: uint8 (n_classes, H, W), as of `Prediction`.
    """
    tables = certainty_tables(settings)
    best = cv2.LUT(class_scores[0], tables[0])
    class_index = np.zeros_like(best)
    for index in range(1, len(class_scores)):
        level = cv2.LUT(class_scores[index], tables[index])
        class_index[level > best] = index
        np.maximum(best, level, out=best)
    return best, class_index


def region_certainties(
    class_scores: np.ndarray, settings: ModelSettings, corner: tuple[int, int] = (0, 0)
) -> list[RegionCertainty]:
    """Return the regions in an image, or in a part of it that begins at `corner` (x, y), most doubtful first.

    Regions of less than half the minimum area of their class are skipped, as they would never be marked.
    """
    best, class_index = certainties(class_scores, settings)
    count, labels, stats, _ = cv2.connectedComponentsWithStats((best >= FAINT).astype(np.uint8), connectivity=8)
    if count < 2:
        return []
    pixels = np.flatnonzero(labels)
    number = labels.ravel()[pixels].astype(np.intp)
    peak = np.zeros(count, np.uint8)
    np.maximum.at(peak, number, cv2.blur(best, (3, 3)).ravel()[pixels])  # smoothed, as a single pixel is not reliable
    classes = len(class_scores)
    votes = np.bincount(number * classes + class_index.ravel()[pixels], best.ravel()[pixels], count * classes).reshape(
        count, classes
    )
    tables = certainty_tables(settings)
    regions = []
    for n in range(1, count):
        index = int(votes[n].argmax())
        left, top, width, height, area = (int(value) for value in stats[n])
        if area < max(3, settings.min_area[index] / 2):
            continue
        window = (slice(top, top + height), slice(left, left + width))
        inside = labels[window] == n
        sums = [float(table[plane[window][inside]].sum()) for table, plane in zip(tables, class_scores)]
        rect = Rect(corner[0] + left, corner[1] + top, width, height)
        regions.append(_region_certainty(index, float(peak[n]) / 255, sums, settings, rect, area))
    regions.sort(key=lambda region: (-region.uncertainty, -region.area, region.rect.y, region.rect.x))
    return regions[:MAX_REGIONS]


def _region_certainty(
    index: int, strength: float, sums: list[float], settings: ModelSettings, rect: Rect, area: int
) -> RegionCertainty:
    """Return the rated region. sums: certainty of each class summed over the region's pixels."""
    others = [(total, n) for n, total in enumerate(sums) if n != index]
    rival_sum, rival = max(others, default=(0.0, -1))
    ambiguity = 0.0
    if strength >= 0.5 and rival_sum > 0:
        ambiguity = min(0.5, rival_sum / (rival_sum + sums[index]))
    rival_id = settings.classes[rival].id if ambiguity >= UNCERTAIN else 0
    uncertainty = max(min(strength, 1 - strength), ambiguity)
    return RegionCertainty(settings.classes[index].id, rival_id, round(strength, 4), round(uncertainty, 4), rect, area)


def uncertain_regions(regions: list[RegionCertainty] | tuple[RegionCertainty, ...]) -> list[RegionCertainty]:
    """Return the regions that the user should check."""
    return [region for region in regions if region.uncertainty >= UNCERTAIN]


def image_uncertainty(regions: list[RegionCertainty] | tuple[RegionCertainty, ...]) -> float:
    """Return the probability, 0..1, that the model is wrong about at least one of its uncertain regions."""
    return 1 - float(np.prod([1 - region.uncertainty for region in uncertain_regions(regions)]))


def certain_share(regions: list[RegionCertainty] | tuple[RegionCertainty, ...]) -> float:
    """Return the share, 0..1, of the model's predicted area that is certain.

    A defect contrasts with its surface. If a model predicts a little everywhere, the surface is unknown to the model.
    """
    certain_area = sum(region.strength * region.area for region in regions if region.strength >= CERTAIN)
    return certain_area / (1 + sum(region.area for region in regions))
