"""Runs on the sample project, for items that need a whole training."""

from __future__ import annotations

from typing import Any

from workbench.core.project.project import Project
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import request
from workbench.core.sample.sample_project import make_sample
from workbench.training.acceptance.items import Conditions
from workbench.training.control_channel import ControlChannel
from workbench.training.reporter import Clock, Reporter
from workbench.training.training_context import TrainingContext, prepare

SMALL: dict[str, Any] = {"widths": [8, 16], "stem": 2, "patch": 64, "batch": 4, "validations": 1, "threads": 2}
LARGE: dict[str, Any] = {"widths": [64, 128, 256, 512], "stem": 1, "patch": 256, "batch": 16, "validations": 1}


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
