"""Training program as a child process that is followed to its end: events, Ctrl+C, and the problem if it fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from workbench.core import problems
from workbench.core.project.project import Project
from workbench.core.runs import child_process
from workbench.core.runs.child_process import ChildProcess, StopTimeouts
from workbench.core.runs.events import Event, Failed, Finished, encode_command
from workbench.core.runs.export_options import ExportOptions
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment
from workbench.core.runs.pip_commands import paddle_command_here
from workbench.core.runs.run import Run, create_run, find_run
from workbench.core.runs.training_settings import RANDOM, TrainingSettings, request
from workbench.core.text_patterns import free_path
from workbench.inference.batch.interrupts import on_interrupts

OnEvent = Callable[[Event], bool | None]


def requested_settings(project_root: Path, model: str, choices: Mapping[str, Any]) -> TrainingSettings:
    """Return training settings from choices for a project. Paths become absolute, for a child with another folder.

    `start_from` is a name for `find_run`. Raises BadSettings, UnknownRun, RunUnusable.
    """
    choices = dict(choices)
    weights, start = choices.get("weights"), choices.get("start_from")
    if isinstance(weights, (str, Path)) and weights not in ("imagenet", RANDOM):
        choices["weights"] = str(Path(weights).absolute())
    if isinstance(start, (str, Path)):
        root = project_root.absolute()
        earlier = find_run(root, str(start), model)
        earlier.need_usable()
        choices["start_from"] = earlier.name if earlier.project_root == root else str(earlier.root)
    return request(model, **choices)


def new_run(project_root: Path, settings: TrainingSettings) -> Run:
    """Collect the dataset and create a run. The project is closed on return, so that a window can open it."""
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command_here())
    with Project.open(project_root) as project:
        return create_run(project, settings)


def run_training(run: Run, *, on_event: OnEvent, on_stop: Callable[[], None], resume: bool = False) -> Finished:
    """Train a run to its end, as `run_child` does. Raises RunUnusable if no model was saved."""
    arguments = ["--resume"] if resume else []
    device = run.settings().device
    ending = run_child(
        "train", run.root, *arguments, device=device, log=run.log_path, on_event=on_event, on_stop=on_stop
    )
    run.need_usable()
    return ending


def export_run(
    run: Run, options: ExportOptions, *, out: Path | None = None, on_event: OnEvent, on_stop: Callable[[], None]
) -> dict[str, Any]:
    """Export a run, as `run_child` does. Return the report of the export.

    out: a new folder; by default below `exports/`. Raises RunUnusable, BadSettings, ExportExists, ParityFailed, and
    KeyboardInterrupt if it was stopped.
    """
    run.need_usable()
    options.check()
    out = free_path(run.project_root / "exports", run.name) if out is None else out.absolute()
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise problems.ExportExists(path=str(out))
    arguments = ["--out", out, *options.to_arguments()]
    ending = run_child("export", run.root, *arguments, log=run.log_path, on_event=on_event, on_stop=on_stop)
    if ending.why == "stopped":
        raise KeyboardInterrupt
    return {"path": str(out), **ending.result}


def run_child(
    verb: str,
    *arguments: str | Path,
    device: str = "auto",
    log: Path,
    on_event: OnEvent,
    on_stop: Callable[[], None],
) -> Finished:
    """Run a verb of the training program to its end. on_stop: called after the first Ctrl+C, which requests a stop.

    on_event: may return False, which requests a stop too. A second Ctrl+C kills the child. Raises the problem that the
    child reports, PaddleMissing, or WorkerFailed.
    """
    if not paddle_installed():
        raise problems.PaddleMissing(command=paddle_command_here())
    child = ChildProcess(
        worker_command(verb, *arguments),
        environment=worker_environment(device),
        log=log,
        timeouts=StopTimeouts(command=math.inf, saving=math.inf),  # only a second Ctrl+C ends it by force
    )
    ending: Finished | Failed | None = None
    with _interrupts(child, on_stop):
        for event in child.events():
            if on_event(event) is False:
                child.stop(encode_command("stop"))
            if isinstance(event, (Finished, Failed)):
                ending = event
    if isinstance(ending, Finished):
        return ending
    what = "training" if verb == "train" else verb
    if ending is None:
        ending = child.exit_event(what)
    if ending.problem == "PaddleMissing":
        raise problems.PaddleMissing(command=paddle_command_here())
    raise child_process.to_problem(ending, what, log)


@contextmanager
def _interrupts(child: ChildProcess, on_stop: Callable[[], None]) -> Iterator[None]:
    """Context in which the first interrupt requests the child to stop and the second one kills it."""
    count = 0

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            child.stop(encode_command("stop"))
            on_stop()
        else:
            child.kill()

    with on_interrupts(handle):
        try:
            yield
        except BaseException:
            child.kill()
            raise
