"""Runs of the project: a summary line each, and full curves of those compared with the shown run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.runs.run import Run, list_exports, list_runs
from workbench.core.runs.run_choice import choose_default
from workbench.core.runs.run_comparison import RunComparison, compare_runs
from workbench.core.runs.run_history import PastRun, RunLine, read_past, run_line
from workbench.core.runs.run_series import Columns, RunSeries
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
from workbench.session.training.training_control import TrainingControl

MOST = 3  # compared runs besides the shown one; more curves cannot be told apart


@dataclass(frozen=True)
class ComparedRun:
    """A run compared with the shown one. track: the curves that can be drawn in the same plots."""

    run: Run
    track: RunSeries
    comparison: RunComparison


class RunList(QObject):
    """List of runs and exports, read in a worker thread; the only one of the window.

    `lines` are newest first, `exports` too; `compared` is in the order of selection. The list is read when a project is
    opened or its images are listed again, when a training begins or ends, and by `refresh`.
    """

    listed = Signal()
    compared_changed = Signal()
    failed = Signal(object)  # Problem: a run could not be read

    def __init__(self, session: Session, training: TrainingControl) -> None:
        super().__init__(training)
        self.lines: list[RunLine] = []
        self.exports: list[Path] = []
        self.compared: list[ComparedRun] = []
        self.selected: Run | None = None  # run that the user selected to be used, until another one is shown
        self._session, self._training = session, training
        self._known: dict[str, tuple[int, RunLine]] = {}  # name -> size of its events, line
        self._tasks = TaskRunner(2, self)  # the list does not wait for a comparison
        self._refresh: Task | None = None
        session.project_opened.connect(self.refresh)
        session.images_listed.connect(self.refresh)
        session.project_closed.connect(self._forget)
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
    def in_use(self) -> Run | None:
        """Run for predictions, suggestions, evaluation and export: the selected run, else the default one.

        A run that has just been trained is used if it is the default one. Without any usable run in the list, it is
        the shown run, once it can be used.
        """
        shown = self._training.run
        for run in (self.selected, self.default(), shown):
            if run is not None and run.usable:
                return run
        return None

    def default(self, model: str = "") -> Run | None:
        """Return the run of `choose_default`. model: only runs of this kind of model."""
        line = choose_default(self.usable(model))
        return None if line is None else line.run

    def models(self) -> list[Path]:
        """Return the folders of the usable runs, that of the run in use first, and of the exports."""
        used, folders = self.in_use, [line.run.root for line in self.usable()]
        if used is not None and used.root in folders:
            folders.insert(0, folders.pop(folders.index(used.root)))
        return [*folders, *self.exports]

    def refresh(self, *_: object) -> None:
        """List the runs again; `listed` follows. A result that is still outstanding is dropped."""
        project = self._session.project
        if project is None:
            return
        root, known = project.root, dict(self._known)

        def work(_: Task) -> tuple[dict[str, tuple[int, RunLine]], list[Path]]:
            lines = {}
            for run in list_runs(root):
                size = run.events_path.stat().st_size if run.events_path.exists() else 0
                before = known.get(run.name)
                if before is not None and before[0] == size:
                    lines[run.name] = size, replace(before[1], usable=run.usable)
                else:
                    lines[run.name] = size, run_line(run)
            return lines, list_exports(root)

        self._refresh = self._tasks.submit(work, self._show, lambda _: self.listed.emit(), key="list")

    def _show(self, result: tuple[dict[str, tuple[int, RunLine]], list[Path]]) -> None:
        self._known, self.exports = result
        self.lines = [line for _, line in reversed(self._known.values())]
        self.listed.emit()

    # --- comparison -------------------------------------------------------------------------------

    def compare(self, runs: list[Run]) -> None:
        """Compare these runs with the shown one."""
        shown = self._training.run
        self._tasks.cancel("compare")
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
                    past.track.scores, past.track.best = Columns(("score",)), None
                compared.append(ComparedRun(run, past.track, comparison))
            return compared

        def on_failed(problem: Problem) -> None:
            self.failed.emit(problem)
            self._set_compared([])

        self._tasks.submit(work, self._set_compared, on_failed, key="compare")

    def _set_compared(self, compared: list[ComparedRun]) -> None:
        self.compared = compared
        self.compared_changed.emit()

    def _shown_changed(self, run: Run) -> None:
        """Compare the selected runs with the newly shown one, as far as possible."""
        if self.selected is not None and self.selected.root != run.root:
            self.selected = None
        if self.compared:
            self.compare([other.run for other in self.compared])
        if all(line.run.name != run.name for line in self.lines):
            self.refresh()

    def _forget(self) -> None:
        self._tasks.cancel()
        self.lines, self.exports, self.compared, self._known, self.selected = [], [], [], {}, None
        self.listed.emit()
        self.compared_changed.emit()

    def close(self) -> None:
        self._tasks.stop()
