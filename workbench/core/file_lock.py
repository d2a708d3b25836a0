"""Locks on files between processes. `filelock` is imported at the first use, so that the window appears sooner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock


class LockHeld(Exception):
    """Another process holds the lock."""


def file_lock(path: Path) -> BaseFileLock:
    """Return a lock on a file, not acquired yet. It ends with the process, and may be released by another thread."""
    from filelock import FileLock

    return FileLock(path, thread_local=False)


def acquire(lock: BaseFileLock) -> None:
    """Acquire a lock without waiting. Creates its file.

    Raises LockHeld, OSError, and NotImplementedError for a file system without locks.
    """
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise LockHeld(str(error)) from error
