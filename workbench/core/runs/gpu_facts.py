"""NVIDIA GPUs of this machine as the driver describes them (NVML). Creates no CUDA context and needs no Paddle."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.messages import Message

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
        return max(gpus, key=lambda gpu: (gpu.tensor_cores, gpu.memory), default=None)

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
