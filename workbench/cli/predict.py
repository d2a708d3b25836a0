"""workbench predict: pictures through a run or an export; masks, overlays and tables into a folder."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.running import Talk, bar
from workbench.core import problems
from workbench.core.run import Run, find_run
from workbench.inference.batch import predict_to_folder
from workbench.inference.checks import verify_checks
from workbench.inference.golden import self_test
from workbench.inference.naming import collect_pictures
from workbench.inference.predictor import Predictor, Result
from workbench.inference.settings import MODEL_FILE

_SHOWN = 20


class UnknownModel(problems.Problem):
    says = "{path} is neither a run nor an export."
    advice = "Name a folder under runs/ or exports/, or a run together with --project."


class NothingToPredict(problems.Problem):
    says = "There is nothing to look at: {path}: {why}."


class ExportDamaged(problems.Problem):
    says = "This export does not give what it was exported with: {why}"
    advice = "Export it again."


def fill(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a run's or an export's folder, or a run's name with --project")
    parser.add_argument("pictures", nargs="+", metavar="PICTURES", help="files, folders or patterns")
    parser.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="folder of results (results)")
    parser.add_argument("--project", type=Path, metavar="PROJECT", help="where a run is looked up by its name")
    parser.add_argument("--no-overlays", action="store_true", help="write masks and tables only")
    parser.add_argument("--threads", type=int, default=None, metavar="N", help="0 for all")


def run(options: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    predictor = open_model(options.model, options.project, options.threads)
    sources, skipped = collect_pictures(options.pictures, leave_out=options.out)
    if not sources:
        raise NothingToPredict(path=skipped[0].path, why=skipped[0].why)
    with bar("predicting", total=len(sources), unit=" pictures") as shown:

        def on_picture(number: int, total: int, path: str, result: Result | None, why: str) -> None:
            shown.update(1)
            if result is None:
                talk.note(f"{path}: skipped, {why}")

        try:
            found = predict_to_folder(
                predictor, sources, options.out, skipped=skipped, overlays=not options.no_overlays,
                on_picture=on_picture,
            )  # fmt: skip
        except OSError as error:
            raise problems.CannotWrite(path=str(options.out), why=error.strerror or str(error)) from error
    if not found["pictures"]:
        raise NothingToPredict(path=found["skipped"][-1]["path"], why=found["skipped"][-1]["why"])
    _say(found, options.out, talk)
    return {**found, "out": options.out.absolute()}


def open_model(name: str, project: Path | None, threads: int | None = None) -> Predictor:
    """An export is checked before it is used: its files against their sums, its quick self-test."""
    path = Path(name)
    if project is not None and not path.exists():
        return _of_run(find_run(project.absolute(), name), threads)
    if (path / "recipe.json").exists():
        return _of_run(Run(path), threads)
    if not (path / MODEL_FILE).exists():
        raise UnknownModel(path=name)
    wrong = verify_checks(path) if (path / "predict.py").exists() else []
    predictor = None
    if not wrong:
        predictor = Predictor.open(path, threads=threads)
        wrong = self_test(path, predictor, quick=True) if (path / "golden").is_dir() else []
    if wrong or predictor is None:
        raise ExportDamaged(why=wrong[0])
    return predictor


def _of_run(run: Run, threads: int | None) -> Predictor:
    run.need_usable()
    return Predictor.open(run.best, engine="onnx", threads=threads)


def _say(found: dict[str, Any], out: Path, talk: Talk) -> None:
    for entry in found["pictures"][:_SHOWN]:
        said = entry["verdict"] or f"{len(entry['regions'])} regions"
        talk.line(f"{entry['path']}: {said}, {entry['milliseconds']:.0f} ms")
    if len(found["pictures"]) > _SHOWN:
        talk.line(f"and {len(found['pictures']) - _SHOWN} more")
    left_out = f", {len(found['skipped'])} skipped" if found["skipped"] else ""
    talk.line(f"{len(found['pictures'])} pictures{left_out}; results in {out}")
