"""Verb `statistics`: images, classes, regions and their sizes, verdicts, status and splits of a project.

The keys of its JSON object are in `json_keys`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.check.project_statistics import (
    UM_PER_MM,
    ProjectStatistics,
    class_csv,
    csv_definitions,
    project_statistics,
    region_csv,
    summary,
    to_json,
)
from workbench.core.project.project import Project
from workbench.core.project.storage import write_bytes
from workbench.core.text_patterns import counted
from workbench.inference.text_safety import SUFFIX


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write one line per class to a CSV file")
    parser.add_argument("--regions", type=Path, metavar="FILE", help="write one line per region to a CSV file")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    with console.progress("reading labels") as move:
        result = project_statistics(project, move)
    for path, content in ((options.csv, class_csv), (options.regions, region_csv)):
        if path is not None:
            table = content(result)
            write_bytes(path, table)
            write_bytes(path.with_name(path.name + SUFFIX), csv_definitions(path.name, table))
    _print(result, console)
    return to_json(result)


def _print(result: ProjectStatistics, console: Console) -> None:
    console.line(f"{counted(result.images, 'image')}, {result.masked} with a mask, {result.broken} unreadable.")
    console.line("Status: " + _counts(result.statuses))
    if any(result.verdicts.values()):
        console.line("Verdicts: " + _counts({name or "none": n for name, n in result.verdicts.items()}))
    for model, counts in result.splits.items():
        console.line(f"Split for {'UNet' if model == 'unet' else 'ResNet'}: {_counts(counts)}")
    scale = result.um_per_pixel
    for entry in result.classes:
        text = f"{entry.name}: {counted(entry.images, 'image')}, {counted(entry.regions, 'region')}"
        areas = summary(entry.values("area"))
        if areas:
            text += f", area {areas['min']:.0f} to {areas['max']:.0f} px² (median {areas['median']:.0f})"
        if areas and scale is not None:
            factor = (scale / UM_PER_MM) ** 2
            text += f", {areas['min'] * factor:.3g} to {areas['max'] * factor:.3g} mm²"
        console.line(text)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.items())
