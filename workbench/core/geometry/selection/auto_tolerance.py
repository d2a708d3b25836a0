"""Suggested tolerance for a click: the tone range of the clicked defect."""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection.lightness import GrayLevels, difference, levels_of, tone_at, tones
from workbench.core.geometry.selection.pixel_selection import Point, padded, pixel_at
from workbench.inference.io.opencv import cv2

TOLERANCE = 8.0  # default
SAMPLE_RADIUS = 1  # radius in pixels of the mean that gives the tone: 3 x 3
_CANDIDATES = np.geomspace(1.5, 60, 32)
_RADII = (40, 160)  # pixels around the click; the larger one is used only if the smaller gives no result
_MAX_SHARE = 0.5  # of the window: a larger region is the background, not a defect
_MAX_DIFFERENCE = np.float32(100)


def suggest_tolerance(image: np.ndarray, point: Point, *, levels: GrayLevels | None = None) -> float:
    """Return the tolerance at which the region around a click ends at the sharpest step of tone, TOLERANCE if none.

    Growing tolerances select nested regions. The best one differs most in tone between the two pixels inside its
    outline and the two pixels outside it. `picture` as for `wand.magic_wand`.
    """
    pixel = pixel_at(point, image.shape)
    levels = levels or levels_of(image)
    reference = None if pixel is None else tone_at(image, pixel, levels, radius=SAMPLE_RADIUS)
    if pixel is None or reference is None:
        return TOLERANCE
    for radius in _RADII:
        rect = padded(Rect(pixel[0], pixel[1], 1, 1), radius, image.shape)
        step = radius // _RADII[0]
        seed = pixel[0] - rect.x, pixel[1] - rect.y
        # This offset keeps the clicked pixel on the reduced grid.
        differences = difference(tones(image, rect, levels), reference)[seed[1] % step :: step, seed[0] % step :: step]
        tolerance = _sharpest(np.minimum(differences, _MAX_DIFFERENCE), (seed[0] // step, seed[1] // step))
        if tolerance is not None:
            return tolerance
    return TOLERANCE


def _sharpest(differences: np.ndarray, seed: tuple[int, int]) -> float | None:
    """Return the tolerance whose region around `seed` (column, row) has the sharpest outline; None if there is none."""
    differences = np.ascontiguousarray(differences)
    differences[seed[1], seed[0]] = 0
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    best_step, best_tolerance = 0.0, None
    for tolerance in _CANDIDATES:
        similar = (differences <= tolerance).astype(np.uint8)
        flood = np.zeros((similar.shape[0] + 2, similar.shape[1] + 2), np.uint8)
        cv2.floodFill(similar, flood, seed, 0, 0, 0, 4 | cv2.FLOODFILL_MASK_ONLY | (1 << 8))
        region = np.ascontiguousarray(flood[1:-1, 1:-1])
        if region.mean() > _MAX_SHARE:
            break
        outer, inner = cv2.dilate(region, disc) > region, region > cv2.erode(region, disc)
        if outer.any() and inner.any():
            step = float(differences[outer].mean() - differences[inner].mean())
            if step > best_step:
                best_step, best_tolerance = step, float(tolerance)
    return best_tolerance
