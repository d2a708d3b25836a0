"""Verb `labels`: export a project's labels in the file format of another tool."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.project import annotation
from workbench.core.project.formats import FORMATS
from workbench.core.project.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    writers = [format.name for format in FORMATS.values() if format.write is not None]
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("out", type=Path, metavar="OUT", help="empty or new folder")
    parser.add_argument("--format", choices=writers, required=True)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    out: Path = options.out
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise problems.ExportExists(path=str(out))
    project = Project.open(options.project, write=False)
    keys, skipped = _labeled(project)
    if not keys:
        raise problems.NoLabels()
    write = FORMATS[options.format].write
    assert write is not None
    lost = write(project, out, keys)
    console.line(f"{len(keys)} labels written to {out}.")
    for sentence in lost:
        console.line(f"Not supported by this format: {sentence}")
    for entry in skipped:
        console.line(f"Skipped {entry['path']}: {entry['why']}")
    return {"path": out.absolute(), "format": options.format, "labels": len(keys), "lost": lost, "skipped": skipped}


def _labeled(project: Project) -> tuple[list[str], list[dict[str, str]]]:
    """Return the keys of images with a readable label, and path and reason of those with an unreadable one."""
    keys: list[str] = []
    skipped: list[dict[str, str]] = []
    for key in project.images():
        if not (project.mask_path(key).exists() or project.note_path(key).exists()):
            continue
        try:
            mask = annotation.load_mask(project, key, image_size(project.image_path(key)))
            note = annotation.load_note(project, key)
        except problems.Problem as problem:
            skipped.append({"path": key, "why": str(problem)})
            continue
        if mask is not None or note.verdict is not None:
            keys.append(key)
    return keys, skipped
