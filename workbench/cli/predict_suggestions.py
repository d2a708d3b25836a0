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


def suggest_for(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Write suggestions for a project's images. Only its folder `proposals` is written; masks and notes are not."""
    if options.watch:
        raise WrongUse("--as-proposals and --watch cannot be combined")
    root, names = _project_of(options)
    with Project.open(root) as project:
        folder = model_folder(options.model, project.root)
        keys, unknown = _keys(project, names)
        if not keys:
            first = unknown[0] if unknown else {"path": str(root), "why": "the project has no images"}
            raise NothingToPredict(**first)
        predictor = open_model(folder, options.threads)
        done: list[dict[str, Any]] = []
        skipped = unknown
        with progress_bar("predicting", total=len(keys), unit=" images") as bar:

            def on_image(number: int, result: ImageSuggested) -> None:
                bar.update(number - bar.n)
                if result.why:
                    skipped.append({"path": str(project.image_path(result.key)), "why": result.why})
                    console.note(f"{result.key}: skipped, {result.why}")
                else:
                    done.append(_image(project, result))

            with handle_interrupts(lambda: console.note(STOPPING)) as stop:
                complete = suggest_all(
                    project,
                    predictor,
                    folder,
                    keys,
                    on_image=on_image,
                    go_on=options.go_on,
                    stop=stop.requested,
                    cancelled=stop.at_once,
                )
        if not complete:
            raise StoppedEarly(done=len(done), total=len(keys), path=project.root / "proposals")
        if not done:
            raise NothingToPredict(**skipped[-1])
        _print_summary(done, skipped, console)
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
    images = project.images()
    if not names:
        return images, []
    by_path = {os.path.realpath(project.image_path(key)): key for key in images}
    sources, skipped = collect_images(names)
    unknown = [{"path": entry.path, "why": entry.why} for entry in skipped]
    keys = []
    for source in sources:
        key = by_path.get(os.path.realpath(source.path))
        if key is not None:
            keys.append(key)
        else:
            unknown.append({"path": str(source.path), "why": "not an image of this project"})
    return keys, unknown


def _print_summary(done: list[dict[str, Any]], skipped: list[dict[str, str]], console: Console) -> None:
    with_suggestions = [entry for entry in done if entry["regions"]]
    for entry in with_suggestions[:_SHOWN]:
        console.line(f"{entry['key']}: {len(entry['regions'])} suggestions")
    if len(with_suggestions) > _SHOWN:
        console.line(f"and {len(with_suggestions) - _SHOWN} more images")
    total = sum(len(entry["regions"]) for entry in with_suggestions)
    skipped_text = f", {len(skipped)} skipped" if skipped else ""
    console.line(
        f"{total} suggestions in {len(with_suggestions)} of {len(done)} images{skipped_text}. "
        "Open the project to accept or reject them."
    )


def _image(project: Project, result: ImageSuggested) -> dict[str, Any]:
    names = {info.id: info.name for info in project.classes}
    regions = [
        {
            "class_id": suggestion.class_id,
            "class_name": names.get(suggestion.class_id, ""),
            "x": suggestion.selection.rect.x,
            "y": suggestion.selection.rect.y,
            "width": suggestion.selection.rect.width,
            "height": suggestion.selection.rect.height,
            "area": suggestion.area,
            "score": round(suggestion.score, 4),
        }
        for suggestion in result.suggestions
    ]
    return {
        "path": project.image_path(result.key),
        "key": result.key,
        "mask": None,
        "regions": regions,
        "verdict": None,
        "milliseconds": round(result.milliseconds, 3),
        "proposals": suggestions_path(project, result.key),
    }
