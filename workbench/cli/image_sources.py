"""Verb `sources`: list, add, remove and locate the image folders of a project.

The keys of its JSON object are in `json_keys`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, WrongUse
from workbench.core.project import trash
from workbench.core.project.project import Project
from workbench.core.project.source_locations import locate_source, source_reports
from workbench.core.text_patterns import counted

_ARGUMENTS = {"list": 0, "add": 1, "remove": 1, "locate": 2}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument(
        "action",
        nargs="?",
        choices=list(_ARGUMENTS),
        default="list",
        help="add FOLDER: use the images of a folder where they are; remove NAME: with the labels of its images, which "
        "`remove --restore` brings back; locate NAME FOLDER: after the folder was moved",
    )
    parser.add_argument("values", nargs="*", metavar="NAME|FOLDER")
    parser.add_argument(
        "--force", action="store_true", help="locate: accept a folder without any of the labeled images"
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    action, values = options.action, options.values
    if len(values) != _ARGUMENTS[action]:
        raise WrongUse(f"{action} takes {_ARGUMENTS[action]} arguments, not {len(values)}")
    result: dict[str, Any] = {}
    with Project.open(options.project, write=action != "list") as project:
        if action == "add":
            result["added"] = project.add_source(Path(values[0])).name
        elif action == "remove":
            removal = trash.remove_source(project, values[0])
            result["removed"] = removal.name
            console.line(
                f"{values[0]} removed. Restore it with: workbench remove {project.root} --restore {removal.name}"
            )
        elif action == "locate":
            result["located"] = locate_source(project, values[0], Path(values[1]), check=not options.force).name
        reports = source_reports(project)
        for report in reports:
            state = "MISSING" if report.missing else counted(report.images, "image")
            console.line(f"{report.name or '(project)'}: {report.path} – {state}")
    result["sources"] = [
        {
            "name": report.name,
            "path": report.path,
            "relative": report.relative,
            "missing": report.missing,
            "pictures": report.images,
        }
        for report in reports
    ]
    return result
