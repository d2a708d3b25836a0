"""Profile of training steps: a trace for chrome://tracing, a table, and one line for the run's events."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from paddle.profiler import Profiler, ProfilerTarget

from workbench.core.messages import Message, join
from workbench.core.project.storage import write_text
from workbench.core.runs.events import Profiled, Trouble
from workbench.core.runs.run import Run
from workbench.training.device import Device, first_line
from workbench.training.reporter import Reporter

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
