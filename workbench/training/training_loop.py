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
_MOST_ROLLBACKS = 3
_MOST_NAMED = 20  # images reported individually as left out from the start
_MOST_SKIPPED = 40  # consecutive steps; the loss scale is then practically zero


def train(run: Run, report: Reporter, orders: ControlChannel, clock: Clock, *, resume: bool) -> Finished:
    """Carry out a run. Return its last event. Raise a Problem if it cannot continue."""
    stage = prepare(run, report, orders, clock, resume=resume)
    try:
        if resume:
            stage.resume()
        elif stage.ranks.is_leader:
            stage.save_last()  # so that a rollback is possible from the first step on
        stage.ranks.barrier()
        stage.ranks.share(stage.learner.net)
        session = TrainingLoop(stage)
        if not stage.ranks.is_leader:
            run_worker(stage, make_room=session.reduce_memory)
            return Finished(why="done")
        report(_started(stage, resume))
        try:
            session.run()
        finally:
            stage.ranks.dismiss()
        return finalize_run(stage, images_per_second=session.images_per_second)
    finally:
        stage.loader.close()


class TrainingLoop:
    """Training of one process from start or resume to the end, with its state between steps."""

    def __init__(self, stage: TrainingContext) -> None:
        self.stage = stage
        self.intake, self.showing = LiveLabels(stage), PreviewScheduler(stage)
        self.rounds = ContinuousRounds(stage, self.intake, self.showing)
        self.saved, self.saved_step = time.perf_counter(), -1
        self.reported = 0.0
        self.busy = self.busy_steps = 0.0
        self.waited = 0.0
        self.skipped_in_row = 0
        self.named: set[str] = set()
        profiled = stage.recipe.profile and stage.ranks.is_leader
        self.profile = StepProfiler(stage.run, stage.device, stage.report) if profiled else None

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
        stage = self.stage
        while stage.progress < 1 and not stage.orders.stop:
            if self.intake.poll():
                self.showing.request_soon()
            self.pause_if_asked()
            outcome = self.step()
            if outcome is None:
                continue
            self.report_step(outcome)
            self.report_broken()
            due = int(stage.progress * stage.validations)
            if due > stage.course.validated and not stage.orders.stop:
                stage.course.validated = due
                self.validate()
            elif time.perf_counter() - self.saved > _SAVE_SECONDS:
                self.save()
            self.showing.poll()
        if not stage.orders.stop and stage.course.validated < stage.validations:
            stage.course.validated = stage.validations  # time ran out between two steps
            self.validate()

    @property
    def images_per_second(self) -> float:
        return self.busy_steps * self.stage.recipe.batch / max(1e-9, self.busy)

    # --- one step --------------------------------------------------------------------------------

    def step(self) -> Outcome | None:
        """Run one optimization step.

        Return None if it was retried (out of memory) or rolled back (divergence).
        """
        stage, course = self.stage, self.stage.course
        began, waited = time.perf_counter(), stage.loader.waited
        images, truth = stage.loader.take(course.step)
        rate = stage.rate
        try:
            stage.ranks.send_command(Command.LEARN, step=course.step, rate=rate)
            outcome = stage.learner.step(images, truth, rate, whole=stage.recipe.batch)
        except MemoryError:
            self.reduce_memory()
            return None
        if outcome.skipped and not outcome.broken:
            course.skipped += 1
            self.skipped_in_row += 1
        if outcome.broken or self.skipped_in_row > _MOST_SKIPPED:
            self.roll_back()
            return None
        if not outcome.skipped:
            course.step += 1
            self.skipped_in_row = 0
        self.busy += time.perf_counter() - began
        self.waited += stage.loader.waited - waited
        self.busy_steps += 1
        if self.profile is not None:
            self.profile.step(stage.loader.waited - waited)
        return outcome

    def reduce_memory(self) -> None:
        """Reduce the memory of a step, which is then retried. Raise WorkerFailed if that is impossible."""
        stage = self.stage
        release_memory(stage.device)
        try:
            stage.learner.split(stage.recipe.batch // stage.ranks.size)
            done = Message("training.batch_in_parts", n=stage.learner.parts)
        except OutOfMemory:
            if not stage.halve_patch():
                why = Message("training.memory_too_small")
                raise WorkerFailed(what=Message("process.training"), why=why, log=str(stage.run.log_path)) from None
            done = Message("training.patch_reduced", n=stage.sampler.side)
        stage.report(Trouble(what=Message("training.out_of_memory", device=stage.device.name), done=done))

    def roll_back(self) -> None:
        course = self.stage.course
        rollbacks, factor, step = course.rollbacks + 1, course.rate_factor / 2, course.step
        if rollbacks > _MOST_ROLLBACKS:
            why = Message("training.diverged_repeatedly", n=rollbacks)
            raise WorkerFailed(what=Message("process.training"), why=why, log=str(self.stage.run.log_path))
        self.stage.load_last()
        self.stage.ranks.send_command(Command.LOAD)
        self.stage.ranks.share(self.stage.learner.net)  # all have loaded `last/` before it is overwritten
        self.stage.course.rollbacks, self.stage.course.rate_factor = rollbacks, factor
        self.skipped_in_row = 0
        done = Message("training.rolled_back", n=self.stage.course.step)
        self.stage.report(Trouble(what=Message("training.diverged", n=step), done=done))

    # --- between steps ---------------------------------------------------------------------------

    def pause_if_asked(self) -> None:
        stage = self.stage
        if not stage.orders.paused:
            return
        self.save()
        while stage.orders.paused:
            began = time.perf_counter()
            stage.orders.wait_while_paused(0.5)
            stage.clock.stand_still(time.perf_counter() - began)

    def report_step(self, outcome: Outcome) -> None:
        now = time.perf_counter()
        if now - self.reported < _REPORT_SECONDS:
            return
        stage, course = self.stage, self.stage.course
        stage.report(
            Step(
                step=course.step,
                loss=outcome.loss,
                rate=float(stage.learner.optimizer.get_lr()),
                epoch=course.step / stage.sampler.steps_per_epoch,
                grad_norm=outcome.grad_norm,
                loss_scale=stage.learner.precision.loss_scale,
                skipped=course.skipped,
                images_per_second=self.images_per_second,
                data_wait=min(1.0, self.waited / max(1e-9, self.busy)),
                progress=1.0 if course.round else stage.progress,
                round=course.round,
            )
        )
        self.reported = now

    def report_left_out(self) -> None:
        """Report labelled images excluded when the run was created."""
        left_out = self.stage.dataset.skipped
        done = Message("training.image_left_out")
        for each in left_out[:_MOST_NAMED]:
            self.stage.report(Trouble(what=each.why, done=done, picture=each.key))
        if (more := len(left_out) - _MOST_NAMED) > 0:
            what = Message("training.more_unusable", n=more)
            self.stage.report(Trouble(what=what, done=Message("training.images_left_out")))

    def report_broken(self) -> None:
        broken = {**self.stage.sampler.cache.broken, **self.stage.judge.skipped}
        for key in broken.keys() - self.named:
            self.named.add(key)
            done = Message("training.image_left_out")
            self.stage.report(Trouble(what=Message.of(broken[key]), done=done, picture=key))

    def save(self) -> None:
        self.stage.ranks.wait_idle()
        try:
            self.stage.save_last()
        except Problem as problem:
            done = Message("training.save_retried")
            self.stage.report(Trouble(what=Message.of(problem), done=done))
        else:
            self.saved_step = self.stage.course.step
            self.stage.report(Checkpoint(step=self.saved_step, which="last"))
        self.saved = time.perf_counter()

    def validate(self) -> None:
        """Evaluate on validation images, save a checkpoint and predict a preview."""
        try:
            looked = validate(self.stage)
        except EngineError:  # the network's output is not finite
            self.roll_back()
            return
        self.report_broken()
        if looked:
            self.save()
            self.showing.write_previews()


def _started(stage: TrainingContext, resumed: bool) -> Started:
    dataset, choice = stage.dataset, stage.learner.precision.choice
    return Started(
        model=stage.recipe.model,
        device=stage.device.name,
        device_name=stage.device.title,
        precision=choice.name,
        precision_reason=choice.reason,
        parameters=sum(p.size for p in stage.learner.net.parameters()),
        pictures={split: len(dataset.of(split)) for split in SPLITS},
        held_out_note=dataset.held_out_note,
        steps_planned=stage.budget.steps,
        seconds_planned=stage.budget.seconds,
        step=stage.course.step,
        resumed=resumed,
        process=os.getpid(),
    )


def run_worker(stage: TrainingContext, *, make_room: Callable[[], None]) -> None:
    """Execute the commands of rank 0 until the end. Raise WorkerFailed."""
    while (told := stage.ranks.receive_command()).do is not Command.END:
        if told.do is Command.LEARN:
            try:
                stage.learner.step(*stage.loader.take(told.step), told.rate, whole=stage.recipe.batch)
            except MemoryError:
                make_room()
        elif told.do is Command.LOAD:
            stage.load_last()
            stage.ranks.share(stage.learner.net)
        else:  # a label was added; its record in the data set already exists
            stage.dataset.joined = stage.run.dataset().joined[: told.item + 1]
            renew(stage, stage.dataset.joined[told.item].item.key)
