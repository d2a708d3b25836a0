"""What a model saw in a picture, and what it would say with other thresholds: no network is asked for that."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.project import NOT_LABELLED
from workbench.inference.predictor import apply_thresholds
from workbench.inference.settings import ModelSettings

MOST_BYTES = 96 << 20  # of scores class by class that are kept of one picture


@dataclass(frozen=True, eq=False)
class Seen:
    """mask: uint8 (H, W) class ids, NOT_LABELLED where the model did not look. scores: uint8 (H, W), 255 times the
    greatest probability of any class. planes: uint8 (n, H, W), that of each class; None where they would take too much
    memory. settings: what the mask was made with; None if that is not known. step: of a run under way.
    """

    mask: np.ndarray
    scores: np.ndarray
    planes: np.ndarray | None = None
    settings: ModelSettings | None = None
    step: int | None = None

    @property
    def class_scores(self) -> np.ndarray | None:
        """uint8 (n, H, W); the scores of a single class are the greatest ones."""
        one = self.settings is not None and len(self.settings.classes) == 1
        return self.scores[None] if one and self.planes is None else self.planes

    @property
    def adjustable(self) -> bool:
        """Whether other thresholds can be tried."""
        return self.settings is not None and self.class_scores is not None

    def with_thresholds(self, thresholds: Sequence[float]) -> np.ndarray:
        """uint8 (H, W): the mask with other thresholds, one a class, to the byte what the model would then give.

        Of a preview of a part of a picture, that part. Takes some milliseconds a megapixel and class.
        """
        planes = self.class_scores
        assert self.settings is not None and planes is not None
        if tuple(thresholds) == self.settings.thresholds:
            return self.mask
        mask, _ = apply_thresholds(planes, dataclasses.replace(self.settings, thresholds=tuple(thresholds)))
        mask[self.mask == NOT_LABELLED] = NOT_LABELLED
        return mask

    def doubt(self) -> np.ndarray:
        """uint8 (H, W): 255 where the two likeliest answers, background among them, are as likely, 0 where one is sure.

        The margin of Scheffer, Decomain and Wrobel 2001. Without the scores of each class they count as one.
        """
        planes = self.class_scores
        planes = self.scores[None] if planes is None else planes
        if len(planes) == 1:
            margin = np.abs(2 * planes[0].astype(np.int16) - 255)
        else:
            first = np.zeros(planes.shape[1:], np.uint8)
            second = first.copy()
            rest = np.full(first.shape, 255, np.int16)  # what is left for the background
            for plane in planes:
                rest -= plane
                np.maximum(second, np.minimum(first, plane), out=second)
                np.maximum(first, plane, out=first)
            ground = np.clip(rest, 0, 255).astype(np.uint8)
            np.maximum(second, np.minimum(first, ground), out=second)
            np.maximum(first, ground, out=first)
            margin = first.astype(np.int16) - second
        found = (255 - np.minimum(margin, 255)).astype(np.uint8)
        found[self.mask == NOT_LABELLED] = 0
        return found

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in (self.mask, self.scores, self.planes) if array is not None)


class Heat(Seen):
    """Where a model looked before it gave a verdict, told as scores; it marks nothing, and of doubt it says nothing."""

    def doubt(self) -> np.ndarray:
        return np.zeros_like(self.scores)
