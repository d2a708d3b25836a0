"""From a gesture to changed pixels. Coordinates are picture pixels: (0, 0) is the outer corner of the first pixel.

A pixel belongs to a shape when its centre does. Every function changes `mask` in place, inside the rectangle that it
returns, and nothing else; work and memory are proportional to that rectangle, never to the picture.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_CELL = 128  # pixels: changed places that lie this far apart are told one by one
_PAGED = 1 << 20  # bytes of a mask from which on its memory is asked for page by page
_LONG = 48  # pixels of a run, on average, from which on runs are laid down one by one

Point = tuple[float, float]


@dataclass(frozen=True)
class Rect:
    """A half-open rectangle of pixels: x <= column < x + width."""

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
        """What lies in both; empty if nothing does."""
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
    """A mask of zeros, uint8 (H, W), that takes memory only where it is painted on, and there a few KB at a time.

    NumPy would ask for pages of 2 MB: whoever touches one first waits until all of it is cleared, or even collected.
    """
    if height * width < _PAGED:
        return np.zeros((height, width), np.uint8)
    memory = mmap.mmap(-1, height * width)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory, np.uint8).reshape(height, width)


@dataclass(frozen=True)
class Paint:
    """What a tool lays down: a class id, and the ids that it must leave alone."""

    id: int
    keep: frozenset[int] = frozenset()

    @cached_property
    def free(self) -> np.ndarray:
        """bool (256,): the ids that may be painted over."""
        table = np.ones(256, bool)
        table[list(self.keep)] = False
        return table

    def apply(self, mask: np.ndarray, rect: Rect, where: np.ndarray) -> None:
        """Set `mask` to the id in `rect` where `where` (bool, the rectangle's shape) holds."""
        view = mask[rect.slices]
        if self.keep:
            where = where & self.free[view]
        view[where] = self.id


@dataclass(frozen=True, eq=False)
class Runs:
    """Pixels row by row: run i covers columns first[i] <= column < stop[i] of row rows[i]; int (n,), none empty."""

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
        """What lies around the runs: one rectangle if they are close together, else several with less between them."""
        whole = self.rect
        if whole.empty:
            return []
        if whole.width <= 2 * _CELL and whole.height <= 2 * _CELL:
            return [whole]
        left, band = whole.x // _CELL, self.rows // _CELL - whole.y // _CELL
        across = (whole.x + whole.width - 1) // _CELL - left + 2  # the last cell of each band stays free
        first, last = band * across + self.first // _CELL - left, band * across + (self.stop - 1) // _CELL - left
        count = (int(band.max()) + 1) * across
        covered = np.cumsum(np.bincount(first, minlength=count) - np.bincount(last + 1, minlength=count)[:count]) > 0
        begins = np.flatnonzero(covered & ~np.concatenate(([False], covered[:-1])))
        stretch = np.searchsorted(begins, first, side="right") - 1
        low = np.full((2, begins.size), np.iinfo(np.int64).max)
        high = np.zeros((2, begins.size), np.int64)
        for axis, (least, most) in enumerate(((self.first, self.stop), (self.rows, self.rows + 1))):
            np.minimum.at(low[axis], stretch, least)
            np.maximum.at(high[axis], stretch, most)
        return [Rect(*box) for box in np.stack([*low, *(high - low)], axis=1).tolist()]

    def lay(self, mask: np.ndarray, paint: Paint) -> None:
        """Paint the runs on `mask`, which they lie inside of."""
        if not mask.flags.c_contiguous:  # a cut-out: its rows do not follow one another
            copy = np.ascontiguousarray(mask)
            self.lay(copy, paint)
            mask[...] = copy
            return
        lengths = self.stop - self.first
        total = int(lengths.sum())
        pixels, starts = mask.reshape(-1), self.rows * mask.shape[1] + self.first
        if total > _LONG * lengths.size:
            for first, stop in zip(starts.tolist(), (starts + lengths).tolist(), strict=True):
                part = pixels[first:stop]
                part[paint.free[part] if paint.keep else ...] = paint.id
        else:
            places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(total)
            pixels[places[paint.free[pixels[places]]] if paint.keep else places] = paint.id

    def inside(self, rect: Rect) -> np.ndarray:
        """bool (rect.height, rect.width): the pixels of the runs, which lie in `rect`."""
        result = np.zeros((rect.height, rect.width), np.uint8)
        Runs(self.rows - rect.y, self.first - rect.x, self.stop - rect.x).lay(result, Paint(1))
        return result.view(bool)


def segment_rect(start: Point, end: Point, radius: float, shape: tuple[int, ...]) -> Rect:
    """The pixels that a brush of `radius` can touch between two points, inside a mask of `shape` (H, W)."""
    left, right = min(start[0], end[0]) - radius, max(start[0], end[0]) + radius
    top, bottom = min(start[1], end[1]) - radius, max(start[1], end[1]) + radius
    x, y = math.floor(left), math.floor(top)
    return Rect(x, y, math.ceil(right) - x + 1, math.ceil(bottom) - y + 1).clipped(shape[1], shape[0])


def segment_runs(start: Point, end: Point, radius: float, shape: tuple[int, ...], *, drawn: bool = False) -> Runs:
    """A round brush drawn from `start` to `end`: all pixels whose centre is within `radius` of the segment.

    A brush smaller than a pixel still marks the pixel under its centre. drawn: the disc around `start` lies there
    already, as the end of another segment: only what is new beyond it is returned, a narrow crescent of a large brush.
    """
    rect = segment_rect(start, end, radius, shape)
    if rect.empty:
        return Runs(*np.zeros((3, 0), np.int64))
    rows = np.arange(rect.y, rect.y + rect.height)
    discs, low, high = _capsule_spans(rows + 0.5, start, end, radius)
    first, stop = _columns(low, high, rect)
    ends = () if radius > 0.75 else (end,) if drawn else (start, end)  # a wider brush reaches the centre anyway
    under = [p for p in ends if 0 <= p[0] < shape[1] and 0 <= p[1] < shape[0]]
    spots = np.array([(math.floor(y), math.floor(x)) for x, y in under], np.int64).reshape(-1, 2)
    if drawn:
        known, after = _columns(*discs, rect)
        known, after = np.where(after > known, known, stop), np.where(after > known, after, stop)
        rows = np.concatenate((rows, rows))
        first, stop = np.concatenate((first, np.maximum(first, after))), np.concatenate((np.minimum(stop, known), stop))
    rows, first = np.concatenate((rows, spots[:, 0])), np.concatenate((first, spots[:, 1]))
    stop = np.concatenate((stop, spots[:, 1] + 1))
    real = stop > first
    return Runs(rows[real], first[real], stop[real])


def draw_segment(mask: np.ndarray, start: Point, end: Point, radius: float, paint: Paint) -> Rect:
    """Lay down `segment_runs`."""
    runs = segment_runs(start, end, radius, mask.shape)
    runs.lay(mask, paint)
    return runs.rect


def draw_polygon(mask: np.ndarray, points: Sequence[Point], paint: Paint) -> Rect:
    """The inside of a polygon, even-odd rule; the pixels under its corners are always in."""
    runs = polygon_runs(points, mask.shape)
    runs.lay(mask, paint)
    return runs.rect


def polygon_rect(points: Sequence[Point], shape: tuple[int, ...]) -> Rect:
    """The pixels that a polygon can touch inside a mask of `shape` (H, W)."""
    if not len(points):
        return NOTHING
    corners = np.asarray(points, np.float64)
    x, y = np.floor(corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int)
    return Rect(int(x), int(y), int(right - x) + 1, int(bottom - y) + 1).clipped(shape[1], shape[0])


def polygon_runs(points: Sequence[Point], shape: tuple[int, ...]) -> Runs:
    """Pixel centres inside the polygon of `points`, even-odd rule, and the pixels under its corners.

    Work and memory go by where its sides cross rows, never by the area.
    """
    return _polygon_runs(np.asarray(points, np.float64).reshape(-1, 2), polygon_rect(points, shape))


def polygon_inside(corners: np.ndarray, rect: Rect) -> np.ndarray:
    """bool (rect.height, rect.width): the `polygon_runs` of `corners` float (N, 2) that lie in `rect`."""
    return _polygon_runs(corners, rect).inside(rect)


def _polygon_runs(corners: np.ndarray, rect: Rect) -> Runs:
    if rect.empty or not len(corners):
        return Runs(*np.zeros((3, 0), np.int64))
    following = np.roll(corners, -1, axis=0)
    y = np.arange(rect.y, rect.y + rect.height) + 0.5
    columns = np.arange(rect.x, rect.x + rect.width) + 0.5
    # The rows whose centre lies in (lower, upper] of a side: corners exactly on a centre belong to the side above.
    first = np.searchsorted(y, np.minimum(corners[:, 1], following[:, 1]), side="left")
    last = np.searchsorted(y, np.maximum(corners[:, 1], following[:, 1]), side="left")
    count = last - first
    side = np.repeat(np.arange(len(corners)), count)
    row = np.arange(len(side)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    a, b = corners[side], following[side]
    cuts = a[:, 0] + (y[row] - a[:, 1]) * (b[:, 0] - a[:, 0]) / (b[:, 1] - a[:, 1])
    # A row is crossed an even number of times; between the first and the second crossing it is inside, and so on.
    crossings = np.sort(row * (rect.width + 1) + np.searchsorted(columns, cuts, side="left"))
    rows, begin = np.divmod(crossings[::2], rect.width + 1)
    end = crossings[1::2] % (rect.width + 1)
    at = np.floor(corners).astype(np.int64) - (rect.x, rect.y)
    at = at[(at >= 0).all(axis=1) & (at[:, 0] < rect.width) & (at[:, 1] < rect.height)]
    rows, begin = np.concatenate((rows, at[:, 1])), np.concatenate((begin, at[:, 0]))
    end = np.concatenate((end, at[:, 0] + 1))
    real = end > begin
    return Runs(rows[real] + rect.y, begin[real] + rect.x, end[real] + rect.x)


class Stamp:
    """`region`, bool (h, w), to be laid on masks of `shape` (H, W) with its first pixel at `corner` (x, y)."""

    def __init__(self, region: np.ndarray, corner: tuple[int, int], shape: tuple[int, ...]) -> None:
        full = Rect(corner[0], corner[1], region.shape[1], region.shape[0])
        self.rect = full.clipped(shape[1], shape[0])
        top, left = self.rect.y - full.y, self.rect.x - full.x
        self._where = region[top : top + self.rect.height, left : left + self.rect.width]

    @property
    def rects(self) -> list[Rect]:
        return [] if self.rect.empty else [self.rect]

    def lay(self, mask: np.ndarray, paint: Paint) -> None:
        if not self.rect.empty:
            paint.apply(mask, self.rect, self._where)


def draw_region(mask: np.ndarray, region: np.ndarray, corner: tuple[int, int], paint: Paint) -> Rect:
    """Lay down a `Stamp`: an accepted proposal, a pasted label. Returns the pixels it can have touched."""
    stamp = Stamp(region, corner, mask.shape)
    stamp.lay(mask, paint)
    return stamp.rect if stamp.rects else NOTHING


def _columns(low: np.ndarray, high: np.ndarray, rect: Rect) -> tuple[np.ndarray, np.ndarray]:
    """First column of `rect` whose centre is not before `low`, and the one after the last that is not past `high`."""
    left, right = float(rect.x), float(rect.x + rect.width)
    first = np.ceil(np.minimum(np.maximum(low - 0.5, left), right))
    stop = np.floor(np.minimum(np.maximum(high + 0.5, left), right))
    return first.astype(np.int64), stop.astype(np.int64)


def _capsule_spans(y: np.ndarray, start: Point, end: Point, radius: float) -> tuple:
    """For each of `y`: the x interval of the points within `radius` of `start`, and of those of the whole segment."""
    centers = np.array((start, end))
    square = radius * radius - (y - centers[:, 1:]) ** 2
    half = np.sqrt(np.maximum(square, 0))
    lows = np.where(square >= 0, centers[:, :1] - half, np.inf)
    highs = np.where(square >= 0, centers[:, :1] + half, -np.inf)
    low, high = np.minimum(lows[0], lows[1]), np.maximum(highs[0], highs[1])
    (ax, ay), (bx, by) = start, end
    length = math.hypot(bx - ax, by - ay)
    if length > 0 and radius > 0:
        nx, ny = -(by - ay) / length * radius, (bx - ax) / length * radius
        # The long sides of the rectangle between the discs, and the short ones.
        corners = np.array([(ax + nx, ay + ny), (bx + nx, by + ny), (bx - nx, by - ny), (ax - nx, ay - ny)])
        following = corners[[1, 2, 3, 0]]
        real = corners[:, 1] != following[:, 1]
        x0, y0 = corners[real].T[:, :, None]
        x1, y1 = following[real].T[:, :, None]
        along = (y - y0) / (y1 - y0)
        x = x0 + along * (x1 - x0)
        on = (along >= 0) & (along <= 1)
        low = np.minimum(low, np.where(on, x, np.inf).min(axis=0))
        high = np.maximum(high, np.where(on, x, -np.inf).max(axis=0))
    return (lows[0], highs[0]), low, high
