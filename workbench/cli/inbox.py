"""Verb `inbox`: list images that a line has kept for labeling, and take them into a project."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.project.project import Project
from workbench.core.suggestions.line_images import KEPT, known_marks, read_kept, take
from workbench.core.text_patterns import counted
from workbench.inference.verdict_rule import result_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT", help="project folder")
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of --inbox, of serve or predict --watch")
    parser.add_argument("--kept", choices=KEPT, help="only images that were kept for this reason")
    parser.add_argument("--take", action="store_true", help="copy the images into the project, none of them twice")
    parser.add_argument(
        "--accept", action="store_true", help="with --take: store predictions as labels instead of suggestions"
    )


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    images, broken = read_kept(options.folder)
    images = [image for image in images if options.kept in (None, image.record.get("kept"))]
    with Project.open(options.project, write=options.take) as project:
        known = known_marks(project)
        entries = [
            {"path": image.path, "kept": image.record.get("kept"), "verdict": image.record.get("verdict")}
            | {"time": image.record.get("time"), "taken": image.mark in known}
            for image in images
        ]
        result: dict[str, Any] = {"pictures": entries, "skipped": [{"path": name, "why": why} for name, why in broken]}
        if options.take:
            taken = take(project, images, accept=options.accept)
            result["taken"] = taken.keys
            result["skipped"] += [{"path": name, "why": why} for name, why in taken.skipped]
            console.line(f"{counted(len(taken.keys), 'image')} taken, {taken.known} already in the project.")
        else:
            for image, entry in zip(images, entries):
                state = "in the project" if entry["taken"] else entry["kept"]
                console.line(f"{image.path.name}: {state}, {result_text(image.record)}")
    for skipped in result["skipped"]:
        console.note(f"{skipped['path']}: skipped, {skipped['why']}")
    return result
