"""Measure the prediction time of one engine on this machine and print it as one JSON object.

Each engine is measured in a separate process, so that loaded libraries and warm caches do not affect another engine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..cpu_environment import keep_freed_memory
from ..engines import EngineError, load_engine
from ..io.image_io import ReadError, read_image
from ..model_settings import MODEL_FILE, EngineOptions, ModelSettings, SettingsError, load_settings
from ..predictor import Predictor

MAX_CALLS = 40
_MIN_GAIN = 0.93  # relative time; smaller gains count as noise
# Tried in order, each in addition to the changes accepted so far.
_CHANGES: dict[str, list[dict[str, Any]]] = {
    "onnx": [{"spin": False}, {"threads": 1}, {"optimise": "extended"}, {"arena": False}],
    "int8": [{"spin": False}, {"threads": 1}, {"arena": False}],
    "openvino": [{"threads": 1}],
    "paddle": [{"threads": 1}],
    "legacy": [{"threads": 1}],
    "bf16": [{"threads": 1}],
}


class _TimedEngine:
    """Engine wrapper that accumulates the time of its calls."""

    def __init__(self, engine: Any) -> None:
        self._engine, self.seconds = engine, 0.0

    def __call__(self, batch: np.ndarray) -> np.ndarray:
        started = time.perf_counter()
        output = self._engine(batch)
        self.seconds += time.perf_counter() - started
        return output


def main(argv: Sequence[str], folder: Path | str) -> int:
    """Measure the model in `folder`. Return the exit status: 0, or 1 after printing {"error": a sentence}."""
    options = _parse(argv)
    keep_freed_memory()  # as in predict.py
    try:
        report = measure(Path(folder), options.engine, options.picture, options.sizes, options.seconds)
    except (SettingsError, EngineError, ReadError, MemoryError) as error:
        sys.stdout.write(json.dumps({"error": str(error) or type(error).__name__}) + "\n")
        return 1
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


def measure(folder: Path, engine: str, image: Path, sizes: Sequence[tuple[int, int]], seconds: float) -> dict[str, Any]:
    """Return the times of an engine for images of several sizes.

    image: file that is repeated or cropped to each size.
    sizes: (height, width); the first is the usual one.
    seconds: time budget.

    Returns {"engine", "device", "load_ms", "memory_mb", "tuning", "tried": [{"tuning", "p50_ms"}], "rows": [{"height",
    "width", "threads", "p50_ms", "p95_ms", "network_ms", "calls"}]}. The first entry of tried is the library's default.
    A size that would take too long has "why" instead of times. memory_mb: peak memory of the process after the usual
    size; None if unavailable.
    """
    settings = load_settings(folder / MODEL_FILE)
    pixels = read_image(image)
    resized = fit(pixels, *sizes[0])
    started = time.perf_counter()
    loaded = load_engine(engine, folder, _with_options(settings, engine, EngineOptions()), None)
    load_ms = 1000 * (time.perf_counter() - started)
    first = time_engine(settings, loaded, resized, seconds / 8)
    memory = _peak_memory()
    tried = [{"tuning": asdict(EngineOptions()), "p50_ms": first["p50_ms"]}]
    device = getattr(loaded, "device", "cpu")
    del loaded
    tuning = _tune(folder, settings, engine, resized, tried, seconds / 3)
    rows = _measure_sizes(folder, settings, engine, tuning, pixels, sizes, seconds / 2)
    return {
        "engine": engine,
        "device": device,
        "load_ms": round(load_ms, 1),
        "memory_mb": memory,
        "tuning": asdict(tuning),
        "tried": tried,
        "rows": rows,
    }


def fit(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the image repeated or cropped to a size, so that texture and defects keep their size."""
    repeats = (-(-height // image.shape[0]), -(-width // image.shape[1]), 1)[: image.ndim]
    return np.ascontiguousarray(np.tile(image, repeats)[:height, :width])


def time_calls(predict: Any, seconds: float) -> list[float]:
    """Return the seconds of each call after one warm-up call: as many as fit, at least 2, at most MOST_CALLS."""
    deadline = time.perf_counter() + seconds
    predict()
    durations: list[float] = []
    while len(durations) < 2 or (len(durations) < MAX_CALLS and time.perf_counter() < deadline):
        started = time.perf_counter()
        predict()
        durations.append(time.perf_counter() - started)
    return durations


def time_engine(settings: ModelSettings, engine: Any, image: np.ndarray, seconds: float) -> dict[str, Any]:
    """Return {"p50_ms", "p95_ms", "network_ms", "calls"} of complete predictions of an image.

    network_ms: median time spent in the engine.
    """
    timed = _TimedEngine(engine)
    predictor = Predictor(settings, timed)
    network_seconds: list[float] = []  # engine time of each call in seconds, including the warm-up call

    def predict() -> None:
        previous = timed.seconds
        predictor.predict(image)
        network_seconds.append(timed.seconds - previous)

    durations = time_calls(predict, seconds)
    p50, p95 = (1000 * np.percentile(durations, (50, 95))).round(2).tolist()
    network = round(1000 * float(np.median(network_seconds[1:])), 2)
    return {"p50_ms": p50, "p95_ms": p95, "network_ms": network, "calls": len(durations)}


def _tune(
    folder: Path, settings: ModelSettings, engine: str, image: np.ndarray, tried: list[dict[str, Any]], seconds: float
) -> EngineOptions:
    changes = _CHANGES.get(engine, [])
    best, fastest = EngineOptions(), tried[0]["p50_ms"]
    for change in changes:
        tuning = replace(best, **change)
        loaded = load_engine(engine, folder, _with_options(settings, engine, tuning), None)
        p50 = time_engine(settings, loaded, image, seconds / len(changes))["p50_ms"]
        tried.append({"tuning": asdict(tuning), "p50_ms": p50})
        if p50 < _MIN_GAIN * fastest:
            best, fastest = tuning, p50
    return best


def _measure_sizes(
    folder: Path,
    settings: ModelSettings,
    engine: str,
    tuning: EngineOptions,
    pixels: np.ndarray,
    sizes: Sequence[tuple[int, int]],
    seconds: float,
) -> list[dict[str, Any]]:
    rows = []
    share = seconds / (2 * len(sizes))
    for threads in (0, 1):
        loaded = load_engine(engine, folder, _with_options(settings, engine, tuning), threads)
        pixel_ms = 0.0
        for height, width in sizes:
            row: dict[str, Any] = {"height": height, "width": width, "threads": threads}
            expected = pixel_ms * height * width / 1000
            if 3 * expected > 2 * share:
                rows.append({**row, "why": f"three calls would take about {3 * expected:.0f} seconds"})
                continue
            row.update(time_engine(settings, loaded, fit(pixels, height, width), share))
            rows.append(row)
            pixel_ms = row["p50_ms"] / (height * width)
        del loaded
    return rows


def _with_options(settings: ModelSettings, engine: str, tuning: EngineOptions) -> ModelSettings:
    return replace(settings, engines={**settings.engines, engine: tuning})


def _peak_memory() -> float | None:
    """Return the peak memory of the process in megabytes of 2**20 bytes, or None if unavailable."""
    try:
        # Not getrusage, which on Linux reports the parent's value if that was greater.
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024, 1)
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="measure", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", required=True)
    parser.add_argument("--picture", type=Path, required=True)
    parser.add_argument("--sizes", type=_sizes, required=True, metavar="HxW,HxW")
    parser.add_argument("--seconds", type=float, default=6.0)
    return parser.parse_args(argv)


def _sizes(text: str) -> list[tuple[int, int]]:
    return [(int(height), int(width)) for height, _, width in (part.partition("x") for part in text.split(","))]
