"""Selection: a rectangle of the image and the selected pixels in it. Also windows around points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import NOTHING, Rect

Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Selection:
    """Selected pixels: `inside`, bool (rect.height, rect.width). `cut`: the region extends beyond the window."""

    rect: Rect
    inside: np.ndarray
    cut: bool = False

    @property
    def empty(self) -> bool:
        return not self.inside.any()

    @property
    def corner(self) -> tuple[int, int]:
        return self.rect.x, self.rect.y

    def trimmed(self) -> Selection:
        """Return the selection in its smallest rectangle, or the empty selection."""
        rows, columns = np.flatnonzero(self.inside.any(axis=1)), np.flatnonzero(self.inside.any(axis=0))
        if not rows.size:
            return Selection(NOTHING, np.zeros((0, 0), bool), self.cut)
        top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        rect = Rect(self.rect.x + left, self.rect.y + top, right - left, bottom - top)
        return Selection(rect, np.ascontiguousarray(self.inside[top:bottom, left:right]), self.cut)

    def within(self, rect: Rect) -> np.ndarray:
        """Return the selected pixels of another rectangle of the image, bool (rect.height, rect.width)."""
        result = np.zeros((rect.height, rect.width), bool)
        x, y = max(rect.x, self.rect.x), max(rect.y, self.rect.y)
        right = min(rect.x + rect.width, self.rect.x + self.rect.width)
        bottom = min(rect.y + rect.height, self.rect.y + self.rect.height)
        if right > x and bottom > y:
            result[y - rect.y : bottom - rect.y, x - rect.x : right - rect.x] = self.inside[
                y - self.rect.y : bottom - self.rect.y, x - self.rect.x : right - self.rect.x
            ]
        return result


EMPTY = Selection(NOTHING, np.zeros((0, 0), bool))


def pixel_at(point: Point, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the (column, row) at a point of an image of `shape` (H, W, ...); None outside the image."""
    if not (np.isfinite(point[0]) and np.isfinite(point[1])):
        return None
    x, y = int(np.floor(point[0])), int(np.floor(point[1]))
    return (x, y) if 0 <= x < shape[1] and 0 <= y < shape[0] else None


def around(points: list[Point], margin: int, shape: tuple[int, ...]) -> Rect:
    """Return the rectangle of an image of `shape` (H, W, ...) with the points' pixels and `margin` pixels around."""
    x, y = (int(np.floor(min(p[axis] for p in points))) - margin for axis in (0, 1))
    right, bottom = (int(np.floor(max(p[axis] for p in points))) + margin + 1 for axis in (0, 1))
    return Rect(x, y, right - x, bottom - y).clipped(shape[1], shape[0])


def padded(rect: Rect, margin: int, shape: tuple[int, ...]) -> Rect:
    """Return `rect` enlarged by `margin` pixels on every side, clipped to an image of `shape` (H, W, ...)."""
    enlarged = Rect(rect.x - margin, rect.y - margin, rect.width + 2 * margin, rect.height + 2 * margin)
    return enlarged.clipped(shape[1], shape[0])


def ellipse(box: Rect, shape: tuple[int, ...]) -> Selection:
    """Return the pixels of an image of `shape` (H, W, ...) whose center is in the ellipse inscribed in `box`.

    Boxes of one or two pixels width or height are selected entirely.
    """
    rect = box.clipped(shape[1], shape[0])
    if rect.empty:
        return EMPTY
    if min(box.width, box.height) <= 2:
        return Selection(rect, np.ones((rect.height, rect.width), bool))
    a, b = box.width / 2, box.height / 2
    # Computed as row spans, so that only the result needs memory of the size of the box.
    dy = (np.arange(rect.y, rect.y + rect.height) + 0.5 - (box.y + b)) / b
    half = a * np.sqrt(np.maximum(1 - dy * dy, 0))
    dx = np.abs(np.arange(rect.x, rect.x + rect.width) + 0.5 - (box.x + a))
    return Selection(rect, dx <= half[:, None])
