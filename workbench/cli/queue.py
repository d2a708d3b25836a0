"""Verb `queue`: images to label next or, with --errors, labels to check again, each with its reasons."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core import problems
from workbench.core.label_next.image_scan import AT_ONCE
from workbench.core.label_next.label_advice import find_label_issues, rank_images
from workbench.core.label_next.label_issues import LabelIssue
from workbench.core.label_next.label_ranking import issue_reason
from workbench.core.project.image_index import ImageIndex, ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run, find_run, newest_usable_run


class NoModelYet(problems.Problem):
    says = "There is no run in this project that could judge labels."
    advice = "Train first."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--run", dest="name", metavar="RUN|best|last", help="which run is asked (the newest usable)")
    parser.add_argument("--count", type=_positive, default=20, metavar="N", help="how many pictures are told (20)")
    parser.add_argument(
        "--look",
        type=_positive,
        default=AT_ONCE,
        metavar="N",
        help=f"how many pictures are newly looked at, at most ({AT_ONCE}); what was looked at before is remembered",
    )
    parser.add_argument("--errors", action="store_true", help="labels that the model contradicts, worst first, instead")


def run(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    rows = _rows(project, talk)
    if not rows:
        raise problems.NoImages()
    chosen = find_run(project.root, options.name) if options.name else newest_usable_run(project.root)
    if options.errors:
        return _errors(project, rows, chosen, options, talk)
    with talk.progress("looking") as move:
        found = rank_images(project, rows, chosen, count=options.count, most=options.look, progress=move)
    if not found.model:
        talk.note("There is no trained model yet: the order goes by how different the pictures are.")
    _part(found.looked, found.asked, talk)
    if not found.asked:
        talk.line("Every picture is done.")
    for number, entry in enumerate(found.entries, 1):
        talk.line(f"{number:>4}  {entry.key}: {'; '.join(map(str, entry.whys))}")
    entries = [
        {
            "path": entry.key,
            "value": entry.value,
            "why": [str(why) for why in entry.whys],
            "reasons": [{"kind": why.kind, **why.fields} for why in entry.whys],
        }
        for entry in found.entries
    ]
    return {
        "run": found.model or None,
        "looked": found.looked,
        "open": found.asked,
        "skipped": found.skipped,
        "pictures": entries,
    }


def _errors(
    project: Project, rows: dict[str, ImageRow], chosen: Run | None, options: argparse.Namespace, talk: Console
) -> dict[str, Any]:
    if chosen is None:
        raise NoModelYet()
    with talk.progress("looking") as move:
        found = find_label_issues(project, rows, chosen, most=options.look, progress=move)
    _part(found.looked, found.asked, talk)
    if found.weak:
        talk.note("The model contradicts so many labels that it is more likely wrong itself. Train for longer first.")
    names = {info.id: info.name for info in project.classes}
    told = []
    for key, issues in list(found.issues.items())[: options.count]:
        good = not rows[key].counts
        talk.line(f"{key}: {'; '.join(_sentence(issue, names, good) for issue in issues)}")
        told.append({"path": key, "slips": [_as_json(slip, names, good) for slip in issues]})
    if not told:
        talk.line("No label is contradicted.")
    return {
        "run": found.model,
        "looked": found.looked,
        "labelled": found.asked,
        "learned_from": found.learned,
        "weak_model": found.weak,
        "skipped": found.skipped,
        "pictures": told,
    }


def _sentence(issue: LabelIssue, names: dict[int, str], good: bool) -> str:
    where = "" if issue.kind == "verdict" else f" at {issue.rect.x},{issue.rect.y}"
    seen = ", seen in training" if issue.learned else ""
    return f"{issue_reason(issue, names, good=good)}{where} ({100 * issue.certainty:.0f} % sure{seen})"


def _as_json(issue: LabelIssue, names: dict[int, str], good: bool) -> dict[str, Any]:
    told = {name: value for name, value in asdict(issue).items() if name not in ("bits", "rect")}
    return {**told, **asdict(issue.rect), "why": str(issue_reason(issue, names, good=good))}


def _rows(project: Project, talk: Console) -> dict[str, ImageRow]:
    index = ImageIndex(project)
    try:
        with talk.progress("reading labels") as move:
            for _ in index.refresh(project.images(), progress=move):
                pass
        return index.rows()
    finally:
        index.close()


def _part(looked: int, asked: int, talk: Console) -> None:
    if looked < asked:
        talk.note(f"{looked} of {asked} pictures were looked at; run it again to look at more.")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("it has to be 1 or more")
    return value
