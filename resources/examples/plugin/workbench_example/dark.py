"""Labeler of dark regions."""

from __future__ import annotations

import numpy as np


def dark_regions(image: np.ndarray) -> dict[str, np.ndarray]:
    """Return class name -> bool (H, W) for an image as stored, (H, W) or (H, W, 3)."""
    gray = image if image.ndim == 2 else image.mean(axis=2)
    return {"scratch": gray < np.median(gray) - 30}
