"""Verb `evaluate`: measure a run on validation/test images with the prediction code that an export uses.

Reports: text for the terminal, HTML or PDF files, and comparison with another run. The verb `gauge` is the gauge study
of a run on repeated images of the same parts, and with the verdicts of inspectors.
"""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.cli import image_evaluation
from workbench.cli.image_evaluation import print_images
from workbench.cli.model_verbs import add_run_arguments, report_in_use
from workbench.cli.train import expectation_lines, summary
from workbench.cli.verb_runner import Console, WrongUse, add_project
from workbench.core import messages, problems
from workbench.core.adoption.adopted_run import refresh_dataset
from workbench.core.documents import report_content
from workbench.core.documents.comparison_report import compare_evaluations, comparison_report, comparison_rows
from workbench.core.documents.document import PRINT_PAGE, Document, to_html
from workbench.core.documents.report_content import ReportImages, evaluation_report
from workbench.core.documents.run_blocks import size_range
from workbench.core.evaluation import figure_texts, gauge_study, operating_point
from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
from workbench.core.evaluation.figure_texts import mask_report, verdict_report
from workbench.core.evaluation.figures import Figure
from workbench.core.evaluation.gauge_study import FOLDER
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.run_measurement import evaluation_notes
from workbench.core.evaluation.split_evaluation import (
    FIGURES_ONLY,
    EvaluationOptions,
    MaskEvaluation,
    SplitEvaluation,
    evaluate_like,
    evaluate_run,
)
from workbench.core.messages import Message
from workbench.core.project.grouping import find_duplicates
from workbench.core.project.project import MAX_CLASS_ID, Project, read_project_file
from workbench.core.project.storage import write_text
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE
from workbench.core.runs.dataset import Dataset, Item, collect
from workbench.core.runs.launch import program_command
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.run_history import run_line
from workbench.core.text_patterns import counted

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
    add_report_arguments(parser)
    image_evaluation.add_arguments(parser)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    check_report(options)
    root = options.project.absolute()
    read_project_file(root)
    run = find_run(root, options.name, options.model)
    compared_run(options, run)  # a wrong name is reported before anything is measured
    in_use = report_in_use(root, console)
    if options.against is not None:
        evaluation, result = evaluate_against(run, options.against, console, vars(options))
    else:
        curves = options.report is not None and options.compare is None
        evaluation, result = evaluate(run, console, split=options.split, curves=curves, rule_options=vars(options))
    result |= {**in_use, "forecast": None, "lighting": None, **run_line(run).expectation}
    print_report(evaluation, result, console)
    if options.report is not None or options.compare is not None:
        result |= make_report(options, evaluation, console)
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


_SUFFIXES = (".html", ".htm", ".pdf")


def print_report(evaluation: SplitEvaluation, result: dict[str, Any], console: Console) -> None:
    where = {"all": "all images (including training images)"}.get(result["split"], result["split"])
    console.line(f"Run {result['run']} ({result['model']}), {where}:")
    console.line(f"  {summary(result)}")
    (_print_verdicts if result["model"] == "resnet" else _print_classes)(evaluation, result, console)
    for line in expectation_lines(result):
        console.line(f"  {line}")
    for note in result["notes"]:
        console.line(note)
    for entry in result["skipped"]:
        console.line(f"Skipped {entry['path']}: {entry['why']}")


def _print_classes(evaluation: SplitEvaluation, result: dict[str, Any], console: Console) -> None:
    figures = evaluation.figures
    for id, name in figures.classes.items():
        rows = [row for row in figures.rows if (row.scope, row.of) == ("class", id) and row.metric.shown]
        texts = (f"{figure_texts.metric_name(row.id)} {_brief(row, 3)}" for row in rows)
        console.line(f"  {name}: {'; '.join(texts)}")
    for row in figures.all("recall", "size"):
        where = size_range(row.of, evaluation.settings.um_per_pixel)
        console.line(f"  defects of {where}: {figure_texts.metric_name(row.id)} {_brief(row)}")
    for row in (*figures.all("false_alarms", "any"), *figures.all("false_alarms", "good")):
        console.line(f"  {figure_texts.name(row)}: {_brief(row)}")
    print_images(result, console)
    if any(row.value is not None and row.edges is None for row in figures.rows):
        console.line(f"  {Message('card.intervals', n=MIN_PARTS)}")
    for alert in figures.alerts:
        console.line(f"  {figure_texts.alert(alert)}")


def _brief(figure: Figure, digits: int = 2) -> str:
    """Return the text of a figure without the reason for a missing interval, which is printed once."""
    return figure_texts.brief(figure_texts.text(figure, digits=digits))


def _print_verdicts(evaluation: SplitEvaluation, result: dict[str, Any], console: Console) -> None:
    confusion, band = result["confusion"], result.get("unsure")
    if band:
        rest = f"{band['errors_left']} of the others are wrong"
        console.line(
            f"  {counted(band['pictures'], 'image')} with an unsure prediction (below {band['below']:.0%}); {rest}"
        )
    console.line(f"  mean calibration error of the probabilities: {result['calibration_error']:.1%}")
    width = max(len(name) for name in confusion["names"])
    console.line(f"  labeled {'':{width}}  predicted: " + "  ".join(confusion["names"]))
    for name, row in zip(confusion["names"], confusion["rows"]):
        cells = "  ".join(f"{count:>{len(predicted)}}" for count, predicted in zip(row, confusion["names"]))
        console.line(f"          {name:{width}}             {cells}")


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("report")
    group.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write a report with metrics, curves and images to FILE.html or FILE.pdf; with --compare, the comparison",
    )
    group.add_argument("--compare", metavar="RUN", help="compare with another run, on the same images")
    languages = " or ".join(LANGUAGES)
    group.add_argument("--language", choices=list(LANGUAGES), help=f"language of the report: {languages} (en)")


def compared_run(options: argparse.Namespace, run: Run) -> Run | None:
    """Return the run to compare with, if one is requested. Raises WrongUse, Problem."""
    if options.compare is None:
        return None
    other = find_run(run.project_root, options.compare, options.model)
    if other.root == run.root:
        raise WrongUse(f"--compare names the evaluated run {run.name} itself")
    return other


def check_suffix(path: Path | None) -> None:
    """Raise WrongUse if a report cannot be written to this file."""
    if path is not None and path.suffix.lower() not in _SUFFIXES:
        raise WrongUse(f"--report writes .html or .pdf, not {path.suffix or 'a name without suffix'}")


def check_report(options: argparse.Namespace) -> None:
    """Raise WrongUse for options that exclude each other, before anything is measured."""
    check_suffix(options.report)
    for name in ("report", "compare"):
        if getattr(options, name) is not None and options.against is not None:
            raise WrongUse(f"--{name} and --against exclude each other")


def make_report(options: argparse.Namespace, evaluation: SplitEvaluation, console: Console) -> dict[str, Any]:
    """Compare and write the report as requested. Return the additional keys of the result. Raises Problem."""
    run = evaluation.run
    project = Project.open(run.project_root, write=False)
    other = compared_run(options, run)
    now, images = datetime.datetime.now(), ReportImages(project)
    result: dict[str, Any] = {}
    if other is not None:
        second, comparison = _compare(evaluation, other, console)
        result["comparison"] = _comparison_fields(comparison, other)
        document = comparison_report(project, evaluation, second, comparison, images, now) if options.report else None
    else:
        document = evaluation_report(project, evaluation, images, now)
    if options.report is not None and document is not None:
        path = options.report.absolute()
        write_report(document, path, options.language or SOURCE_LANGUAGE)
        console.line(f"Report: {path}")
        result["report"] = path
    return result


def compare_runs(evaluation: SplitEvaluation, other: Run, console: Console) -> dict[str, Any]:
    """Compare an evaluated run with another one of its project, on the same images. Return and print the comparison."""
    return _comparison_fields(_compare(evaluation, other, console)[1], other)


def _compare(evaluation: SplitEvaluation, other: Run, console: Console) -> tuple[SplitEvaluation, EvaluationComparison]:
    project = Project.open(evaluation.run.project_root, write=False)
    with console.progress(f"evaluating {other.name}") as move:
        second = evaluate_like(project, other, evaluation, progress=move)
    assert second is not None
    comparison = compare_evaluations(evaluation, second)
    _print_comparison(comparison, evaluation.run, other, console)
    return second, comparison


def _comparison_fields(comparison: EvaluationComparison, other: Run) -> dict[str, Any]:
    return {
        "run": other.name,
        "pictures": comparison.images,
        "parts": comparison.parts,
        "left_out": comparison.left_out,
        "figures": [
            {
                "figure": metric.figures[0].id.removeprefix("verdict_"),
                "class": metric.figures[0].name or None,
                "values": [figure.value for figure in metric.figures],
                "intervals": [figure.edges for figure in metric.figures],
                "difference": metric.difference,
                "interval": metric.edges,
                "outcome": metric.outcome,
            }
            for metric in comparison.metrics
        ],
        "differing": [{"path": pair.key, "errors": pair.errors} for pair in comparison.pairs],
        **{"forecast": None, "lighting": None, **run_line(other).expectation},
    }


def _print_comparison(comparison: EvaluationComparison, run: Run, other: Run, console: Console) -> None:
    console.line(
        f"{run.name} (first) and {other.name} (second) on {counted(comparison.images, 'image')} "
        f"of {counted(comparison.parts, 'part')}:"
    )
    translate = messages.translator(SOURCE_LANGUAGE)
    for cells, _ in comparison_rows(comparison):
        name, first, second, difference, outcome = (messages.render(text, translate) for text in cells)
        console.line(f"  {name}: {first}; {second}" + (f"; difference {difference}: {outcome}" if outcome else ""))
    console.line(f"  {counted(len(comparison.pairs), 'image')} with different errors")


def write_report(document: Document, path: Path, language: str) -> None:
    """Write the report; another process prints a PDF file, since this one runs without Qt. Raises CannotWrite."""
    try:
        if path.suffix.lower() != ".pdf":
            write_text(path, to_html(document, language))
            return
        with tempfile.TemporaryDirectory(prefix="workbench-report-") as folder:
            page = Path(folder) / "page.html"
            page.write_text(to_html(document, language, template=PRINT_PAGE), "utf-8")
            environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
            command = program_command("--print", page, path)
            done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise problems.CannotWrite.of(path, error) from error
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["the printer of the page ended"])[-1].rstrip(".")
        raise problems.CannotWrite(path=str(path), why=f"{why}. Save it as .html instead")


def add_gauge_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "pictures", nargs="?", type=Path, metavar="IMAGES", help="folder of the images (the images of the project)"
    )
    add_run_arguments(parser, "run to study")
    parser.add_argument(
        "--repeats",
        default=FOLDER,
        metavar="folder|PATTERN",
        help="images of the same part: those of a folder, or those whose names have the same match of a pattern, "
        "such as (part[0-9]+)_ (folder)",
    )
    parser.add_argument(
        "--inspectors",
        type=Path,
        metavar="FILE.csv",
        help="verdicts of inspectors: part or image in the first column, an inspector in each of the others; repeated "
        "rows are repeats. Only these parts are studied.",
    )


def run_gauge(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    chosen = find_run(project.root, options.name, options.model)
    with console.progress("predicting") as move:
        study = gauge_study.run_study(
            project,
            chosen,
            pictures=options.pictures,
            repeats=options.repeats,
            inspectors=options.inspectors,
            progress=move,
        )
    assert study is not None  # it cannot be canceled
    try:
        gauge_study.store(chosen, study)
    except problems.CannotWrite as problem:
        console.note(f"{problem} Reports do not contain this study.")
    notes = list(map(str, gauge_study.cautions(study, chosen, operating_point.settings_of(chosen))))
    console.line(str(report_content.scope_text(study)))
    names, *columns = report_content.head()
    for name, *texts in report_content.figure_rows(study):
        console.line(f"  {name}: {'; '.join(f'{column} {text}' for column, text in zip(columns, texts))}")
    differing = study.differing()
    raters = [str(gauge_study.rater_name(rater)) for rater in study.raters]
    for part, verdicts in differing:
        console.line(f"  {part}: {'; '.join(f'{rater} {text}' for rater, text in zip(raters, verdicts) if text)}")
    for note in notes:
        console.line(note)
    return {
        "run": chosen.name,
        "pictures": study.images,
        "parts": len(study.by_part),
        "raters": study.raters,
        "figures": [figure.to_json() for figure in study.figures],
        "differing": [{"part": part, "verdicts": dict(zip(raters, verdicts))} for part, verdicts in differing],
        "learned": study.learned,
        "skipped": [{"path": path, "why": why} for path, why in study.skipped.items()],
        "notes": notes,
    }
