"""Feret diameters: the greatest and the least distance between two parallel lines that enclose a region.

A pixel is a square of side 1, as for width and height of a bounding box: a single pixel measures 1.414 and 1.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .io.opencv import cv2

_FEW_RUNS = 8  # in a region so small that many others have its shape


def pixel_runs(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the horizontal runs of equal labels, and the label of each, (runs,).

    labels: integers (H, W), 0 for none; different ones are not neighbors in a row.
    Runs: int32 (runs, 3), row, first column and the column after the last one.
    """
    padded = np.pad(labels, ((0, 0), (1, 1)))
    changes = padded[:, 1:] != padded[:, :-1]
    row, first = np.nonzero(changes & (padded[:, 1:] > 0))
    end = np.nonzero(changes & (padded[:, :-1] > 0))[1]
    return np.stack([row, first, end], axis=1).astype(np.int32), labels[row, first]


def feret_diameters(runs: np.ndarray) -> tuple[float, float]:
    """Return the greatest and the least Feret diameter of the pixels of these runs, int32 (runs, 3), at least one."""
    if len(runs) > _FEW_RUNS:
        return _diameters(runs)
    origin = runs[:, :2].min(axis=0)
    return _small_diameters((runs - origin[[0, 1, 1]]).astype(np.int32).tobytes())


@lru_cache(1 << 14)
def _small_diameters(runs: bytes) -> tuple[float, float]:
    return _diameters(np.frombuffer(runs, np.int32).reshape(-1, 3))


def _diameters(runs: np.ndarray) -> tuple[float, float]:
    row, first, end = runs.T
    above = np.concatenate([np.stack([first, row], axis=1), np.stack([end, row], axis=1)]).astype(np.int32)
    hull = cv2.convexHull(np.concatenate([above, above + np.array([0, 1], np.int32)])).reshape(-1, 2)
    corners = hull.astype(np.float64)
    greatest = max(float(np.hypot(*(corners - corner).T).max()) for corner in corners)
    # The least diameter is perpendicular to a side of the convex hull.
    side = np.roll(corners, -1, axis=0) - corners
    normal = np.stack([-side[:, 1], side[:, 0]]) / np.hypot(side[:, 0], side[:, 1])
    return greatest, min(float(np.ptp(corners @ direction)) for direction in normal.T)
