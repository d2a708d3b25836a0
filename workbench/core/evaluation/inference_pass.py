"""Inference on a run's validation and test images for an evaluation, with cached results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from workbench.core.evaluation.operating_point_sweep import ThresholdCounts, count_thresholds
from workbench.core.evaluation.prediction_cache import PredictionCache
from workbench.core.evaluation.stored_predictions import (
    ProbabilityPatch,
    StoredPrediction,
    collect_prediction,
    cut_patches,
)
from workbench.core.images.image_files import image_size, read
from workbench.core.messages import Message
from workbench.core.problems import MaskBroken, Problem
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Item
from workbench.core.runs.run import Run
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import PredictionCancelled, Predictor


@dataclass
class PassResult:
    """Result. changed: number of labels that differ from those at training. skipped: unusable images with problems."""

    predictions: list[StoredPrediction] = field(default_factory=list)
    changed: int = 0
    skipped: dict[str, Problem] = field(default_factory=dict)


class InferencePass:
    """Inference for one run of a project. The network is loaded at the first image without a cached result."""

    def __init__(self, project: Project, run: Run, settings: ModelSettings) -> None:
        self._project, self._run, self._settings = project, run, settings
        self._cache = PredictionCache(project, run, settings)
        self._predictor: Predictor | None = None

    def over(
        self, items: Sequence[Item], *, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> PassResult | None:
        """Return stored predictions with the current labels, or None if cancelled.

        Results so far stay cached. Raises EngineError.
        """
        try:
            return self._predict_all(items, progress, cancelled)
        finally:
            self._predictor = None  # free the network's memory

    def _predict_all(
        self, items: Sequence[Item], progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> PassResult | None:
        result = PassResult()
        classes = [entry.id for entry in self._settings.classes]
        for number, item in enumerate(items, start=1):
            if cancelled():
                return None
            try:
                size, patches = self._patches(item.key, cancelled)
                truth = annotation.load_mask(self._project, item.key, size)
                path = self._project.mask_path(item.key)
                if truth is None:
                    raise MaskBroken(path=str(path), why=Message("file.gone"))
                label = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
                result.predictions.append(collect_prediction(item.key, truth, patches, classes, item.group, label))
                result.changed += label != item.mask_hash
            except PredictionCancelled:
                return None
            except Problem as problem:
                result.skipped[item.key] = problem
            progress(number, len(items))
        return result

    def tallies(self, prediction: StoredPrediction) -> tuple[ThresholdCounts, ...]:
        """Return the counts at other operating points, cached until the label changes."""
        classes = len(self._settings.classes)
        counts = self._cache.read_counts(prediction, classes)
        if counts is None:
            counts = count_thresholds(prediction, classes)
            self._cache.write_counts(prediction, counts)
        return counts

    def _patches(self, key: str, cancelled: Callable[[], bool]) -> tuple[tuple[int, int], list[ProbabilityPatch]]:
        path = self._project.image_path(key)
        cached = self._cache.read(key)
        if cached is not None and cached[0] == image_size(path):
            return cached
        image = read(path)
        if self._predictor is None:
            self._predictor = Predictor.open(self._run.best, engine="onnx")
        result = self._predictor.predict(image, cancelled=cancelled, keep_probabilities=True)
        assert result.class_scores is not None
        size = (image.shape[1], image.shape[0])
        patches = cut_patches(result.class_scores, self._cache.min_probability)
        self._cache.write(key, size, patches)
        return size, patches
