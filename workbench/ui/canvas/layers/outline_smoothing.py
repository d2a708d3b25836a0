"""Smoothing of the outlines of a mask on the screen, at every scale; the mask itself is not changed.

Outlines are rounded by means over a square of about 0.7 cells of the mask, three times, which resembles a Gaussian.
Cells below a size of 4 device pixels are drawn twice as fine and the colors averaged, since a step of one device pixel
is visible. Where they are still below 4 drawn positions, there is one mean over 3 x 3: more would remove single cells.
Above, single cells are kept as they are, and finely perforated areas are closed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.inference.io.opencv import cv2

_RADIUS, _FINE_BELOW = 0.36, 4.0
_SINGLE = 0.28 * 255  # greatest share of a class around a single cell, in a square of about 3 x 3 cells


class Smoothing(NamedTuple):
    """Means over squares of ids. radius: positions on each side of the middle one."""

    fineness: int = 1  # drawn positions side by side in a device pixel
    radius: int = 0
    passes: int = 0
    cell: int = 0  # positions per cell if single cells are kept

    @property
    def reach(self) -> int:
        """Device pixels around a part of the screen on which its outlines depend."""
        return -(-max(self.passes * self.radius, self.cell) // self.fineness)


NO_SMOOTHING = Smoothing()


def smoothing(cell: float) -> Smoothing:
    """Return the smoothing of cells of a size in device pixels; it is below 1 only until the levels are made."""
    if cell < 1:
        return NO_SMOOTHING
    fineness = 2 if cell < _FINE_BELOW else 1
    positions = fineness * cell
    if positions < _FINE_BELOW:
        return Smoothing(fineness, 1, 1)
    return Smoothing(fineness, round(_RADIUS * positions), 3, round(positions))


def smooth_ids(values: np.ndarray, how: Smoothing) -> np.ndarray:
    """Return ids with rounded corners, uint8 (H, W). Straight edges stay in place, and single cells stay as dots."""
    size = (2 * how.radius + 1,) * 2
    result, best, total = (np.zeros_like(values) for _ in range(3))
    present = values.tobytes()
    for id in range(1, int(values.max()) + 1):
        if id not in present:  # a search in bytes is faster than a histogram
            continue
        share = cells = cv2.compare(values, float(id), cv2.CMP_EQ)
        for _ in range(how.passes):
            share = cv2.blur(share, size, borderType=cv2.BORDER_REPLICATE)
        if how.cell:
            around = cv2.blur(cells, (2 * how.cell + 1,) * 2, borderType=cv2.BORDER_REPLICATE)
            share = cv2.max(share, cv2.min(cells, cv2.compare(around, _SINGLE, cv2.CMP_LE)))
        cv2.copyTo(np.full_like(values, id), cv2.compare(share, best, cv2.CMP_GT), result)
        best, total = cv2.max(share, best), cv2.add(share, total)
    # Thin lines and dots win against the background.
    weight = 0.8 if how.passes > 1 else 0.75
    background = cv2.convertScaleAbs(total, alpha=-weight, beta=255 * weight)
    return result & cv2.compare(best, background, cv2.CMP_GT)


def mean_colors(colors: np.ndarray, fineness: int) -> np.ndarray:
    """Return the colors of device pixels, int32, each the mean of `fineness` x `fineness` premultiplied ones."""
    if fineness == 1:
        return colors
    rows, columns = colors.shape
    channels = colors.view(np.uint8).reshape(rows, columns, 4)
    size = (columns // fineness, rows // fineness)
    return cv2.resize(channels, size, interpolation=cv2.INTER_AREA).view(np.int32)[:, :, 0]
