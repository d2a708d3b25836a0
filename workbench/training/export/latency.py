"""Latency of a network on this machine by engine: measured at export, written to latency.json.

Format 1 of the file:

    machine       {name: value}: system, processor, versions
    usual         [height, width] of the project's usual image
    engines       {name: result of inference.batch.benchmark, or {"error": sentence}}
    dygraph       {"p50_ms", "p95_ms", "network_ms", "calls"}: the network in plain Paddle, for the usual image;
                  {} if not measured
    order         engines in the order in which they are tried
    target_ms     requested time, or null; target_met: true if the first engine reaches it, or null
    note          reason of the order, a sentence
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.messages import Message, with_messages
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.export_options import BENCHMARK_SECONDS, ExportOptions
from workbench.core.runs.launch import benchmark_command
from workbench.inference.batch.benchmark import fit, time_engine
from workbench.inference.engines.registry import KINDS
from workbench.inference.io.image_io import read_image
from workbench.inference.model_settings import EngineOptions, ModelSettings
from workbench.inference.predictor import Engine
from workbench.training.export.export_metadata import environment

LATENCY_FILE = "latency.json"
_SIDES = (512, 2048)  # common sizes for comparison
_MOST_PIXELS = 16_000_000  # limit of the measured image
# Set by the training program for itself; not set where an export runs.
_TRAINING_ONLY = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "KMP_BLOCKTIME")


def sizes_for(usual: tuple[int, int], task: str) -> list[tuple[int, int]]:
    """Return the sizes to measure, (height, width), the usual one first."""
    sides = [(side, side) for side in _SIDES] if task == "segmentation" else []
    return list(dict.fromkeys([usual, *sides]))


def usual_size(sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the size of median area among all images; (height, width) each."""
    fit = [size for size in sizes if size[0] * size[1] <= _MOST_PIXELS] or [(2048, 2048)]
    return sorted(fit, key=lambda size: size[0] * size[1])[len(fit) // 2]


def measure_engines(
    folder: Path,
    names: Sequence[str],
    image: Path,
    sizes: Sequence[tuple[int, int]],
    *,
    seconds: float = BENCHMARK_SECONDS,
    tick: Callable[[], None] = lambda: None,
) -> dict[str, dict[str, Any]]:
    """Return the results of `inference.batch.benchmark` for each engine of the export in `folder`, one child at a time.

    seconds: per engine. tick: called many times per second; may raise to stop.
    """
    results = {}
    for name in names:
        arguments = [
            "--engine",
            name,
            "--picture",
            str(image),
            "--seconds",
            f"{seconds:.3g}",
            "--sizes",
            ",".join(f"{height}x{width}" for height, width in sizes),
        ]
        results[name] = _benchmark(folder, arguments, seconds, tick)
    return results


def _benchmark(folder: Path, arguments: list[str], seconds: float, tick: Callable[[], None]) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if name not in _TRAINING_ONLY}
    limit = 10 * seconds + 60  # an engine that hangs must not block the export
    output = run_captured(benchmark_command(folder, *arguments), seconds=limit, environment=environment, tick=tick)
    if output.returncode is None:
        return with_messages({"error": Message("latency.timeout")})
    try:
        return json.loads(output.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return with_messages({"error": Message("latency.exit_code", n=output.returncode)})


def time_dygraph(settings: ModelSettings, engine: Engine, image: Path, size: tuple[int, int]) -> dict[str, Any]:
    """Measure the reference: the network as trained, in this process."""
    return time_engine(settings, engine, fit(read_image(image), *size), 1.0)


def p50(result: dict[str, Any]) -> float | None:
    """Return milliseconds for the usual image with the chosen number of threads; None if not measured."""
    threads = result.get("tuning", {}).get("threads", 0)
    rows = result.get("rows") or []
    usual = [row for row in rows if (row["height"], row["width"]) == (rows[0]["height"], rows[0]["width"])]
    return next((row.get("p50_ms") for row in usual if row["threads"] == threads), None)


def tunings(results: dict[str, dict[str, Any]]) -> dict[str, EngineOptions]:
    """Return the best tuning of each engine."""
    return {name: EngineOptions.from_json(entry["tuning"]) for name, entry in results.items() if "tuning" in entry}


def order(results: dict[str, dict[str, Any]], target_ms: float | None) -> tuple[list[str], str]:
    """Return the engines, best first, and the reason: the fastest with 32 bits comes first.

    One with fewer bits comes first only if no other reaches the target, or if there is no other.
    """
    times = {name: p50(entry) for name, entry in results.items()}
    ranked = sorted(results, key=lambda name: (times[name] is None, times[name] or 0.0))
    exact = [name for name in ranked if not KINDS[name].reduced]
    reduced = [name for name in ranked if KINDS[name].reduced]
    if not exact:
        return reduced, Message("latency.only_reduced")
    first = exact[0]
    if target_ms is not None and not _reaches(times[first], target_ms):
        quick = [name for name in reduced if _reaches(times[name], target_ms)]
        if quick:
            rest = [name for name in ranked if name != quick[0]]
            return [quick[0], *rest], Message("latency.only_reduced_reaches", engine=quick[0], n=f"{target_ms:g}")
        return [*exact, *reduced], Message("latency.nothing_reaches", n=f"{target_ms:g}", engine=first)
    if reduced:
        return [*exact, *reduced], Message("latency.quickest_32_bits", engine=first)
    return exact, Message("latency.quickest", engine=first)


def _reaches(milliseconds: float | None, target_ms: float) -> bool:
    return milliseconds is not None and milliseconds <= target_ms


@dataclass
class PackageLatency:
    """Engines of an export in the measured order, their tuning, and the content of latency.json."""

    order: tuple[str, ...]
    tunings: dict[str, EngineOptions]
    content: dict[str, Any]


def measure_package(
    folder: Path,
    settings: ModelSettings,
    image: Path,
    usual: tuple[int, int],
    options: ExportOptions,
    tick: Callable[[], None],
) -> PackageLatency:
    """Measure the engines of `settings` on an image. usual: (height, width) of the project's usual image."""
    sizes, target_ms = sizes_for(usual, settings.task), options.target_ms
    measured = measure_engines(folder, list(settings.files), image, sizes, seconds=options.seconds, tick=tick)
    names, note = order(measured, target_ms)
    first = p50(measured[names[0]])
    content = {
        "format": 1,
        "machine": environment(),
        "usual": list(usual),
        "engines": measured,
        "dygraph": {},
        "order": names,
        "target_ms": target_ms,
        "target_met": None if target_ms is None else first is not None and first <= target_ms,
        "note": note,
    }
    tuned = {name: tuning for name, tuning in tunings(measured).items() if name in settings.files}
    return PackageLatency(tuple(names), tuned, with_messages(content))
