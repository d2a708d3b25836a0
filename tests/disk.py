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
def small_disk(folder: Path, kilobytes: int, *, inodes: int = 0) -> Iterator[Path]:
    """A file system of its own at `folder`; where none can be mounted (only root may) the test is skipped.

    inodes: the largest number of files and folders; 0 for no limit.
    """
    folder.mkdir()
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux mounts a small disk")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, f"size={kilobytes}k,nr_inodes={inodes}".encode()) != 0:
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


def use_up_inodes(folder: Path) -> Path:
    """Make empty files until no further one can be made; the folder that holds them."""
    ballast = folder / "ballast"
    ballast.mkdir()
    with contextlib.suppress(OSError):
        for number in range(1_000_000):
            (ballast / str(number)).touch()
    return ballast
