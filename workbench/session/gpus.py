"""Graphics cards as NVIDIA's management library sees them: the narrow edge to the driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


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


class GpuReader(Protocol):
    def read(self) -> tuple[GpuSample, ...]: ...

    def close(self) -> None: ...


class NoGpu(Exception):
    """Why there are no numbers of a graphics card, as an English sentence without a full stop."""


class NvmlReader:
    """Reads all cards by NVML. Raises NoGpu when it cannot be used."""

    def __init__(self) -> None:
        try:
            import pynvml
        except ImportError as error:
            raise NoGpu("The package nvidia-ml-py is not installed") from error
        self._nvml = pynvml
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            missing = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
            if getattr(error, "value", None) in missing:
                raise NoGpu("No NVIDIA driver found") from error
            raise NoGpu(f"The NVIDIA driver cannot be asked: {error}") from error
        try:
            self._cards = [self._card(i) for i in range(pynvml.nvmlDeviceGetCount())]
        except pynvml.NVMLError as error:
            self.close()
            raise NoGpu(f"The NVIDIA driver cannot be asked: {error}") from error
        if not self._cards:
            self.close()
            raise NoGpu("The NVIDIA driver is here, but no card")

    def read(self) -> tuple[GpuSample, ...]:
        return tuple(self._sample(i, name, handle) for i, (name, handle) in enumerate(self._cards))

    def close(self) -> None:
        try:
            self._nvml.nvmlShutdown()
        except self._nvml.NVMLError:
            return

    def _card(self, index: int) -> tuple[str, Any]:
        handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
        name = self._nvml.nvmlDeviceGetName(handle)
        return (name.decode("utf-8", "replace") if isinstance(name, bytes) else name), handle

    def _sample(self, index: int, name: str, handle: Any) -> GpuSample:
        nvml = self._nvml
        memory = self._ask(nvml.nvmlDeviceGetMemoryInfo, handle)
        rates = self._ask(nvml.nvmlDeviceGetUtilizationRates, handle)
        power = self._ask(nvml.nvmlDeviceGetPowerUsage, handle)
        return GpuSample(
            index=index,
            name=name,
            utilisation=None if rates is None else float(rates.gpu),
            memory_used=None if memory is None else int(memory.used),
            memory_total=None if memory is None else int(memory.total),
            temperature=self._ask(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            power=None if power is None else power / 1000,
            clock=self._ask(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
        )

    def _ask(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Cards differ in what they tell: an unsupported question is no reason to lose the other answers."""
        try:
            return question(*arguments)
        except self._nvml.NVMLError:
            return None
