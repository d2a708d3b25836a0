"""Time series of one run, its values over time, a CSV table of several runs, and comparability of two runs.

Columns of values over time that grow while they are recorded, and the choice of the points of a drawn curve. Metrics on
different images are not comparable.
"""

from __future__ import annotations

import bisect
import csv
import io
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

import numpy as np

from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.events import Evaluated, Event, Started, Step, overall_dice
from workbench.core.runs.gpu_facts import SystemSample, training_gpus
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.text_safety import csv_cell

MOST = 1600  # points of a drawn curve
_BLOCK = 128  # values per block with stored extremes, which avoids a scan of a million points per frame


class Columns:
    """Named values over a common time (float64), in arrays that grow by doubling. Missing values are NaN."""

    def __init__(self, names: Sequence[str], kind: type = np.float32) -> None:
        self.names = list(names)
        self._known = set(names)
        self._missing = set(names)  # names without any value
        self.count = 0
        self._last = -math.inf
        self._times = np.empty(256)
        self._values = np.full((len(self.names), 256), np.nan, kind)
        # Indices of the least and greatest value of each full block.
        self._peaks = np.empty((len(self.names), 2, 2), np.int64)

    @property
    def present(self) -> set[str]:
        """Names with at least one finite value."""
        return self._known - self._missing

    @property
    def times(self) -> np.ndarray:
        return self._times[: self.count]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[self.names.index(name), : self.count]

    def add(self, time: float, values: Mapping[str, float | None]) -> None:
        """Append values at a time not before the last one. A new name is added as a column."""
        for name in values.keys() - self._known:
            self._add_name(name)
        if self.count == len(self._times):
            self._times = np.concatenate((self._times, np.empty_like(self._times)))
            self._values = np.concatenate((self._values, np.full_like(self._values, np.nan)), axis=1)
            self._peaks = np.concatenate((self._peaks, np.empty_like(self._peaks)), axis=1)
        at = self.count
        self._last = self._times[at] = max(time, self._last)
        self._values[:, at] = [values.get(name) for name in self.names]  # NumPy converts None to NaN
        if self._missing:
            row = ((name, values.get(name)) for name in self._missing)
            self._missing -= {name for name, value in row if value is not None and math.isfinite(value)}
        self.count += 1
        if self.count % _BLOCK == 0:
            self._peaks[:, at // _BLOCK] = _peaks(self._values[:, at + 1 - _BLOCK : at + 1], at + 1 - _BLOCK)

    def newest(self) -> np.ndarray:
        """Return the last values of all names, zeros if there are none."""
        return self._values[:, self.count - 1] if self.count else np.zeros(len(self.names))

    def cut(self, time: float) -> None:
        """Remove values after `time`, when a run was resumed from there."""
        self.count = int(np.searchsorted(self.times, time, side="right"))
        self._last = float(self._times[self.count - 1]) if self.count else -math.inf

    def at(self, name: str, time: float) -> float:
        """Return the most recent value at a time, NaN if there is none."""
        last = bisect.bisect_right(self._times, time, 0, self.count)
        for index in range(last - 1, max(-1, last - 50), -1):
            value = float(self._values[self.names.index(name), index])
            if not math.isnan(value):
                return value
        return math.nan

    def indexes(self, name: str, first: float, last: float, most: int = MOST) -> np.ndarray:
        """Return the indices to draw between two times: about `most`, with all peaks and one neighbor on each side."""
        begin = max(0, int(np.searchsorted(self.times, first, side="left")) - 1)
        end = min(self.count, int(np.searchsorted(self.times, last, side="right")) + 1)
        if end - begin <= most:
            return np.arange(begin, end)
        row = self.names.index(name)
        if end - begin <= most * _BLOCK // 4:
            return thinned(self._values[row], np.arange(begin, end), most)
        blocks = np.arange(-(-begin // _BLOCK), end // _BLOCK)
        found = np.sort(self._peaks[row, blocks], axis=1).ravel()
        ends = np.arange(begin, blocks[0] * _BLOCK), np.arange((blocks[-1] + 1) * _BLOCK, end)
        return thinned(self._values[row], np.concatenate(([begin], ends[0], found, ends[1], [end - 1])), most)

    def _add_name(self, name: str) -> None:
        self.names.append(name)
        self._known.add(name)
        self._missing.add(name)
        more = np.full((1, self._values.shape[1]), np.nan, self._values.dtype)
        self._values = np.concatenate((self._values, more))
        starts = np.arange(self._peaks.shape[1])[None, :, None] * _BLOCK
        self._peaks = np.concatenate((self._peaks, np.broadcast_to(starts, (1, *self._peaks.shape[1:]))))


def _peaks(values: np.ndarray, first: int) -> np.ndarray:
    low = np.where(np.isnan(values), np.inf, values).argmin(1)
    high = np.where(np.isnan(values), -np.inf, values).argmax(1)
    return np.stack((low, high), 1) + first


def thinned(values: np.ndarray, indexes: np.ndarray, most: int = MOST) -> np.ndarray:
    """Return about `most` of the indices in order: the ends, and least and greatest value per section."""
    if len(indexes) <= most:
        return indexes
    stretch = -(-len(indexes) // (most // 2))
    whole = len(indexes) // stretch * stretch
    blocks = indexes[:whole].reshape(-1, stretch)
    found = np.sort(np.take_along_axis(blocks, _peaks(values[blocks], 0), axis=1), axis=1).ravel()
    rest = indexes[whole:]
    if len(rest):
        found = np.concatenate((found, np.sort(rest[_peaks(values[rest][None], 0)[0]])))
    return np.concatenate((indexes[:1], found, indexes[-1:]))


# Values of a step that are recorded: all its fields but these. A further field needs no change here.
_NOT_RECORDED = ("time", "step", "epoch", "skipped", "progress", "round")
STEP_VALUES = tuple(field.name for field in fields(Step) if field.name not in _NOT_RECORDED)
_step_values = attrgetter(*STEP_VALUES)
GPU_VALUES = ("load", "used", "reserved", "total", "temperature", "power", "clock")
GB = 1024**3
_SAME = 1e-6  # seconds between values that are in one row of the table

Points = tuple[np.ndarray, np.ndarray]


class RunSeries:
    """Time series of a run and of the machine. Pass events in order to `add_event`, machine samples to `add_sample`."""

    def __init__(self) -> None:
        self.started: Started | None = None
        self.steps = Columns(STEP_VALUES)
        self.scores = Columns(("score", "dice"))
        self.machine = Columns(("cpu", "ram", "ram_total", "disk"))
        self.best: tuple[float, float] | None = None  # time, value of `metric`
        self.skips: list[float] = []  # times at which skipped steps were detected
        self.gpu_names: list[str] = []  # by index
        self.no_gpu_reason = ""  # reason why there is none
        self.last = 0.0  # seconds
        self._skipped = 0
        self._sums = Columns(("sum", "count"), np.float64)  # running sums of the losses
        self._sum, self._finite = 0.0, 0

    # --- input -----------------------------------------------------------------------------------

    def add_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._begin(event)
        elif isinstance(event, Step):
            self.steps.add(event.time, dict(zip(STEP_VALUES, _step_values(event))))
            if math.isfinite(event.loss):
                self._sum += event.loss
                self._finite += 1
            self._sums.add(event.time, {"sum": self._sum, "count": self._finite})
            if event.skipped > self._skipped:
                self.skips.append(event.time)
            self._skipped = event.skipped
        elif isinstance(event, Evaluated) and event.split == "val" and event.score is not None:
            dice = overall_dice(event.metrics)
            self.scores.add(event.time, {"score": event.score, "dice": dice})
            if event.best:
                self.best = event.time, event.score if dice is None else dice
        self.last = max(self.last, event.time)

    def add_sample(self, time: float, sample: SystemSample) -> None:
        """Add a machine sample. time: seconds since the start of the run."""
        if self.machine.count and time < self.machine.times[-1] - 5:
            self.machine.cut(time)  # the run was resumed from an earlier step
        values: dict[str, float | None] = {
            "cpu": sample.cpu,
            "ram": sample.ram_used / GB,
            "ram_total": sample.ram_total / GB,
            "disk": sample.disk_read_mb_s,
        }
        # Other GPUs of the machine are not shown, if it is known which ones train.
        shown = sample.gpus
        if self.started is not None and self.started.gpu:
            shown = training_gpus(sample.gpus, self.started.gpu, self.started.device) or sample.gpus
        for gpu in shown:
            gpu_values = (
                gpu.utilisation,
                _gb(gpu.memory_used),
                _gb(gpu.memory_reserved),
                _gb(gpu.memory_total),
                gpu.temperature,
                gpu.power,
                gpu.clock,
            )
            values.update({f"{name} {gpu.index}": value for name, value in zip(GPU_VALUES, gpu_values)})
            while len(self.gpu_names) <= gpu.index:
                self.gpu_names.append("")
            self.gpu_names[gpu.index] = gpu.name
        self.no_gpu_reason = sample.reason
        self.machine.add(time, values)
        self.last = max(self.last, time)

    def _begin(self, event: Started) -> None:
        """Start or resume. On resume, values after the resumed time are removed."""
        self.started = event
        if event.resumed:
            for columns in (self.steps, self.scores, self.machine, self._sums):
                columns.cut(event.time)
            self._sum, self._finite = (float(v) for v in self._sums.newest())
            self.skips = [time for time in self.skips if time <= event.time]
            self.last = min(self.last, event.time)

    # --- curves ----------------------------------------------------------------------------------

    @property
    def metric(self) -> str:
        """Name of the values that show the quality: Dice of all classes together, for verdicts the macro F1."""
        return "dice" if self.has("dice") else "score"

    def source(self, name: str) -> Columns:
        """Return the columns that contain `name`."""
        if name in self.scores:
            return self.scores
        return self.steps if name in STEP_VALUES else self.machine

    def has(self, name: str) -> bool:
        """Return True if there is any value of `name`."""
        return name in self.source(name).present

    def points(self, name: str, first: float = -math.inf, last: float = math.inf, most: int = MOST) -> Points:
        """Return times and values to draw between two times, empty arrays if the name is unknown."""
        source = self.source(name)
        if name not in source:
            return np.empty(0), np.empty(0, np.float32)
        at = source.indexes(name, first, last, most)
        return source.times[at], source[name][at]

    def smoothed(self, first: float = -math.inf, last: float = math.inf, most: int = MOST) -> Points:
        """Return the trailing mean of the loss over 2 % of the steps (at least 5)."""
        at = self.steps.indexes("loss", first, last, most)
        at = at[:: -(-len(at) // (most // 2))] if len(at) > most // 2 else at
        reach = max(5, self.steps.count // 50)
        return self.steps.times[at], self._mean(at, reach)

    def at(self, name: str, time: float) -> float:
        """Return the value at a time, NaN if there is none. The name "smoothed" is accepted."""
        if name == "smoothed":
            at = bisect.bisect_right(self.steps._times, time, 0, self.steps.count) - 1
            return float(self._mean(np.array([at]), max(5, self.steps.count // 50))[0]) if at >= 0 else math.nan
        source = self.source(name)
        return source.at(name, time) if name in source else math.nan

    def _mean(self, at: np.ndarray, reach: int) -> np.ndarray:
        before = at - reach

        def over(name: str) -> np.ndarray:
            values = self._sums[name]
            return values[at] - np.where(before >= 0, values[np.maximum(before, 0)], 0.0)

        sums, counts = over("sum"), over("count")
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _gb(size: int | None) -> float | None:
    return None if size is None else size / GB


def series_table(runs: Sequence[tuple[str, RunSeries]]) -> bytes:
    """Return UTF-8 with a byte order mark, as required by Excel. runs: (name, series)."""
    names = list(dict.fromkeys(name for _, series in runs for columns in _sources(series) for name in columns.names))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["run", "seconds", *map(csv_cell, names)])
    for run, series in runs:
        for number, (moment, values) in enumerate(_moments(series)):
            writer.writerow([csv_cell(run), f"{moment:.3f}", *(_reported_values(values.get(name)) for name in names)])
            if number % 200 == 0:
                time.sleep(0.0002)  # give the GUI thread time, since this runs in a worker thread
    return text.getvalue().encode("utf-8-sig")


def _moments(series: RunSeries) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield the times of a run in order with the values measured at each."""
    sources = [columns for columns in _sources(series) if columns.count]
    at = [0] * len(sources)
    while True:
        left = [columns.times[i] for columns, i in zip(sources, at) if i < columns.count]
        if not left:
            return
        moment, values = min(left), {}
        for number, columns in enumerate(sources):
            if at[number] < columns.count and columns.times[at[number]] <= moment + _SAME:
                values.update({name: float(columns[name][at[number]]) for name in columns.names})
                at[number] += 1
        yield float(moment), values


def _sources(series: RunSeries) -> tuple[Columns, ...]:
    return series.steps, series.scores, series.machine


def _reported_values(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.7g}"


# --- comparison of two runs -----------------------------------------------------------------------


_COMPARED_SETTINGS = (
    "minutes",
    "epochs",
    "quality",
    "encoder",
    "widths",
    "depth",
    "patch",
    "input_size",
    "scale",
    "batch",
    "optimizer",
    "rate",
    "augment",
    "prune",
    "start_from",
    "weights",
    "seed",
)


@dataclass(frozen=True)
class RunDifference:
    """Difference between two runs.

    kind: "model", "classes", "held_out", "labels", "train" or "recipe"; fields: numbers and names for the message.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunComparison:
    """Result. curves, scores: whether these can share a plot. differences: most important first."""

    curves: bool
    scores: bool
    differences: tuple[RunDifference, ...] = ()


def compare_runs(shown: Run, other: Run) -> RunComparison:
    """Compare two runs. Raises RunBroken if a run cannot be read."""
    return compare(shown.dataset(), other.dataset(), shown.settings(), other.settings())


def compare(
    shown: Dataset, other: Dataset, settings: TrainingSettings, other_settings: TrainingSettings
) -> RunComparison:
    """Compare two runs by their datasets and training settings.

    Losses are comparable for the same kind of model; metrics only for the same validation and test images, labels and
    classes.
    """
    if shown.model != other.model:
        return RunComparison(False, False, (RunDifference("model", {"shown": shown.model, "other": other.model}),))
    held_out = _held_out(shown, other)
    classes = [] if _outputs(shown) == _outputs(other) else [RunDifference("classes")]
    rest = [*_train(shown, other), *_settings(settings, other_settings)]
    return RunComparison(True, not held_out and not classes, (*classes, *held_out, *rest))


def _held_out(shown: Dataset, other: Dataset) -> list[RunDifference]:
    if shown.held_out_hash == other.held_out_hash:
        return []
    shown_items = {item.key: item for item in shown.of("val", "test")}
    other_items = {item.key: item for item in other.of("val", "test")}
    more, fewer = len(shown_items.keys() - other_items.keys()), len(other_items.keys() - shown_items.keys())
    if more or fewer:
        return [
            RunDifference(
                "held_out", {"more": more, "fewer": fewer, "same": len(shown_items.keys() & other_items.keys())}
            )
        ]
    moved = sum(shown_items[key].split != other_items[key].split for key in shown_items)
    if moved:
        return [RunDifference("held_out", {"more": 0, "fewer": moved, "same": len(shown_items) - moved})]
    return [
        RunDifference(
            "labels", {"count": sum(_label(shown_items[key]) != _label(other_items[key]) for key in shown_items)}
        )
    ]


def _train(shown: Dataset, other: Dataset) -> list[RunDifference]:
    shown_items, other_items = ({item.key: item for item in data.of("train")} for data in (shown, other))
    same = shown_items.keys() & other_items.keys()
    fields = {
        "more": len(shown_items.keys() - other_items.keys()),
        "fewer": len(other_items.keys() - shown_items.keys()),
        "changed": sum(_label(shown_items[key]) != _label(other_items[key]) for key in same),
    }
    return [RunDifference("train", fields)] if any(fields.values()) else []


def _settings(shown: TrainingSettings, other: TrainingSettings) -> list[RunDifference]:
    changed = {
        name: (getattr(shown, name), getattr(other, name))
        for name in _COMPARED_SETTINGS
        if getattr(shown, name) != getattr(other, name)
    }
    return [RunDifference("recipe", {"settings": changed})] if changed else []


def _outputs(dataset: Dataset) -> list[Any]:
    return sorted(dataset.verdicts) if dataset.model == "resnet" else sorted(info.id for info in dataset.classes)


def _label(item: Item) -> tuple[str, str | None]:
    return item.mask_hash, item.verdict
