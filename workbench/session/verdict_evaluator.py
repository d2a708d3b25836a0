"""Evaluation of a verdict model on the validation and test images: predicted in a worker thread and cached on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from workbench.core.evaluation import operating_point
from workbench.core.evaluation.split_evaluation import VerdictSplitEvaluation
from workbench.core.evaluation.verdict_evaluation import VerdictEvaluation, VerdictPredictions, predict_verdicts
from workbench.core.messages import Message
from workbench.core.problems import Problem, RunUnusable
from workbench.core.runs.run import Run
from workbench.inference.cpu_environment import release_free_memory
from workbench.inference.model_settings import ModelSettings
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner


class VerdictEvaluator(QObject):
    """Evaluation of one run at a time. It is updated when a verdict is corrected, without another prediction."""

    evaluated = Signal(object)  # VerdictEvaluation of all validation and test images
    progressed = Signal(int, int)
    failed = Signal(object)  # Problem
    stored = Signal(object)  # Run: its reject probability was stored

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run: Run | None = None
        self.settings: ModelSettings | None = None
        self._session = session
        self._tasks = TaskRunner(1, self)
        self._predictions: VerdictPredictions | None = None
        session.image_list.rows_changed.connect(self._labels_changed)
        session.project_closed.connect(self.close)

    @property
    def unsure(self) -> float:
        """Reject probability stored with the run."""
        return self.settings.unsure if self.settings is not None else 0.0

    def of_split(self, verdicts: VerdictEvaluation, split: str) -> VerdictSplitEvaluation | None:
        """Return an evaluation with its run, for a report; None without one. Its leaks are not searched for."""
        run, predictions = self.run, self._predictions
        if run is None or predictions is None or not verdicts.images:
            return None
        try:
            stored = operating_point.read(run)
        except Problem:
            return None
        settings = self.settings or predictions.settings
        return VerdictSplitEvaluation(run, predictions.dataset, split, settings, stored, verdicts)

    def start(self, run: Run) -> None:
        """Evaluate a run; `evaluated` or `failed` follows, with `progressed` meanwhile."""
        project = self._session.project
        if project is None:
            return
        self.run, self.settings, self._predictions = run, None, None
        writable = self._session.writable

        def work(task: Task) -> VerdictPredictions | None:
            try:
                return predict_verdicts(project, run, store=writable, progress=task.report, cancelled=task.cancelled)
            finally:
                release_free_memory()

        def on_done(predictions: VerdictPredictions | None) -> None:
            if predictions is not None:
                self._predictions, self.settings = predictions, predictions.settings
                self._evaluate()

        self._tasks.submit(
            work,
            on_done,
            self.failed.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: RunUnusable(name=run.name, why=Message.of(error)),
            key="predict",
        )

    def store(self, probability: float, chosen_on: Sequence[str]) -> None:
        """Store the minimum probability of a verdict with the run; `stored` or `failed` follows.

        chosen_on: those of "val" and "test" whose images were considered.
        """
        run = self.run
        if run is None or self.settings is None or not self._session.writable:
            return
        try:
            point = replace(operating_point.OperatingPoint.of(operating_point.settings_of(run)), unsure=probability)
            operating_point.store(run, point, chosen_on=chosen_on)
            self.settings = operating_point.settings_of(run)
        except Problem as problem:
            self.failed.emit(problem)
        else:
            self.stored.emit(run)

    def close(self) -> None:
        """Cancel the work in progress."""
        self._tasks.stop()
        self.run = self.settings = self._predictions = None

    def _labels_changed(self, rows: list) -> None:
        if self._predictions is not None and any(row.key in self._predictions.probabilities for row in rows):
            self._evaluate()

    def _evaluate(self) -> None:
        predictions, rows = self._predictions, self._session.rows
        assert predictions is not None
        self.evaluated.emit(
            predictions.evaluate(lambda item: rows[item.key].verdict if item.key in rows else item.verdict)
        )
