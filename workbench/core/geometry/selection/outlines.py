"""Outline of a region as a polygon with few corners, and the region after corners were moved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.geometry.polygons import polygon_inside, polygon_rect
from workbench.core.geometry.selection.pixel_selection import EMPTY, Point, Selection
from workbench.inference.io.opencv import cv2

MAX_CORNERS = 160
_TOLERANCE = 0.75  # pixels: initial distance of the polygon from the outline


def outline_of(selection: Selection) -> list[Point]:
    """Return the corners of the outer outline of a selection's largest part, without its holes.

    The polygon runs through the centers of the boundary pixels. It is simplified (Douglas and Peucker 1973) as far as
    needed for at most `MAX_CORNERS` corners.
    """
    contours, _ = cv2.findContours(selection.inside.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not contours:
        return []
    contour = max(contours, key=lambda points: (cv2.contourArea(points), len(points)))
    tolerance = _TOLERANCE
    corners = cv2.approxPolyDP(contour, tolerance, True)
    while len(corners) > MAX_CORNERS:
        tolerance *= 1.4
        corners = cv2.approxPolyDP(contour, tolerance, True)
    x, y = selection.corner
    if len(corners) > 2:
        return [(float(px) + x + 0.5, float(py) + y + 0.5) for px, py in corners[:, 0]]
    # A line or a single pixel: its box.
    left, top, width, height = cv2.boundingRect(contour)
    left, top = left + x, top + y
    return [(left, top), (left + width, top), (left + width, top + height), (left, top + height)]


def with_outline(base: Selection, before: Sequence[Point], after: Sequence[Point], shape: tuple[int, ...]) -> Selection:
    """Return a region after its outline was changed from the polygon `before` to the polygon `after`.

    Only the pixels in which the polygons differ are added or removed, so that details along unchanged edges and holes
    stay exact. shape: of the image, (H, W, ...).
    """
    rect = base.rect
    for points in (before, after):
        rect = rect.united(polygon_rect(points, shape))
    rect = rect.clipped(shape[1], shape[0])
    if rect.empty:
        return EMPTY
    old, new = (polygon_inside(np.asarray(points, np.float64), rect) for points in (before, after))
    return Selection(rect, (base.within(rect) | (new & ~old)) & ~(old & ~new)).trimmed()
