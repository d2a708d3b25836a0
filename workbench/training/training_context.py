"""Preparation of a training: all its components from a run folder, with its budget, learning rate (one cycle over the
used share of the budget) and progress.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import paddle

from workbench.core.json_files import to_dataclass
from workbench.core.messages import Message
from workbench.core.problems import RunBroken, WorkerFailed
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.events import Trouble
from workbench.core.runs.held_out import stratified_order
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import DEFAULT_MINUTES, TrainingSettings
from workbench.inference.cpu_environment import cores
from workbench.inference.io.file_access import sweep
from workbench.inference.model_settings import ModelSettings, SettingsError
from workbench.training import checkpoint, device, losses, networks, optimizers, process_group
from workbench.training.checkpoint import BestCheckpoint, start_from
from workbench.training.device import Device
from workbench.training.device_settings import adapt_to_device
from workbench.training.encoder_weights import load_initial_weights
from workbench.training.evaluator import Evaluator, FrozenLabels
from workbench.training.learner import Learner
from workbench.training.networks import learn_input
from workbench.training.optimizers import load_weights, make_optimizer
from workbench.training.patch_loader import ImageCache, PatchLoader, PatchSampler
from workbench.training.process_group import ProcessGroup, RankCommand
from workbench.training.reporter import Clock, ControlChannel, Reporter

_START, _END = 1 / 25, 1 / 2000  # relative to the peak rate

# Reserved for the end before a measurement exists.
_RESERVE_SECONDS = 3.0


def one_cycle(progress: float, *, peak: float, warm_up: float) -> float:
    """Return the learning rate at `progress` 0..1: rises along a cosine during `warm_up`, then falls to almost 0.

    After Smith and Topin 2018. As progress is relative to the budget, a run always ends annealed.
    """
    progress = min(1.0, max(0.0, progress))
    if progress < warm_up:
        return _interpolate(peak * _START, peak, progress / warm_up)
    return _interpolate(peak, peak * _END, (progress - warm_up) / max(1e-9, 1 - warm_up))


def _interpolate(first: float, last: float, share: float) -> float:
    return last + (first - last) * (1 + math.cos(math.pi * share)) / 2


@dataclass
class Budget:
    """Budget of a run: a number of steps, or seconds that include everything from start to end.

    reserve: seconds kept for the work after the last step.
    """

    steps: int | None
    seconds: float | None
    reserve: float = _RESERVE_SECONDS

    def progress(self, step: int, elapsed: float) -> float:
        """Return the share of the training that is done, 0..1."""
        if self.steps is not None:
            return min(1.0, step / max(1, self.steps))
        assert self.seconds is not None
        # The reserve is limited to 40 % of a short run, which then ends later than planned.
        usable = self.seconds - min(self.reserve, 0.4 * self.seconds)
        return min(1.0, max(0.0, elapsed / usable))

    def progress_of_round(self, steps: int, seconds: float) -> float:
        """Return the progress of a further round, with a quarter of the budget, after these steps and seconds."""
        if self.steps is not None:
            return min(1.0, steps / max(1, self.steps // 4))
        assert self.seconds is not None
        return min(1.0, seconds / min(600.0, max(20.0, self.seconds / 4)))

    def evaluation_seconds(self, validations: int) -> float | None:
        """Return the time limit in seconds of one validation during the run; None for no limit."""
        return None if self.seconds is None else 0.1 * self.seconds / validations

    def final_evaluation_seconds(self) -> float | None:
        return None if self.seconds is None else max(20.0, 0.25 * self.seconds)


@dataclass
class TrainingProgress:
    """Progress of a run, saved completely in state.json."""

    step: int = 0
    skipped: int = 0  # steps skipped because gradients overflowed
    validated: int = 0  # number of validations made
    rollbacks: int = 0
    rate_factor: float = 1.0  # halved after every divergence
    halvings: int = 0  # of the patch, after running out of memory
    fp32: str = ""  # id of the message that states why a run in mixed precision continues in 32 bits
    reserve: float | None = None  # seconds reserved for the end; None: not measured yet
    subset: list[str] | None = None  # validation images evaluated during the run; None: not chosen yet
    round: int = 0  # of a run kept open, see training.live_labels; 0 is the planned round
    round_step: int = 0  # first step of the round
    round_time: float = 0.0
    # Accuracy of the last layer that was fitted before the first step, on parts left out of the fit; None: not fitted.
    fitted: float | None = None


LATER_ROUND_PEAK = 0.4  # relative to the configured rate: later rounds only refine


@dataclass
class TrainingContext:
    """All components of a training."""

    run: Run
    settings: TrainingSettings
    dataset: Dataset
    project: Project
    device: Device
    model_settings: ModelSettings
    learner: Learner
    sampler: PatchSampler
    loader: PatchLoader
    evaluator: Evaluator
    best: BestCheckpoint
    budget: Budget
    clock: Clock
    report: Reporter
    control: ControlChannel
    ranks: ProcessGroup = field(default_factory=ProcessGroup)
    state: TrainingProgress = field(default_factory=TrainingProgress)

    @property
    def progress(self) -> float:
        """Share of the current round that is done, 0..1; the first round is the planned training."""
        state, elapsed = self.state, self.clock.elapsed
        if state.round:
            return self.budget.progress_of_round(state.step - state.round_step, elapsed - state.round_time)
        return self.budget.progress(state.step, elapsed)

    @property
    def batch_number(self) -> int:
        """Number of the next batch: a batch whose step was skipped is not taken again."""
        return self.state.step + self.state.skipped

    @property
    def validations(self) -> int:
        """Number of validations in this round."""
        return max(1, self.settings.validations // 4) if self.state.round else self.settings.validations

    @property
    def keeps_fitted(self) -> bool:
        """Presence of the fitted last layer in the best weights, while all training images were part of the fit."""
        return self.state.fitted is not None and self.best.step == 0 and not self.dataset.joined

    @property
    def rate(self) -> float:
        """Current learning rate."""
        peak = self.settings.rate * (LATER_ROUND_PEAK if self.state.round else 1.0)
        return self.state.rate_factor * one_cycle(self.progress, peak=peak, warm_up=self.settings.warm_up)

    def halve_patch(self) -> bool:
        """Train on patches of half the side from now on. Return False if there are no smaller ones."""
        if not self.sampler.halve(self.state.halvings + 1):
            return False
        self.state.halvings += 1
        self.learner.parts = max(1, self.learner.parts // 2)
        self.loader.restart()
        return True

    def use_tile(self, settings: ModelSettings) -> None:
        """Predict with the tile of `settings` from now on, which needs less memory."""
        self.model_settings = settings
        self.best.settings = dataclasses.replace(self.best.settings, tile=settings.tile, overlap=settings.overlap)
        done = Message("training.tile_reduced", n=settings.tile)
        self.report(Trouble(what=Message("training.out_of_memory", device=self.device.name), done=done))

    def use_fp32(self, reason: str) -> bool:
        """Continue in 32 bits. Return False if the run has 32 bits already, or weights in 16 bits (level O2).

        reason: id of a message.
        """
        current = self.learner.precision
        if current.choice.name == "fp32" or current.level == "O2":
            return False
        self.learner.precision = optimizers.Precision(optimizers.PrecisionChoice("fp32", Message(reason)))
        self.state.fp32 = reason
        self.ranks.send_command(RankCommand.FP32)
        return True

    def failure(self, why: str) -> WorkerFailed:
        """Return the problem that ends the run."""
        return WorkerFailed(what=Message("process.training"), why=why, log=str(self.run.log_path))

    def validation_items(self) -> list[Item]:
        """Return the validation images evaluated during the run, in the order of `stratified_order`."""
        items = stratified_order(self.dataset.of("val"))
        chosen = None if self.state.subset is None else set(self.state.subset)
        return [item for item in items if chosen is None or item.key in chosen]

    def save_last(self) -> None:
        """Write the present state to `last/`. Raises CannotWrite."""
        state = {
            "elapsed": self.clock.elapsed,
            "recipe": checkpoint.settings_hash(self.settings),
            "course": {name: value for name, value in vars(self.state).items() if name != "step"},
            "updates": self.learner.updates,
            "parts": self.learner.parts,
            "scaler": self.learner.precision.state(),
            "best": self.best.state(),
        }
        checkpoint.save_last(self.run, self.state.step, self.learner.state_arrays(), state)

    def load_last(self) -> dict[str, Any]:
        """Restore the state of `last/`. Return the content of its state.json. Raises RunBroken.

        No random state is needed: samples are a pure function of seed and step, and no layer draws random numbers.
        """
        tensors, state = checkpoint.load_last(self.run)
        folder = str(self.run.last)
        try:
            self.learner.load_optimizer(tensors["optimiser"])
            load_weights(self.learner.net, tensors["weights"], folder)
            load_weights(self.learner.mean, tensors["average"], folder)
            self.learner.updates, self.learner.parts = int(state["updates"]), int(state["parts"])
            self.state = to_dataclass(TrainingProgress, {**state["course"], "step": state["step"]})
            if self.state.fp32:
                self.learner.precision = optimizers.Precision(
                    optimizers.PrecisionChoice("fp32", Message(self.state.fp32))
                )
            self.learner.precision.load(state["scaler"])
            self.best.load(state["best"])
            self.budget.reserve = self.state.reserve or self.budget.reserve
            self.sampler.halve(self.state.halvings)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, SettingsError) as error:
            raise RunBroken(
                path=str(self.run.last / "state.json"), why=Message("checkpoint.value_damaged", why=error)
            ) from error
        self.loader.restart()
        return state

    def remove_temporary_files(self) -> None:
        """Remove the files of writes during which a previous process of the run was killed, before or after a save."""
        if self.ranks.is_leader:
            for folder in (self.run.root, self.run.last, self.run.best, self.run.previews):
                sweep(folder)

    def resume(self) -> None:
        """Continue from `last/` in a new process. Raises RunBroken."""
        state = self.load_last()
        elapsed = state.get("elapsed")
        if type(elapsed) not in (int, float) or not 0 <= elapsed < 1e10:
            raise RunBroken(path=str(self.run.last / "state.json"), why=Message("checkpoint.no_time"))
        self.clock.continue_from(elapsed)
        if state.get("recipe") != checkpoint.settings_hash(self.settings):
            what = Message("training.settings_changed")
            self.report(Trouble(what=what, done=Message("training.new_settings_used")))


def prepare(
    run: Run, report: Reporter, control: ControlChannel, clock: Clock, *, resume: bool = False
) -> TrainingContext:
    """Prepare all components of a training. Raises a Problem if the run cannot begin.

    resume: weights come from `last/`, so no initial ones are loaded.
    """
    training_settings, dataset = run.settings(), run.dataset()
    project = Project.open(run.project_root, write=False, trusted=True)
    training_device = device.choose(training_settings.device)
    if training_device.fault:
        what = Message("training.gpu_not_used", why=training_device.fault)
        report(Trouble(what=what, done=Message("training.on_cpu")))
    training_settings = adapt_to_device(
        run, training_settings, project, dataset, training_device, report, resume=resume
    )
    choice = optimizers.choose_precision(training_settings.precision, training_device)
    settings = networks.settings(
        training_settings,
        dataset,
        name=project.file.name,
        run=run.name,
        um_per_pixel=project.file.um_per_pixel,
        areas=project.file.inspection_areas,
        files={"onnx": "network.onnx"},
    )
    limits = learn_input(project, dataset)
    if limits is not None and limits.bits and not resume:
        report(Trouble(what=Message("training.bit_depth", n=limits.bits), done=Message("training.bit_depth_scaled")))
    cache = ImageCache(project, dataset, settings)
    sampler = PatchSampler(training_settings, dataset, settings, cache)
    np.random.seed(training_settings.seed)
    paddle.seed(training_settings.seed)
    net, mean = (networks.build(training_settings, dataset, on_gpu=training_device.is_gpu) for _ in range(2))
    group = process_group.join(run.ranks, training_settings.batch)
    places = group.batch_positions(training_settings.batch)
    workers = min(max(1, training_settings.workers // group.local_processes), len(places))
    workers = 1 if training_device.is_gpu else workers
    copies = [networks.build(training_settings, dataset) for _ in range(workers - 1)]
    if training_settings.model == "unet":
        net.set_prior(sampler.class_shares())
    if training_settings.weights and not resume:
        origin = load_initial_weights(training_settings, net, report, cancelled=lambda: control.stop)
        if group.is_leader:
            write_json(run.root / "weights.json", origin)  # the file itself may be deleted later
    if training_settings.start_from and not resume:
        start_from(project, training_settings, dataset, net, report)
    optimizer = make_optimizer(
        net,
        training_settings.optimizer,
        weight_decay=training_settings.weight_decay,
        masters=choice.name != "fp32",
    )
    learner = Learner(
        net,
        mean,
        losses.make_loss(training_settings),
        optimizers.Precision(choice, training_settings.amp_level),
        optimizer,
        grad_clip=training_settings.grad_clip,
        average=training_settings.average,
        copies=copies,
    )
    learner.process_group = group
    steps = None if training_settings.epochs is None else training_settings.epochs * sampler.initial_steps_per_epoch
    seconds = None if steps is not None else (training_settings.minutes or DEFAULT_MINUTES) * 60
    return TrainingContext(
        run=run,
        settings=training_settings,
        dataset=dataset,
        project=project,
        device=training_device,
        model_settings=settings,
        learner=learner,
        sampler=sampler,
        loader=PatchLoader(
            sampler,
            batch=training_settings.batch,
            threads=training_settings.threads or min(4, max(1, cores() // group.local_processes)),
            places=places,
            pinned=training_device.is_gpu,
        ),
        evaluator=Evaluator(
            project,
            dataset,
            least_area=training_settings.min_area,
            threads=min(3, cores()) if training_device.is_gpu else workers,  # reading and packing beside the GPU
            truth=FrozenLabels(run, project, dataset),
        ),
        best=BestCheckpoint(run, training_settings, dataclasses.replace(settings, input=limits), report),
        budget=Budget(steps, seconds),
        clock=clock,
        report=report,
        control=control,
        ranks=group,
    )
