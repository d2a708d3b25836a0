"""Verb `check`: findings about a project, with advice for each kind of finding."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.check.project_check import check
from workbench.core.project.project import Project

_SHOWN = 10

# Kind of finding -> (title, advice).
_TEXTS = {
    "missing_source": (
        "Missing image folders",
        "Connect the drive, or choose the present folder: workbench sources PROJECT locate NAME FOLDER.",
    ),
    "broken_picture": ("Unreadable images", "These images are excluded from training. Restore or remove them."),
    "broken_mask": ("Unreadable masks", "Restore the masks from a backup, or delete them and label again."),
    "wrong_size": ("Masks with another size than their image", "Import or label again. These masks are ignored."),
    "unknown_ids": ("Masks with unknown class ids", "Add these classes, or import again."),
    "broken_note": ("Unreadable notes", "Repair or delete the file. Its verdict and status are ignored."),
    "stray_mask": ("Masks without an image", "If the image was renamed or moved, rename the mask in the same way."),
    "stray_note": ("Notes without an image", "If the image was renamed or moved, rename the note in the same way."),
    "empty_defect": ("Defective by verdict, but no defect is labeled", "Label the defect, or correct the verdict."),
    "painted_good": ("Good by verdict, but a defect is labeled", "Correct the verdict, or erase the label."),
    "folder_name": ("Verdicts that differ from the folder name", "Correct the verdict, or move the image."),
    "hole": ("Tiny holes in regions", "Most are gaps between strokes. Fill them."),
    "island": ("Tiny labeled regions", "Most are accidental strokes. Check and erase them."),
    "unused_class": ("Classes without labels", "Delete classes that are not needed."),
    "similar_classes": ("Classes with similar names", "Merge classes that mean the same."),
    "duplicate": (
        "Duplicate images",
        ("Keep one copy. Duplicates in training and validation make metrics too high."),
    ),
    "bad_grouping": ("Invalid grouping pattern", "Correct it in project.json. Training refuses it."),
    "leak": ("Near-duplicate training and validation/test images", "Put them into one group. Metrics are too high."),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with console.progress("checking") as move:
        findings = check(project, move)
    counts = Counter(finding.kind for finding in findings)
    images = len(project.images())
    if not findings:
        console.line(f"{images} images checked. No problems found.")
    for kind, count in counts.items():
        title, advice = _TEXTS[kind]
        console.line(f"{title}: {count}. {advice}")
        for finding in [finding for finding in findings if finding.kind == kind][:_SHOWN]:
            console.line(f"  {finding.key}: {finding.detail}")
        if count > _SHOWN:
            console.line(f"  and {count - _SHOWN} more (--json lists all)")
    return {
        "pictures": images,
        "findings": [
            {"kind": finding.kind, "key": finding.key, "detail": finding.detail, "advice": _TEXTS[finding.kind][1]}
            for finding in findings
        ],
    }
