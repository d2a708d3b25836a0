"""Network with its optimizer, precision and averaged weights. One call runs one optimization step.

Profile of training steps: a trace for chrome://tracing, a table, and one line for the run's events.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import paddle
from paddle.profiler import Profiler, ProfilerTarget

from workbench.core.messages import Message, join
from workbench.core.problems import RunBroken
from workbench.core.project.storage import write_text
from workbench.core.runs.events import Profiled, Trouble
from workbench.core.runs.run import Run
from workbench.training.device import Device, first_line, is_out_of_memory
from workbench.training.optimizers import Arrays, Precision, optimizer_tensors, to_array, weights
from workbench.training.process_group import ProcessGroup
from workbench.training.reporter import Reporter

Batch = np.ndarray | paddle.Tensor
Loss = Callable[[paddle.Tensor, paddle.Tensor], paddle.Tensor]


@dataclass(frozen=True)
class StepResult:
    """Result of one step. skipped: the weights were not changed because a 16-bit gradient overflowed."""

    loss: float
    grad_norm: float
    skipped: bool

    @property
    def diverged(self) -> bool:
        """True if the step diverged. An overflow that the loss scaler has handled does not count."""
        return not math.isfinite(self.loss) or (not self.skipped and not math.isfinite(self.grad_norm))


class OutOfMemory(Exception):
    """A step that does not fit into the device's memory even with one image at a time."""


class Learner:
    """Trainer of `net`; `mean` holds the exponential average of its weights, in fp32, and is the network to use.

    parts: number of parts in which a batch is computed; doubled when memory is insufficient.
    copies: further networks like `net`. Each part is computed by `net` or a copy, concurrently in threads: on a CPU
    this uses the cores far better than threads inside Paddle's operations. Gradients are summed in a fixed order, so a
    run is reproducible bit by bit; the running statistics of the norms are averaged.
    process_group: processes of the run, initially this one only. Each has a learner, and all run the same steps.
    """

    def __init__(
        self,
        net: paddle.nn.Layer,
        mean: paddle.nn.Layer,
        loss: Loss,
        precision: Precision,
        optimizer: paddle.optimizer.AdamW,
        *,
        grad_clip: float,
        average: float,
        copies: Sequence[paddle.nn.Layer] = (),
    ) -> None:
        self.net, self.mean, self.loss, self.precision, self.optimizer = net, mean, loss, precision, optimizer
        self.nets = [net, *copies]
        self.process_group = ProcessGroup()
        self._pool = ThreadPoolExecutor(max(1, len(copies)), thread_name_prefix="copies")
        self.grad_clip, self.average = grad_clip, average
        self.parts = 1
        self.updates = 0  # of the average
        precision.prepare(net, self.optimizer)
        for parameter in mean.parameters():
            parameter.stop_gradient = True
        mean.eval()
        self.copy_to_mean()

    # --- a step ----------------------------------------------------------------------------------

    def step(self, images: Batch, truth: Batch, rate: float, *, batch_size: int = 0) -> StepResult:
        """Run one optimization step. Raises OutOfMemory, MemoryError, WorkerFailed.

        After a MemoryError nothing has changed except slightly the norms' statistics; call `split` and retry.

        images: float32 (N, C, H, W), an array or a tensor on the device.
        truth: int64 (N,) or uint8 (N, H, W), as `images`.
        rate: learning rate.
        batch_size: images in the batch, including those of other processes.
        """
        self.optimizer.set_lr(rate)
        batch_size = batch_size or len(images)
        group, message = self.process_group, None

        def compute() -> float:
            nonlocal message
            total = self._compute(images, truth, batch_size)
            message = group.pack(self.net.parameters())
            return total

        agreed = False  # all processes have their gradients
        try:
            loss = group.together(compute)
            agreed = True
            group.combine(self.net.parameters(), message)
            norm, skipped = self.precision.step(self.optimizer, self.optimizer._parameter_list, self.grad_clip)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            if agreed and group.size > 1:  # the others may have changed their weights
                raise group.failed(Message("training.memory_too_small")) from error
            raise MemoryError from error
        finally:
            for net in self.nets:
                net.clear_gradients(set_to_zero=False)
        result = StepResult(loss, norm, skipped)
        if not result.diverged and not result.skipped:
            self._update_mean()
        return result

    def split(self, batch: int) -> None:
        """Compute batches in twice as many parts from now on. Raises OutOfMemory if that is impossible."""
        self.parts = max(self.parts, len(self.nets))
        if self.parts >= batch:
            raise OutOfMemory
        self.parts *= 2

    def _compute(self, images: Batch, truth: Batch, batch_size: int) -> float:
        """Compute the gradients of this process. Return its share of the loss."""
        # Equally many parts in every process: norms over several GPUs communicate once per part.
        count = min(max(self.parts, len(self.nets)), max(1, batch_size // self.process_group.size))
        # Interleaved: the places of a batch with defects come first, and each part needs some of them.
        parts = [np.arange(first, len(images), count) for first in range(count)]
        self._copy_weights()
        others = [
            self._pool.submit(
                self._accumulate_gradients, net, images, truth, parts[number :: len(self.nets)], batch_size
            )
            for number, net in enumerate(self.nets[1:], start=1)
        ]
        try:
            total = self._accumulate_gradients(self.net, images, truth, parts[:: len(self.nets)], batch_size)
        finally:
            wait(others)
        total += sum(other.result() for other in others)
        self._sum_gradients()
        return total

    def _accumulate_gradients(
        self, net: paddle.nn.Layer, images: Batch, truth: Batch, parts: list[np.ndarray], batch_size: int
    ) -> float:
        """Add the gradients of some parts of a batch to those of `net`. Return their share of the loss."""
        net.train()
        total = 0.0
        for part in parts:
            with self.precision.cast():
                logits = net(_select(images, part))
            loss = self.loss(logits, _select(truth, part)) * (len(part) / batch_size)
            self.precision.backward(loss)
            total += loss.item()
        return total

    @paddle.no_grad()
    def _copy_weights(self) -> None:
        for copy in self.nets[1:]:
            for source, target in zip(self.net.parameters(), copy.parameters()):
                paddle.assign(source, target)

    @paddle.no_grad()
    def _sum_gradients(self) -> None:
        for first, *others in zip(*(net.parameters() for net in self.nets)):
            for other in others:
                if first.stop_gradient:  # a running statistic
                    first.add_(other)
                elif other.grad is not None:
                    first.grad.add_(other.grad)
            if first.stop_gradient and others:
                first.scale_(1 / len(self.nets))

    @paddle.no_grad()
    def _update_mean(self) -> None:
        self.updates += 1
        # Smaller factor at first, or the average would retain the untrained weights for the whole of a short run.
        decay = min(self.average, (1 + self.updates) / (10 + self.updates)) if self.average else 0.0
        if not decay:
            self.copy_to_mean()
            return
        for averaged, current in self._pairs():
            averaged.scale_(decay)
            averaged.add_(current.astype("float32") * (1 - decay))

    @paddle.no_grad()
    def copy_to_mean(self) -> None:
        for averaged, current in self._pairs():
            paddle.assign(current.astype("float32"), averaged)

    def _pairs(self) -> list[tuple[paddle.Tensor, paddle.Tensor]]:
        current = self.net.state_dict()
        return [(averaged, current[name]) for name, averaged in self.mean.state_dict().items()]

    # --- content of a checkpoint -----------------------------------------------------------------

    def state_arrays(self) -> dict[str, Arrays]:
        """Return the present weights, optimizer state and averages by the stems of their files in a checkpoint."""
        return {"weights": weights(self.net), "optimiser": self.optimizer_arrays(), "average": weights(self.mean)}

    def optimizer_arrays(self) -> Arrays:
        return {name: to_array(tensor) for name, tensor in optimizer_tensors(self.net, self.optimizer).items()}

    def load_optimizer(self, arrays: Arrays) -> None:
        """Restore the optimizer state; call before the weights are loaded. Raises RunBroken.

        A step with zero gradients makes Paddle create the accumulators, which are then overwritten.
        """
        if arrays:
            loss = sum((p.astype("float32") * 0).sum() for p in self.net.parameters())
            loss.backward()
            self.optimizer.step()
            self.optimizer.clear_grad()
        tensors = optimizer_tensors(self.net, self.optimizer)
        for name, array in arrays.items():
            tensor = tensors.get(name)
            if tensor is None or list(tensor.shape) != list(array.shape):
                raise RunBroken(path="last/optimiser.safetensors", why=Message("checkpoint.array_mismatch", name=name))
            tensor.set_value(array.astype(str(tensor.dtype).rpartition(".")[2]))  # without a read of the tensor


def _select(batch: Batch, part: np.ndarray) -> paddle.Tensor:
    """Return a part of a batch as a tensor on the device; without a copy if it is the whole batch."""
    if isinstance(batch, paddle.Tensor):
        if len(part) == len(batch):
            return batch
        # `index_select` does not accept uint8.
        whole = batch.astype("int32") if batch.dtype == paddle.uint8 else batch
        return paddle.index_select(whole, paddle.to_tensor(part))
    return paddle.to_tensor(batch if len(part) == len(batch) else batch[part])


# --- profile --------------------------------------------------------------------------------------


_FIRST, _STEPS = 5, 10  # the first steps include one-time costs of memory and threads
_TABLE_ROWS = 20
FOLDER = "profile"

# Name of a kind of work, and a pattern of Paddle's operation names; the first match counts.
_KINDS = (
    (Message("profile.backward"), r"conv.*grad|dgrad|wgrad"),
    (Message("profile.forward"), r"conv|fprop|gemm|cutlass|winograd"),
    (Message("profile.normalization"), r"batch_?norm|bn_fw|bn_bw"),
    (Message("profile.optimizer"), r"adam"),
    (Message("profile.activation"), r"relu|pool"),
    (Message("profile.arithmetic"), r""),
)


class StepProfiler:
    """Profiler of some steps. Call `step` after each step with the seconds it waited for images; stops by itself."""

    def __init__(self, run: Run, device: Device, report: Reporter) -> None:
        self.folder, self.report = run.root / FOLDER, report
        targets = [ProfilerTarget.CPU, *([ProfilerTarget.GPU] if device.is_gpu else [])]
        self._profiler: Profiler | None = Profiler(
            targets=targets, scheduler=(_FIRST, _FIRST + _STEPS), on_trace_ready=self._write
        )
        self._started, self._waited, self._count = 0.0, 0.0, 0
        self._call(self._profiler.start)

    def step(self, waited: float) -> None:
        if self._profiler is None:
            return
        self._count += 1
        if self._count > _FIRST:
            self._waited += waited
        self._call(self._profiler.step)
        if self._count == _FIRST:
            self._started = time.perf_counter()
        elif self._count >= _FIRST + _STEPS:
            self.close()

    def close(self) -> None:
        """Stop profiling; also for a run that ended before the profile was complete."""
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            self._call(profiler.stop)

    def _call(self, function: Callable[[], None]) -> None:
        """Call a function of the profiler. Its failure is reported and ends the profile, not the training."""
        try:
            function()
        except Exception as error:  # Paddle, CUPTI, a full disk, or a trace that cannot be read
            self._profiler = None
            what = Message("profiler.failed", why=first_line(error))
            self.report(Trouble(what=what, done=Message("profiler.left_out")))

    def _write(self, profiler: Profiler) -> None:
        step_ms = 1000 * (time.perf_counter() - self._started) / max(1, self._count - _FIRST)
        waited = 1000 * self._waited / max(1, self._count - _FIRST)
        self.folder.mkdir(exist_ok=True)
        trace = self.folder / "trace.json"
        profiler.export(str(trace), format="json")
        operations = sum_operations(trace, _STEPS)
        kernels = sum_operations(trace, _STEPS, "Kernel")
        write_text(self.folder / "profile.md", table(step_ms, waited, operations, kernels))
        kinds = sum_kinds(kernels or operations)
        total = sum(kinds.values()) or 1.0
        most = list(kinds.items())[:3]
        shares = join("list.comma", [Message("profile.share", kind=k, share=f"{ms / total:.0%}") for k, ms in most])
        what = Message("profiler.step", ms=f"{step_ms:.0f}", share=f"{waited / max(1e-09, step_ms):.0%}", shares=shares)
        host, device = (sum(operations.values()), sum(kernels.values())) if kernels else (None, None)
        self.report(Profiled(what=what, folder=FOLDER, operator_ms=host, device_ms=device))


def sum_operations(trace: Path, steps: int, category: str = "Operator") -> dict[str, float]:
    """Return milliseconds per step of each operation in a trace of Paddle's profiler, the longest first.

    category: "Operator" for the time on the CPU, which for a GPU is only that of starting its kernels; "Kernel" for the
    time on the GPU.
    """
    durations: dict[str, float] = defaultdict(float)
    for event in json.loads(trace.read_text("utf-8"))["traceEvents"]:
        if event.get("cat") == category and "dur" in event:
            durations[re.sub(r"\[.*", "", event["name"]).strip()] += event["dur"] / 1000 / steps
    return dict(sorted(durations.items(), key=lambda pair: -pair[1]))


def sum_kinds(operations: dict[str, float]) -> dict[str, float]:
    """Sum the operations by kind of work, the longest first."""
    durations: dict[str, float] = defaultdict(float)
    for name, milliseconds in operations.items():
        durations[next(kind for kind, pattern in _KINDS if re.search(pattern, name.lower()))] += milliseconds
    return dict(sorted(durations.items(), key=lambda pair: -pair[1]))


def table(step_ms: float, waited: float, operations: dict[str, float], kernels: dict[str, float] | None = None) -> str:
    """Return the profile as Markdown.

    kernels: times on a GPU; `operations` are then those of the CPU, which starts the kernels. Several copies of a
    network run concurrently on a CPU, so the times of operations may add up to more than the step.
    """
    lines = [f"A step takes {step_ms:.1f} ms by the clock, {waited:.1f} ms of it waiting for pictures."]
    if kernels:
        device, host = sum(kernels.values()), sum(operations.values())
        lines += [f"The GPU computes for {device:.1f} ms of a step; starting its work takes the CPU {host:.1f} ms."]
        lines += ["", "## GPU", *_rows(kernels), "", "## CPU"]
    lines += [*_rows(operations), "", "`trace.json` opens in chrome://tracing and in Perfetto."]
    return "\n".join(lines) + "\n"


def _rows(operations: dict[str, float]) -> list[str]:
    return [
        "",
        "| work | ms a step |",
        "|---|---|",
        *(f"| {kind} | {ms:.1f} |" for kind, ms in sum_kinds(operations).items()),
        "",
        "| operation | ms a step |",
        "|---|---|",
        *(f"| {name} | {ms:.2f} |" for name, ms in list(operations.items())[:_TABLE_ROWS]),
    ]
