"""Selection: a rectangle of the image and the selected pixels in it. Also windows around points.

Perceptual pixel values: gray on the 0..100 scale of lightness, color in CIE L*a*b*.

Levels map images of any depth to the same scale, so a tolerance has the same meaning for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray

SAMPLES = 128  # samples per side for the levels of a deep image
_BAND = 1 << 20  # pixels read per band for a reduced image


@dataclass(frozen=True)
class GrayLevels:
    """Pixel values of black and white."""

    low: float
    high: float

    def to_value(self, tone: float) -> float:
        """Convert a lightness, 0..100, to a gray value."""
        return self.low + tone * (self.high - self.low) / 100


def levels_of(image: ImageArray) -> GrayLevels:
    """Return 0..255 for 8 bit, otherwise the range of an even sample, as deep images rarely use their full range.

    `image` (H, W) or (H, W, 3), any numeric dtype. Reads at most 128 x 128 pixels.
    """
    if image.dtype == np.uint8:
        return GrayLevels(0.0, 255.0)
    rows, columns = (np.linspace(0, n - 1, min(n, SAMPLES)).astype(int) for n in image.shape[:2])
    sample = image[np.ix_(rows, columns)].astype(np.float64).ravel()
    sample = sample[np.isfinite(sample)]
    if not sample.size:
        return GrayLevels(0.0, 1.0)
    # Percentiles ignore hot pixels; the margin covers values that the sample missed.
    low, high = np.percentile(sample, (0.2, 99.8))
    margin = 0.05 * (high - low)
    min_range = 1.0 if image.dtype.kind in "ui" else max(abs(low), abs(high)) * 1e-6
    if high - low < min_range or high == low:
        return GrayLevels(float(low), float(low) + (min_range or 1.0))
    return GrayLevels(float(low - margin), float(high + margin))


def tones(image: ImageArray, rect: Rect, levels: GrayLevels) -> np.ndarray:
    """Return the tones in `rect`, NaN where not finite.

    float32, (h, w) lightness for a gray image, (h, w, 3) L*a*b* for an RGB image.
    """
    pixels = image[rect.slices].astype(np.float32)
    span = np.float32(levels.high - levels.low)
    pixels -= np.float32(levels.low)
    if image.ndim == 2:
        pixels *= np.float32(100) / span
        pixels[~np.isfinite(pixels)] = np.nan
        return pixels
    pixels /= span
    invalid = None
    if image.dtype.kind == "f":
        invalid = ~np.isfinite(pixels).all(axis=2)
        pixels[invalid] = 0
    lab = cv2.cvtColor(np.clip(pixels, 0, 1, out=pixels), cv2.COLOR_RGB2LAB) if pixels.size else pixels
    if invalid is not None:
        lab[invalid] = np.nan
    return lab


def reduced(image: ImageArray, rect: Rect, levels: GrayLevels, step: int) -> np.ndarray:
    """Return the mean `tones` of `step` x `step` pixels in `rect`. Read in bands to limit memory."""
    if step <= 1 or rect.empty:
        return tones(image, rect, levels)
    rows = max(1, _BAND // (rect.width * step)) * step
    parts = []
    for top in range(0, rect.height, rows):
        tone = tones(image, Rect(rect.x, rect.y + top, rect.width, min(rows, rect.height - top)), levels)
        height, width = tone.shape[:2]
        extended = cv2.copyMakeBorder(tone, 0, -height % step, 0, -width % step, cv2.BORDER_REPLICATE)
        size = extended.shape[1] // step, extended.shape[0] // step
        parts.append(cv2.resize(extended, size, interpolation=cv2.INTER_AREA))
    return np.concatenate(parts)


def lightness(image: ImageArray, rect: Rect, levels: GrayLevels, step: int = 1) -> np.ndarray:
    """Return gray value or L* in `rect`, reduced, float32. Non-finite pixels get the median of the others."""
    tone = reduced(image, rect, levels, step)
    tone = np.ascontiguousarray(tone[:, :, 0]) if tone.ndim == 3 else tone
    invalid = ~np.isfinite(tone)
    if invalid.any():
        tone[invalid] = np.float32(0) if invalid.all() else np.median(tone[~invalid])
    return tone


def difference(tone: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return the distance of each tone from `reference` (scalar or L*a*b*), float32 (h, w); inf where not finite."""
    if tone.ndim == 2:
        distance = np.abs(tone - np.float32(reference))
    else:
        distance = np.sqrt(np.square(tone - np.asarray(reference, np.float32)).sum(axis=2))
    return np.nan_to_num(distance, copy=False, nan=np.inf, posinf=np.inf)


def tone_at(image: ImageArray, pixel: tuple[int, int], levels: GrayLevels, *, radius: int = 0) -> np.ndarray | None:
    """Return the mean tone, () or (3,), up to `radius` from `pixel` (column, row); None if no pixel is finite."""
    x, y = pixel
    rect = Rect(x - radius, y - radius, 2 * radius + 1, 2 * radius + 1).clipped(image.shape[1], image.shape[0])
    tone = tones(image, rect, levels).reshape(rect.width * rect.height, -1)
    tone = tone[np.isfinite(tone).all(axis=1)]
    if not tone.size:
        return None
    mean = tone.mean(axis=0)
    return mean[0] if image.ndim == 2 else mean


Point = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Selection:
    """Selected pixels: `inside`, bool (rect.height, rect.width). `cut`: the region extends beyond the window."""

    rect: Rect
    inside: np.ndarray
    cut: bool = False

    @property
    def empty(self) -> bool:
        return not self.inside.any()

    @property
    def corner(self) -> tuple[int, int]:
        return self.rect.x, self.rect.y

    def trimmed(self) -> Selection:
        """Return the selection in its smallest rectangle, or the empty selection."""
        rows, columns = np.flatnonzero(self.inside.any(axis=1)), np.flatnonzero(self.inside.any(axis=0))
        if not rows.size:
            return Selection(NOTHING, np.zeros((0, 0), bool), self.cut)
        top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        rect = Rect(self.rect.x + left, self.rect.y + top, right - left, bottom - top)
        return Selection(rect, np.ascontiguousarray(self.inside[top:bottom, left:right]), self.cut)

    def within(self, rect: Rect) -> np.ndarray:
        """Return the selected pixels of another rectangle of the image, bool (rect.height, rect.width)."""
        result = np.zeros((rect.height, rect.width), bool)
        x, y = max(rect.x, self.rect.x), max(rect.y, self.rect.y)
        right = min(rect.x + rect.width, self.rect.x + self.rect.width)
        bottom = min(rect.y + rect.height, self.rect.y + self.rect.height)
        if right > x and bottom > y:
            result[y - rect.y : bottom - rect.y, x - rect.x : right - rect.x] = self.inside[
                y - self.rect.y : bottom - self.rect.y, x - self.rect.x : right - self.rect.x
            ]
        return result


EMPTY = Selection(NOTHING, np.zeros((0, 0), bool))


def pixel_at(point: Point, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the (column, row) at a point of an image of `shape` (H, W, ...); None outside the image."""
    if not (np.isfinite(point[0]) and np.isfinite(point[1])):
        return None
    x, y = int(np.floor(point[0])), int(np.floor(point[1]))
    return (x, y) if 0 <= x < shape[1] and 0 <= y < shape[0] else None


def around(points: list[Point], margin: int, shape: tuple[int, ...]) -> Rect:
    """Return the rectangle of an image of `shape` (H, W, ...) with the points' pixels and `margin` pixels around."""
    x, y = (int(np.floor(min(p[axis] for p in points))) - margin for axis in (0, 1))
    right, bottom = (int(np.floor(max(p[axis] for p in points))) + margin + 1 for axis in (0, 1))
    return Rect(x, y, right - x, bottom - y).clipped(shape[1], shape[0])


def padded(rect: Rect, margin: int, shape: tuple[int, ...]) -> Rect:
    """Return `rect` enlarged by `margin` pixels on every side, clipped to an image of `shape` (H, W, ...)."""
    enlarged = Rect(rect.x - margin, rect.y - margin, rect.width + 2 * margin, rect.height + 2 * margin)
    return enlarged.clipped(shape[1], shape[0])


def ellipse(box: Rect, shape: tuple[int, ...]) -> Selection:
    """Return the pixels of an image of `shape` (H, W, ...) whose center is in the ellipse inscribed in `box`.

    Boxes of one or two pixels width or height are selected entirely.
    """
    rect = box.clipped(shape[1], shape[0])
    if rect.empty:
        return EMPTY
    if min(box.width, box.height) <= 2:
        return Selection(rect, np.ones((rect.height, rect.width), bool))
    a, b = box.width / 2, box.height / 2
    # Computed as row spans, so that only the result needs memory of the size of the box.
    dy = (np.arange(rect.y, rect.y + rect.height) + 0.5 - (box.y + b)) / b
    half = a * np.sqrt(np.maximum(1 - dy * dy, 0))
    dx = np.abs(np.arange(rect.x, rect.x + rect.width) + 0.5 - (box.x + a))
    return Selection(rect, dx <= half[:, None])
