"""Evaluation of the image verdicts of a run: ROC curve, choice of the rule and its result, in a worker thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.inference.verdict_rule import VerdictRule
from workbench.session.tasks import Task, TaskRunner

if TYPE_CHECKING:
    from workbench.core.evaluation.image_ranking import GroupedProportion, RocCurve, ScoredImage
    from workbench.core.evaluation.intervals import Interval
    from workbench.core.evaluation.operating_point import ChosenRule
    from workbench.core.evaluation.verdict_rules import RuleChoice, RuleEvaluation
    from workbench.core.messages import Message


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
        from workbench.core.evaluation.image_ranking import (
            FALSE_SHARES,
            auroc_interval,
            image_auroc,
            recall_at,
            roc_curve,
        )
        from workbench.core.evaluation.verdict_rules import evaluate_rule, rule_note, unsure_without_missed

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
