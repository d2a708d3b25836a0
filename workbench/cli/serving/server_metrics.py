"""Counters of a server in the text format of Prometheus. Several processes share the cells; each writes one row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import MutableSequence
from itertools import accumulate
from typing import Any

from workbench.cli.sinks.delivery_queue import Counts
from workbench.cli.sinks.result_outputs import SINK_NAMES

_STATUSES = (200, 400, 401, 403, 404, 405, 406, 408, 413, 415, 421, 422, 431, 499, 500, 503, 504)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_EDGES = (*map(str, _SECONDS), "+Inf")
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Name of a metric -> (type, help, label, values of the label). Each value is a cell. Without a type it is not shown.
_METRICS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "workbench_requests_total": ("counter", "Answered requests by status.", "status", (*map(str, _STATUSES), "other")),
    "workbench_predict_seconds": ("histogram", "Duration of prediction requests.", "le", _EDGES),
    "workbench_predict_seconds_sum": ("", "", "", ("",)),
    "workbench_queue_depth": ("gauge", "Images waiting for a free thread.", "", ("",)),
    "workbench_in_flight": ("gauge", "Requests received and not answered yet.", "", ("",)),
    "workbench_network_calls_total": ("counter", "Calls of the network.", "", ("",)),
    "workbench_network_pictures_total": ("counter", "Images and tiles in these calls.", "", ("",)),
    "workbench_sink": ("", "1 for an output in use", "sink", SINK_NAMES),
    "workbench_sink_sent_total": ("counter", "Results delivered to an output.", "sink", SINK_NAMES),
    "workbench_sink_failures_total": ("counter", "Failed attempts to deliver a result.", "sink", SINK_NAMES),
    "workbench_sink_dropped_total": ("counter", "Results dropped by a full queue of an output.", "sink", SINK_NAMES),
    "workbench_sink_unsent": ("gauge", "Results waiting for an output.", "sink", SINK_NAMES),
}
# No cell has two writers: the event loop writes statuses and times, a lock protects the others.
_CELLS = [(name, one) for name, (_, _, _, series) in _METRICS.items() for one in series]
_NUMBER = {cell: number for number, cell in enumerate(_CELLS)}
WIDTH = len(_CELLS)


class Counters:
    """Counters of one process. cells: WIDTH numbers per process, shared; None for a single process. row: its row."""

    def __init__(self, cells: MutableSequence[float] | None = None, row: int = 0) -> None:
        self._cells: Any = [0.0] * WIDTH if cells is None else cells
        self._start = row * WIDTH
        self._before = list(self._cells[self._start : self._start + WIDTH])  # by a process that this one replaces
        self.set_load(0, 0)  # a process that replaces a dead one has no requests yet

    def count_response(self, status: int) -> None:
        self._add("workbench_requests_total", str(status) if status in _STATUSES else "other")

    def observe_duration(self, seconds: float) -> None:
        """Count the duration of a prediction request, from its arrival to the end of its answer."""
        self._add("workbench_predict_seconds", _EDGES[bisect_left(_SECONDS, seconds)])
        self._add("workbench_predict_seconds_sum", amount=seconds)

    def set_load(self, depth: int, in_flight: int) -> None:
        self._set("workbench_queue_depth", "", depth)
        self._set("workbench_in_flight", "", in_flight)

    def count_call(self, images: int) -> None:
        """Count one call of the network with this number of images or tiles."""
        self._add("workbench_network_calls_total")
        self._add("workbench_network_pictures_total", amount=images)

    def set_sink(self, sink: str, counts: Counts) -> None:
        """Set the counts of an output since the start of this process."""
        self._set("workbench_sink", sink, 1)
        self._set("workbench_sink_unsent", sink, counts.unsent)
        for field in ("sent", "failures", "dropped"):
            name = f"workbench_sink_{field}_total"
            self._set(name, sink, self._before[_NUMBER[name, sink]] + getattr(counts, field))

    def text(self) -> str:
        """Return the sums over all processes in the Prometheus text format."""
        total = {cell: sum(self._cells[number::WIDTH]) for number, cell in enumerate(_CELLS)}
        lines: list[str] = []
        for name, (kind, what, label, series) in _METRICS.items():
            shown = [one for one in series if label != "sink" or total["workbench_sink", one]]
            if not kind or not shown:
                continue
            lines += [f"# HELP {name} {what}", f"# TYPE {name} {kind}"]
            if kind == "histogram":
                below = list(accumulate(total[name, edge] for edge in series))
                lines += [f'{name}_bucket{{le="{edge}"}} {count:.0f}' for edge, count in zip(series, below)]
                lines += [f"{name}_sum {total[f'{name}_sum', '']:.6f}", f"{name}_count {below[-1]:.0f}"]
                continue
            for one in shown:
                labels = f'{{{label}="{one}"}}' if label else ""
                lines.append(f"{name}{labels} {total[name, one]:.0f}")
        lines += [
            "# HELP workbench_rejected_total Requests refused because of the load.",
            "# TYPE workbench_rejected_total counter",
        ]
        lines.append(f"workbench_rejected_total {total['workbench_requests_total', '503']:.0f}")
        return "\n".join(lines) + "\n"

    def _set(self, name: str, series: str, value: float) -> None:
        self._cells[self._start + _NUMBER[name, series]] = value

    def _add(self, name: str, series: str = "", amount: float = 1) -> None:
        self._cells[self._start + _NUMBER[name, series]] += amount
