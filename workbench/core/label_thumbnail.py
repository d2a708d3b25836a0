"""Reduced mask in which the smallest defect remains visible."""

from __future__ import annotations

import numpy as np

from workbench.core.project import MAX_CLASS_ID
from workbench.inference.cv import cv2


def label_thumbnail(mask: np.ndarray, edge: int) -> np.ndarray:
    """Return a reduced mask, uint8 (h, w) class ids with a longer side of at most `edge`, of uint8 (H, W).

    Each pixel has the greatest id painted in its area; don't care and not labeled count as background.
    """
    height, width = mask.shape
    factor = max(height, width) / edge
    painted = cv2.threshold(mask, MAX_CLASS_ID, 0, cv2.THRESH_TOZERO_INV)[1]
    if factor <= 1:
        return painted
    step = int(np.ceil(factor))
    spread = cv2.dilate(painted, np.ones((step, step), np.uint8))
    size = (max(1, round(width / factor)), max(1, round(height / factor)))
    return cv2.resize(spread, size, interpolation=cv2.INTER_NEAREST)
