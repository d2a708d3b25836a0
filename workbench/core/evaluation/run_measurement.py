"""Measurement of a run on one data split for other programs, with notes on how far its figures can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.evaluation import figure_texts, operating_point, verdict_rules
from workbench.core.evaluation.confidence import MIN_OBSERVATIONS
from workbench.core.evaluation.figures import Figure, Figures
from workbench.core.evaluation.operating_point import ChosenRule, OperatingPoint
from workbench.core.evaluation.split_evaluation import EvaluationOptions, MaskEvaluation, SplitEvaluation, evaluate_run
from workbench.core.evaluation.verdict_rules import RuleChoice, RuleEvaluation
from workbench.core.messages import Message
from workbench.core.problems import BadSettings
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.model_lookup import as_problems
from workbench.core.runs.run import Run
from workbench.inference.region_table import ANY_CLASS, ANY_NAME, RegionLimit

SPLITS = ("val", "test", "val+test", "all")


@dataclass(frozen=True, repr=False)
class RunMeasurement:
    """Figures of a run on one data split. rows: a `Figure` per metric and class, with value, edges of its 95% interval
    (None without one), hits, total, images and parts. notes: on how far they can be trusted. skipped: key -> reason.
    """

    run: Run
    split: str
    figures: Figures
    notes: tuple[str, ...]
    skipped: Mapping[str, str]

    @classmethod
    def of(cls, measured: SplitEvaluation) -> RunMeasurement:
        notes = tuple(evaluation_notes(measured, measured.dataset))
        return cls(measured.run, measured.split, measured.figures, notes, measured.skipped)

    @property
    def rows(self) -> tuple[Figure, ...]:
        return self.figures.rows

    def __repr__(self) -> str:
        several = len(self.figures.classes) > 1
        rows = [row for row in self.rows if row.metric.shown and row.value is not None]
        rows = [row for row in rows if row.scope != "size" and (several or row.scope not in ("class", "mean"))]
        lines = [f"{self.run.name} on {self.figures.images} images of {self.figures.parts} parts ({self.split}):"]
        lines += [f"  {figure_texts.name(row)}: {figure_texts.text(row)}" for row in rows]
        return "\n".join([*lines, *self.notes])


def measure(run: Run, split: str | None = None, progress: Callable[[int, int], None] | None = None) -> SplitEvaluation:
    """Measure a run on a data split of its own dataset with the present labels.

    split: one of SPLITS; None: test images if there are any, else validation images. Raises BadSettings, RunUnusable.
    """
    run.need_usable()
    chosen = split or run.dataset().measured_split
    if chosen not in SPLITS:
        raise BadSettings(key="split", value=chosen, why=Message("settings.choice", names=", ".join(SPLITS)))
    options = EvaluationOptions(curves=False, leaks=chosen != "all")
    project = Project.open(run.project_root, write=False)
    with as_problems(run.root):
        measured = evaluate_run(project, run, chosen, options=options, progress=progress or (lambda done, total: None))
    assert measured is not None  # it cannot be canceled
    return measured


def choose_rule(
    measured: SplitEvaluation, by: str, value: float, limits: Mapping[str, Any], names: tuple[str, str]
) -> tuple[ChosenRule, RuleEvaluation]:
    """Choose a verdict rule on measured images. by, value, names: as of `RuleChoice`.

    limits: as of `RegionLimit`, by name of the class, "any" for all; a list of them for a class with several.

    Raises BadSettings.
    """
    if not isinstance(measured, MaskEvaluation):
        raise BadSettings(key="rule", value=by, why=Message("compare.other_kind"))
    images, ids = measured.images.images, {entry.name: entry.id for entry in measured.settings.classes}
    try:
        listed = [
            (name, limit)
            for name, value in limits.items()
            for limit in ([value] if isinstance(value, Mapping) else value)
        ]
        each = tuple(RegionLimit((ids | {ANY_NAME: ANY_CLASS})[name], **limit) for name, limit in listed)
        choice = RuleChoice(by, value, each, *names)  # ty: ignore[invalid-argument-type]
    except (ValueError, KeyError, TypeError) as error:
        raise BadSettings(key="rule", value=by, why=str(error)) from error
    rule = verdict_rules.choose_rule(choice, images)
    chosen = ChosenRule(rule, choice, tuple(measured.split.split("+")))
    return chosen, verdict_rules.evaluate_rule(choice, images, rule=rule)


def store_rule(measured: SplitEvaluation, chosen: ChosenRule) -> None:
    """Use a rule in predictions and exports of the measured run. Raises RunUnusable, CannotWrite."""
    run, settings = measured.run, measured.settings
    chosen_on = operating_point.read(run).chosen_on
    operating_point.store(run, OperatingPoint.of(settings), chosen_on=chosen_on, rule=chosen)


def evaluation_notes(evaluation: SplitEvaluation, data: Dataset) -> list[str]:
    """Return notes on an evaluation of one split of the run's own dataset `data`, or of "all" images."""
    notes: list[str] = []
    if evaluation.split == "all":
        notes.append(Message("report.training_included"))
    else:
        if evaluation.figures.images < MIN_OBSERVATIONS:
            notes.append(Message("report.few_images", n=evaluation.figures.images))
        notes += _bias_notes(evaluation.run, data, evaluation.split)
    if isinstance(evaluation, MaskEvaluation) and not evaluation.figures.good:
        notes.append(Message("card.few_good_none"))
    if isinstance(evaluation, MaskEvaluation) and evaluation.passed.untrained:
        notes.append(Message("report.untrained", n=evaluation.passed.untrained))
    if evaluation.changed:
        notes.append(Message("card.changed", n=evaluation.changed))
    if evaluation.leaks:
        notes.append(Message("report.leaks", n=len(evaluation.leaks), first=evaluation.leaks[0].held_out_key))
    return notes


def _bias_notes(run: Run, data: Dataset, split: str) -> list[str]:
    """Return notes on a biased split: the operating point or the thresholds were chosen on these images."""
    if split in operating_point.read(run).chosen_on:
        return [Message("report.point_chosen_here")]
    if run.adopted:
        return [data.held_out_note]
    if split != "val":
        return []
    return [Message("report.validation_weights" if data.model == "resnet" else "report.validation_used")]
