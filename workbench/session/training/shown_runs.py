"""Runs that are shown: a line of each run of the project, compared curves, and live data of the shown run."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.problems import Problem
from workbench.core.runs.events import Evaluated, Event, Failed, Finished
from workbench.core.runs.gpu_facts import SystemSample, encode_sample
from workbench.core.runs.run import Run, choose_default, list_runs
from workbench.core.runs.run_history import (
    HealthFinding,
    PastRun,
    RunLine,
    RunState,
    diagnose,
    machine_path,
    read_past,
    run_line,
)
from workbench.core.runs.run_series import Columns, RunComparison, RunSeries, compare_runs
from workbench.inference.cpu_environment import release_free_memory
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
from workbench.session.training.telemetry import TelemetryThread
from workbench.session.training.training_control import TrainingControl

MOST = 3  # compared runs besides the shown one; more curves cannot be distinguished
RELEASE = 2000  # ms after the end, when its data has been read
THINNING = 2000  # stored samples are 1/2000 of the elapsed time apart: two weeks give 15,000 lines, not a million


@dataclass(frozen=True)
class ComparedRun:
    """A run compared with the shown one. series: the curves that can be drawn in the same plots."""

    run: Run
    series: RunSeries
    comparison: RunComparison


class RunList(QObject):
    """List of runs and exports, read in a worker thread; the only one of the window.

    `lines` are newest first, `exports` too; `compared` is in the order of selection. The list is read when a project is
    opened or its images are listed again, when a training begins or ends, and by `refresh`.
    """

    listed = Signal()  # also after the model in use was chosen, here or by another program
    in_use_changed = Signal()
    compared_changed = Signal()
    failed = Signal(object)  # Problem: a run could not be read

    def __init__(self, session: Session, training: TrainingControl) -> None:
        super().__init__(training)
        self.lines: list[RunLine] = []
        self.exports: dict[Path, str] = {}  # the newest first, with the names of their runs
        self.compared: list[ComparedRun] = []
        self._session, self._training = session, training
        self._known: dict[str, tuple[int, RunLine]] = {}  # name -> size of its events, line
        self.tasks = TaskRunner(2, self)  # the list does not wait for a comparison
        self._refresh: Task | None = None
        self._last_used: tuple[Path | None, bool] = (None, False)  # model in use, whether it was chosen
        self.listed.connect(self._report_in_use)
        session.project_opened.connect(self.refresh)
        session.image_list.listed.connect(self.refresh)
        session.project_closed.connect(self._forget)
        session.classes.changed.connect(self._project_changed)
        training.started.connect(self._shown_changed)
        training.ended.connect(self.refresh)
        if session.project is not None:
            self.refresh()

    # --- content ----------------------------------------------------------------------------------

    @property
    def refreshing(self) -> bool:
        """True from a `refresh` until `listed` is emitted."""
        return self._refresh is not None and not self._refresh.done

    def usable(self, model: str = "") -> list[RunLine]:
        """Return the runs that can be used for prediction, newest first. model: only runs of this kind of model."""
        return [line for line in self.lines if line.usable and model in ("", line.model)]

    @property
    def chosen(self) -> Run | None:
        """Run that the user has chosen in the project, if it can be used."""
        project = self._session.project
        name = project.file.model_in_use if project is not None else ""
        return next((line.run for line in self.usable() if line.run.name == name and line.run.usable), None)

    @property
    def in_use(self) -> Run | None:
        """Model in use, for predictions, suggestions, evaluation and export: the chosen run, else the default one.

        A run that has just been trained never replaces a chosen one. Without any usable run in the list, it is the
        shown run, once it can be used.
        """
        for run in (self.chosen, self.default(), self._training.run):
            if run is not None and run.usable:
                return run
        return None

    def choose(self, run: Run | None) -> None:
        """Use this run from now on, None: the default one; stored in project.json. `listed` follows."""
        name = "" if run is None else run.name
        if self._session.writable and self._session.set_project_field("model_in_use", name):
            self.listed.emit()

    def line_of(self, run: Run | None) -> RunLine | None:
        """Return the line of a run; None if it is not listed."""
        return next((line for line in self.lines if run is not None and line.run.name == run.name), None)

    def default(self, model: str = "") -> Run | None:
        """Return the run of `choose_default`. model: only runs of this kind of model."""
        line = choose_default(self.usable(model))
        return None if line is None else line.run

    def metrics_of(self, run: Run | None) -> dict[str, Any]:
        """Return the metrics of a run's best evaluation on the validation images, empty without one."""
        line = self.line_of(run)
        return {} if line is None else line.metrics

    def models(self) -> list[Path]:
        """Return the folders of the model in use: its exports, the newest first, and its run."""
        used = self.in_use
        return [] if used is None else [*self.exports_of(used), used.root]

    def exports_of(self, run: Run) -> list[Path]:
        """Return the exports of a run, the newest first."""
        return [path for path, name in self.exports.items() if name == run.name]

    @property
    def exported(self) -> RunLine | None:
        """Run of the newest export, the model on the line; None without an export, or if its run cannot be used."""
        newest = next(iter(self.exports.values()), "")
        return next((line for line in self.usable() if line.run.name == newest), None)

    def refresh(self, *_: object) -> None:
        """List the runs again; `listed` follows. A result that is still outstanding is dropped."""
        project = self._session.project
        if project is None:
            return
        root, known = project.root, dict(self._known)

        def work(_: Task) -> tuple[dict[str, tuple[int, RunLine]], dict[Path, str]]:
            from workbench.core.runs.release import listed_exports  # not before a project is open

            lines = {}
            for run in list_runs(root):
                size = run.events_path.stat().st_size if run.events_path.exists() else 0
                before = known.get(run.name)
                if before is not None and before[0] == size:
                    lines[run.name] = size, replace(before[1], usable=run.usable)
                else:
                    lines[run.name] = size, run_line(run)
            return lines, dict(listed_exports(root))

        self._refresh = self.tasks.submit(work, self._show, lambda _: self.listed.emit(), key="list")

    def _show(self, result: tuple[dict[str, tuple[int, RunLine]], dict[Path, str]]) -> None:
        self._known, self.exports = result
        self.lines = [line for _, line in reversed(self._known.values())]
        self.listed.emit()

    def _project_changed(self) -> None:
        """Follow a choice that another program has written to project.json."""
        if self._used() != self._last_used:
            self.listed.emit()

    def _used(self) -> tuple[Path | None, bool]:
        used = self.in_use
        return None if used is None else used.root, self.chosen is not None

    def _report_in_use(self) -> None:
        used = self._used()
        if used != self._last_used:
            self._last_used = used
            self.in_use_changed.emit()

    # --- comparison -------------------------------------------------------------------------------

    def compare(self, runs: list[Run]) -> None:
        """Compare these runs with the shown one."""
        shown = self._training.run
        self.tasks.cancel("compare")
        if shown is None or not runs:
            self._set_compared([])
            return
        chosen = [run for run in runs if run.name != shown.name][:MOST]

        def work(task: Task) -> list[ComparedRun]:
            compared = []
            for run in chosen:
                if task.cancelled():
                    break
                comparison = compare_runs(shown, run)
                past = read_past(run, stopped=task.cancelled) if comparison.curves else PastRun()
                if not comparison.scores:
                    past.series.scores, past.series.best = Columns(("score", "dice")), None
                compared.append(ComparedRun(run, past.series, comparison))
            return compared

        def on_failed(problem: Problem) -> None:
            self.failed.emit(problem)
            self._set_compared([])

        self.tasks.submit(work, self._set_compared, on_failed, key="compare")

    def _set_compared(self, compared: list[ComparedRun]) -> None:
        self.compared = compared
        self.compared_changed.emit()

    def _shown_changed(self, run: Run) -> None:
        """Compare the selected runs with the newly shown one, as far as possible."""
        if self.compared:
            self.compare([other.run for other in self.compared])
        if all(line.run.name != run.name for line in self.lines):
            self.refresh()

    def _forget(self) -> None:
        self.tasks.cancel()
        self.lines, self.exports, self.compared, self._known = [], {}, [], {}
        self.listed.emit()
        self.compared_changed.emit()

    def close(self) -> None:
        self.tasks.stop()


class RunMonitor(QObject):
    """Collector of training events and machine samples. `series` and `state` belong to the shown run."""

    changed = Signal()

    def __init__(self, session: Session, training: TrainingControl, telemetry: TelemetryThread) -> None:
        super().__init__(training)
        self.series, self.state = RunSeries(), RunState()
        self.result: Evaluated | None = None  # the evaluation of the best model so far
        self.machine: SystemSample | None = None  # the newest sample, also without a run
        self._session, self._training = session, training
        self.tasks = TaskRunner(parent=self)
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
        self.series, self.state, self._clock, self._newest_event, self._stored = RunSeries(), RunState(), None, 0.0, 0.0
        self.result = None
        if self.machine is not None:
            self.series.no_gpu_reason = self.machine.reason
        self.changed.emit()

    def _started(self, _: Run) -> None:
        self._forget()

    def _reported(self, event: Event) -> None:
        self._newest_event = time.monotonic()
        if self._training.running and not self._training.paused:
            self._clock = self._newest_event - event.time
        self.series.add_event(event)
        self.state.add_event(event)
        if isinstance(event, Evaluated) and event.split == "val" and event.best:
            self.result = event
        self.changed.emit()

    def _recalled(self, past: PastRun) -> None:
        """Take over the complete past of a run, replacing the few events reported individually."""
        self.series, self.state = past.series, past.state
        self._newest_event = time.monotonic()
        self.changed.emit()

    def _ended(self, ending: Finished | Failed) -> None:
        self._clock = None
        self.state.add_event(ending)
        self.changed.emit()
        QTimer.singleShot(RELEASE, self, lambda: self.tasks.submit(lambda _: release_free_memory()))

    def _sampled(self, sample: SystemSample) -> None:
        """Add a machine sample on the time axis of the active run; none is added while the run is paused."""
        self.machine = sample
        if self.series.started is None:
            self.series.no_gpu_reason = sample.reason
        if self._training.paused:
            self._clock = None  # until the first event after the pause
        if self._clock is None or self.series.started is None:
            return
        now = time.monotonic() - self._clock
        self.series.add_sample(now, sample)
        self.state.add_sample(sample)
        run = self._training.run
        if run is not None and self._session.writable and now - self._stored >= now / THINNING:
            self._stored = now
            self.tasks.submit(lambda _: _store(run, encode_sample(now, sample)))
        self.changed.emit()

    def close(self) -> None:
        self.tasks.wait()


def _store(run: Run, line: str) -> None:
    # A full disk affects only the stored machine curves.
    with contextlib.suppress(OSError), machine_path(run).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
