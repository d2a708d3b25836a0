"""NVIDIA GPUs of this machine as the driver describes them (NVML). Creates no CUDA context and needs no Paddle.

Load of the computer at one moment, and the lines in which a run stores load samples beside its events.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from workbench.core.json_files import to_dataclass
from workbench.core.messages import Message
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
    selected = [uuid for uuid in uuids.split(",") if uuid]
    if selected:
        return tuple(gpu for gpu in gpus if any(own.startswith(w) for w in selected for own in (gpu.uuid, *gpu.mig)))
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


GIB = 2**30
_VISIBLE = "CUDA_VISIBLE_DEVICES"
GPU_FP16, _BF16 = (7, 0), (8, 0)  # least compute capabilities of mixed precision
# Of capability 7.5, as the RTX 20 series; many of them return NaN from convolutions in 16 bits.
_WITHOUT_TENSOR_CORES = re.compile(
    r"\bGTX 16\d\d\b|\bMX[45]50\b|\bT(400E?|500|550|600|1000|1200|2000)\b|\bCMP 30HX\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Gpu:
    """One GPU. index: number in PCI order, as nvidia-smi counts. memory: bytes. mig: UUIDs of its MIG instances.

    capability: compute capability, e.g. (8, 6); None if the driver does not report it.
    """

    index: int
    name: str
    memory: int = 0
    capability: tuple[int, int] | None = None
    uuid: str = ""
    bus_id: str = ""
    mig: tuple[str, ...] = ()
    mig_enabled: bool = False

    @property
    def tensor_cores(self) -> bool:
        """True if 16-bit products are faster."""
        return self.capability is not None and has_tensor_cores(self.name, self.capability)

    @property
    def precisions(self) -> tuple[str, ...]:
        """Number types that training can use on this GPU, the default one first."""
        if not self.tensor_cores:
            return ("fp32",)
        bf16 = self.capability is not None and self.capability >= _BF16
        return ("fp16", "bf16", "fp32") if bf16 else ("fp16", "fp32")

    def __str__(self) -> str:
        memory = f", {self.memory / GIB:.0f} GiB" if self.memory else ""
        capability = f", compute capability {dotted(self.capability)}" if self.capability else ""
        return f"{self.name}{memory}{capability}"


@dataclass(frozen=True)
class GpuFacts:
    """All GPUs of a machine. system: as platform.system(). cuda: newest CUDA version that the driver supports.

    reason: clause that explains why there is no GPU; "" if there is one. visible: value of CUDA_VISIBLE_DEVICES. lost:
    number and error of each GPU that does not respond, while others do.
    """

    system: str
    gpus: tuple[Gpu, ...] = ()
    driver: str = ""
    cuda: tuple[int, int] | None = None
    reason: str = ""
    visible: str | None = None
    lost: tuple[tuple[int, str], ...] = ()

    @property
    def usable(self) -> tuple[Gpu, ...]:
        """GPUs that CUDA programs see, in the order in which they number them."""
        return visible_gpus(self.gpus, self.visible)

    @property
    def main(self) -> Gpu | None:
        """GPU on which training runs unless another one is chosen; None without any GPU."""
        gpus = self.usable or self.gpus
        return max(gpus, key=lambda gpu: training_order(gpu.name, gpu.capability, gpu.memory), default=None)

    @property
    def main_number(self) -> int:
        """Number of the main GPU in CUDA programs, 0 without one."""
        return next((number for number, gpu in enumerate(self.usable) if gpu is self.main), 0)

    @property
    def broken(self) -> bool:
        """True if there is a driver that does not respond."""
        return getattr(self.reason, "id", "") == "device.driver_fault"

    @property
    def hidden(self) -> bool:
        """True if there are GPUs, but CUDA_VISIBLE_DEVICES hides all of them."""
        return bool(self.gpus) and not self.usable


def training_order(name: str, capability: tuple[int, int] | None, memory: int) -> tuple[bool, int]:
    """Return the sort key of a GPU for training: tensor cores, then memory in bytes.

    The greatest is preferred: the first GPU may be a small one for the screen.
    """
    return capability is not None and has_tensor_cores(name, capability), memory


def has_tensor_cores(name: str, capability: tuple[int, int]) -> bool:
    """Return True if a GPU multiplies 16-bit numbers faster than others. name: that of the driver or of CUDA."""
    return capability >= GPU_FP16 and _WITHOUT_TENSOR_CORES.search(name) is None


def dotted(version: tuple[int, ...] | None) -> str:
    """Return a version as text, such as "12.6"; "unknown" for None."""
    return "unknown" if version is None else ".".join(map(str, version))


def read_gpu_facts(environment: Mapping[str, str] | None = None) -> GpuFacts:
    """Query the driver. Never raises: without a usable driver the facts hold the reason."""
    visible = (os.environ if environment is None else environment).get(_VISIBLE)
    system = platform.system()
    try:
        import pynvml

        pynvml.nvmlInit()
    except ImportError:
        return GpuFacts(system, reason=Message("device.no_nvml"), visible=visible)
    except Exception as error:  # no library, no kernel module, or a broken installation of the driver
        return GpuFacts(system, reason=_driver_reason(error), visible=visible)
    try:
        gpus, lost = [], []
        for number in range(pynvml.nvmlDeviceGetCount()):
            try:
                gpus.append(_read_gpu(pynvml, number))
            except pynvml.NVMLError as error:  # it has fallen off the bus, or its power supply has failed
                lost.append((number, str(error)))
        reason = "" if gpus else Message("device.driver_without_gpu")
        if lost and not gpus:
            reason = Message("device.driver_fault", why=lost[0][1])
        driver = _text(pynvml.nvmlSystemGetDriverVersion())
        return GpuFacts(system, tuple(gpus), driver, _driver_cuda(pynvml), reason, visible, tuple(lost))
    except Exception as error:
        return GpuFacts(system, reason=Message("device.driver_fault", why=str(error)), visible=visible)
    finally:
        with contextlib.suppress(Exception):  # the driver may have ended meanwhile
            pynvml.nvmlShutdown()


def visible_gpus(gpus: tuple[Gpu, ...], visible: str | None) -> tuple[Gpu, ...]:
    """Return the GPUs that CUDA_VISIBLE_DEVICES selects, in its order; all if it is not set.

    Entries are numbers in PCI order, beginnings of UUIDs, or UUIDs of MIG instances. As in CUDA, an entry that names no
    GPU hides itself and all entries after it.
    """
    if visible is None:
        return gpus
    selected: list[Gpu] = []
    for entry in visible.split(","):
        found = _named(gpus, entry.strip())
        if found is None or (found in selected and not entry.strip().startswith("MIG-")):
            break
        if found not in selected:
            selected.append(found)
    return tuple(selected)


def same_gpu(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return True if two pairs (UUID, PCI bus id) belong to one GPU. Empty texts match nothing.

    The UUID of a MIG instance differs from that of its GPU; their bus ids are equal.
    """
    uuids, buses = {one[0].lower(), other[0].lower()}, {normal_bus_id(one[1]), normal_bus_id(other[1])}
    return (len(uuids) == 1 and "" not in uuids) or (len(buses) == 1 and "" not in buses)


def normal_bus_id(bus_id: str) -> str:
    """Return a PCI bus id with a domain of four digits: CUDA writes "0000:01:00.0", NVML "00000000:01:00.0"."""
    domain, colon, rest = bus_id.strip().lower().partition(":")
    return f"{domain[-4:].rjust(4, '0')}:{rest}" if colon else ""


def _named(gpus: tuple[Gpu, ...], entry: str) -> Gpu | None:
    if entry.isdecimal():
        return next((gpu for gpu in gpus if gpu.index == int(entry)), None)
    if entry.startswith("MIG-"):
        return next((gpu for gpu in gpus if any(uuid.startswith(entry) for uuid in gpu.mig)), None)
    matching = [gpu for gpu in gpus if entry.startswith("GPU-") and gpu.uuid.startswith(entry)]
    return matching[0] if len(matching) == 1 else None


def _read_gpu(nvml: Any, number: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(number)

    def query(name: str, default: Any) -> Any:
        try:
            return getattr(nvml, name)(handle)
        except Exception:  # not supported by this GPU, this driver, or this version of the package
            return default

    capability = query("nvmlDeviceGetCudaComputeCapability", None)
    memory, pci = query("nvmlDeviceGetMemoryInfo", None), query("nvmlDeviceGetPciInfo", None)
    mode = query("nvmlDeviceGetMigMode", (0, 0))
    enabled = bool(mode[0])
    return Gpu(
        index=number,
        name=_text(nvml.nvmlDeviceGetName(handle)),
        memory=0 if memory is None else int(memory.total),
        capability=None if capability is None else (int(capability[0]), int(capability[1])),
        uuid=_text(query("nvmlDeviceGetUUID", "")),
        bus_id="" if pci is None else _text(pci.busId),
        mig=mig_instances(nvml, handle) if enabled else (),
        mig_enabled=enabled,
    )


def mig_instances(nvml: Any, handle: Any) -> tuple[str, ...]:
    """Return the UUIDs of the instances of a partitioned GPU. nvml: the module pynvml, initialized."""
    found = []
    try:
        for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
            try:
                instance = nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
                found.append(_text(nvml.nvmlDeviceGetUUID(instance)))
            except nvml.NVMLError:  # no instance has this number
                continue
    except Exception:
        return tuple(found)
    return tuple(found)


def _driver_cuda(nvml: Any) -> tuple[int, int] | None:
    try:
        number = int(nvml.nvmlSystemGetCudaDriverVersion_v2())
    except Exception:
        return None
    return number // 1000, number % 1000 // 10


def _driver_reason(error: Exception) -> str:
    text = str(error)
    if "Library Not Found" in text or "Driver Not Loaded" in text:
        return Message("device.no_driver")
    return Message("device.driver_fault", why=text)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
