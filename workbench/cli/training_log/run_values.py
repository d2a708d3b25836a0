"""Named values of a run, as other programs store them: scalars by training step, texts, and the training settings.

Names have groups separated by "/", by which TensorBoard, VisualDL and MLflow arrange their charts:

    train/loss, train/learning_rate, ...       steps
    val/dice, val/class/NAME/recall, ...       evaluations, one group per data split
    system/...                                 load of the computer and of its GPUs, named as MLflow names them
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.problems import Problem
from workbench.core.runs.events import Evaluated, Event, Started, Step, Trouble
from workbench.core.runs.run import Run
from workbench.core.runs.system_stats import GpuSample, SystemSample
from workbench.core.runs.training_settings import concerns

STEP_NAMES = {
    "loss": "train/loss",
    "rate": "train/learning_rate",
    "grad_norm": "train/gradient_norm",
    "loss_scale": "train/loss_scale",
    "skipped": "train/skipped_steps",
    "images_per_second": "train/images_per_second",
    "data_wait": "train/data_wait",
    "epoch": "train/epoch",
    "round": "train/round",
}
"""Field of a Step -> name."""
_MB = 1 << 20
_GPU_VALUES: dict[str, Callable[[GpuSample], float | None]] = {
    "utilization_percentage": lambda gpu: gpu.utilisation,
    "memory_usage_megabytes": lambda gpu: None if gpu.memory_used is None else gpu.memory_used / _MB,
    "memory_total_megabytes": lambda gpu: None if gpu.memory_total is None else gpu.memory_total / _MB,
    "temperature_celsius": lambda gpu: gpu.temperature,
    "power_usage_watts": lambda gpu: gpu.power,
    "clock_megahertz": lambda gpu: gpu.clock,
}


@dataclass(frozen=True)
class Scalar:
    """Value of a curve. time: seconds of time.time(). value: NaN if the training diverged."""

    name: str
    value: float
    step: int
    time: float


@dataclass(frozen=True)
class Text:
    """Text at a training step. time: seconds of time.time()."""

    name: str
    text: str
    step: int
    time: float


class RunValues:
    """Conversion of the events and samples of one run, given in order.

    begin: time of the run's begin in seconds of time.time(); pauses and the time between resumes are not counted.
    """

    def __init__(self, begin: float) -> None:
        self._begin = begin
        self._times, self._steps = [0.0], [0]  # one training step per second, for the machine samples
        self._classes: dict[str, str] = {}

    def of_event(self, event: Event) -> Iterator[Scalar | Text]:
        at = self._begin + event.time
        if isinstance(event, Step):
            if event.time >= self._times[-1] + 1:
                self._times.append(event.time)
                self._steps.append(event.step)
            for field, name in STEP_NAMES.items():
                value = getattr(event, field)
                if value is not None:
                    yield Scalar(name, float(value), event.step, at)
        elif isinstance(event, Evaluated):
            for name, value in self._evaluation(event).items():
                yield Scalar(name, value, event.step, at)
        elif isinstance(event, Trouble):
            yield Text("messages", f"{event.what} {event.done}".strip(), self._step_at(event.time), at)

    def of_sample(self, run_time: float, sample: SystemSample) -> Iterator[Scalar]:
        """Yield the load of the computer, at the training step of that time."""
        step = self._step_at(run_time)
        values: dict[str, float | None] = {
            "cpu_utilization_percentage": sample.cpu,
            "system_memory_usage_megabytes": sample.ram_used / _MB,
            "disk_read_megabytes_per_second": sample.disk_read_mb_s,
        }
        for gpu in sample.gpus:
            values |= {f"gpu_{gpu.index}_{name}": read(gpu) for name, read in _GPU_VALUES.items()}
        for name, value in values.items():
            if value is not None:
                yield Scalar(f"system/{name}", float(value), step, sample.time)

    def _evaluation(self, event: Evaluated) -> dict[str, float]:
        """Return the numbers of an evaluation by name. Bounds of an interval end in _low and _high."""
        values = self._numbers(event.split, event.metrics)
        if event.score is not None:
            values[f"{event.split}/score"] = float(event.score)
            if event.best:
                values[f"{event.split}/best_score"] = float(event.score)
        return values

    def _numbers(self, group: str, metrics: Mapping[str, Any]) -> dict[str, float]:
        values: dict[str, float] = {}
        for key, value in metrics.items():
            name = f"{group}/{key}"
            if key == "per_class" and isinstance(value, Mapping):
                for class_name, numbers in value.items():
                    values |= self._numbers(f"{group}/class/{self._class_name(class_name)}", numbers)
            elif key == "confusion" or isinstance(value, bool):
                continue
            elif isinstance(value, (int, float)):
                values[name] = float(value)
            elif isinstance(value, Mapping):
                values |= self._numbers(name, value)
            elif isinstance(value, list) and len(value) == 2 and all(isinstance(end, (int, float)) for end in value):
                short = name.removesuffix("_interval")
                values |= {f"{short}_low": float(value[0]), f"{short}_high": float(value[1])}
        return values

    def _class_name(self, name: str) -> str:
        """Return a name of letters, digits, "_", "-" and ".", which all programs accept, different for each class."""
        found = self._classes.get(name)
        if found is None:
            base = re.sub(r"[^\w.-]", "_", name)[:100]
            base = base if base.strip(".") else "_"
            number, found = 1, base
            while found in self._classes.values():
                number += 1
                found = f"{base}_{number}"
            self._classes[name] = found
        return found

    def _step_at(self, run_time: float) -> int:
        return self._steps[max(0, bisect.bisect_right(self._times, run_time) - 1)]


def run_settings(run: Run) -> dict[str, Any]:
    """Return the training settings and facts of a run as plain values by name. Raise RunBroken."""
    settings, dataset = run.settings(), run.dataset()
    values = settings.model_dump(mode="json", include={"model", *concerns(settings.model)})
    values |= {f"images_{split}": len(dataset.of(split)) for split in ("train", "val", "test")}
    started = next((event for event in run.events() if isinstance(event, Started)), None)
    if started is not None:
        values |= {name: getattr(started, name) for name in ("device_name", "precision", "parameters")}
    return {name: plain_value(value) for name, value in values.items()}


def plain_value(value: Any) -> bool | int | float | str:
    """Return a value of JSON as a number, a truth value or a text."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return ", ".join(str(plain_value(entry)) for entry in value)
    return "" if value is None else str(value)


def project_name(run: Run) -> str:
    """Return the name of the run's project, that of its folder if the project cannot be read."""
    from workbench.core.project.project import read_project_file

    try:
        return read_project_file(run.project_root).name
    except Problem:
        return run.project_root.name
