"""Validation during a run, and the end of a training: export and evaluation of the best weights.

A validation gives metrics of the network, and a decision if its weights are the best so far. Smaller tiles are used if
the memory is insufficient. At the end the best weights are evaluated on all validation and test images.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from workbench.core.evaluation import operating_point
from workbench.core.evaluation.expectation import CHANGES, MAX_SECONDS, forecast, lighting_table
from workbench.core.evaluation.intervals import NewPart, new_part, ratio, sum_by_part
from workbench.core.evaluation.operating_point import ChosenRule
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, Problem
from workbench.core.runs.dataset import Item
from workbench.core.runs.events import Evaluated, Finished, Progress, Trouble
from workbench.core.runs.held_out import stratified_order
from workbench.core.runs.network_stats import is_smaller
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.batch.benchmark import time_calls
from workbench.inference.engines import EngineError
from workbench.inference.model_settings import ModelSettings, SettingsError
from workbench.inference.predictor import Engine, Predictor
from workbench.training import checkpoint, networks, onnx_graph
from workbench.training.device import Device, release_memory
from workbench.training.evaluator import DygraphEngine, Evaluation
from workbench.training.export.export_images import refit_rule
from workbench.training.feature_learning import learn_features
from workbench.training.networks import learn_input
from workbench.training.optimizers import Arrays, weights
from workbench.training.threshold_search import TEMPERATURES
from workbench.training.training_context import TrainingContext

_MIN_TILE = 64  # network pixels

_FEATURE_SECONDS, _SECONDS_AFTER_STOP = 20.0, 3.0  # in which features of images are computed

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


# --- end of a training ----------------------------------------------------------------------------


def finalize_run(context: TrainingContext, *, images_per_second: float) -> Finished:
    """Finish a run, also after a stop. Before the first validation, the newest weights count as the best."""
    best, mean = context.best, context.learner.mean
    if best.step < 0:
        best.store(mean, context.model_settings, step=context.state.step, score=None)
    elif best.step != context.state.step:
        checkpoint.load_best(context.run, mean)
    usable = best.make_usable(mean)
    if context.dataset.joined:
        limits = learn_input(context.project, context.dataset)
        best.choose_final(dataclasses.replace(best.settings, input=limits), best.score)
    result: dict[str, Any] = {"metrics": {}, "score": best.score}
    if context.state.fitted is not None:
        result["fitted"] = _fit_text(context)
    if not context.control.stop:
        result.update(_evaluate_all(context, usable))
    if context.settings.model == "unet":
        result["rule"] = keep_rule(context)
    if usable:
        _learn_features(context)
    summary = {
        "steps": context.state.step,
        "seconds": round(context.clock.elapsed, 2),
        "images_per_second": round(images_per_second, 3),
        "device": context.device.name,
        "precision": context.learner.precision.choice.name,
        "best_step": best.step,
        "usable": usable,
    }
    return Finished(why="stopped" if context.control.stop else "done", result={**result, **summary})


def _learn_features(context: TrainingContext) -> None:
    """Store the features of the training and validation images, for the unlike score."""
    best = context.best
    limit = context.budget.final_evaluation_seconds()
    most = _SECONDS_AFTER_STOP if context.control.stop else _FEATURE_SECONDS
    try:
        known = learn_features(
            context.project,
            context.dataset,
            Predictor.open(context.run.best, engine="onnx"),
            onnx_graph.stage_widths(context.learner.mean),
            seconds=most if limit is None else min(most, limit / 2),
        )
    except (EngineError, SettingsError, OSError) as error:
        context.report(Trouble(what=Message.of(error), done=Message("training.no_unlike_score")))
        return
    best.choose_final(dataclasses.replace(best.settings, unlike=known), best.score)


def keep_rule(context: TrainingContext) -> Message | None:
    """Give the model the verdict rule of the run in use until now. Return what was done, None if that has no rule."""
    best, items = context.best, [] if context.control.stop else context.dataset.of("val")
    found = operating_point.earlier_rule(context.run)
    if found is None:
        return None
    name, stored = found
    try:
        settings = dataclasses.replace(best.settings, verdict_rule=stored.rule)
        if stored.choice.measured:
            if not items:
                return Message("training.rule_lost", run=name, why=Message("training.rule_needs_images"))
            settings = refit_rule(stored, settings, DygraphEngine(context.learner.mean), context.project, items)
    except (SettingsError, EngineError, Problem, MemoryError) as error:
        return Message("training.rule_lost", run=name, why=Message.of(error))
    assert settings.verdict_rule is not None
    chosen_on = ("val",) if stored.choice.measured else stored.chosen_on
    operating_point.record_rule(context.run, ChosenRule(settings.verdict_rule, stored.choice, chosen_on))
    best.choose_final(settings, best.score)
    if stored.choice.measured:
        return Message("training.rule_chosen_again", run=name)
    scored = stored.rule.kind == "mass" or stored.rule.unsure is not None
    return Message("training.rule_by_score" if scored else "training.rule_kept", run=name)


def _fit_text(context: TrainingContext) -> Message:
    """Return the accuracy of the fitted last layer, and whether its network or the one trained further is used."""
    if not context.state.step:
        why = Message("training.fit_alone")
    elif context.best.step:
        why = Message("training.fit_replaced")
    else:
        why = Message("training.fit_kept" if context.dataset.of("val") else "training.fit_not_compared")
    return Message("training.fitted", n=f"{context.state.fitted:.2f}", why=why)


def _evaluate_all(context: TrainingContext, usable: bool) -> dict[str, Any]:
    """Run the final evaluations. Thresholds are chosen on `val`; `test` has influenced nothing."""
    best = context.best
    engine = _evaluation_engine(context, usable)
    result: dict[str, Any] = {}
    # Mirrored evaluation only here: it would take too much time during the run.
    settings = dataclasses.replace(context.model_settings, mirrored=networks.mirrored(context.settings))
    measured: Evaluation | None = None
    evaluation = _evaluate_split(context, engine, "val", settings, choose=True)
    if evaluation is not None:
        best.choose_final(evaluation.settings, evaluation.score)
        result = {"metrics": evaluation.metrics, "score": evaluation.score}
        measured = evaluation
        pruned = compare_networks(context, evaluation) if usable else None
        if pruned is not None:
            result["pruned"] = pruned
        context.report(
            Evaluated(step=best.step, split="val", metrics=evaluation.metrics, score=evaluation.score, best=True)
        )
        if evaluation.metrics.get("only_background"):
            what = Message("training.only_background")
            context.report(Trouble(what=what, done=Message("training.train_longer")))
        if evaluation.settings.temperature in (TEMPERATURES[0], TEMPERATURES[-1]):
            what = Message("training.temperature_edge", n=f"{evaluation.settings.temperature:g}")
            context.report(Trouble(what=what, done=Message("training.probabilities_rough")))
        context.save_last()
    elif not context.dataset.of("val"):
        best.choose_final(dataclasses.replace(best.settings, mirrored=settings.mirrored), best.score)
    tested = _evaluate_split(context, engine, "test", best.settings, choose=False)
    if tested is not None:
        result["test"] = {"metrics": tested.metrics, "score": tested.score}
        measured = tested
        context.report(Evaluated(step=best.step, split="test", metrics=tested.metrics, score=tested.score))
    if measured is not None:
        result |= _expectation(context, engine, measured)
    return result


def _expectation(context: TrainingContext, engine: Engine, evaluation: Evaluation) -> dict[str, Any]:
    """Return {"lighting", "forecast"}: metrics under changed lighting, and the range expected on other parts.

    evaluation: its settings have the tile that fitted into the memory.
    """
    items = {item.key: item for item in context.dataset.items}
    evaluated = [items[key] for key in evaluation.keys]
    changes = [None, *CHANGES]  # the unchanged images may be measured twice

    def measure(change: str | None, count: int) -> float | None:
        done = changes.index(change) + 1
        context.report(Progress(what=Message("progress.lighting"), done=done, total=len(changes)))
        changed = context.evaluator.evaluate(
            engine, evaluation.settings, evaluated[:count], change=change, cancelled=lambda: context.control.stop
        )
        if changed is None:
            return None
        total = sum(denominator for _, denominator in changed.counts)
        return sum(numerator for numerator, _ in changed.counts) / total if total else None

    limit = context.budget.final_evaluation_seconds()
    try:
        lighting = lighting_table(
            measure, len(evaluated), seconds=MAX_SECONDS if limit is None else min(MAX_SECONDS, limit / 2)
        )
    except (EngineError, Problem, MemoryError):  # the metrics themselves are known
        lighting = None
    groups = [item.part for item in evaluated]
    expected = forecast(evaluation.counts, groups, lighting, percent="accuracy" in evaluation.metrics)
    expected = dataclasses.replace(expected, why=(*expected.why, *_forecast_notes(evaluation, groups)))
    return {"lighting": lighting, "forecast": expected.to_json()}


def _forecast_notes(evaluation: Evaluation, groups: Sequence[str]) -> Iterator[Message]:
    """Yield what one new part is expected to have, and how far thresholds and probabilities can be relied on."""
    verdicts = "accuracy" in evaluation.metrics
    single = new_part(sum_by_part(evaluation.counts, groups), ratio)
    if isinstance(single, NewPart):
        limit = f"{100 * single.limit:.0f}%" if verdicts else f"{single.limit:.2f}"
        id = "forecast.new_part_accuracy" if verdicts else "forecast.new_part_dice"
        yield Message(id, limit=limit, probability=math.floor(100 * single.probability))
    else:
        yield single
    chosen_on, error = evaluation.metrics["chosen_on"], evaluation.metrics.get("calibration_error")
    if chosen_on == "cross_fitted" and not verdicts:
        yield Message("forecast.cross_fitted")
    if chosen_on != "same" and error is not None and evaluation.settings.temperature != 1:
        yield Message("forecast.calibrated", n=f"{100 * error:.1f}")


def _evaluation_engine(context: TrainingContext, usable: bool) -> Engine:
    """Return the evaluation engine. On a CPU: the exported network, several times faster there than Paddle."""
    if usable and not context.device.is_gpu:
        try:
            return Predictor.open(context.run.best, engine="onnx").engine
        except (EngineError, SettingsError, OSError) as error:
            context.report(Trouble(what=Message.of(error), done=Message("training.checked_in_paddle")))
    return DygraphEngine(context.learner.mean)


def _evaluate_split(
    context: TrainingContext, engine: Engine, split: str, settings: ModelSettings, *, choose: bool
) -> Evaluation | None:
    items = stratified_order(context.dataset.of(split))
    if not items:
        return None
    max_seconds = context.budget.final_evaluation_seconds()
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        if time.perf_counter() - last > 0.5:
            last = time.perf_counter()
            context.report(Progress(what=Message("progress.evaluating"), done=done, total=total))

    def evaluate(settings: ModelSettings) -> Evaluation | None:
        return context.evaluator.evaluate(
            engine,
            settings,
            items,
            choose=choose,
            cross_fit=choose and not context.dataset.of("test"),
            progress=progress,
            cancelled=lambda: context.control.stop,
            most_seconds=None
            if max_seconds is None
            else max_seconds * len(items) / len(context.dataset.of("val", "test")),
        )

    try:
        evaluation = within_memory(evaluate, settings, context.device)
    except (EngineError, Problem, MemoryError) as error:
        context.report(Trouble(what=Message.of(error), done=Message("training.no_final_metric")))
        return None
    evaluated = 0 if evaluation is None else len(evaluation.keys)
    readable = len(items) - sum(item.key in context.evaluator.skipped for item in items)
    if evaluation is not None and evaluated < readable:
        name = Message("card.test" if split == "test" else "card.validation")
        what = Message("training.partial_evaluation", n=evaluated, m=readable, split=name)
        context.report(Trouble(what=what, done=Message("training.metric_of_these")))
    return evaluation


_TIMING_SECONDS = 1.0  # to measure the speed of each network


def compare_networks(context: TrainingContext, evaluation: Evaluation) -> dict[str, Any] | None:
    """Return {"before": {"run", "widths", "parameters", "dice", "score", "milliseconds"}, "after": {...}, "tile",
    "pictures"}.

    None if the run did not start from a wider UNet, or if that run cannot be used any more, which is reported.
    evaluation: evaluation of this run on the validation/test images. milliseconds: median for one tile in ONNX Runtime
    with its default settings.
    """
    settings = context.settings
    if not settings.start_from:
        return None
    try:
        run = find_run(context.run.project_root, settings.start_from)
        if not is_smaller(settings, run.settings()):
            return None
        earlier, later = (Predictor.open(entry.best, engine="onnx") for entry in (run, context.run))
        items = [item for item in context.dataset.items if item.key in set(evaluation.keys)]
        context.report(Progress(what=Message("progress.comparing_pruned"), done=0, total=len(items)))
        earlier_evaluation = context.evaluator.evaluate(
            earlier.engine, earlier.settings, items, cancelled=lambda: context.control.stop
        )
        before = checkpoint.load_arrays(run.best / checkpoint.WEIGHTS)
    except (Problem, EngineError, SettingsError, OSError) as error:
        context.report(Trouble(what=Message.of(error), done=Message("training.pruning_not_measured")))
        return None
    if earlier_evaluation is None:
        return None
    # Measured alternately, so that other load on this machine affects both networks.
    repetitions = [[_milliseconds(entry.engine, evaluation.settings) for entry in (earlier, later)] for _ in range(2)]
    speeds = np.min(repetitions, axis=0)
    after = weights(context.learner.mean)
    return {
        "before": _network_summary(run, run.settings(), before, earlier_evaluation, speeds[0]),
        "after": _network_summary(context.run, settings, after, evaluation, speeds[1]),
        "tile": evaluation.settings.tile,
        "pictures": len(earlier_evaluation.keys),
    }


def _network_summary(
    run: Run, settings: TrainingSettings, arrays: Arrays, evaluation: Evaluation, milliseconds: float
) -> dict[str, Any]:
    return {
        "run": run.name,
        "widths": settings.widths,
        "parameters": sum(array.size for array in arrays.values()),
        "dice": evaluation.metrics["dice"],
        "score": evaluation.score,
        "milliseconds": round(float(milliseconds), 2),
    }


def _milliseconds(engine: Engine, settings: ModelSettings) -> float:
    batch = np.random.default_rng(0).normal(size=(1, settings.channels, settings.tile, settings.tile))
    durations = time_calls(lambda: engine(batch.astype(np.float32)), _TIMING_SECONDS / 2)
    return 1000 * float(np.median(durations))
