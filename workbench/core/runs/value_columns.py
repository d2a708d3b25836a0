"""Columns of values over time that grow while they are recorded, and the choice of the points of a drawn curve."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence

import numpy as np

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
