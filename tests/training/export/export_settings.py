"""Images and settings of small exports."""

from __future__ import annotations

import numpy as np

from workbench.inference.model_settings import ClassSettings, ModelSettings

SETTINGS = ModelSettings(
    task="segmentation",
    name="n",
    classes=(ClassSettings(1, "a", "#ff0000"),),
    thresholds=(0.5,),
    min_area=(0,),
    tile=64,
    overlap=16,
    multiple=8,
)


def bright(batch: np.ndarray) -> np.ndarray:
    """Network that detects bright pixels."""
    chance = np.clip(batch[:, 0], 0, 1)
    return np.stack([1 - chance, chance], axis=1).astype(np.float32)


def spots() -> np.ndarray:
    image = np.full((100, 120), 20, np.uint8)
    image[10:30, 10:40], image[60:64, 90:93] = 220, 200
    return image
