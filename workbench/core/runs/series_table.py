"""CSV table of the values of runs: one row per time, one column per value, empty where not measured."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator, Sequence

from workbench.core.runs.run_series import Columns, RunSeries
from workbench.inference.text_safety import csv_cell

_SAME = 1e-6  # seconds


def table(runs: Sequence[tuple[str, RunSeries]]) -> bytes:
    """Return UTF-8 with a byte order mark, as required by Excel. runs: (name, track)."""
    names = list(dict.fromkeys(name for _, track in runs for columns in _sources(track) for name in columns.names))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["run", "seconds", *map(csv_cell, names)])
    for run, track in runs:
        for number, (moment, values) in enumerate(moments(track)):
            writer.writerow([csv_cell(run), f"{moment:.3f}", *(_reported_values(values.get(name)) for name in names)])
            if number % 200 == 0:
                time.sleep(0.0002)  # give the GUI thread time, since this runs in a worker thread
    return text.getvalue().encode("utf-8-sig")


def moments(track: RunSeries) -> Iterator[tuple[float, dict[str, float]]]:
    """Yield the times of a run in order with the values measured at each."""
    sources = [columns for columns in _sources(track) if columns.count]
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


def _sources(track: RunSeries) -> tuple[Columns, ...]:
    return track.steps, track.scores, track.machine


def _reported_values(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.7g}"
