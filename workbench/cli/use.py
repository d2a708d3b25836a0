"""Verb `use`: show or choose the model in use of a project, which other verbs use unless a run is named.

The verb `area` shows, sets or removes the inspection area of a project, or of the images of one of its folders.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, add_project
from workbench.core.problems import AreaLeavesDefects
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs.inspection_areas import left_out, read_area, set_areas, with_area
from workbench.core.runs.run import IN_USE, chosen_run, find_run, run_in_use
from workbench.core.runs.training_settings import MODELS
from workbench.core.text_patterns import counted, fill

AUTOMATIC = "automatic"


def add_run_arguments(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add the options that select a run of a project; the default is the model in use."""
    names = f"RUN|{IN_USE}|best|last"
    parser.add_argument("--run", dest="name", default=IN_USE, metavar=names, help=f"{meaning} ({IN_USE})")
    parser.add_argument("--model", choices=MODELS, help="only among runs of this model")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    parser.add_argument(
        "name",
        nargs="?",
        metavar="RUN|best|last|automatic",
        help="run to use from now on; automatic: the best comparable run (default: only show the model in use)",
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    root = options.project.absolute()
    if options.name is not None:
        name = ""
        if options.name != AUTOMATIC:
            read_project_file(root)
            chosen = find_run(root, options.name)
            chosen.need_usable()
            name = chosen.name
        with Project.open(root) as project:
            project.file.model_in_use = name
            project.save()
    return {**report_in_use(root, console), AUTOMATIC: chosen_run(root) is None}


def report_in_use(root: Path, console: Console) -> dict[str, Any]:
    """Print the model in use of a project. Return its key in the JSON of a verb: its name, null without a model."""
    read_project_file(root)
    used = run_in_use(root)
    how = "chosen" if chosen_run(root) is not None else AUTOMATIC
    console.line(f"in use: {used.name} ({how})" if used is not None else "in use: no model yet")
    return {"in_use": None if used is None else used.name}


# --- inspection area ------------------------------------------------------------------------------


def add_area_arguments(parser: argparse.ArgumentParser) -> None:
    add_project(parser)
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--set",
        type=Path,
        metavar="FILE",
        help='JSON: width, height, polygons: list of {"points": [[x, y], ...]}, "zone": NAME if it only marks',
    )
    action.add_argument("--clear", action="store_true", help="inspect whole images again")
    action.add_argument("--show", action="store_true", help="only show the areas (default)")
    parser.add_argument(
        "--folder", default="", help="only for images whose path in the project begins so, as in 'lot1'"
    )
    parser.add_argument("--force", action="store_true", help="set: accept an area that leaves labeled defects outside")


def run_area(options: argparse.Namespace, console: Console) -> dict[str, Any]:
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
            zones = f", zones: {', '.join(area.zones)}" if area.zones else ""
            console.line(f"{of}: {counted(len(area.inspected), 'polygon')}, {area.share:.0%} of the image{zones}")
        if not project.file.inspection_areas:
            console.line("Whole images are inspected.")
        return {"areas": [dataclasses.asdict(area) for area in project.file.inspection_areas], **result}
