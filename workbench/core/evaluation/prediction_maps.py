"""Prediction for an image, with which other thresholds can be applied without repeated inference."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.project.project import NOT_LABELED
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import apply_thresholds

MOST_BYTES = 96 << 20  # largest size of the class probabilities kept per image


@dataclass(frozen=True, eq=False)
class PredictionMaps:
    """Prediction for one image.

    mask: uint8 (H, W) class ids, NOT_LABELLED where nothing was predicted. scores: uint8 (H, W), 255 * greatest
    probability of any class. planes: uint8 (n, H, W), 255 * probability of each class; None if too large. settings:
    those of the mask; None if unknown. step: training step, for a preview of an active run.
    """

    mask: np.ndarray
    scores: np.ndarray
    planes: np.ndarray | None = None
    settings: ModelSettings | None = None
    step: int | None = None

    @property
    def class_probabilities(self) -> np.ndarray | None:
        """255 * class probability, uint8 (n, H, W); for a single class equal to `scores`. None if not kept."""
        single_class = self.settings is not None and len(self.settings.classes) == 1
        return self.scores[None] if single_class and self.planes is None else self.planes

    @property
    def adjustable(self) -> bool:
        """True if other thresholds can be applied."""
        return self.settings is not None and self.class_probabilities is not None

    def with_thresholds(self, thresholds: Sequence[float]) -> np.ndarray:
        """Return the mask at other thresholds (one per class), uint8 (H, W), identical to a prediction with them.

        For a partial preview, only that part is set. Takes some milliseconds per megapixel and class.
        """
        planes = self.class_probabilities
        assert self.settings is not None and planes is not None
        if tuple(thresholds) == self.settings.thresholds:
            return self.mask
        mask, _ = apply_thresholds(planes, dataclasses.replace(self.settings, thresholds=tuple(thresholds)))
        mask[self.mask == NOT_LABELED] = NOT_LABELED
        return mask

    def uncertainty(self) -> np.ndarray:
        """Return the uncertainty, uint8 (H, W): 255 for equal, 0 for certain probabilities.

        This is the margin of Scheffer, Decomain and Wrobel 2001 between the two most probable classes, including
        background. Without class probabilities, all classes count as one.
        """
        planes = self.class_probabilities
        planes = self.scores[None] if planes is None else planes
        if len(planes) == 1:
            margin = np.abs(2 * planes[0].astype(np.int16) - 255)
        else:
            first = np.zeros(planes.shape[1:], np.uint8)
            second = first.copy()
            rest = np.full(first.shape, 255, np.int16)  # remaining probability, of the background
            for plane in planes:
                rest -= plane
                np.maximum(second, np.minimum(first, plane), out=second)
                np.maximum(first, plane, out=first)
            background = np.clip(rest, 0, 255).astype(np.uint8)
            np.maximum(second, np.minimum(first, background), out=second)
            np.maximum(first, background, out=first)
            margin = first.astype(np.int16) - second
        result = (255 - np.minimum(margin, 255)).astype(np.uint8)
        result[self.mask == NOT_LABELED] = 0
        return result

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.mask, self.scores, self.planes) if array is not None)


class ActivationMap(PredictionMaps):
    """Heat map of a verdict, stored as `scores`. It has no marked regions and no uncertainty."""

    def uncertainty(self) -> np.ndarray:
        return np.zeros_like(self.scores)
