"""Verb `merge`: merge the labels and new images of another project, such as a copy that a colleague has labeled.

The keys of its JSON object are in `json_keys`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.project.label_merge import CHOICES, Keep, MergeReport, merge_project
from workbench.core.project.project import Project
from workbench.core.text_patterns import counted

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("other", type=Path, metavar="OTHER_PROJECT", help="project to merge; it is not changed")
    parser.add_argument(
        "--conflicts",
        choices=CHOICES,
        default="newer",
        help="label to keep where both differ (newer); the other one is copied to journal/kept",
    )
    parser.add_argument("--dry-run", action="store_true", help="report only, change nothing")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    other = Project.open(options.other, write=False)
    with Project.open(options.project, write=not options.dry_run) as project, console.progress("merging") as move:
        report = merge_project(project, other, keep=options.conflicts, dry_run=options.dry_run, progress=move)
    print_report(report, console)
    if report.undoable:
        console.line(f"Undo: workbench import {options.project} --undo")
    return {
        "exit": 0 if report.ledger.complete else 1,
        "ledger": report.ledger.to_json(),
        "pictures": report.pictures,
        "matched": report.matched,
        "copied": report.copied,
        "taken": report.taken,
        "kept": report.kept,
        "equal": report.equal,
        "conflicts": [{"key": key, "kept": winner} for key, winner in report.conflicts],
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
        "added_classes": report.added_classes,
        "added_verdicts": report.added_verdicts,
    }


def import_project(root: Path, other: Path, keep: Keep, console: Console) -> dict[str, Any]:
    """Merge the project `other`, and return the result with the keys of the verb `import`."""
    with Project.open(root) as project, console.progress("merging") as move:
        report = merge_project(project, Project.open(other, write=False), keep=keep, progress=move)
        classes = [info.name for info in project.classes]
    print_report(report, console)
    return {
        "exit": 0 if report.ledger.complete else 1,
        "ledger": report.ledger.to_json(),
        "format": "project",
        "pictures": report.matched + report.copied,
        "labelled": report.taken,
        "copied": report.copied,
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
        "classes": classes,
        "added_classes": report.added_classes,
        "added_verdicts": report.added_verdicts,
        "conflicts": [{"key": key, "kept": winner} for key, winner in report.conflicts],
    }


def print_report(report: MergeReport, console: Console) -> None:
    console.line(f"{counted(report.pictures, 'image')}: {report.matched} in both projects, {report.copied} new.")
    console.line(f"Labels: {report.taken} taken, {report.kept} kept, {report.equal} equal.")
    if report.added_classes:
        console.line(f"New classes: {', '.join(report.added_classes)}.")
    if report.conflicts:
        console.line(f"Conflicts: {len(report.conflicts)}")
        for key, winner in report.conflicts[:_SHOWN]:
            console.line(f"  {key}: {winner}")
    if report.skipped:
        console.line(f"Skipped {len(report.skipped)}:")
        for path, why in report.skipped[:_SHOWN]:
            console.line(f"  {path}: {why}")
    if report.dropped:
        console.line(report.dropped)
