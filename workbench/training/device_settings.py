"""Adaptation of planned settings to the device that is really used, before the first step of a run."""

from __future__ import annotations

import time

import numpy as np
import paddle

from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Trouble
from workbench.core.runs.gpu_plan import BATCH_REASON, MEASURED_BATCH, StepCost, adapt, is_automatic
from workbench.core.runs.launch import rank_of_this_process
from workbench.core.runs.planner import plan
from workbench.core.runs.run import Run, write_settings
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training import networks, precision
from workbench.training.device import Device, is_out_of_memory, release_memory
from workbench.training.learner import Learner
from workbench.training.losses import make_loss
from workbench.training.optimizers import make_optimizer
from workbench.training.reporter import Reporter

_WARM_STEPS, _STEPS = 2, 3


def adapt_to_device(
    run: Run,
    settings: TrainingSettings,
    project: Project,
    dataset: Dataset,
    device: Device,
    report: Reporter,
    *,
    resume: bool = False,
) -> TrainingSettings:
    """Return the settings of a run for this device, and store them in the run if they differ.

    On a GPU, batch and size of the network are adapted by measuring. On a CPU, settings that were planned for a GPU are
    planned again: a step of such a network would take a minute. Settings changed manually stay as they are, and all
    settings of a run that is resumed, whose slow steps on a CPU are reported.
    """
    if rank_of_this_process()[1] > 1:
        return settings
    if resume:
        planned_for_gpu = any(is_automatic(settings, "batch", reason) for reason in (BATCH_REASON, MEASURED_BATCH))
        if planned_for_gpu and not device.is_gpu:
            report(Trouble(what=Message("training.planned_for_gpu"), done=Message("training.steps_slow")))
        return settings
    if device.is_gpu:
        adapted = adapt(settings, lambda candidate: measure_step(candidate, dataset, device))
    elif is_automatic(settings, "batch", BATCH_REASON):
        adapted = _plan_for_cpu(settings, project, dataset)
        done = Message("training.steps_slow" if adapted == settings else "training.planned_again")
        report(Trouble(what=Message("training.planned_for_gpu"), done=done))
    else:
        return settings
    if adapted != settings:
        write_settings(run, adapted)
    return adapted


def _plan_for_cpu(settings: TrainingSettings, project: Project, dataset: Dataset) -> TrainingSettings:
    if settings.start_from or settings.weights:
        return settings  # the network is that of the initial weights
    manual = {
        name: value
        for name, value in settings.model_dump(exclude={"reasons", "format"}).items()
        if name not in settings.reasons or is_automatic(settings, name, "plan.manual")
    }
    try:
        planned = plan(project, dataset, TrainingSettings(**{**manual, "device": "cpu"}))
    except Problem:
        return settings
    # Settings without a reason have their values by default, which is no manual change.
    reasons = {name: why for name, why in planned.reasons.items() if name in settings.reasons or name == "workers"}
    return planned.model_copy(update={"device": settings.device, "reasons": reasons})


def measure_step(settings: TrainingSettings, dataset: Dataset, device: Device) -> StepCost:
    """Return the cost of a training step with random images. Raises MemoryError if it does not fit into the memory.

    More than the memory is in use if the driver moves some to the memory of the computer, as on Windows, where it
    reports no failure; such a step takes many times as long.
    """
    try:
        cost = _measure(settings, dataset, device)
        if cost.memory <= 1:
            return cost
    except Exception as error:
        if not is_out_of_memory(error):
            raise
    release_memory(device)
    raise MemoryError("The step does not fit into the memory.")


def _measure(settings: TrainingSettings, dataset: Dataset, device: Device) -> StepCost:
    paddle.seed(settings.seed)
    net, mean = (networks.build(settings, dataset, on_gpu=device.is_gpu) for _ in range(2))
    choice = precision.choose(settings.precision, device)
    learner = Learner(
        net,
        mean,
        make_loss(settings),
        precision.Precision(choice),
        make_optimizer(net, settings.optimizer, weight_decay=0.0, masters=choice.name != "fp32"),
        grad_clip=settings.grad_clip,
        average=settings.average,
    )
    generator = np.random.default_rng(0)
    side = networks.patch_side(settings) if settings.model == "unet" else settings.input_size
    images = generator.normal(size=(settings.batch, settings.channels, side, side)).astype(np.float32)
    if settings.model == "unet":
        truth = generator.integers(0, len(dataset.classes) + 1, (settings.batch, side, side)).astype(np.uint8)
    else:
        truth = generator.integers(0, len(dataset.verdicts), settings.batch)
    durations = []
    for _ in range(_WARM_STEPS + _STEPS):
        started = time.perf_counter()
        learner.step(images, truth, 0.0)
        durations.append(time.perf_counter() - started)
    return StepCost(float(np.median(durations[_WARM_STEPS:])), *_memory_shares(device))


def _memory_shares(device: Device) -> tuple[float, float]:
    """Return the share of the GPU's memory in use since the last call, at its peak, and that of other programs in it.

    A desktop and its windows take a gigabyte or two, and each program a context of some hundred megabytes.
    """
    try:
        used = paddle.device.cuda.max_memory_allocated()
        paddle.device.cuda.reset_max_memory_allocated()
    except (RuntimeError, OSError, ValueError, AttributeError):
        return 0.0, 0.0
    other = _other_bytes()
    return ((used + other) / device.memory, other / device.memory) if device.memory else (0.0, 0.0)


def _other_bytes() -> int:
    """Return the bytes of the GPU's memory that do not belong to Paddle's allocator; 0 if they are not reported."""
    try:
        free, total = paddle.cuda.mem_get_info()
        return max(0, total - free - paddle.device.cuda.memory_reserved())
    except (RuntimeError, OSError, ValueError, AttributeError):
        return 0
