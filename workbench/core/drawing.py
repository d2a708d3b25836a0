"""From a gesture to changed pixels. Coordinates are picture pixels: (0, 0) is the outer corner of the first pixel.

A pixel belongs to a shape when its centre does. Every function changes `mask` in place, inside the rectangle that it
returns, and nothing else; work and memory are proportional to that rectangle, never to the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ROWWISE = 1 << 16  # pixels of a rectangle from which on a brush is laid down row by row


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

    def clipped(self, width: int, height: int) -> Rect:
        x, y = min(max(self.x, 0), width), min(max(self.y, 0), height)
        right, bottom = min(max(self.x + self.width, 0), width), min(max(self.y + self.height, 0), height)
        return Rect(x, y, max(0, right - x), max(0, bottom - y))


NOTHING = Rect(0, 0, 0, 0)


@dataclass(frozen=True)
class Paint:
    """What a tool lays down: a class id, and the ids that it must leave alone."""

    id: int
    keep: frozenset[int] = frozenset()

    def apply(self, mask: np.ndarray, rect: Rect, where: np.ndarray) -> None:
        """Set `mask` to the id in `rect` where `where` (bool, the rectangle's shape) holds."""
        view = mask[rect.slices]
        if self.keep:
            where = where & ~np.isin(view, list(self.keep))
        view[where] = self.id


def segment_rect(start: tuple[float, float], end: tuple[float, float], radius: float, shape: tuple[int, int]) -> Rect:
    """The pixels that a brush of `radius` can touch between two points, inside a mask of `shape` (H, W)."""
    left, right = min(start[0], end[0]) - radius, max(start[0], end[0]) + radius
    top, bottom = min(start[1], end[1]) - radius, max(start[1], end[1]) + radius
    x, y = int(np.floor(left)), int(np.floor(top))
    return Rect(x, y, int(np.ceil(right)) - x + 1, int(np.ceil(bottom)) - y + 1).clipped(shape[1], shape[0])


def draw_segment(
    mask: np.ndarray, start: tuple[float, float], end: tuple[float, float], radius: float, paint: Paint
) -> Rect:
    """A round brush drawn from `start` to `end`: all pixels whose centre is within `radius` of the segment.

    A brush smaller than a pixel still marks the pixel under its centre.
    """
    rect = segment_rect(start, end, radius, mask.shape)
    if rect.empty:
        return NOTHING
    low, high = _capsule_spans(rect, start, end, radius)
    columns = np.arange(rect.x, rect.x + rect.width) + 0.5
    first = np.searchsorted(columns, low, side="left")
    stop = np.searchsorted(columns, high, side="right")
    if rect.width * rect.height >= _ROWWISE and not paint.keep:
        # Row by row: a large brush is mostly inside, which needs no question pixel by pixel.
        for row, a, b in zip(mask[rect.slices], first.tolist(), stop.tolist(), strict=True):
            row[a:b] = paint.id
    else:
        places = np.arange(rect.width)
        where = (places >= first[:, None]) & (places < stop[:, None])
        paint.apply(mask, rect, where)
    for x, y in (start, end):
        pixel = Rect(int(np.floor(x)), int(np.floor(y)), 1, 1)
        if not pixel.clipped(mask.shape[1], mask.shape[0]).empty:
            paint.apply(mask, pixel, np.ones((1, 1), bool))
    return rect


def draw_polygon(mask: np.ndarray, points: list[tuple[float, float]], paint: Paint) -> Rect:
    """The inside of a polygon, even-odd rule; the pixels under its corners are always in."""
    rect = polygon_rect(points, mask.shape)
    if not rect.empty:
        paint.apply(mask, rect, polygon_inside(np.asarray(points, np.float64), rect))
    return rect


def polygon_rect(points: list[tuple[float, float]], shape: tuple[int, int]) -> Rect:
    """The pixels that a polygon can touch inside a mask of `shape` (H, W)."""
    if not points:
        return NOTHING
    corners = np.asarray(points, np.float64)
    x, y = np.floor(corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int)
    return Rect(int(x), int(y), int(right - x) + 1, int(bottom - y) + 1).clipped(shape[1], shape[0])


def polygon_inside(corners: np.ndarray, rect: Rect) -> np.ndarray:
    """bool (rect.height, rect.width): pixel centres inside the polygon `corners` float (N, 2), even-odd rule.

    Each side toggles its rows from where it crosses them to their end: work goes by the sides' crossings and the
    rectangle, not by sides times rows. The pixels under the corners are always in.
    """
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
    column = np.searchsorted(columns, cuts, side="left")
    width = rect.width + 1
    toggles = np.bincount(row * width + column, minlength=rect.height * width).reshape(rect.height, width) & 1
    inside = np.bitwise_xor.accumulate(toggles.astype(np.uint8), axis=1)[:, :-1] > 0
    at = np.floor(corners).astype(np.int64) - (rect.x, rect.y)
    at = at[(at >= 0).all(axis=1) & (at[:, 0] < rect.width) & (at[:, 1] < rect.height)]
    inside[at[:, 1], at[:, 0]] = True
    return inside


def draw_region(mask: np.ndarray, region: np.ndarray, corner: tuple[int, int], paint: Paint) -> Rect:
    """Lay down `region`, bool (h, w), with its first pixel at `corner` (x, y): an accepted proposal, a pasted label."""
    full = Rect(corner[0], corner[1], region.shape[1], region.shape[0])
    rect = full.clipped(mask.shape[1], mask.shape[0])
    if rect.empty:
        return NOTHING
    top, left = rect.y - full.y, rect.x - full.x
    paint.apply(mask, rect, region[top : top + rect.height, left : left + rect.width])
    return rect


def _capsule_spans(rect: Rect, start, end, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """For each row of `rect`: the x interval of the convex set of points within `radius` of the segment."""
    rows = np.arange(rect.y, rect.y + rect.height) + 0.5
    low, high = np.full(rows.shape, np.inf), np.full(rows.shape, -np.inf)
    for cx, cy in (start, end):
        square = radius * radius - (rows - cy) ** 2
        half = np.sqrt(np.maximum(square, 0))
        low = np.where(square >= 0, np.minimum(low, cx - half), low)
        high = np.where(square >= 0, np.maximum(high, cx + half), high)
    (ax, ay), (bx, by) = start, end
    length = float(np.hypot(bx - ax, by - ay))
    if length > 0 and radius > 0:
        nx, ny = -(by - ay) / length * radius, (bx - ax) / length * radius
        sides = ((ax + nx, ay + ny, bx + nx, by + ny), (ax - nx, ay - ny, bx - nx, by - ny))
        caps = ((ax + nx, ay + ny, ax - nx, ay - ny), (bx + nx, by + ny, bx - nx, by - ny))
        for x0, y0, x1, y1 in sides + caps:
            if y0 == y1:
                continue
            t = (rows - y0) / (y1 - y0)
            x = x0 + t * (x1 - x0)
            on = (t >= 0) & (t <= 1)
            low = np.where(on, np.minimum(low, x), low)
            high = np.where(on, np.maximum(high, x), high)
    return low, high
