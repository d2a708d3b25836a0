"""Evaluation of all images at one operating point, several in parallel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from workbench.core.evaluation.evaluation_summary import EvaluationSummary, summarize
from workbench.core.evaluation.image_ranking import ScoredImage, scored_images
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.stored_predictions import ImageEvaluation, StoredPrediction, evaluate_prediction
from workbench.inference.cpu_environment import cores
from workbench.inference.model_settings import ModelSettings

THREADS = min(4, cores())  # OpenCV and NumPy release the interpreter lock most of the time


@dataclass(frozen=True)
class EvaluatedImages:
    """Evaluation at an operating point. evaluations, images: one per image, in the order of the predictions."""

    point: OperatingPoint
    evaluations: list[ImageEvaluation]
    figures: EvaluationSummary
    images: list[ScoredImage]

    @property
    def place(self) -> tuple[float, float]:
        """Recall of defects and precision of regions; NaN if there is nothing to count."""
        regions = sum(result.counts.regions for result in self.evaluations)
        precision = 1 - self.figures.false.count / regions if regions else float("nan")
        recall = self.figures.found.value
        return float("nan") if recall is None else recall, precision


def evaluate_images(
    predictions: list[StoredPrediction], settings: ModelSettings, point: OperatingPoint, cancelled: Callable[[], bool]
) -> EvaluatedImages | None:
    """Evaluate at `point`. Return None as soon as `cancelled` returns True."""
    settings_at_point = point.on(settings)
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(
            pool.map(lambda item: None if cancelled() else evaluate_prediction(item, settings_at_point), predictions)
        )
    evaluations = [result for result in results if result is not None]
    if len(evaluations) < len(predictions):
        return None
    ids = [entry.id for entry in settings.classes]
    alarms = {id: [sum(alarm.class_id == id for alarm in result.alarms) for result in evaluations] for id in ids}
    pixels = sum(item.width * item.height for item in predictions)
    return EvaluatedImages(
        point,
        evaluations,
        summarize(
            [result.counts for result in evaluations],
            [item.group for item in predictions],
            ids,
            alarms=alarms,
            marked=sum(result.marked for result in evaluations) / max(1, pixels),
        ),
        scored_images(predictions, evaluations),
    )
