"""Magic wand: the connected area around a click with a similar tone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection.auto_tolerance import SAMPLE_RADIUS
from workbench.core.geometry.selection.lightness import GrayLevels, difference, levels_of, tone_at, tones
from workbench.core.geometry.selection.pixel_selection import EMPTY, Point, Selection, pixel_at
from workbench.core.geometry.selection.region_operations import connected, fill_holes, smooth

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

    `picture` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. The tone is the mean of 3 x 3 pixels; `tolerance` is in
    units of lightness (full range 100): the difference for gray, the distance in L*a*b* (CIE 1976) for color.
    `smoothing`: pixels, see `region_ops.smooth`; the part at the click is kept. `fill`: fill holes. The window grows
    with the region up to `limit` pixels (LIVE while dragging); a region that exceeds it has `cut`. Non-finite pixels
    never belong; a click on one returns an empty selection.
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
