"""Shapes drawn by dragging, as selections."""

from __future__ import annotations

import numpy as np

from workbench.core.drawing import Rect
from workbench.core.selection.selection import EMPTY, Selection


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
    up = (np.arange(rect.y, rect.y + rect.height) + 0.5 - (box.y + b)) / b
    half = a * np.sqrt(np.maximum(1 - up * up, 0))
    across = np.abs(np.arange(rect.x, rect.x + rect.width) + 0.5 - (box.x + a))
    return Selection(rect, across <= half[:, None])
