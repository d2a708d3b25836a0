"""Tuning of the C library's memory allocation for processing many images."""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt, from glibc's malloc.h


def keep_freed_memory() -> None:
    """Keep up to 64 MiB of freed memory in this process for the next image.

    By default glibc returns it to the system at once, and obtaining it again page by page takes a quarter of the time
    spent outside the network. The setting affects the whole process, so only programs of this project may call it. Does
    nothing with other C libraries.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(_MMAP_THRESHOLD, 32 << 20)  # maximum accepted by glibc
    mallopt(_TRIM_THRESHOLD, 64 << 20)


def give_back_memory() -> None:
    """Return freed memory to the system after a large image. Does nothing with other C libraries."""
    if not sys.platform.startswith("linux"):
        return
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return
