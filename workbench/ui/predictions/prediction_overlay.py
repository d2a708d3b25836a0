"""Prediction overlay of the open image: training previews during a run, else the result of the shown or newest run.

Earlier steps and other thresholds are applied to stored results, without running the network again.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, Signal

from workbench.core.evaluation.prediction_maps import ActivationMap, PredictionMaps
from workbench.core.runs.events import Event, Preview
from workbench.core.runs.run import Run, list_runs
from workbench.inference.model_settings import UNSURE
from workbench.inference.predictor import Prediction
from workbench.session.predictions import AHEAD_PIXELS, Predictions
from workbench.session.run_thresholds import RunThresholds
from workbench.session.session import Session
from workbench.session.training.training_control import TrainingControl
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.shortcuts import with_key
from workbench.ui.text import formatting

_AHEAD = 3  # images after the open one


class ImageOrder(Protocol):
    """List of images, in the order in which they will be opened."""

    def rowCount(self) -> int: ...
    def index_of(self, key: str | None) -> QModelIndex: ...
    def key_at(self, line: int) -> str: ...


class PredictionOverlay(QObject):
    """Source of the canvas' prediction layer. `told` carries a text about the model's result for the open image."""

    text_changed = Signal(str)
    changed = Signal()  # the result, the steps with a preview, or the thresholds

    def __init__(
        self,
        session: Session,
        training: TrainingControl,
        predictions: Predictions,
        thresholds: RunThresholds,
        canvas: Canvas,
        listed: ImageOrder,
    ) -> None:
        super().__init__(canvas)
        self._session, self._training, self._predictions, self._canvas = session, training, predictions, canvas
        self._thresholds, self._listed = thresholds, listed
        self._newest: Run | None = None
        self.seen: PredictionMaps | None = None  # the result that is shown
        self.steps: list[int] = []  # earlier steps of the shown run that have a preview of the open image
        self._text = ""
        self.step: int | None = None  # earlier step that is shown; None: the present state
        session.project_opened.connect(self._request_prediction)
        session.project_closed.connect(self._forget)
        session.image_opened.connect(self._opened)
        session.image_failed.connect(self._forget)
        training.started.connect(self._began)
        training.reported.connect(self._reported)
        training.preview_arrived.connect(self._previewed)
        training.previews.recalled.connect(self._recalled)
        training.ended.connect(self._ended)
        predictions.predicted.connect(self._predicted)
        thresholds.changed.connect(self._draw)
        thresholds.applied.connect(self._applied)
        self._request_prediction()

    @property
    def run(self) -> Run | None:
        """Return the run used for prediction: the shown run if it is usable, else the newest usable one."""
        shown = self._training.run
        return shown if shown is not None and shown.usable else self._newest

    def possible(self) -> bool:
        return self._session.image is not None and self.run is not None and not self._training.running

    def predict(self) -> None:
        """Predict the open image."""
        run, key = self.run, self._session.key
        if run is not None and key is not None and self._session.image is not None:
            self.step = None
            self._predictions.load(run)
            self._predictions.predict(key)
            self.text_changed.emit(self.tr("Predicting…"))

    # --- earlier steps ---------------------------------------------------------------------------

    def look_back(self, step: int | None) -> None:
        """Show the preview of the open image after a training step. None: the present state."""
        key = self._session.key
        if key is None or step == self.step:
            return
        self.step = step
        if step is not None:
            self._training.previews.recall(key, step)
        elif self._training.running:
            self._previewed(key)
        else:
            self.predict()

    # --- thresholds ------------------------------------------------------------------------------

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Return one threshold per class of the model, or () if they are not adjustable."""
        adjustable = self.seen is not None and self.seen.adjustable
        return self._thresholds.of(self._owner, self.seen) if adjustable else ()

    @property
    def own_thresholds(self) -> bool:
        """Return whether the user has changed the thresholds."""
        return self._thresholds.differ(self._owner)

    def move_threshold(self, number: int | None, value: float) -> None:
        """Change a threshold for display only. number: index of the class from 0, or None for all classes."""
        if self.thresholds:
            ids = [entry.id for entry in self.seen.settings.classes]
            self._thresholds.choose(self._owner, ids if number is None else [ids[number]], value)

    def reset_thresholds(self) -> None:
        self._thresholds.reset(self._owner)

    @property
    def _owner(self) -> str:
        run = self._training.run if self._training.running or self.step is not None else self.run
        return run.name if run is not None else ""

    # --- events ----------------------------------------------------------------------------------

    def _request_prediction(self) -> None:
        project = self._session.project
        usable = [run for run in list_runs(project.root)[::-1][:50] if run.usable] if project else []
        self._newest = usable[0] if usable else None

    def _forget(self, *_: object) -> None:
        self.step = None
        self._show(None, "")

    def _opened(self, key: str) -> None:
        self._forget()
        self._prefetch()
        if self._training.running:
            self._previewed(key)
        elif self.possible():
            height, width = self._session.image.shape[:2]
            if height * width <= AHEAD_PIXELS:
                self.predict()
            else:
                self.text_changed.emit(with_key(self.tr("Not predicted"), "predict"))

    def _began(self, _: Run) -> None:
        """Reset to the present state when another run is shown or starts: earlier steps belong to the old run."""
        self.step = None
        self._announce()
        self._prefetch()

    def _prefetch(self) -> None:
        """Pass the next images to the trainer at once.

        The window's own model gets them when it is idle, in `_predicted`.
        """
        for key in self._following():
            self._training.order("expect", key)

    def _following(self) -> list[str]:
        place = self._listed.index_of(self._session.key)
        first, count = place.row() + 1, self._listed.rowCount()
        lines = range(first, min(first + _AHEAD, count)) if place.isValid() else ()
        return [self._listed.key_at(line) for line in lines]

    def _reported(self, event: Event) -> None:
        if isinstance(event, Preview) and event.picture == self._session.key and event.verdict is not None:
            self.text_changed.emit(self._verdict(event))

    def _previewed(self, key: str) -> None:
        if key != self._session.key:
            return
        self._announce()  # there may be another step to show
        if self._training.running and self.step is None:
            self._show_step(self._training.previews.get(key))

    def _recalled(self, key: str, step: int) -> None:
        if key == self._session.key and step == self.step:
            self._show_step(self._training.previews.get(key, step))

    def _show_step(self, seen: PredictionMaps | None) -> None:
        if seen is not None:
            self._show(seen, self.tr("Model after step {step}").format(step=seen.step))

    def _ended(self, _: object) -> None:
        self._request_prediction()
        if self._session.key is not None:
            self._opened(self._session.key)

    def _predicted(self, key: str, result: Prediction) -> None:
        if key != self._session.key or self._training.running or self.step is not None:
            return
        if result.mask is None:
            where = None if result.heat is None else ActivationMap(np.zeros_like(result.heat), result.heat)
            self._show(where, self._verdict(result))
        else:
            count = len(result.regions) + result.left_out
            text = {0: self.tr("Model: no defect"), 1: self.tr("Model: 1 defect")}.get(
                count, self.tr("Model: {n} defects")
            )
            self._show(
                self._predictions.cached(key) or PredictionMaps(result.mask, result.scores), text.format(n=count)
            )
        self._predictions.prefetch(self._following())

    def _verdict(self, said: Prediction | Preview) -> str:
        probabilities = said.probabilities or {}
        if said.verdict == UNSURE and UNSURE not in probabilities and probabilities:
            best = max(probabilities, key=probabilities.__getitem__)
            text = self.tr("Prediction: unsure, most likely {verdict} ({sure})")
            return text.format(verdict=best, sure=formatting.percent(probabilities[best]))
        share = probabilities.get(said.verdict or "")
        sure = f" {formatting.percent(share)}" if share is not None else ""
        return self.tr("Model says: {verdict}{sure}").format(verdict=said.verdict or "", sure=sure)

    # --- canvas ----------------------------------------------------------------------------------

    def _show(self, seen: PredictionMaps | None, text: str) -> None:
        image = self._session.image
        if seen is not None and (image is None or seen.mask.shape != image.shape[:2]):
            seen = None  # the image was replaced since
        self.seen, self._text = seen, text
        self.text_changed.emit(text)
        self._draw()

    def _announce(self) -> None:
        key = self._session.key
        found = self._training.previews.steps(key) if key is not None else []
        self.steps = found[:-1] if self._training.running else found  # the newest one is shown as the present state
        self.changed.emit()

    def _draw(self) -> None:
        if self.seen is not None and self.thresholds and self.own_thresholds:
            self._thresholds.apply(self._owner, self.seen)
            self.text_changed.emit(self.tr("Prediction (thresholds changed)"))
        else:
            self._canvas.show_predictions(None if self.seen is None else self.seen.mask, partial(_map, self.seen))
            if self.seen is not None:
                self.text_changed.emit(self._text)
        self._announce()

    def _applied(self, seen: PredictionMaps, mask: np.ndarray) -> None:
        if seen is self.seen and self.own_thresholds:
            self._canvas.show_predictions(mask, partial(_map, seen))


def _map(seen: PredictionMaps | None, mode: str) -> np.ndarray | None:
    if seen is None:
        return None
    return seen.scores if mode == "heat" else seen.uncertainty()
