"""Suggestions on the canvas: display, user decisions, visibility of labels and suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.runs.run import Run
from workbench.core.text_patterns import fill
from workbench.session.prediction_jobs import SuggestAllSummary
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.predictions.prediction_overlay import PredictionOverlay, is_preview
from workbench.ui.services import Services
from workbench.ui.text import formatting
from workbench.ui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import PredictionMaps


class LayerSwitch(Protocol):
    """Owner of the visibility of labels."""

    def toggle_labels(self) -> None: ...


class SuggestionsController(QObject):
    """Controller of the suggestions and of their visibility."""

    changed = Signal()  # suggestions, their visibility, or the prediction of all images

    def __init__(
        self, services: Services, canvas: Canvas, layers: LayerSwitch, overlay: PredictionOverlay, messages: MessageBar
    ) -> None:
        super().__init__(canvas)
        self._session, self._training, self._runs = services.session, services.training, services.run_list
        self._overlay = overlay
        self.withheld = False  # the model is immature: its regions are not suggested
        self._canvas, self._layers, self._messages = canvas, layers, messages
        self.suggestions, self.job, self.interaction = services.suggestions, services.suggest_all, canvas.suggestions
        session, suggestions, job = self._session, self.suggestions, self.job
        overlay.changed.connect(self._prediction_changed)
        services.run_thresholds.applied.connect(self._thresholds_applied)
        suggestions.changed.connect(self._show)
        suggestions.refused.connect(canvas.refused)
        self.interaction.accepted.connect(suggestions.accept)
        self.interaction.rejected.connect(suggestions.reject)
        self.interaction.changed.connect(suggestions.change)
        self.interaction.switched.connect(self.changed)
        session.classes.changed.connect(self.changed)
        job.predicted.connect(self._image_done)
        job.state_changed.connect(self.changed)
        job.ended.connect(self._job_ended)
        job.failed.connect(messages.problem)
        self._show()  # those of the open image, if the window is rebuilt

    # --- conditions ------------------------------------------------------------------------------

    def any(self) -> bool:
        """Return whether there are suggestions to decide on."""
        return bool(self.interaction.suggestions) and self._session.writable

    def can_suggest_all(self) -> bool:
        idle = self._session.writable and not self.job.running
        return idle and bool(self._session.keys) and self._overlay.run is not None

    @property
    def model_in_training(self) -> bool:
        """Return whether the suggestions are those of a model in training."""
        return is_preview(self._overlay.maps)

    @property
    def of_instant_overlay(self) -> bool:
        """Return whether the suggestions are those of the instant overlay."""
        return self._overlay.instant

    @property
    def visible(self) -> bool:
        return self.interaction.layer.visible

    # --- commands --------------------------------------------------------------------------------

    def accept_all(self) -> None:
        if self.interaction.visible:
            self.suggestions.accept_all()

    def reject_all(self) -> None:
        if self.interaction.visible:
            self.suggestions.reject(self.interaction.suggestions)

    def focus_canvas(self) -> None:
        self._canvas.setFocus()

    def switch(self) -> None:
        self.interaction.switch(not self.visible)

    def toward(self, step: int) -> None:
        """Step through: labels only, both, suggestions only. step: -1 toward labels, 1 toward suggestions."""
        labels = self._canvas.scene.label_style.visible
        if step < 0:
            labels, suggestions = True, not labels and self.visible
        else:
            labels, suggestions = labels and not self.visible, True
        if labels != self._canvas.scene.label_style.visible:
            self._layers.toggle_labels()
        self.interaction.switch(suggestions)

    def suggest_for_all(self) -> None:
        """Predict suggestions for all images with the shown run.

        If that is a ResNet, the default UNet is used.
        """
        run = self._overlay.run
        if run is None or self._session.project is None:
            return
        segmentation = run if _is_segmentation(run) else self._runs.default("unet")
        self.job.start((segmentation or run).root)

    # --- events ----------------------------------------------------------------------------------

    def _show(self) -> None:
        self.interaction.show(self.suggestions.shown)
        self.changed.emit()

    def _prediction_changed(self) -> None:
        """Derive suggestions from the shown result, including previews of a running training."""
        overlay = self._overlay
        maps, root = overlay.maps, overlay.source
        if overlay.immature != self.withheld:
            self.withheld = overlay.immature
            self.changed.emit()
        if overlay.immature:
            self.suggestions.withhold()
        elif maps is not None and root is not None and not (overlay.thresholds and overlay.own_thresholds):
            self.suggestions.follow(maps, maps.mask, root)

    def _thresholds_applied(self, maps: PredictionMaps, mask: np.ndarray) -> None:
        root = self._overlay.source
        shown = maps is self._overlay.maps and not self._overlay.immature
        if shown and self._overlay.own_thresholds and root is not None:
            self.suggestions.follow(maps, mask, root)

    def _image_done(self, number: int, key: str, count: int, why: str) -> None:
        self.suggestions.refresh(key)

    def _job_ended(self, summary: SuggestAllSummary) -> None:
        text = fill(
            self.tr("{proposals} {proposals:suggestion|suggestions} in {pictures} {pictures:image|images} to review."),
            proposals=formatting.number(summary.suggestions),
            pictures=formatting.number(summary.images),
        )
        if not summary.whole:
            text = self.tr("Stopped. {text}").format(text=text)
        skipped = ""
        if summary.skipped:
            skipped = fill(
                self.tr("{n} {n:image|images} could not be read and {n:was|were} skipped."), n=summary.skipped
            )
        self._messages.show_message("success", text, skipped, topic="suggestions")


def _is_segmentation(run: Run) -> bool:
    try:
        return run.settings().model != "resnet"
    except Problem:
        return False
