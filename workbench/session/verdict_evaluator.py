"""Evaluation of a verdict model on the validation and test images: predicted in a worker thread and cached on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.evaluation import operating_point
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict, VerdictEvaluation
from workbench.core.images import image_files
from workbench.core.problems import CannotWrite, Problem, RunUnusable
from workbench.core.project.storage import file_stamp, write_json
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.run import Run
from workbench.inference.io.json_io import read_json
from workbench.inference.model_settings import MODEL_FILE, ModelSettings, load_settings, settings_hash
from workbench.session.process_memory import release_free_memory
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
from workbench.session.training.run_attach import find_live_process

_FORMAT = 1
_CACHE = "verdicts"  # under .cache/, one file per run

_Probabilities = dict[str, tuple[str, list[float]]]  # key -> stamp of the image file, probabilities


@dataclass(frozen=True)
class _Predictions:
    """Predicted probabilities of the validation and test images. unreadable: number of images without any."""

    dataset: Dataset
    settings: ModelSettings
    probabilities: _Probabilities
    unreadable: int


class VerdictEvaluator(QObject):
    """Evaluation of one run at a time. It is updated when a verdict is corrected, without another prediction."""

    evaluated = Signal(object)  # VerdictEvaluation of all validation and test images
    progressed = Signal(int, int)
    failed = Signal(object)  # Problem
    stored = Signal(object)  # Run: its reject probability was stored

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run: Run | None = None
        self.settings: ModelSettings | None = None
        self._session = session
        self._tasks = TaskRunner(1, self)
        self._predictions: _Predictions | None = None
        session.rows_changed.connect(self._labels_changed)
        session.project_closed.connect(self.close)

    @property
    def unsure(self) -> float:
        """Reject probability stored with the run."""
        return self.settings.unsure if self.settings is not None else 0.0

    def start(self, run: Run) -> None:
        """Evaluate a run; `evaluated` or `failed` follows, with `progressed` meanwhile."""
        project = self._session.project
        if project is None:
            return
        self.run, self.settings, self._predictions = run, None, None
        writable = self._session.writable

        def work(task: Task) -> _Predictions | None:
            try:
                return _predict_verdicts(run, project.image_path, project.root, writable, task)
            finally:
                release_free_memory()

        def on_done(predictions: _Predictions | None) -> None:
            if predictions is not None:
                self._predictions, self.settings = predictions, predictions.settings
                self._evaluate()

        self._tasks.submit(
            work,
            on_done,
            self.failed.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: RunUnusable(name=run.name, why=str(error).rstrip(".")),
            key="predict",
        )

    def store(self, probability: float, chosen_on: Sequence[str]) -> None:
        """Store the minimum probability of a verdict with the run; `stored` or `failed` follows.

        chosen_on: those of "val" and "test" whose images were considered.
        """
        run = self.run
        if run is None or self.settings is None or not self._session.writable:
            return
        try:
            if find_live_process(run) is not None:
                raise RunUnusable(name=run.name, why="its training is still running, and the model may change")
            point = replace(operating_point.OperatingPoint.of(operating_point.settings_of(run)), unsure=probability)
            operating_point.store(run, point, chosen_on=chosen_on)
            self.settings = operating_point.settings_of(run)
        except Problem as problem:
            self.failed.emit(problem)
        else:
            self.stored.emit(run)

    def close(self) -> None:
        """Cancel the work in progress."""
        self._tasks.stop()
        self.run = self.settings = self._predictions = None

    def _labels_changed(self, rows: list) -> None:
        if self._predictions is not None and any(row.key in self._predictions.probabilities for row in rows):
            self._evaluate()

    def _evaluate(self) -> None:
        predictions = self._predictions
        assert predictions is not None
        settings, rows, verdicts, others = predictions.settings, self._session.rows, [], 0
        for item in predictions.dataset.of("val", "test"):
            if item.key not in predictions.probabilities:
                continue
            truth = rows[item.key].verdict if item.key in rows else item.verdict
            if truth in settings.verdicts:
                probabilities = tuple(predictions.probabilities[item.key][1])
                verdicts.append(PredictedVerdict(item.key, item.split, truth, probabilities))
            else:
                others += 1
        self.evaluated.emit(
            VerdictEvaluation(settings.verdicts, tuple(verdicts), settings.temperature, others, predictions.unreadable)
        )


def _predict_verdicts(
    run: Run, path_of: Callable[[str], Path], root: Path, writable: bool, task: Task
) -> _Predictions | None:
    """Predict the images that are not cached, in the worker thread. Return None if canceled."""
    from workbench.inference.predictor import Predictor

    run.need_usable()
    dataset, settings = run.dataset(), load_settings(run.best / MODEL_FILE)
    if settings.task != "classification":
        raise RunUnusable(name=run.name, why="it is a segmentation model and predicts no verdicts")
    # The reject probability does not change the predicted probabilities.
    stamp = f"{settings_hash(replace(settings, unsure=0.0))} {file_stamp(run.best / 'network.onnx')}"
    cache = root / ".cache" / _CACHE / f"{run.name}.json"
    cached = _load(cache, stamp, len(settings.verdicts))
    items = dataset.of("val", "test")
    predictor: Predictor | None = None
    probabilities: _Probabilities = {}
    unreadable = 0
    for number, item in enumerate(items):
        path = path_of(item.key)
        state = file_stamp(path)
        if item.key in cached and cached[item.key][0] == state:
            probabilities[item.key] = cached[item.key]
            continue
        task.report(number, len(items))
        if task.cancelled():
            return None
        predictor = predictor or Predictor.open(run.best)
        try:
            probabilities[item.key] = state, predictor.probabilities(image_files.read(path)).astype(np.float64).tolist()
        except Problem:
            unreadable += 1
    if writable and predictor is not None:
        _save(root, cache, stamp, probabilities)
    return _Predictions(dataset, settings, probabilities, unreadable)


def _load(path: Path, stamp: str, verdicts: int) -> _Probabilities:
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


def _save(root: Path, path: Path, stamp: str, probabilities: _Probabilities) -> None:
    try:
        write_json(path, {"format": _FORMAT, "model": stamp, "pictures": probabilities}, root=root)
    except (OSError, CannotWrite):
        return  # predicted again next time
