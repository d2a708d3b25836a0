"""Opening of untrusted files: only regular files are opened, and headers are read without the rest of the file."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO
from pathlib import Path
from typing import BinaryIO

import numpy as np

from .file_access import patiently

_BLOCK = 1 << 16  # bytes per read of a FileView


class NotRegular(OSError):
    """Pipe, device, socket or folder in place of a file; opening it could block forever."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", str(path))


def require_regular(path: Path | str) -> None:
    """Raise NotRegular unless `path` is a regular file or a link to one; OSError if it cannot be accessed."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NotRegular(path)


def open_regular(path: Path | str) -> FileIO:
    """Open a regular file for reading, following links, without blocking. Raises OSError, including NotRegular."""
    require_regular(path)
    # The file may have been replaced meanwhile: without O_NONBLOCK, opening a pipe blocks until a writer connects.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = patiently(os.open, path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular(path)
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path | str) -> bytes:
    """Return the content of a regular file. Raises OSError."""
    with open_regular(path) as file:
        return file.read()


def load_regular(path: Path | str, limit: int | None = None) -> np.ndarray:
    """Return the content of a regular file as uint8 (n,). Raises OSError, and ValueError beyond `limit` bytes."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if limit is not None and size > limit:
            raise ValueError(f"its {size / 1e6:.0f} MB are over the limit of {limit / 1e6:.0f} MB for a file")
        return np.fromfile(file, np.uint8)


class FileView:
    """Read-only view of an open file with index and slice access like memoryview; only requested blocks are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._start, self._block = 0, b""

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, key: slice | int) -> bytes | int:
        if not isinstance(key, slice):
            data = self._bytes(key, min(key + 1, self._size)) if key >= 0 else b""
            if not data:
                raise IndexError(key)
            return data[0]
        start, stop, _ = key.indices(self._size)
        return self._bytes(start, stop)

    def _bytes(self, start: int, stop: int) -> bytes:
        if not (self._start <= start and stop <= self._start + len(self._block)):
            self._file.seek(start)
            self._start, self._block = start, self._file.read(max(_BLOCK, stop - start))
        return self._block[start - self._start : max(start, stop) - self._start]
