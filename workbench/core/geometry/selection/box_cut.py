"""Box to outline: GrabCut (Rother, Kolmogorov and Blake 2004) in a window with a computed initialization.

Initialized only with the box, GrabCut loses weak defects on real surfaces. It is therefore initialized with the
deviation from a background that is extrapolated from the surroundings of the box. The strongest deviations are fixed.
"""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection.pixel_selection import (
    EMPTY,
    GrayLevels,
    Selection,
    levels_of,
    padded,
    reduced,
    tones,
)
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray

MAX_WORK_PIXELS = 1 << 15  # pixels: a larger window is segmented at reduced resolution first
MAX_BOX_PIXELS = 8 << 20  # pixels: largest box
TILE = 256  # pixels: tile size of the refinement along the outline
MIN_PIXELS = 16  # pixels inside and outside: fewer do not suffice for the color models
CERTAIN = 0.3  # share of the foreground that GrabCut may discard

Models = tuple[np.ndarray, np.ndarray]  # color models of background and foreground in GrabCut's format


def box_cut(
    image: ImageArray,
    box: Rect,
    *,
    iterations: int = 2,
    levels: GrayLevels | None = None,
) -> Selection:
    """Return the pixels inside `box` that stand out from its surroundings; empty if there are none.

    `image` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. The surroundings are a window that extends the box by
    half its larger side; for a box without surroundings (the whole image), its own border is used. Windows above 32k
    pixels are segmented at reduced resolution and refined along the outline at full resolution. A box beyond
    `MAX_BOX_PIXELS` gives an empty selection with `cut`.
    """
    box = box.clipped(image.shape[1], image.shape[0])
    if box.empty:
        return EMPTY
    if box.width * box.height > MAX_BOX_PIXELS:
        return Selection(EMPTY.rect, EMPTY.inside, cut=True)
    levels = levels or levels_of(image)
    window = padded(box, max(8, min(256, max(box.width, box.height) // 2)), image.shape)
    step = 1
    while -(-window.width // step) * -(-window.height // step) > MAX_WORK_PIXELS:
        step += 1
    local_box = Rect(box.x - window.x, box.y - window.y, box.width, box.height)
    box_mask = _box_mask(local_box, window, step)
    tone = reduced(image, window, levels, step)
    label = _initial_labels(tone, box_mask)
    if label is None:
        return EMPTY
    scale = _Scale.of(tone)
    models = np.zeros((1, 65), np.float64), np.zeros((1, 65), np.float64)
    _cut(scale.colors(tone), label, models, iterations, cv2.GC_INIT_WITH_MASK)
    inside = (label == cv2.GC_FGD) | (label == cv2.GC_PR_FGD)
    if step > 1:
        inside = _refine(image, window, levels, scale, models, inside, step)
        inside[: local_box.y] = inside[local_box.y + local_box.height :] = False
        inside[:, : local_box.x] = inside[:, local_box.x + local_box.width :] = False
    return Selection(window, inside).trimmed()


class _Scale:
    """Conversion of tones to the three bytes that GrabCut requires, scaled to the window's range to keep detail."""

    def __init__(self, low: np.ndarray, gain: float) -> None:
        self.low, self.gain = low, gain

    @classmethod
    def of(cls, tone: np.ndarray) -> _Scale:
        flat = tone.reshape(-1, 1 if tone.ndim == 2 else 3)
        flat = flat[np.isfinite(flat).all(axis=1)]
        low, high = np.percentile(flat, (0.5, 99.5), axis=0)
        # One gain for all channels preserves distances in L*a*b*.
        return cls(low.astype(np.float32), 255 / max(float((high - low).max()), 1e-3))

    def colors(self, tone: np.ndarray) -> np.ndarray:
        stretched = (tone.reshape(*tone.shape[:2], -1) - self.low) * np.float32(self.gain)
        bytes_ = np.clip(np.nan_to_num(stretched), 0, 255).astype(np.uint8)
        return np.repeat(bytes_, 3, axis=2) if bytes_.shape[2] == 1 else bytes_


def _initial_labels(tone: np.ndarray, box_mask: np.ndarray) -> np.ndarray | None:
    """Return initial GrabCut labels, uint8 (h, w), or None if nothing stands out."""
    invalid = ~np.isfinite(tone if tone.ndim == 2 else tone.sum(axis=2))
    background = ~box_mask & ~invalid
    usable = box_mask & ~invalid
    if usable.sum() < MIN_PIXELS or background.sum() < MIN_PIXELS:
        return None
    salience = _salient_pixels(np.nan_to_num(tone), background, usable)
    largest = float(salience[usable].max())
    if largest <= 1e-3:
        return None
    levels = np.clip(salience[usable] * (255 / largest), 0, 255).astype(np.uint8)
    threshold, _ = cv2.threshold(levels.reshape(-1, 1), 0, 255, cv2.THRESH_OTSU)
    foreground = levels > threshold
    if not foreground.any():
        return None
    label = np.full(box_mask.shape, cv2.GC_BGD, np.uint8)
    certain = levels >= np.quantile(levels[foreground], CERTAIN)
    label[usable] = np.where(foreground, np.where(certain, cv2.GC_FGD, cv2.GC_PR_FGD), cv2.GC_PR_BGD)
    return label


def _salient_pixels(tone: np.ndarray, background: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Return the distance of each tone from the extrapolated background, float32 (h, w) >= 0.

    For gray images, only the polarity (darker or brighter) with the stronger deviations inside the box is used.
    """
    smooth = cv2.GaussianBlur(tone, (0, 0), 0.8, borderType=cv2.BORDER_REPLICATE)
    rows, columns = np.flatnonzero(usable.any(axis=1)), np.flatnonzero(usable.any(axis=0))
    sigma = max(rows[-1] - rows[0], columns[-1] - columns[0]) / 3 + 2
    weight = background.astype(np.float32)
    coverage = _spread(weight, sigma)
    known = smooth * (weight if tone.ndim == 2 else weight[:, :, None])
    expected = _spread(known, sigma) / np.maximum(coverage, 1e-6).reshape(*coverage.shape, *[1] * (tone.ndim - 2))
    # Too far inside a large box for extrapolation: use the median of the surroundings.
    expected[coverage < 1e-4] = np.median(smooth[background], axis=0)
    deviation = smooth - expected
    if tone.ndim == 3:
        return np.sqrt(np.square(deviation).sum(axis=2))
    sign = np.sign(np.power(deviation[usable], 3, dtype=np.float64).sum()) or 1.0
    return np.maximum(deviation * np.float32(sign), 0)


def _spread(values: np.ndarray, sigma: float) -> np.ndarray:
    """Blur with a large sigma, computed at reduced resolution."""
    height, width = values.shape[:2]
    step = max(1.0, sigma / 12)
    size = max(1, round(width / step)), max(1, round(height / step))
    small = cv2.resize(values, size, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), sigma * size[0] / width, sigmaY=sigma * size[1] / height)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)


def _cut(colors: np.ndarray, label: np.ndarray, models: Models, iterations: int, mode: int) -> None:
    # OpenCV's clustering is random; fix the seed so that the same box gives the same outline.
    cv2.setRNGSeed(1)
    cv2.grabCut(colors, label, (0, 0, 0, 0), models[0], models[1], iterations, mode)


def _refine(
    image: ImageArray,
    window: Rect,
    levels: GrayLevels,
    scale: _Scale,
    models: Models,
    coarse: np.ndarray,
    step: int,
) -> np.ndarray:
    """Refine the reduced segmentation along its outline with the same models.

    Return bool (window.height, window.width).
    """
    full = cv2.resize(coarse.astype(np.uint8), None, fx=step, fy=step, interpolation=cv2.INTER_NEAREST)
    full = np.ascontiguousarray(full[: window.height, : window.width])
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * step + 1, 2 * step + 1))
    wide, narrow = cv2.dilate(full, kernel), cv2.erode(full, kernel)
    label = np.where(full > 0, np.uint8(cv2.GC_PR_FGD), np.uint8(cv2.GC_PR_BGD))
    label[wide == 0], label[narrow > 0] = cv2.GC_BGD, cv2.GC_FGD
    for top in range(0, window.height, TILE):
        for left in range(0, window.width, TILE):
            boundary = (wide != narrow)[top : top + TILE, left : left + TILE]
            if not boundary.any():
                continue
            rows, columns = np.flatnonzero(boundary.any(axis=1)), np.flatnonzero(boundary.any(axis=0))
            tile = Rect(left + int(columns[0]), top + int(rows[0]), int(np.ptp(columns)) + 1, int(np.ptp(rows)) + 1)
            tile = padded(tile, 1, full.shape)
            tone = tones(image, Rect(window.x + tile.x, window.y + tile.y, tile.width, tile.height), levels)
            part = np.ascontiguousarray(label[tile.slices])
            _cut(scale.colors(tone), part, models, 1, cv2.GC_EVAL_FREEZE_MODEL)
            part[~np.isfinite(tone if tone.ndim == 2 else tone.sum(axis=2))] = cv2.GC_BGD
            label[tile.slices] = part
    return (label == cv2.GC_FGD) | (label == cv2.GC_PR_FGD)


def _box_mask(box: Rect, window: Rect, step: int) -> np.ndarray:
    """Return the reduced mask of the box; without surroundings, a border inside the box is excluded."""
    inside = np.zeros((window.height, window.width), bool)
    inside[box.slices] = True
    if inside.all():
        border = max(1, step)
        inside[:border] = inside[-border:] = inside[:, :border] = inside[:, -border:] = False
    return np.ascontiguousarray(inside[::step, ::step])


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
