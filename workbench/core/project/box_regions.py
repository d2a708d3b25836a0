"""Regions made of bounding boxes of imported labels."""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection.box_cut import box_cut
from workbench.inference.io.tiff_regions import ImageArray

BOX_SHAPES = ("box", "ellipse", "cut")


def box_region(rect: Rect, shape: str, image: ImageArray | None) -> np.ndarray:
    """Return the pixels of a box, bool (rect.height, rect.width), for the shape "box", "ellipse" or "cut".

    image: (H, W) or (H, W, 3), for "cut" only, which falls back to the ellipse if nothing stands out in the box.
    """
    if shape == "box":
        return np.ones((rect.height, rect.width), bool)
    if shape == "cut" and image is not None:
        found = box_cut(image, rect)
        inside = rect.common(found.rect)
        if not inside.empty and found.inside.any():
            region = np.zeros((rect.height, rect.width), bool)
            y, x = inside.y - rect.y, inside.x - rect.x
            top, left = inside.y - found.rect.y, inside.x - found.rect.x
            region[y : y + inside.height, x : x + inside.width] = found.inside[
                top : top + inside.height, left : left + inside.width
            ]
            return region
    y, x = np.ogrid[: rect.height, : rect.width]
    dy, dx = (y + 0.5) / rect.height * 2 - 1, (x + 0.5) / rect.width * 2 - 1
    return dx * dx + dy * dy <= 1
