"""The run that is shown, told in numbers as they come: its steps and scores, and what the machine did meanwhile."""

from __future__ import annotations

import contextlib
import time

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.diagnosis import Finding, Vitals, diagnose
from workbench.core.events import Evaluated, Event, Failed, Finished
from workbench.core.machine import Sample, encode_sample
from workbench.core.run import Run
from workbench.core.run_history import Past, machine_path
from workbench.core.track import Track
from workbench.session.lane import Lane
from workbench.session.memory import give_back
from workbench.session.session import Session
from workbench.session.telemetry import TelemetryThread
from workbench.session.training import Training

RELEASE = 2000  # ms after the end: what came with it has been read by then
THINNING = 2000  # samples are kept at most this share of the run apart: two weeks are 15,000 lines, not a million


class Story(QObject):
    """Listens to the training and to the machine. `track` and `vitals` are those of the run that is shown."""

    changed = Signal()

    def __init__(self, session: Session, training: Training, telemetry: TelemetryThread) -> None:
        super().__init__(training)
        self.track, self.vitals = Track(), Vitals()
        self.result: Evaluated | None = None  # the newest look that found the best model so far
        self.machine: Sample | None = None  # the newest, whether a run goes on or not
        self._session, self._training = session, training
        self._lane = Lane(parent=self)
        self._clock: float | None = None  # time.monotonic() at the run's second 0, while it is live
        self._heard = 0.0  # time.monotonic() of the newest event
        self._kept = 0.0  # seconds of the run of the newest sample on the disk
        training.started.connect(self._started)
        training.reported.connect(self._reported)
        training.recalled.connect(self._recalled)
        training.ended.connect(self._ended)
        session.project_closed.connect(self._forget)
        telemetry.sampled.connect(self._sampled)

    def finding(self) -> Finding:
        """The one thing to say of the run now."""
        silent = time.monotonic() - self._heard if self._training.running and self._heard else 0.0
        return diagnose(self.vitals, silent=silent, paused=self._training.paused)

    @property
    def run(self) -> Run | None:
        return self._training.run

    # --- facts -----------------------------------------------------------------------------------

    def _forget(self) -> None:
        self.track, self.vitals, self._clock, self._heard, self._kept = Track(), Vitals(), None, 0.0, 0.0
        self.result = None
        if self.machine is not None:
            self.track.no_cards = self.machine.reason
        self.changed.emit()

    def _started(self, _: Run) -> None:
        self._forget()

    def _reported(self, event: Event) -> None:
        self._heard = time.monotonic()
        if self._training.running and not self._training.paused:
            self._clock = self._heard - event.time
        self.track.hear(event)
        self.vitals.hear(event)
        if isinstance(event, Evaluated) and event.split == "val" and event.best:
            self.result = event
        self.changed.emit()

    def _recalled(self, past: Past) -> None:
        """All at once, in place of the few events of it that came one by one."""
        self.track, self.vitals = past.track, past.vitals
        self._heard = time.monotonic()
        self.changed.emit()

    def _ended(self, ending: Finished | Failed) -> None:
        self._clock = None
        self.vitals.hear(ending)
        self.changed.emit()
        QTimer.singleShot(RELEASE, self, lambda: self._lane.submit(give_back, lambda *_: None))

    def _sampled(self, sample: Sample) -> None:
        """One look at the machine, put on the time axis of the run under way; while it stands still there is none."""
        self.machine = sample
        if self.track.begun is None:
            self.track.no_cards = sample.reason
        if self._training.paused:
            self._clock = None  # until the first event after it
        if self._clock is None or self.track.begun is None:
            return
        now = time.monotonic() - self._clock
        self.track.see(now, sample)
        self.vitals.see(sample)
        run = self._training.run
        if run is not None and self._session.writable and now - self._kept >= now / THINNING:
            self._kept = now
            self._lane.submit(lambda: _keep(run, encode_sample(now, sample)), lambda *_: None)
        self.changed.emit()

    def close(self) -> None:
        self._lane.finish()


def _keep(run: Run, line: str) -> None:
    # A full disk costs the curves of the machine, and nothing else.
    with contextlib.suppress(OSError), machine_path(run).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
