"""Continuous training: labels made during a run enter it, and the run does not end when its time is up."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QObject, Signal

from workbench.core.runs.events import BestKept, Event, LabelsAdded, Started
from workbench.core.runs.run import Run
from workbench.session.training.training_control import TrainingControl


class ContinuousTraining(QObject):
    """Continuous training of the shown run. on: the user's choice for this run or the next.

    added: number of labels that entered the run, by kind of entry.
    """

    changed = Signal()

    def __init__(self, training: TrainingControl, parent: QObject | None = None) -> None:
        super().__init__(parent or training)
        self.on = False
        self.state: BestKept | None = None  # set once the time of the run is up
        self.added: Counter[str] = Counter()
        self.newest: LabelsAdded | None = None
        self._training = training
        training.started.connect(self._training_started)
        training.reported.connect(self._reported)
        training.ended.connect(self._training_ended)
        training.not_started.connect(self._training_ended)

    def switch(self, on: bool) -> None:
        """Switch continuous training; when off, the run ends after its time or its current round."""
        self.on = on
        self._training.send_command("keep_open" if on else "let_end")
        self.changed.emit()

    def can_resume(self) -> bool:
        """Return True if the shown run has ended and can continue with the labels made since."""
        run = self._training.run
        return run is not None and not self._training.busy and run.resumable

    def resume(self) -> None:
        """Resume the shown run with continuous training."""
        run = self._training.run
        if run is not None and self.can_resume():
            self.on = True
            self._training.resume(run)
            self.changed.emit()

    def _training_started(self, _: Run) -> None:
        self.state, self.newest = None, None
        self.added.clear()
        self.changed.emit()

    def _training_ended(self, _: object) -> None:
        self.changed.emit()

    def _reported(self, event: Event) -> None:
        if isinstance(event, Started) and self._training.running and self.on:
            self._training.send_command("keep_open")
        elif isinstance(event, BestKept):
            self.state = event
        elif isinstance(event, LabelsAdded):
            self.newest = event
            self.added[event.how] += 1
        else:
            return
        self.changed.emit()
