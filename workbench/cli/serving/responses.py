"""Limits of a server, and its responses: JSON, the mask, or the image with the mask drawn on it, or a refusal.

Counters of a server in the text format of Prometheus. Several processes share the cells; each writes one row.
"""

from __future__ import annotations

import base64
import json
import threading
from bisect import bisect_left
from collections.abc import Collection, MutableSequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from workbench.cli.sinks.result_outputs import SINK_NAMES
from workbench.cli.sinks.sink_base import Counts, Record
from workbench.core.evaluation.line_results import OUTCOMES, outcome
from workbench.inference.io.image_io import encode_png
from workbench.inference.model_settings import ModelSettings
from workbench.inference.overlay_drawing import overlay
from workbench.inference.predictor import Prediction

_STATUSES = (200, 400, 401, 403, 404, 405, 406, 408, 413, 415, 421, 422, 431, 499, 500, 503, 504)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_EDGES = (*map(str, _SECONDS), "+Inf")
MAX_HEADER = 64 * 2**10  # bytes of a request
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Name of a metric -> (type, help, label, values of the label). Each value is a cell. Without a type it is not shown.
_METRICS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "workbench_requests_total": ("counter", "Answered requests by status.", "status", (*map(str, _STATUSES), "other")),
    "workbench_predict_seconds": ("histogram", "Duration of prediction requests.", "le", _EDGES),
    "workbench_predict_seconds_sum": ("", "", "", ("",)),
    "workbench_results_total": ("counter", "Images by result, if a verdict is known to be OK.", "result", OUTCOMES),
    "workbench_unlike_total": ("counter", "Images unlike the training images.", "", ("",)),
    "workbench_checked_total": ("counter", "Images compared with the training images.", "", ("",)),
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
_CELLS = [(name, one) for name, (_, _, _, series) in _METRICS.items() for one in series]
_NUMBER = {cell: number for number, cell in enumerate(_CELLS)}
WIDTH = len(_CELLS)


class Counters:
    """Counters of one process. cells: WIDTH numbers per process, shared; None for a single process. row: its row."""

    def __init__(self, cells: MutableSequence[float] | None = None, row: int = 0) -> None:
        self._cells: Any = [0.0] * WIDTH if cells is None else cells
        self._start = row * WIDTH
        self._lock = threading.Lock()
        self._before = list(self._cells[self._start : self._start + WIDTH])  # by a process that this one replaces
        self.set_load(0, 0)  # a process that replaces a dead one has no requests yet

    def count_response(self, status: int) -> None:
        self._add("workbench_requests_total", str(status) if status in _STATUSES else "other")

    def observe_duration(self, seconds: float) -> None:
        """Count the duration of a prediction request, from its arrival to the end of its answer."""
        self._add("workbench_predict_seconds", _EDGES[bisect_left(_SECONDS, seconds)])
        self._add("workbench_predict_seconds_sum", amount=seconds)

    def count_result(self, record: Record) -> None:
        """Count a result as the verb `drift` does, its outcome only if it has one. Called in any thread."""
        checked = record.get("input")
        if "result" in record:
            self._add("workbench_results_total", outcome(record))
        if checked:
            self._add("workbench_checked_total")
            self._add("workbench_unlike_total", amount=not checked["ok"])

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
            unknown = name == "workbench_results_total" and not any(total[name, one] for one in shown)
            if not kind or not shown or unknown:
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
        return "\n".join(lines) + "\n"

    def _set(self, name: str, series: str, value: float) -> None:
        self._cells[self._start + _NUMBER[name, series]] = value

    def _add(self, name: str, series: str = "", amount: float = 1) -> None:
        with self._lock:
            self._cells[self._start + _NUMBER[name, series]] += amount


Form = Literal["json", "mask", "overlay"]
Extra = Literal["mask", "overlay"]

HEADERS = {"Cache-Control": "no-store", "Vary": "Accept"}  # of every prediction
MEDIA_TYPES: dict[Form, str] = {"json": "application/json", "mask": "image/png", "overlay": "image/png"}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one server process.

    threads: images processed at once. bytes: body of one request. pixels: one image. seconds: from the arrival of a
    request to its answer. memory: bytes; a third for the bodies of requests that arrive or wait, the rest for decoded
    images. connections: open at once, and requests that are processed or wait. stall: seconds for the header of a
    request, and between two parts of its body. idle: seconds a connection may stay open between two requests.
    """

    threads: int = 4
    bytes: int = 64 * 2**20
    pixels: int = 100 * 10**6
    seconds: float = 60.0
    memory: int = 1536 * 2**20
    connections: int = 1000
    stall: float = 10.0
    idle: int = 30

    @property
    def body_memory(self) -> int:
        """Bytes of the bodies of requests that arrive or wait: one body fits in any case."""
        return max(self.memory // 3, self.bytes)

    @property
    def image_memory(self) -> int:
        """Bytes of decoded images."""
        return self.memory - self.memory // 3


def choose_form(accept: str | None, overlay_requested: bool) -> Form:
    """Return the form requested by the header Accept. Raises HTTPException 406 if it allows none of the forms."""
    if overlay_requested:
        return "overlay"
    if not accept or not accept.strip():
        return "json"
    best: tuple[float, Form] | None = None
    for part in accept.split(","):
        kind, *words = (word.strip().lower() for word in part.split(";"))
        options = dict(word.partition("=")[::2] for word in words)
        if kind in ("application/json", "application/*", "*/*"):
            form: Form = "json"
        elif kind in ("image/png", "image/*"):
            form = "overlay" if "overlay" in options else "mask"
        else:
            continue
        try:
            weight = float(options.get("q", 1))
        except ValueError:
            continue
        if weight > 0 and (best is None or weight > best[0]):
            best = weight, form
    if best is None:
        raise HTTPException(406, "Request application/json, image/png or image/png;overlay.")
    return best[1]


def write_response(
    image: np.ndarray,
    result: Prediction,
    settings: ModelSettings,
    form: Form,
    *,
    include: Collection[Extra] = (),
    waited: float = 0.0,
) -> bytes:
    """Return the body of the answer. form: must be "json" for a classification. waited: seconds in the queue."""

    def png(name: Extra) -> bytes:
        assert result.mask is not None
        return bytes(encode_png(result.mask if name == "mask" else overlay(image, result.mask, settings)))

    if form != "json":
        return png(form)
    content = {
        "model": settings.name,
        "run": settings.run,
        "size": {"width": image.shape[1], "height": image.shape[0]},
        "um_per_pixel": settings.um_per_pixel,
        **result.to_json(),
        "waited_milliseconds": round(1000 * waited, 3),
    }
    if result.mask is not None:
        content |= {name: base64.b64encode(png(name)).decode() for name in include}
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")


def error_response(error: HTTPException) -> JSONResponse:
    """Return the answer to a refused request: an object that holds one sentence, `detail`."""
    return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)
