"""Selections by tone: suggested tolerance, magic wand and threshold brush."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Paint, Rect, draw_segment, segment_rect
from workbench.core.geometry.selection.pixel_selection import (
    EMPTY,
    GrayLevels,
    Point,
    Selection,
    difference,
    levels_of,
    padded,
    pixel_at,
    tone_at,
    tones,
)
from workbench.core.geometry.selection.region_operations import connected, fill_holes, smooth
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
    outline and the two pixels outside it. `image` as for `magic_wand`.
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


LIVE = 1 << 19  # pixels of the window while the tolerance is dragged
MAX_PIXELS = 20 << 20  # pixels of the largest window of a finished selection
_BAND = 1 << 20  # pixels compared per band


def magic_wand(
    image: np.ndarray,
    point: Point,
    tolerance: float,
    *,
    connectivity: int = 4,
    smoothing: float = 0.0,
    fill: bool = False,
    levels: GrayLevels | None = None,
    limit: int = MAX_PIXELS,
) -> Selection:
    """Return the region connected to the pixel at `point` through pixels within `tolerance` of its tone.

    `image` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. The tone is the mean of 3 x 3 pixels; `tolerance` is in
    units of lightness (full range 100): the difference for gray, the distance in L*a*b* (CIE 1976) for color.
    `smoothing`: pixels, see `region_operations.smooth`; the part at the click is kept. `fill`: fill holes. The window
    grows with the region up to `limit` pixels (LIVE while dragging); a region that exceeds it has `cut`. Non-finite
    pixels never belong; a click on one returns an empty selection.
    """
    pixel = pixel_at(point, image.shape)
    levels = levels or levels_of(image)
    if pixel is None or tone_at(image, pixel, levels) is None:
        return EMPTY
    reference = tone_at(image, pixel, levels, radius=SAMPLE_RADIUS)
    assert reference is not None  # the pixel itself is finite

    def is_member(rect: Rect) -> np.ndarray:
        similar = _evaluate_in_bands(rect, lambda band: difference(tones(image, band, levels), reference) <= tolerance)
        similar[pixel[1] - rect.y, pixel[0] - rect.x] = True
        return similar

    region = connected(is_member, pixel, image.shape, connectivity=connectivity, limit=limit)
    if smoothing > 0:
        region = _smooth_region(region, pixel, smoothing, image.shape)
    return fill_holes(region) if fill else region


def _smooth_region(region: Selection, pixel: tuple[int, int], pixels: float, shape: tuple[int, ...]) -> Selection:
    """Return the smoothed part at `pixel`, or the selection itself if it is thinner there than the smoothing."""
    smoothed = smooth(region, pixels, shape)
    if not smoothed.within(Rect(pixel[0], pixel[1], 1, 1)).any():
        return region
    part = connected(smoothed.within, pixel, shape, connectivity=8, limit=4 * max(1, smoothed.inside.size) + MAX_PIXELS)
    return Selection(part.rect, part.inside, region.cut)


def _evaluate_in_bands(rect: Rect, is_member: Callable[[Rect], np.ndarray]) -> np.ndarray:
    """Evaluate `is_member` on a large rectangle in row bands, to limit the memory for color comparison."""
    rows = max(1, _BAND // max(1, rect.width))
    result = np.empty((rect.height, rect.width), bool)
    for top in range(0, rect.height, rows):
        height = min(rows, rect.height - top)
        result[top : top + height] = is_member(Rect(rect.x, rect.y + top, rect.width, height))
    return result


@dataclass(frozen=True, eq=False)
class ToneBand:
    """Tone range of a stroke: within `tolerance` of `tone`, a lightness () or L*a*b* (3,)."""

    tone: np.ndarray
    tolerance: float
    levels: GrayLevels

    @property
    def values(self) -> tuple[float, float] | None:
        """Least and greatest gray value of the range; None for color, which has no order."""
        if np.ndim(self.tone):
            return None
        tone = float(self.tone)
        return self.levels.to_value(tone - self.tolerance), self.levels.to_value(tone + self.tolerance)


@dataclass(frozen=True, eq=False)
class ToneHistogram:
    """Histogram under a brush: `counts` int (n,), `edges` float (n + 1,); `low`..`high` is selected.

    Values are gray values in the image's own units or, for color, distances from the first tone in L*a*b*.
    """

    counts: np.ndarray
    edges: np.ndarray
    low: float
    high: float
    color: bool


def tone_band_at(
    image: np.ndarray, point: Point, tolerance: float | None = None, *, levels: GrayLevels | None = None
) -> ToneBand | None:
    """Return the tone range of a stroke that begins at `point`: around the mean tone of the 3 x 3 pixels there.

    If `tolerance` is None, it is that of `suggest_tolerance`. `image` as for `magic_wand`. Returns None
    outside the image and where no pixel is finite.
    """
    pixel = pixel_at(point, image.shape)
    levels = levels or levels_of(image)
    tone = None if pixel is None else tone_at(image, pixel, levels, radius=SAMPLE_RADIUS)
    if tone is None:
        return None
    if tolerance is None:
        tolerance = suggest_tolerance(image, point, levels=levels)
    return ToneBand(tone, tolerance, levels)


def select_band(image: np.ndarray, start: Point, end: Point, radius: float, band: ToneBand) -> Selection:
    """Return the pixels of `band` that a round brush covers between two points (as `drawing.draw_segment`)."""
    rect, covered = footprint(start, end, radius, image.shape)
    if rect.empty:
        return EMPTY
    distance = difference(tones(image, rect, band.levels), band.tone)
    return Selection(rect, covered & (distance <= band.tolerance))


def histogram(
    image: np.ndarray, start: Point, end: Point, radius: float, band: ToneBand, *, bins: int = 64
) -> ToneHistogram:
    """Return the histogram of the tones under the brush, ignoring non-finite pixels."""
    rect, covered = footprint(start, end, radius, image.shape)
    gray_range = band.values
    color = gray_range is None
    tone = tones(image, rect, band.levels)
    if gray_range is None:
        values = difference(tone, band.tone)[covered]
        low, high = 0.0, band.tolerance
    else:
        span = np.float32(band.levels.high - band.levels.low)
        values = tone[covered] * (span / 100) + np.float32(band.levels.low)
        low, high = gray_range
    values = values[np.isfinite(values)]
    lowest, highest = (float(values.min()), float(values.max())) if values.size else (low, high)
    edges = np.linspace(min(lowest, low), max(highest, high, min(lowest, low) + 1e-6), bins + 1)
    counts, edges = np.histogram(values, edges)
    return ToneHistogram(counts, edges, low, high, color)


def footprint(start: Point, end: Point, radius: float, shape: tuple[int, ...]) -> tuple[Rect, np.ndarray]:
    """Return the rectangle that a brush touches between two points and the pixels it covers, bool (h, w)."""
    rect = segment_rect(start, end, radius, (shape[0], shape[1]))
    covered = np.zeros((max(0, rect.height), max(0, rect.width)), np.uint8)
    if not rect.empty:
        local_points = [(x - rect.x, y - rect.y) for x, y in (start, end)]
        draw_segment(covered, local_points[0], local_points[1], radius, Paint(1))
    return rect, covered > 0
