"""Verb `create`: make a project folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.names import split_names
from workbench.core.project.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the folder to make")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="a folder of pictures that stay where they are")
    parser.add_argument("--classes", type=split_names, default=[], metavar="A,B", help="kinds of defects to paint")
    parser.add_argument("--verdicts", type=split_names, default=[], metavar="OK,NG", help="verdicts on whole pictures")
    parser.add_argument("--name", default="", help="a name for the project (that of the folder)")


def run(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    with Project.create(
        options.project,
        name=options.name,
        images=options.pictures,
        classes=options.classes,
        verdicts=options.verdicts,
    ) as project:
        count = len(project.images())
        talk.line(f"Project {project.root} with {count} pictures.")
        if not count:
            talk.line(f"Put pictures into {project.root / 'pictures'}, or: workbench import {options.project} FOLDER")
        return {
            "project": project.root,
            "pictures": count,
            "classes": [info.name for info in project.classes],
            "verdicts": project.file.verdicts,
        }
