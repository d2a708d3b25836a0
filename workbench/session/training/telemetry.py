"""Machine load: CPU, memory, disk and GPUs, sampled once a second in a separate thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import psutil
from PySide6.QtCore import QCoreApplication, QObject, QThread, Signal

from workbench.core.runs.system_stats import GpuSample, SystemSample
from workbench.session.training.gpu_readers import GpuReader, NoGpu, NvmlReader

__all__ = ["GpuSample", "SystemSample", "TelemetryThread"]


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
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.stop)

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        self.wait()

    def run(self) -> None:
        reader, reason = self._reader()
        psutil.cpu_percent()  # the first value has no reference interval
        read, then = _bytes_read(), time.monotonic()
        try:
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
        finally:
            if reader is not None:
                reader.close()

    def _reader(self) -> tuple[GpuReader | None, str]:
        try:
            return self._open_gpus(), ""
        except NoGpu as error:
            return None, str(error)
        except Exception as error:  # a broken driver must not affect the other values
            return None, f"The NVIDIA driver cannot be asked: {error}"


def _read_gpus(reader: GpuReader | None, reason: str) -> tuple[tuple[GpuSample, ...], str]:
    if reader is None:
        return (), reason
    try:
        return reader.read(), ""
    except Exception as error:  # a GPU that dropped off the bus may come back
        return (), f"The NVIDIA driver cannot be asked: {error}"


def _bytes_read() -> int | None:
    try:
        counters = psutil.disk_io_counters()
    except (OSError, RuntimeError, ValueError):
        return None
    return None if counters is None else counters.read_bytes
