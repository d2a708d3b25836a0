"""Images prepared for display, and overlays of masks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .model_settings import ModelSettings

_SAMPLE = 1 << 20  # number of values sampled to determine an image's range


def to_display(image: np.ndarray) -> np.ndarray:
    """Return the image as uint8, same shape.

    8-bit images are unchanged; 16-bit and float images are stretched between their 0.5 and 99.5 percentiles, because a
    camera seldom uses the full range of its type.
    """
    return image if image.dtype == np.uint8 else _stretch(image)(image)


def _stretch(image: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that converts parts of an image to uint8, all with the same range."""
    if image.dtype == np.uint8:
        return lambda part: part
    step = max(1, int(np.sqrt(image.size / _SAMPLE)))
    sample = image[::step, ::step]
    sample = sample[np.isfinite(sample)]
    low, high = np.percentile(sample, (0.5, 99.5)) if sample.size else (0.0, 1.0)
    if high <= low:
        high = low + 1
    if image.dtype == np.uint16:
        table = np.rint(np.clip((np.arange(65536.0) - low) * (255 / (high - low)), 0, 255)).astype(np.uint8)
        return lambda part: table[part]

    def stretch(part: np.ndarray) -> np.ndarray:
        values = np.nan_to_num(part.astype(np.float32), nan=low, posinf=high, neginf=low)
        values -= np.float32(low)
        values *= np.float32(255 / (high - low))
        return np.rint(np.clip(values, 0, 255, out=values)).astype(np.uint8)

    return stretch


def overlay(image: np.ndarray, mask: np.ndarray, settings: ModelSettings, opacity: float = 0.45) -> np.ndarray:
    """Return the image with each class tinted in its color and outlined, one pixel wide, inside its regions.

    image: (H,W) or (H,W,3). mask: uint8 (H,W) class ids. opacity: of the tint, 0..1.

    Returns uint8 (H,W,3) RGB.
    """
    return next(overlay_bands(image, mask, settings, opacity, rows=len(mask)))


def overlay_bands(
    image: np.ndarray, mask: np.ndarray, settings: ModelSettings, opacity: float = 0.45, *, rows: int
) -> Iterator[np.ndarray]:
    """Yield the overlay in bands of `rows` rows, top to bottom, to avoid holding a very large overlay in memory."""
    convert = _stretch(image)
    for top in range(0, len(mask), rows):
        end = min(top + rows, len(mask))
        above = min(top, 1)  # one more row on each side, to find region borders
        outline = _outline(mask[top - above : end + 1])[above : above + end - top]
        yield _tint(convert(image[top:end]), mask[top:end], outline, settings, opacity)


def _tint(
    image: np.ndarray, mask: np.ndarray, outline: np.ndarray, settings: ModelSettings, opacity: float
) -> np.ndarray:
    canvas = np.repeat(image[:, :, None], 3, axis=2) if image.ndim == 2 else image.copy()
    for entry in settings.classes:
        color = np.array([int(entry.color[start : start + 2], 16) for start in (1, 3, 5)], np.float32)
        inside = mask == entry.id
        blended = canvas[inside] * np.float32(1 - opacity) + color * np.float32(opacity)
        canvas[inside] = np.rint(blended).astype(np.uint8)
        canvas[inside & outline] = color.astype(np.uint8)
    return canvas


def _outline(mask: np.ndarray) -> np.ndarray:
    """Return pixels that differ from at least one of their four neighbors; the image border does not count."""
    outline = np.zeros(mask.shape, bool)
    differs = mask[1:] != mask[:-1]
    outline[1:] |= differs
    outline[:-1] |= differs
    differs = mask[:, 1:] != mask[:, :-1]
    outline[:, 1:] |= differs
    outline[:, :-1] |= differs
    return outline
