"""Selection of the training device: GPU or CPU, with an explanation if it is unavailable."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import paddle

from workbench.core.messages import Message
from workbench.core.problems import DeviceMissing, Problem
from workbench.core.runs.gpu_facts import training_order
from workbench.core.runs.launch import rank_of_this_process

_SELECTED_GPUS = "FLAGS_selected_gpus"

_PREDICTION_BYTES = 2 << 30  # of a tile of 1,024 pixels in a large UNet in 32 bits, with some to spare

# Texts of Paddle, CUDA, cuDNN and cuBLAS for memory that could not be allocated, in lower case.
_OUT_OF_MEMORY = (
    "out of memory",
    "resourceexhausted",
    "cudaerrormemoryallocation",
    "alloc_failed",
    "allocation_failed",
)
_GPU_FAILURE = re.compile(r"\b(CUDA|CUDNN|CUBLAS|CUSOLVER|NCCL) error ?\(\d+\)[^\n\[]*")


@dataclass(frozen=True)
class Device:
    """Training device. name: Paddle's name ("cpu", "gpu:0"). capability: of a GPU, e.g. (8, 0); (0, 0) for a CPU.

    fault: why a GPU of this machine is not used, although any device was acceptable; "" otherwise.
    uuid: identifier of a GPU, by which its load is found; "" if unknown. memory: bytes of a GPU; 0 if unknown.
    """

    name: str
    title: str = ""
    capability: tuple[int, int] = (0, 0)
    fault: str = ""
    uuid: str = ""
    memory: int = 0

    @property
    def is_gpu(self) -> bool:
        return self.name.startswith("gpu")


def choose(request: str) -> Device:
    """Select the device of the training settings and make it Paddle's current one. Raises DeviceMissing.

    `set_device("gpu")` of a GPU build ends the process if there is no GPU, so GPUs are counted first. "auto" is the CPU
    if no GPU can be used: the driver is too old, or Paddle was built for other GPUs. Of several GPUs, "auto" and "gpu"
    are the largest one that can be used.
    """
    request = check(request)
    number, size = rank_of_this_process()
    if request.startswith("cpu") or (request == "auto" and not count_gpus()):
        return _choose_cpu(size, gpu_fault() if request == "auto" else "")
    numbers = _numbers(request)
    # The launcher assigns a GPU to each process.
    own_number = numbers[0] if size == 1 else int((os.environ.get(_SELECTED_GPUS) or "0").split(",")[0])
    if own_number >= count_gpus():
        raise DeviceMissing(device=request, why=_missing_gpu_reason(own_number, count_gpus()))
    fault, cause = "", None
    for candidate in _largest_first() if size == 1 and request in ("auto", "gpu") else [own_number]:
        try:
            return _choose_gpu(candidate, request if len(numbers) == size else "", size)
        except (OSError, RuntimeError, MemoryError) as error:
            cause = cause or error
            fault = fault or Message("device.gpu_fault", why=first_line(error))
    if request == "auto" and size == 1:
        return _choose_cpu(size, fault)
    raise DeviceMissing(device=request, why=fault) from cause


def _largest_first() -> list[int]:
    """Return the numbers of all GPUs in `training_order`, the preferred one first. Creates no CUDA context."""

    def size(number: int) -> tuple[bool, int]:
        try:
            properties = paddle.device.cuda.get_device_properties(number)
        except (OSError, RuntimeError, ValueError):
            return training_order("", None, 0)
        capability = properties.major, properties.minor
        return training_order(properties.name, capability, int(properties.total_memory))

    return sorted(range(count_gpus()), key=size, reverse=True)


def choose_beside_training() -> Device:
    """Select a GPU with memory left for predictions, else the CPU: a training may hold nearly all of its memory."""
    chosen = choose("auto")
    if chosen.is_gpu:
        with contextlib.suppress(OSError, RuntimeError, ValueError, AttributeError):
            if paddle.cuda.mem_get_info()[0] < _PREDICTION_BYTES:
                return _choose_cpu(1, "")
    return chosen


def _choose_cpu(size: int, fault: str) -> Device:
    paddle.set_device("cpu")
    return Device("cpu" if size == 1 else f"cpu:{size}", processor_name(), fault=fault)


def _choose_gpu(number: int, request: str, size: int) -> Device:
    """Make a GPU the current device and compute one sum there. Raises OSError, RuntimeError, MemoryError."""
    with contextlib.suppress(ValueError, RuntimeError, OSError):
        # Otherwise releasing memory would create a context of some hundred megabytes on every visible GPU.
        paddle.set_flags({_SELECTED_GPUS: str(number)})
    paddle.set_device(f"gpu:{number}")
    if paddle.ones([2]).sum().item() != 2:
        raise RuntimeError("1 + 1 is not 2")  # seen where Paddle was built for other GPUs
    capability = tuple(paddle.device.cuda.get_device_capability(number))
    title = paddle.device.cuda.get_device_name(number)
    own = {"capability": capability, "uuid": gpu_uuid(number), "memory": _total_memory(number)}
    if size == 1:
        return Device(f"gpu:{number}", title, **own)
    return Device(request or f"gpu:{number}", f"{size} × {title}", **own)


def check(request: str) -> str:
    """Return the requested device in lower case. Raises DeviceMissing if it does not exist on this machine."""
    request = request.strip().lower() or "auto"
    if not re.fullmatch(r"auto|cpu(:[1-9]\d?)?|gpu(:\d+(,\d+)*)?", request):
        why = Message("device.names")
        raise DeviceMissing(device=request, why=why)
    if request.startswith("gpu"):
        gpu_count, numbers = count_gpus(), _numbers(request)
        if len(set(numbers)) < len(numbers):
            raise DeviceMissing(device=request, why=Message("device.duplicate"))
        if len(numbers) > 1 and sys.platform == "win32":
            raise DeviceMissing(device=request, why=Message("device.no_nccl"))
        if max(numbers) >= gpu_count:
            raise DeviceMissing(device=request, why=_missing_gpu_reason(max(numbers), gpu_count))
    return request


def _numbers(request: str) -> list[int]:
    return [int(number) for number in (request.partition(":")[2] or "0").split(",")]


def count_gpus() -> int:
    """Return the number of GPUs that Paddle can use: 0 if there is none, or if the driver is missing or too old."""
    try:
        return paddle.device.cuda.device_count() if paddle.device.is_compiled_with_cuda() else 0
    except (OSError, RuntimeError):
        return 0


def gpu_fault() -> str:
    """Return why a GPU build of Paddle cannot count its GPUs; "" if it can, or if there is no GPU build."""
    try:
        if paddle.device.is_compiled_with_cuda():
            paddle.device.cuda.device_count()
    except (OSError, RuntimeError) as error:
        old = "cuda error(35)" in str(error).casefold() or "insufficient" in str(error).casefold()
        return Message("device.old_driver") if old else Message("device.gpu_fault", why=first_line(error))
    return ""


def gpu_uuid(number: int) -> str:
    """Return the identifier of the GPU that CUDA numbers `number`; "" if it cannot be determined.

    NVML counts all GPUs of the machine, CUDA those of CUDA_VISIBLE_DEVICES. The order is the same if CUDA_DEVICE_ORDER
    is PCI_BUS_ID, as in every training process (`core.runs.launch.worker_environment`).
    """
    visible = [entry.strip() for entry in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if entry.strip()]
    entry = visible[number] if number < len(visible) else str(number)
    if not entry.isdecimal():
        return entry
    try:
        import pynvml

        pynvml.nvmlInit()
        try:
            uuid = pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(int(entry)))
        finally:
            pynvml.nvmlShutdown()
    except Exception:  # the package, the driver or the GPU is missing; only displays depend on it
        return ""
    return uuid.decode() if isinstance(uuid, bytes) else str(uuid)


def gpu_uuids(device: Device) -> list[str]:
    """Return the identifiers of all GPUs on which a run trains; empty on a CPU."""
    return [uuid for number in _numbers(device.name) if (uuid := gpu_uuid(number))] if device.is_gpu else []


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if an error means that memory could not be allocated, by Paddle's allocator or by a library.

    False for a `Problem`, whose cause is known: its sentence may mention memory.
    """
    if isinstance(error, Problem):
        return False
    text = str(error).casefold()
    return isinstance(error, MemoryError) or any(part in text for part in _OUT_OF_MEMORY)


def release_memory(device: Device) -> None:
    """Release the GPU memory that Paddle has cached.

    Call outside of the `except` block of an error: its traceback refers to all tensors of the step. A failure is
    ignored, because the memory is needed for other programs only: Paddle itself reuses what it has cached.
    """
    if device.is_gpu:
        with contextlib.suppress(OSError, RuntimeError, MemoryError):
            paddle.device.cuda.empty_cache()


def processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("ascii", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    if sys.platform == "win32":  # platform.processor() names family and model only
        import winreg

        with contextlib.suppress(OSError):
            place = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
                return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()
    return platform.processor() or platform.machine()


def _missing_gpu_reason(number: int, gpu_count: int) -> str:
    if not paddle.device.is_compiled_with_cuda():
        return Message("device.cpu_paddle")
    if not gpu_count:
        return gpu_fault() or Message("device.no_gpu")
    return Message("device.no_such_gpu", n=gpu_count, m=number)


def _total_memory(number: int) -> int:
    try:
        return int(paddle.device.cuda.get_device_properties(number).total_memory)
    except (OSError, RuntimeError, ValueError):
        return 0


def gpu_failure(error: BaseException) -> str:
    """Return a clause with advice if an error means that the GPU or its driver failed; "" for any other error.

    Every later call of CUDA in this process fails too.
    """
    found = _GPU_FAILURE.search(str(error))
    return Message("exit.gpu_failed", why=found.group().strip().rstrip(".")) if found else ""


def first_line(error: BaseException) -> str:
    """Return the line of a Paddle error that states the cause: neither its C++ stack nor the hint that follows it."""
    text = str(error).rpartition("Error Message Summary:")[2]
    lines = [line.strip() for line in text.splitlines() if line.strip() and not set(line.strip()) <= {"-"}]
    cause = next((line for line in lines if re.match(r"\(|\w*Error\b", line)), lines[0] if lines else "")
    return (cause or type(error).__name__)[:200].rstrip(".")
