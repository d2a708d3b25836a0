"""Display settings: conversion of image values to screen brightness. They are stored per project, never in the data."""

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
