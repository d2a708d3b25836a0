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
from workbench.session.task_queue import TaskQueue
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
        self._lane = TaskQueue(parent=self)
        self._asked = 0
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

        def work() -> dict[str, tuple[int, RunLine]]:
            found = {}
            for run in list_runs(root):
                size = run.events_path.stat().st_size if run.events_path.exists() else 0
                before = known.get(run.name)
                found[run.name] = before if before is not None and before[0] == size else (size, run_line(run))
            return found

        self._lane.submit(work, lambda found, error: self._listed(root, found, error))

    def _listed(self, root, found: dict[str, tuple[int, RunLine]] | None, error: Exception | None) -> None:
        if found is None or self._session.project is None or self._session.project.root != root:
            return
        self._known = found
        self.lines = [line for _, line in reversed(found.values())]
        self.listed.emit()

    def compare(self, runs: list[Run]) -> None:
        """Compare these runs with the shown one."""
        shown = self._training.run
        self._asked += 1
        if shown is None or not runs:
            self.compared = []
            self.compared_changed.emit()
            return
        asked, chosen = self._asked, [run for run in runs if run.name != shown.name][:MOST]

        def work() -> list[ComparedRun]:
            found = []
            for run in chosen:
                if asked != self._asked:
                    break
                comparison = compare_runs(shown, run)
                past = read_past(run, stopped=lambda: asked != self._asked) if comparison.curves else PastRun()
                if not comparison.scores:
                    past.track.scores, past.track.best = Columns(("score",)), None
                found.append(ComparedRun(run, past.track, comparison))
            return found

        self._lane.submit(work, lambda found, error: self._read(asked, found, error))

    def _read(self, asked: int, found: list[ComparedRun] | None, error: Exception | None) -> None:
        if asked != self._asked:
            return
        if isinstance(error, Problem):
            self.failed.emit(error)
        self.compared = found or []
        self.compared_changed.emit()

    def _shown_changed(self, run: Run) -> None:
        """Compare the selected runs with the newly shown one, as far as possible."""
        if self.compared:
            self.compare([other.run for other in self.compared])
        if all(line.run.name != run.name for line in self.lines):
            self.refresh()

    def _forget(self) -> None:
        self._asked += 1
        self.lines, self.compared, self._known = [], [], {}
        self.listed.emit()
        self.compared_changed.emit()

    def close(self) -> None:
        self._asked += 1
        self._lane.cancel_pending()
