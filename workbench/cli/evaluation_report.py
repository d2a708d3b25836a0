"""Reports of the verb `evaluate`: text for the terminal, HTML or PDF files, and comparison with another run."""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from workbench.cli.image_evaluation import print_images
from workbench.cli.train import expectation_lines, summary
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core import messages
from workbench.core.documents.comparison_report import compare_evaluations, comparison_report, comparison_rows
from workbench.core.documents.document import PRINT_PAGE, Document, to_html
from workbench.core.documents.report_content import ReportImages, evaluation_report
from workbench.core.documents.run_blocks import size_range
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.evaluation.split_evaluation import SplitEvaluation, evaluate_like
from workbench.core.messages import Message
from workbench.core.problems import CannotWrite
from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE
from workbench.core.runs.launch import program_command
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.run_history import run_line
from workbench.core.text_patterns import counted

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
        texts = (f"{figure_texts.metric_name(row.id)} {figure_texts.text(row, digits=3)}" for row in rows)
        console.line(f"  {name}: {'; '.join(texts)}")
    for row in figures.all("recall", "size"):
        where = size_range(row.of, evaluation.settings.um_per_pixel)
        console.line(f"  defects of {where}: {figure_texts.metric_name(row.id)} {figure_texts.text(row)}")
    for row in (*figures.all("false_alarms", "any"), *figures.all("false_alarms", "good")):
        console.line(f"  {figure_texts.name(row)}: {figure_texts.text(row)}")
    print_images(result, console)
    if any(row.value is not None and row.edges is None for row in figures.rows):
        console.line(f"  {Message('card.intervals', n=MIN_PARTS)}")
    for alert in figures.alerts:
        console.line(f"  {figure_texts.alert(alert)}")


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def check(options: argparse.Namespace) -> None:
    """Raise WrongUse for options that exclude each other, before anything is measured."""
    if options.report is not None and options.report.suffix.lower() not in _SUFFIXES:
        raise WrongUse(f"--report writes .html or .pdf, not {options.report.suffix or 'a name without suffix'}")
    for name in ("report", "compare"):
        if getattr(options, name) is not None and options.against is not None:
            raise WrongUse(f"--{name} and --against exclude each other")


def make(options: argparse.Namespace, evaluation: SplitEvaluation, console: Console) -> dict[str, Any]:
    """Compare and write the report as requested. Return the additional keys of the result. Raises Problem."""
    run = evaluation.run
    project = Project.open(run.project_root, write=False)
    other = compared_run(options, run)
    now, images = datetime.datetime.now(), ReportImages(project)
    result: dict[str, Any] = {}
    if other is not None:
        with console.progress(f"evaluating {other.name}") as move:
            second = evaluate_like(project, other, evaluation, progress=move)
        assert second is not None
        comparison = compare_evaluations(evaluation, second)
        result["comparison"] = _comparison_fields(comparison, other)
        _print_comparison(comparison, run, other, console)
        document = comparison_report(project, evaluation, second, comparison, images, now) if options.report else None
    else:
        document = evaluation_report(project, evaluation, images, now)
    if options.report is not None and document is not None:
        path = options.report.absolute()
        _write(document, path, options.language or SOURCE_LANGUAGE)
        console.line(f"Report: {path}")
        result["report"] = path
    return result


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


def _write(document: Document, path: Path, language: str) -> None:
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
        raise CannotWrite.of(path, error) from error
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["the printer of the page ended"])[-1].rstrip(".")
        raise CannotWrite(path=str(path), why=f"{why}. Save it as .html instead")
