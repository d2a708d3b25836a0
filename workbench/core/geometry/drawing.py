"""Drawing on masks. Coordinates are image pixels: (0, 0) is the outer corner of the first pixel.

A pixel belongs to a shape if its center does. Each function changes `mask` in place, only inside the rectangle that it
returns; time and memory are proportional to that rectangle, not to the image.

Polygon filling: even-odd rule on pixel centers, plus the pixels under the corners.
"""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_CELL = 128  # pixels: changed areas this far apart are reported separately
_MAX_SINGLE_RECT_AREA = 1 << 18  # pixels: changed areas up to this size are reported as one
_MIN_MAPPED_PIXELS = 1 << 20  # bytes of a mask from which on its memory is allocated page by page
_MIN_BLOCK_RUN = 48  # pixels: mean run length from which on runs are painted in blocks
_BLOCK = 16  # rows of such a block

Point = tuple[float, float]


@dataclass(frozen=True)
class Rect:
    """Half-open rectangle of pixels: x <= column < x + width."""

    x: int
    y: int
    width: int
    height: int

    @property
    def empty(self) -> bool:
        return self.width <= 0 or self.height <= 0

    @property
    def slices(self) -> tuple[slice, slice]:
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)

    def united(self, other: Rect) -> Rect:
        if self.empty:
            return other
        if other.empty:
            return self
        x, y = min(self.x, other.x), min(self.y, other.y)
        right = max(self.x + self.width, other.x + other.width)
        bottom = max(self.y + self.height, other.y + other.height)
        return Rect(x, y, right - x, bottom - y)

    def common(self, other: Rect) -> Rect:
        """Return the intersection; empty if the rectangles do not overlap."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        right = min(self.x + self.width, other.x + other.width)
        bottom = min(self.y + self.height, other.y + other.height)
        return Rect(x, y, max(0, right - x), max(0, bottom - y))

    def clipped(self, width: int, height: int) -> Rect:
        x, y = self.x, self.y
        if x >= 0 <= y and 0 < self.width <= width - x and 0 < self.height <= height - y:
            return self
        x, y = min(max(x, 0), width), min(max(y, 0), height)
        right, bottom = min(max(self.x + self.width, 0), width), min(max(self.y + self.height, 0), height)
        return Rect(x, y, max(0, right - x), max(0, bottom - y))


NOTHING = Rect(0, 0, 0, 0)


def blank(height: int, width: int) -> np.ndarray:
    """Return a mask of zeros, uint8 (H, W), that uses memory only where it is read or painted, a few KB at a time.

    NumPy would request pages of 2 MB, and the first access to each would block until the whole page is cleared or
    assembled.
    """
    if height * width < _MIN_MAPPED_PIXELS:
        return np.zeros((height, width), np.uint8)
    memory = mmap.mmap(-1, height * width)
    if sys.platform == "linux" and hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint8).reshape(height, width)


@dataclass(frozen=True)
class Paint:
    """Paint of a tool: a class id, and the ids that must be kept."""

    id: int
    protected: frozenset[int] = frozenset()

    @cached_property
    def paintable(self) -> np.ndarray:
        """Ids that may be painted over, bool (256,)."""
        table = np.ones(256, bool)
        table[list(self.protected)] = False
        return table

    def apply(self, mask: np.ndarray, rect: Rect, region: np.ndarray) -> None:
        """Set `mask` to the id in `rect` where `region` (bool, shape of the rectangle) is True."""
        view = mask[rect.slices]
        if self.protected:
            region = region & self.paintable[view]
        view[region] = self.id


@dataclass(frozen=True, eq=False)
class Runs:
    """Pixels by rows: run i covers columns first[i] <= column < stop[i] of row rows[i]; int (n,), none empty."""

    rows: np.ndarray
    first: np.ndarray
    stop: np.ndarray

    @property
    def rect(self) -> Rect:
        if not self.rows.size:
            return NOTHING
        x, y = int(self.first.min()), int(self.rows.min())
        return Rect(x, y, int(self.stop.max()) - x, int(self.rows.max()) + 1 - y)

    @property
    def rects(self) -> list[Rect]:
        """Bounding rectangles of the runs: one if they are close together, else several that enclose less space."""
        bounds = self.rect
        if bounds.empty:
            return []
        if bounds.width * bounds.height <= _MAX_SINGLE_RECT_AREA:
            return [bounds]
        left, band = bounds.x // _CELL, self.rows // _CELL - bounds.y // _CELL
        columns = (bounds.x + bounds.width - 1) // _CELL - left + 2  # the last cell of each band stays free
        first, last = band * columns + self.first // _CELL - left, band * columns + (self.stop - 1) // _CELL - left
        count = (int(band.max()) + 1) * columns
        covered = np.cumsum(np.bincount(first, minlength=count) - np.bincount(last + 1, minlength=count)[:count]) > 0
        group_starts = np.flatnonzero(covered & ~np.concatenate(([False], covered[:-1])))
        group = np.searchsorted(group_starts, first, side="right") - 1
        low = np.full((2, group_starts.size), np.iinfo(np.int64).max)
        high = np.zeros((2, group_starts.size), np.int64)
        for axis, (lower, upper) in enumerate(((self.first, self.stop), (self.rows, self.rows + 1))):
            np.minimum.at(low[axis], group, lower)
            np.maximum.at(high[axis], group, upper)
        return [Rect(*box) for box in np.stack([*low, *(high - low)], axis=1).tolist()]

    def draw(self, mask: np.ndarray, paint: Paint) -> None:
        """Paint the runs on `mask`, which must contain them."""
        if not mask.flags.c_contiguous:  # a slice: its rows are not contiguous
            copy = np.ascontiguousarray(mask)
            self.draw(copy, paint)
            mask[...] = copy
            return
        use_blocks = int((self.stop - self.first).sum()) > _MIN_BLOCK_RUN * self.rows.size
        remaining = self._draw_blocks(mask, paint) if use_blocks else self
        lengths = remaining.stop - remaining.first
        starts = remaining.rows * mask.shape[1] + remaining.first - (np.cumsum(lengths) - lengths)
        positions = np.repeat(starts, lengths) + np.arange(int(lengths.sum()))
        pixels = mask.reshape(-1)
        pixels[positions[paint.paintable[pixels[positions]]] if paint.protected else positions] = paint.id

    def _draw_blocks(self, mask: np.ndarray, paint: Paint) -> Runs:
        """Paint the common columns of consecutive rows, block by block. Return the remaining runs."""
        starts = np.empty(self.rows.size, bool)
        np.not_equal(self.rows[1:], self.rows[:-1] + 1, out=starts[1:])
        starts[::_BLOCK] = True
        block_starts = np.flatnonzero(starts)
        left = np.maximum.reduceat(self.first, block_starts)
        right = np.maximum(left, np.minimum.reduceat(self.stop, block_starts))
        tops, ends = self.rows[block_starts], np.append(block_starts[1:], self.rows.size)
        bottoms = tops + (ends - block_starts)
        for top, bottom, begin, end in zip(tops.tolist(), bottoms.tolist(), left.tolist(), right.tolist()):
            part = mask[top:bottom, begin:end]
            part[paint.paintable[part] if paint.protected else ...] = paint.id
        block = np.cumsum(starts) - 1
        left, right = left[block], right[block]
        # If a block is empty, `left` may be beyond some of its runs.
        left = np.minimum(left, self.stop)
        right = np.maximum(right, left)
        rows = np.concatenate((self.rows, self.rows))
        first, stop = np.concatenate((self.first, right)), np.concatenate((left, self.stop))
        nonempty = stop > first
        return Runs(rows[nonempty], first[nonempty], stop[nonempty])

    def inside(self, rect: Rect) -> np.ndarray:
        """Return the pixels of the runs as bool (rect.height, rect.width); the runs must lie in `rect`."""
        result = np.zeros((rect.height, rect.width), np.uint8)
        Runs(self.rows - rect.y, self.first - rect.x, self.stop - rect.x).draw(result, Paint(1))
        return result.view(bool)


def segment_rect(start: Point, end: Point, radius: float, shape: tuple[int, ...]) -> Rect:
    """Return the pixels that a brush of `radius` can touch between two points, inside a mask of `shape` (H, W)."""
    left, right = min(start[0], end[0]) - radius, max(start[0], end[0]) + radius
    top, bottom = min(start[1], end[1]) - radius, max(start[1], end[1]) + radius
    x, y = math.floor(left), math.floor(top)
    return Rect(x, y, math.ceil(right) - x + 1, math.ceil(bottom) - y + 1).clipped(shape[1], shape[0])


def segment_runs(start: Point, end: Point, radius: float, shape: tuple[int, ...], *, drawn: bool = False) -> Runs:
    """Return the pixels of a round brush from `start` to `end`: those with a center within `radius` of the segment.

    A brush smaller than a pixel still marks the pixel under its center. drawn: the disc around `start` is already
    painted, as the end of another segment; only the new pixels beyond it are returned, a narrow crescent for a large
    brush.
    """
    rect = segment_rect(start, end, radius, shape)
    if rect.empty:
        return Runs(*np.zeros((3, 0), np.int64))
    rows = np.arange(rect.y, rect.y + rect.height)
    (gap_start, first), (gap_stop, stop) = _columns(*_capsule_spans(rows + 0.5, start, end, radius), rect)
    ends = () if radius > 0.75 else (end,) if drawn else (start, end)  # a wider brush reaches a pixel center anyway
    end_pixels = [p for p in ends if 0 <= p[0] < shape[1] and 0 <= p[1] < shape[0]]
    if drawn:
        gap_start, gap_stop = (
            np.where(gap_stop > gap_start, gap_start, stop),
            np.where(gap_stop > gap_start, gap_stop, stop),
        )
        rows = np.concatenate((rows, rows))
        first, stop = (
            np.concatenate((first, np.maximum(first, gap_stop))),
            np.concatenate((np.minimum(stop, gap_start), stop)),
        )
    for x, y in end_pixels:
        rows, first = np.append(rows, math.floor(y)), np.append(first, math.floor(x))
        stop = np.append(stop, math.floor(x) + 1)
    nonempty = stop > first
    return Runs(rows[nonempty], first[nonempty], stop[nonempty])


def draw_segment(mask: np.ndarray, start: Point, end: Point, radius: float, paint: Paint) -> Rect:
    """Paint `segment_runs` and return the changed rectangle."""
    runs = segment_runs(start, end, radius, mask.shape)
    runs.draw(mask, paint)
    return runs.rect


class Stamp:
    """Region, bool (h, w), to be painted on masks of `shape` (H, W) with its first pixel at `corner` (x, y)."""

    def __init__(self, region: np.ndarray, corner: tuple[int, int], shape: tuple[int, ...]) -> None:
        full = Rect(corner[0], corner[1], region.shape[1], region.shape[0])
        self.rect = full.clipped(shape[1], shape[0])
        top, left = self.rect.y - full.y, self.rect.x - full.x
        self._region = region[top : top + self.rect.height, left : left + self.rect.width]

    @property
    def rects(self) -> list[Rect]:
        return [] if self.rect.empty else [self.rect]

    def draw(self, mask: np.ndarray, paint: Paint) -> None:
        if not self.rect.empty:
            paint.apply(mask, self.rect, self._region)


def draw_region(mask: np.ndarray, region: np.ndarray, corner: tuple[int, int], paint: Paint) -> Rect:
    """Paint a `Stamp`: an accepted suggestion or a pasted label. Return the rectangle that may have changed."""
    stamp = Stamp(region, corner, mask.shape)
    stamp.draw(mask, paint)
    return stamp.rect if stamp.rects else NOTHING


def _columns(low: np.ndarray, high: np.ndarray, rect: Rect) -> tuple[np.ndarray, np.ndarray]:
    """Return the first column of `rect` with a center not before `low`, and the one after the last not past `high`."""
    left, right = float(rect.x), float(rect.x + rect.width)
    first = np.ceil(np.minimum(np.maximum(low - 0.5, left), right))
    stop = np.floor(np.minimum(np.maximum(high + 0.5, left), right))
    return first.astype(np.int64), stop.astype(np.int64)


def _capsule_spans(y: np.ndarray, start: Point, end: Point, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Return begin and end in x, each float (2, n) for rows `y`, of two sets of points.

    The first are the points within `radius` of `start`, the second those within `radius` of the whole segment.
    """
    centers = np.array((start, end))
    square = radius * radius - (y - centers[:, 1:]) ** 2
    half = np.sqrt(np.maximum(square, 0))
    lows = np.where(square >= 0, centers[:, :1] - half, np.inf)
    highs = np.where(square >= 0, centers[:, :1] + half, -np.inf)
    np.minimum(lows[0], lows[1], out=lows[1])
    np.maximum(highs[0], highs[1], out=highs[1])
    (ax, ay), (bx, by) = start, end
    length = math.hypot(bx - ax, by - ay)
    if length > 0 and radius > 0:
        nx, ny = -(by - ay) / length * radius, (bx - ax) / length * radius
        if ay != by:  # the long sides of the rectangle between the discs; the short ones are inside the discs
            along = (y - np.array([[ay + ny], [ay - ny]])) / (by - ay)
            x = np.array([[ax + nx], [ax - nx]]) + along * (bx - ax)
            on = (along >= 0) & (along <= 1)
            np.minimum(lows[1], np.where(on, x, np.inf).min(axis=0), out=lows[1])
            np.maximum(highs[1], np.where(on, x, -np.inf).max(axis=0), out=highs[1])
    return lows, highs


def draw_polygon(mask: np.ndarray, points: Sequence[Point], paint: Paint, *, vertices: bool = True) -> Rect:
    """Fill a polygon in `mask` (H, W) by the even-odd rule. Return the bounding rectangle of the filled pixels.

    vertices: include the pixels under the corners; otherwise only if the polygon contains no pixel center.
    """
    runs = polygon_runs(points, mask.shape, vertices=vertices)
    if not len(runs.rows) and not vertices:
        runs = polygon_runs(points, mask.shape)
    runs.draw(mask, paint)
    return runs.rect


def polygon_rect(points: Sequence[Point], shape: tuple[int, ...]) -> Rect:
    """Return the rectangle that a polygon can touch inside a mask of `shape` (H, W)."""
    if not len(points):
        return NOTHING
    corners = np.asarray(points, np.float64)
    x, y = np.floor(corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int)
    return Rect(int(x), int(y), int(right - x) + 1, int(bottom - y) + 1).clipped(shape[1], shape[0])


def polygon_runs(points: Sequence[Point], shape: tuple[int, ...], *, vertices: bool = True) -> Runs:
    """Return the pixels whose centers are inside the polygon of `points` (even-odd rule).

    vertices: include the pixels under the corners.

    Time and memory grow with the number of rows that its sides cross, not with its area.
    """
    return _polygon_runs(np.asarray(points, np.float64).reshape(-1, 2), polygon_rect(points, shape), vertices)


def polygon_inside(corners: np.ndarray, rect: Rect) -> np.ndarray:
    """Return the `polygon_runs` of `corners`, float (N, 2), inside `rect` as bool (rect.height, rect.width)."""
    return _polygon_runs(corners, rect).inside(rect)


def _polygon_runs(corners: np.ndarray, rect: Rect, vertices: bool = True) -> Runs:
    if rect.empty or not len(corners):
        return Runs(*np.zeros((3, 0), np.int64))
    following = np.roll(corners, -1, axis=0)
    y = np.arange(rect.y, rect.y + rect.height) + 0.5
    columns = np.arange(rect.x, rect.x + rect.width) + 0.5
    # Rows whose center lies in (lower, upper] of a side: a corner exactly on a center belongs to the side above.
    first = np.searchsorted(y, np.minimum(corners[:, 1], following[:, 1]), side="left")
    last = np.searchsorted(y, np.maximum(corners[:, 1], following[:, 1]), side="left")
    count = last - first
    side = np.repeat(np.arange(len(corners)), count)
    row = np.arange(len(side)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    a, b = corners[side], following[side]
    cuts = a[:, 0] + (y[row] - a[:, 1]) * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1])
    # Each row is crossed an even number of times. The inside is between the first and second crossing, and so on.
    crossings = np.sort(row * (rect.width + 1) + np.searchsorted(columns, cuts, side="left"))
    rows, begin = np.divmod(crossings[::2], rect.width + 1)
    end = crossings[1::2] % (rect.width + 1)
    corner_pixels = np.floor(corners[: len(corners) if vertices else 0]).astype(np.int64) - (rect.x, rect.y)
    corner_pixels = corner_pixels[
        (corner_pixels >= 0).all(axis=1) & (corner_pixels[:, 0] < rect.width) & (corner_pixels[:, 1] < rect.height)
    ]
    rows, begin = np.concatenate((rows, corner_pixels[:, 1])), np.concatenate((begin, corner_pixels[:, 0]))
    end = np.concatenate((end, corner_pixels[:, 0] + 1))
    nonempty = end > begin
    return Runs(rows[nonempty] + rect.y, begin[nonempty] + rect.x, end[nonempty] + rect.x)
