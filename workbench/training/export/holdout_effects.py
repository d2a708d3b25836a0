"""Cost of the choices made at export, measured on images that the network was not trained on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.core.evaluation.image_ranking import ScoredImage
from workbench.core.evaluation.operating_point import ChosenRule
from workbench.core.evaluation.verdict_rules import choose_rule
from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.problems import BadSettings, Problem
from workbench.core.project import annotation
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.held_out import stratified_order
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import Engine, Predictor
from workbench.training.evaluator import Evaluator
from workbench.training.threshold_search import ThresholdSweep

POINTS = ("balanced", "more", "fewer")  # as validated; more defects found; fewer false alarms
_BETA = {"more": 2.0, "fewer": 0.5}  # weight of missed relative to false pixels (van Rijsbergen's F)
_SECONDS = 20.0  # time limit of one evaluation


def measure_effects(dataset: Dataset) -> tuple[list[Item], str]:
    """Return the validation/test images and ""; without any, the training images and a note."""
    items = dataset.of("val", "test")
    if items:
        return stratified_order(items), ""
    return stratified_order(dataset.of("train")), "No picture is held out, so these were learned from."


def measure(
    project: Project,
    dataset: Dataset,
    engines: dict[str, Engine],
    settings: ModelSettings,
    items: Sequence[Item],
    *,
    cancelled: Callable[[], bool],
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, dict[str, Any]]:
    """Return metrics of each engine on the same images: as many as the first engine evaluates within `_SECONDS`.

    Each: {"pictures", "dice", "found", "defects", "false_per_picture"}, for verdicts {"pictures", "accuracy",
    "macro_f1"}. Engines that fail are missing; all are if no image can be read.
    """
    evaluator = Evaluator(project, dataset)
    metrics: dict[str, dict[str, Any]] = {}
    for number, (name, engine) in enumerate(engines.items()):

        def report_progress(done: int, total: int, number: int = number) -> None:
            progress((number + done / total) / len(engines))

        try:
            report = evaluator.evaluate(
                engine,
                settings,
                items,
                most_seconds=None if metrics else _SECONDS,
                cancelled=cancelled,
                progress=report_progress,
            )
        except Exception:  # parity has reported any such failure already
            continue
        if report is None:
            break
        if not metrics:
            items = [item for item in items if item.key in set(report.keys)]
        metrics[name] = _short(report.metrics)
    return metrics


def _short(metrics: dict[str, Any]) -> dict[str, Any]:
    if "macro_f1" in metrics:
        return {name: metrics[name] for name in ("pictures", "accuracy", "macro_f1")}
    regions = metrics["regions"]
    return {
        "pictures": metrics["pictures"],
        "dice": metrics["dice"],
        "found": regions["found"],
        "defects": regions["defects"],
        "false_per_picture": regions["false_per_picture"],
    }


def move_thresholds(
    point: str,
    settings: ModelSettings,
    engine: Engine,
    project: Project,
    items: Sequence[Item],
    *,
    tick: Callable[[float], None],
) -> ModelSettings:
    """Return settings at an operating point: one of POINTS, or a probability for every class ("0.35").

    For verdicts a probability is the minimum at which a verdict is given. "more" and "fewer" are the thresholds of the
    best F with a missed pixel weighted 2 or 0.5, never on the wrong side of the validated thresholds.
    Raises BadSettings.
    """
    if point == "balanced":
        return settings
    if settings.task == "classification":
        if point in _BETA:
            why = Message("export.verdict_point")
            raise BadSettings(key="point", value=point, why=why)
        return dataclasses.replace(settings, unsure=min(_probability(point), 0.999))
    if point not in _BETA:
        return dataclasses.replace(settings, thresholds=(_probability(point),) * len(settings.classes))
    sweep = ThresholdSweep(tuple(entry.id for entry in settings.classes))
    predictor = Predictor(settings, engine)
    for number, (item, image, mask) in enumerate(_labeled_images(project, items), start=1):
        scores = predictor.predict(image, name=item.key, keep_probabilities=True).class_scores
        assert scores is not None
        sweep.add(mask, scores)
        tick(number / len(items))
    side = min if point == "more" else max
    moved = [side(before, after) for before, after in zip(settings.thresholds, _best(sweep, _BETA[point], settings))]
    return dataclasses.replace(settings, thresholds=tuple(moved))


def refit_rule(
    stored: ChosenRule | None, settings: ModelSettings, engine: Engine, project: Project, items: Sequence[Item]
) -> ModelSettings:
    """Return settings whose verdict rule fits their thresholds, on which the anomaly score depends.

    stored: rule of the run. A rule chosen by budget or cost is chosen again on `items`; others stay.
    """
    if settings.verdict_rule is None or stored is None or not stored.choice.measured:
        return settings
    predictor, images = Predictor(settings, engine), []
    for item, image, mask in _labeled_images(project, items):
        table = predictor.predict(image, name=item.key).table
        assert table is not None
        defective = bool(((mask > 0) & (mask <= MAX_CLASS_ID)).any())
        images.append(ScoredImage(item.key, item.part, defective, table))
    return dataclasses.replace(settings, verdict_rule=choose_rule(stored.choice, images)) if images else settings


def _labeled_images(project: Project, items: Sequence[Item]) -> Iterator[tuple[Item, np.ndarray, np.ndarray]]:
    """Yield each item with its image and its mask, without those that cannot be read or have no label."""
    for item in items:
        try:
            image = read(project.image_path(item.key))
            mask = annotation.load_truth(project, item.key, (image.shape[1], image.shape[0]))
        except Problem:
            continue
        if mask is not None:
            yield item, image, mask


def _best(sweep: ThresholdSweep, beta: float, settings: ModelSettings) -> list[float]:
    levels = np.arange(2, 99) / 100
    at = np.ceil(255 * levels - 1e-9).astype(int)
    chosen = []
    for right, wrong, missed, before in zip(sweep.right, sweep.wrong, sweep.missed, settings.thresholds):
        real = right.sum() + missed
        if not real:
            chosen.append(before)
            continue
        hit, false = (counts[::-1].cumsum()[::-1][at] for counts in (right, wrong))
        chosen.append(float(levels[np.argmax((1 + beta**2) * hit / (hit + false + beta**2 * real))]))
    return chosen


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        why = Message("export.point", names=", ".join(POINTS))
        raise BadSettings(key="point", value=text, why=why)
    return value
