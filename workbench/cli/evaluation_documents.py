"""Options of the verb `evaluate` that write a report or compare with another run."""

from __future__ import annotations

import argparse
import datetime
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, WrongUse
from workbench.core import messages
from workbench.core.documents.comparison_report import compare_evaluations, comparison_report, comparison_rows
from workbench.core.documents.document import Document
from workbench.core.documents.html_page import PRINT_PAGE, to_html
from workbench.core.documents.report_content import evaluation_report
from workbench.core.documents.report_images import ReportImages
from workbench.core.evaluation.evaluation_comparison import EvaluationComparison
from workbench.core.evaluation.split_evaluation import evaluate_like, evaluate_run
from workbench.core.problems import CannotWrite
from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.core.resources import LANGUAGES, SOURCE_LANGUAGE
from workbench.core.runs.launch import program_command
from workbench.core.runs.run import Run, find_run
from workbench.core.runs.run_history import run_line

_SUFFIXES = (".html", ".htm", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write a report with figures, curves and images to FILE.html or FILE.pdf; with --compare, the comparison",
    )
    parser.add_argument("--compare", metavar="RUN", help="compare with another run, on the same images")
    languages = " or ".join(LANGUAGES)
    parser.add_argument("--language", choices=list(LANGUAGES), help=f"language of the report: {languages} (en)")


def check(options: argparse.Namespace) -> None:
    """Raise WrongUse for options that exclude each other, before anything is measured."""
    if options.report is not None and options.report.suffix.lower() not in _SUFFIXES:
        raise WrongUse(f"--report writes .html or .pdf, not {options.report.suffix or 'a name without suffix'}")
    for name in ("report", "compare"):
        if getattr(options, name) is not None and options.against is not None:
            raise WrongUse(f"--{name} and --against exclude each other")


def make(options: argparse.Namespace, run: Run, split: str, console: Console) -> dict[str, Any]:
    """Compare and write the report as requested. Return the additional keys of the result. Raises Problem."""
    project = Project.open(run.project_root, write=False)
    other = find_run(run.project_root, options.compare, options.model) if options.compare is not None else None
    if other is not None and other.root == run.root:
        raise WrongUse(f"--compare names the evaluated run {run.name} itself")
    with console.progress("evaluating") as move:
        evaluation = evaluate_run(project, run, split, curves=options.compare is None, progress=move)
    assert evaluation is not None
    now, images = datetime.datetime.now(), ReportImages(project)
    result: dict[str, Any] = {}
    if other is not None:
        with console.progress(f"evaluating {other.name}") as move:
            second = evaluate_like(project, other, evaluation, progress=move)
        assert second is not None
        comparison = compare_evaluations(evaluation, second)
        result["comparison"] = _report(comparison, other)
        _print(comparison, run, other, console)
        document = comparison_report(project, evaluation, second, comparison, images, now) if options.report else None
    else:
        document = evaluation_report(project, evaluation, images, now)
    if options.report is not None and document is not None:
        path = options.report.absolute()
        _write(document, path, options.language or SOURCE_LANGUAGE)
        console.line(f"Report: {path}")
        result["report"] = path
    return result


def _report(comparison: EvaluationComparison, other: Run) -> dict[str, Any]:
    return {
        "run": other.name,
        "pictures": comparison.images,
        "parts": comparison.parts,
        "left_out": comparison.left_out,
        "figures": [
            {
                "figure": figure.kind,
                "class": figure.scope or None,
                "values": figure.values,
                "intervals": figure.intervals,
                "difference": figure.difference,
                "interval": figure.interval,
                "outcome": figure.outcome,
            }
            for figure in comparison.figures
        ],
        "differing": [{"path": pair.key, "errors": pair.errors} for pair in comparison.pairs],
        **{"forecast": None, "lighting": None, **run_line(other).expectation},
    }


def _print(comparison: EvaluationComparison, run: Run, other: Run, console: Console) -> None:
    console.line(
        f"{run.name} (first) and {other.name} (second) on {comparison.images} images of {comparison.parts} parts:"
    )
    translate = messages.translator(SOURCE_LANGUAGE)
    for cells, _ in comparison_rows(comparison):
        name, first, second, difference, outcome = (messages.render(text, translate) for text in cells)
        console.line(f"  {name}: {first}; {second}" + (f"; difference {difference}: {outcome}" if outcome else ""))
    console.line(f"  {len(comparison.pairs)} images with different errors")


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
