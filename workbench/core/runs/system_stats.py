"""Load of the computer at one moment, and the lines in which a run stores load samples beside its events."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import Field

from workbench.core.json_files import to_dataclass
from workbench.inference.io.json_io import parse_json, read_lines

MOST_GPUS = 256


@dataclass(frozen=True)
class GpuSample:
    """Load of one GPU: shares 0..100 %, bytes, °C, W, MHz; None for values that the GPU does not report."""

    index: Annotated[int, Field(ge=0, lt=MOST_GPUS)]
    name: str
    utilisation: float | None
    memory_used: int | None
    memory_total: int | None
    temperature: float | None
    power: float | None
    clock: float | None
    memory_reserved: int | None = None  # by the driver itself
    power_limit: float | None = None
    slowed: str = ""  # reason for a reduced clock: "heat" | "power" | ""
    uuid: str = ""
    mig: list[str] = field(default_factory=list)  # UUIDs of its MIG instances


@dataclass(frozen=True)
class SystemSample:
    """Load of the computer. time: seconds of time.time(). cpu: 0..100 % of all cores. Memory in bytes."""

    time: float
    cpu: float
    ram_used: int
    ram_total: int
    disk_read_mb_s: float | None = None  # None if the system does not count it
    gpus: tuple[GpuSample, ...] = ()
    reason: str = ""  # reason for missing GPU values


@dataclass(frozen=True)
class _Moment:
    """Time of a sample line, in seconds since the run began."""

    run_time: Annotated[float, Field(ge=-1e10, le=1e10)]


def training_gpus(gpus: Sequence[GpuSample], uuids: str, device: str) -> tuple[GpuSample, ...]:
    """Return the samples of the GPUs that train; none for a run on the CPU.

    uuids: UUIDs or their beginnings, of GPUs or MIG instances, joined by commas, as reported by the training. The
    driver and CUDA may number GPUs differently, so `device` ("gpu:1") counts only if they are unknown.
    """
    kind, _, numbers = device.partition(":")
    if kind != "gpu":
        return ()
    wanted = [uuid for uuid in uuids.split(",") if uuid]
    if wanted:
        return tuple(gpu for gpu in gpus if any(own.startswith(w) for w in wanted for own in (gpu.uuid, *gpu.mig)))
    indexes = [int(number) for number in numbers.split(",") if number.isdecimal()] or [0]
    return tuple(gpu for gpu in gpus if gpu.index in indexes)


def encode_sample(run_time: float, sample: SystemSample) -> str:
    """Encode one line of JSON without the newline. run_time: seconds since the run began, as in its events."""
    return json.dumps({"run_time": round(run_time, 2), **dataclasses.asdict(sample)}, ensure_ascii=False)


def decode_sample(line: str) -> tuple[float, SystemSample] | None:
    """Return (run_time, sample) of a line; None for a line that is incomplete or has values of other types."""
    try:
        raw = parse_json(line, finite=True)
        gpus = tuple(to_dataclass(GpuSample, gpu) for gpu in raw.pop("gpus", ()))
        sample = dataclasses.replace(to_dataclass(SystemSample, raw), gpus=gpus)
        return to_dataclass(_Moment, raw).run_time, sample
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def read_samples(path: Path) -> Iterator[tuple[float, SystemSample]]:
    """Yield the stored samples, oldest first; none if there is no file."""
    try:
        for _, line in read_lines(path):
            found = decode_sample(line.decode("utf-8", "replace"))
            if found is not None:
                yield found
    except OSError:
        return
