"""Verb `remove`: remove images from a project, list what was removed, and restore it.

The keys of its JSON object are in `json_keys`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import Console, WrongUse
from workbench.core.problems import NotInProject
from workbench.core.project import trash
from workbench.core.project.project import Project
from workbench.core.text_patterns import fill


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("keys", nargs="*", metavar="IMAGE", help="path of an image in the project, as in 'lot1/a.png'")
    parser.add_argument("--restore", metavar="NAME", help="restore a removal (without NAME: see --list)")
    parser.add_argument("--delete", metavar="NAME", help="delete the files of a removal permanently")
    parser.add_argument("--list", action="store_true", help="list the removals that can be restored")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    chosen = [bool(options.keys), options.restore is not None, options.delete is not None, options.list]
    if sum(chosen) != 1:
        raise WrongUse("name images, or use one of --restore, --delete and --list")
    result: dict[str, Any] = {}
    with Project.open(options.project, write=not options.list) as project:
        if options.keys:
            known = set(project.images())
            for key in options.keys:
                if key not in known:
                    raise NotInProject(name=key)
            removal = trash.remove_images(project, list(dict.fromkeys(options.keys)))
            result["removed"] = removal.name
            removed = fill("{n} {n:image|images} removed", n=len(removal.keys))
            console.line(f"{removed}. Undo: workbench remove {project.root} --restore {removal.name}")
        elif options.restore is not None:
            kept = trash.restore(project, options.restore)
            result["kept"] = kept
            console.line("Restored." + (f" Copies of files that exist again: {kept[0].parent}" if kept else ""))
        elif options.delete is not None:
            trash.delete_permanently(project, options.delete)
            console.line("Deleted.")
        removals = trash.removals(project)
        if options.list:
            for removal in removals:
                images = fill("{n} {n:image|images}", n=len(removal.keys))
                what = f"source {removal.source.name}" if removal.source else images
                console.line(
                    fill("{name}: {what}, {n} {n:file|files}", name=removal.name, what=what, n=len(removal.files))
                )
        result["pictures"] = len(project.images())
    result["removals"] = [
        {
            "name": removal.name,
            "when": removal.when,
            "pictures": removal.keys,
            "source": removal.source.name if removal.source else None,
        }
        for removal in removals
    ]
    return result
