"""Stand-in for the NVIDIA driver library pynvml, with GPUs of any kind."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

GIB = 1 << 30


@dataclass(frozen=True)
class StandInGpu:
    name: str
    gib: float = 8
    capability: tuple[int, int] | None = (8, 6)
    uuid: str = "GPU-00000000-0000-0000-0000-000000000001"
    bus_id: str = "00000000:01:00.0"
    mig: tuple[str, ...] | None = None  # UUIDs of instances; None: not partitioned
    lost: bool = False  # has fallen off the bus


class NvmlModule(types.ModuleType):
    """Module `pynvml`. failure: text of the error that nvmlInit raises, "" for a working driver."""

    class NVMLError(Exception):
        value = 0

    def __init__(self, *gpus: StandInGpu, driver: str = "560.94", cuda: int = 12060, failure: str = "") -> None:
        super().__init__("pynvml")
        self.gpus, self.driver, self.cuda, self.failure = gpus, driver, cuda, failure

    def nvmlInit(self) -> None:
        if self.failure:
            raise self.NVMLError(self.failure)

    def nvmlShutdown(self) -> None: ...

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, number: int) -> StandInGpu:
        if self.gpus[number].lost:
            raise self.NVMLError("GPU is lost")
        return self.gpus[number]

    def nvmlDeviceGetName(self, gpu: StandInGpu) -> str:
        return gpu.name

    def nvmlDeviceGetUUID(self, gpu: Any) -> str:
        return gpu if isinstance(gpu, str) else gpu.uuid

    def nvmlDeviceGetPciInfo(self, gpu: StandInGpu) -> Any:
        return types.SimpleNamespace(busId=gpu.bus_id.encode())

    def nvmlDeviceGetMemoryInfo(self, gpu: StandInGpu) -> Any:
        if gpu.mig is not None:
            raise self.NVMLError("Insufficient Permissions")
        return types.SimpleNamespace(total=int(gpu.gib * GIB), used=GIB)

    def nvmlDeviceGetCudaComputeCapability(self, gpu: StandInGpu) -> tuple[int, int]:
        if gpu.capability is None:
            raise self.NVMLError("Not Supported")
        return gpu.capability

    def nvmlDeviceGetMigMode(self, gpu: StandInGpu) -> list[int]:
        if gpu.mig is None:
            raise self.NVMLError("Not Supported")
        return [1, 1]

    def nvmlDeviceGetMaxMigDeviceCount(self, gpu: StandInGpu) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, gpu: StandInGpu, number: int) -> str:
        if gpu.mig is None or number >= len(gpu.mig):
            raise self.NVMLError("Not Found")
        return gpu.mig[number]

    def nvmlSystemGetDriverVersion(self) -> str:
        return self.driver

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        return self.cuda
