"""Verb `unpack`: unpack a packed project into a new folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console
from workbench.core.problems import UntrustedPlaces
from workbench.core.project.packing import unpack
from workbench.core.project.project import Project
from workbench.core.text_patterns import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="PROJECT.zip")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), metavar="FOLDER", help="parent folder (.)")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    with console.progress("unpacking") as move:
        root = unpack(options.path, options.folder.absolute(), progress=move)
    assert root is not None
    try:
        images = len(Project.open(root, write=False).images())
    except UntrustedPlaces as problem:
        console.line(f"Project {root}.")
        console.note(str(problem))
        return {"project": root, "pictures": None}
    console.line(f"Project {root} with {counted(images, 'image')}.")
    return {"project": root, "pictures": images}
