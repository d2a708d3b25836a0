"""Verb `spots`: spots of images that differ most from their surroundings, to look at before any label exists."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from workbench.cli.queue import read_rows
from workbench.cli.verb_runner import Console, positive_number
from workbench.core import problems
from workbench.core.label_next.spot_detection import COUNT
from workbench.core.label_next.spot_search import SpotSearch
from workbench.core.problems import Problem
from workbench.core.project.project import DONT_CARE, Project
from workbench.core.runs.run import default_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument(
        "images", nargs="*", metavar="IMAGE", help="images of the project, such as lot1/a.png (default: all)"
    )
    parser.add_argument("--count", type=positive_number, default=COUNT, metavar="N", help=f"spots per image ({COUNT})")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    project = Project.open(options.project, write=False)
    rows = read_rows(project, console)
    if not rows:
        raise problems.NoImages()
    for key in options.images:
        if key not in rows:
            raise problems.NotInProject(name=key)
    labeled = [key for key, row in rows.items() if any(pixels and id < DONT_CARE for id, pixels in row.counts)]
    search, found, skipped = SpotSearch(project, list(rows), default_run(project.root, "good")), [], []
    requested = options.images or list(rows)
    with console.progress("searching") as move:
        for number, key in enumerate(requested, 1):
            try:
                spots = search.spots(key, labeled=labeled, count=options.count)
            except Problem as problem:
                skipped.append({"path": key, "why": str(problem)})
                console.note(f"{key} skipped: {problem}")
            else:
                found.append({"path": key, "spots": [asdict(spot) for spot in spots]})
                points = ", ".join(f"{spot.x},{spot.y} (radius {spot.radius})" for spot in spots)
                console.line(f"{key}: {points or 'no spot differs from the rest of the image'}")
            move(number, len(requested))
    return {"pictures": found, "labelled": len(labeled), "skipped": skipped}
