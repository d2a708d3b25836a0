"""How busy a computer is at one moment, and the lines in which a run keeps that beside its events."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class GpuSample:
    """One card now. Shares 0..100 %, bytes, °C, W, MHz; None for what the card does not tell."""

    index: int
    name: str
    utilisation: float | None
    memory_used: int | None
    memory_total: int | None
    temperature: float | None
    power: float | None
    clock: float | None
    memory_reserved: int | None = None  # by the driver itself
    power_limit: float | None = None
    slowed: str = ""  # why it runs slower than it could: "heat" | "power" | ""


@dataclass(frozen=True)
class Sample:
    """time: seconds of time.time(). cpu: 0..100 % of all cores. Memory in bytes."""

    time: float
    cpu: float
    ram_used: int
    ram_total: int
    disk_read_mb_s: float | None = None  # None where the system does not count it
    gpus: tuple[GpuSample, ...] = ()
    reason: str = ""  # why there are no numbers of graphics cards


def encode_sample(run_time: float, sample: Sample) -> str:
    """One line of JSON without the newline. run_time: seconds since the run began, as its events count."""
    return json.dumps({"run_time": round(run_time, 2), **dataclasses.asdict(sample)}, ensure_ascii=False)


def decode_sample(line: str) -> tuple[float, Sample] | None:
    """(run_time, sample) of a line; None for a line that is torn or of another kind."""
    try:
        raw = json.loads(line)
        gpus = tuple(GpuSample(**_known(GpuSample, gpu)) for gpu in raw.get("gpus", ()))
        sample = Sample(**{**_known(Sample, raw), "gpus": gpus})
        numbers = (raw["run_time"], sample.cpu, sample.ram_used, sample.ram_total)
        return (float(numbers[0]), sample) if all(isinstance(n, (int, float)) for n in numbers) else None
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def read_samples(path: Path) -> Iterator[tuple[float, Sample]]:
    """What was kept, oldest first; nothing where nothing was."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                found = decode_sample(line)
                if found is not None:
                    yield found
    except OSError:
        return


def _known(kind: type, raw: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: value for name, value in raw.items() if name in names}
