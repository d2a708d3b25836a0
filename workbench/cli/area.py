"""Verb `area`: show, set or remove the inspection area of a project, or of the images of one of its folders."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, add_project
from workbench.core.problems import AreaLeavesDefects
from workbench.core.project.project import Project
from workbench.core.runs.inspection_areas import left_out, read_area, set_areas, with_area
from workbench.core.text_patterns import counted, fill


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--set", type=Path, metavar="FILE", help='JSON: width, height, polygons: list of {"points": [[x, y], ...]}'
    )
    action.add_argument("--clear", action="store_true", help="inspect whole images again")
    action.add_argument("--show", action="store_true", help="only show the areas (default)")
    parser.add_argument(
        "--folder", default="", help="only for images whose path in the project begins so, as in 'lot1'"
    )
    parser.add_argument("--force", action="store_true", help="set: accept an area that leaves labeled defects outside")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    folder = options.folder.strip("/")
    result: dict[str, Any] = {}
    with Project.open(options.project, write=bool(options.set or options.clear)) as project:
        if options.set or options.clear:
            area = read_area(options.set, folder) if options.set else None
            areas = with_area(project.file.inspection_areas, area, folder)
            found = left_out(project, areas)
            counts = {"n": found.outside, "m": found.cut, "images": len(found.images)}
            if found.images and not options.force and area is not None:
                raise AreaLeavesDefects(**counts)
            set_areas(project, areas)
            result = {"outside": found.outside, "cut": found.cut, "pictures": list(found.images)}
            if found.images:
                console.line(fill(AreaLeavesDefects.message, **counts))
        for area in project.file.inspection_areas:
            of = area.folder or "all images without an own area"
            console.line(f"{of}: {counted(len(area.polygons), 'polygon')}, {area.share:.0%} of the image")
        if not project.file.inspection_areas:
            console.line("Whole images are inspected.")
        return {"areas": [dataclasses.asdict(area) for area in project.file.inspection_areas], **result}
