"""Memory that is free goes back to the system: a window that is open for weeks does not keep what a run has needed."""

from __future__ import annotations

import ctypes
import sys

_LARGE = 4 << 20  # bytes; what is smaller comes and goes with every frame that is drawn
_MMAP_THRESHOLD = -3  # M_MMAP_THRESHOLD of malloc.h


def keep_apart() -> None:
    """For the start of a window: on Linux large blocks are taken from the system one by one, and go back at once.

    Left to itself the allocator soon takes blocks of up to 32 MB from its heap, where a small one above a large free
    one holds all of its pages.
    """
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)
    except (OSError, AttributeError):
        return  # another C library


def give_back() -> None:
    """For a worker thread: on Linux the allocator keeps freed pages for later until it is told not to."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return  # another C library, which has no such habit
