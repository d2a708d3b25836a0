"""Training loop of a run: optimization steps, validation, best weights and checkpoints, within the budget; its reports,
and the loop of the other processes of a distributed training.

The last layer of a network for verdicts is fitted to the features of all training images before the first step.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

import numpy as np
import paddle

from workbench.core.logistic_regression import CrossFit, cross_fit
from workbench.core.messages import Message
from workbench.core.problems import Problem, WorkerFailed
from workbench.core.runs import child_process
from workbench.core.runs.events import Checkpoint, Finished, Progress, Started, Step, Trouble
from workbench.core.runs.held_out import SPLITS
from workbench.core.runs.onnx_files import frozen_session
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.cpu_environment import cores
from workbench.inference.engines import EngineError, NotFiniteError
from workbench.inference.text_safety import natural_key
from workbench.inference.tiles import normalize
from workbench.training.device import gpu_failure, gpu_uuids, release_memory
from workbench.training.device_settings import computes_alike
from workbench.training.encoders import Lite0Classifier
from workbench.training.finalize import finalize_run, validate
from workbench.training.learner import OutOfMemory, StepProfiler, StepResult
from workbench.training.onnx_graph import INPUT, statistics_onnx
from workbench.training.previews import ContinuousRounds, LiveLabels, PreviewScheduler, reload_image
from workbench.training.process_group import RankCommand
from workbench.training.reporter import Clock, ControlChannel, Reporter
from workbench.training.training_context import TrainingContext, prepare

_REPORTED = 8  # images between two reports of the progress
_EXAMPLES, _MOST_VARIATIONS = 1200, 8  # images with their variations, of each image


def fits_head(settings: TrainingSettings) -> bool:
    """Return whether the last layer is fitted before the training: that of a network which no run has trained yet."""
    return settings.model == "resnet" and settings.encoder == "lite0" and not settings.start_from


def fit_head(context: TrainingContext) -> None:
    """Fit the last layer, unless the run is stopped or images of one verdict only can be read.

    `context.state.fitted` becomes the accuracy on parts that were left out of the fit.
    """
    net = context.learner.net
    assert isinstance(net, Lite0Classifier)
    features, verdicts, parts, variations = _features(context, net)
    truth = np.array(verdicts)
    if context.control.stop or len(set(verdicts)) < 2:
        return
    result = cross_fit(features, truth, parts, len(context.dataset.verdicts))
    _set_head(net, result)
    context.learner.copy_to_mean()
    correct = result.probabilities.argmax(axis=1) == truth
    context.state.fitted = float(correct[:: 1 + variations].mean())  # of the images without variations


def _features(context: TrainingContext, net: Lite0Classifier) -> tuple[np.ndarray, list[int], list[str], int]:
    """Return the statistics of the readable training images, float64 (N, features), their verdicts and parts.

    Each image is followed by variations of it with the augmentations of the run, whose number is returned, too.
    """
    session = frozen_session(statistics_onnx(net, context.settings.channels), threads=cores())
    items = sorted(context.sampler.items, key=lambda item: natural_key(item.key))
    features, truth, parts = [], [], []
    variations = max(1, min(_MOST_VARIATIONS, _EXAMPLES // max(1, len(items)) - 1))
    for first in range(0, len(items), _REPORTED):
        if context.control.stop:
            break
        context.report(Progress(what=Message("progress.features"), done=first, total=len(items)), keep=False)
        for number, item in enumerate(items[first : first + _REPORTED], first):
            generator = np.random.default_rng([context.settings.seed, number])
            with contextlib.suppress(Problem):  # reported as an image that is left out
                image = normalize(context.sampler.cache.get(item.key).image, context.model_settings)
                images = [image, *(context.sampler.varied_image(item, generator) for _ in range(variations))]
                features.append(np.asarray(session.run(None, {INPUT: np.stack(images)})[0], np.float64))
                truth += [context.dataset.verdicts.index(str(item.verdict))] * len(images)
                parts += [item.part] * len(images)
    return np.concatenate(features) if features else np.zeros((0, 0)), truth, parts, variations


def _set_head(net: Lite0Classifier, result: CrossFit) -> None:
    head = result.head
    for tensor, values in (
        (net.center, head.center),
        (net.scale, head.scale),
        (net.head.weight, head.weights),
        (net.head.bias, head.bias),
    ):
        tensor.set_value(paddle.to_tensor(values.astype(np.float32)))


# --- training loop --------------------------------------------------------------------------------


_MAX_REPORTED = 20  # images reported individually as left out from the start
SAVE_SECONDS, REPORT_SECONDS = 60.0, 0.2
_MAX_ROLLBACKS = 3
_ROLLBACKS_IN_16_BITS = 2  # after as many, a run in mixed precision continues in 32 bits
MAX_SKIPPED = 40  # consecutive steps; the loss scale is then practically zero


def train(run: Run, report: Reporter, channel: ControlChannel, clock: Clock, *, resume: bool) -> Finished:
    """Carry out a run. Return its last event. Raises a Problem if it cannot continue."""
    context = prepare(run, report, channel, clock, resume=resume)
    try:
        context.remove_temporary_files()
        if resume:
            context.resume()
        elif context.ranks.is_leader:
            if fits_head(context.settings):
                fit_head(context)
            context.save_last()  # so that a rollback is possible from the first step on
        context.ranks.barrier()
        context.ranks.share(context.learner.net)
        context.ranks.limit_messages(lambda problem: abandon(context, problem))
        session = TrainingLoop(context)
        if context.ranks.is_leader:
            reduced = session.check_precision()
            for event in filter(None, (started_event(context, resumed=resume), reduced)):
                report(event)
        if not context.ranks.is_leader:
            run_worker(context, reduce_memory=session.reduce_memory)
            return Finished(why="done")
        try:
            session.run()
        finally:
            context.ranks.dismiss()
        finished = finalize_run(context, images_per_second=session.images_per_second)
        session.images.report_broken("training.image_not_measured")
        return finished
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
        self.images = ImageReports(context)
        profiled = context.settings.profile and context.ranks.is_leader
        self.profile = StepProfiler(context.run, context.device, context.report) if profiled else None

    def run(self) -> None:
        """Train the planned round, then further rounds with new labels while the run is kept open."""
        if self.context.state.step:
            self.intake.apply_missed()
        else:
            self.images.report_left_out()
            if self.context.state.fitted is not None:
                self.validate()
        self.finish_round()
        while self.rounds.begin_next():
            self.finish_round()
        if self.saved_step != self.context.state.step:
            self.save()
        if self.profile is not None:
            self.profile.close()

    def finish_round(self) -> None:
        context = self.context
        if context.state.fitted is not None and not context.settings.train_further and not context.state.round:
            return
        while not context.control.stop and context.progress < 1:
            if self.intake.poll():
                self.previews.allow_previews()
            self.wait_if_paused()
            outcome = self.step()
            if outcome is None:
                continue
            self.report_step(outcome)
            self.images.report_broken()
            if self.validation_is_due():
                context.state.validated = int(context.progress * context.validations)
                self.validate()
            elif time.perf_counter() - self.saved > SAVE_SECONDS:
                self.save()
            self.previews.poll()
        if not context.control.stop and context.state.validated < context.validations:
            context.state.validated = context.validations  # time ran out between two steps
            self.validate()

    def validation_is_due(self) -> bool:
        reached = int(self.context.progress * self.context.validations)
        return reached > self.context.state.validated and not self.context.control.stop

    @property
    def images_per_second(self) -> float:
        return self.busy_steps * self.context.settings.batch / max(1e-9, self.busy)

    def check_precision(self) -> Trouble | None:
        """Continue in 32 bits if this GPU computes wrongly in 16 bits; return the event for it."""
        context = self.context
        if context.learner.precision.choice.name == "fp32":
            return None
        images, truth = context.loader.take(context.state.step)
        context.loader.restart()
        if computes_alike(context.learner, images, truth) or not context.use_fp32("precision.not_alike"):
            return None
        return _in_32_bits("precision.not_alike")

    # --- one step --------------------------------------------------------------------------------

    def step(self) -> StepResult | None:
        """Run one optimization step. Return None if it was retried (out of memory) or rolled back (divergence)."""
        context, outcome = self.context, None
        started, waited, number = context.clock.elapsed, context.loader.wait_seconds, context.batch_number
        images, truth = context.loader.take(number)
        rate = context.rate
        try:
            context.ranks.send_command(RankCommand.STEP, step=number, rate=rate)
            outcome = context.learner.step(images, truth, rate, batch_size=context.settings.batch)
        except MemoryError:
            pass  # its traceback refers to all tensors of the step, until this block ends
        if outcome is None:
            self.reduce_memory()
            return None
        if not self.account(outcome):
            return None
        self.busy += context.clock.elapsed - started
        self.waited += context.loader.wait_seconds - waited
        self.busy_steps += 1
        if self.profile is not None:
            self.profile.step(context.loader.wait_seconds - waited)
        return outcome

    def account(self, outcome: StepResult) -> bool:
        """Count a step. Return False if the training was rolled back instead."""
        progress = self.context.state
        if outcome.skipped and not outcome.diverged:
            progress.skipped += 1
            self.skipped_in_row += 1
        if outcome.diverged or self.skipped_in_row > MAX_SKIPPED:
            self.roll_back()
            return False
        if not outcome.skipped:
            progress.step += 1
            self.skipped_in_row = 0
        return True

    def reduce_memory(self) -> None:
        """Reduce the memory of a step, which is then retried. Raises WorkerFailed if that is impossible."""
        context = self.context
        release_memory(context.device)
        try:
            context.learner.split(context.settings.batch // context.ranks.size)
            done = Message("training.batch_in_parts", n=context.learner.parts)
        except OutOfMemory:
            if not context.halve_patch():
                raise context.failure(Message("training.memory_too_small")) from None
            done = Message("training.patch_reduced", n=context.sampler.side)
        context.report(Trouble(what=Message("training.out_of_memory", device=context.device.name), done=done))

    def roll_back(self) -> None:
        progress = self.context.state
        rollbacks, factor, step = progress.rollbacks + 1, progress.rate_factor / 2, progress.step
        if rollbacks > _MAX_ROLLBACKS:
            raise self.context.failure(Message("training.diverged_repeatedly", n=rollbacks))
        self.context.load_last()
        self.context.ranks.send_command(RankCommand.LOAD)
        self.context.ranks.share(self.context.learner.net)  # all have loaded `last/` before it is overwritten
        self.context.state.rollbacks, self.context.state.rate_factor = rollbacks, factor
        self.context.state.fp32 = progress.fp32  # decided after that state was saved
        self.skipped_in_row = 0
        done = Message("training.rolled_back", n=self.context.state.step)
        self.context.report(Trouble(what=Message("training.diverged", n=step), done=done))
        if rollbacks >= _ROLLBACKS_IN_16_BITS and self.context.use_fp32("precision.diverged"):
            self.context.report(_in_32_bits("precision.diverged"))

    # --- between steps ---------------------------------------------------------------------------

    def wait_if_paused(self) -> None:
        context = self.context
        if not context.control.paused:
            return
        self.save()
        while context.control.paused:
            started = context.clock.elapsed
            context.control.wait_until_resumed(0.5)
            context.clock.exclude(context.clock.elapsed - started)

    def report_step(self, outcome: StepResult) -> None:
        now = time.perf_counter()
        if now - self.reported < REPORT_SECONDS:
            return
        self.context.report(
            step_event(self.context, outcome, self.images_per_second, min(1.0, self.waited / max(1e-9, self.busy)))
        )
        self.reported = now

    def save(self) -> None:
        context = self.context
        context.ranks.wait_idle()
        try:
            context.save_last()
        except Problem as problem:
            context.report(Trouble(what=Message.of(problem), done=Message("training.save_retried")))
        else:
            self.saved_step = context.state.step
            context.report(Checkpoint(step=self.saved_step, which="last"))
        self.saved = time.perf_counter()

    def validate(self) -> None:
        """Evaluate on validation images, save a checkpoint and predict a preview."""
        completed, why = False, None
        try:
            completed = validate(self.context)
        except NotFiniteError:
            why = ""
        except MemoryError:
            why = Message("training.memory_too_small")
        except EngineError as error:
            why = gpu_failure(error) or Message("training.evaluation_failed", why=str(error).rstrip("."))
        if why:
            raise self.context.failure(why)
        if why is not None:
            self.roll_back()
            return
        self.images.report_broken()
        if completed:
            self.save()
            self.previews.write_previews()


def _in_32_bits(reason: str) -> Trouble:
    return Trouble(what=Message(reason), done=Message("training.in_32_bits"))


def abandon(context: TrainingContext, problem: WorkerFailed) -> None:
    """End this process, which waits for another one that has ended."""
    context.report(child_process.from_problem(problem, log=context.run.log_path))
    os._exit(1)


def run_worker(context: TrainingContext, *, reduce_memory: Callable[[], None]) -> None:
    """Execute the commands of rank 0 until the end. Raises WorkerFailed."""
    while (command := context.ranks.receive_command()).command is not RankCommand.END:
        if command.command is RankCommand.STEP:
            no_memory = False
            try:
                context.learner.step(
                    *context.loader.take(command.step), command.rate, batch_size=context.settings.batch
                )
            except MemoryError:
                no_memory = True
            if no_memory:
                reduce_memory()
        elif command.command is RankCommand.FP32:
            context.use_fp32("precision.diverged")
        elif command.command is RankCommand.LOAD:
            context.load_last()
            context.ranks.share(context.learner.net)
        else:  # a label was added; its record in the data set already exists
            context.dataset.joined = context.run.dataset().joined[: command.item + 1]
            reload_image(context, context.dataset.joined[command.item].item.key)


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
