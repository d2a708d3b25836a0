"""Polygon filling: even-odd rule on pixel centers, plus the pixels under the corners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.geometry.drawing import NOTHING, Paint, Point, Rect, Runs


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
