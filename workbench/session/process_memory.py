"""Return of free memory to the system: a window open for weeks does not keep the memory that a run needed."""

from __future__ import annotations

import ctypes
import sys

_LARGE = 4 << 20  # bytes; smaller blocks are allocated with every frame drawn
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h


def tune_allocator() -> None:
    """Configure the allocator, at the start of a window: on Linux large blocks are mapped separately.

    They return to the system at once when freed. By default the allocator soon takes blocks of up to 32 MB from its
    heap, where a small block above a large free one keeps all of its pages.
    """
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
    except (OSError, AttributeError):
        return  # another C library


def release_free_memory() -> None:
    """Return freed pages to the system, from a worker thread; on Linux the allocator keeps them otherwise."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return  # another C library, which does not keep them
