"""Training loop of a run: optimization steps, validation, best weights and checkpoints, within the budget."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from workbench.core.problems import Problem, WorkerFailed
from workbench.core.runs.dataset import SPLITS
from workbench.core.runs.events import Checkpoint, Finished, Started, Step, Trouble
from workbench.core.runs.run import Run
from workbench.inference.engines import EngineError
from workbench.training.continuous_rounds import ContinuousRounds
from workbench.training.control_channel import ControlChannel
from workbench.training.device import release_memory
from workbench.training.distributed.process_group import Command
from workbench.training.finalize import finalize_run
from workbench.training.learner import Outcome, OutOfMemory
from workbench.training.live_labels import LiveLabels, renew
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
        self.stage = context
        self.intake, self.showing = LiveLabels(context), PreviewScheduler(context)
        self.rounds = ContinuousRounds(context, self.intake, self.showing)
        self.saved, self.saved_step = time.perf_counter(), -1
        self.reported = 0.0
        self.busy = self.busy_steps = 0.0
        self.waited = 0.0
        self.skipped_in_row = 0
        self.named: set[str] = set()
        profiled = context.recipe.profile and context.ranks.is_leader
        self.profile = StepProfiler(context.run, context.device, context.report) if profiled else None

    def run(self) -> None:
        """Train the planned round, then further rounds with new labels while the run is kept open."""
        if self.stage.course.step:
            self.intake.catch_up()
        else:
            self.report_left_out()
        self.finish_round()
        while self.rounds.another():
            self.finish_round()
        if self.saved_step != self.stage.course.step:
            self.save()
        if self.profile is not None:
            self.profile.close()

    def finish_round(self) -> None:
        context = self.stage
        while context.progress < 1 and not context.orders.stop:
            if self.intake.poll():
                self.showing.request_soon()
            self.pause_if_asked()
            outcome = self.step()
            if outcome is None:
                continue
            self.report_step(outcome)
            self.report_broken()
            reached = int(context.progress * context.validations)
            if reached > context.course.validated and not context.orders.stop:
                context.course.validated = reached
                self.validate()
            elif time.perf_counter() - self.saved > _SAVE_SECONDS:
                self.save()
            self.showing.poll()
        if not context.orders.stop and context.course.validated < context.validations:
            context.course.validated = context.validations  # time ran out between two steps
            self.validate()

    @property
    def images_per_second(self) -> float:
        return self.busy_steps * self.stage.recipe.batch / max(1e-9, self.busy)

    # --- one step --------------------------------------------------------------------------------

    def step(self) -> Outcome | None:
        """Run one optimization step.

        Return None if it was retried (out of memory) or rolled back (divergence).
        """
        context, progress = self.stage, self.stage.course
        started, waited = time.perf_counter(), context.loader.waited
        images, truth = context.loader.take(progress.step)
        rate = context.rate
        try:
            context.ranks.send_command(Command.LEARN, step=progress.step, rate=rate)
            outcome = context.learner.step(images, truth, rate, batch_size=context.recipe.batch)
        except MemoryError:
            self.reduce_memory()
            return None
        if outcome.skipped and not outcome.broken:
            progress.skipped += 1
            self.skipped_in_row += 1
        if outcome.broken or self.skipped_in_row > _MAX_SKIPPED:
            self.roll_back()
            return None
        if not outcome.skipped:
            progress.step += 1
            self.skipped_in_row = 0
        self.busy += time.perf_counter() - started
        self.waited += context.loader.waited - waited
        self.busy_steps += 1
        if self.profile is not None:
            self.profile.step(context.loader.waited - waited)
        return outcome

    def reduce_memory(self) -> None:
        """Reduce the memory of a step, which is then retried. Raise WorkerFailed if that is impossible."""
        context = self.stage
        release_memory(context.device)
        try:
            context.learner.split(context.recipe.batch // context.ranks.size)
            done = f"Each batch is now computed in {context.learner.parts} parts, with the same result."
        except OutOfMemory:
            if not context.halve_patch():
                why = "the memory does not suffice even for one small patch or picture; choose a smaller network"
                raise WorkerFailed(what="training", why=why, log=str(context.run.log_path)) from None
            done = f"The patches are now of {context.sampler.side} pixels, which show less of what is around a defect."
        context.report(Trouble(what=f"The memory of {context.device.name} did not suffice.", done=done))

    def roll_back(self) -> None:
        progress = self.stage.course
        rollbacks, factor, step = progress.rollbacks + 1, progress.rate_factor / 2, progress.step
        if rollbacks > _MAX_ROLLBACKS:
            why = f"the numbers ran away {rollbacks} times, although the learning rate was halved each time"
            raise WorkerFailed(what="training", why=why, log=str(self.stage.run.log_path))
        self.stage.load_last()
        self.stage.ranks.send_command(Command.LOAD)
        self.stage.ranks.share(self.stage.learner.net)  # all have loaded `last/` before it is overwritten
        self.stage.course.rollbacks, self.stage.course.rate_factor = rollbacks, factor
        self.skipped_in_row = 0
        done = f"Went back to step {self.stage.course.step}; the learning rate is halved."
        self.stage.report(Trouble(what=f"The numbers ran away at step {step}.", done=done))

    # --- between steps ---------------------------------------------------------------------------

    def pause_if_asked(self) -> None:
        context = self.stage
        if not context.orders.paused:
            return
        self.save()
        while context.orders.paused:
            started = time.perf_counter()
            context.orders.wait_while_paused(0.5)
            context.clock.stand_still(time.perf_counter() - started)

    def report_step(self, outcome: Outcome) -> None:
        now = time.perf_counter()
        if now - self.reported < _REPORT_SECONDS:
            return
        context, progress = self.stage, self.stage.course
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
        left_out = self.stage.dataset.skipped
        done = "It is left out; the training goes on with the others."
        for image in left_out[:_MAX_REPORTED]:
            self.stage.report(Trouble(what=image.why, done=done, picture=image.key))
        if (more := len(left_out) - _MAX_REPORTED) > 0:
            what = f"{more} further labelled pictures cannot be used."
            self.stage.report(Trouble(what=what, done="They are left out; the training goes on with the others."))

    def report_broken(self) -> None:
        broken = {**self.stage.sampler.cache.broken, **self.stage.judge.skipped}
        for key in broken.keys() - self.named:
            self.named.add(key)
            done = "It is left out; the training goes on with the others."
            self.stage.report(Trouble(what=str(broken[key]), done=done, picture=key))

    def save(self) -> None:
        self.stage.ranks.wait_idle()
        try:
            self.stage.save_last()
        except Problem as problem:
            done = "The training goes on; saving is tried again in a minute."
            self.stage.report(Trouble(what=str(problem), done=done))
        else:
            self.saved_step = self.stage.course.step
            self.stage.report(Checkpoint(step=self.saved_step, which="last"))
        self.saved = time.perf_counter()

    def validate(self) -> None:
        """Evaluate on validation images, save a checkpoint and predict a preview."""
        try:
            completed = validate(self.stage)
        except EngineError:  # the network's output is not finite
            self.roll_back()
            return
        self.report_broken()
        if completed:
            self.save()
            self.showing.write_previews()


def _started(context: TrainingContext, resumed: bool) -> Started:
    dataset, choice = context.dataset, context.learner.precision.choice
    return Started(
        model=context.recipe.model,
        device=context.device.name,
        device_name=context.device.title,
        precision=choice.name,
        precision_reason=choice.reason,
        parameters=sum(p.size for p in context.learner.net.parameters()),
        pictures={split: len(dataset.of(split)) for split in SPLITS},
        held_out_note=dataset.held_out_note,
        steps_planned=context.budget.steps,
        seconds_planned=context.budget.seconds,
        step=context.course.step,
        resumed=resumed,
        process=os.getpid(),
    )


def run_worker(context: TrainingContext, *, reduce_memory: Callable[[], None]) -> None:
    """Execute the commands of rank 0 until the end. Raise WorkerFailed."""
    while (command := context.ranks.receive_command()).do is not Command.END:
        if command.do is Command.LEARN:
            try:
                context.learner.step(*context.loader.take(command.step), command.rate, batch_size=context.recipe.batch)
            except MemoryError:
                reduce_memory()
        elif command.do is Command.LOAD:
            context.load_last()
            context.ranks.share(context.learner.net)
        else:  # a label was added; its record in the data set already exists
            context.dataset.joined = context.run.dataset().joined[: command.item + 1]
            renew(context, context.dataset.joined[command.item].item.key)
