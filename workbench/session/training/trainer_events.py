"""Events of a trainer: their delivery to the owner of the training, and the progress that they report."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from workbench.core.runs.events import BestKept, Event, Failed, Finished, Started, Step
from workbench.core.runs.run_history import PastRun
from workbench.session.training.trainer_thread import TrainerThread


class EventReceiver(QObject):
    """Receiver of one trainer's signals, in the thread of `parent`. After `close`, pending signals are dropped."""

    def __init__(
        self,
        thread: TrainerThread,
        on_event: Callable[[Event], None],
        on_recalled: Callable[[PastRun], None],
        on_ended: Callable[[Finished | Failed], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._on_event: Callable[[Event], object] = on_event
        self._on_recalled: Callable[[PastRun], object] = on_recalled
        self._on_ended: Callable[[Finished | Failed], object] = on_ended
        thread.reported.connect(self._reported)
        thread.recalled.connect(self._recalled)
        thread.ended.connect(self._ended)

    def close(self) -> None:
        # The owner must not be kept by an object that waits for its deletion.
        self._on_event = self._on_recalled = self._on_ended = _ignore
        self.deleteLater()

    @Slot(object)
    def _reported(self, event: Event) -> None:
        self._on_event(event)

    @Slot(object)
    def _recalled(self, past: PastRun) -> None:
        self._on_recalled(past)

    @Slot(object)
    def _ended(self, ending: Finished | Failed) -> None:
        self._on_ended(ending)


def _ignore(_: object) -> None:
    """Do nothing."""


class RunProgress:
    """Progress of one run.

    steps: share of the steps that are done, 0..1. seconds: duration of the run without pauses, as of its newest event.
    planned_seconds: of the whole run; None if it is limited by epochs. kept_open_event: set in continuous training once
    the time is up.
    """

    def __init__(self) -> None:
        self.steps = self.seconds = 0.0
        self.planned_seconds: float | None = None
        self.kept_open_event: BestKept | None = None

    def add(self, event: Event) -> None:
        """Follow an event of the run."""
        self.seconds = event.time
        if isinstance(event, Started):
            self.planned_seconds = event.seconds_planned
        elif isinstance(event, Step):
            self._set_steps(event)
        elif isinstance(event, BestKept):
            self.kept_open_event = event

    def recall(self, past: PastRun) -> None:
        """Continue from the history of the run."""
        self.seconds = past.series.last
        if past.state.step is not None:
            self._set_steps(past.state.step)

    def _set_steps(self, step: Step) -> None:
        self.steps = min(1.0, max(0.0, step.progress))

    @property
    def remaining_seconds(self) -> float | None:
        """Estimated seconds until the run is done; None if unknown."""
        if self.planned_seconds is not None:
            return max(0.0, self.planned_seconds - self.seconds)
        if self.steps < 0.01:
            return None
        return self.seconds * (1 - self.steps) / self.steps

    @property
    def share(self) -> float:
        """Progress of the whole run, including the work after the last step, 0..1."""
        if self.kept_open_event is not None:
            return 1.0
        return min(1.0, self.seconds / self.planned_seconds) if self.planned_seconds else self.steps
