"""The numbers of one run over its time: arrays that grow as events come, and the few points of them that are drawn."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence

import numpy as np

from workbench.core.events import Evaluated, Event, Started, Step
from workbench.core.machine import Sample

MOST = 1600  # points of a drawn curve
_BLOCK = 128  # values whose extremes are remembered, so that a million points are not searched for each frame
STEP_VALUES = ("loss", "rate", "grad_norm", "loss_scale", "images_per_second", "data_wait")
GPU_VALUES = ("load", "used", "reserved", "total", "temperature", "power", "clock")
GB = 1024**3

Points = tuple[np.ndarray, np.ndarray]


class Columns:
    """Named values over one time (float64), in arrays that grow by doubling. A value may be missing."""

    def __init__(self, names: Sequence[str], kind: type = np.float32) -> None:
        self.names = list(names)
        self._known = set(names)
        self.present: set[str] = set()  # names that have ever had a value
        self.count = 0
        self._last = -math.inf
        self._times = np.empty(256)
        self._values = np.full((len(self.names), 256), np.nan, kind)
        # Where the least and the greatest value of each full block stand.
        self._peaks = np.empty((len(self.names), 2, 2), np.int64)

    @property
    def times(self) -> np.ndarray:
        return self._times[: self.count]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[self.names.index(name), : self.count]

    def add(self, time: float, values: Mapping[str, float | None]) -> None:
        """Values at a time that is not before the last one; a name that is new begins here."""
        for name in values.keys() - self._known:
            self._add_name(name)
        if self.count == len(self._times):
            self._times = np.concatenate((self._times, np.empty_like(self._times)))
            self._values = np.concatenate((self._values, np.full_like(self._values, np.nan)), axis=1)
            self._peaks = np.concatenate((self._peaks, np.empty_like(self._peaks)), axis=1)
        at = self.count
        self._last = self._times[at] = max(time, self._last)
        row = [values.get(name) for name in self.names]
        self._values[:, at] = [math.nan if value is None else value for value in row]
        if len(self.present) < len(self.names):
            found = zip(self.names, row)
            self.present.update(name for name, value in found if value is not None and math.isfinite(value))
        self.count += 1
        if self.count % _BLOCK == 0:
            self._peaks[:, at // _BLOCK] = _peaks(self._values[:, at + 1 - _BLOCK : at + 1], at + 1 - _BLOCK)

    def newest(self) -> np.ndarray:
        """The last values of all names; zeros before the first."""
        return self._values[:, self.count - 1] if self.count else np.zeros(len(self.names))

    def cut(self, time: float) -> None:
        """Forget what is later: a run was resumed from an earlier moment."""
        self.count = int(np.searchsorted(self.times, time, side="right"))
        self._last = float(self._times[self.count - 1]) if self.count else -math.inf

    def at(self, name: str, time: float) -> float:
        """The newest value that was there at a time; NaN if there was none."""
        last = bisect.bisect_right(self._times, time, 0, self.count)
        for index in range(last - 1, max(-1, last - 50), -1):
            value = float(self._values[self.names.index(name), index])
            if not math.isnan(value):
                return value
        return math.nan

    def indexes(self, name: str, first: float, last: float, most: int = MOST) -> np.ndarray:
        """Which values to draw between two times: at most about `most`, with every peak, and a neighbour outside."""
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
        more = np.full((1, self._values.shape[1]), np.nan, self._values.dtype)
        self._values = np.concatenate((self._values, more))
        starts = np.arange(self._peaks.shape[1])[None, :, None] * _BLOCK
        self._peaks = np.concatenate((self._peaks, np.broadcast_to(starts, (1, *self._peaks.shape[1:]))))


def _peaks(values: np.ndarray, first: int) -> np.ndarray:
    low = np.where(np.isnan(values), np.inf, values).argmin(1)
    high = np.where(np.isnan(values), -np.inf, values).argmax(1)
    return np.stack((low, high), 1) + first


def thinned(values: np.ndarray, indexes: np.ndarray, most: int = MOST) -> np.ndarray:
    """At most about `most` of the indexes, in order: the ends, and of each stretch its least and greatest value."""
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


class Track:
    """What a run reported and what the machine did meanwhile. `hear` events in their order; `see` samples."""

    def __init__(self) -> None:
        self.begun: Started | None = None
        self.steps = Columns(STEP_VALUES)
        self.scores = Columns(("score",))
        self.machine = Columns(("cpu", "ram", "ram_total", "disk"))
        self.best: tuple[float, float] | None = None  # time, score
        self.skips: list[float] = []  # times at which steps were found to have been skipped
        self.cards: list[str] = []  # names of the graphics cards that were seen
        self.no_cards = ""  # why there are none
        self.last = 0.0  # seconds
        self._skipped = 0
        self._sums = Columns(("sum", "count"), np.float64)  # of the losses up to each step
        self._sum, self._finite = 0.0, 0

    # --- facts -----------------------------------------------------------------------------------

    def hear(self, event: Event) -> None:
        if isinstance(event, Started):
            self._begin(event)
        elif isinstance(event, Step):
            self.steps.add(event.time, {name: getattr(event, name) for name in STEP_VALUES})
            if math.isfinite(event.loss):
                self._sum += event.loss
                self._finite += 1
            self._sums.add(event.time, {"sum": self._sum, "count": self._finite})
            if event.skipped > self._skipped:
                self.skips.append(event.time)
            self._skipped = event.skipped
        elif isinstance(event, Evaluated) and event.split == "val" and event.score is not None:
            self.scores.add(event.time, {"score": event.score})
            if event.best:
                self.best = event.time, event.score
        self.last = max(self.last, event.time)

    def see(self, time: float, sample: Sample) -> None:
        """time: seconds of the run."""
        if self.machine.count and time < self.machine.times[-1] - 5:
            self.machine.cut(time)  # a run that was resumed from an earlier moment
        values: dict[str, float | None] = {
            "cpu": sample.cpu, "ram": sample.ram_used / GB, "ram_total": sample.ram_total / GB,
            "disk": sample.disk_read_mb_s,
        }  # fmt: skip
        for gpu in sample.gpus:
            told = (
                gpu.utilisation, _gb(gpu.memory_used), _gb(gpu.memory_reserved), _gb(gpu.memory_total),
                gpu.temperature, gpu.power, gpu.clock,
            )  # fmt: skip
            values.update({f"{name} {gpu.index}": value for name, value in zip(GPU_VALUES, told)})
            while len(self.cards) <= gpu.index:
                self.cards.append("")
            self.cards[gpu.index] = gpu.name
        self.no_cards = sample.reason
        self.machine.add(time, values)
        self.last = max(self.last, time)

    def _begin(self, event: Started) -> None:
        """Also of a further sitting: what came after the moment that it goes on from was lost."""
        self.begun = event
        if event.resumed:
            for columns in (self.steps, self.scores, self.machine, self._sums):
                columns.cut(event.time)
            self._sum, self._finite = (float(v) for v in self._sums.newest())
            self.skips = [time for time in self.skips if time <= event.time]
            self.last = min(self.last, event.time)

    # --- what is drawn ---------------------------------------------------------------------------

    def source(self, name: str) -> Columns:
        """The columns that hold the values of this name."""
        if name == "score":
            return self.scores
        return self.steps if name in STEP_VALUES else self.machine

    def has(self, name: str) -> bool:
        """Whether there is any value of this name."""
        return name in self.source(name).present

    def points(self, name: str, first: float = -math.inf, last: float = math.inf, most: int = MOST) -> Points:
        """Times and values to draw between two times; none where the name is unknown."""
        source = self.source(name)
        if name not in source:
            return np.empty(0), np.empty(0, np.float32)
        at = source.indexes(name, first, last, most)
        return source.times[at], source[name][at]

    def smoothed(self, first: float = -math.inf, last: float = math.inf, most: int = MOST) -> Points:
        """The loss as the mean over the last 2 % of the steps (5 at least), looking back only."""
        at = self.steps.indexes("loss", first, last, most)
        at = at[:: -(-len(at) // (most // 2))] if len(at) > most // 2 else at
        reach = max(5, self.steps.count // 50)
        return self.steps.times[at], self._mean(at, reach)

    def at(self, name: str, time: float) -> float:
        """The value at a time; NaN if there was none. "smoothed" is a name here, too."""
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
