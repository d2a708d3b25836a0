"""Identity of a GPU of this process: UUID and PCI bus id, from the CUDA driver."""

from __future__ import annotations

import ctypes
import sys
import uuid

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"


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
