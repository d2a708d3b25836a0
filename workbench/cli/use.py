"""Verb `use`: show or choose the model in use of a project, which other verbs use unless a run is named."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, add_project
from workbench.core.project.project import Project, read_project_file
from workbench.core.runs.run import IN_USE, chosen_run, find_run, run_in_use
from workbench.core.runs.training_settings import MODELS

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
