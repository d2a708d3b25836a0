"""Verb `predict` with --as-proposals: store a model's predictions as suggestions in the project."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from workbench.cli.verb_runner import STOPPING, Console, StoppedEarly, WrongUse, progress_bar
from workbench.core.problems import NotAProject, NothingToPredict
from workbench.core.project.project import Project
from workbench.core.runs.model_lookup import model_folder, open_model
from workbench.core.suggestions.batch_suggestions import ImageSuggested, suggest_all
from workbench.core.suggestions.suggestion_files import suggestions_path
from workbench.inference.batch.input_paths import collect_images
from workbench.inference.batch.interrupts import handle_interrupts

_SHOWN = 20


def suggest_for(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    """Write suggestions for a project's images. Only its folder `proposals` is written; masks and notes are not."""
    if options.watch:
        raise WrongUse("--as-proposals looks at the pictures that are there, so it does not go with --watch")
    root, names = _project_of(options)
    with Project.open(root) as project:
        folder = model_folder(options.model, project.root)
        keys, strangers = _keys(project, names)
        if not keys:
            first = strangers[0] if strangers else {"path": str(root), "why": "this project has no pictures"}
            raise NothingToPredict(**first)
        predictor = open_model(folder, options.threads)
        done: list[dict[str, Any]] = []
        skipped = strangers
        with progress_bar("predicting", total=len(keys), unit=" pictures") as shown:

            def on_image(number: int, looked: ImageSuggested) -> None:
                shown.update(number - shown.n)
                if looked.why:
                    skipped.append({"path": str(project.image_path(looked.key)), "why": looked.why})
                    talk.note(f"{looked.key}: skipped, {looked.why}")
                else:
                    done.append(_image(project, looked))

            with handle_interrupts(lambda: talk.note(STOPPING)) as stop:
                whole = suggest_all(
                    project,
                    predictor,
                    folder,
                    keys,
                    on_image=on_image,
                    go_on=options.go_on,
                    stop=stop.asked,
                    cancelled=stop.at_once,
                )
        if not whole:
            raise StoppedEarly(done=len(done), total=len(keys), path=project.root / "proposals")
        if not done:
            raise NothingToPredict(**skipped[-1])
        _print_summary(done, skipped, talk)
        total = sum(len(entry["regions"]) for entry in done)
        return {"pictures": done, "skipped": skipped, "proposals": total, "project": project.root}


def _project_of(options: argparse.Namespace) -> tuple[Path, list[str]]:
    """Return the project's folder and the image paths given on the command line, an empty list for all images."""
    first = Path(options.pictures[0])
    if len(options.pictures) == 1 and (first / "project.json").is_file():
        return first, []
    if options.project is not None:
        return options.project, options.pictures
    for folder in first.absolute().parents:
        if (folder / "project.json").is_file():
            return folder, options.pictures
    raise NotAProject(path=str(first))


def _keys(project: Project, names: list[str]) -> tuple[list[str], list[dict[str, str]]]:
    """Return the keys of the named images, and path and reason of names that are no image of the project."""
    every = project.images()
    if not names:
        return every, []
    by_path = {os.path.realpath(project.image_path(key)): key for key in every}
    sources, skipped = collect_images(names)
    strangers = [{"path": one.path, "why": one.why} for one in skipped]
    keys = []
    for source in sources:
        key = by_path.get(os.path.realpath(source.path))
        if key is not None:
            keys.append(key)
        else:
            strangers.append({"path": str(source.path), "why": "it is no picture of this project"})
    return keys, strangers


def _print_summary(done: list[dict[str, Any]], skipped: list[dict[str, str]], talk: Console) -> None:
    with_some = [entry for entry in done if entry["regions"]]
    for entry in with_some[:_SHOWN]:
        talk.line(f"{entry['key']}: {len(entry['regions'])} proposals")
    if len(with_some) > _SHOWN:
        talk.line(f"and {len(with_some) - _SHOWN} more pictures")
    total = sum(len(entry["regions"]) for entry in with_some)
    left_out = f", {len(skipped)} skipped" if skipped else ""
    talk.line(
        f"{total} proposals in {len(with_some)} of {len(done)} pictures{left_out}. Open the project to decide on them."
    )


def _image(project: Project, looked: ImageSuggested) -> dict[str, Any]:
    names = {info.id: info.name for info in project.classes}
    regions = [
        {
            "class_id": one.class_id,
            "class_name": names.get(one.class_id, ""),
            "x": one.selection.rect.x,
            "y": one.selection.rect.y,
            "width": one.selection.rect.width,
            "height": one.selection.rect.height,
            "area": one.area,
            "score": round(one.score, 4),
        }
        for one in looked.suggestions
    ]
    return {
        "path": project.image_path(looked.key),
        "key": looked.key,
        "mask": None,
        "regions": regions,
        "verdict": None,
        "milliseconds": round(looked.milliseconds, 3),
        "proposals": suggestions_path(project, looked.key),
    }
