"""Verb `create`: create a project folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.images.image_files import count_unused, unused_texts
from workbench.core.project.plausibility import image_concerns
from workbench.core.project.project import Project
from workbench.core.project.sources import walk
from workbench.core.text_patterns import counted, split_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT", help="folder to create")
    parser.add_argument(
        "--images", type=Path, dest="pictures", metavar="DIR", help="folder of images, which are not copied"
    )
    parser.add_argument("--pictures", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--classes", type=split_names, default=[], metavar="A,B", help="classes of defects")
    parser.add_argument("--verdicts", type=split_names, default=[], metavar="OK,NG", help="verdicts for whole images")
    parser.add_argument("--name", default="", help="name of the project (default: name of the folder)")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    with Project.create(
        options.project,
        name=options.name,
        images=options.pictures,
        classes=options.classes,
        verdicts=options.verdicts,
    ) as project:
        count = len(project.images())
        console.line(f"Project {project.root} with {counted(count, 'image')}.")
        names = [] if options.pictures is None else [name for name, _ in walk(options.pictures)]
        unused = count_unused(names)
        for text in unused_texts(unused):
            console.line(text)
        for concern in image_concerns([project.image_path(key) for key in project.images()]):
            console.line(f"{concern.text}.")
        if not count:
            console.line(f"Copy images to {project.root / 'pictures'}, or: workbench import {options.project} FOLDER")
        return {
            "project": project.root,
            "pictures": count,
            "unused_files": dict(unused),
            "classes": [info.name for info in project.classes],
            "verdicts": project.file.verdicts,
        }
