"""Settings of the C library's memory allocation, and the return of freed memory to the system. Linux only."""

from __future__ import annotations

import ctypes
import sys

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
