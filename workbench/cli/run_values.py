"""Named values of a run, as other programs store them: scalars by training step, texts, and the training settings. They
are read from the files of a run, finished or being trained.

Names have groups separated by "/", by which TensorBoard, VisualDL and MLflow arrange their charts:

    train/loss, train/learning_rate, ...       steps
    val/dice, val/class/NAME/recall, ...       evaluations, one group per data split
    system/...                                 load of the computer and of its GPUs, named as MLflow names them
"""

from __future__ import annotations

import bisect
import dataclasses
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.problems import Problem
from workbench.core.runs.events import Evaluated, Event, Failed, Finished, Started, Step, Trouble, decode
from workbench.core.runs.gpu_facts import GpuSample, SystemSample, decode_sample
from workbench.core.runs.launch import is_training
from workbench.core.runs.run import Run, RunName
from workbench.core.runs.run_history import LineTail, machine_path
from workbench.core.runs.training_settings import concerns

_RENAMED = {"rate": "learning_rate", "grad_norm": "gradient_norm", "skipped": "skipped_steps"}
# Field of a Step -> name.
STEP_NAMES = {
    field.name: f"train/{_RENAMED.get(field.name, field.name)}"
    for field in dataclasses.fields(Step)
    if field.name not in ("time", "step", "progress")
}
_MB = 1 << 20
_GPU_VALUES: dict[str, Callable[[GpuSample], float | None]] = {
    "utilization_percentage": lambda gpu: gpu.utilisation,
    "memory_usage_megabytes": lambda gpu: None if gpu.memory_used is None else gpu.memory_used / _MB,
    "memory_total_megabytes": lambda gpu: None if gpu.memory_total is None else gpu.memory_total / _MB,
    "temperature_celsius": lambda gpu: gpu.temperature,
    "power_usage_watts": lambda gpu: gpu.power,
    "clock_megahertz": lambda gpu: gpu.clock,
}
# Time between two readings of a run that is being trained, in seconds.
POLL = 1.0
# Time to wait for a training that has not begun, in seconds.
START_SECONDS = 60.0
_STARTED = f'{{"kind": "{Started.kind}"'
_BACK = 5  # seconds by which the time of the machine samples goes back at a resume


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
    """Return the training settings and facts of a run as plain values by name. Raises RunBroken."""
    settings, dataset = run.settings(), run.dataset()
    values = settings.model_dump(mode="json", include={"model", *concerns(settings.model)})
    values |= {f"images_{split}": len(dataset.of(split)) for split in ("train", "val", "test")}
    started = next((event for event in run.events(Started) if isinstance(event, Started)), None)
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


class RunReader:
    """Reader of the values of a run. `ending` is its final event, None while it is trained and after a crash."""

    def __init__(self, run: Run) -> None:
        self.ending: Finished | Failed | None = None
        self.started = False
        self._values = RunValues(_begin(run))
        self._events, self._samples = LineTail(run.events_path), LineTail(machine_path(run))
        self._event_limits = _limits(_resume_time(line) for line in LineTail(run.events_path).read_lines())
        self._sample_limits = _limits(_returns(LineTail(machine_path(run)).read_lines()))

    def read(self) -> Iterator[Scalar | Text]:
        """Yield the values added since the last call.

        Values that a resumed training has computed again are yielded once, as computed last, unless they were read
        before the training was resumed.
        """
        for line in self._events.read_lines():
            limit, event = next(self._event_limits), decode(line)
            if event is not None:
                self._note(event)
                if event.time <= limit:
                    yield from self._values.of_event(event)
        for line in self._samples.read_lines():
            limit, found = next(self._sample_limits), decode_sample(line)
            if found is not None and found[0] <= limit:
                yield from self._values.of_sample(*found)

    def _note(self, event: Event) -> None:
        if isinstance(event, Started):
            self.ending, self.started = None, True
        elif isinstance(event, (Finished, Failed)):
            self.ending = event


def follow(run: Run, reader: RunReader, update: Callable[[], None]) -> None:
    """Call `update`, which reads, until the training of a run ends. One that has not begun is awaited for a minute."""
    begin = time.monotonic()
    while True:
        training = is_training(run.root)  # checked before reading, so that the last events are read
        update()
        waiting = not reader.started and time.monotonic() - begin < START_SECONDS
        if reader.ending is not None or not (training or waiting):
            return
        time.sleep(POLL)


def _begin(run: Run) -> float:
    """Return the time at which a run began, in seconds of time.time()."""
    when = RunName.parse(run.name).when
    return run.settings_path.stat().st_mtime if when is None else when.timestamp()


def _resume_time(line: str) -> float | None:
    """Return the time at which a training was resumed, None for another event."""
    event = decode(line) if line.startswith(_STARTED) else None
    return event.time if isinstance(event, Started) and event.resumed else None


def _returns(lines: Iterable[str]) -> Iterator[float | None]:
    """Yield for each machine sample its time if that goes back, as at a resume, else None."""
    last = -math.inf
    for line in lines:
        found = decode_sample(line)
        at = last if found is None else found[0]
        yield at if at < last - _BACK else None
        last = at


def _limits(resumes: Iterable[float | None]) -> Iterator[float]:
    """Yield for each line the greatest time that a later resume has not computed again; infinity after the last."""
    cuts = [(number, at) for number, at in enumerate(resumes) if at is not None]
    return _limits_of(cuts)


def _limits_of(cuts: list[tuple[int, float]]) -> Iterator[float]:
    done = 0
    for index, (number, _) in enumerate(cuts):
        limit = min(at for _, at in cuts[index:])
        while done < number:
            yield limit
            done += 1
    while True:
        yield math.inf
