"""End of a training: export of the best weights and their evaluation on all validation and test images."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.runs.events import Evaluated, Finished, Progress, Trouble
from workbench.core.runs.pruning_plan import is_smaller
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.batch.benchmark import time_calls
from workbench.inference.engines import EngineError
from workbench.inference.model_settings import ModelSettings, SettingsError
from workbench.inference.predictor import Engine, Predictor
from workbench.training import checkpoint, networks
from workbench.training.evaluator import DygraphEngine, Evaluation, stratified_order
from workbench.training.learner import Arrays, load_weights, weights
from workbench.training.training_context import TrainingContext


def finalize_run(stage: TrainingContext, *, images_per_second: float) -> Finished:
    """Finish a run, also after a stop. Before the first validation, the newest weights count as the best."""
    best, mean = stage.best, stage.learner.mean
    if best.step < 0:
        best.store(mean, stage.settings, step=stage.course.step, score=None)
    elif best.step != stage.course.step:
        path = stage.run.best / checkpoint.WEIGHTS
        load_weights(mean, checkpoint.load_arrays(path), str(path))
    usable = best.make_usable(mean)
    result: dict[str, Any] = {"metrics": {}, "score": best.score}
    if not stage.orders.stop:
        result.update(_evaluate_all(stage, usable))
    figures = {
        "steps": stage.course.step,
        "seconds": round(stage.clock.elapsed, 2),
        "images_per_second": round(images_per_second, 3),
        "device": stage.device.name,
        "precision": stage.learner.precision.choice.name,
        "best_step": best.step,
        "usable": usable,
    }
    return Finished(why="stopped" if stage.orders.stop else "done", result={**result, **figures})


def _evaluate_all(stage: TrainingContext, usable: bool) -> dict[str, Any]:
    """Run the final evaluations. Thresholds are chosen on `val`; `test` has influenced nothing."""
    best = stage.best
    engine = _engine(stage, usable)
    result: dict[str, Any] = {}
    # Mirrored evaluation only here: it would take too much time during the run.
    settings = dataclasses.replace(stage.settings, mirrored=networks.mirrored(stage.recipe))
    found = _evaluate_split(stage, engine, "val", settings, choose=True)
    if found is not None:
        best.choose_final(found.settings, found.score)
        result = {"metrics": found.metrics, "score": found.score}
        pruned = compare_networks(stage, found) if usable else None
        if pruned is not None:
            result["pruned"] = pruned
        stage.report(Evaluated(step=best.step, split="val", metrics=found.metrics, score=found.score, best=True))
        if found.metrics.get("only_background"):
            what = Message("training.only_background")
            stage.report(Trouble(what=what, done=Message("training.train_longer")))
        stage.save_last()
    elif not stage.dataset.of("val"):
        best.choose_final(dataclasses.replace(best.settings, mirrored=settings.mirrored), best.score)
    tested = _evaluate_split(stage, engine, "test", best.settings, choose=False)
    if tested is not None:
        result["test"] = {"metrics": tested.metrics, "score": tested.score}
        stage.report(Evaluated(step=best.step, split="test", metrics=tested.metrics, score=tested.score))
    return result


def _engine(stage: TrainingContext, usable: bool) -> Engine:
    """Return the evaluation engine. On a CPU: the exported network, several times faster there than Paddle."""
    if usable and not stage.device.is_gpu:
        try:
            return Predictor.open(stage.run.best, engine="onnx").engine
        except (EngineError, SettingsError, OSError) as error:
            stage.report(Trouble(what=Message.of(error), done=Message("training.checked_in_paddle")))
    return DygraphEngine(stage.learner.mean)


def _evaluate_split(
    stage: TrainingContext, engine: Engine, split: str, settings: ModelSettings, *, choose: bool
) -> Evaluation | None:
    items = stratified_order(stage.dataset.of(split))
    if not items:
        return None
    most = stage.budget.final_evaluation_seconds()
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        if time.perf_counter() - last > 0.5:
            last = time.perf_counter()
            stage.report(Progress(what=Message("progress.evaluating"), done=done, total=total))

    try:
        found = stage.judge.evaluate(
            engine,
            settings,
            items,
            choose=choose,
            progress=progress,
            cancelled=lambda: stage.orders.stop,
            most_seconds=None if most is None else most * len(items) / len(stage.dataset.of("val", "test")),
        )
    except (EngineError, Problem) as error:
        stage.report(Trouble(what=Message.of(error), done=Message("training.no_final_metric")))
        return None
    looked = 0 if found is None else len(found.keys)
    readable = len(items) - sum(item.key in stage.judge.skipped for item in items)
    if found is not None and looked < readable:
        what = Message("training.partial_evaluation", n=looked, m=readable, split=split)
        stage.report(Trouble(what=what, done=Message("training.metric_of_these")))
    return found


_SECONDS = 1.0  # to measure the speed of each network


def compare_networks(stage: TrainingContext, found: Evaluation) -> dict[str, Any] | None:
    """Return {"before": {"run", "widths", "parameters", "dice", "score", "milliseconds"}, "after": {...}, "tile",
    "pictures"}.

    None if the run did not start from a wider UNet, or if that run cannot be used any more, which is reported.
    found: evaluation of this run on the validation/test images. milliseconds: median for one tile in ONNX Runtime
    with its default settings.
    """
    settings = stage.recipe
    if not settings.start_from:
        return None
    try:
        run = find_run(stage.run.project_root, settings.start_from)
        if not is_smaller(settings, run.settings()):
            return None
        earlier, later = (Predictor.open(one.best, engine="onnx") for one in (run, stage.run))
        items = [item for item in stage.dataset.items if item.key in set(found.keys)]
        stage.report(Progress(what=Message("progress.comparing_pruned"), done=0, total=len(items)))
        was = stage.judge.evaluate(earlier.engine, earlier.settings, items, cancelled=lambda: stage.orders.stop)
        before = checkpoint.load_arrays(run.best / checkpoint.WEIGHTS)
    except (Problem, EngineError, SettingsError, OSError) as error:
        stage.report(Trouble(what=Message.of(error), done=Message("training.pruning_not_measured")))
        return None
    if was is None:
        return None
    # Measured alternately, so that other load on this machine affects both networks.
    turns = [[_milliseconds(one.engine, found.settings) for one in (earlier, later)] for _ in range(2)]
    speeds = np.min(turns, axis=0)
    after = weights(stage.learner.mean)
    return {
        "before": _figures(run, run.settings(), before, was, speeds[0]),
        "after": _figures(stage.run, settings, after, found, speeds[1]),
        "tile": found.settings.tile,
        "pictures": len(was.keys),
    }


def _figures(
    run: Run, settings: TrainingSettings, arrays: Arrays, found: Evaluation, milliseconds: float
) -> dict[str, Any]:
    return {
        "run": run.name,
        "widths": settings.widths,
        "parameters": sum(array.size for array in arrays.values()),
        "dice": found.metrics["dice"],
        "score": found.score,
        "milliseconds": round(float(milliseconds), 2),
    }


def _milliseconds(engine: Engine, settings: ModelSettings) -> float:
    batch = np.random.default_rng(0).normal(size=(1, settings.channels, settings.tile, settings.tile))
    taken = time_calls(lambda: engine(batch.astype(np.float32)), _SECONDS / 2)
    return 1000 * float(np.median(taken))
