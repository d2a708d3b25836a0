"""Pyramids of an image and of a mask: halved copies that keep zooming out fast without losing painted pixels."""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.drawing import Rect, blank
from workbench.core.project.project import BACKGROUND, DONT_CARE, MAX_CLASS_ID, NOT_LABELED
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import HalvedTiff, TiffImage

_SMALLEST = 128  # no level is halved below this size of its longer side, pixels
_TILE = 128  # cells: side of the tiles processed together when a mask changes
_SYNCHRONOUS = 4 << 20  # pixels: the levels of a mask up to this size are made when it is first shown
_UPDATE_COST = 4096  # cells that cost as much as one more update
_PREALLOCATED = 1 << 29  # pixels: up to this mask size the levels allocate their memory pages at once
_BAND = 512  # rows processed together when a mask is first halved

# Rank of each id. If several ids fall into one cell, a painted class wins over "don't care" and that over "not
# labeled", so that a thin defect stays visible in any surroundings.
RANKS = np.arange(256, dtype=np.uint8)
RANKS[1 : MAX_CLASS_ID + 1] += 2
RANKS[[BACKGROUND, NOT_LABELED, DONT_CARE]] = 0, 1, 2
IDS = np.argsort(RANKS).astype(np.uint8)  # id of each rank


def depth(width: int, height: int) -> int:
    """Return the number of halvings of an image."""
    levels, longer = 0, max(width, height)
    while longer > _SMALLEST:
        longer, levels = (longer + 1) // 2, levels + 1
    return levels


def halvings(image: np.ndarray) -> list[np.ndarray]:
    """Return the image, (H, W) or (H, W, 3), and its area averages, each ceil(half) as large, of the same dtype."""
    levels = [image]
    for _ in range(depth(image.shape[1], image.shape[0])):
        above = levels[-1]
        height, width = above.shape[:2]
        if height % 2 or width % 2:
            above = cv2.copyMakeBorder(above, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE)
        size = (above.shape[1] // 2, above.shape[0] // 2)
        levels.append(cv2.resize(above, size, interpolation=cv2.INTER_AREA))
    return levels


def levels_by_region(image: TiffImage) -> list[np.ndarray | HalvedTiff | TiffImage | None]:
    """Return the levels of an image that is read by region: the image, its half on demand, then those of its overview.

    None stands for a level in between that does not exist.
    """
    number = image.overview_step.bit_length() - 1
    fine = [image, HalvedTiff(image), *[None] * number][:number]
    return [*fine, *halvings(image.overview)]


def max_halvings(values: np.ndarray) -> list[np.ndarray]:
    """Return uint8 (H, W) and its halvings, in which every cell keeps its greatest value."""
    levels = [values]
    for _ in range(depth(values.shape[1], values.shape[0])):
        levels.append(_pooled(levels[-1]))
    return levels


class MaskPyramid:
    """Mask, uint8 (H, W), shared and never copied, with max-pooled levels above it that hold ranks.

    Each level is updated on access, so painting at 100 % updates none. The levels of a large mask are first made by
    `build` in a thread; they should not be accessed before they are `ready`.
    """

    def __init__(self, mask: np.ndarray, *, synchronous: int = _SYNCHRONOUS) -> None:
        """synchronous: largest mask, in pixels, whose levels are made in the constructor."""
        self._levels = [mask]
        height, width = mask.shape
        for _ in range(depth(width, height)):
            height, width = (height + 1) // 2, (width + 1) // 2
            self._levels.append(blank(height, width))
        # Changes below each level not yet applied to it, in pixels of the level below.
        self._pending: list[list[Rect]] = [[] for _ in self._levels]
        self.touched = 0  # bytes written so far, for tests of the cost of a stroke
        self.ready = False
        if mask.size <= synchronous:
            self.build()
            self.ready = True

    def build(self) -> None:
        """Make all levels. Changes made meanwhile are applied when the levels are ready."""
        for level in self._levels[1:]:
            if self.mask.size <= _PREALLOCATED:
                level[:] = 0  # allocates the memory pages now; otherwise the first stroke on each page would be delayed
        for top in range(0, self.mask.shape[0], _BAND):
            band = self.mask[top : top + _BAND]
            rect = Rect(0, top, band.shape[1], band.shape[0])
            for number in range(1, self.depth + 1 if cv2.countNonZero(band) else 0):
                rect = self._raise(number, rect)

    @property
    def mask(self) -> np.ndarray:
        return self._levels[0]

    @property
    def depth(self) -> int:
        """Number of the highest level; the mask itself is 0."""
        return len(self._levels) - 1

    @property
    def levels(self) -> list[np.ndarray]:
        """All levels, up to date."""
        self.level(self.depth)
        return self._levels

    def level(self, number: int) -> np.ndarray:
        if number and not self.ready:
            self.build()
            self.ready = True
        for n in range(1, number + 1):
            pending, self._pending[n] = self._pending[n], []
            for rect in pending:
                changed = self._raise(n, rect)
                if n < self.depth:
                    _add(self._pending[n + 1], changed)
        return self._levels[number]

    def update(self, rect: Rect) -> None:
        """Record a change of the mask inside `rect`."""
        rect = rect.clipped(self.mask.shape[1], self.mask.shape[0])
        if not rect.empty and self.depth:
            _add(self._pending[1], rect)

    def _raise(self, number: int, rect: Rect) -> Rect:
        """Update one level from a changed rectangle of the level below. Return the changed rectangle in own cells."""
        below, level = self._levels[number - 1], self._levels[number]
        x, y = rect.x // 2, rect.y // 2
        right, bottom = (rect.x + rect.width + 1) // 2, (rect.y + rect.height + 1) // 2
        if number == 1:
            self._rank(x, y, right, bottom)
        else:
            # Bands fit into the CPU cache.
            for top in range(y, bottom, _TILE):
                low = min(top + _TILE, bottom)
                level[top:low, x:right] = _pooled(below[2 * top : 2 * low, 2 * x : 2 * right])
        self.touched += (right - x) * (bottom - y)
        return Rect(x, y, right - x, bottom - y)

    def _rank(self, x: int, y: int, right: int, bottom: int, tile: int = 8 * _TILE) -> None:
        """Compute cells of the first level by tiles: under a large brush most tiles hold one id."""
        level = self._levels[1]
        for top in range(y, bottom, tile):
            for left in range(x, right, tile):
                right_end, bottom_end = min(left + tile, right), min(top + tile, bottom)
                part = self.mask[2 * top : 2 * bottom_end, 2 * left : 2 * right_end]
                low, high, _, _ = cv2.minMaxLoc(part)
                if low == high:
                    level[top:bottom_end, left:right_end] = RANKS[int(high)]
                elif max(right_end - left, bottom_end - top) > 2 * _TILE:
                    self._rank(left, top, right_end, bottom_end, _TILE)
                elif high <= MAX_CLASS_ID:  # ids and ranks have the same order; fewer cells to convert
                    level[top:bottom_end, left:right_end] = cv2.LUT(_pooled(part), RANKS)
                else:
                    level[top:bottom_end, left:right_end] = _pooled(cv2.LUT(part, RANKS))


def _add(pending: list[Rect], rect: Rect) -> None:
    """Add a rectangle. Overlapping or nearby rectangles are merged if one update is cheaper than two."""
    if pending:
        last = pending[-1]
        union = last.united(rect)
        if union.width * union.height <= last.width * last.height + rect.width * rect.height + _UPDATE_COST:
            pending[-1] = union
            return
    pending.append(rect)


def _pooled(part: np.ndarray) -> np.ndarray:
    """Return the greatest value of each 2 x 2 block of uint8; a last odd row or column counts alone."""
    height, width = part.shape
    if height % 2 or width % 2:
        part = cv2.copyMakeBorder(part, 0, height % 2, 0, width % 2, cv2.BORDER_REPLICATE)
    rows = np.maximum(part[::2], part[1::2])
    # Neighbors as one 16-bit number: four times as fast as taking every other column.
    pairs = rows.view(np.uint16)
    return np.maximum(pairs & 255, pairs >> 8).astype(np.uint8)
