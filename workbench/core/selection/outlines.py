"""Shapes that a hand drags out, as the pixels that they hold."""

from __future__ import annotations

import numpy as np

from workbench.core.drawing import Rect
from workbench.core.selection.selection import EMPTY, Selection


def ellipse(box: Rect, shape: tuple[int, ...]) -> Selection:
    """The pixels of a picture of `shape` (H, W, ...) whose centre lies in the ellipse that `box` holds.

    Boxes of one or two pixels across are taken whole: an ellipse in them has no room for anything else.
    """
    rect = box.clipped(shape[1], shape[0])
    if rect.empty:
        return EMPTY
    if min(box.width, box.height) <= 2:
        return Selection(rect, np.ones((rect.height, rect.width), bool))
    a, b = box.width / 2, box.height / 2
    # By spans of rows: no more than the answer itself is as large as the box.
    up = (np.arange(rect.y, rect.y + rect.height) + 0.5 - (box.y + b)) / b
    half = a * np.sqrt(np.maximum(1 - up * up, 0))
    across = np.abs(np.arange(rect.x, rect.x + rect.width) + 0.5 - (box.x + a))
    return Selection(rect, across <= half[:, None])
