"""Predictions of a trained model for images of the project, computed in a worker thread, cached, reported by key.

Images expected next are predicted ahead while no other image is requested.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal

from workbench.core import pictures
from workbench.core.problems import Problem, RunUnusable
from workbench.core.proposals import MOST
from workbench.core.run import Run
from workbench.core.seen import MOST_BYTES, Seen
from workbench.session.lane import Lane
from workbench.session.memory import give_back
from workbench.session.session import Session

if TYPE_CHECKING:
    from workbench.inference.predictor import Predictor, Result
    from workbench.inference.settings import ModelSettings

LIMIT = 256 << 20  # bytes of cached results
AHEAD_PIXELS = 6_000_000  # maximum size in pixels of an image that is predicted ahead
RELEASE = 2000  # ms after the last prediction until its memory is returned to the system
_GENTLE = 5  # niceness of the thread: lower priority than the window


class Predictions(QObject):
    """Predictions of one model at a time, by ONNX Runtime. Only the last requested image is predicted."""

    predicted = Signal(str, object)  # key, inference.Result
    failed = Signal(object)  # Problem
    model_changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source: Run | Path | None = None  # the run or export in use
        self._session = session
        self._folder: Path | None = None
        self._stamp = ""
        self._predictor: Predictor | None = None  # used by the worker thread only
        self._kept: OrderedDict[tuple[str, str], Result] = OrderedDict()
        self._wanted: str | None = None
        self._expected: list[str] = []
        self._looking_ahead = False
        self._settings: ModelSettings | None = None  # of the model that made the last prediction
        self._lane = Lane(parent=self)
        self._release = QTimer(self, singleShot=True, interval=RELEASE, timeout=self._give_back)
        session.project_closed.connect(self.close)
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.close)

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
        self._lane.abandon()
        self.source, self._folder, self._stamp, self._predictor = source, folder, stamp, None
        self._kept.clear()  # results of former models could add up to hundreds of megabytes
        self._forget_wishes()
        self.model_changed.emit()

    def predict(self, key: str) -> None:
        """Predict one image; `predicted` or `failed` follows."""
        folder, stamp, project = self._folder, self._stamp, self._session.project
        if folder is None or project is None:
            return
        self._wanted = key
        kept = self.result(key)
        if kept is not None:
            QTimer.singleShot(0, self, lambda: self._tell(key, kept))
            return
        at_hand = self._session.picture if key == self._session.key else None
        path = project.picture_path(key)

        def work() -> Result | None:
            if self._wanted != key:
                return None
            return self._look(folder, at_hand if at_hand is not None else pictures.read(path))

        def then(result: Result | None, error: Exception | None) -> None:
            if error is not None and self._wanted == key:
                self.failed.emit(_as_problem(error, folder))
            elif result is not None:
                self._keep((stamp, key), result)
                self._tell(key, result)
            self._release.start()
            self._look_ahead()

        self._lane.submit(work, then, urgent=True)

    def expect(self, keys: Sequence[str]) -> None:
        """Set the images that will be opened next, in order; they are predicted while the thread is idle."""
        self._expected = list(keys)
        self._look_ahead()

    def _look_ahead(self) -> None:
        project, folder, stamp = self._session.project, self._folder, self._stamp
        if self._looking_ahead or project is None or folder is None:
            return
        key = next((key for key in self._expected if self._may_look_ahead(key)), None)
        if key is None:
            return
        self._expected.remove(key)
        self._looking_ahead = True
        wanted, path = self._wanted, project.picture_path(key)

        def hurry() -> bool:
            """Return True if another image was requested."""
            return self._wanted != wanted

        def work() -> Result | None:
            return None if hurry() else self._look(folder, pictures.read(path), hurry)

        def then(result: Result | None, error: Exception | None) -> None:
            self._looking_ahead = False
            self._release.start()
            if result is not None and stamp == self._stamp:
                self._keep((stamp, key), result)
                self._tell(key, result)
            self._look_ahead()  # an unreadable image is reported when it is opened

        self._lane.submit(work, then)

    def _may_look_ahead(self, key: str) -> bool:
        row = self._session.rows.get(key)
        pixels = row.width * row.height if row is not None else 0
        return 0 < pixels <= AHEAD_PIXELS and (self._stamp, key) not in self._kept

    def _look(self, folder: Path, picture: np.ndarray, cancelled: Callable[[], bool] | None = None) -> Result:
        """Predict an image, in the worker thread."""
        if self._predictor is None:
            _be_gentle()  # inherited by the network's own threads, which start now
            self._predictor = _open(folder)
            self._settings = self._predictor.settings
        classes = len(self._predictor.settings.classes)
        by_class = classes > 1 and classes * picture.shape[0] * picture.shape[1] <= MOST_BYTES
        return self._predictor.predict(
            picture, keep_probabilities=by_class, keep_heat=True, most_regions=MOST, cancelled=cancelled
        )

    def seen(self, key: str) -> Seen | None:
        """Return the prediction of the loaded model for an image as a `Seen`; None if there is none in the cache."""
        result = self.result(key)
        if result is None or result.mask is None or result.scores is None:
            return None
        return Seen(result.mask, result.scores, result.class_scores, self._settings)

    def result(self, key: str) -> Result | None:
        """Return the cached prediction of the loaded model for an image."""
        kept = self._kept.get((self._stamp, key))
        if kept is not None:
            self._kept.move_to_end((self._stamp, key))
        return kept

    def close(self) -> None:
        self._wanted = None
        self._lane.abandon()
        self._forget_wishes()
        self.source = self._folder = self._predictor = None
        self._stamp = ""
        self._kept.clear()
        self._release.start()

    def _give_back(self) -> None:
        self._lane.submit(give_back, lambda *_: None)

    def _forget_wishes(self) -> None:
        self._wanted = None
        self._expected = []
        self._looking_ahead = False

    def _tell(self, key: str, result: Result) -> None:
        if self._folder is not None:
            certain = [region.score for region in result.regions] or list((result.probabilities or {}).values())
            self._session.set_score(key, max(certain, default=0.0))
            self.predicted.emit(key, result)

    def _keep(self, at: tuple[str, str], result: Result) -> None:
        self._kept[at] = result
        while len(self._kept) > 1 and sum(map(_nbytes, self._kept.values())) > LIMIT:
            self._kept.popitem(last=False)


def _be_gentle() -> None:
    if sys.platform == "linux":  # only Linux has a niceness per thread
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _GENTLE)


def _open(folder: Path) -> Predictor:
    """Open a model without memory arenas, as a window predicts few images: memory is freed after each."""
    from workbench.inference.engines import choose_engine
    from workbench.inference.predictor import Predictor
    from workbench.inference.settings import MODEL_FILE, load_settings
    from workbench.inference.tuning import Tuning

    settings = load_settings(folder / MODEL_FILE)
    own = {name: settings.engines.get(name, Tuning(threads=settings.threads)) for name in settings.files}
    engines = {name: replace(tuning, arena=False) for name, tuning in own.items()}
    return Predictor(settings, choose_engine("auto", folder, replace(settings, engines=engines)))


def _stamp(folder: Path) -> str:
    """Return path and stamp of a model's files: a better checkpoint of the same run counts as another model."""
    parts = [str(folder)]
    for path in sorted(folder.glob("*")) if folder.is_dir() else []:
        if path.is_file():
            state = path.stat()
            parts.append(f"{path.name}:{state.st_size}:{state.st_mtime_ns}")
    return "|".join(parts)


def _as_problem(error: Exception, folder: Path) -> Problem:
    if isinstance(error, Problem):
        return error
    return RunUnusable(name=folder.parent.name if folder.name == "best" else folder.name, why=str(error))


def _nbytes(result: Result) -> int:
    arrays = (result.mask, result.scores, result.class_scores, result.heat)
    return sum(array.nbytes for array in arrays if array is not None) + 1000
