"""Events about a run as a whole: its start, and images that it does not use."""

from __future__ import annotations

import os

from workbench.core.messages import Message
from workbench.core.runs.events import Started, Step, Trouble
from workbench.core.runs.held_out import SPLITS
from workbench.training.device import gpu_uuids
from workbench.training.learner import StepResult
from workbench.training.training_context import TrainingContext

_MAX_REPORTED = 20  # images reported individually as left out from the start


class ImageReports:
    """Reporter of images that are left out, each once."""

    def __init__(self, context: TrainingContext) -> None:
        self.context = context
        self.reported_keys: set[str] = set()

    def report_left_out(self) -> None:
        """Report labeled images excluded when the run was created."""
        left_out = self.context.dataset.skipped
        done = Message("training.image_left_out")
        for image in left_out[:_MAX_REPORTED]:
            self.context.report(Trouble(what=image.why, done=done, picture=image.key))
        if (more := len(left_out) - _MAX_REPORTED) > 0:
            what = Message("training.more_unusable", n=more)
            self.context.report(Trouble(what=what, done=Message("training.images_left_out")))

    def report_broken(self, done: str = "training.image_left_out") -> None:
        """Report images that cannot be used. done: id of the message about what happens then."""
        broken = {**self.context.sampler.cache.broken, **self.context.evaluator.skipped}
        for key in broken.keys() - self.reported_keys:
            self.reported_keys.add(key)
            self.context.report(Trouble(what=Message.of(broken[key]), done=Message(done), picture=key))


def started_event(context: TrainingContext, *, resumed: bool) -> Started:
    """Return the first event of a run or of its continuation."""
    dataset, choice = context.dataset, context.learner.precision.choice
    return Started(
        model=context.settings.model,
        device=context.device.name,
        device_name=context.device.title,
        precision=choice.name,
        precision_reason=choice.reason,
        parameters=sum(p.size for p in context.learner.net.parameters()),
        pictures={split: len(dataset.of(split)) for split in SPLITS},
        held_out_note=dataset.held_out_note,
        steps_planned=context.budget.steps,
        seconds_planned=context.budget.seconds,
        step=context.state.step,
        resumed=resumed,
        process=os.getpid(),
        gpu=",".join(gpu_uuids(context.device)),
    )


def step_event(context: TrainingContext, result: StepResult, images_per_second: float, data_wait: float) -> Step:
    """Return the event of a step whose result was counted in the state of the run."""
    progress = context.state
    return Step(
        step=progress.step,
        loss=result.loss,
        rate=float(context.learner.optimizer.get_lr()),
        epoch=progress.step / context.sampler.steps_per_epoch,
        grad_norm=result.grad_norm,
        loss_scale=context.learner.precision.loss_scale,
        skipped=progress.skipped,
        images_per_second=images_per_second,
        data_wait=data_wait,
        progress=1.0 if progress.round else context.progress,
        round=progress.round,
    )
