"""Data of the shown run as it arrives: steps, metrics and machine load."""

from __future__ import annotations

import contextlib
import time

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.runs.events import Evaluated, Event, Failed, Finished
from workbench.core.runs.run import Run
from workbench.core.runs.run_health import HealthFinding, RunState, diagnose
from workbench.core.runs.run_history import PastRun, machine_path
from workbench.core.runs.run_series import RunSeries
from workbench.core.runs.system_stats import SystemSample, encode_sample
from workbench.session.process_memory import release_free_memory
from workbench.session.session import Session
from workbench.session.tasks import TaskRunner
from workbench.session.training.telemetry import TelemetryThread
from workbench.session.training.training_control import TrainingControl

RELEASE = 2000  # ms after the end, when its data has been read
THINNING = 2000  # stored samples are 1/2000 of the elapsed time apart: two weeks give 15,000 lines, not a million


class RunMonitor(QObject):
    """Collector of training events and machine samples. `track` and `state` belong to the shown run."""

    changed = Signal()

    def __init__(self, session: Session, training: TrainingControl, telemetry: TelemetryThread) -> None:
        super().__init__(training)
        self.track, self.state = RunSeries(), RunState()
        self.result: Evaluated | None = None  # the evaluation of the best model so far
        self.machine: SystemSample | None = None  # the newest sample, also without a run
        self._session, self._training = session, training
        self._tasks = TaskRunner(parent=self)
        self._clock: float | None = None  # time.monotonic() at second 0 of the run, while it is live
        self._newest_event = 0.0  # time.monotonic() of the newest event
        self._stored = 0.0  # time of the newest stored sample, in seconds of the run
        training.started.connect(self._started)
        training.reported.connect(self._reported)
        training.recalled.connect(self._recalled)
        training.ended.connect(self._ended)
        session.project_closed.connect(self._forget)
        telemetry.sampled.connect(self._sampled)

    def finding(self) -> HealthFinding:
        """Return the diagnosis of the run at present."""
        silent = time.monotonic() - self._newest_event if self._training.running and self._newest_event else 0.0
        return diagnose(self.state, silent=silent, paused=self._training.paused)

    @property
    def run(self) -> Run | None:
        return self._training.run

    # --- updates ---------------------------------------------------------------------------------

    def _forget(self) -> None:
        self.track, self.state, self._clock, self._newest_event, self._stored = RunSeries(), RunState(), None, 0.0, 0.0
        self.result = None
        if self.machine is not None:
            self.track.no_cards = self.machine.reason
        self.changed.emit()

    def _started(self, _: Run) -> None:
        self._forget()

    def _reported(self, event: Event) -> None:
        self._newest_event = time.monotonic()
        if self._training.running and not self._training.paused:
            self._clock = self._newest_event - event.time
        self.track.add_event(event)
        self.state.add_event(event)
        if isinstance(event, Evaluated) and event.split == "val" and event.best:
            self.result = event
        self.changed.emit()

    def _recalled(self, past: PastRun) -> None:
        """Take over the complete past of a run, replacing the few events reported individually."""
        self.track, self.state = past.track, past.state
        self._newest_event = time.monotonic()
        self.changed.emit()

    def _ended(self, ending: Finished | Failed) -> None:
        self._clock = None
        self.state.add_event(ending)
        self.changed.emit()
        QTimer.singleShot(RELEASE, self, lambda: self._tasks.submit(lambda _: release_free_memory()))

    def _sampled(self, sample: SystemSample) -> None:
        """Add a machine sample on the time axis of the active run; none is added while the run is paused."""
        self.machine = sample
        if self.track.started is None:
            self.track.no_cards = sample.reason
        if self._training.paused:
            self._clock = None  # until the first event after the pause
        if self._clock is None or self.track.started is None:
            return
        now = time.monotonic() - self._clock
        self.track.add_sample(now, sample)
        self.state.add_sample(sample)
        run = self._training.run
        if run is not None and self._session.writable and now - self._stored >= now / THINNING:
            self._stored = now
            self._tasks.submit(lambda _: _store(run, encode_sample(now, sample)))
        self.changed.emit()

    def close(self) -> None:
        self._tasks.wait()


def _store(run: Run, line: str) -> None:
    # A full disk affects only the stored machine curves.
    with contextlib.suppress(OSError), machine_path(run).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
