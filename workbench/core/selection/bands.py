"""How far from a touched tone a defect reaches: the tolerance that is suggested for a click."""

from __future__ import annotations

import numpy as np

from workbench.core.drawing import Rect
from workbench.core.selection.selection import Point, padded, pixel_at
from workbench.core.selection.tones import Levels, difference, levels_of, tone_at, tones
from workbench.inference.cv import cv2

TOLERANCE = 8.0  # where nothing better is known
SAMPLE = 1  # the touched tone is the mean of the pixels this near: 3 x 3
_TRIED = np.geomspace(1.5, 60, 32)
_REACHES = (40, 160)  # pixels around the click; the larger only if the region fills the smaller
_MOST = 0.5  # of the window: a region beyond is the ground, not what lies on it
_FAR = np.float32(100)


def suggest_tolerance(picture: np.ndarray, point: Point, *, levels: Levels | None = None) -> float:
    """The tolerance at which the region around a click ends at the sharpest step of tone; TOLERANCE if at none.

    Of the nested regions that growing tolerances select, the one whose tone differs most between the two pixels
    within its outline and the two pixels beyond it. `picture` as for `wand.magic_wand`.
    """
    pixel = pixel_at(point, picture.shape)
    levels = levels or levels_of(picture)
    reference = None if pixel is None else tone_at(picture, pixel, levels, reach=SAMPLE)
    if pixel is None or reference is None:
        return TOLERANCE
    for reach in _REACHES:
        rect = padded(Rect(pixel[0], pixel[1], 1, 1), reach, picture.shape)
        step = reach // _REACHES[0]
        seed = pixel[0] - rect.x, pixel[1] - rect.y
        # Starting where a multiple of the step from the click falls keeps the click on the reduced grid.
        away = difference(tones(picture, rect, levels), reference)[seed[1] % step :: step, seed[0] % step :: step]
        found = _sharpest(np.minimum(away, _FAR), (seed[0] // step, seed[1] // step))
        if found is not None:
            return found
    return TOLERANCE


def _sharpest(away: np.ndarray, seed: tuple[int, int]) -> float | None:
    """The tolerance of the region around `seed` (column, row) with the largest step across its outline; None: none."""
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
