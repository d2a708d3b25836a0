"""Verb `evaluate`: measure a run on validation/test images with the prediction code that an export uses."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.cli import evaluation_report, image_evaluation
from workbench.cli.evaluation_report import print_report
from workbench.cli.use import add_run_arguments, report_in_use
from workbench.cli.verb_runner import Console, add_project
from workbench.core import problems
from workbench.core.adoption.adopted_run import refresh_dataset
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.figure_report import mask_report, verdict_report
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.run_measurement import evaluation_notes
from workbench.core.evaluation.split_evaluation import (
    FIGURES_ONLY,
    EvaluationOptions,
    MaskEvaluation,
    SplitEvaluation,
    evaluate_run,
)
from workbench.core.project.grouping import find_duplicates
from workbench.core.project.project import MAX_CLASS_ID, Project, read_project_file
from workbench.core.runs.dataset import Dataset, Item, collect
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.run_history import run_line

_NO_OPTIONS: Mapping[str, Any] = {}


class NoImagesInSplit(problems.Problem):
    message = "The run {name} has no images in {split}."
    advice = "Choose another --split, or label more images and train again."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    add_run_arguments(parser, "run to evaluate")
    parser.add_argument(
        "--split",
        choices=("val", "test", "all"),
        help=('data split (default: test if present, otherwise val); "all" includes training images'),
    )
    parser.add_argument(
        "--against", type=Path, metavar="PROJECT2", help="use all labeled images of another project instead"
    )
    evaluation_report.add_arguments(parser)
    image_evaluation.add_arguments(parser)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    evaluation_report.check(options)
    root = options.project.absolute()
    read_project_file(root)
    run = find_run(root, options.name, options.model)
    evaluation_report.compared_run(options, run)  # a wrong name is reported before anything is measured
    in_use = report_in_use(root, console)
    if options.against is not None:
        evaluation, result = evaluate_against(run, options.against, console, vars(options))
    else:
        curves = options.report is not None and options.compare is None
        evaluation, result = evaluate(run, console, split=options.split, curves=curves, rule_options=vars(options))
    result |= {**in_use, "forecast": None, "lighting": None, **run_line(run).expectation}
    print_report(evaluation, result, console)
    if options.report is not None or options.compare is not None:
        result |= evaluation_report.make(options, evaluation, console)
    return result


def evaluate(
    run: Run,
    console: Console,
    *,
    split: str | None = None,
    curves: bool = False,
    rule_options: Mapping[str, Any] = _NO_OPTIONS,
) -> tuple[SplitEvaluation, dict[str, Any]]:
    """Measure `run` on one split of its own dataset with the present labels. Return the evaluation and the verb's JSON.

    curves: also evaluate other thresholds. rule_options: those of `image_evaluation`.
    """
    run.need_usable()
    project = Project.open(run.project_root, write=False)
    data = refresh_dataset(project, run)
    split = split or data.measured_split
    items = data.current if split == "all" else data.of(split)
    if not items:
        raise NoImagesInSplit(name=run.name, split=split)
    options = EvaluationOptions(curves=curves, leaks=split != "all")
    evaluation = _measure(project, run, split, items, console, rule_options, options)
    leaks = [{"path": leak.held_out_key, "learned": leak.train_key, "why": leak.why} for leak in evaluation.leaks]
    result = {"run": run.name, "model": run.settings().model, "split": split, **_report(evaluation, rule_options)}
    return evaluation, {**result, "leaks": leaks, "notes": evaluation_notes(evaluation, data)}


def evaluate_against(
    run: Run, other: Path, console: Console, rule_options: Mapping[str, Any] = _NO_OPTIONS
) -> tuple[SplitEvaluation, dict[str, Any]]:
    """Measure `run` on all labeled images of another project; classes are matched by name."""
    run.need_usable()
    data = run.dataset()
    project = Project.open(other, write=False)
    items = collect(project, data.model).items
    options = replace(FIGURES_ONLY, class_ids=_ids_by_name(project, data))
    evaluation = _measure(project, run, "", items, console, rule_options, options)
    notes = [f"Measured on {evaluation.figures.images} labeled images of {project.file.name}."]
    home = Project.open(run.project_root, write=False)
    learned = find_duplicates(project, [item.key for item in items], home, [item.key for item in data.of("train")])
    if learned:
        notes.append(f"{len(learned)} of these images are training images. Metrics are too high.")
    split = f"against {project.file.name}"
    result = {"run": run.name, "model": run.settings().model, "split": split, **_report(evaluation, rule_options)}
    return evaluation, {**result, "notes": notes}


def _measure(
    project: Project,
    run: Run,
    split: str,
    items: Sequence[Item],
    console: Console,
    rule_options: Mapping[str, Any],
    options: EvaluationOptions,
) -> SplitEvaluation:
    border = rule_options.get("verdict_border")
    if border is not None and run.dataset().model == "unet":
        point = replace(OperatingPoint.of(operating_point.settings_of(run)), verdict_border=border)
        options = replace(options, point=point)
    with console.progress("evaluating") as move:
        evaluation = evaluate_run(project, run, split, items=items, options=options, progress=move)
    assert evaluation is not None  # it cannot be canceled
    return evaluation


def _report(evaluation: SplitEvaluation, rule_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the JSON that states figures, and store the verdict rule if requested."""
    figures, durations = evaluation.figures, evaluation.milliseconds
    report: dict[str, Any]
    if isinstance(evaluation, MaskEvaluation):
        settings = evaluation.evaluated_settings
        rest = settings, evaluation.images.images, evaluation.split, rule_options
        report = mask_report(figures, settings.um_per_pixel) | image_evaluation.measure(evaluation.run, *rest)
    else:
        verdicts, unsure = evaluation.verdicts, evaluation.settings.unsure
        report = {**verdict_report(figures), "calibration_error": verdicts.calibration_error()}
        if unsure:
            band = verdicts.band(unsure)
            report["unsure"] = {"below": band.least, "pictures": band.unsure, "errors_left": band.errors}
    return report | {
        "figures": [figure.to_json() for figure in figures.rows],
        "changed_labels": evaluation.changed,
        "skipped": [{"path": key, "why": why} for key, why in evaluation.skipped.items()],
        "milliseconds": float(np.median(durations)) if len(durations) else None,
    }


def _ids_by_name(project: Project, data: Dataset) -> np.ndarray:
    """Return uint8 (256,): class id of another project -> the model's id. Unknown classes get an id unused there."""
    table = np.arange(256, dtype=np.uint8)
    ours = {info.name: info.id for info in data.classes}
    free = next(id for id in range(MAX_CLASS_ID, 0, -1) if id not in ours.values())
    for info in project.classes:
        table[info.id] = ours.get(info.name, free)
    return table
