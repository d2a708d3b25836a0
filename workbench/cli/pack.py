"""Verb `pack`: write a project with all its images to one zip file.

The keys of its JSON object are in `json_keys`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.project.packing import pack
from workbench.core.project.project import Project
from workbench.core.text_patterns import counted

_NAMED = 5  # files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("out", type=Path, metavar="OUT.zip")
    parser.add_argument("--no-runs", dest="runs", action="store_false", help="leave the trained models out")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with console.progress("packing") as move:
        report = pack(project, options.out, runs=options.runs, progress=move)
    assert report is not None
    console.line(
        f"{report.path}: {counted(report.images, 'image')}, {counted(report.files, 'file')}, "
        f"{report.nbytes / 1e6:.1f} MB."
    )
    if report.missing:
        console.line(f"Left out because their folders are not available: {', '.join(report.missing)}.")
    if report.skipped:
        console.line(
            f"{counted(len(report.skipped), 'file')} left out, removed meanwhile or with a name that is not UTF-8: "
            f"{', '.join(report.skipped[:_NAMED])}"
        )
    return {
        "path": report.path,
        "pictures": report.images,
        "files": report.files,
        "bytes": report.nbytes,
        "missing": report.missing,
        "skipped": report.skipped,
    }
