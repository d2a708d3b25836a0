"""Evaluation of all images at one operating point, several in parallel."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from workbench.core.evaluation.evaluation_summary import EvaluationSummary, summarize
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.stored_predictions import ImageEvaluation, StoredPrediction, evaluate_prediction
from workbench.inference.cpu_environment import cores
from workbench.inference.model_settings import ModelSettings

THREADS = min(4, cores())  # OpenCV and NumPy release the interpreter lock most of the time


@dataclass(frozen=True)
class EvaluatedImages:
    """Evaluation at an operating point. judgements: one per image, in the order of the predictions."""

    point: OperatingPoint
    judgements: list[ImageEvaluation]
    figures: EvaluationSummary

    @property
    def place(self) -> tuple[float, float]:
        """Recall of defects and precision of regions; NaN if there is nothing to count."""
        regions = sum(result.facts.regions for result in self.judgements)
        precision = 1 - self.figures.false.count / regions if regions else float("nan")
        recall = self.figures.found.value
        return float("nan") if recall is None else recall, precision


def evaluate_images(
    evidence: list[StoredPrediction], settings: ModelSettings, point: OperatingPoint, cancelled: Callable[[], bool]
) -> EvaluatedImages | None:
    """Evaluate at `point`. Return None as soon as `cancelled` returns True."""
    settings_at_point = point.on(settings)
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(
            pool.map(lambda item: None if cancelled() else evaluate_prediction(item, settings_at_point), evidence)
        )
    judgements = [result for result in results if result is not None]
    if len(judgements) < len(evidence):
        return None
    ids = [entry.id for entry in settings.classes]
    alarms = {id: [sum(alarm.class_id == id for alarm in result.alarms) for result in judgements] for id in ids}
    pixels = sum(item.width * item.height for item in evidence)
    return EvaluatedImages(
        point,
        judgements,
        summarize(
            [result.facts for result in judgements],
            [item.group for item in evidence],
            ids,
            alarms=alarms,
            marked=sum(result.marked for result in judgements) / max(1, pixels),
        ),
    )
