"""Suggestions on the canvas: display, user decisions, visibility of labels and suggestions."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.evaluation.prediction_maps import PredictionMaps
from workbench.core.problems import Problem
from workbench.core.runs.run import Run, list_runs
from workbench.session.suggest_all import SuggestAllSummary
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.predictions.prediction_overlay import PredictionOverlay
from workbench.ui.services import Services
from workbench.ui.text import formatting
from workbench.ui.widgets.message_bar import MessageBar


class LayerSwitch(Protocol):
    """Owner of the visibility of labels."""

    def toggle_labels(self) -> None: ...


class SuggestionsController(QObject):
    """Object behind the commands for suggestions."""

    changed = Signal()  # suggestions, their visibility, or the prediction of all images

    def __init__(
        self, rooms: Services, canvas: Canvas, layers: LayerSwitch, overlay: PredictionOverlay, messages: MessageBar
    ) -> None:
        super().__init__(canvas)
        self._session, self._training, self._overlay = rooms.session, rooms.training, overlay
        self._canvas, self._layers, self._messages = canvas, layers, messages
        self.suggestions, self.everywhere, self.hand = rooms.suggestions, rooms.everywhere, canvas.suggestions
        session, suggestions, everywhere = self._session, self.suggestions, self.everywhere
        overlay.changed.connect(self._follow)
        rooms.thresholds.applied.connect(self._follow_thresholds)
        suggestions.changed.connect(self._show)
        suggestions.refused.connect(canvas.refuse)
        self.hand.accepted.connect(suggestions.accept)
        self.hand.rejected.connect(suggestions.reject)
        self.hand.changed.connect(suggestions.change)
        self.hand.switched.connect(self.changed)
        session.classes_changed.connect(self.changed)
        everywhere.predicted.connect(self._looked)
        everywhere.state_changed.connect(self.changed)
        everywhere.ended.connect(self._ended)
        everywhere.failed.connect(messages.problem)

    # --- conditions ------------------------------------------------------------------------------

    def any(self) -> bool:
        """Return whether there are suggestions to decide on."""
        return bool(self.hand.suggestions) and self._session.writable

    def can_bring_back(self) -> bool:
        return self.suggestions.rejected > 0 and self._session.writable

    def can_propose(self) -> bool:
        idle = self._session.writable and not self.everywhere.running
        return idle and bool(self._session.keys) and self._overlay.run is not None

    @property
    def visible(self) -> bool:
        return self.hand.layer.visible

    # --- commands --------------------------------------------------------------------------------

    def accept_all(self) -> None:
        if self.hand.in_sight:
            self.suggestions.accept_all()

    def reject_all(self) -> None:
        if self.hand.in_sight:
            self.suggestions.reject(self.hand.suggestions)

    def switch(self) -> None:
        self.hand.switch(not self.visible)

    def toward(self, step: int) -> None:
        """Step through: labels only, both, suggestions only. step: -1 toward labels, 1 toward suggestions."""
        labels = self._canvas.label_style.visible
        if step < 0:
            labels, suggestions = True, not labels and self.visible
        else:
            labels, suggestions = labels and not self.visible, True
        if labels != self._canvas.label_style.visible:
            self._layers.toggle_labels()
        self.hand.switch(suggestions)

    def suggest_for_all(self) -> None:
        """Predict suggestions for all images with the shown run.

        If that is a ResNet, the newest usable UNet is used.
        """
        run, project = self._overlay.run, self._session.project
        if run is None or project is None:
            return
        others = (other for other in reversed(list_runs(project.root)) if other.usable)
        self.everywhere.start(next((one for one in (run, *others) if _segments(one)), run).root)

    # --- events ----------------------------------------------------------------------------------

    def _show(self) -> None:
        self.hand.show(self.suggestions.shown)
        self.changed.emit()

    def _follow(self) -> None:
        """Derive suggestions from the shown result. Previews of a running training count, too."""
        overlay = self._overlay
        seen, run = overlay.seen, self._prediction_source()
        if seen is not None and run is not None and not (overlay.thresholds and overlay.own_thresholds):
            self.suggestions.follow(seen, seen.mask, run)

    def _follow_thresholds(self, seen: PredictionMaps, mask: np.ndarray) -> None:
        run = self._prediction_source()
        if seen is self._overlay.seen and self._overlay.own_thresholds and run is not None:
            self.suggestions.follow(seen, mask, run)

    def _prediction_source(self) -> Run | None:
        seen = self._overlay.seen
        return self._training.run if seen is not None and seen.step is not None else self._overlay.run

    def _looked(self, number: int, key: str, count: int, why: str) -> None:
        self.suggestions.refresh(key)

    def _ended(self, ended: SuggestAllSummary) -> None:
        says = self.tr("{proposals} suggestions in {pictures} images to review.").format(
            proposals=formatting.number(ended.suggestions), pictures=formatting.number(ended.images)
        )
        if not ended.whole:
            says = self.tr("Stopped. {says}").format(says=says)
        skipped = self.tr("{n} pictures could not be read.").format(n=ended.skipped) if ended.skipped else ""
        self._messages.show_message("success", says, skipped, topic="proposals")


def _segments(run: Run) -> bool:
    try:
        return run.settings().model == "unet"
    except Problem:
        return False
