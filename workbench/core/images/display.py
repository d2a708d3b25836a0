"""Display settings and their rendering: conversion of image values to screen brightness, never stored in the data.

Local contrast and flat field are measured once on a subsampled copy, over a grid fixed to the image. A part therefore
has the same appearance regardless of pan, zoom and drawn rectangle.

Difference between an image and a good sample of the same part: alignment, brightness correction, subtraction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from workbench.core.geometry.drawing import Rect
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
    result: np.ndarray = cv2.LUT(part, left)
    right_values: np.ndarray = cv2.LUT(part, right)
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


_COARSE = 1024  # pixels of the longer side at which the two are aligned
_BAND = 512  # rows that are processed together
_MAX_ROTATION = 0.05  # radians; parts under a line camera are nearly straight
_LOWER_NOISE_LIMIT, _UPPER_NOISE_LIMIT = 3.0, 15.0  # noise standard deviations: difference shown as zero, as maximum


@dataclass(frozen=True)
class Alignment:
    """Alignment of a sample with an image, including brightness.

    matrix: float32 (2, 3), from the image's pixels to the sample's. gain, offset: sample * gain + offset has the
    image's brightness. agreement: correlation of the two after alignment, -1 to 1.
    """

    matrix: np.ndarray
    gain: float
    offset: float
    agreement: float

    @property
    def shift(self) -> tuple[float, float]:
        """Offset of the sample to the right of and below the image, in pixels, at the corner."""
        return float(self.matrix[0, 2]), float(self.matrix[1, 2])


def align(image: np.ndarray, sample: np.ndarray) -> Alignment:
    """Align the sample with the image: a shift by phase correlation, then a small rotation by ECC if that helps.

    Both are (H, W) or (H, W, 3), of any of the three value types, and of one size; else ValueError. ECC: Evangelidis
    and Psarakis 2008.
    """
    if image.shape[:2] != sample.shape[:2]:
        raise ValueError("the two pictures differ in size")
    step = max(1.0, max(image.shape[:2]) / _COARSE)
    target, source = _coarse(image, step), _coarse(sample, step)
    # Both correlations need structure: slow changes of illumination would bias them towards zero shift.
    flat_target, flat_source = _structure(target), _structure(source)
    best = np.eye(2, 3, dtype=np.float32)
    agreement = _agreement(flat_target, flat_source, best)
    if min(target.shape) >= 16:
        (dx, dy), _ = cv2.phaseCorrelate(
            flat_target, flat_source, cv2.createHanningWindow(target.shape[::-1], cv2.CV_32F)
        )
        shifted = np.array([[1, 0, dx], [0, 1, dy]], np.float32)
        best, agreement = _better_alignment(flat_target, flat_source, shifted, best, agreement)
        best, agreement = _better_alignment(
            flat_target, flat_source, _refine(flat_target, flat_source, best), best, agreement
        )
    gain, offset = _brightness(target, _warped(source, best, target.shape[::-1]))
    # The center of a coarse pixel i is at step * i + middle in the image.
    middle, rotation = 0.5 * (step - 1), best[:, :2].astype(np.float64)
    shift = step * best[:, 2].astype(np.float64) + middle - rotation @ (middle, middle)
    matrix = np.column_stack((rotation, shift)).astype(np.float32)
    return Alignment(matrix, gain, offset, agreement)


def difference(
    image: np.ndarray, sample: np.ndarray, alignment: Alignment, rect: Rect | None = None, *, slack: int = 1
) -> np.ndarray:
    """Return by how much the image is brighter than the sample, float32 (h, w), inside `rect` or of the whole image.

    The unit is the image's own values. Only differences that no sample pixel within `slack` pixels explains count, so
    that edges shifted by a fraction of a pixel are no difference. Beyond the sample's border the difference is 0.
    """
    height, width = image.shape[:2]
    rect = rect or Rect(0, 0, width, height)
    extended = Rect(rect.x - slack, rect.y - slack, rect.width + 2 * slack, rect.height + 2 * slack)
    matrix = alignment.matrix.astype(np.float64).copy()
    matrix[:, 2] += matrix[:, :2] @ (extended.x, extended.y)
    # Convert only the needed part of the sample, which may be very large.
    corners = (
        np.array([[0, 0, 1], [extended.width, 0, 1], [0, extended.height, 1], [extended.width, extended.height, 1]])
        @ matrix.T
    )
    left, top = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 2, 0)
    right, bottom = np.ceil(corners.max(axis=0)).astype(int) + 3
    needed = sample[top : max(bottom, 0), left : max(right, 0)]
    if needed.size == 0:
        return np.zeros((rect.height, rect.width), np.float32)
    source = select_channel(needed, "grey").astype(np.float32)
    target = select_channel(image[rect.slices], "grey").astype(np.float32)
    matrix[:, 2] -= left, top
    size = (extended.width, extended.height)
    warped = _warped(source, matrix, size) * np.float32(alignment.gain)
    warped += np.float32(alignment.offset)
    valid = cv2.warpAffine(
        np.ones(source.shape, np.uint8), matrix, size, flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    )
    kernel = np.ones((2 * slack + 1, 2 * slack + 1), np.uint8)
    inside = (slice(slack, slack + rect.height), slice(slack, slack + rect.width))
    darkest, brightest = cv2.erode(warped, kernel)[inside], cv2.dilate(warped, kernel)[inside]
    result = target - np.clip(target, darkest, brightest)
    result[(cv2.erode(valid, kernel)[inside] == 0) | ~np.isfinite(result)] = 0
    return result


def difference_map(image: np.ndarray, sample: np.ndarray, alignment: Alignment | None = None) -> np.ndarray:
    """Return each pixel's difference beyond the noise, uint8 (H, W); 255 from 15 standard deviations on."""
    alignment = alignment or align(image, sample)
    height, width = image.shape[:2]
    bands = [Rect(0, top, width, min(_BAND, height - top)) for top in range(0, height, _BAND)]
    # Estimate the noise from a few narrow bands across the image; the median is insensitive to defects.
    tops = np.linspace(0, max(height - 16, 0), 12).astype(int)
    strips = [Rect(0, int(top), width, min(16, height)) for top in tops]
    samples = [np.abs(difference(image, sample, alignment, strip, slack=0)).ravel() for strip in strips]
    noise = 1.4826 * float(np.median(np.concatenate(samples)))
    min_noise = (
        1.0 if image.dtype != np.float32 else 1e-6 * float(np.abs(select_channel(image[::64, ::64], "grey")).max() or 1)
    )
    noise = max(noise, min_noise)
    result = np.empty((height, width), np.uint8)
    for band in bands:
        values = np.abs(difference(image, sample, alignment, band))
        values -= np.float32(_LOWER_NOISE_LIMIT * noise)
        values *= np.float32(255 / ((_UPPER_NOISE_LIMIT - _LOWER_NOISE_LIMIT) * noise))
        result[band.slices] = np.clip(values, 0, 255, out=values)
    return result


def _warped(source: np.ndarray, matrix: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return a view (height, width) = size[::-1] of `source`; matrix: from its positions to those of the source."""
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpAffine(source, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)


def _coarse(image: np.ndarray, step: float) -> np.ndarray:
    gray = select_channel(image, "grey")
    if step > 1:
        size = (round(gray.shape[1] / step), round(gray.shape[0] / step))
        gray = cv2.resize(np.ascontiguousarray(gray), size, interpolation=cv2.INTER_AREA)
    return np.nan_to_num(gray.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)


def _structure(gray: np.ndarray) -> np.ndarray:
    flat = gray - cv2.GaussianBlur(gray, (0, 0), max(2.0, max(gray.shape) / 40), borderType=cv2.BORDER_REPLICATE)
    return flat / max(float(flat.std()), 1e-9)


def _agreement(target: np.ndarray, source: np.ndarray, matrix: np.ndarray) -> float:
    size = target.shape[::-1]
    warped = _warped(source, matrix, size)
    valid = (
        cv2.warpAffine(np.ones(source.shape, np.uint8), matrix, size, flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP)
        > 0
    )
    if np.count_nonzero(valid) < valid.size // 4:
        return -1.0
    return (
        float(np.corrcoef(target[valid], warped[valid])[0, 1]) if target[valid].std() and warped[valid].std() else -1.0
    )


def _better_alignment(
    target: np.ndarray, source: np.ndarray, candidate: np.ndarray, best: np.ndarray, agreement: float
) -> tuple[np.ndarray, float]:
    candidate_agreement = _agreement(target, source, candidate)
    return (candidate, candidate_agreement) if candidate_agreement > agreement else (best, agreement)


def _refine(target: np.ndarray, source: np.ndarray, start: np.ndarray) -> np.ndarray:
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-5)
    try:
        _, refined = cv2.findTransformECC(target, source, start.copy(), cv2.MOTION_EUCLIDEAN, criteria)
    except cv2.error:  # no convergence if the two have little in common
        return start
    return refined if abs(float(np.arctan2(refined[1, 0], refined[0, 0]))) <= _MAX_ROTATION else start


def _brightness(target: np.ndarray, source: np.ndarray) -> tuple[float, float]:
    """Return gain and offset of a straight line fitted to the pairs of values, without outliers such as defects."""
    target, source = (cv2.GaussianBlur(gray, (0, 0), 1.5).ravel().astype(np.float64) for gray in (target, source))
    inliers = np.ones(target.shape, bool)
    gain, offset = 1.0, float(np.median(target) - np.median(source))
    for _ in range(3):
        spread = source[inliers].std()
        if spread > 0 and np.count_nonzero(inliers) > 16:
            slope = float(np.cov(source[inliers], target[inliers])[0, 1] / spread**2)
            gain = min(max(slope, 0.5), 2.0)
            offset = float(target[inliers].mean() - gain * source[inliers].mean())
        residuals = np.abs(target - gain * source - offset)
        inliers = residuals <= 3 * max(1.4826 * float(np.median(residuals)), 1e-12)
    return gain, offset
