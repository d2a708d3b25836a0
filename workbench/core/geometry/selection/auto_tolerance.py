"""Suggested tolerance for a click: the tone range of the clicked defect."""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection.lightness import GrayLevels, difference, levels_of, tone_at, tones
from workbench.core.geometry.selection.pixel_selection import Point, padded, pixel_at
from workbench.inference.io.opencv import cv2

TOLERANCE = 8.0  # default
SAMPLE = 1  # radius in pixels of the mean that gives the tone: 3 x 3
_TRIED = np.geomspace(1.5, 60, 32)
_REACHES = (40, 160)  # pixels around the click; the larger one is used only if the smaller gives no result
_MOST = 0.5  # of the window: a larger region is the background, not a defect
_FAR = np.float32(100)


def suggest_tolerance(image: np.ndarray, point: Point, *, levels: GrayLevels | None = None) -> float:
    """Return the tolerance at which the region around a click ends at the sharpest step of tone, TOLERANCE if none.

    Growing tolerances select nested regions. The best one differs most in tone between the two pixels inside its
    outline and the two pixels outside it. `picture` as for `wand.magic_wand`.
    """
    pixel = pixel_at(point, image.shape)
    levels = levels or levels_of(image)
    reference = None if pixel is None else tone_at(image, pixel, levels, reach=SAMPLE)
    if pixel is None or reference is None:
        return TOLERANCE
    for reach in _REACHES:
        rect = padded(Rect(pixel[0], pixel[1], 1, 1), reach, image.shape)
        step = reach // _REACHES[0]
        seed = pixel[0] - rect.x, pixel[1] - rect.y
        # This offset keeps the clicked pixel on the reduced grid.
        away = difference(tones(image, rect, levels), reference)[seed[1] % step :: step, seed[0] % step :: step]
        found = _sharpest(np.minimum(away, _FAR), (seed[0] // step, seed[1] // step))
        if found is not None:
            return found
    return TOLERANCE


def _sharpest(away: np.ndarray, seed: tuple[int, int]) -> float | None:
    """Return the tolerance whose region around `seed` (column, row) has the sharpest outline; None if there is none."""
    away = np.ascontiguousarray(away)
    away[seed[1], seed[0]] = 0
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    best, found = 0.0, None
    for tolerance in _TRIED:
        near = (away <= tolerance).astype(np.uint8)
        flood = np.zeros((near.shape[0] + 2, near.shape[1] + 2), np.uint8)
        cv2.floodFill(near, flood, seed, 0, 0, 0, 4 | cv2.FLOODFILL_MASK_ONLY | (1 << 8))
        region = np.ascontiguousarray(flood[1:-1, 1:-1])
        if region.mean() > _MOST:
            break
        beyond, within = cv2.dilate(region, disc) > region, region > cv2.erode(region, disc)
        if beyond.any() and within.any():
            step = float(away[beyond].mean() - away[within].mean())
            if step > best:
                best, found = step, float(tolerance)
    return found
