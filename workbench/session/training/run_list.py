"""Runs of the project: a summary line each, and full curves of those compared with the shown run."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.runs.run import Run, list_runs
from workbench.core.runs.run_comparison import RunComparison, compare_runs
from workbench.core.runs.run_history import PastRun, RunLine, read_past, run_line
from workbench.core.runs.run_series import Columns, RunSeries
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner, ignore_failure
from workbench.session.training.training_control import TrainingControl

MOST = 3  # compared runs besides the shown one; more curves cannot be told apart


@dataclass(frozen=True)
class ComparedRun:
    """A run compared with the shown one. track: the curves that can be drawn in the same plots."""

    run: Run
    track: RunSeries
    comparison: RunComparison


class RunList(QObject):
    """List of runs, read in a worker thread. `lines` are newest first; `compared` in the order of selection."""

    listed = Signal()
    compared_changed = Signal()
    failed = Signal(object)  # Problem: a run could not be read

    def __init__(self, session: Session, training: TrainingControl) -> None:
        super().__init__(training)
        self.lines: list[RunLine] = []
        self.compared: list[ComparedRun] = []
        self._session, self._training = session, training
        self._known: dict[str, tuple[int, RunLine]] = {}  # name -> size of its events, line
        self._tasks = TaskRunner(parent=self)
        session.project_opened.connect(self.refresh)
        session.project_closed.connect(self._forget)
        training.started.connect(self._shown_changed)
        training.ended.connect(self.refresh)

    def refresh(self, *_: object) -> None:
        """List the runs again."""
        project = self._session.project
        if project is None:
            return
        root, known = project.root, dict(self._known)

        def work(_: Task) -> dict[str, tuple[int, RunLine]]:
            found = {}
            for run in list_runs(root):
                size = run.events_path.stat().st_size if run.events_path.exists() else 0
                before = known.get(run.name)
                found[run.name] = before if before is not None and before[0] == size else (size, run_line(run))
            return found

        self._tasks.submit(work, self._listed, ignore_failure, key="list", finish_running=True)

    def _listed(self, found: dict[str, tuple[int, RunLine]]) -> None:
        self._known = found
        self.lines = [line for _, line in reversed(found.values())]
        self.listed.emit()

    def compare(self, runs: list[Run]) -> None:
        """Compare these runs with the shown one."""
        shown = self._training.run
        self._tasks.cancel("compare")
        if shown is None or not runs:
            self.compared = []
            self.compared_changed.emit()
            return
        chosen = [run for run in runs if run.name != shown.name][:MOST]

        def work(task: Task) -> list[ComparedRun]:
            found = []
            for run in chosen:
                if task.cancelled():
                    break
                comparison = compare_runs(shown, run)
                past = read_past(run, stopped=task.cancelled) if comparison.curves else PastRun()
                if not comparison.scores:
                    past.track.scores, past.track.best = Columns(("score",)), None
                found.append(ComparedRun(run, past.track, comparison))
            return found

        def on_failed(problem: Problem) -> None:
            self.failed.emit(problem)
            self._set_compared([])

        self._tasks.submit(work, self._set_compared, on_failed, key="compare")

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
        self._tasks.cancel()
        self.lines, self.compared, self._known = [], [], {}
        self.listed.emit()
        self.compared_changed.emit()

    def close(self) -> None:
        self._tasks.stop()
