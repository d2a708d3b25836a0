"""Prediction overlay of the current image: training previews during a run, else the result of the shown or default run.

Earlier steps and other thresholds are applied to stored results, without running the network again. While a model is
immature (`core.evaluation.prediction_maps`), in training or because its training was too short, only its probabilities
are shown, whatever display mode is chosen. The user can still choose thresholds for a finished run, whose regions are
then shown.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QTimer, Signal

from workbench.core.runs.events import Event, Preview, overall_dice
from workbench.core.runs.run import Run
from workbench.session.instant_overlay import InstantOverlay
from workbench.session.predictions import AHEAD_PIXELS, Predictions, RunThresholds
from workbench.session.session import Session
from workbench.session.training.shown_runs import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.shortcuts import key_text
from workbench.ui.text.image_texts import (
    after_step_text,
    instant_text,
    preview_text,
    trained_text,
    verdict_text,
    with_input,
)

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import Maturity, PredictionMaps
    from workbench.inference.predictor import Prediction


_AHEAD = 3  # images after the current one


class ImageOrder(Protocol):
    """List of images, in the order in which they will be opened."""

    def rowCount(self) -> int: ...
    def index_of(self, key: str | None) -> QModelIndex: ...
    def key_at(self, line: int) -> str: ...


class PredictionOverlay(QObject):
    """Source of the prediction layer. `text_changed` carries a text on the result for the current image."""

    text_changed = Signal(str)
    changed = Signal()  # the result, the steps with a preview, or the thresholds

    def __init__(
        self,
        session: Session,
        training: TrainingControl,
        predictions: Predictions,
        thresholds: RunThresholds,
        runs: RunList,
        instant: InstantOverlay,
        canvas: Canvas,
        images: ImageOrder,
    ) -> None:
        super().__init__(canvas)
        self._session, self._training, self._predictions, self._canvas = session, training, predictions, canvas
        self._thresholds, self._runs, self._images, self._text = thresholds, runs, images, ""
        self._instant = instant
        self._predicted_with: Path | None = None  # run of the last prediction of the current image
        self.maps: PredictionMaps | None = None  # the result that is shown
        self.instant = False  # it is that of the instant overlay
        self.maturity: Maturity | None = None  # of the model in the shown result; None if unknown
        self.steps: list[int] = []  # earlier steps of the shown run that have a preview of the current image
        self.step: int | None = None  # earlier step that is shown; None: the latest state
        session.project_closed.connect(self._clear)
        session.current.opened.connect(self._image_opened)
        session.current.failed.connect(self._clear)
        session.areas.changed.connect(self._areas_changed)
        training.started.connect(self._run_changed)
        training.reported.connect(self._event_reported)
        training.preview_arrived.connect(self._preview_arrived)
        training.previews.recalled.connect(self._preview_recalled)
        training.ended.connect(self._training_ended)
        predictions.predicted.connect(self._predicted)
        instant.changed.connect(self._instant_changed)
        thresholds.changed.connect(self._draw)
        thresholds.applied.connect(self._thresholds_applied)
        runs.listed.connect(self._runs_listed)
        QTimer.singleShot(0, self, lambda: _show_open_image(session, self._image_opened))  # once the window is complete

    @property
    def run(self) -> Run | None:
        """Run used for prediction."""
        return self._runs.in_use

    @property
    def immature(self) -> bool:
        """Return whether the shown result is of an immature model, and no regions are shown for this reason."""
        if self.maturity is None or self.maturity.mature:
            return False
        return is_preview(self.maps) or self.instant or not (self.thresholds and self.own_thresholds)

    @property
    def source(self) -> Path | None:
        """Folder of the run of the shown result, whose name the suggestions bear."""
        project = self._session.project
        if self.instant and project is not None:
            return project.root / self._run_name
        run = self._training.run if is_preview(self.maps) else self.run
        return None if run is None else run.root

    def possible(self) -> bool:
        return self._session.image is not None and self.run is not None and not self._training.running

    def predict(self) -> None:
        """Predict the current image."""
        run, key = self.run, self._session.key
        if run is not None and key is not None and self._session.image is not None:
            self.step, self._predicted_with = None, run.root
            self._predictions.load(run)
            self._predictions.predict(key)
            self.text_changed.emit(self.tr("Predicting…"))

    def show_earlier_step(self, step: int | None) -> None:
        """Show the preview of the current image after a training step. None: the latest state."""
        key = self._session.key
        if key is None or step == self.step:
            return
        self.step = step
        if step is not None:
            self._training.previews.recall(key, step)
        elif self._training.running:
            self._preview_arrived(key)
        else:
            self.predict()

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Return one threshold per class of the model, or () if they are not adjustable."""
        adjustable = self.maps is not None and self.maps.adjustable and not (self.instant and self.immature)
        return self._thresholds.of(self._run_name, self.maps) if adjustable else ()

    @property
    def own_thresholds(self) -> bool:
        """Return whether the user has changed the thresholds."""
        return self._thresholds.differ(self._run_name)

    def move_threshold(self, number: int | None, value: float) -> None:
        """Change a threshold for display only. number: index of the class from 0, or None for all classes."""
        if self.thresholds:
            ids = [entry.id for entry in self.maps.settings.classes]
            self._thresholds.choose(self._run_name, ids if number is None else [ids[number]], value)

    def reset_thresholds(self) -> None:
        self._thresholds.reset(self._run_name)

    @property
    def _run_name(self) -> str:
        if self.instant:
            return self.maps.settings.name
        run = self._training.run if self._training.running or self.step is not None else self.run
        return run.name if run is not None else ""

    # --- events ----------------------------------------------------------------------------------

    def _runs_listed(self) -> None:
        """Predict the current image if its run was not known when the image was opened, or show what is known of it."""
        run, key = self.run, self._session.key
        waits = self.step is None and not self._training.running
        if not waits or run is None or key is None or self._instant.leads:
            return
        if run.root != self._predicted_with:
            self._image_opened(key)
        elif self.maps is not None and self.maturity != _maturity(self._predictions, key, self._runs):
            self._predictions.predict(key)  # the stored result is shown again

    def _clear(self, *_: object) -> None:
        self.step = self._predicted_with = None
        self._show(None, "")

    def _image_opened(self, key: str) -> None:
        self._clear()
        self._prefetch()
        if self._instant.leads:
            self._instant_changed()
        elif self._training.running:
            self._preview_arrived(key)
        elif self.possible():
            height, width = self._session.image.shape[:2]
            if height * width <= AHEAD_PIXELS:
                self.predict()
            else:
                self.text_changed.emit(self.tr("Press {key} to predict").format(key=key_text("predict")))

    def _areas_changed(self) -> None:
        if self._session.key is not None:
            self._image_opened(self._session.key)

    def _run_changed(self, _: Run) -> None:
        """Reset to the latest state when another run is shown or starts: earlier steps belong to the old run."""
        self.step = None
        self._update_steps()
        self._prefetch()

    def _prefetch(self) -> None:
        """Pass the next images to the trainer at once; the window's own model gets them in `_predicted`."""
        keys = _next_keys(self._images, self._session.key)
        self._instant.expect(keys[0] if keys else None)
        for key in keys:
            self._training.send_command("expect", key)

    def _event_reported(self, event: Event) -> None:
        if isinstance(event, Preview) and event.picture == self._session.key and event.verdict is not None:
            self.text_changed.emit(after_step_text(event.step, verdict_text(event)))

    def _preview_arrived(self, key: str) -> None:
        if key != self._session.key:
            return
        self._update_steps()  # there may be another step to show
        if self._training.running and self.step is None:
            self._show_step(self._training.previews.get(key))

    def _preview_recalled(self, key: str, step: int) -> None:
        if key == self._session.key and step == self.step:
            self._show_step(self._training.previews.get(key, step))

    def _show_step(self, maps: PredictionMaps | None) -> None:
        following = self.step is None and self._instant.leads
        if maps is not None and maps.step is not None and self._session.key is not None and not following:
            maturity = self._training.previews.maturity(self._session.key, maps.step)
            self._show(maps, preview_text(maps.step, maturity), maturity)

    def _training_ended(self, _: object) -> None:
        self.step = self._predicted_with = None
        if self._session.key is not None and not self._runs.refreshing:  # otherwise `_runs_listed` follows
            self._image_opened(self._session.key)

    def _predicted(self, key: str, result: Prediction) -> None:
        if key != self._session.key or self._training.running or self.step is not None:
            return
        self._show(*_shown_result(result, self._predictions, key, self._runs))
        self._predictions.prefetch(_next_keys(self._images, self._session.key))

    def _instant_changed(self) -> None:
        """Show the newest prediction of the instant overlay, or the trained model again once that is better."""
        prediction, key = self._instant.prediction, self._session.key
        if self._instant.leads and prediction is not None and self.step is None:
            if self.maps is not prediction.maps:
                text = instant_text(prediction, self._instant.trained_dice())
                self._show(prediction.maps, text, prediction.maturity)
        elif self.instant and not self._instant.leads and key is not None:
            self._image_opened(key)

    def _show(self, maps: PredictionMaps | None, text: str, maturity: Maturity | None = None) -> None:
        image = self._session.image
        if maps is not None and (image is None or maps.mask.shape != image.shape[:2]):
            maps = None  # the image was replaced since
        self.maps, self._text = maps, text
        prediction = self._instant.prediction
        self.instant = maps is not None and prediction is not None and maps is prediction.maps
        self.maturity = None if maps is None else maturity
        self.text_changed.emit(text)
        self._draw()

    def _update_steps(self) -> None:
        key = self._session.key
        run, used = self._training.run, self.run  # earlier steps of a run that is not in use belong to its curves only
        own = self._training.running or (run is not None and used is not None and run.root == used.root)
        steps = self._training.previews.steps(key) if key is not None and own else []
        self.steps = steps[:-1] if self._training.running else steps  # the newest one is shown as the latest state
        self.changed.emit()

    def _draw(self) -> None:
        if self.maps is not None and self.thresholds and self.own_thresholds:
            self._thresholds.apply(self._run_name, self.maps)
            self.text_changed.emit(self._text if self.immature else self.tr("Prediction (thresholds changed)"))
        else:
            mask = None if self.maps is None else self.maps.mask
            self._canvas.scene.show_predictions(mask, partial(_map, self.maps), soft=self.immature)
            if self.maps is not None:
                self.text_changed.emit(self._text)
        self._update_steps()

    def _thresholds_applied(self, maps: PredictionMaps, mask: np.ndarray) -> None:
        if maps is self.maps and self.own_thresholds:
            self._canvas.scene.show_predictions(mask, partial(_map, maps), soft=self.immature)


def is_preview(maps: PredictionMaps | None) -> bool:
    """Return whether a prediction was made by a model in training, not by the best model of a run."""
    return maps is not None and maps.step is not None


def _next_keys(images: ImageOrder, key: str | None) -> list[str]:
    """Return the keys of the images after `key`."""
    index = images.index_of(key)
    first, count = index.row() + 1, images.rowCount()
    rows = range(first, min(first + _AHEAD, count)) if index.isValid() else ()
    return [images.key_at(row) for row in rows]


def _shown_result(
    result: Prediction, predictions: Predictions, key: str, runs: RunList
) -> tuple[PredictionMaps | None, str, Maturity | None]:
    """Return maps, text and maturity of the prediction of a trained model for an image."""
    from workbench.core.evaluation.prediction_maps import ActivationMap, PredictionMaps

    if result.mask is None:
        maps = None if result.heat is None else ActivationMap(np.zeros_like(result.heat), result.heat)
        return maps, with_input(verdict_text(result), result), None
    maturity = _maturity(predictions, key, runs)
    maps = predictions.cached(key) or PredictionMaps(result.mask, result.scores)
    return maps, with_input(trained_text(result, maturity), result), maturity


def _maturity(predictions: Predictions, key: str, runs: RunList) -> Maturity | None:
    """Return the maturity of the run in use in its prediction for an image."""
    return predictions.maturity(key, overall_dice(runs.metrics_of(runs.in_use)))


def _map(maps: PredictionMaps | None, mode: str) -> np.ndarray | None:
    if maps is None:
        return None
    return maps.scores if mode == "heat" else maps.uncertainty()


def _show_open_image(session: Session, show: Callable[[str], None]) -> None:
    """Show the result of the image that was open before the window, which is rebuilt in another language."""
    if session.key is not None and session.image is not None:
        show(session.key)
