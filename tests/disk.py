"""Small file systems for tests of full disks."""

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
    """Mount a separate file system at `folder`. Skip the test if mounting is impossible (it requires root).

    kilobytes: its size. inodes: the largest number of files and folders; 0 for no limit.
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
    """Fill the disk to the last byte with one file. Return that file."""
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
    """Create empty files until no further one can be created. Return the folder that holds them."""
    ballast = folder / "ballast"
    ballast.mkdir()
    with contextlib.suppress(OSError):
        for number in range(1_000_000):
            (ballast / str(number)).touch()
    return ballast
