"""Locks on files between processes. `filelock` is imported at the first use, so that the window appears sooner."""

from __future__ import annotations

import errno
import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

UNSUPPORTED = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # errors of file systems without locks


class LockHeld(Exception):
    """Another process holds the lock."""


class FileLock:
    """Lock on the file `path`, not acquired yet. It ends with the process, and may be released by another thread.

    On a file system without locks, a file beside `path` names the process that holds the lock. It is removed when that
    process was one of this computer and has ended.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._mark = path, path.with_name(path.name + ".held")
        self._lock: BaseFileLock | None = None
        self._marked = False

    def acquire(self) -> None:
        """Acquire the lock without waiting. Creates its file. Raises LockHeld, OSError."""
        import filelock

        lock = filelock.FileLock(self._path, thread_local=False, fallback_to_soft=False)
        try:
            lock.acquire(timeout=0)
            self._lock = lock
        except filelock.Timeout as error:
            raise LockHeld(str(error)) from error
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise
            self._write_mark()

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
        if self._marked:
            self._mark.unlink(missing_ok=True)
            self._marked = False

    @property
    def exists(self) -> bool:
        """True if a process holds this lock or has held it."""
        return self._path.exists() or self._mark.exists()

    def _write_mark(self) -> None:
        if self._is_abandoned():
            self._mark.unlink(missing_ok=True)
        try:
            with self._mark.open("x", encoding="utf-8") as file:
                json.dump([socket.gethostname(), os.getpid(), _name_of(os.getpid())], file)
        except FileExistsError as error:
            raise LockHeld(str(self._mark)) from error
        self._marked = True

    def _is_abandoned(self) -> bool:
        """Return True if the mark names a process of this computer that has ended."""
        try:
            host, pid, name = json.loads(self._mark.read_text("utf-8"))
        except (OSError, ValueError, TypeError):
            return False
        return host == socket.gethostname() and type(pid) is int and _name_of(pid) != name


def _name_of(pid: int) -> str:
    """Return the name of a process, which tells it from a later one of the same id; "" if there is none."""
    import psutil

    try:
        return psutil.Process(pid).name()
    except (psutil.Error, ValueError, OverflowError):
        return ""
