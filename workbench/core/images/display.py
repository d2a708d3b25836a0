"""Display settings and their rendering: conversion of image values to screen brightness, never stored in the data.

Local contrast and flat field are measured once on a subsampled copy, over a grid fixed to the image. A part therefore
has the same appearance regardless of pan, zoom and drawn rectangle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from workbench.inference.io.opencv import cv2

Channel = Literal["colour", "grey", "red", "green", "blue"]
Palette = Literal["none", "turbo", "viridis", "magma", "hot"]
CHANNELS: tuple[Channel, ...] = ("colour", "grey", "red", "green", "blue")
PALETTES: tuple[Palette, ...] = ("none", "turbo", "viridis", "magma", "hot")
MAX_LOCAL_CONTRAST = 8.0

STEPS = 4096  # brightness levels before the curve, for values other than 8 or 16 bit integers
_SAMPLE = 2**18  # values that suffice to estimate an image's range


@dataclass(frozen=True)
class Display:
    """Display settings: `low` is shown black and `high` white, in the image's own values.

    The steps are applied in the order of the fields. channel: one of a color image, or all. flat_field: division by the
    image's own slow changes of illumination. gamma: above 1 brightens the dark parts. invert: black for white.
    local_contrast: clip limit of CLAHE (Zuiderveld 1994), 0 is off. palette: false colors instead of gray.
    """

    low: float = 0.0
    high: float = 255.0
    gamma: float = 1.0
    channel: Channel = "colour"
    flat_field: bool = False
    invert: bool = False
    local_contrast: float = 0.0
    palette: Palette = "none"

    @property
    def needs_surroundings(self) -> bool:
        """True if a pixel's brightness depends on more than its own value."""
        return self.flat_field or self.local_contrast > 0

    def windowed(self, low: float, high: float) -> Display:
        """Return a copy with other limits, kept at a minimum distance."""
        return replace(self, low=low, high=max(high, low + max(1e-6, abs(low) * 1e-6)))

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Apply window, gamma and inversion; uint8 of the same shape."""
        if values.dtype == np.uint8 and (self.low, self.high, self.gamma, self.invert) == (0.0, 255.0, 1.0, False):
            return values
        if values.dtype == np.uint8:
            return cv2.LUT(np.ascontiguousarray(values), _table(self, 256))
        if values.dtype == np.uint16:
            return _table(self, 65536).take(values)
        return self.brightness(values)

    def brightness(self, values: np.ndarray) -> np.ndarray:
        """Apply window, gamma and inversion to non-integer values, in `STEPS` levels; NaN is black."""
        span = max(self.high - self.low, 1e-9)
        light = (values.astype(np.float32, copy=False) - np.float32(self.low)) * np.float32((STEPS - 1) / span)
        light = np.nan_to_num(light, copy=False, nan=0.0, posinf=STEPS - 1, neginf=0.0)
        np.clip(light, 0, STEPS - 1, out=light)
        return _curve(self, STEPS).take((light + np.float32(0.5)).astype(np.uint16))


@lru_cache(8)
def _table(display: Display, size: int) -> np.ndarray:
    """Return the lookup table of integer values, uint8 (size,)."""
    span = max(display.high - display.low, 1e-9)
    return _apply_gamma(display, np.clip((np.arange(size, dtype=np.float64) - display.low) / span, 0, 1))


@lru_cache(8)
def _curve(display: Display, steps: int) -> np.ndarray:
    return _apply_gamma(display, np.linspace(0, 1, steps))


def _apply_gamma(display: Display, light: np.ndarray) -> np.ndarray:
    light = light ** (1 / display.gamma)
    return ((1 - light if display.invert else light) * 255 + 0.5).astype(np.uint8)


def full_range(image: np.ndarray) -> tuple[float, float]:
    """Return the range of values that a display of this image may cover."""
    if image.dtype == np.uint8:
        return 0.0, 255.0
    sample = sampled(image)
    low, high = (float(sample.min()), float(sample.max())) if sample.size else (0.0, 1.0)
    if image.dtype == np.uint16:
        return 0.0, float(2 ** max(8, int(high).bit_length()) - 1)
    return low, high if high > low else low + 1.0


def automatic(image: np.ndarray) -> Display:
    """Return a display with 8-bit values unchanged; others from the 0.5 to the 99.5 percentile.

    Cameras seldom use the full range of larger types.
    """
    return Display() if image.dtype == np.uint8 else stretched(image)


def stretched(image: np.ndarray, share: float = 0.5) -> Display:
    """Return a display from the `share` percentile to the 100 - `share` percentile."""
    sample = sampled(image)
    low, high = np.percentile(sample, (share, 100 - share)) if sample.size else (0.0, 1.0)
    return Display(float(low), float(high if high > low else low + 1))


def sampled(image: np.ndarray) -> np.ndarray:
    """Return about 2**18 of an image's pixels, evenly spaced; finite values, flat."""
    image = getattr(image, "overview", image)  # of an image that is read by region
    step = max(1, int((image.shape[0] * image.shape[1] / _SAMPLE) ** 0.5))
    thin = image[::step, ::step]
    return thin[np.isfinite(thin)]


_SAMPLE_EDGE = 768  # pixels of the subsampled copy's longer side
_TILES = 8  # for local contrast, along the longer side
_SMALLEST_TILE = 48  # pixels of the image
_FLAT_CELLS = 48  # of the flat field, along the longer side
_GAIN = 4.0  # largest factor by which the flat field changes brightness
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R BT.601


def select_channel(values: np.ndarray, channel: Channel) -> np.ndarray:
    """Return one channel of (H, W, 3), or its gray, or all; (H, W) is returned unchanged. Same dtype."""
    if values.ndim == 2 or channel == "colour":
        return values
    if channel != "grey":
        return values[:, :, ("red", "green", "blue").index(channel)]
    if values.dtype == np.uint8:
        return cv2.cvtColor(np.ascontiguousarray(values), cv2.COLOR_RGB2GRAY)
    gray = values.astype(np.float32) @ _LUMA
    return gray if values.dtype == np.float32 else np.rint(gray).astype(values.dtype)


class ToneMapper:
    """Renderer for parts of one image, (H, W) or (H, W, 3), under one display."""

    def __init__(self, image: np.ndarray, display: Display, shape: tuple[int, ...] | None = None) -> None:
        """shape: of the whole image, if `image` is a reduced one."""
        self.shape = shape or image.shape
        self.display = display
        scale = self.shape[0] / image.shape[0]
        step = max(1, -(-max(image.shape[:2]) // _SAMPLE_EDGE))
        needs_sample = display.needs_surroundings
        sample = select_channel(np.ascontiguousarray(image[::step, ::step]), display.channel) if needs_sample else None
        self._gain = _flat_field(sample) if sample is not None and display.flat_field else None
        self._tiles: np.ndarray | None = None
        if sample is not None and display.local_contrast > 0:
            height, width = sample.shape[:2]
            centers = [(np.arange(size) + 0.5) * step * scale - 0.5 for size in (height, width)]
            self._tiles = _tile_tables(_gray(self._tone(sample, *centers)), self.shape, display.local_contrast)

    def map_region(self, values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Render values, (h, w) or (h, w, 3), at image coordinates `rows` (h) and `columns` (w), as uint8."""
        rendered = self._tone(select_channel(values, self.display.channel), rows, columns)
        if self.display.palette != "none":
            rendered = _gray(rendered)
        if self._tiles is None:
            return rendered
        if rendered.ndim == 2:
            return self._apply_local_contrast(rendered, self._tiles, rows, columns)
        ycrcb = cv2.cvtColor(np.ascontiguousarray(rendered), cv2.COLOR_RGB2YCrCb)
        lightness = np.ascontiguousarray(ycrcb[:, :, 0])
        ycrcb[:, :, 0] = self._apply_local_contrast(lightness, self._tiles, rows, columns)
        return cv2.cvtColor(ycrcb, cv2.COLOR_YCrCb2RGB)

    def _tone(self, values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        if self._gain is None:
            return self.display.apply(values)
        cells = [
            _cell_positions(positions, count, size)
            for positions, count, size in zip((rows, columns), self._gain.shape, self.shape)
        ]
        gain = _interpolate(self._gain, *cells)
        flat = values.astype(np.float32) * (gain if values.ndim == 2 else gain[:, :, None])
        return self.display.brightness(flat)

    def _apply_local_contrast(
        self, values: np.ndarray, tables: np.ndarray, rows: np.ndarray, columns: np.ndarray
    ) -> np.ndarray:
        """Apply CLAHE to uint8 (h, w), interpolating between the tables of the four nearest tiles."""
        spans = [
            _spans((position + 0.5) * (count / size) - 0.5, count)
            for position, count, size in zip((rows, columns), tables.shape[:2], self.shape[:2], strict=True)
        ]
        result = np.empty(values.shape, np.uint8)
        for top, bottom, i, fy in spans[0]:
            next_row = min(i + 1, tables.shape[0] - 1)
            for left, right, j, fx in spans[1]:
                part = np.ascontiguousarray(values[top:bottom, left:right])
                next_column = min(j + 1, tables.shape[1] - 1)
                above = _blend(part, tables[i, j], tables[i, next_column], fx)
                below = _blend(part, tables[next_row, j], tables[next_row, next_column], fx)
                below -= above
                below *= fy[:, None]
                above += below
                above += np.float32(0.5)
                result[top:bottom, left:right] = above
        return result


def _blend(part: np.ndarray, left: np.ndarray, right: np.ndarray, weight: np.ndarray) -> np.ndarray:
    result, right_values = cv2.LUT(part, left), cv2.LUT(part, right)
    right_values -= result
    right_values *= weight
    result += right_values
    return result


def _spans(positions: np.ndarray, count: int) -> list[tuple[int, int, int, np.ndarray]]:
    """Return (first, end, tile before, share of the tile after) per run of positions between the same two tiles."""
    positions = np.clip(positions, 0, count - 1)
    first_tile = np.floor(positions).astype(np.intp)
    weight = (positions - first_tile).astype(np.float32)
    ends = [0, *(np.flatnonzero(np.diff(first_tile)) + 1).tolist(), len(first_tile)]
    return [(a, b, int(first_tile[a]), weight[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True) if b > a]


def _tile_tables(sample: np.ndarray, shape: tuple[int, ...], clip: float) -> np.ndarray:
    """Return the equalization table of each tile, float32 (tiles down, tiles across, 256)."""
    edge = max(_SMALLEST_TILE, max(shape[:2]) / _TILES)
    down, across = (max(1, round(size / edge)) for size in shape[:2])
    tables = np.empty((down, across, 256), np.float32)
    ends = [
        np.linspace(0, size, n + 1).round().astype(int) for n, size in zip((down, across), sample.shape, strict=True)
    ]
    for i in range(down):
        for j in range(across):
            part = sample[ends[0][i] : ends[0][i + 1], ends[1][j] : ends[1][j + 1]]
            counts = cv2.calcHist([np.ascontiguousarray(part)], [0], None, [256], [0, 256]).ravel()
            limit = max(1.0, clip * part.size / 256)
            excess = np.maximum(counts - limit, 0).sum()
            counts = np.minimum(counts, limit) + excess / 256
            tables[i, j] = np.cumsum(counts) * (255 / max(part.size, 1))
    return np.clip(tables, 0, 255)


def _flat_field(sample: np.ndarray) -> np.ndarray:
    """Return the factors that remove slow changes of illumination, float32 (h, w). sample: a reduced image."""
    gray = sample.astype(np.float32) if sample.ndim == 2 else sample.astype(np.float32) @ _LUMA
    finite = np.isfinite(gray)
    middle = float(gray[finite].mean()) if finite.any() else 0.0
    gray = np.where(finite, gray, np.float32(middle))
    height, width = gray.shape
    factor = min(1.0, _FLAT_CELLS / max(height, width))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    light = cv2.resize(gray, size, interpolation=cv2.INTER_AREA)
    light = cv2.GaussianBlur(light, (0, 0), max(1.0, max(size) / 12), borderType=cv2.BORDER_REPLICATE)
    if middle <= 0:
        return np.ones_like(light)  # values around zero have no illumination to divide by
    return np.clip(middle / np.maximum(light, middle / _GAIN), 1 / _GAIN, _GAIN).astype(np.float32)


def _cell_positions(positions: np.ndarray, cells: int, size: int) -> np.ndarray:
    """Return image coordinates in units of flat field cells, relative to the cell centers."""
    return np.clip((positions + 0.5) * (cells / size) - 0.5, 0, cells - 1)


def _interpolate(cells: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return `cells` interpolated bilinearly at `rows` and `columns`, float32 (h, w)."""
    for axis, positions in ((0, rows), (1, columns)):
        lower = np.floor(positions).astype(np.intp)
        weight = (positions - lower).astype(np.float32)
        weight = weight[:, None] if axis == 0 else weight
        lower_values = cells.take(lower, axis=axis)
        upper_values = cells.take(np.minimum(lower + 1, cells.shape[axis] - 1), axis=axis)
        cells = lower_values + (upper_values - lower_values) * weight
    return cells


def _gray(rendered: np.ndarray) -> np.ndarray:
    return rendered if rendered.ndim == 2 else cv2.cvtColor(np.ascontiguousarray(rendered), cv2.COLOR_RGB2GRAY)
