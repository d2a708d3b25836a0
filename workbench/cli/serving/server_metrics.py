"""Counters of a server in the text format of Prometheus. Several processes share the cells; each writes one row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import MutableSequence
from typing import Any

from workbench.cli.sinks.delivery_queue import Counts
from workbench.cli.sinks.result_outputs import SINK_NAMES

STATUSES = (200, 400, 401, 403, 404, 405, 406, 408, 413, 415, 421, 422, 499, 500, 503, 504)
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Cells of a row. The event loop writes statuses and times, the gauges are written under the queue's lock, calls by the
# network's thread, those of an output under the lock of its queue: no cell has two writers.
_OTHER = len(STATUSES)
_BUCKETS = _OTHER + 1
_SUM = _BUCKETS + len(SECONDS) + 1
_DEPTH, _IN_FLIGHT, _CALLS, _IMAGES = _SUM + 1, _SUM + 2, _SUM + 3, _SUM + 4
_SINKS = _IMAGES + 1  # of each output: whether it is in use, then the counts below
_SINK_COUNTS = (
    ("workbench_sink_sent_total", "counter", "Results delivered to an output.", "sent"),
    ("workbench_sink_failures_total", "counter", "Failed attempts to deliver a result.", "failures"),
    ("workbench_sink_dropped_total", "counter", "Results dropped because the queue of the output was full.", "dropped"),
    ("workbench_sink_unsent", "gauge", "Results waiting for an output.", "unsent"),
)
_SINK_WIDTH = 1 + len(_SINK_COUNTS)
WIDTH = _SINKS + _SINK_WIDTH * len(SINK_NAMES)


class Counters:
    """Counters of one process. cells: WIDTH numbers per process, shared; None for a single process. row: its row."""

    def __init__(self, cells: MutableSequence[float] | None = None, row: int = 0) -> None:
        self._cells: Any = [0.0] * WIDTH if cells is None else cells
        self._start = row * WIDTH
        self._before = list(self._cells[self._start : self._start + WIDTH])  # by a process that this one replaces
        self.set_load(0, 0)  # a process that replaces a dead one has no requests yet

    def count_response(self, status: int) -> None:
        self._add(STATUSES.index(status) if status in STATUSES else _OTHER)

    def observe_duration(self, seconds: float) -> None:
        """Count the duration of a prediction request, from its arrival to the end of its answer."""
        self._add(_BUCKETS + bisect_left(SECONDS, seconds))
        self._add(_SUM, seconds)

    def set_load(self, depth: int, in_flight: int) -> None:
        self._cells[self._start + _DEPTH] = depth
        self._cells[self._start + _IN_FLIGHT] = in_flight

    def count_call(self, images: int) -> None:
        """Count one call of the network with this number of images or tiles."""
        self._add(_CALLS)
        self._add(_IMAGES, images)

    def set_sink(self, name: str, counts: Counts) -> None:
        """Set the counts of an output since the start of this process."""
        cell = _SINKS + _SINK_WIDTH * SINK_NAMES.index(name)
        self._cells[self._start + cell] = 1
        for number, (_, kind, _, field) in enumerate(_SINK_COUNTS, start=cell + 1):
            before = self._before[number] if kind == "counter" else 0
            self._cells[self._start + number] = before + getattr(counts, field)

    def text(self) -> str:
        """Return the sums over all processes in the Prometheus text format."""
        total = [sum(self._cells[cell::WIDTH]) for cell in range(WIDTH)]
        lines = _head("workbench_requests_total", "counter", "Answered requests by status.")
        for status, cell in [*((str(status), cell) for cell, status in enumerate(STATUSES)), ("other", _OTHER)]:
            lines.append(f'workbench_requests_total{{status="{status}"}} {total[cell]:.0f}')
        lines += _head(
            "workbench_rejected_total", "counter", "Requests rejected because the queue was full (status 503)."
        )
        lines.append(f"workbench_rejected_total {total[STATUSES.index(503)]:.0f}")
        lines += _head(
            "workbench_predict_seconds", "histogram", "Duration of prediction requests from arrival to response."
        )
        below = 0.0
        for cell, edge in enumerate([*map(str, SECONDS), "+Inf"]):
            below += total[_BUCKETS + cell]
            lines.append(f'workbench_predict_seconds_bucket{{le="{edge}"}} {below:.0f}')
        lines.append(f"workbench_predict_seconds_sum {total[_SUM]:.6f}")
        lines.append(f"workbench_predict_seconds_count {below:.0f}")
        for name, kind, what, cell in (
            ("workbench_queue_depth", "gauge", "Images waiting for a free thread.", _DEPTH),
            ("workbench_in_flight", "gauge", "Requests received and not answered yet.", _IN_FLIGHT),
            ("workbench_network_calls_total", "counter", "Calls of the network.", _CALLS),
            ("workbench_network_pictures_total", "counter", "Images and tiles in these calls.", _IMAGES),
        ):
            lines += _head(name, kind, what)
            lines.append(f"{name} {total[cell]:.0f}")
        sinks = [(sink, _SINKS + _SINK_WIDTH * number) for number, sink in enumerate(SINK_NAMES)]
        used = [(sink, cell) for sink, cell in sinks if total[cell]]
        for number, (name, kind, what, _) in enumerate(_SINK_COUNTS if used else (), start=1):
            lines += _head(name, kind, what)
            lines += [f'{name}{{sink="{sink}"}} {total[cell + number]:.0f}' for sink, cell in used]
        return "\n".join(lines) + "\n"

    def _add(self, cell: int, amount: float = 1) -> None:
        self._cells[self._start + cell] += amount


def _head(name: str, kind: str, what: str) -> list[str]:
    return [f"# HELP {name} {what}", f"# TYPE {name} {kind}"]
