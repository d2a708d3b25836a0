"""A disk so small that it can be filled."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    """A file system of its own at `folder`; where none can be mounted (only root may) the test is skipped."""
    folder.mkdir()
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux mounts a small disk")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={kilobytes}k".encode()) != 0:
        pytest.skip("mounting a small disk needs root")
    try:
        yield folder
    finally:
        libc.umount2(os.fsencode(folder), 2)


def fill_up(folder: Path) -> Path:
    """Write a file until not a byte more goes onto the disk; that file."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
    return ballast
