"""Verb `log`: progress of a training for TensorBoard, VisualDL or MLflow, also while it is trained."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.cli.training_log.log_targets import TARGETS, LogNotWritten, LogTarget, open_log
from workbench.cli.training_log.run_values import RunReader, Scalar, follow, run_settings
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core.messages import first_line
from workbench.core.problems import Problem
from workbench.core.project.project import read_project_file
from workbench.core.runs.events import Failed, Finished
from workbench.core.runs.run import Run, find_run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="folder of a run, or a project: its --run")
    parser.add_argument("--run", dest="name", default="last", metavar="RUN|best|last", help="run of a project (last)")
    titles = ", ".join(target.title for target in TARGETS.values())
    parser.add_argument("--to", required=True, choices=list(TARGETS), help=f"program that shows the log: {titles}")
    parser.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="folder of the logs; each run has its own below it. For mlflow also the address of a tracking server",
    )
    parser.add_argument("--follow", action="store_true", help="continue until the training ends")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    target = TARGETS[options.to]
    if "://" in options.out and not target.remote:
        raise WrongUse(f"--out must be a folder for {options.to}, not an address")
    trained = _find(options.run_folder, options.name)
    settings = run_settings(trained)
    count, stopped = 0, False
    with _writing(target, options.out):
        log = open_log(options.to, trained, settings, options.out)
    reader = RunReader(trained)

    def update() -> None:
        nonlocal count
        with _writing(target, options.out):
            for value in reader.read():
                if isinstance(value, Scalar):
                    log.add_scalar(value)
                    count += 1
                else:
                    log.add_text(value)
            log.flush()

    try:
        if options.follow:
            console.note(f"Following {trained.name}. Show it with: {target.view.format(path=_shown(log, options.out))}")
            follow(trained, reader, update)
        else:
            update()
    except KeyboardInterrupt:
        stopped = True
    finally:
        ending = reader.ending
        with _writing(target, options.out):
            log.close("failed" if isinstance(ending, Failed) else ending.why if ending is not None else None)
    result = {
        "run": trained.name,
        "to": options.to,
        "path": log.location,
        "values": count,
        "finished": isinstance(ending, Finished),
        "view": target.view.format(path=_shown(log, options.out)),
    }
    if count:
        console.line(f"Wrote {count:,} values of {trained.name} for {target.title} to {log.location}.")
    else:
        why = "it was adopted, not trained here" if trained.adopted else "its training has not reported any"
        console.line(f"{trained.name} has no values to log: {why}.")
    if stopped:
        console.line("Following was stopped. The training is not affected.")
    if count:
        console.line(f"  Show them with: {result['view']}")
    return result


def _shown(log: Any, out: str) -> str:
    """Return the folder, or the address, for which the program is started."""
    return log.location if "://" in log.location else str(Path(out).absolute())


def _find(path: Path, name: str) -> Run:
    if (path / "recipe.json").exists():
        return Run(path)
    root = path.absolute()
    read_project_file(root)
    return find_run(root, name)


@contextlib.contextmanager
def _writing(target: LogTarget, out: str) -> Iterator[None]:
    """Report an error of the library, or of the file system, as a problem."""
    try:
        yield
    except (Problem, KeyboardInterrupt):
        raise
    except Exception as error:  # each library raises its own exception types
        raise LogNotWritten(title=target.title, path=out, why=first_line(error)) from error
