"""Comparison of a network before and after pruning, on the same images and machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.core.events import Progress, Trouble
from workbench.core.problems import Problem
from workbench.core.pruning import is_smaller
from workbench.core.recipe import Recipe
from workbench.core.run import Run, find_run
from workbench.inference.engines import EngineError
from workbench.inference.measure import time_calls
from workbench.inference.predictor import Engine, Predictor
from workbench.inference.settings import ModelSettings, SettingsError
from workbench.training import checkpoint
from workbench.training.evaluate import Evaluation
from workbench.training.learner import Arrays, weights
from workbench.training.prepare import Stage

_SECONDS = 1.0  # to measure the speed of each network


def compare(stage: Stage, found: Evaluation) -> dict[str, Any] | None:
    """Return {"before": {"run", "widths", "parameters", "dice", "score", "milliseconds"}, "after": {...}, "tile",
    "pictures"}.

    None if the run did not start from a wider UNet, or if that run cannot be used any more, which is reported.
    found: evaluation of this run on the validation/test images. milliseconds: median for one tile in ONNX Runtime
    with its default settings.
    """
    recipe = stage.recipe
    if not recipe.start_from:
        return None
    try:
        run = find_run(stage.run.project_root, recipe.start_from)
        if not is_smaller(recipe, run.recipe()):
            return None
        earlier, later = (Predictor.open(one.best, engine="onnx") for one in (run, stage.run))
        items = [item for item in stage.dataset.items if item.key in set(found.keys)]
        stage.report(Progress(what="Comparing with the network before pruning", done=0, total=len(items)))
        was = stage.judge.evaluate(earlier.engine, earlier.settings, items, cancelled=lambda: stage.orders.stop)
        before = checkpoint.load_arrays(run.best / checkpoint.WEIGHTS)
    except (Problem, EngineError, SettingsError, OSError) as error:
        stage.report(Trouble(what=str(error), done="What pruning has changed is not measured."))
        return None
    if was is None:
        return None
    # Measured alternately, so that other load on this machine affects both networks.
    turns = [[_milliseconds(one.engine, found.settings) for one in (earlier, later)] for _ in range(2)]
    speeds = np.min(turns, axis=0)
    after = weights(stage.learner.mean)
    return {
        "before": _figures(run, run.recipe(), before, was, speeds[0]),
        "after": _figures(stage.run, recipe, after, found, speeds[1]),
        "tile": found.settings.tile,
        "pictures": len(was.keys),
    }


def _figures(run: Run, recipe: Recipe, arrays: Arrays, found: Evaluation, milliseconds: float) -> dict[str, Any]:
    return {
        "run": run.name, "widths": recipe.widths, "parameters": sum(array.size for array in arrays.values()),
        "dice": found.metrics["dice"], "score": found.score, "milliseconds": round(float(milliseconds), 2),
    }  # fmt: skip


def _milliseconds(engine: Engine, settings: ModelSettings) -> float:
    batch = np.random.default_rng(0).normal(size=(1, settings.channels, settings.tile, settings.tile))
    taken = time_calls(lambda: engine(batch.astype(np.float32)), _SECONDS / 2)
    return 1000 * float(np.median(taken))
