"""Training settings of the open project for the next runs, and the plan that results from them.

Continuous training: labels made during a run enter it, and the run does not end when its time is up.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem, ProjectBroken
from workbench.core.runs import training_settings
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import BestKept, Event, LabelsAdded, Started
from workbench.core.runs.run import Run, plan_run
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner
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


class SavedOverrides(QObject):
    """Training settings per kind of model, never written for a read-only project or over an unreadable file."""

    changed = Signal()
    planned = Signal(object)  # TrainingSettings
    unplanned = Signal(object)  # Problem: reason why no run can be planned

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._overrides = training_settings.SettingsOverrides.of_defaults()
        self._broken: Problem | None = None
        self._tasks = TaskRunner(1, self)
        # Of the last plan: model, initial run, and dataset.
        self._known: tuple[str, str | None, Dataset] | None = None
        session.project_opened.connect(self._load)
        session.project_closed.connect(self._load)
        self._load()

    def of(self, model: str) -> training_settings.Choices:
        """Return the training settings, as taken by `TrainingControl.start`."""
        return self._overrides.of(model)

    def save(self, model: str, choices: training_settings.Choices) -> None:
        """Set the training settings for every following run of this kind of model."""
        self._overrides = self._overrides.with_choices(model, choices)
        project = self._session.project
        if project is not None and project.writable and self._broken is None:
            try:
                training_settings.save_overrides(project, self._overrides)
            except Problem as problem:
                self._session.problem_met.emit(problem)
        elif self._broken is not None:
            self._session.problem_met.emit(self._broken)
        self.changed.emit()

    def plan(self, model: str, choices: dict[str, Any], *, replanned: bool) -> None:
        """Plan a run; `planned` or `unplanned` follows. choices: with minutes, device. replanned: read labels again."""
        project = self._session.project
        if project is None:
            return
        if replanned:
            self._session.flush()
            self._known = None
        start_from = choices.get("start_from")

        def work(_: Task) -> tuple[Dataset, training_settings.TrainingSettings]:
            known = self._known
            dataset = known[2] if known is not None and known[:2] == (model, start_from) else None
            return plan_run(project, training_settings.request(model, **choices), dataset)

        def on_done(plan: tuple[Dataset, training_settings.TrainingSettings]) -> None:
            dataset, settings = plan
            self._known = model, start_from, dataset
            self.planned.emit(settings)

        self._tasks.submit(work, on_done, self.unplanned.emit, key="plan")

    def close(self) -> None:
        self._tasks.stop()

    def _load(self) -> None:
        self._tasks.cancel()
        self._overrides, self._broken, self._known = training_settings.SettingsOverrides.of_defaults(), None, None
        project = self._session.project
        if project is not None:
            try:
                self._overrides = training_settings.load_overrides(project)
            except ProjectBroken as problem:
                self._broken = problem
                self._session.problem_met.emit(problem)
        self.changed.emit()
