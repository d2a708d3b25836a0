"""Predictions of a trained model for images of the project, computed in a worker thread, cached, reported by key.

Images expected next are predicted ahead while no other image is requested.

User thresholds for displaying a run's predictions: stored probabilities are thresholded again, without inference.

The thresholds of the run, its model and its exports stay unchanged.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.images import image_files
from workbench.core.messages import Message
from workbench.core.problems import Problem, RunUnusable
from workbench.core.runs.run import Run
from workbench.core.suggestions.suggestions import MOST
from workbench.inference.cpu_environment import release_free_memory
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, call_at_end

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import LabelFacts, Maturity, PredictionFacts, PredictionMaps
    from workbench.inference.model_settings import ModelSettings
    from workbench.inference.predictor import Prediction, Predictor


class RunThresholds(QObject):
    """Display thresholds of each run of the open project, kept until it is closed."""

    changed = Signal()
    applied = Signal(object, object)  # PredictionMaps, and their mask with the present thresholds

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._chosen: dict[str, dict[int, float]] = {}  # run to class id to threshold
        self.tasks = TaskRunner(parent=self)
        session.project_closed.connect(self.close)

    def of(self, run: str, maps: PredictionMaps) -> tuple[float, ...]:
        """Return one threshold per class: the user's, or else the run's."""
        assert maps.settings is not None
        chosen = self._chosen.get(run, {})
        return tuple(
            chosen.get(entry.id, own)
            for entry, own in zip(maps.settings.classes, maps.settings.thresholds, strict=True)
        )

    def differ(self, run: str) -> bool:
        """Return True if the user has chosen a threshold for this run."""
        return bool(self._chosen.get(run))

    def choose(self, run: str, ids: list[int], value: float) -> None:
        """Set the threshold of these classes. value: above 0, at most 1."""
        self._chosen.setdefault(run, {}).update(dict.fromkeys(ids, min(1.0, max(1 / 255, value))))
        self.changed.emit()

    def reset(self, run: str) -> None:
        """Restore the run's own thresholds."""
        if self._chosen.pop(run, None):
            self.changed.emit()

    def apply(self, run: str, maps: PredictionMaps) -> None:
        """Compute the mask; `applied` follows. While one is being computed, only the last request is kept."""
        thresholds = self.of(run, maps)
        self.tasks.submit(
            lambda _: maps.with_thresholds(thresholds),
            lambda mask: self.applied.emit(maps, mask),
            key="apply",
            finish_running=True,
        )

    def close(self) -> None:
        self.tasks.stop()
        self._chosen.clear()


LIMIT = 256 << 20  # bytes of cached results
AHEAD_PIXELS = 6_000_000  # maximum size in pixels of an image that is predicted ahead
RELEASE = 2000  # ms after the last prediction until its memory is returned to the system
_NICENESS = 5  # niceness of the thread: lower priority than the window
Name = tuple[str, str]  # of a prediction: stamp of the model and key


class Predictions(QObject):
    """Predictions of one model at a time, by ONNX Runtime. Only the last requested image is predicted."""

    predicted = Signal(object, object)  # key, Prediction
    failed = Signal(object)  # Problem
    model_changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.source: Run | Path | None = None  # the run or export in use
        self._session = session
        self._folder: Path | None = None
        self._stamp = ""
        self._predictor: Predictor | None = None  # used by the worker thread only
        self._cache: OrderedDict[Name, Prediction] = OrderedDict()
        self._facts: dict[Name, tuple[PredictionFacts, LabelFacts]] = {}  # of those, and of the labels then
        self._requested: str | None = None
        self._training_keys: list[str] = []  # of the loaded model; set with the predictor
        self._expected: list[str] = []
        self._prefetching: Task | None = None
        self._settings: ModelSettings | None = None  # of the model that made the last prediction
        self.tasks = TaskRunner(parent=self)
        self._release = QTimer(self, singleShot=True, interval=RELEASE)
        self._release.timeout.connect(lambda: self.tasks.submit(lambda _: release_free_memory()))
        session.project_closed.connect(self.close)
        call_at_end(self.close)

    def load(self, source: Run | Path | str) -> None:
        """Use a run's best model, or an export folder; the model file is opened at the first prediction."""
        if isinstance(source, Run):
            try:
                source.need_usable()
            except Problem as problem:
                self.failed.emit(problem)
                return
        else:
            source = Path(source)
        folder = source.best if isinstance(source, Run) else source
        stamp = _stamp(folder)
        if (folder, stamp) == (self._folder, self._stamp):
            return
        self.tasks.stop()
        self.source, self._folder, self._stamp, self._predictor = source, folder, stamp, None
        self._cache.clear()  # results of former models could add up to hundreds of megabytes
        self._facts.clear()
        self._clear_requests()
        self.model_changed.emit()

    def predict(self, key: str) -> None:
        """Predict one image; `predicted` or `failed` follows."""
        folder, stamp, project = self._folder, self._stamp, self._session.project
        if folder is None or project is None:
            return
        if key != self._requested and self._prefetching is not None:
            self._prefetching.finish_early()
        self._requested = key
        cached = self.result(key)
        if cached is not None:
            self.tasks.cancel("predict", finish_running=True)
            QTimer.singleShot(0, self, lambda: self._emit_result(key, cached))
            return
        open_image = self._session.image if key == self._session.key else None
        path = project.image_path(key)

        def work(task: Task) -> Prediction | None:
            image = open_image if open_image is not None else image_files.read(path)
            return self._predict_one(folder, (stamp, key), image, task.cancelled)

        def on_done(result: Prediction | None) -> None:
            if result is not None:
                self._store((stamp, key), result)
                self._emit_result(key, result)
            self._release.start()
            self._prefetch_next()

        def on_failed(problem: Problem) -> None:
            if self._requested == key:
                self.failed.emit(problem)
            self._release.start()
            self._prefetch_next()

        self.tasks.submit(
            work,
            on_done,
            on_failed,
            as_problem=lambda error: _as_problem(error, folder),
            key="predict",
            finish_running=True,
            urgent=True,
        )

    def prefetch(self, keys: Sequence[str]) -> None:
        """Set the images that will be opened next, in order; they are predicted while the thread is idle."""
        self._expected = list(keys)
        self._prefetch_next()

    def _prefetch_next(self) -> None:
        project, folder, stamp = self._session.project, self._folder, self._stamp
        if self._prefetching is not None or project is None or folder is None:
            return
        key = next((key for key in self._expected if self._may_prefetch(key)), None)
        if key is None:
            return
        self._expected.remove(key)
        path = project.image_path(key)

        def work(task: Task) -> Prediction | None:
            if task.cancelled():  # another image was requested
                return None
            return self._predict_one(folder, (stamp, key), image_files.read(path), task.cancelled)

        def on_done(result: Prediction | None) -> None:
            self._prefetching = None
            self._release.start()
            if result is not None and stamp == self._stamp:
                self._store((stamp, key), result)
                self._emit_result(key, result)
            self._prefetch_next()

        self._prefetching = self.tasks.submit(
            work,
            on_done,
            lambda _: on_done(None),  # an unreadable image is reported when it is opened
            as_problem=lambda error: _as_problem(error, folder),
        )

    def _may_prefetch(self, key: str) -> bool:
        row = self._session.rows.get(key)
        pixels = row.width * row.height if row is not None else 0
        return 0 < pixels <= AHEAD_PIXELS and (self._stamp, key) not in self._cache

    def _predict_one(
        self, folder: Path, name: Name, image: ImageArray, cancelled: Callable[[], bool]
    ) -> Prediction | None:
        """Predict an image and measure the result, in the worker thread. Return None if it was canceled.

        name: stamp of the model and key.
        """
        from workbench.core.evaluation.prediction_maps import LabelFacts, measure_prediction, training_keys
        from workbench.core.runs.model_lookup import open_predictor
        from workbench.inference.predictor import PredictionCancelled

        if self._predictor is None:
            lower_priority()  # inherited by the network's own threads, which start now
            self._training_keys = training_keys(Run(folder.parent))
            # Without memory arenas: a window predicts few images, and memory is freed after each.
            self._predictor = open_predictor(folder, arena=False)
            self._settings = self._predictor.settings
        by_class = _keeps_classes(self._predictor.settings, image)
        try:
            result = self._predictor.predict(
                image,
                name=name[1],
                keep_probabilities=by_class,
                keep_heat=True,
                most_regions=MOST,
                cancelled=cancelled,
            )
        except PredictionCancelled:
            return None
        maps = _maps(result, None)
        if maps is not None:  # of a UNet
            self._facts[name] = measure_prediction(maps), LabelFacts.of(self._training_keys, self._session.rows)
        return result

    def cached(self, key: str) -> PredictionMaps | None:
        """Return the prediction maps of the loaded model for an image; None if there are none in the cache."""
        return None if (result := self.result(key)) is None else _maps(result, self._settings)

    def maturity(self, key: str, validation: float | None) -> Maturity | None:
        """Return the maturity of the loaded model in its cached prediction for an image; None if there is none.

        validation: Dice of the model on the validation images, None without one.
        """
        from workbench.core.evaluation.prediction_maps import trained_maturity

        facts = self._facts.get((self._stamp, key))
        return None if facts is None else trained_maturity(*facts, validation)

    def result(self, key: str) -> Prediction | None:
        """Return the cached prediction of the loaded model for an image."""
        result = self._cache.get((self._stamp, key))
        if result is not None:
            self._cache.move_to_end((self._stamp, key))
        return result

    def close(self) -> None:
        self.tasks.stop()
        self._clear_requests()
        self.source = self._folder = self._predictor = None
        self._stamp = ""
        self._cache.clear()
        self._facts.clear()
        self._release.start()

    def _clear_requests(self) -> None:
        self._requested = self._prefetching = None
        self._expected = []

    def _emit_result(self, key: str, result: Prediction) -> None:
        if self._folder is not None:
            probabilities = [region.score for region in result.regions] or list((result.probabilities or {}).values())
            self._session.set_score(key, max(probabilities, default=0.0))
            self.predicted.emit(key, result)

    def _store(self, name: Name, result: Prediction) -> None:
        self._cache[name] = result
        while len(self._cache) > 1 and sum(map(_nbytes, self._cache.values())) > LIMIT:
            oldest, _ = self._cache.popitem(last=False)
            self._facts.pop(oldest, None)


def lower_priority() -> None:
    if sys.platform == "linux":  # only Linux has a niceness per thread
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


def _keeps_classes(settings: ModelSettings, image: ImageArray) -> bool:
    """Return whether the scores of each class are kept, which needs one byte for each pixel and class."""
    from workbench.core.evaluation.prediction_maps import MOST_BYTES

    classes = len(settings.classes)
    return classes > 1 and classes * image.shape[0] * image.shape[1] <= MOST_BYTES


def _maps(result: Prediction, settings: ModelSettings | None) -> PredictionMaps | None:
    from workbench.core.evaluation.prediction_maps import PredictionMaps

    mask, scores = result.mask, result.scores
    return None if mask is None or scores is None else PredictionMaps(mask, scores, result.class_scores, settings)


def _stamp(folder: Path) -> str:
    """Return path and stamp of a model's files: a better checkpoint of the same run counts as another model."""
    parts = [str(folder)]
    for path in sorted(folder.glob("*")) if folder.is_dir() else []:
        if path.is_file():
            state = path.stat()
            parts.append(f"{path.name}:{state.st_size}:{state.st_mtime_ns}")
    return "|".join(parts)


def _as_problem(error: Exception, folder: Path) -> Problem:
    return RunUnusable(name=folder.parent.name if folder.name == "best" else folder.name, why=Message.of(error))


def _nbytes(result: Prediction) -> int:
    arrays = (result.mask, result.scores, result.class_scores, result.heat)
    return sum(array.nbytes for array in arrays if array is not None) + 1000
