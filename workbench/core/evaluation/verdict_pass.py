"""Prediction of a verdict model on its validation and test images; probabilities are cached under .cache/verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.core.evaluation.verdict_evaluation import PredictedVerdict, VerdictEvaluation
from workbench.core.images import image_files
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, Problem, RunUnusable
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp, write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.inference.io.json_io import read_json
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, load_settings, settings_hash
from workbench.inference.predictor import Predictor

_FORMAT = 1
_CACHE = "verdicts"  # under .cache/, one file per run

Probabilities = dict[str, tuple[str, list[float]]]  # key -> stamp of the image file, probabilities


@dataclass(frozen=True)
class VerdictPredictions:
    """Predicted probabilities of the validation and test images. unreadable: number of images without any."""

    dataset: Dataset
    settings: ModelSettings
    probabilities: Probabilities
    unreadable: int

    def evaluate(self, truth_of: Callable[[Item], str | None]) -> VerdictEvaluation:
        """Return the evaluation with present labels. truth_of: verdict of an image, None without a label."""
        settings, verdicts, others = self.settings, [], 0
        for item in self.dataset.of("val", "test"):
            if item.key not in self.probabilities:
                continue
            truth = truth_of(item)
            if truth in settings.verdicts:
                probabilities = tuple(self.probabilities[item.key][1])
                verdicts.append(PredictedVerdict(item.key, item.split, truth, probabilities))
            else:
                others += 1
        return VerdictEvaluation(settings.verdicts, tuple(verdicts), settings.temperature, others, self.unreadable)


def predict_verdicts(
    project: Project,
    run: Run,
    *,
    store: bool,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool] = lambda: False,
) -> VerdictPredictions | None:
    """Predict the validation and test images that are not cached. Return None if canceled. Raises Problem.

    store: write the cache.
    """
    run.need_usable()
    dataset, settings = run.dataset(), load_settings(run.best / MODEL_FILE)
    if settings.task != "classification":
        raise RunUnusable(name=run.name, why=Message("report.segmentation_model"))
    # The reject probability does not change the predicted probabilities.
    stamp = f"{settings_hash(replace(settings, unsure=0.0))} {file_stamp(run.best / 'network.onnx')}"
    cache = project.root / ".cache" / _CACHE / f"{run.name}.json"
    cached = _load(cache, stamp, len(settings.verdicts))
    items = dataset.of("val", "test")
    predictor: Predictor | None = None
    probabilities: Probabilities = {}
    unreadable = 0
    for number, item in enumerate(items):
        path = project.image_path(item.key)
        state = file_stamp(path)
        if item.key in cached and cached[item.key][0] == state:
            probabilities[item.key] = cached[item.key]
            continue
        progress(number, len(items))
        if cancelled():
            return None
        predictor = predictor or Predictor.open(run.best)
        try:
            probabilities[item.key] = state, predictor.probabilities(image_files.read(path)).astype(np.float64).tolist()
        except Problem:
            unreadable += 1
    if store and predictor is not None:
        _save(project.root, cache, stamp, probabilities)
    return VerdictPredictions(dataset, settings, probabilities, unreadable)


def _load(path: Path, stamp: str, verdicts: int) -> Probabilities:
    """Return the cached probabilities; empty if the model changed or the file is invalid."""
    try:
        raw = read_json(path)
        if raw["format"] != _FORMAT or raw["model"] != stamp:
            return {}
        cached = {
            str(key): (str(state), [float(p) for p in values]) for key, (state, values) in raw["pictures"].items()
        }
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return cached if all(len(values) == verdicts for _, values in cached.values()) else {}


def _save(root: Path, path: Path, stamp: str, probabilities: Probabilities) -> None:
    try:
        write_json(path, {"format": _FORMAT, "model": stamp, "pictures": probabilities}, root=root)
    except (OSError, CannotWrite):
        return  # predicted again next time
