"""Size of a region: area, length along its center line, widths and caliper diameters, in pixels or micrometers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.selection.pixel_selection import Selection
from workbench.inference.components import feret_diameters
from workbench.inference.io.opencv import cv2

# Pixels to the outline: thicker regions are thinned at reduced resolution, enough for a center line.
MAX_HALF_WIDTH = 24.0
_MAX_PIXELS = 16 << 20  # pixels: a larger rectangle is thinned at reduced resolution as well
_MAX_UPSCALED_PIXELS = 4 << 20  # pixels: up to this size, widths are measured to half a pixel


@dataclass(frozen=True)
class Measures:
    """Measures of one region.

    `area`: of its pixels. `length`: along its center line, with branches, ends extended to the outline, accurate to
    about 4 %. `max_width`: diameter of the largest inscribed circle. `feret`, `min_feret`: greatest and least caliper
    diameter over the corners of its pixels.
    """

    area: float
    length: float
    max_width: float
    feret: float
    min_feret: float


NOTHING_MEASURED = Measures(0.0, 0.0, 0.0, 0.0, 0.0)


def measures(selection: Selection) -> Measures:
    """Return the measures of a selection in pixels, over all its parts."""
    region = selection.trimmed()
    if region.empty:
        return NOTHING_MEASURED
    inside = np.pad(region.inside, 1).astype(np.uint8)
    area = float(np.count_nonzero(inside))
    feret, min_feret = calipers(region.inside)
    distance = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    length = _length(inside, distance) or feret
    return Measures(area, length, _max_width(inside, distance), feret, min_feret)


def calipers(inside: np.ndarray) -> tuple[float, float]:
    """Return the greatest and least caliper diameter of the pixels in bool (h, w), which must not be empty."""
    rows = np.flatnonzero(inside.any(axis=1))
    first = inside[rows].argmax(axis=1)
    last = inside.shape[1] - inside[rows, ::-1].argmax(axis=1)
    return feret_diameters(np.stack([rows, first, last], axis=1).astype(np.int32))


def thinned(inside: np.ndarray) -> np.ndarray:
    """Return the skeleton, uint8 0/1 (h, w), one pixel wide and with unchanged connectivity (Guo and Hall 1989)."""
    region = np.pad(inside.astype(np.uint8), 1)
    while True:
        before = region
        for table in _TABLES:
            code = cv2.filter2D(region, -1, _WEIGHTS, borderType=cv2.BORDER_CONSTANT)
            region = region & ~np.asarray(cv2.LUT(code, table), np.uint8) & 1
        if np.array_equal(before, region):
            return region[1:-1, 1:-1]


def _length(inside: np.ndarray, distance: np.ndarray) -> float:
    step = max(
        1, int(np.ceil(float(distance.max()) / MAX_HALF_WIDTH)), int(np.ceil(np.sqrt(inside.size / _MAX_PIXELS)))
    )
    if step > 1:
        # A cell belongs to the region if any of its pixels does, so thin parts stay connected.
        padded = np.pad(inside, [(0, -n % step) for n in inside.shape])
        blocks = padded.reshape(padded.shape[0] // step, step, padded.shape[1] // step, step)
        inside = np.pad(blocks.max(axis=(1, 3)), 1)
        distance = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    line = thinned(inside)
    if not line.any():
        return 0.0
    straight, diagonal = _links(line)
    # Vossepoel and Smeulders (1982): pixel counts overestimate oblique lines; the number of corners corrects this.
    corners = np.count_nonzero((straight == 1) & (diagonal == 1))
    path_length = (0.98 * straight.sum(dtype=np.int64) + 1.406 * diagonal.sum(dtype=np.int64)) / 2 - 0.091 * corners
    neighbors = cv2.filter2D(line, -1, np.ones((3, 3), np.float32), borderType=cv2.BORDER_CONSTANT) - 1
    ends = float(
        (distance[(line > 0) & (neighbors <= 1)] - 0.5).sum() + (distance[(line > 0) & (neighbors == 0)] - 0.5).sum()
    )
    return float(step * (path_length + ends))


def _links(line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of straight and of diagonal links of each pixel of a thin line, each uint8 (h, w)."""
    straight, diagonal = np.zeros_like(line), np.zeros_like(line)
    head, tail = (slice(None, -1), slice(1, None))
    all_pixels = slice(None)
    for target, a, b, crossing in (
        (straight, (all_pixels, head), (all_pixels, tail), ()),
        (straight, (head, all_pixels), (tail, all_pixels), ()),
        (diagonal, (head, head), (tail, tail), ((head, tail), (tail, head))),
        (diagonal, (head, tail), (tail, head), ((head, head), (tail, tail))),
    ):
        joined = line[a] & line[b]
        for corner in crossing:  # a diagonal link counts unless two straight ones connect around its corner
            joined = joined & (1 - line[corner])
        target[a] += joined
        target[b] += joined
    return straight, diagonal


def _max_width(inside: np.ndarray, distance: np.ndarray) -> float:
    if inside.size > _MAX_UPSCALED_PIXELS:
        return 2 * float(distance.max()) - 1
    upscaled = cv2.resize(inside, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    return float(cv2.distanceTransform(upscaled, cv2.DIST_L2, cv2.DIST_MASK_PRECISE).max())


# Neighbors of a pixel, clockwise from above, as bits of a code.
_CLOCKWISE = ((0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0), (0, 0))
_WEIGHTS = np.zeros((3, 3), np.float32)
for _bit, _position in enumerate(_CLOCKWISE):
    _WEIGHTS[_position] = 1 << _bit


def _removable(code: int, second: bool) -> bool:
    n, ne, e, se, s, sw, w, nw = (bool(code >> bit & 1) for bit in range(8))
    # A single run of neighbors stays connected without the pixel.
    runs = (not n and (ne or e)) + (not e and (se or s)) + (not s and (sw or w)) + (not w and (nw or n))
    pairs = (nw or n) + (ne or e) + (se or s) + (sw or w), (n or ne) + (e or se) + (s or sw) + (w or nw)
    if runs != 1 or not 2 <= min(pairs) <= 3:
        return False
    return not ((n or ne or not se) and e) if second else not ((s or sw or not nw) and w)


_TABLES = [np.array([_removable(code, second) for code in range(256)], np.uint8) for second in (False, True)]
