"""How large a region is: area, length along its middle, widths and calipers, in pixels or micrometres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.selection.selection import Selection
from workbench.inference.cv import cv2

THICK = 24.0  # pixels to the outline: a thicker region is thinned reduced, as its middle needs no detail
_SPACE = 16 << 20  # pixels: a larger rectangle is thinned reduced as well
_DETAIL = 4 << 20  # pixels: up to here widths are measured to half a pixel


@dataclass(frozen=True)
class Measures:
    """Of one region. `length`: along its middle, branches included, ends to the outline; up to 8 % too long for
    oblique lines. `max_width`: of the largest circle inside. `mean_width`: area / length. `feret`, `min_feret`: the
    longest and the narrowest caliper over the corners of its pixels."""

    area: float
    length: float
    max_width: float
    mean_width: float
    feret: float
    min_feret: float

    def in_micrometres(self, um_per_pixel: float) -> Measures:
        """The same in µm and µm²."""
        lengths = (self.length, self.max_width, self.mean_width, self.feret, self.min_feret)
        return Measures(self.area * um_per_pixel**2, *(value * um_per_pixel for value in lengths))


NOTHING_MEASURED = Measures(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def measures(selection: Selection) -> Measures:
    """The measures of a selection, in pixels; of all its parts together."""
    region = selection.trimmed()
    if region.empty:
        return NOTHING_MEASURED
    inside = np.pad(region.inside, 1).astype(np.uint8)
    area = float(np.count_nonzero(inside))
    feret, min_feret = calipers(region.inside)
    away = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    length = _length(inside, away) or feret
    return Measures(area, length, _max_width(inside, away), area / length, feret, min_feret)


def calipers(inside: np.ndarray) -> tuple[float, float]:
    """The longest and the narrowest distance between parallel lines around the pixels of bool (h, w), not empty."""
    rows = np.flatnonzero(inside.any(axis=1))
    first = inside[rows].argmax(axis=1)
    last = inside.shape[1] - inside[rows, ::-1].argmax(axis=1)
    ends = np.concatenate([np.stack([first, rows], 1), np.stack([last, rows], 1)])
    hull = cv2.convexHull(np.concatenate([ends, ends + (0, 1)]).astype(np.float32)).reshape(-1, 2).astype(np.float64)
    longest = max(float(np.hypot(*(hull - corner).T).max()) for corner in hull)
    # The narrowest caliper lies along a side of the hull.
    side = np.roll(hull, -1, axis=0) - hull
    side /= np.hypot(side[:, 0], side[:, 1])[:, None]
    narrowest = min(float(np.ptp(hull @ (-y, x))) for x, y in side)
    return longest, narrowest


def thinned(inside: np.ndarray) -> np.ndarray:
    """uint8 0/1 (h, w): the region worn down to lines one pixel wide, connected as it was (Zhang and Suen 1984)."""
    region = np.pad(inside.astype(np.uint8), 1)
    while True:
        before = region
        for table in _TABLES:
            code = cv2.filter2D(region, -1, _WEIGHTS, borderType=cv2.BORDER_CONSTANT)
            region = region & ~cv2.LUT(code, table) & 1
        if np.array_equal(before, region):
            return region[1:-1, 1:-1]


def _length(inside: np.ndarray, away: np.ndarray) -> float:
    step = max(1, int(np.ceil(float(away.max()) / THICK)), int(np.ceil(np.sqrt(inside.size / _SPACE))))
    if step > 1:
        # Any pixel of a cell makes it one of the region: thin parts stay connected.
        padded = np.pad(inside, [(0, -n % step) for n in inside.shape])
        blocks = padded.reshape(padded.shape[0] // step, step, padded.shape[1] // step, step)
        inside = np.pad(blocks.max(axis=(1, 3)), 1)
        away = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    line = thinned(inside)
    if not line.any():
        return 0.0
    straight = np.count_nonzero(line[:, 1:] & line[:, :-1]) + np.count_nonzero(line[1:] & line[:-1])
    # A diagonal step counts unless two straight ones lead around its corner.
    falling = line[1:, 1:] & line[:-1, :-1] & ~(line[1:, :-1] | line[:-1, 1:])
    rising = line[1:, :-1] & line[:-1, 1:] & ~(line[1:, 1:] | line[:-1, :-1])
    diagonal = np.count_nonzero(falling & 1) + np.count_nonzero(rising & 1)
    near = cv2.filter2D(line, -1, np.ones((3, 3), np.float32), borderType=cv2.BORDER_CONSTANT) - 1
    ends = float((away[(line > 0) & (near <= 1)] - 0.5).sum() + (away[(line > 0) & (near == 0)] - 0.5).sum())
    return step * (straight + 2**0.5 * diagonal + ends)


def _max_width(inside: np.ndarray, away: np.ndarray) -> float:
    if inside.size > _DETAIL:
        return 2 * float(away.max()) - 1
    twice = cv2.resize(inside, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    return float(cv2.distanceTransform(twice, cv2.DIST_L2, cv2.DIST_MASK_PRECISE).max())


# The neighbours of a pixel, clockwise from above, as bits of a code.
_CLOCKWISE = ((0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0), (0, 0))
_WEIGHTS = np.zeros((3, 3), np.float32)
for _bit, _place in enumerate(_CLOCKWISE):
    _WEIGHTS[_place] = 1 << _bit


def _removable(code: int, second: bool) -> bool:
    ring = [code >> bit & 1 for bit in range(8)]
    north, east, south, west = ring[0], ring[2], ring[4], ring[6]
    rises = sum(a == 0 and b == 1 for a, b in zip(ring, ring[1:] + ring[:1]))
    if not (2 <= sum(ring) <= 6 and rises == 1):
        return False
    if second:
        return not (north and east and west) and not (north and south and west)
    return not (north and east and south) and not (east and south and west)


_TABLES = [np.array([_removable(code, second) for code in range(256)], np.uint8) for second in (False, True)]
