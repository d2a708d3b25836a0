"""Verb `predict`: predict images with a run or an export and write masks, overlays and tables to a folder."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from workbench.cli.predict_suggestions import suggest_for
from workbench.cli.verb_runner import STOPPING, Console, StoppedEarly, plain, progress_bar
from workbench.core import problems
from workbench.core.runs.model_lookup import model_folder, open_model
from workbench.inference.batch.folder_watch import watch
from workbench.inference.batch.input_paths import InputSource, collect_images
from workbench.inference.batch.interrupts import GracefulInterrupt, handle_interrupts
from workbench.inference.batch.results_folder import ResultsFolder, predict_all
from workbench.inference.batch.results_log import ResultsLogError, ignored_lines, model_fingerprint
from workbench.inference.io.buffers import keep_freed_memory
from workbench.inference.predictor import Prediction

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a run's or an export's folder, or a run's name with --project")
    parser.add_argument("pictures", nargs="+", metavar="PICTURES", help="files, folders or patterns")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="folder of results (results)")
    parser.add_argument("--project", type=Path, metavar="PROJECT", help="where a run is looked up by its name")
    parser.add_argument(
        "--as-proposals",
        action="store_true",
        help="write what is found as proposals of a project, which the window offers there; PICTURES is the project's "
        "folder, for all of its pictures, or some of them",
    )
    parser.add_argument("--no-overlays", action="store_true", help="write masks and tables only")
    parser.add_argument("--threads", type=int, default=None, metavar="N", help="0 for all")
    again = parser.add_mutually_exclusive_group()
    kept = "skip images that already have results"
    again.add_argument("--continue", dest="go_on", action="store_true", help=kept)
    waits = (
        "wait for more pictures until Ctrl-C; goes on where it was stopped. With --json one object a picture and line, "
        "and one at the end"
    )
    again.add_argument("--watch", action="store_true", help=waits)


def run(options: argparse.Namespace, talk: Console) -> dict[str, Any]:
    if options.as_proposals:
        return suggest_for(options, talk)
    keep_freed_memory()
    folder = model_folder(options.model, options.project)
    predictor = open_model(folder, options.threads)
    sources, skipped = collect_images(options.pictures, leave_out=options.out)
    if not sources and not options.watch:
        raise problems.NothingToPredict(path=skipped[0].path, why=skipped[0].why)
    try:
        with (
            handle_interrupts(lambda: talk.note(STOPPING)) as stop,
            ResultsFolder(
                options.out,
                predictor,
                fingerprint=model_fingerprint(folder),
                resume=options.go_on or options.watch,
                overlays=not options.no_overlays,
                live=options.watch,
                skipped=() if options.watch else skipped,
            ) as results,
        ):
            if results.ignored:
                talk.note(ignored_lines(results.ignored))
            if options.watch:
                return _watch(options, results, stop, talk)
            return _batch(options, results, sources, stop, talk)
    except ResultsLogError as error:
        raise problems.ResultsTaken(why=str(error)) from error
    except OSError as error:
        raise problems.CannotWrite.of(options.out, error) from error


def _batch(
    options: argparse.Namespace,
    results: ResultsFolder,
    sources: list[InputSource],
    stop: GracefulInterrupt,
    talk: Console,
) -> dict[str, Any]:
    with progress_bar("predicting", total=len(sources), unit=" pictures") as shown:

        def on_image(number: int, total: int, path: str, result: Prediction | None, why: str) -> None:
            shown.update(number - shown.n)
            if result is None:
                talk.note(f"{path}: skipped, {why}")

        whole = predict_all(results, sources, on_image=on_image, stop=stop.asked, cancelled=stop.at_once)
    found = results.report()
    if not whole:
        raise StoppedEarly(done=len(found["pictures"]), total=len(sources), path=options.out)
    if not found["pictures"]:
        raise problems.NothingToPredict(path=found["skipped"][-1]["path"], why=found["skipped"][-1]["why"])
    _print_image(found, options.out, talk)
    return {**found, "out": options.out.absolute()}


def _watch(
    options: argparse.Namespace, results: ResultsFolder, stop: GracefulInterrupt, talk: Console
) -> dict[str, Any]:
    count = {"pictures": 0, "skipped": 0}

    def on_image(path: str, result: Prediction | None, why: str) -> None:
        count["skipped" if result is None else "pictures"] += 1
        said = f"skipped, {why}" if result is None else _summary(result.verdict, result.regions, result.milliseconds)
        talk.line(f"{path}: {said}")
        if options.json:
            found = {"path": path, "why": why} if result is None else {"path": path, **result.to_json()}
            print(json.dumps(plain(found), allow_nan=False), flush=True)

    talk.note(f"Waiting for pictures in {', '.join(options.pictures)}; results go to {options.out}. Ctrl-C stops.")
    watch(results, options.pictures, stop, on_image=on_image)
    talk.line(f"Stopped. {count['pictures']} pictures, {count['skipped']} skipped; results in {options.out}")
    return {"stopped": True, **count, "out": options.out.absolute()}


def _print_image(found: dict[str, Any], out: Path, talk: Console) -> None:
    for entry in found["pictures"][:_SHOWN]:
        talk.line(f"{entry['path']}: {_summary(entry['verdict'], entry['regions'], entry['milliseconds'])}")
    if len(found["pictures"]) > _SHOWN:
        talk.line(f"and {len(found['pictures']) - _SHOWN} more")
    left_out = f", {len(found['skipped'])} skipped" if found["skipped"] else ""
    talk.line(f"{len(found['pictures'])} pictures{left_out}; results in {out}")


def _summary(verdict: str | None, regions: list[Any], milliseconds: float) -> str:
    return f"{verdict or f'{len(regions)} regions'}, {milliseconds:.0f} ms"
