"""Test of a model under changed lighting: metrics of the held-out images with another brightness, contrast, sharpness.

A network may have learned the exposure of the training images instead of the defects. On further images of the same
exposure such a model looks excellent; changed copies of the held-out images show the fault without new images.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings

MAX_SECONDS = 20.0  # of the test after a training
MAX_IMAGES = 150


def _blur(values: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(values, (0, 0), 0.8)


def _uneven(values: np.ndarray) -> np.ndarray:
    """Brighten toward the right and darken toward the left by a tenth of the range."""
    plane = np.linspace(-0.1, 0.1, values.shape[1], dtype=np.float32)
    return values + (plane if values.ndim == 2 else plane[:, None])


def _contrast(factor: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: (values - values.mean()) * np.float32(factor) + values.mean()


def _gamma(exponent: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: np.clip(values, 0, 1) ** np.float32(exponent)


# Changes of values of which 0 to 1 is the range of the training images, float32 (H, W) or (H, W, 3).
CHANGES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "brighter": lambda values: values + np.float32(0.12),
    "darker": lambda values: values - np.float32(0.12),
    "gamma_low": _gamma(0.7),
    "gamma_high": _gamma(1.4),
    "more_contrast": _contrast(1.5),
    "less_contrast": _contrast(0.67),
    "blurred": _blur,
    "uneven": _uneven,
    "noisy": lambda values: values + np.random.default_rng(0).normal(0, 0.02, values.shape).astype(np.float32),
}


def change_lighting(image: np.ndarray, change: str, settings: ModelSettings) -> np.ndarray:
    """Return an image, of any shape and dtype that `normalize` accepts, with one of CHANGES; the dtype is kept.

    The range of the change is that of the training images, low to high of `settings`, so that images of few bits in a
    16-bit file are changed as visibly as others.
    """
    largest = float(np.iinfo(image.dtype).max) if image.dtype.kind == "u" else 1.0
    low, high = (value / settings.full_scale for value in (settings.low, settings.high))
    values = (image.astype(np.float32) / np.float32(largest) - np.float32(low)) / np.float32(max(1e-9, high - low))
    changed = CHANGES[change](values) * np.float32(high - low) + np.float32(low)
    changed = np.clip(changed, 0, 1) * np.float32(largest)
    return (np.rint(changed) if image.dtype.kind == "u" else changed).astype(image.dtype)


def lighting_table(
    measure: Callable[[str | None, int], float | None], images: int, *, seconds: float = MAX_SECONDS
) -> dict[str, Any] | None:
    """Return {"pictures", "unchanged", "changes": {change: metric}, "worst": {"change", "value"}}; None without images.

    measure: returns the metric, 0 to 1, of the first n images with a change, or of the unchanged ones for None; None if
    they have no metric. The first call determines how many images can be measured in `seconds`.
    """
    count = min(images, MAX_IMAGES)
    if not count:
        return None
    started = time.perf_counter()
    unchanged = measure(None, count)
    each = (time.perf_counter() - started) / count
    fitting = int(seconds / max(1e-9, each * (len(CHANGES) + 1)))
    if fitting < count:
        count = max(min(count, 8), fitting)
        unchanged = measure(None, count)
    if unchanged is None:
        return None
    changes = {name: value for name in CHANGES if (value := measure(name, count)) is not None}
    worst = min(changes, key=lambda name: changes[name], default=None)
    return {
        "pictures": count,
        "unchanged": unchanged,
        "changes": changes,
        "worst": None if worst is None else {"change": worst, "value": changes[worst]},
    }
