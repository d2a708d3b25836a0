"""Validation during a run: metrics of the network, and a decision if its weights are the best so far."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite
from workbench.core.runs.dataset import Item
from workbench.core.runs.events import Evaluated, Trouble
from workbench.inference.model_settings import ModelSettings
from workbench.training import networks
from workbench.training.evaluator import DygraphEngine, Evaluation
from workbench.training.training_context import TrainingContext


def validate(stage: TrainingContext) -> bool:
    """Evaluate on validation images and keep the weights if they are the best. Return False if stopped in between.

    Raise EngineError if the network's output is not finite.
    """
    course, items = stage.course, stage.validation_items()
    stage.ranks.wait_idle()
    limit = None if course.subset else stage.budget.evaluation_seconds(stage.recipe.validations)
    found = stage.judge.evaluate(
        DygraphEngine(stage.learner.mean),
        stage.settings,
        items,
        choose=True,
        most_seconds=limit,
        cancelled=lambda: stage.orders.stop,
    )
    if found is None and items:
        return False
    if found is not None and course.subset is None:
        course.subset = found.keys
        _plan_end(stage, found)
    score = found.score if found else None
    keys = set(found.keys) if found is not None else set()
    seen = [item for item in items if item.key in keys]
    telling = sum(stage.recipe.model == "resnet" or bool(item.classes) for item in seen)
    better = (
        stage.best.consider(score, telling) or not items
    )  # without validation images the newest weights are the best
    if better:
        settings = found.settings if found else stage.judge.unseen(stage.settings)
        better = _keep(stage, settings, score)
    if found is not None:
        stage.report(Evaluated(step=course.step, metrics=found.metrics, score=score, best=better))
        _warn(stage, found)
    return True


def _keep(stage: TrainingContext, settings: ModelSettings, score: float | None) -> bool:
    try:
        stage.best.store(stage.learner.mean, settings, step=stage.course.step, score=score)
    except CannotWrite as problem:
        stage.report(Trouble(what=Message.of(problem), done=Message("training.best_kept")))
        return False
    return True


def _plan_end(stage: TrainingContext, found: Evaluation) -> None:
    """Reserve the time that the final evaluation of all validation/test images will take."""
    segments = stage.recipe.model == "unet"
    images = stage.dataset.of("val", "test")
    looked = [item for item in images if item.key in set(found.keys)]
    seconds = found.seconds * _cost(images, segments) / max(1.0, _cost(looked, segments))
    if stage.device.is_gpu:  # a CPU computes in ONNX Runtime then, which compensates for the mirrored passes
        seconds *= 1 + len(networks.mirrored(stage.recipe))
    most = stage.budget.final_evaluation_seconds() or 0.0
    stage.course.reserve = stage.budget.reserve = stage.best.writing_seconds + min(most, seconds)


def _warn(stage: TrainingContext, found: Evaluation) -> None:
    if found.metrics.get("only_background") and (stage.progress > 0.3 or stage.course.round):
        what = Message("training.only_background")
        done = Message("training.may_still_begin")
        stage.report(Trouble(what=what, done=done))


def _cost(items: Sequence[Item], segments: bool) -> float:
    """Return the relative cost of evaluating these images, without unit."""
    return float(sum(item.width * item.height if segments else 1 for item in items))
