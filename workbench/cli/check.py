"""Verb `check`: findings about a project, with advice for each kind of finding."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core import lint
from workbench.core.project.project import Project

_SHOWN = 10

# Kind of finding -> (title, advice).
_WORDS = {
    "broken_picture": ("Pictures that cannot be read", "They are left out of training; restore or remove them."),
    "broken_mask": ("Masks that cannot be read", "Restore them from a backup, or delete them and label again."),
    "wrong_size": ("Masks of another size than their picture", "Import or paint them again; they are left out now."),
    "unknown_ids": ("Masks with class ids that the project does not know", "Add these classes, or import again."),
    "broken_note": ("Notes that cannot be read", "Mend or delete the file; its verdict and status are lost for now."),
    "stray_mask": ("Masks without a picture", "Was the picture renamed or its folder moved? Rename the mask likewise."),
    "stray_note": ("Notes without a picture", "Was the picture renamed or its folder moved? Rename the note likewise."),
    "empty_defect": ("A defect by verdict, but nothing is painted", "Paint the defect, or correct the verdict."),
    "painted_good": ("Good by verdict, but a defect is painted", "Correct the verdict, or erase what is painted."),
    "island": ("Tiny painted spots", "Most are accidental strokes. Check and erase them."),
    "unused_class": ("Classes that are painted nowhere", "Delete them if they are not needed."),
    "similar_classes": ("Classes whose names differ little", "If they mean the same, merge them."),
    "duplicate": (
        "The same picture more than once",
        ("Keep one copy. Duplicates in training and validation make metrics too high."),
    ),
    "bad_grouping": ("A grouping pattern that cannot be used", "Correct it in project.json; training refuses it."),
    "leak": ("Nearly the same picture learned and held out", "Give both the same group: the scores are too good now."),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")


def run(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with talk.progress("checking") as move:
        findings = lint.check(project, move)
    counts = Counter(finding.kind for finding in findings)
    images = len(project.images())
    if not findings:
        talk.line(f"{images} pictures checked, nothing to complain about.")
    for kind, count in counts.items():
        title, advice = _WORDS[kind]
        talk.line(f"{title}: {count}. {advice}")
        for finding in [finding for finding in findings if finding.kind == kind][:_SHOWN]:
            talk.line(f"  {finding.key}: {finding.detail}")
        if count > _SHOWN:
            talk.line(f"  and {count - _SHOWN} more (--json lists all)")
    return {
        "pictures": images,
        "findings": [
            {"kind": finding.kind, "key": finding.key, "detail": finding.detail, "advice": _WORDS[finding.kind][1]}
            for finding in findings
        ],
    }
