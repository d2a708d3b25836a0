"""Evaluation of a verdict model on the validation and test images: predicted in a worker thread and cached on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal, Slot

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
from workbench.session.task_queue import TaskQueue
from workbench.session.training.run_attach import find_live_process

_FORMAT = 1
_CACHE = "verdicts"  # under .cache/, one file per run

Kept = dict[str, tuple[str, list[float]]]  # key -> stamp of the image file, probabilities
Looked = tuple[Dataset, ModelSettings, Kept, int]  # and the number of unreadable images


class VerdictEvaluator(QObject):
    """Evaluation of one run at a time. It is updated when a verdict is corrected, without another prediction."""

    reviewed = Signal(object)  # core.verdict_review.VerdictReview of all validation and test images
    progressed = Signal(int, int)
    failed = Signal(object)  # Problem
    stored = Signal(object)  # Run: its reject probability was stored
    _moved = Signal(int, int, int)  # emitted in the worker thread

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run: Run | None = None
        self.settings: ModelSettings | None = None
        self._session = session
        self._lane = TaskQueue(1, self)
        self._asked = 0
        self._looked: Looked | None = None
        self._moved.connect(self._progress, Qt.ConnectionType.QueuedConnection)
        session.rows_changed.connect(self._labels_changed)
        session.project_closed.connect(self.close)

    @property
    def unsure(self) -> float:
        """Reject probability stored with the run."""
        return self.settings.unsure if self.settings is not None else 0.0

    def start(self, run: Run) -> None:
        """Evaluate a run; `reviewed` or `failed` follows, with `progressed` meanwhile."""
        project = self._session.project
        if project is None:
            return
        self._asked += 1
        self.run, self.settings, self._looked = run, None, None
        asked, writable = self._asked, self._session.writable

        def tell(done: int, total: int) -> bool:
            self._moved.emit(asked, done, total)
            return asked == self._asked

        def then(looked: Looked | None, error: Exception | None) -> None:
            if asked != self._asked:
                return
            if error is not None:
                self.failed.emit(_as_problem(error, run))
            elif looked is not None:
                self._looked, self.settings = looked, looked[1]
                self._tell()

        def work() -> Looked | None:
            try:
                return _predict_verdicts(run, project.image_path, project.root, writable, tell)
            finally:
                release_free_memory()

        self._lane.submit(work, then)

    def store(self, least: float, chosen_on: Sequence[str]) -> None:
        """Store the minimum probability of a verdict with the run; `stored` or `failed` follows.

        chosen_on: those of "val" and "test" whose images were considered.
        """
        run = self.run
        if run is None or self.settings is None or not self._session.writable:
            return
        try:
            if find_live_process(run) is not None:
                raise RunUnusable(name=run.name, why="it is still learning, and its model may change")
            point = replace(operating_point.OperatingPoint.of(operating_point.settings_of(run)), unsure=least)
            operating_point.store(run, point, chosen_on=chosen_on)
            self.settings = operating_point.settings_of(run)
        except Problem as problem:
            self.failed.emit(problem)
        else:
            self.stored.emit(run)

    def close(self) -> None:
        """Cancel the work in progress."""
        self._asked += 1
        self._lane.cancel_pending()
        self.run = self.settings = self._looked = None

    @Slot(int, int, int)
    def _progress(self, asked: int, done: int, total: int) -> None:
        if asked == self._asked:
            self.progressed.emit(done, total)

    def _labels_changed(self, rows: list) -> None:
        if self._looked is not None and any(row.key in self._looked[2] for row in rows):
            self._tell()

    def _tell(self) -> None:
        dataset, settings, kept, unreadable = self._looked
        rows, judged, others = self._session.rows, [], 0
        for item in dataset.of("val", "test"):
            if item.key not in kept:
                continue
            truth = rows[item.key].verdict if item.key in rows else item.verdict
            if truth in settings.verdicts:
                judged.append(PredictedVerdict(item.key, item.split, truth, tuple(kept[item.key][1])))
            else:
                others += 1
        self.reviewed.emit(
            VerdictEvaluation(settings.verdicts, tuple(judged), settings.temperature, others, unreadable)
        )


def _predict_verdicts(
    run: Run, path_of: Callable[[str], Path], root: Path, writable: bool, tell: Callable[[int, int], bool]
) -> Looked | None:
    """Predict the images that are not cached. Return None if `tell` reports a cancellation."""
    from workbench.inference.predictor import Predictor

    run.need_usable()
    dataset, settings = run.dataset(), load_settings(run.best / MODEL_FILE)
    if settings.task != "classification":
        raise RunUnusable(name=run.name, why="it marks defects and gives no verdicts")
    # The reject probability does not change the predicted probabilities.
    stamp = f"{settings_hash(replace(settings, unsure=0.0))} {file_stamp(run.best / 'network.onnx')}"
    cache = root / ".cache" / _CACHE / f"{run.name}.json"
    kept = _load(cache, stamp, len(settings.verdicts))
    items = dataset.of("val", "test")
    predictor: Predictor | None = None
    found: Kept = {}
    unreadable = 0
    for number, item in enumerate(items):
        path = path_of(item.key)
        state = file_stamp(path)
        if item.key in kept and kept[item.key][0] == state:
            found[item.key] = kept[item.key]
            continue
        if not tell(number, len(items)):
            return None
        predictor = predictor or Predictor.open(run.best)
        try:
            found[item.key] = state, predictor.probabilities(image_files.read(path)).astype(np.float64).tolist()
        except Problem:
            unreadable += 1
    if writable and predictor is not None:
        _save(cache, stamp, found)
    return dataset, settings, found, unreadable


def _load(path: Path, stamp: str, verdicts: int) -> Kept:
    """Return the cached probabilities; empty if the model changed or the file is invalid."""
    try:
        raw = read_json(path)
        if raw["format"] != _FORMAT or raw["model"] != stamp:
            return {}
        kept = {str(key): (str(state), [float(p) for p in values]) for key, (state, values) in raw["pictures"].items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return kept if all(len(values) == verdicts for _, values in kept.values()) else {}


def _save(path: Path, stamp: str, kept: Kept) -> None:
    try:
        write_json(path, {"format": _FORMAT, "model": stamp, "pictures": kept})
    except (OSError, CannotWrite):
        return  # predicted again next time


def _as_problem(error: Exception, run: Run) -> Problem:
    return error if isinstance(error, Problem) else RunUnusable(name=run.name, why=str(error).rstrip("."))
