"""CPU detection: number of usable cores, instruction sets, and environment variables for math libraries.

Settings of the C library's memory allocation, and the return of freed memory to the system. Linux only.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import sys
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # of mallopt, from glibc's malloc.h
_LARGE = 4 << 20  # bytes; smaller blocks are allocated with every frame that a window draws


def keep_freed_memory() -> None:
    """Keep up to 64 MiB of freed memory in this process for the next image.

    By default glibc returns it to the system at once, and obtaining it again page by page takes a quarter of the time
    spent outside the network. All threads share one arena, so that memory freed by one of them is used by the next. The
    settings affect the whole process and hold for threads started later, so only programs of this project may call it,
    before they load a model. Does nothing with other C libraries.
    """
    # 32 MiB is the maximum that glibc accepts.
    _set_options({_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 64 << 20, _ARENA_MAX: 1})


def map_large_blocks() -> None:
    """Map large blocks separately, so that they return to the system at once when freed, as a window needs it.

    By default the allocator soon takes blocks of up to 32 MB from its heap, where a small block above a large free one
    keeps all of its pages. Does nothing with other C libraries.
    """
    _set_options({_MMAP_THRESHOLD: _LARGE})


def release_free_memory() -> None:
    """Return freed pages to the system, after large images or models. Does nothing with other C libraries.

    It takes a while: a window calls it in a worker thread.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return  # another C library, which does not keep them


def _set_options(options: dict[int, int]) -> None:
    """Call mallopt with options of malloc.h and their values."""
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library
    for option, value in options.items():
        mallopt(option, value)


# Arguments of IsProcessorFeaturePresent on Windows, from winnt.h.
_WINDOWS_FEATURES = {"avx2": 40, "avx512f": 41}

# Files with the CPU quota of a container on Linux, in versions 2 and 1 of control groups.
_QUOTAS = (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"))
CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    A job system or a container may grant fewer cores than the machine has; further worker threads would only wait for
    one another.
    """
    if sys.platform == "linux":
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count() or 1
    return max(1, min(available, quota(CGROUP) or available))


def quota(root: Path) -> int | None:
    """Return a container's CPU quota in cores, rounded up; None if unlimited or unknown."""
    for names in _QUOTAS:
        try:
            words = " ".join((root / name).read_text("ascii") for name in names).split()
            if len(words) == 2 and words[0].isdigit():  # else "max", or -1
                return max(1, math.ceil(int(words[0]) / int(words[1])))
        except (OSError, ValueError, ZeroDivisionError):
            continue
    return None


def cpu_environment() -> dict[str, str]:
    """Return environment variables to set before importing Paddle; empty on Intel and unknown CPUs.

    MKL, which Paddle includes, uses its slowest code path on AMD CPUs unless MKL_DEBUG_CPU_TYPE selects another: 7 for
    AVX-512, 5 for AVX2.
    """
    vendor, flags = _processor()
    return environment_for(vendor, flags)


def processor_flags() -> frozenset[str]:
    """Return the CPU's feature flags in Linux notation ("avx2", "avx512_bf16"); empty if unknown.

    On Windows only a few features can be detected.
    """
    return _processor()[1]


def environment_for(vendor: str, flags: frozenset[str]) -> dict[str, str]:
    """Return the environment variables for a CPU. vendor, flags: as in /proc/cpuinfo."""
    if vendor != "AuthenticAMD":
        return {}
    if "avx512f" in flags:
        return {"MKL_DEBUG_CPU_TYPE": "7"}
    if "avx2" in flags:
        return {"MKL_DEBUG_CPU_TYPE": "5"}
    return {}


def _processor() -> tuple[str, frozenset[str]]:
    if sys.platform.startswith("linux"):
        try:
            return parse_cpuinfo(Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"))
        except OSError:
            return "", frozenset()
    if sys.platform == "win32":
        return _windows_processor()
    return "", frozenset()


def parse_cpuinfo(text: str) -> tuple[str, frozenset[str]]:
    """Return vendor and flags of the first CPU in the text of /proc/cpuinfo."""
    vendor, flags = "", frozenset[str]()
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "vendor_id":
            vendor = value.strip()
        elif key.strip() == "flags":
            flags = frozenset(value.split())
        elif not line.strip() and vendor:
            break  # all processors are assumed equal to the first
    return vendor, flags


def _windows_processor() -> tuple[str, frozenset[str]]:
    import ctypes

    vendor = platform.processor().rpartition(",")[2].strip()  # from "AMD64 Family 25 Model 33, AuthenticAMD"
    present = ctypes.windll.kernel32.IsProcessorFeaturePresent  # ty: ignore[missing-attribute]
    return vendor, frozenset(name for name, number in _WINDOWS_FEATURES.items() if present(number))
