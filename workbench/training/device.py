"""Selection of the training device: GPU or CPU, with an explanation if it is unavailable."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

import paddle

from workbench.core.messages import Message
from workbench.core.problems import DeviceMissing
from workbench.core.runs.launch import rank_of_this_process

_SELECTED_GPUS = "FLAGS_selected_gpus"


@dataclass(frozen=True)
class Device:
    """Training device. name: Paddle's name ("cpu", "gpu:0"). capability: of a GPU, e.g. (8, 0); (0, 0) for a CPU."""

    name: str
    title: str = ""
    capability: tuple[int, int] = (0, 0)

    @property
    def is_gpu(self) -> bool:
        return self.name.startswith("gpu")


def choose(request: str) -> Device:
    """Select the device of the training settings and make it Paddle's current one. Raise DeviceMissing.

    `set_device("gpu")` of a GPU build ends the process if there is no GPU, so GPUs are counted first.
    """
    request = check(request)
    number, size = rank_of_this_process()
    if request.startswith("cpu") or (request == "auto" and not count_gpus()):
        paddle.set_device("cpu")
        return Device("cpu" if size == 1 else f"cpu:{size}", processor_name())
    numbers = _numbers(request)
    # The launcher assigns a GPU to each process.
    own_number = numbers[0] if size == 1 else int((os.environ.get(_SELECTED_GPUS) or "0").split(",")[0])
    if own_number >= count_gpus():
        raise DeviceMissing(device=request, why=_missing_gpu_reason(own_number, count_gpus()))
    paddle.set_device(f"gpu:{own_number}")
    capability = paddle.device.cuda.get_device_capability(own_number)
    title = paddle.device.cuda.get_device_name(own_number)
    if size == 1:
        return Device(f"gpu:{own_number}", title, tuple(capability))
    name = request if len(numbers) == size else f"gpu:{own_number}"
    return Device(name, f"{size} × {title}", tuple(capability))


def check(request: str) -> str:
    """Return the requested device in lower case. Raise DeviceMissing if it does not exist on this machine."""
    request = request.strip().lower() or "auto"
    if not re.fullmatch(r"auto|cpu(:[1-9]\d?)?|gpu(:\d+(,\d+)*)?", request):
        why = Message("device.names")
        raise DeviceMissing(device=request, why=why)
    if request.startswith("gpu"):
        gpu_count, numbers = count_gpus(), _numbers(request)
        if len(set(numbers)) < len(numbers):
            raise DeviceMissing(device=request, why=Message("device.duplicate"))
        if max(numbers) >= gpu_count:
            raise DeviceMissing(device=request, why=_missing_gpu_reason(max(numbers), gpu_count))
    return request


def _numbers(request: str) -> list[int]:
    return [int(number) for number in (request.partition(":")[2] or "0").split(",")]


def count_gpus() -> int:
    return paddle.device.cuda.device_count() if paddle.device.is_compiled_with_cuda() else 0


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or "ResourceExhausted" in str(error) or "Out of memory" in str(error)


def release_memory(device: Device) -> None:
    """Release the GPU memory that Paddle has cached."""
    if device.is_gpu:
        paddle.device.cuda.empty_cache()


def processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("ascii", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _missing_gpu_reason(number: int, gpu_count: int) -> str:
    if not paddle.device.is_compiled_with_cuda():
        return Message("device.cpu_paddle")
    if not gpu_count:
        return Message("device.no_gpu")
    return Message("device.no_such_gpu", n=gpu_count, m=number)
