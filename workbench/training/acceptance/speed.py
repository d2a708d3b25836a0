"""Speed, memory and utilization of training steps, for networks and number types; speed of the image loader."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import paddle
from paddle.profiler import Profiler, ProfilerTarget

from workbench.core.runs.gpu_facts import GIB, read_gpu_facts
from workbench.core.runs.gpu_plan import SIZES
from workbench.training import device as devices
from workbench.training import precision
from workbench.training.acceptance import trial_runs
from workbench.training.acceptance.facts import unsupported
from workbench.training.acceptance.items import FAIL, NOT_ON_CPU, PASS, SLOW, Conditions, Outcome
from workbench.training.acceptance.trial_runs import SMALL, make_run, prepare_run
from workbench.training.learner import Learner
from workbench.training.losses import segmentation_loss, verdict_loss
from workbench.training.optimizers import make_optimizer
from workbench.training.patch_loader import PatchLoader
from workbench.training.profiler import sum_operations
from workbench.training.resnet import ResNet
from workbench.training.unet import UNet

_SECONDS = 240.0  # time limit of one measurement
_WARM, _STEPS, _PROFILED = 12, 40, 5
_THREADS = (1, 2, 4, 8)

# Least speed relative to fp32 by compute capability, and most memory. GeForce GPUs from capability 8.6 on multiply
# 16-bit numbers with 32-bit sums at twice the speed of fp32 at most; data-center GPUs at 8 to 16 times.
_FASTER = {(7, 0): 1.5, (7, 5): 1.4, (8, 0): 1.8, (8, 6): 1.2, (8, 9): 1.2, (9, 0): 1.8, (10, 0): 1.8, (12, 0): 1.2}
_FASTER_SMALL = 1.0  # small images: the time goes into starting operations, not into arithmetic
_LESS_MEMORY = 0.7
_UTILIZATION = {"unet-96": 60, "resnet34-96": 60}
_UTILIZATION_LARGE = 80


@dataclass(frozen=True)
class Network:
    """Network of the speed table. widths and stem of a UNet or depth of a ResNet; side of its images in pixels."""

    model: str
    side: int
    batch: int
    widths: Sequence[int] = ()
    depth: int = 0
    stem: int = 1

    @property
    def small(self) -> bool:
        return self.side < 128


# Those that are planned for a GPU, with batches that keep it busy, and a UNet of full resolution.
NETWORKS = {
    "unet-96": Network("unet", 96, 128, **SIZES["unet"]["fast"]),
    "unet-256": Network("unet", 256, 16, widths=(64, 128, 256, 512)),
    "unet-deep": Network("unet", 256, 64, **SIZES["unet"]["balanced"]),
    "resnet34-96": Network("resnet", 96, 128, **SIZES["resnet"]["balanced"]),
    "resnet50-224": Network("resnet", 224, 64, **SIZES["resnet"]["best"]),
}


def compare(conditions: Conditions) -> Outcome:
    """Measure a network in all number types, each in a process of its own. argument: name in `NETWORKS`."""
    name = conditions.argument
    rows: dict[str, dict[str, Any]] = {}
    left_out = {}
    for kind in ("fp32", "fp16", "bf16"):
        why = unsupported(kind, conditions.device)
        if why:
            left_out[kind] = why
        else:
            rows[kind] = trial_runs.call("speed:measure", conditions, [name, kind], seconds=_SECONDS)
    values = {"rows": rows, "left_out": left_out}
    return assess(name, rows, values, conditions)


def assess(name: str, rows: dict[str, dict[str, Any]], values: dict[str, Any], conditions: Conditions) -> Outcome:
    """Compare the rows of a network with the targets of this GPU. rows: number type to the values of `measure`."""
    detail = "; ".join(row_text(kind, row) for kind, row in rows.items())
    if any(not row["finite"] for row in rows.values()):
        return Outcome(FAIL, f"a loss is not finite: {detail}", values)
    if not conditions.on_gpu:
        return Outcome(PASS, f"{detail}; fp16 and bf16 {NOT_ON_CPU}", values)
    misses = []
    plain, half = rows.get("fp32"), rows.get("fp16")
    if plain and half:
        ratio = half["images_per_second"] / plain["images_per_second"]
        least = _FASTER_SMALL if NETWORKS[name].small else faster_target(tuple(half["capability"]))
        if ratio < least:
            misses.append(f"fp16 is {ratio:.2f} times as fast as fp32, target {least}")
        memory = half["bytes"] / max(1, plain["bytes"])
        if memory > _LESS_MEMORY:
            misses.append(f"fp16 takes {memory:.0%} of the memory of fp32, target {_LESS_MEMORY:.0%}")
    used = (half or plain or {}).get("utilization")
    least_used = _UTILIZATION.get(name, _UTILIZATION_LARGE)
    if used is not None and used < least_used:
        misses.append(f"the GPU is busy {used:.0f} % of the time, target {least_used} %")
    return Outcome(SLOW if misses else PASS, "; ".join([detail, *misses]), values)


def faster_target(capability: tuple[int, ...]) -> float:
    """Return the least speed of fp16 relative to fp32 on a GPU: that of the newest generation not after its own."""
    known = [generation for generation in _FASTER if generation <= capability[:2]]
    return _FASTER[max(known)] if known else 1.0


def measure(conditions: Conditions) -> Outcome:
    """Measure steps on batches that lie ready in memory. argument: [name in `NETWORKS`, number type]."""
    name, kind = conditions.argument
    network = _reduced(NETWORKS[name]) if conditions.reduced else NETWORKS[name]
    chosen = devices.choose(conditions.device)
    learner = _make_learner(network, kind, chosen)
    images, truth = _batch(network)
    warm, steps = (1, 2) if conditions.reduced else (_WARM, _STEPS // 2 if conditions.quick else _STEPS)
    losses = _run_steps(learner, images, truth, warm)
    learner.wait()
    with _Utilization(chosen) as load:
        began = time.perf_counter()
        losses += _run_steps(learner, images, truth, steps)
        learner.wait()
        seconds = time.perf_counter() - began
    used = int(paddle.device.cuda.max_memory_allocated()) if chosen.is_gpu else 0
    operator_ms, device_ms = profile(
        learner, images, truth, chosen, conditions.folder, 1 if conditions.reduced else _PROFILED
    )
    values = {
        "network": name,
        "device": chosen.title,
        "capability": list(chosen.capability),
        "precision": learner.precision.choice.name,
        "batch": network.batch,
        "images_per_second": network.batch * steps / seconds,
        "step_ms": 1000 * seconds / steps,
        "operator_ms": operator_ms,
        "device_ms": device_ms,
        "utilization": load.mean,
        "bytes": used,
        "finite": bool(np.isfinite(losses).all()),
    }
    return Outcome(PASS, row_text(kind, values), values)


def _run_steps(learner: Learner, images: np.ndarray, truth: np.ndarray, count: int) -> list[float]:
    """Run steps as a training does. Return their losses."""
    results = [learner.advance(images, truth, 1e-4) for _ in range(count)]
    return [result.loss for result in (*results, learner.complete()) if result is not None]


def row_text(kind: str, row: dict[str, Any]) -> str:
    """Return a row of the speed table as one phrase."""
    text = f"{kind} {row['images_per_second']:.0f} images/s ({row['step_ms']:.1f} ms"
    if row.get("device_ms"):
        text += f", GPU {row['device_ms']:.1f} ms, operators {row['operator_ms']:.1f} ms"
    if row.get("utilization") is not None:
        text += f", busy {row['utilization']:.0f} %"
    return text + (f", {row['bytes'] / GIB:.2f} GiB)" if row.get("bytes") else ")")


def profile(
    learner: Learner, images: np.ndarray, truth: np.ndarray, chosen: devices.Device, folder: Path, steps: int
) -> tuple[float, float | None]:
    """Return milliseconds per step of Paddle's operators on the host, and of kernels on the GPU (None on a CPU)."""
    targets = [ProfilerTarget.CPU, *([ProfilerTarget.GPU] if chosen.is_gpu else [])]
    trace = folder / "trace.json"
    profiler = Profiler(targets=targets, on_trace_ready=lambda done: done.export(str(trace), format="json"))
    profiler.start()
    for _ in range(steps):
        learner.advance(images, truth, 1e-4)
        profiler.step()
    profiler.stop()
    host, device = (sum(sum_operations(trace, steps, category).values()) for category in ("Operator", "Kernel"))
    return host, device if chosen.is_gpu else None


def check_loader(conditions: Conditions) -> Outcome:
    """Measure the images per second that threads prepare, and the share of a training spent waiting for them."""
    batches = 3 if conditions.reduced else 20
    run = make_run(conditions, epochs=50, **{**SMALL, "batch": 16})
    context = prepare_run(run)
    speeds = {}
    for threads in _THREADS:
        loader = PatchLoader(context.sampler, batch=context.settings.batch, threads=threads)
        loader.take(0)  # reads the images
        began = time.perf_counter()
        for step in range(1, batches + 1):
            loader.take(step)
        speeds[threads] = context.settings.batch * batches / (time.perf_counter() - began)
        loader.close()
    context.loader.take(0)
    waited, began = context.loader.wait_seconds, time.perf_counter()
    for step in range(1, batches + 1):
        images, truth = context.loader.take(step)
        context.learner.advance(images, truth, 1e-4)
    share = (context.loader.wait_seconds - waited) / max(1e-9, time.perf_counter() - began)
    context.loader.close()
    listed = ", ".join(f"{speed:.0f} with {n}" for n, speed in speeds.items())
    detail = f"images/s by threads: {listed}; a small network waits {share:.0%} of the time"
    return Outcome(PASS, detail, {"images_per_second": speeds, "data_wait": share})


class _Utilization:
    """Mean utilization of the GPU in percent while the context is active; None without a GPU or a driver."""

    def __init__(self, chosen: devices.Device) -> None:
        self.mean: float | None = None
        self._values: list[float] = []
        self._stop = threading.Event()
        self._index = driver_index(chosen)
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> _Utilization:
        if self._index is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._index is not None:
            self._thread.join()
            self.mean = sum(self._values) / len(self._values) if self._values else None

    def _sample(self) -> None:
        try:
            import pynvml

            pynvml.nvmlInit()
            handle = pynvml.nvmlDeviceGetHandleByIndex(self._index)
            while not self._stop.wait(0.1):
                self._values.append(float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu))
            pynvml.nvmlShutdown()
        except Exception:  # MIG instances and some drivers do not report it
            return


def driver_index(chosen: devices.Device) -> int | None:
    """Return the driver's number of a GPU; None for a CPU, or if its UUID is unknown."""
    if not chosen.is_gpu:
        return None
    found = (gpu.index for gpu in read_gpu_facts().gpus if chosen.uuid and gpu.uuid.startswith(chosen.uuid))
    return next(found, None)


def _reduced(network: Network) -> Network:
    if network.model == "resnet":
        return Network("resnet", 32, 4, depth=18)
    return Network("unet", 32, 4, widths=(8, 16), stem=network.stem)


def _make_learner(network: Network, kind: str, chosen: devices.Device) -> Learner:
    paddle.seed(0)
    if network.model == "unet":
        nets: list[Any] = [UNet(1, 3, network.widths, stem=network.stem) for _ in range(2)]
        for net in nets:
            net.interpolate_contrast(chosen.is_gpu)
        loss: Any = partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0)
    else:
        width = 0.25 if network.side < 64 else 1.0
        nets = [ResNet(3, 6, depth=network.depth, width=width, input_size=network.side) for _ in range(2)]
        loss = partial(verdict_loss, label_smoothing=0.05)
    choice = precision.choose(kind, chosen)
    kind_of_optimizer = "muon" if network.model == "unet" else "adamw"
    optimizer = make_optimizer(nets[0], kind_of_optimizer, weight_decay=0.01, masters=choice.name != "fp32")
    return Learner(
        nets[0],
        nets[1],
        loss,
        precision.Precision(choice),
        optimizer,
        grad_clip=1.0,
        average=0.99,
        on_gpu=chosen.is_gpu,
    )


def _batch(network: Network) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    channels = 1 if network.model == "unet" else 3
    images = generator.normal(size=(network.batch, channels, network.side, network.side)).astype(np.float32)
    if network.model == "unet":
        return images, np.digitize(images[:, 0], [1.0, 2.0]).astype(np.uint8)
    return images, generator.integers(0, 6, network.batch)
