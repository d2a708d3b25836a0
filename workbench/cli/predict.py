"""Verb `predict`: predict images with a run or an export and write masks, overlays and tables to a folder.

With --as-suggestions the predictions are stored as suggestions in the project.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.cli import kept_images
from workbench.cli.model_verbs import report_in_use
from workbench.cli.sinks import result_outputs
from workbench.cli.sinks.result_outputs import SinkPlan, WatchOutputs
from workbench.cli.verb_runner import STOPPING, Console, StoppedEarly, WrongUse, identify, plain, progress_bar
from workbench.core import problems
from workbench.core.project.project import Project
from workbench.core.runs.model_lookup import model_folder, open_model
from workbench.core.runs.run import IN_USE
from workbench.core.suggestions.suggestion_files import PREFIX, ImageSuggested, Labeler, suggest_all, suggestions_path
from workbench.core.text_patterns import counted
from workbench.inference.batch.folder_watch import watch
from workbench.inference.batch.input_paths import InputSource, collect_images
from workbench.inference.batch.interrupts import GracefulInterrupt, handle_interrupts
from workbench.inference.batch.results_folder import (
    KEEP_VERDICTS,
    ResultsFolder,
    new_remarks,
    predict_all,
    unlike_summary,
)
from workbench.inference.batch.results_log import ResultsLogError, model_fingerprint
from workbench.inference.cpu_environment import keep_freed_memory
from workbench.inference.io.file_access import read_regular
from workbench.inference.predictor import Prediction
from workbench.inference.verdict_rule import ResultsSummary, result_text

_SHOWN = 20


def suggest_for(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Write suggestions for a project's images. Only its folder `proposals` is written; masks and notes are not."""
    if options.watch:
        raise WrongUse("--as-suggestions and --watch cannot be combined")
    root, names = _project_of(options)
    if options.project is None:
        identify(root, options, console)
    with Project.open(root) as project:
        areas = project.file.inspection_areas
        labeler = Labeler(options.model, project.classes, areas) if options.model.startswith(PREFIX) else None
        folder = Path(options.model) if labeler is not None else model_folder(options.model, project.root)
        keys, unknown = _keys(project, names)
        if not keys:
            first = unknown[0] if unknown else {"path": root, "why": "the project has no images"}
            raise problems.NothingToPredict(**first)
        predictor = open_model(folder, options.threads) if labeler is None else labeler
        done: list[dict[str, Any]] = []
        skipped = unknown
        with progress_bar("predicting", total=len(keys), unit=" images") as bar:

            def on_image(number: int, result: ImageSuggested) -> None:
                bar.update(number - bar.n)
                if result.why:
                    skipped.append({"path": project.image_path(result.key), "why": result.why})
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
                    resume=options.resume,
                    stop=stop.requested,
                    cancelled=stop.at_once,
                )
        if not complete:
            raise StoppedEarly(done=len(done), total=len(keys), path=project.root / "proposals")
        if not done:
            raise problems.NothingToPredict(**skipped[-1])
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
    raise problems.NotAProject(path=str(first))


def _keys(project: Project, names: list[str]) -> tuple[list[str], list[dict[str, str]]]:
    """Return the keys of the named images, and path and reason of names that are no image of the project."""
    images = project.images()
    if not names:
        return images, []
    by_path = {os.path.realpath(project.image_path(key)): key for key in images}
    sources, skipped = collect_images(names)
    unknown = [{"path": Path(entry.path), "why": entry.why} for entry in skipped]
    keys = []
    for source in sources:
        key = by_path.get(os.path.realpath(source.path))
        if key is not None:
            keys.append(key)
        else:
            unknown.append({"path": source.path, "why": "not an image of this project"})
    return keys, unknown


def _print_summary(done: list[dict[str, Any]], skipped: list[dict[str, str]], console: Console) -> None:
    with_suggestions = [entry for entry in done if entry["regions"]]
    for entry in with_suggestions[:_SHOWN]:
        console.line(f"{entry['key']}: {counted(len(entry['regions']), 'suggestion')}")
    if len(with_suggestions) > _SHOWN:
        console.line(f"and {len(with_suggestions) - _SHOWN} more images")
    total = sum(len(entry["regions"]) for entry in with_suggestions)
    skipped_text = f", {len(skipped)} skipped" if skipped else ""
    console.line(
        f"{counted(total, 'suggestion')} in {len(with_suggestions)} of {counted(len(done), 'image')}{skipped_text}. "
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="folder of a run, of an export or of a project (its model in use), name of a run with --project, or, with "
        "--as-suggestions, labeler:NAME for a labeler of a plug-in",
    )
    parser.add_argument("pictures", nargs="+", metavar="IMAGES", help="files, folders or patterns")
    parser.add_argument(
        "--out", type=Path, default=Path("results"), metavar="DIR", help="folder for the results (results)"
    )
    parser.add_argument("--project", type=Path, metavar="PROJECT", help="project in which MODEL is a name of a run")
    parser.add_argument(
        "--as-suggestions",
        action="store_true",
        dest="as_proposals",
        help="store predictions as suggestions of a project, to be accepted or rejected in the window; IMAGES: the "
        "project folder for all images, or some of them",
    )
    parser.add_argument("--as-proposals", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--no-overlays", action="store_true", help="write masks and tables only")
    parser.add_argument("--keep-verdicts", action="store_true", help=KEEP_VERDICTS)
    parser.add_argument("--threads", type=int, default=None, metavar="N", help="number of CPU threads (0 = all cores)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--continue", dest="resume", action="store_true", help="skip images that already have results")
    watch_help = (
        "watch the folder until Ctrl+C; continues after a stop. With --json one object per image and line, and one at "
        "the end"
    )
    mode.add_argument("--watch", action="store_true", help=watch_help)
    result_outputs.add_arguments(parser, spool="DIR of --out/spool")
    kept_images.add_arguments(parser)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    plan = result_outputs.plan_sinks(options, spool=options.out / "spool")
    inbox = kept_images.plan_inbox(options)
    if (plan or inbox) and not options.watch:
        raise WrongUse("result outputs, such as --webhook, and --inbox need --watch")
    result = suggest_for(options, console) if options.as_proposals else _predict(options, plan, inbox, console)
    # MODEL requests the model in use if it is a project, or "in-use" with --project.
    root = options.project if options.model == IN_USE else Path(options.model)
    requested = root is not None and (root / "project.json").is_file()
    return result | report_in_use(root.absolute(), console) if requested else result


def _predict(
    options: argparse.Namespace, plan: SinkPlan | None, inbox: kept_images.KeepPlan | None, console: Console
) -> dict[str, Any]:
    keep_freed_memory()
    folder = model_folder(options.model, options.project)
    predictor = open_model(folder, options.threads)
    if options.keep_verdicts:
        predictor.keep_verdicts()
    sources, skipped = collect_images(options.pictures, leave_out=options.out)
    if not sources and not options.watch:
        raise problems.NothingToPredict(path=skipped[0].path, why=skipped[0].why)
    try:
        with handle_interrupts(lambda: console.note(STOPPING)) as stop:
            fingerprint = model_fingerprint(folder)
            outputs = WatchOutputs(plan, predictor.settings, fingerprint, stop, console)
            with ResultsFolder(
                options.out,
                predictor,
                fingerprint=fingerprint,
                resume=options.resume or options.watch,
                overlays=not options.no_overlays,
                live=options.watch,
                skipped=() if options.watch else skipped,
                on_entry=outputs.on_entry,
            ) as results:
                for remark in results.remarks:
                    console.note(remark)
                if not options.watch:
                    return _batch(options, results, sources, stop, console)
                with outputs, contextlib.ExitStack() as stack:
                    keep = None
                    if inbox:
                        made = kept_images.KeptImages(inbox, predictor.settings, console.note)
                        keep = stack.enter_context(made).offer
                    report = _watch(options, results, stop, console, keep)
                return {**report, **outputs.summary}
    except ResultsLogError as error:
        raise problems.ResultsTaken(why=str(error)) from error
    except OSError as error:
        raise problems.CannotWrite.of(options.out, error) from error


def _batch(
    options: argparse.Namespace,
    results: ResultsFolder,
    sources: list[InputSource],
    stop: GracefulInterrupt,
    console: Console,
) -> dict[str, Any]:
    reported: set[str] = set()
    with progress_bar("predicting", total=len(sources), unit=" images") as bar:

        def on_image(number: int, total: int, path: str, result: Prediction | None, why: str) -> None:
            bar.update(number - bar.n)
            if result is None:
                console.note(f"{path}: skipped, {why}")
            for remark in new_remarks(result, reported) if result else ():
                console.note(remark)

        complete = predict_all(results, sources, on_image=on_image, stop=stop.requested, cancelled=stop.at_once)
    report = results.report()
    if not complete:
        raise StoppedEarly(done=len(report["pictures"]), total=len(sources), path=options.out)
    if not report["pictures"]:
        raise problems.NothingToPredict(path=report["skipped"][-1]["path"], why=report["skipped"][-1]["why"])
    _print_report(report, results.summary(), options.out, console)
    return {**report, "out": options.out.absolute()}


def _watch(
    options: argparse.Namespace,
    results: ResultsFolder,
    stop: GracefulInterrupt,
    console: Console,
    keep: Callable[[bytes, Prediction, str], None] | None,
) -> dict[str, Any]:
    count = {"pictures": 0, "skipped": 0}
    reported: set[str] = set()

    def on_image(path: str, result: Prediction | None, why: str) -> None:
        count["skipped" if result is None else "pictures"] += 1
        text = f"skipped, {why}" if result is None else _summary(result.to_json())
        console.line(f"{path}: {text}")
        if keep is not None and result is not None:
            with contextlib.suppress(OSError):  # removed since it was predicted
                keep(read_regular(Path(path)), result, Path(path).stem)
        for remark in new_remarks(result, reported) if result else ():
            console.note(remark)
        if options.json:
            entry = {"path": Path(path), "why": why} if result is None else {"path": Path(path), **result.to_json()}
            print(json.dumps(plain(entry), allow_nan=False), flush=True)

    console.note(f"Watching {', '.join(options.pictures)}. Results are written to {options.out}. Press Ctrl+C to stop.")
    watch(results, options.pictures, stop, on_image=on_image)
    console.line(
        f"Stopped. {counted(count['pictures'], 'image')}, {count['skipped']} skipped. Results are in {options.out}."
    )
    return {"stopped": True, **count, "out": options.out.absolute()}


def _print_report(report: dict[str, Any], summary: ResultsSummary, out: Path, console: Console) -> None:
    for entry in report["pictures"][:_SHOWN]:
        console.line(f"{entry['path']}: {_summary(entry)}")
    if len(report["pictures"]) > _SHOWN:
        console.line(f"and {len(report['pictures']) - _SHOWN} more")
    unlike = unlike_summary(report["pictures"])
    if unlike:
        console.note(unlike)
    skipped = f", {len(report['skipped'])} skipped" if report["skipped"] else ""
    console.line(f"{summary}.")
    console.line(f"{counted(len(report['pictures']), 'image')}{skipped}. Results are in {out}.")


def _summary(entry: dict[str, Any]) -> str:
    return f"{result_text(entry)}, {entry['milliseconds']:.0f} ms"
