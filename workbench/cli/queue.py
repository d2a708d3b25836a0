"""Verb `queue`: images to label next or, with --errors, labels to check again, each with its reasons."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, positive_number
from workbench.core import problems
from workbench.core.label_next.image_scan import AT_ONCE
from workbench.core.label_next.label_advice import find_label_issues, rank_images
from workbench.core.label_next.label_issues import LabelIssue, issue_to_json
from workbench.core.label_next.label_ranking import issue_reason
from workbench.core.project.image_index import ImageIndex, with_index
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import IN_USE, Run, find_run, run_in_use
from workbench.core.text_patterns import counted


class NoModelYet(problems.Problem):
    message = "This project has no usable run."
    advice = "Train a model first."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--run", dest="name", metavar=f"RUN|{IN_USE}|best|last", help=f"run to use ({IN_USE})")
    parser.add_argument("--count", type=positive_number, default=20, metavar="N", help="number of images to list (20)")
    parser.add_argument(
        "--look",
        type=positive_number,
        default=AT_ONCE,
        metavar="N",
        help=f"maximum number of images to analyze ({AT_ONCE}); earlier results are reused",
    )
    parser.add_argument("--errors", action="store_true", help="list possible label errors instead, most likely first")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    rows = read_rows(project, console)
    if not rows:
        raise problems.NoImages()
    model = find_run(project.root, options.name) if options.name else run_in_use(project.root)
    if options.errors:
        return _errors(project, rows, model, options, console)
    with console.progress("analyzing") as move:
        ranking = rank_images(project, rows, model, count=options.count, most=options.look, progress=move)
    if not ranking.model:
        console.note("No trained model yet. Images are ranked by their differences.")
    _print_coverage(ranking.analyzed, ranking.total, console)
    if not ranking.total:
        console.line("All images are done.")
    for number, entry in enumerate(ranking.entries, 1):
        console.line(f"{number:>4}  {entry.key}: {'; '.join(map(str, entry.reasons))}")
    entries = [
        {
            "path": entry.key,
            "value": entry.value,
            "why": [str(why) for why in entry.reasons],
            "reasons": [{"kind": why.kind, **why.fields} for why in entry.reasons],
        }
        for entry in ranking.entries
    ]
    return {
        "run": ranking.model or None,
        "looked": ranking.analyzed,
        "open": ranking.total,
        "skipped": ranking.skipped,
        "pictures": entries,
    }


def _errors(
    project: Project, rows: dict[str, ImageRow], model: Run | None, options: argparse.Namespace, console: Console
) -> dict[str, Any]:
    if model is None:
        raise NoModelYet()
    with console.progress("analyzing") as move:
        report = find_label_issues(project, rows, model, most=options.look, progress=move)
    _print_coverage(report.analyzed, report.total, console)
    if report.weak:
        console.note("The model contradicts so many labels that the model is more likely wrong. Train longer first.")
    names = {info.id: info.name for info in project.classes}
    entries = []
    for key, issues in list(report.issues.items())[: options.count]:
        good = not rows[key].counts
        console.line(f"{key}: {'; '.join(_sentence(issue, names, good) for issue in issues)}")
        entries.append({"path": key, "slips": [_as_json(issue, names, good) for issue in issues]})
    if not entries:
        console.line("No possible label errors.")
    return {
        "run": report.model,
        "looked": report.analyzed,
        "labelled": report.total,
        "learned_from": report.training_images,
        "weak_model": report.weak,
        "skipped": report.skipped,
        "pictures": entries,
    }


def _sentence(issue: LabelIssue, names: dict[int, str], good: bool) -> str:
    where = "" if issue.kind == "verdict" else f" at {issue.rect.x},{issue.rect.y}"
    note = ", training image" if issue.trained_on else ""
    return f"{issue_reason(issue, names, good=good)}{where} ({100 * issue.certainty:.0f}% certain{note})"


def _as_json(issue: LabelIssue, names: dict[int, str], good: bool) -> dict[str, Any]:
    fields = {name: value for name, value in issue_to_json(issue).items() if name not in ("bits", "rect")}
    return {**fields, **asdict(issue.rect), "why": str(issue_reason(issue, names, good=good))}


def read_rows(project: Project, console: Console) -> dict[str, ImageRow]:
    """Return the rows of the images of a project by key, after an update of its index."""
    rows: dict[str, ImageRow] = {}

    def read(index: ImageIndex) -> None:
        for _ in index.refresh(project.images(), progress=move):
            pass
        rows.update(index.rows())

    with console.progress("reading labels") as move:
        with_index(project, read, lambda problem: console.note(str(problem)))
    return rows


def _print_coverage(analyzed: int, requested: int, console: Console) -> None:
    if analyzed < requested:
        console.note(f"{analyzed} of {counted(requested, 'image')} analyzed. Run the command again to analyze more.")
