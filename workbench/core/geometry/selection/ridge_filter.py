"""Multi-scale ridge measure for thin dark or bright lines such as cracks."""

from __future__ import annotations

import numpy as np

from workbench.inference.io.opencv import cv2

_SECOND_DERIVATIVE = np.array([[1, -2, 1]], np.float32)
_MIXED_DERIVATIVE = np.array([[0.25, 0, -0.25], [0, 0, 0], [-0.25, 0, 0.25]], np.float32)
# Weight of the curvature along the line, which is high for blobs.
_BLOB_PENALTY = 0.25


def scales_for(widest: float) -> list[float]:
    """Return the Gaussian sigmas for lines up to `widest` pixels wide: from 1, each about 1.5 times the last."""
    last = max(1.0, widest / 3)
    count = max(1, round(np.log(last) / np.log(1.5))) + 1 if last > 1.1 else 1
    return [float(s) for s in np.geomspace(1.0, last, count)]


def ridges(light: np.ndarray, *, widest: float = 9.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the strengths of dark and of bright lines at each pixel of `light`, each float32 (h, w) >= 0.

    The larger eigenvalue of the Hessian at the scale of maximum response, scaled by sigma squared (Lindeberg 1998, Sato
    et al. 1998), minus a part of the other one, so that edges and spots count less than lines.
    """
    dark = bright = np.zeros(light.shape, np.float32)
    for sigma in scales_for(widest):
        smooth = cv2.GaussianBlur(light, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
        xx = cv2.filter2D(smooth, -1, _SECOND_DERIVATIVE, borderType=cv2.BORDER_REPLICATE)
        yy = cv2.filter2D(smooth, -1, _SECOND_DERIVATIVE.T, borderType=cv2.BORDER_REPLICATE)
        xy = cv2.filter2D(smooth, -1, _MIXED_DERIVATIVE, borderType=cv2.BORDER_REPLICATE)
        mean, spread = (xx + yy) * np.float32(0.5), cv2.magnitude((xx - yy) * np.float32(0.5), xy)
        scale = np.float32(sigma * sigma)
        high, low = (mean + spread) * scale, (mean - spread) * scale
        penalty = np.float32(_BLOB_PENALTY)
        strengths = high - penalty * np.abs(low), -low - penalty * np.abs(high)
        dark, bright = np.maximum(dark, strengths[0]), np.maximum(bright, strengths[1])
    return dark, bright


def cost_of(ridge: np.ndarray) -> np.ndarray:
    """Return the cost of entering a pixel, float32 (h, w) in (0, 1]: 1 without a line, much less on a clear one."""
    scale = float(np.quantile(ridge[:: max(1, ridge.shape[0] // 256), :: max(1, ridge.shape[1] // 256)], 0.95))
    if scale <= 1e-6:
        return np.ones_like(ridge)
    relative = ridge * np.float32(1 / scale)
    return 1 / (1 + 20 * relative * np.sqrt(relative))
