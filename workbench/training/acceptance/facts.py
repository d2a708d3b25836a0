"""Facts about the computer, and the identity of the GPU that trains: UUID and PCI bus id, from the CUDA driver."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import time
import uuid
from dataclasses import asdict
from typing import Any

import paddle
import psutil

from workbench import __version__
from workbench.core.problems import BadSettings, Problem
from workbench.core.runs.gpu_facts import GIB, GpuFacts, dotted, read_gpu_facts, same_gpu
from workbench.core.runs.pip_commands import installed_build, mismatch
from workbench.training import device, precision
from workbench.training.acceptance.items import FAIL, NOT_ON_CPU, PASS, Conditions, Outcome

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_FILE_BYTES = 64 << 20


def cuda_identity(number: int) -> tuple[str, str]:
    """Return (UUID, PCI bus id) of the GPU that CUDA counts as `number`, as NVML writes them; "" for unknown ones.

    CUDA's numbers depend on CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, those of the driver do not. For an instance of
    a partitioned GPU the UUID is that of the instance and begins with "MIG-".
    """
    try:
        cuda = ctypes.CDLL(_LIBRARY)
        handle = ctypes.c_int()
        if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(handle), number):
            return "", ""
    except (OSError, AttributeError):
        return "", ""
    return _uuid(cuda, handle), _bus_id(cuda, handle)


def _uuid(cuda: ctypes.CDLL, handle: ctypes.c_int) -> str:
    raw = (ctypes.c_ubyte * 16)()
    for name in ("cuDeviceGetUuid_v2", "cuDeviceGetUuid"):  # only the newer one knows MIG instances
        query = getattr(cuda, name, None)
        if query is not None and not query(ctypes.byref(raw), handle):
            return f"GPU-{uuid.UUID(bytes=bytes(raw))}"
    return ""


def _bus_id(cuda: ctypes.CDLL, handle: ctypes.c_int) -> str:
    text = ctypes.create_string_buffer(32)
    query = getattr(cuda, "cuDeviceGetPCIBusId", None)
    return text.value.decode("ascii", "replace") if query is not None and not query(text, len(text), handle) else ""


def default_type(name: str) -> str:
    """Return the number type in which a device trains by default."""
    return precision.choose("auto", device.choose(name)).name


def unsupported(kind: str, name: str) -> str:
    """Return the reason why a device does not train in a number type, or "". GTX 16 and T1000 compute wrongly."""
    chosen = device.choose(name)
    if kind == "fp32":
        return ""
    if not chosen.is_gpu:
        return NOT_ON_CPU
    default = precision.choose("auto", chosen)
    if default.name == "fp32":
        return f"this GPU trains in fp32: {default.reason}"
    try:
        precision.choose(kind, chosen)
    except BadSettings as problem:
        return str(problem)
    return ""


def collect(conditions: Conditions) -> Outcome:
    """Collect versions and hardware. FAIL if the device cannot be used; `values["unusable"]` is then True."""
    from workbench.training.device_check import examine

    facts, installed = read_gpu_facts(), installed_build()
    values: dict[str, Any] = {
        "workbench": __version__,
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": device.processor_name(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / GIB, 1),
        "disk_mb_s": _disk_speed(conditions),
        "gpus": [asdict(gpu) for gpu in facts.gpus],
        "driver": facts.driver,
        "driver_cuda": dotted(facts.cuda) if facts.cuda else "",
        "no_gpu": facts.reason,
        "visible_devices": facts.visible,
        "environment": {
            name: value for name, value in os.environ.items() if name.startswith(("FLAGS_", "CUDA_", "NVIDIA_"))
        },
        "training": examine(),
    }
    detail = f"{values['processor']}, {values['cores']} cores; PaddlePaddle {paddle.__version__}"
    if not conditions.on_gpu:
        return Outcome(PASS, f"{detail}; rehearsal on the CPU", values)
    try:
        chosen = device.choose(conditions.device)
        paddle.ones([8, 8]).matmul(paddle.ones([8, 8])).numpy()
    except Exception as error:  # no GPU, an old driver, or a build for other GPUs
        why = mismatch(installed, facts) if installed is not None else ""
        reason = str(error) if isinstance(error, Problem) else f"{conditions.device} cannot be used: {error}"
        return Outcome(FAIL, why or reason, {**values, "unusable": True})
    failed = [f"{check['name']}: {check['why']}" for check in values["training"]["checks"] if not check["ok"]]
    detail = f"{chosen.title}; driver {facts.driver}; {detail}"
    return Outcome(FAIL if failed else PASS, "; ".join([detail, *failed]), values)


def check_identity(conditions: Conditions) -> Outcome:
    """Check that the GPU that the training reports, and the window shows, is the one that CUDA computes on."""
    number = int(conditions.device.partition(":")[2] or 0)
    own, reported, facts = cuda_identity(number), device.gpu_uuid(number), read_gpu_facts()
    values = {"cuda": own, "reported": reported, "driver": [[gpu.uuid, gpu.bus_id] for gpu in facts.gpus]}
    if not any(own):
        return Outcome(FAIL, "CUDA reports neither UUID nor PCI bus id", values)
    return assess_identity(own, reported, facts, values)


def assess_identity(own: tuple[str, str], reported: str, facts: GpuFacts, values: dict[str, Any]) -> Outcome:
    """Compare the identity by CUDA, (UUID, bus id), with the UUID that the training reports. MIG instances included."""
    found = [gpu for gpu in facts.gpus if same_gpu((gpu.uuid, gpu.bus_id), own)]
    if len(found) != 1:
        return Outcome(FAIL, f"{len(found)} GPUs of the driver match {own[0] or own[1]}", values)
    if not any(uuid.startswith(reported) for uuid in (found[0].uuid, *found[0].mig) if reported):
        return Outcome(FAIL, f"the training reports {reported or 'no GPU'}, CUDA uses {found[0].uuid}", values)
    return Outcome(PASS, f"the training runs on GPU {found[0].index} of the driver, {found[0].name}", values)


def _disk_speed(conditions: Conditions) -> float:
    """Return the speed of writing a file to the scratch folder, in MB/s."""
    path, block = conditions.folder / "disk-speed.bin", os.urandom(1 << 20)
    began = time.perf_counter()
    with path.open("wb") as file:
        for _ in range((_FILE_BYTES >> 20) // (8 if conditions.reduced else 1)):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    size = path.stat().st_size
    path.unlink()
    return round(size / 1e6 / max(1e-6, time.perf_counter() - began), 1)
