"""Verb `import`: add images and labels of other tools to a project."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from workbench.cli.merge import import_project
from workbench.cli.verb_runner import Console
from workbench.core import problems
from workbench.core.project import importing
from workbench.core.project.box_regions import BOX_SHAPES
from workbench.core.project.formats import FORMATS
from workbench.core.project.project import Project

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("path", type=Path, metavar="PATH", help="folder or one label file")
    parser.add_argument("--format", choices=["auto", *FORMATS], default="auto")
    parser.add_argument(
        "--class", dest="class_name", metavar="NAME", help="class of all imported regions; for folders: the verdict"
    )
    parser.add_argument(
        "--threshold", type=_threshold, metavar="N", help="gray value from which a mask pixel is a defect (128)"
    )
    parser.add_argument(
        "--boxes",
        choices=BOX_SHAPES,
        default="box",
        help="make regions of bounding boxes: all pixels (box), the inscribed ellipse, or the pixels that stand out "
        "inside the box (cut). Images with such regions are not marked as done",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace existing labels")
    parser.add_argument(
        "--no-copy", dest="copy", action="store_false", help="do not copy images, add their folder to the project"
    )


def _threshold(text: str) -> int:
    number = int(text)
    if not 0 < number <= 65535:
        raise argparse.ArgumentTypeError("must be from 1 to 65535")
    return number


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if options.format == "auto" and (options.path / "project.json").is_file():
        return import_project(options.project, options.path, "theirs" if options.overwrite else "mine", console)
    with Project.open(options.project) as project, console.progress("importing") as move:
        report = importing.import_labels(
            project,
            options.path,
            format=options.format,
            class_name=options.class_name,
            threshold=options.threshold,
            copy=options.copy,
            overwrite=options.overwrite,
            boxes=options.boxes,
            progress=move,
        )
        classes = [info.name for info in project.classes]
        for notice in project.json.take_notices():
            console.note(str(notice))
    _print_report(report, console)
    if not report.labeled and not report.unchanged:
        why = "; ".join(f"{Path(path).name}: {why}" for path, why in report.skipped[:3]) or "no label was found"
        raise problems.NothingToImport(path=str(options.path), why=why)
    return {
        "format": report.format,
        "found": report.found,
        "boxes": report.boxes,
        "pictures": report.images,
        "labelled": report.labeled,
        "copied": report.copied,
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
        "classes": classes,
        "added_classes": report.added_classes,
        "added_verdicts": report.added_verdicts,
        "ignored": report.ignored,
        "notes": report.notes,
    }


def _print_report(report: importing.ImportReport, console: Console) -> None:
    console.line(
        f"Imported as {report.format}: {report.images} images ({report.copied} copied), {report.labeled} labeled."
    )
    if len(report.found) > 1:
        console.line("Formats found: " + ", ".join(f"{name} ({count})" for name, count in report.found.items()) + ".")
    if report.boxes:
        console.line(
            f"{report.boxes} regions come from bounding boxes. Check their images, which are not marked as done."
        )
    if report.added_classes:
        console.line(f"New classes: {', '.join(report.added_classes)}.")
    if report.added_verdicts:
        console.line(f"New verdicts: {', '.join(report.added_verdicts)}.")
    if report.ignored:
        console.line(f"Not listed as images because they are masks: {', '.join(report.ignored[:_SHOWN])}")
    for note in report.notes[:_SHOWN]:
        console.line(note)
    if report.skipped:
        console.line(f"Skipped {len(report.skipped)}:")
        for path, why in report.skipped[:_SHOWN]:
            console.line(f"  {path}: {why}")
        if len(report.skipped) > _SHOWN:
            reasons = Counter(why for _, why in report.skipped[_SHOWN:]).most_common(3)
            console.line(f"  and {len(report.skipped) - _SHOWN} more, mostly: {reasons[0][0]} (--json lists all)")
