"""A mask made small, in which the smallest defect can still be seen."""

from __future__ import annotations

import numpy as np

from workbench.core.project import MAX_CLASS_ID
from workbench.inference.cv import cv2


def label_thumbnail(mask: np.ndarray, edge: int) -> np.ndarray:
    """uint8 (h, w) class ids whose longer side is at most `edge`, of uint8 (H, W): each pixel shows the greatest id
    painted in the area that it stands for, don't care and not labelled count as background.
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
