"""Counts and figures of labels and predicted masks, through the code that evaluates a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.core.evaluation.figures import Figures, mask_figures
from workbench.core.evaluation.stored_predictions import (
    ImageCounts,
    collect_prediction,
    cut_patches,
    evaluate_prediction,
)
from workbench.inference.model_settings import ClassSettings, ModelSettings

Pair = tuple[np.ndarray, np.ndarray]  # label and prediction, uint8 (H, W) with class ids


def count_masks(truth: np.ndarray, predicted: np.ndarray, ids: Sequence[int], key: str = "a") -> ImageCounts:
    """Return the counts of one image. ids: classes of the model."""
    classes = tuple(ClassSettings(id, f"class {id}", "#ff0000") for id in ids)
    rest = {"thresholds": (0.5,) * len(ids), "min_area": (0,) * len(ids)}
    settings = ModelSettings(task="segmentation", name="m", classes=classes, **rest)
    scores = np.stack([np.where(predicted == id, 255, 0).astype(np.uint8) for id in ids])
    return evaluate_prediction(collect_prediction(key, truth, cut_patches(scores), ids), settings).counts


def figures_of(pairs: Sequence[Pair], classes: Mapping[int, str], parts: Sequence[str] | None = None) -> Figures:
    """Return the figures of pairs. parts: part shown by each image, by default another one for each."""
    counts = [count_masks(*pair, list(classes)) for pair in pairs]
    return mask_figures(counts, parts or [str(number) for number in range(len(pairs))], classes)
