"""Evaluation of the image verdicts of a run: ROC curve, choice of the rule and its result, in a worker thread.

Evaluation of a verdict model on the validation and test images: predicted in a worker thread and cached on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.core.messages import Message
from workbench.core.problems import Problem, RunUnusable
from workbench.core.runs.run import Run
from workbench.inference.cpu_environment import release_free_memory
from workbench.inference.verdict_rule import VerdictRule
from workbench.session.session import Session
from workbench.session.tasks import Task, TaskRunner

if TYPE_CHECKING:
    from workbench.core.evaluation.intervals import Interval
    from workbench.core.evaluation.operating_point import ChosenRule
    from workbench.core.evaluation.split_evaluation import VerdictSplitEvaluation
    from workbench.core.evaluation.verdict_evaluation import VerdictEvaluation, VerdictPredictions
    from workbench.core.evaluation.verdict_rules import (
        GroupedProportion,
        RocCurve,
        RuleChoice,
        RuleEvaluation,
        ScoredImage,
    )
    from workbench.inference.model_settings import ModelSettings


@dataclass(frozen=True)
class ImageVerdictResult:
    """Result for the images of an evaluation at one operating point.

    curve, auroc: None without good or without defective images. interval: of the AUROC, or the reason why it has none.
    recalls: share of rejected good images to the defective images detected at it, None if there are too few images.
    rule, note: None and "" without a rule. unsure: the greatest for which no defective image is OK, or None.
    """

    curve: RocCurve | None
    auroc: float | None
    interval: Interval | Message
    recalls: dict[float, GroupedProportion | None]
    rule: RuleEvaluation | None
    note: str
    unsure: float | None


class ImageVerdicts(QObject):
    """Verdict rule under evaluation. choice: None if images get no verdict. result: None until it is computed."""

    changed = Signal()  # choice or result

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = TaskRunner(1, self)
        self.clear()

    def clear(self) -> None:
        """Remove choice and result; the computation in progress is ignored."""
        self._tasks.cancel()
        self.choice: RuleChoice | None = None
        self.result: ImageVerdictResult | None = None
        self._stored: ChosenRule | None = None
        self._split = ""
        self._images: Sequence[ScoredImage] = ()
        self._same_point = True

    def stop(self) -> None:
        self._tasks.stop()

    def open(self, stored: ChosenRule | None, split: str) -> None:
        """Begin with the rule in use. split: of the evaluated images."""
        self.clear()
        self._stored, self._split = stored, split
        self.choice = stored.choice if stored is not None else None

    def keep(self, stored: ChosenRule | None) -> None:
        """Set the rule in use after it was stored."""
        self._stored, self._same_point = stored, True
        self.changed.emit()

    def set_choice(self, choice: RuleChoice | None) -> None:
        """Evaluate another rule; `changed` follows with its result."""
        if choice != self.choice:
            self.choice = choice
            self._evaluate()

    def reset(self) -> None:
        """Invalidate the result until the images are evaluated at another operating point."""
        self._tasks.cancel()
        self.result, self._images = None, ()

    def evaluate(self, images: Sequence[ScoredImage], *, same_point: bool) -> None:
        """Evaluate on these images. same_point: they were evaluated at the operating point in use."""
        self._images, self._same_point = images, same_point
        self._evaluate()

    @property
    def _fixed_rule(self) -> VerdictRule | None:
        """Rule in use if it was chosen on other images at this operating point; otherwise it is chosen again."""
        stored = self._stored
        if stored is None or stored.choice != self.choice or not self._same_point or self._split in stored.chosen_on:
            return None
        return stored.rule

    @property
    def chosen(self) -> ChosenRule | None:
        """Rule that would be stored, None for no verdicts."""
        from workbench.core.evaluation.operating_point import ChosenRule

        rule = self.result.rule if self.result is not None else None
        if rule is None or self.choice is None:
            return None
        if rule.method == "other" and self._stored is not None:
            return self._stored
        return ChosenRule(rule.rule, self.choice, (self._split,))

    @property
    def moved(self) -> bool:
        """True if the rule differs from the one in use; False while it is being computed."""
        chosen = self.chosen
        if chosen is None and self.choice is not None:
            return False
        return (chosen and chosen.rule) != (self._stored and self._stored.rule)

    def _evaluate(self) -> None:
        from workbench.core.evaluation.verdict_rules import (
            FALSE_SHARES,
            auroc_interval,
            evaluate_rule,
            image_auroc,
            recall_at,
            roc_curve,
            rule_note,
            unsure_without_missed,
        )

        choice, images, rule = self.choice, self._images, self._fixed_rule

        def work(_: Task) -> ImageVerdictResult:
            evaluated = None
            if choice is not None and images:
                evaluated = evaluate_rule(choice, images, rule=rule, fixed=rule is not None)
            return ImageVerdictResult(
                roc_curve(images),
                image_auroc(images),
                auroc_interval(images),
                {share: recall_at(images, share)[0] for share in FALSE_SHARES},
                evaluated,
                "" if choice is None or evaluated is None else rule_note(choice, images, evaluated.method),
                unsure_without_missed(images),
            )

        self.result = None
        self.changed.emit()
        self._tasks.submit(work, self._evaluated, key="evaluate")

    def _evaluated(self, result: ImageVerdictResult) -> None:
        self.result = result
        self.changed.emit()


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
        from workbench.core.evaluation import operating_point
        from workbench.core.evaluation.split_evaluation import VerdictSplitEvaluation

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
        from workbench.core.evaluation.verdict_evaluation import predict_verdicts

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
        from workbench.core.evaluation import operating_point

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
