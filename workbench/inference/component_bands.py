"""Measurements of the connected components in one band of a mask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from .io.opencv import cv2

Box = tuple[int, int, int, int]  # left, top, right and bottom; right and bottom are exclusive


@dataclass(frozen=True)
class ComponentBand:
    """Components of one band. A part is a component within the band.

    labels: uint16 or int32, 0 or the number of a part; numbers in the whole mask begin after `first`.
    stats, centers: as returned by OpenCV, background first.
    """

    top: int
    left: int
    labels: np.ndarray
    stats: np.ndarray
    centers: np.ndarray
    first: int = 0

    def view(self, plane: np.ndarray) -> np.ndarray:
        """Return this band's box of another plane of the whole image."""
        height, width = self.labels.shape
        return plane[self.top : self.top + height, self.left : self.left + width]

    def without(self, parts: np.ndarray) -> ComponentBand:
        """Return the band without the parts set in `parts`, bool, one entry per label number including 0."""
        remaining = ~parts
        numbers = np.where(remaining, np.cumsum(remaining) - 1, 0).astype(self.labels.dtype)
        labels = np.take(numbers, self.labels)
        return ComponentBand(self.top, self.left, labels, self.stats[remaining], self.centers[remaining], self.first)


@cache
def weights(exponent: int) -> np.ndarray:
    """Return float64 (256,), read-only: weight of a pixel by its score, (score / 255) ** exponent."""
    by_score = (np.arange(256) / 255) ** exponent
    by_score.flags.writeable = False
    return by_score


def areas_of_parts(band: ComponentBand) -> np.ndarray:
    """Return float64 (parts, 5) with the area in the last column; float64 to match the table of `measure_band`."""
    return band.stats[1:].astype(np.float64)


def measure_band(band: ComponentBand, scores: np.ndarray, by_score: np.ndarray, inside: Box | None) -> np.ndarray:
    """Measure the parts of a band.

    by_score: weight of a pixel by its score. inside: measured part of the image; None: all of it.

    Returns float64 (parts, 11): left, top, right, bottom of the measured pixels, area of all pixels, of the measured
    ones sums of x, y and score, peak, sum of the weights, and area. Without measured pixels left and top are infinite
    and the other columns but the fifth 0.
    """
    labels = band.labels
    is_measured = labels > 0
    stats, count = band.stats[1:].astype(np.float64), len(band.stats)
    left, top = stats[:, cv2.CC_STAT_LEFT] + band.left, stats[:, cv2.CC_STAT_TOP] + band.top
    box = np.column_stack([left, top, left + stats[:, cv2.CC_STAT_WIDTH], top + stats[:, cv2.CC_STAT_HEIGHT]])
    area = whole = stats[:, cv2.CC_STAT_AREA]
    # Centroid times area is an integer, so rounding makes sums over bands exact.
    sums = np.rint(band.centers[1:] * area[:, None]) + area[:, None] * [band.left, band.top]
    if inside is not None:
        _clear_outside(is_measured, band, inside)
        is_cut = np.any(np.concatenate([box[:, :2] < inside[:2], box[:, 2:] > inside[2:]], axis=1), axis=1)
        if is_cut.any():
            area = area.copy()
            _measure_cut(band, is_measured & np.concatenate([[False], is_cut])[labels], is_cut, box, sums, area)
    label = labels[is_measured].astype(np.intp)  # the fastest index type for `ufunc.at`
    score = band.view(scores)[is_measured]
    peaks = np.zeros(count, np.uint8)
    np.maximum.at(peaks, label, score)
    score_sum, weight = (np.bincount(label, values, count)[1:] for values in (score, by_score[score]))
    return np.column_stack([box, whole, sums, score_sum, peaks[1:], weight, area])


def _clear_outside(plane: np.ndarray, band: ComponentBand, inside: Box) -> None:
    """Set the pixels of a band's plane, bool (h,w), that are outside of a box of the image to False, in place."""
    left, top, right, bottom = inside
    plane[: max(0, top - band.top)] = False
    plane[max(0, bottom - band.top) :] = False
    plane[:, : max(0, left - band.left)] = False
    plane[:, max(0, right - band.left) :] = False


def _measure_cut(
    band: ComponentBand, pixels: np.ndarray, is_cut: np.ndarray, box: np.ndarray, sums: np.ndarray, area: np.ndarray
) -> None:
    """Replace the boxes, sums of x and y, and areas of some parts by those of the given pixels, in place.

    pixels: bool (h,w), pixels of these parts. is_cut: bool (parts,). box: (parts, 4). sums: (parts, 2). area: (parts,).
    """
    y, x = np.nonzero(pixels)
    part, places = band.labels[y, x].astype(np.intp) - 1, np.stack([x + band.left, y + band.top], axis=1)
    box[is_cut] = [np.inf, np.inf, 0, 0]
    area[is_cut] = np.bincount(part, minlength=len(area))[is_cut]
    for axis in (0, 1):
        sums[is_cut, axis] = np.bincount(part, weights=places[:, axis], minlength=len(area))[is_cut]
        np.minimum.at(box[:, axis], part, places[:, axis])
        np.maximum.at(box[:, axis + 2], part, places[:, axis] + 1)
