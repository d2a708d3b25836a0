"""Plan of a training on a GPU: whether it will use one, sizes of network and batch, and their adaptation to the GPU.

Sizes are planned before a run and adapted by measuring a few steps. A GPU computes small networks no faster than medium
ones, so the batch is raised until a step keeps it busy. Networks have the receptive field of those planned for a CPU: a
stem of 2 and five levels.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from workbench.core.messages import Message
from workbench.core.runs.captured_program import run_captured
from workbench.core.runs.gpu_facts import read_gpu_facts
from workbench.core.runs.launch import processes, worker_command, worker_environment
from workbench.core.runs.training_settings import TrainingSettings

SIZES: dict[str, dict[str, dict[str, Any]]] = {
    "unet": {
        "fast": {"stem": 2, "widths": [32, 64, 128, 192, 256]},
        "balanced": {"stem": 2, "widths": [48, 96, 192, 256, 384]},
        "best": {"stem": 2, "widths": [64, 128, 256, 384, 512]},
    },
    "resnet": {"fast": {"depth": 18}, "balanced": {"depth": 34}, "best": {"depth": 50}},
}
REASONS = {"stem": "plan.stem", "widths": "plan.size", "depth": "plan.gpu_depth"}
BATCH_REASON, MEASURED_BATCH = "plan.gpu_batch", "plan.measured_batch"  # planned; measured on the GPU
MANY_STEPS = 3000  # steps from which on a larger network may become better
START_SECONDS = 4.0  # before the first step, while Paddle is loaded
STEPPING = 0.85  # share of the remaining time spent on steps; evaluation and completion take the rest

_PIXELS = {"unet": 16 * 256**2, "resnet": 32 * 224**2}  # of a batch, before it is measured
_BATCHES = {"unet": (16, 128), "resnet": (32, 256)}  # smallest and largest planned batch
MAX_BATCH = 512
_BUSY_SECONDS, _MAX_SECONDS = 0.030, 0.060  # of a step
_MEMORY = 0.7  # share of the GPU's memory
_GAIN = 1.1  # factor of images per second that a doubled batch must bring
_PROBE_SECONDS = 90.0  # a first start compiles nothing, but reads a gigabyte of libraries


def uses_gpu(device: str) -> bool:
    """Return True if a training with this setting of the device will use a GPU.

    For "auto" the training program, which alone imports Paddle, is started to select its device, if there is a GPU at
    all; once per process.
    """
    device = device.strip().lower() or "auto"
    return device.startswith("gpu") if device != "auto" else selects_gpu(os.environ.get("CUDA_VISIBLE_DEVICES"))


@cache
def selects_gpu(visible: str | None) -> bool:
    """Return True if the training program selects a GPU. visible: CUDA_VISIBLE_DEVICES of this process."""
    from importlib import metadata  # here, so that the window appears sooner

    try:
        metadata.version("paddlepaddle-gpu")
    except metadata.PackageNotFoundError:
        return False
    if not read_gpu_facts().usable:
        return False
    try:
        output = run_captured(worker_command("probe"), seconds=_PROBE_SECONDS, environment=worker_environment())
        return str(json.loads(output.stdout.splitlines()[-1])["device"]).startswith("gpu")
    except (OSError, ValueError, LookupError, TypeError):
        return False  # a program that fails to select a device will not train on a GPU either


def planned_batch(model: str, side: int, device: str) -> int:
    """Return the batch for patches or images of `side` pixels: a multiple of 8, and of the number of GPUs."""
    smallest, largest = _BATCHES[model]
    batch = min(largest, max(smallest, _PIXELS[model] // side**2 // 8 * 8))
    return -(-batch // processes(device)) * processes(device)


@dataclass(frozen=True)
class StepCost:
    """Cost of one step. seconds: its duration. memory: largest share of the GPU's memory in use, 0..1.

    other: the part of it that does not grow with the batch, as that of other programs.
    """

    seconds: float
    memory: float
    other: float = 0.0


Measure = Callable[[TrainingSettings], StepCost]


def adapt(settings: TrainingSettings, measure: Measure) -> TrainingSettings:
    """Return settings with batch and size of the network adapted to the GPU, with reasons; as given if chosen manually.

    measure: returns the cost of a step with some settings; raises MemoryError if it does not fit into the memory.
    """
    if not is_automatic(settings, "batch", BATCH_REASON) or settings.epochs is not None:
        return settings
    settings, cost = _adapt_batch(settings, measure)
    steps = int(float(f"{_expected_steps(settings, cost):.2g}")) if cost else 0
    smaller = SIZES[settings.model]["balanced"]
    own = all(is_automatic(settings, key, REASONS[key]) for key in smaller)
    if settings.quality == "best" and own and cost is not None and steps < MANY_STEPS:
        why = Message("plan.too_few_steps", n=steps)
        settings = settings.model_copy(
            update={**smaller, "reasons": {**settings.reasons, **dict.fromkeys(smaller, why)}}
        )
        settings, _ = _adapt_batch(settings, measure)
    return settings


def _adapt_batch(settings: TrainingSettings, measure: Measure) -> tuple[TrainingSettings, StepCost | None]:
    """Return settings with the batch that fits, and its cost; None if not even one image fits."""
    cost: StepCost | None = None
    while cost is None:
        with contextlib.suppress(MemoryError):
            cost = measure(settings)
        if cost is None:
            if settings.batch == 1:
                return settings, None
            settings = settings.model_copy(update={"batch": settings.batch // 2})
    while cost.seconds < _BUSY_SECONDS and 2 * cost.memory - cost.other <= _MEMORY and 2 * settings.batch <= MAX_BATCH:
        larger = settings.model_copy(update={"batch": 2 * settings.batch})
        try:
            next_cost = measure(larger)
        except MemoryError:
            break
        if next_cost.seconds > min(_MAX_SECONDS, 2 / _GAIN * cost.seconds) or next_cost.memory > _MEMORY:
            break
        settings, cost = larger, next_cost
    why = Message(MEASURED_BATCH, ms=f"{1000 * cost.seconds:.0f}", share=f"{cost.memory:.0%}")
    return settings.model_copy(update={"reasons": {**settings.reasons, "batch": why}}), cost


def _expected_steps(settings: TrainingSettings, cost: StepCost) -> float:
    seconds = max(0.0, (settings.minutes or 0) * 60 - START_SECONDS) * STEPPING
    return seconds / max(1e-6, cost.seconds)


def is_automatic(settings: TrainingSettings, key: str, reason: str) -> bool:
    """Return True if the planner chose a setting for this reason (id of a message)."""
    return getattr(settings.reasons.get(key), "id", "") == reason
