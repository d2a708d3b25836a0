"""The inside of a polygon of very many corners, as scissors and strokes leave it."""

from __future__ import annotations

import numpy as np

from workbench.core.drawing import Rect


def inside_polygon(corners: np.ndarray, rect: Rect) -> np.ndarray:
    """bool (rect.height, rect.width), pixel for pixel that of `drawing.polygon_inside`, for `corners` float (N, 2).

    Each side toggles its rows from where it crosses them to their end: work goes by the sides' crossings and the
    rectangle, not by sides times rows.
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
