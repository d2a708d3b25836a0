"""End of a training: export of the best weights and their evaluation on all validation and test images."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from workbench.core.events import Evaluated, Finished, Progress, Trouble
from workbench.core.problems import Problem
from workbench.inference.engines import EngineError
from workbench.inference.predictor import Engine, Predictor
from workbench.inference.settings import ModelSettings, SettingsError
from workbench.training import checkpoint, networks
from workbench.training.before_after import compare
from workbench.training.evaluate import DygraphEngine, Evaluation, in_telling_order
from workbench.training.learner import load_weights
from workbench.training.prepare import Stage


def finish(stage: Stage, *, images_per_second: float) -> Finished:
    """Finish a run, also after a stop. Before the first validation, the newest weights count as the best."""
    best, mean = stage.best, stage.learner.mean
    if best.step < 0:
        best.keep(mean, stage.settings, step=stage.course.step, score=None)
    elif best.step != stage.course.step:
        path = stage.run.best / checkpoint.WEIGHTS
        load_weights(mean, checkpoint.load_arrays(path), str(path))
    usable = best.make_usable(mean)
    result: dict[str, Any] = {"metrics": {}, "score": best.score}
    if not stage.orders.stop:
        result.update(_look_at_all(stage, usable))
    figures = {
        "steps": stage.course.step, "seconds": round(stage.clock.elapsed, 2),
        "images_per_second": round(images_per_second, 3), "device": stage.device.name,
        "precision": stage.learner.precision.choice.name, "best_step": best.step, "usable": usable,
    }  # fmt: skip
    return Finished(why="stopped" if stage.orders.stop else "done", result={**result, **figures})


def _look_at_all(stage: Stage, usable: bool) -> dict[str, Any]:
    """Run the final evaluations. Thresholds are chosen on `val`; `test` has influenced nothing."""
    best = stage.best
    engine = _engine(stage, usable)
    result: dict[str, Any] = {}
    # Mirrored evaluation only here: it would take too much time during the run.
    settings = dataclasses.replace(stage.settings, mirrored=networks.mirrored(stage.recipe))
    found = _look(stage, engine, "val", settings, choose=True)
    if found is not None:
        best.settle(found.settings, found.score)
        result = {"metrics": found.metrics, "score": found.score}
        pruned = compare(stage, found) if usable else None
        if pruned is not None:
            result["pruned"] = pruned
        stage.report(Evaluated(step=best.step, split="val", metrics=found.metrics, score=found.score, best=True))
        if found.metrics.get("only_background"):
            what = "The network marks nothing at all on the held-out pictures, although there are defects on them."
            stage.report(Trouble(what=what, done="Train longer, or label more defects."))
        stage.save_last()
    elif not stage.dataset.of("val"):
        best.settle(dataclasses.replace(best.settings, mirrored=settings.mirrored), best.score)
    tested = _look(stage, engine, "test", best.settings, choose=False)
    if tested is not None:
        result["test"] = {"metrics": tested.metrics, "score": tested.score}
        stage.report(Evaluated(step=best.step, split="test", metrics=tested.metrics, score=tested.score))
    return result


def _engine(stage: Stage, usable: bool) -> Engine:
    """Return the evaluation engine. On a CPU: the exported network, several times faster there than Paddle."""
    if usable and not stage.device.is_gpu:
        try:
            return Predictor.open(stage.run.best, engine="onnx").engine
        except (EngineError, SettingsError, OSError) as error:
            stage.report(Trouble(what=str(error), done="The network is checked in Paddle instead."))
    return DygraphEngine(stage.learner.mean)


def _look(stage: Stage, engine: Engine, split: str, settings: ModelSettings, *, choose: bool) -> Evaluation | None:
    items = in_telling_order(stage.dataset.of(split))
    if not items:
        return None
    most = stage.budget.final_evaluation_seconds()
    last = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal last
        if time.perf_counter() - last > 0.5:
            last = time.perf_counter()
            stage.report(Progress(what="Looking at all held-out pictures", done=done, total=total))

    try:
        found = stage.judge.evaluate(
            engine, settings, items, choose=choose, progress=progress, cancelled=lambda: stage.orders.stop,
            most_seconds=None if most is None else most * len(items) / len(stage.dataset.of("val", "test")),
        )  # fmt: skip
    except (EngineError, Problem) as error:
        stage.report(Trouble(what=str(error), done="The final score is missing; the model is kept."))
        return None
    looked = 0 if found is None else len(found.keys)
    readable = len(items) - sum(item.key in stage.judge.skipped for item in items)
    if found is not None and looked < readable:
        what = f"There was time to look at {looked} of the {readable} pictures of '{split}'."
        stage.report(Trouble(what=what, done="The score is that of these."))
    return found
