"""Suggestions on the canvas: display, user decisions, visibility of labels and suggestions."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.run import Run, list_runs
from workbench.core.seen import Seen
from workbench.session.proposing import Ended
from workbench.ui import words
from workbench.ui.canvas.canvas import Canvas
from workbench.ui.messages import Messages
from workbench.ui.overlay import Overlay
from workbench.ui.rooms import Rooms


class Layers(Protocol):
    """Owner of the visibility of labels."""

    def toggle_labels(self) -> None: ...


class Proposing(QObject):
    """Object behind the commands for suggestions."""

    changed = Signal()  # suggestions, their visibility, or the prediction of all images

    def __init__(self, rooms: Rooms, canvas: Canvas, layers: Layers, overlay: Overlay, messages: Messages) -> None:
        super().__init__(canvas)
        self._session, self._training, self._overlay = rooms.session, rooms.training, overlay
        self._canvas, self._layers, self._messages = canvas, layers, messages
        self.proposals, self.everywhere, self.hand = rooms.proposals, rooms.everywhere, canvas.proposals
        session, proposals, everywhere = self._session, self.proposals, self.everywhere
        overlay.changed.connect(self._follow)
        rooms.thresholds.applied.connect(self._follow_thresholds)
        proposals.changed.connect(self._show)
        proposals.refused.connect(canvas.refuse)
        self.hand.accepted.connect(proposals.accept)
        self.hand.rejected.connect(proposals.reject)
        self.hand.changed.connect(proposals.change)
        self.hand.switched.connect(self.changed)
        session.classes_changed.connect(self.changed)
        everywhere.looked.connect(self._looked)
        everywhere.state_changed.connect(self.changed)
        everywhere.ended.connect(self._ended)
        everywhere.failed.connect(messages.problem)

    # --- conditions ------------------------------------------------------------------------------

    def any(self) -> bool:
        """Return whether there are suggestions to decide on."""
        return bool(self.hand.proposals) and self._session.writable

    def can_bring_back(self) -> bool:
        return self.proposals.rejected > 0 and self._session.writable

    def can_propose(self) -> bool:
        idle = self._session.writable and not self.everywhere.running
        return idle and bool(self._session.keys) and self._overlay.run is not None

    @property
    def visible(self) -> bool:
        return self.hand.layer.visible

    # --- commands --------------------------------------------------------------------------------

    def accept_all(self) -> None:
        if self.hand.in_sight:
            self.proposals.accept_all()

    def reject_all(self) -> None:
        if self.hand.in_sight:
            self.proposals.reject(self.hand.proposals)

    def switch(self) -> None:
        self.hand.switch(not self.visible)

    def toward(self, step: int) -> None:
        """Step through: labels only, both, suggestions only. step: -1 toward labels, 1 toward suggestions."""
        labels = self._canvas.label_style.visible
        if step < 0:
            labels, proposals = True, not labels and self.visible
        else:
            labels, proposals = labels and not self.visible, True
        if labels != self._canvas.label_style.visible:
            self._layers.toggle_labels()
        self.hand.switch(proposals)

    def propose_everywhere(self) -> None:
        """Predict suggestions for all images with the shown run.

        If that is a ResNet, the newest usable UNet is used.
        """
        run, project = self._overlay.run, self._session.project
        if run is None or project is None:
            return
        others = (other for other in reversed(list_runs(project.root)) if other.usable)
        self.everywhere.start(next((one for one in (run, *others) if _says_where(one)), run).root)

    # --- events ----------------------------------------------------------------------------------

    def _show(self) -> None:
        self.hand.show(self.proposals.shown)
        self.changed.emit()

    def _follow(self) -> None:
        """Derive suggestions from the shown result. Previews of a running training count, too."""
        overlay = self._overlay
        seen, run = overlay.seen, self._seen_by()
        if seen is not None and run is not None and not (overlay.thresholds and overlay.own_thresholds):
            self.proposals.follow(seen, seen.mask, run)

    def _follow_thresholds(self, seen: Seen, mask: np.ndarray) -> None:
        run = self._seen_by()
        if seen is self._overlay.seen and self._overlay.own_thresholds and run is not None:
            self.proposals.follow(seen, mask, run)

    def _seen_by(self) -> Run | None:
        seen = self._overlay.seen
        return self._training.run if seen is not None and seen.step is not None else self._overlay.run

    def _looked(self, number: int, key: str, count: int, why: str) -> None:
        self.proposals.look_again(key)

    def _ended(self, ended: Ended) -> None:
        says = self.tr("{proposals} proposals in {pictures} pictures wait for you.").format(
            proposals=words.number(ended.proposals), pictures=words.number(ended.pictures)
        )
        if not ended.whole:
            says = self.tr("Stopped. {says}").format(says=says)
        skipped = self.tr("{n} pictures could not be read.").format(n=ended.skipped) if ended.skipped else ""
        self._messages.say("success", says, skipped, topic="proposals")


def _says_where(run: Run) -> bool:
    try:
        return run.recipe().model == "unet"
    except Problem:
        return False
