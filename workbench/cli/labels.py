"""Verb `labels`: export a project's labels in the file format of another tool."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.project.exporting import EXPORT_FORMATS, export_labels
from workbench.core.project.formats.label_export import LabelExportOptions
from workbench.core.project.project import Project
from workbench.core.text_patterns import counted

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("out", type=Path, metavar="OUT", help="empty or new folder")
    formats = "; ".join(f"{format.name}: {format.title}" for format in EXPORT_FORMATS.values())
    parser.add_argument("--format", choices=list(EXPORT_FORMATS), required=True, help=formats)
    parser.add_argument("--images", action="store_true", help="copy the images too (mvtec and folders always do)")
    choices = ", ".join(f"{format.name}: {format.shapes[0]}" for format in EXPORT_FORMATS.values() if format.shapes)
    parser.add_argument(
        "--shapes", choices=("polygon", "mask"), help=f"how to store regions, if the format has a choice ({choices})"
    )
    parser.add_argument("--no-split", dest="split", action="store_false", help="ignore the split into train, val, test")
    parser.add_argument(
        "--keep-ids", dest="contiguous", action="store_false", help="keep the class IDs instead of numbering from 1"
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    chosen = LabelExportOptions(options.images, options.shapes, options.split, options.contiguous)
    with console.progress("exporting") as move:
        report = export_labels(
            project,
            options.out,
            format=options.format,
            options=chosen,
            warn=lambda renamed: console.note("\n".join(renamed)),
            progress=move,
        )
    console.line(f"{counted(report.labels, 'label')} and {counted(report.images, 'image')} written to {options.out}.")
    for sentence in report.lost:
        console.line(sentence)
    for path, why in report.skipped[:_SHOWN]:
        console.line(f"Skipped {path}: {why}")
    return {
        "path": report.path,
        "format": report.format,
        "labels": report.labels,
        "images": report.images,
        "renamed": report.renamed,
        "lost": report.lost,
        "losses": report.losses,
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
    }
