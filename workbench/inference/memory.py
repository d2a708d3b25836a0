"""Memory for one picture after another."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt, from glibc's malloc.h


def keep_freed_memory() -> None:
    """Let this process keep what it has freed, up to 64 MiB, for the next picture.

    glibc gives it back to the system at once, and fetching it again page by page takes a quarter of the time that is
    spent outside of the network. For programs of our own only: it holds for all that a process does. Nothing happens
    where the C library is another one.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_MMAP_THRESHOLD, 32 << 20)  # the most that glibc accepts
    mallopt(_TRIM_THRESHOLD, 64 << 20)


def give_back_memory() -> None:
    """Return freed memory to the system after a large picture. Does nothing where the C library is another one."""
    if not sys.platform.startswith("linux"):
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return
