"""Adaptation to the device that is really used, before the first step of a run: planned settings, and a comparison of
16-bit with 32-bit arithmetic on a real batch.
"""

from __future__ import annotations

import contextlib
import math
import time

import numpy as np
import paddle

from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset
from workbench.core.runs.events import Trouble
from workbench.core.runs.launch import rank_of_this_process
from workbench.core.runs.planner import BATCH_REASON, MEASURED_BATCH, StepCost, adapt, is_automatic, plan
from workbench.core.runs.run import Run, write_settings
from workbench.core.runs.training_settings import TrainingSettings
from workbench.training import networks, optimizers
from workbench.training.device import Device, is_out_of_memory, release_memory
from workbench.training.learner import Batch, Learner
from workbench.training.losses import make_loss
from workbench.training.optimizers import Precision, PrecisionChoice, make_optimizer
from workbench.training.reporter import Reporter

_IMAGES = 8  # of the batch
_LOSS_TOLERANCE = 0.05  # relative to a loss of 1 or more
_MIN_COSINE = 0.9  # between the gradients; about 0.999 in fp16 and 0.99 in bf16 where the arithmetic is right
_SCALES = (2.0**15, 2.0**11, 2.0**7, 2.0**3, 1.0)  # of the loss: the first at which no gradient overflows counts
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
    choice = optimizers.choose_precision(settings.precision, device)
    learner = Learner(
        net,
        mean,
        make_loss(settings),
        optimizers.Precision(choice),
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
    used = other = 0
    with contextlib.suppress(RuntimeError, OSError, ValueError, AttributeError):
        used = paddle.device.cuda.max_memory_allocated()
        paddle.device.cuda.reset_max_memory_allocated()
        free, total = paddle.cuda.mem_get_info()
        other = max(0, total - free - paddle.device.cuda.memory_reserved())  # not of Paddle's allocator
    return ((used + other) / device.memory, other / device.memory) if device.memory else (0.0, 0.0)


def computes_alike(learner: Learner, images: Batch, truth: Batch) -> bool:
    """Return True if loss and gradients of some images of a batch are alike in the learner's precision and in fp32.

    Some GPUs return NaN from convolutions in 16 bits. Nothing is changed. True also if memory is insufficient: then
    the first step reduces what it needs.
    """
    chosen = np.arange(len(images))[:: max(1, len(images) // _IMAGES)][:_IMAGES]
    images, truth = (np.asarray(array)[chosen] for array in (images, truth))
    statistics = [p for p in learner.net.parameters() if p.stop_gradient]
    before = [p.clone() for p in statistics]
    try:
        exact = _compute(learner, images, truth, Precision(PrecisionChoice("fp32", "")), 1.0)
        for scale in _SCALES if learner.precision.scaler else (1.0,):
            reduced = _compute(learner, images, truth, learner.precision, scale)
            if not math.isfinite(reduced[0]):
                return False
            if np.isfinite(reduced[1]).all():
                return are_alike(exact, reduced)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return True
    finally:
        learner.net.clear_gradients(set_to_zero=False)
        with paddle.no_grad():
            for tensor, value in zip(statistics, before):
                paddle.assign(value, tensor)
    return False


def _compute(
    learner: Learner, images: np.ndarray, truth: np.ndarray, precision: Precision, scale: float
) -> tuple[float, np.ndarray]:
    """Return the loss and all gradients in one array."""
    net = learner.net
    net.train()
    net.clear_gradients(set_to_zero=False)
    with precision.cast():
        logits = net(paddle.to_tensor(images))
    loss = learner.loss(logits, paddle.to_tensor(truth))
    (loss * scale).backward()
    gradients = [p.grad.astype("float32").flatten() for p in net.parameters() if p.grad is not None]
    return loss.item(), (paddle.concat(gradients) / scale).numpy()


def are_alike(exact: tuple[float, np.ndarray], reduced: tuple[float, np.ndarray]) -> bool:
    """Compare loss and gradients of exact and of reduced precision. Return True if they agree within the tolerance."""
    if not math.isfinite(exact[0]):
        return True  # the data are at fault, not the precision
    if abs(exact[0] - reduced[0]) > _LOSS_TOLERANCE * max(1.0, abs(exact[0])):
        return False
    lengths = float(np.linalg.norm(exact[1])) * float(np.linalg.norm(reduced[1]))
    return lengths == 0 or float(exact[1] @ reduced[1]) >= _MIN_COSINE * lengths
