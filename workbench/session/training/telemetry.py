"""Machine load: CPU, memory, disk and NVIDIA GPUs, sampled once a second in a separate thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import QObject, QThread, Signal

from workbench.core.messages import Message
from workbench.core.runs.gpu_facts import GpuSample, SystemSample, mig_instances
from workbench.session.error_log import log_error
from workbench.session.tasks import call_at_end


class GpuReader(Protocol):
    def read(self) -> tuple[GpuSample, ...]: ...

    def close(self) -> None: ...


class NoGpu(Exception):
    """Reason for missing GPU measurements, a message."""


class NvmlReader:
    """Reader of all GPUs by NVML. Raises NoGpu if NVML cannot be used."""

    def __init__(self) -> None:
        try:
            import pynvml
        except ImportError as error:
            raise NoGpu(Message("device.no_nvml")) from error
        self._nvml = pynvml
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            missing = (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED)
            if getattr(error, "value", None) in missing:
                raise NoGpu(Message("device.no_driver")) from error
            raise NoGpu(_driver_fault(error)) from error
        self._gpus: dict[int, tuple[str, str, list[str], Any]] = {}
        reason = Message("device.driver_without_gpu")
        try:
            for number in range(pynvml.nvmlDeviceGetCount()):
                try:
                    self._gpus[number] = self._open(number)
                except pynvml.NVMLError as error:  # a lost GPU does not affect the others
                    reason = _driver_fault(error)
        except pynvml.NVMLError as error:
            reason = _driver_fault(error)
        if not self._gpus:
            self.close()
            raise NoGpu(reason)

    def read(self) -> tuple[GpuSample, ...]:
        return tuple(self._sample(number, *gpu) for number, gpu in self._gpus.items())

    def close(self) -> None:
        try:
            self._nvml.nvmlShutdown()
        except self._nvml.NVMLError:
            return

    def _open(self, index: int) -> tuple[str, str, list[str], Any]:
        """Return name, UUID, UUIDs of MIG instances, and handle of a GPU."""
        handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = _text(self._query_newer("nvmlDeviceGetUUID", handle) or "")
        partitioned = (self._query_newer("nvmlDeviceGetMigMode", handle) or (0,))[0]
        mig = list(mig_instances(self._nvml, handle)) if partitioned else []
        return _text(self._nvml.nvmlDeviceGetName(handle)), uuid, mig, handle

    def _sample(self, index: int, name: str, uuid: str, mig: list[str], handle: Any) -> GpuSample:
        nvml = self._nvml
        memory = self._memory(handle)
        rates = self._query(nvml.nvmlDeviceGetUtilizationRates, handle)
        power = self._query(nvml.nvmlDeviceGetPowerUsage, handle)
        limit = self._query_newer("nvmlDeviceGetEnforcedPowerLimit", handle)
        reserved = getattr(memory, "reserved", None)
        return GpuSample(
            index=index,
            name=name,
            utilisation=None if rates is None else float(rates.gpu),
            memory_used=None if memory is None else int(memory.used),
            memory_total=None if memory is None else int(memory.total),
            temperature=self._query(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
            power=None if power is None else power / 1000,
            clock=self._query(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM),
            memory_reserved=None if reserved is None else int(reserved),
            power_limit=None if limit is None else limit / 1000,
            slowed=self._slowed(handle),
            uuid=uuid,
            mig=mig,
        )

    def _memory(self, handle: Any) -> Any:
        """Return the memory information; newer libraries report the memory reserved by the driver separately."""
        version = getattr(self._nvml, "nvmlMemory_v2", None)
        memory = None if version is None else self._query(self._nvml.nvmlDeviceGetMemoryInfo, handle, version)
        return self._query(self._nvml.nvmlDeviceGetMemoryInfo, handle) if memory is None else memory

    def _slowed(self, handle: Any) -> str:
        reasons = self._query_newer("nvmlDeviceGetCurrentClocksThrottleReasons", handle)
        if not reasons:
            return ""
        nvml = self._nvml
        heat = nvml.nvmlClocksThrottleReasonHwThermalSlowdown | nvml.nvmlClocksThrottleReasonSwThermalSlowdown
        power = nvml.nvmlClocksThrottleReasonSwPowerCap | nvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown
        return "heat" if reasons & heat else "power" if reasons & power else ""

    def _query_newer(self, name: str, *arguments: Any) -> Any:
        """Query a function that older versions of the library lack; None without it."""
        function = getattr(self._nvml, name, None)
        return None if function is None else self._query(function, *arguments)

    def _query(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Query NVML; None if the GPU does not support the query, so that other values are still reported."""
        try:
            return function(*arguments)
        except self._nvml.NVMLError:
            return None


def _driver_fault(error: Exception) -> Message:
    return Message("device.driver_fault", why=str(error))


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


class TelemetryThread(QThread):
    """Thread that emits a SystemSample every `interval` seconds until `stop`.

    open_gpus: creates the GPU reader, or raises NoGpu.
    """

    sampled = Signal(object)  # SystemSample

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        interval: float = 1.0,
        open_gpus: Callable[[], GpuReader] = NvmlReader,
    ) -> None:
        super().__init__(parent)
        self._interval = interval
        self._open_gpus = open_gpus
        self._stop = threading.Event()
        call_at_end(self.stop)

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        self.wait()

    def run(self) -> None:
        import psutil

        reader, reason = self._reader()
        try:
            psutil.cpu_percent()  # the first value has no reference interval
            read, then = _bytes_read(), time.monotonic()
            while not self._stop.wait(self._interval):
                gpus, reason = _read_gpus(reader, reason)
                now_read, now = _bytes_read(), time.monotonic()
                speed = None if read is None or now_read is None else (now_read - read) / (now - then) / 1e6
                read, then = now_read, now
                memory = psutil.virtual_memory()
                self.sampled.emit(
                    SystemSample(
                        time=time.time(),
                        cpu=psutil.cpu_percent(),
                        ram_used=memory.total - memory.available,
                        ram_total=memory.total,
                        disk_read_mb_s=speed,
                        gpus=gpus,
                        reason=reason,
                    )
                )
        except OSError as error:  # the system does not report its load, as in a container without /proc
            log_error(error)
        finally:
            if reader is not None:
                reader.close()

    def _reader(self) -> tuple[GpuReader | None, str]:
        try:
            return self._open_gpus(), ""
        except NoGpu as error:
            return None, error.args[0]
        except Exception as error:  # a broken driver must not affect the other values
            return None, _driver_fault(error)


def _read_gpus(reader: GpuReader | None, reason: str) -> tuple[tuple[GpuSample, ...], str]:
    if reader is None:
        return (), reason
    try:
        return reader.read(), ""
    except Exception as error:  # a GPU that dropped off the bus may come back
        return (), _driver_fault(error)


def _bytes_read() -> int | None:
    import psutil

    try:
        counters = psutil.disk_io_counters()
    except (OSError, RuntimeError, ValueError):
        return None
    return None if counters is None else counters.read_bytes
