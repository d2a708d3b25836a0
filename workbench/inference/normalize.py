"""Conversion of image values to the network's input."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .io.opencv import cv2
from .io.tiff_regions import ImageArray
from .model_settings import ModelSettings

# Luma of ITU-R BT.601, the weights that OpenCV and most cameras use.
LUMA = np.array([[0.299, 0.587, 0.114]], np.float32)

# Range beyond 0..1 that is kept: brighter lighting than in training must not give unbounded values.
MIN_VALUE, MAX_VALUE = -0.5, 1.5


class _Scaling(NamedTuple):
    """The part of `ModelSettings` on which the conversion depends; its hash takes no time."""

    channels: int
    full_scale: float
    low: float
    high: float
    mean: tuple[float, ...]
    std: tuple[float, ...]


def resize_for_network(image: ImageArray, settings: ModelSettings) -> ImageArray:
    """Return the image in the size of the network's input, with unchanged dtype.

    Segmentation: resized by settings.scale. Classification: a square of settings.input_size.
    """
    height, width = image.shape[:2]
    if settings.task == "classification":
        target = (settings.input_size, settings.input_size)
    else:
        target = (max(1, round(height * settings.scale)), max(1, round(width * settings.scale)))
    if target == (height, width):
        return image
    shrinks = target[0] * target[1] < height * width
    interpolation = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    # A TIFF that is read by region is loaded as a whole here.
    return cv2.resize(np.asarray(image), target[::-1], interpolation=interpolation)


def normalize(image: np.ndarray, settings: ModelSettings) -> np.ndarray:
    """Return the network's input for an image or a part of it, float32 (C,H,W), C-contiguous.

    image: (H,W) or (H,W,3) RGB, uint8, uint16 or float32 (full scale 1). Grayscale is repeated for networks with
        three channels, color is converted to luma for one channel. NaN counts as `low`. Raises ValueError for other
        arrays.
    """
    if image.ndim not in (2, 3) or image.ndim == 3 and image.shape[2] != 3:
        raise ValueError(f"an image is (H,W) or (H,W,3), not {image.shape}")
    scaling = _Scaling(settings.channels, settings.full_scale, settings.low, settings.high, settings.mean, settings.std)
    if image.dtype == np.uint8 and (image.ndim == 2 or settings.channels == 3):
        return _apply_table(image, scaling)
    return _compute(image, scaling)


def _apply_table(image: np.ndarray, scaling: _Scaling) -> np.ndarray:
    """Normalize 8-bit images by a table of 256 values; bit-identical to `_compute`."""
    tables = _byte_tables(scaling)
    result = np.empty((scaling.channels, *image.shape[:2]), np.float32)
    if image.ndim == 2 and (tables == tables[0]).all():
        result[:] = cv2.LUT(image, tables[0])
        return result
    for channel, table in enumerate(tables):
        result[channel] = cv2.LUT(image if image.ndim == 2 else image[:, :, channel], table)
    return result


@lru_cache(maxsize=8)
def _byte_tables(scaling: _Scaling) -> np.ndarray:
    """Return float32 (channels,1,256), read-only: the network's input for each 8-bit value."""
    tables = _compute(np.arange(256, dtype=np.uint8)[None], scaling)
    tables.setflags(write=False)
    return tables


def _compute(image: np.ndarray, scaling: _Scaling) -> np.ndarray:
    values = _to_full_scale(image, scaling)
    if scaling.channels == 1 and values.ndim == 3:
        # In float, not in the image's integer type, so that bit depths agree.
        values = cv2.transform(values, LUMA)
    values = values - np.float32(scaling.low)
    values *= np.float32(1.0 / (scaling.high - scaling.low))
    np.clip(values, MIN_VALUE, MAX_VALUE, out=values)
    result = np.empty((scaling.channels, *image.shape[:2]), np.float32)
    for channel in range(scaling.channels):
        plane = values if values.ndim == 2 else values[:, :, channel]
        np.subtract(plane, np.float32(scaling.mean[channel]), out=result[channel])
        result[channel] *= np.float32(1.0 / scaling.std[channel])
    return result


def _to_full_scale(image: np.ndarray, scaling: _Scaling) -> np.ndarray:
    if image.dtype == np.uint8 or image.dtype == np.uint16:
        return _table(image.dtype.name, float(scaling.full_scale))[image]
    if image.dtype != np.float32:
        raise ValueError(f"an image is uint8, uint16 or float32, not {image.dtype}")
    values = image * np.float32(scaling.full_scale)
    return np.nan_to_num(values, copy=False, nan=scaling.low, posinf=np.inf, neginf=-np.inf)


@lru_cache(maxsize=8)
def _table(dtype: str, full_scale: float) -> np.ndarray:
    # In double precision, so that equal values in 8 and 16 bits agree to the last bit.
    maximum = np.iinfo(dtype).max
    table = (np.arange(maximum + 1, dtype=np.float64) / maximum * full_scale).astype(np.float32)
    table.setflags(write=False)
    return table
