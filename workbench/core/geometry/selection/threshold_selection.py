"""Threshold brush: paints only pixels with a tone near that of the first one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Paint, Rect, draw_segment, segment_rect
from workbench.core.geometry.selection.auto_tolerance import SAMPLE_RADIUS, suggest_tolerance
from workbench.core.geometry.selection.lightness import GrayLevels, difference, levels_of, tone_at, tones
from workbench.core.geometry.selection.pixel_selection import EMPTY, Point, Selection, pixel_at


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

    If `tolerance` is None, it is that of `bands.suggest_tolerance`. `picture` as for `wand.magic_wand`. Returns None
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
