"""Validation during a run: metrics of the network, and a decision if its weights are the best so far. Smaller tiles are
used if the memory is insufficient.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite
from workbench.core.runs.dataset import Item
from workbench.core.runs.events import Evaluated, Trouble
from workbench.inference.model_settings import ModelSettings
from workbench.training import networks
from workbench.training.device import Device, release_memory
from workbench.training.evaluator import DygraphEngine, Evaluation
from workbench.training.training_context import TrainingContext

_MIN_TILE = 64  # network pixels

Result = TypeVar("Result")


def within_memory(
    evaluate: Callable[[ModelSettings], Result],
    settings: ModelSettings,
    device: Device,
    reduced: Callable[[ModelSettings], None] = lambda settings: None,
) -> Result:
    """Return the result of `evaluate`, repeated with smaller tiles while the memory is insufficient.

    reduced: called with the settings of each repetition. Raises MemoryError.
    """
    while True:
        try:
            return evaluate(settings)
        except MemoryError:
            smaller = smaller_tile(settings)
            if smaller is None:
                raise
        settings = smaller
        release_memory(device)
        reduced(settings)


def smaller_tile(settings: ModelSettings) -> ModelSettings | None:
    """Return settings with half the tile, for less memory; None if the network accepts no smaller one."""
    if settings.task == "classification":
        return None
    tile = settings.tile // 2 // settings.multiple * settings.multiple
    if tile < max(_MIN_TILE, settings.multiple):
        return None
    return dataclasses.replace(settings, tile=tile, overlap=min(settings.overlap, tile // 2))


def validate(context: TrainingContext) -> bool:
    """Evaluate on validation images and keep the weights if they are the best. Return False if stopped in between.

    Raise NotFiniteError if the network's output is not finite, EngineError if it cannot be computed, and MemoryError if
    even the smallest tile does not fit into the memory.
    """
    progress, items = context.state, context.validation_items()
    context.ranks.wait_idle()
    limit = None if progress.subset else context.budget.evaluation_seconds(context.settings.validations)

    def evaluate(settings: ModelSettings) -> Evaluation | None:
        return context.evaluator.evaluate(
            DygraphEngine(context.learner.mean),
            settings,
            items,
            choose=True,
            most_seconds=limit,
            cancelled=lambda: context.control.stop,
        )

    evaluation = within_memory(evaluate, context.model_settings, context.device, context.use_tile)
    if evaluation is None and items:
        return False
    if evaluation is not None and progress.subset is None:
        progress.subset = evaluation.keys
        reserve_time(context, evaluation)
    elif evaluation is not None and evaluation.keys != progress.subset:
        progress.subset, context.best.peak = evaluation.keys, {}  # metrics of other images are not comparable
    score = evaluation.score if evaluation else None
    # Without validation images the newest weights are the best.
    fitted = context.keeps_fitted
    better = context.best.is_best(score, evaluation.score_sums if evaluation else {}, fitted=fitted)
    better = better or (not items and not fitted)
    if better:
        settings = evaluation.settings if evaluation else context.evaluator.default_settings(context.model_settings)
        better = _store_best(context, settings, score)
    if evaluation is not None:
        context.report(Evaluated(step=progress.step, metrics=evaluation.metrics, score=score, best=better))
        _warn(context, evaluation)
    return True


def _store_best(context: TrainingContext, settings: ModelSettings, score: float | None) -> bool:
    try:
        context.best.store(context.learner.mean, settings, step=context.state.step, score=score)
    except CannotWrite as problem:
        context.report(Trouble(what=Message.of(problem), done=Message("training.best_kept")))
        return False
    return True


def reserve_time(context: TrainingContext, evaluation: Evaluation) -> None:
    """Reserve the time that the final evaluation of all validation/test images will take."""
    segments = context.settings.model == "unet"
    images = context.dataset.of("val", "test")
    evaluated = [item for item in images if item.key in set(evaluation.keys)]
    seconds = evaluation.seconds * _cost(images, segments) / max(1.0, _cost(evaluated, segments))
    if context.device.is_gpu:  # a CPU computes in ONNX Runtime then, which compensates for the mirrored passes
        seconds *= 1 + len(networks.mirrored(context.settings))
    limit = context.budget.final_evaluation_seconds() or 0.0
    context.state.reserve = context.budget.reserve = context.best.writing_seconds + min(limit, seconds)


def _warn(context: TrainingContext, evaluation: Evaluation) -> None:
    if evaluation.metrics.get("only_background") and (context.progress > 0.3 or context.state.round):
        what = Message("training.only_background")
        done = Message("training.may_still_begin")
        context.report(Trouble(what=what, done=done))


def _cost(items: Sequence[Item], segments: bool) -> float:
    """Return the relative cost of evaluating these images, without unit."""
    return float(sum(item.width * item.height if segments else 1 for item in items))
