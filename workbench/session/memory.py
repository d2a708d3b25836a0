"""Memory that is free goes back to the system: a window that is open for weeks does not keep what a run has needed."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """For a worker thread: on Linux the allocator keeps freed pages for later until it is told not to."""
    if sys.platform != "linux":
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return  # another C library, which has no such habit

