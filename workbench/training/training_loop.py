"""Training loop of a run: optimization steps, validation, best weights and checkpoints, within the budget."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from workbench.core.messages import Message
from workbench.core.problems import Problem, WorkerFailed
from workbench.core.runs.dataset import SPLITS
from workbench.core.runs.events import Checkpoint, Finished, Started, Step, Trouble
from workbench.core.runs.run import Run
from workbench.inference.engines import EngineError
from workbench.training.continuous_rounds import ContinuousRounds
from workbench.training.control_channel import ControlChannel
from workbench.training.device import release_memory
from workbench.training.distributed.process_group import RankCommand
from workbench.training.finalize import finalize_run
from workbench.training.learner import OutOfMemory, StepResult
from workbench.training.live_labels import LiveLabels, reload_image
from workbench.training.preview_scheduler import PreviewScheduler
from workbench.training.profiler import StepProfiler
from workbench.training.reporter import Clock, Reporter
from workbench.training.training_context import TrainingContext, prepare
from workbench.training.validation import validate

_SAVE_SECONDS = 60.0
_REPORT_SECONDS = 0.2
_MAX_ROLLBACKS = 3
_MAX_REPORTED = 20  # images reported individually as left out from the start
_MAX_SKIPPED = 40  # consecutive steps; the loss scale is then practically zero


def train(run: Run, report: Reporter, orders: ControlChannel, clock: Clock, *, resume: bool) -> Finished:
    """Carry out a run. Return its last event. Raise a Problem if it cannot continue."""
    context = prepare(run, report, orders, clock, resume=resume)
    try:
        if resume:
            context.resume()
        elif context.ranks.is_leader:
            context.save_last()  # so that a rollback is possible from the first step on
        context.ranks.barrier()
        context.ranks.share(context.learner.net)
        session = TrainingLoop(context)
        if not context.ranks.is_leader:
            run_worker(context, reduce_memory=session.reduce_memory)
            return Finished(why="done")
        report(_started(context, resume))
        try:
            session.run()
        finally:
            context.ranks.dismiss()
        return finalize_run(context, images_per_second=session.images_per_second)
    finally:
        context.loader.close()


class TrainingLoop:
    """Training of one process from start or resume to the end, with its state between steps."""

    def __init__(self, context: TrainingContext) -> None:
        self.context = context
        self.intake, self.previews = LiveLabels(context), PreviewScheduler(context)
        self.rounds = ContinuousRounds(context, self.intake, self.previews)
        self.saved, self.saved_step = time.perf_counter(), -1
        self.reported = 0.0
        self.busy = self.busy_steps = 0.0
        self.waited = 0.0
        self.skipped_in_row = 0
        self.reported_keys: set[str] = set()
        profiled = context.settings.profile and context.ranks.is_leader
        self.profile = StepProfiler(context.run, context.device, context.report) if profiled else None

    def run(self) -> None:
        """Train the planned round, then further rounds with new labels while the run is kept open."""
        if self.context.state.step:
            self.intake.apply_missed()
        else:
            self.report_left_out()
        self.finish_round()
        while self.rounds.begin_next():
            self.finish_round()
        if self.saved_step != self.context.state.step:
            self.save()
        if self.profile is not None:
            self.profile.close()

    def finish_round(self) -> None:
        context = self.context
        while context.progress < 1 and not context.control.stop:
            if self.intake.poll():
                self.previews.allow_previews()
            self.wait_if_paused()
            outcome = self.step()
            if outcome is None:
                continue
            self.report_step(outcome)
            self.report_broken()
            reached = int(context.progress * context.validations)
            if reached > context.state.validated and not context.control.stop:
                context.state.validated = reached
                self.validate()
            elif time.perf_counter() - self.saved > _SAVE_SECONDS:
                self.save()
            self.previews.poll()
        if not context.control.stop and context.state.validated < context.validations:
            context.state.validated = context.validations  # time ran out between two steps
            self.validate()

    @property
    def images_per_second(self) -> float:
        return self.busy_steps * self.context.settings.batch / max(1e-9, self.busy)

    # --- one step --------------------------------------------------------------------------------

    def step(self) -> StepResult | None:
        """Run one optimization step.

        Return None if it was retried (out of memory) or rolled back (divergence).
        """
        context, progress = self.context, self.context.state
        started, waited = time.perf_counter(), context.loader.wait_seconds
        images, truth = context.loader.take(progress.step)
        rate = context.rate
        try:
            context.ranks.send_command(RankCommand.STEP, step=progress.step, rate=rate)
            outcome = context.learner.step(images, truth, rate, batch_size=context.settings.batch)
        except MemoryError:
            self.reduce_memory()
            return None
        if outcome.skipped and not outcome.diverged:
            progress.skipped += 1
            self.skipped_in_row += 1
        if outcome.diverged or self.skipped_in_row > _MAX_SKIPPED:
            self.roll_back()
            return None
        if not outcome.skipped:
            progress.step += 1
            self.skipped_in_row = 0
        self.busy += time.perf_counter() - started
        self.waited += context.loader.wait_seconds - waited
        self.busy_steps += 1
        if self.profile is not None:
            self.profile.step(context.loader.wait_seconds - waited)
        return outcome

    def reduce_memory(self) -> None:
        """Reduce the memory of a step, which is then retried. Raise WorkerFailed if that is impossible."""
        context = self.context
        release_memory(context.device)
        try:
            context.learner.split(context.settings.batch // context.ranks.size)
            done = Message("training.batch_in_parts", n=context.learner.parts)
        except OutOfMemory:
            if not context.halve_patch():
                why = Message("training.memory_too_small")
                raise WorkerFailed(what=Message("process.training"), why=why, log=str(context.run.log_path)) from None
            done = Message("training.patch_reduced", n=context.sampler.side)
        context.report(Trouble(what=Message("training.out_of_memory", device=context.device.name), done=done))

    def roll_back(self) -> None:
        progress = self.context.state
        rollbacks, factor, step = progress.rollbacks + 1, progress.rate_factor / 2, progress.step
        if rollbacks > _MAX_ROLLBACKS:
            why = Message("training.diverged_repeatedly", n=rollbacks)
            raise WorkerFailed(what=Message("process.training"), why=why, log=str(self.context.run.log_path))
        self.context.load_last()
        self.context.ranks.send_command(RankCommand.LOAD)
        self.context.ranks.share(self.context.learner.net)  # all have loaded `last/` before it is overwritten
        self.context.state.rollbacks, self.context.state.rate_factor = rollbacks, factor
        self.skipped_in_row = 0
        done = Message("training.rolled_back", n=self.context.state.step)
        self.context.report(Trouble(what=Message("training.diverged", n=step), done=done))

    # --- between steps ---------------------------------------------------------------------------

    def wait_if_paused(self) -> None:
        context = self.context
        if not context.control.paused:
            return
        self.save()
        while context.control.paused:
            started = time.perf_counter()
            context.control.wait_until_resumed(0.5)
            context.clock.exclude(time.perf_counter() - started)

    def report_step(self, outcome: StepResult) -> None:
        now = time.perf_counter()
        if now - self.reported < _REPORT_SECONDS:
            return
        context, progress = self.context, self.context.state
        context.report(
            Step(
                step=progress.step,
                loss=outcome.loss,
                rate=float(context.learner.optimizer.get_lr()),
                epoch=progress.step / context.sampler.steps_per_epoch,
                grad_norm=outcome.grad_norm,
                loss_scale=context.learner.precision.loss_scale,
                skipped=progress.skipped,
                images_per_second=self.images_per_second,
                data_wait=min(1.0, self.waited / max(1e-9, self.busy)),
                progress=1.0 if progress.round else context.progress,
                round=progress.round,
            )
        )
        self.reported = now

    def report_left_out(self) -> None:
        """Report labelled images excluded when the run was created."""
        left_out = self.context.dataset.skipped
        done = Message("training.image_left_out")
        for image in left_out[:_MAX_REPORTED]:
            self.context.report(Trouble(what=image.why, done=done, picture=image.key))
        if (more := len(left_out) - _MAX_REPORTED) > 0:
            what = Message("training.more_unusable", n=more)
            self.context.report(Trouble(what=what, done=Message("training.images_left_out")))

    def report_broken(self) -> None:
        broken = {**self.context.sampler.cache.broken, **self.context.evaluator.skipped}
        for key in broken.keys() - self.reported_keys:
            self.reported_keys.add(key)
            done = Message("training.image_left_out")
            self.context.report(Trouble(what=Message.of(broken[key]), done=done, picture=key))

    def save(self) -> None:
        self.context.ranks.wait_idle()
        try:
            self.context.save_last()
        except Problem as problem:
            done = Message("training.save_retried")
            self.context.report(Trouble(what=Message.of(problem), done=done))
        else:
            self.saved_step = self.context.state.step
            self.context.report(Checkpoint(step=self.saved_step, which="last"))
        self.saved = time.perf_counter()

    def validate(self) -> None:
        """Evaluate on validation images, save a checkpoint and predict a preview."""
        try:
            completed = validate(self.context)
        except EngineError:  # the network's output is not finite
            self.roll_back()
            return
        self.report_broken()
        if completed:
            self.save()
            self.previews.write_previews()


def _started(context: TrainingContext, resumed: bool) -> Started:
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
    )


def run_worker(context: TrainingContext, *, reduce_memory: Callable[[], None]) -> None:
    """Execute the commands of rank 0 until the end. Raise WorkerFailed."""
    while (command := context.ranks.receive_command()).command is not RankCommand.END:
        if command.command is RankCommand.STEP:
            try:
                context.learner.step(
                    *context.loader.take(command.step), command.rate, batch_size=context.settings.batch
                )
            except MemoryError:
                reduce_memory()
        elif command.command is RankCommand.LOAD:
            context.load_last()
            context.ranks.share(context.learner.net)
        else:  # a label was added; its record in the data set already exists
            context.dataset.joined = context.run.dataset().joined[: command.item + 1]
            reload_image(context, context.dataset.joined[command.item].item.key)
