"""Image descriptor of some two hundred numbers, cheap to compute. Similar images have a high cosine similarity."""

from __future__ import annotations

import numpy as np

from workbench.inference.io.opencv import cv2

_EDGE, _CELLS, _COARSE, _ORIENTATIONS = 64, 4, 8, 8
SIZE = _COARSE**2 + _CELLS**2 * _ORIENTATIONS + 6


def describe(image: np.ndarray) -> np.ndarray:
    """Return a descriptor, float32 (SIZE,) of length 1, of an image (H, W) or (H, W, 3), uint8, uint16 or float32.

    It has three parts: the coarse brightness distribution, histograms of edge directions in cells (after Dalal and
    Triggs, 2005), and the tone distribution including outliers, which respond to small defects.
    """
    gray = small_gray(image, _EDGE, _EDGE)
    mean, spread = float(gray.mean()), float(gray.std())
    maximum = max(1e-6, float(np.abs(gray).max()))
    flat = (gray - mean) / (spread + 0.01 * maximum)
    coarse = cv2.resize(flat, (_COARSE, _COARSE), interpolation=cv2.INTER_AREA).ravel()
    fine = flat - cv2.GaussianBlur(flat, (0, 0), 3)
    tails = np.quantile(fine, (0.002, 0.02, 0.98, 0.998)) / 4
    aspect = np.log2(image.shape[1] / image.shape[0]) / 4
    tones = np.array([*tails, mean / maximum - 0.5, aspect])
    parts = (0.5 * _unit(coarse), 0.7 * _unit(_directions(flat)), 0.5 * np.clip(tones, -1, 1))
    return _unit(np.concatenate(parts)).astype(np.float32)


def small_gray(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """Return the area means as float32 (height, width); non-finite values become the smallest finite one."""
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    if small.ndim == 3:
        small = small.mean(axis=2)
    finite = np.isfinite(small)
    return small if finite.all() else np.where(finite, small, small[finite].min() if finite.any() else 0)


def _directions(flat: np.ndarray) -> np.ndarray:
    dx, dy = cv2.Sobel(flat, cv2.CV_32F, 1, 0), cv2.Sobel(flat, cv2.CV_32F, 0, 1)
    strength = np.hypot(dx, dy)
    orientation = np.floor(np.arctan2(dy, dx) % np.pi / np.pi * _ORIENTATIONS).astype(int) % _ORIENTATIONS
    cell = np.arange(_EDGE) * _CELLS // _EDGE
    bin_index = (cell[:, None] * _CELLS + cell[None, :]) * _ORIENTATIONS + orientation
    return np.sqrt(np.bincount(bin_index.ravel(), strength.ravel(), _CELLS**2 * _ORIENTATIONS))


def _unit(values: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(values))
    return values / length if length > 1e-9 else values
