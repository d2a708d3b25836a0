"""Runs of an item: trainings on the sample project, and further processes, which call functions of this package, the
training program or verbs of the workbench.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.core.project.project import Project
from workbench.core.runs.captured_program import run_captured
from workbench.core.runs.events import Event, Failed, Finished
from workbench.core.runs.launch import program_command, worker_command, worker_environment
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.core.sample.sample_project import make_sample
from workbench.training.acceptance.items import Conditions
from workbench.training.control_channel import ControlChannel
from workbench.training.reporter import Clock, Reporter
from workbench.training.training_context import TrainingContext, prepare

SMALL: dict[str, Any] = {"widths": [8, 16], "stem": 2, "patch": 64, "batch": 4, "validations": 1, "threads": 2}
LARGE: dict[str, Any] = {"widths": [64, 128, 256, 512], "stem": 1, "patch": 256, "batch": 16, "validations": 1}


class ChildFailed(Exception):
    """A child process that ended without the expected result; the message is its last line of output."""


def call(target: str, conditions: Conditions, argument: Any, *, seconds: float) -> dict[str, Any]:
    """Run "module:function" in a process of its own and return the values of its outcome. Raises ChildFailed.

    A process is needed for each 16-bit type, since Paddle keeps the first one, and for each memory statistic.
    """
    output = run_captured(
        target_command(target, conditions, argument), seconds=seconds, environment=environment(conditions)
    )
    try:
        outcome = json.loads(output.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError) as error:
        why = "it did not end in time" if output.returncode is None else output.last_line
        raise ChildFailed(f"{target}: {why or f'exit code {output.returncode}'}") from error
    if outcome["status"] == "FAIL":
        raise ChildFailed(outcome["detail"])
    return outcome["values"]


def target_command(target: str, conditions: Conditions, argument: Any) -> list[str]:
    quick = ["--quick"] if conditions.quick else []
    options = ["--device", conditions.device, "--folder", str(conditions.folder), "--argument", json.dumps(argument)]
    return worker_command("accept", target, *options, *quick)


def environment(conditions: Conditions, **variables: str) -> dict[str, str]:
    return {**worker_environment(conditions.device), **variables}


def train(run: Run, conditions: Conditions, *, seconds: float, **variables: str) -> list[Event]:
    """Train a run in the training program. Return its events, at last Finished or Failed. Raises ChildFailed."""
    command = worker_command("train", run.root, "--keep-running")
    output = run_captured(command, seconds=seconds, environment=environment(conditions, **variables))
    events = list(run.events())
    if output.returncode is None:
        raise ChildFailed(f"the training did not end within {seconds:.0f} s")
    if not events or not isinstance(events[-1], (Finished, Failed)):
        raise ChildFailed(output.last_line or f"the training ended with exit code {output.returncode}")
    return events


def workbench(*arguments: str | Path, conditions: Conditions, seconds: float) -> dict[str, Any]:
    """Run a verb of the workbench with --json and return its object. Raises ChildFailed."""
    command = program_command(*arguments, "--json")
    output = run_captured(command, seconds=seconds, environment=_program_environment(conditions))
    if output.returncode != 0:
        why = f"no end within {seconds:.0f} s" if output.returncode is None else output.last_line
        raise ChildFailed(f"workbench {arguments[0]}: {why}")
    return json.loads(output.stdout)


def _program_environment(conditions: Conditions) -> dict[str, str]:
    """Return the environment of a verb: that of this process, which already hides the GPUs for a CPU."""
    return {**environment(conditions), "QT_QPA_PLATFORM": "offscreen"}


def open_sample(conditions: Conditions, *, small: bool = True) -> Project:
    """Open the sample project in the scratch folder, and create it first if there is none."""
    root = conditions.folder / ("small-sample" if small else "sample")
    if root.exists():
        return Project.open(root)
    return make_sample(root, small=small)


def make_run(conditions: Conditions, **settings: Any) -> Run:
    """Create a run on the small sample project with the device of the conditions."""
    with open_sample(conditions) as project:
        return create_run(project, request("unet", **{"epochs": 1, "device": conditions.device, **settings}))


def prepare_run(run: Run, *, resume: bool = False) -> TrainingContext:
    """Prepare the components of a training in this process, as the training program does, without reporting events."""
    clock = Clock()
    context = prepare(run, Reporter(None, clock), ControlChannel(None), clock, resume=resume)
    if resume:
        context.resume()
    return context


def step_loss(context: TrainingContext) -> float:
    """Make the next step of a run and return its loss. A skipped step is counted, too."""
    images, truth = context.loader.take(context.state.step)
    result = context.learner.step(images, truth, context.settings.rate, batch_size=context.settings.batch)
    context.state.step += 1
    return float(result.loss)
