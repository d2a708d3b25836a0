"""Lock of a run folder: one process at a time trains a run.

The lock is `RUN/.lock`, held by the training process for its whole life. The operating system releases it when the
process ends, however it ends, so a lock never outlives its process. `RUN/.holder.json` names the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.file_lock import FileLock, LockHeld
from workbench.core.problems import CannotWrite, RunInUse
from workbench.core.project.storage import write_json

WAIT_SECONDS = 45.0  # default time to wait for a process that is still saving after its window was closed
_POLL = 0.2  # seconds


class RunLock:
    """Exclusive lock of the run folder `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = FileLock(root / ".lock")

    def acquire(
        self,
        seconds: float,
        *,
        on_wait: Callable[[float], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take the lock, waiting at most `seconds` for another process.

        on_wait: called with the seconds waited so far while another process holds the lock. Raises RunInUse, also if
        `cancelled` returns True while waiting, and CannotWrite.
        """
        began = time.monotonic()
        while not self._try_acquire():
            waited = time.monotonic() - began
            if waited >= seconds or cancelled():
                holder = _holder(self.root)
                raise RunInUse(name=self.root.name, pid=holder.get("pid", "?"), host=holder.get("host", "?"))
            if on_wait is not None:
                on_wait(waited)
            time.sleep(_POLL)
        with contextlib.suppress(CannotWrite):  # the file is only informative; the lock works without it
            write_json(self.root / ".holder.json", {"pid": os.getpid(), "host": socket.gethostname()})

    def release(self) -> None:
        self._lock.release()

    def _try_acquire(self) -> bool:
        try:
            self._lock.acquire()
        except LockHeld:
            return False
        except OSError as error:
            raise CannotWrite.of(self.root / ".lock", error) from error
        return True


def is_training(root: Path) -> bool:
    """Return True if a process, of any computer, holds the lock of the run folder `root`."""
    lock = RunLock(root)
    if not lock._lock.exists:
        return False
    try:
        if lock._try_acquire():
            lock.release()
            return False
    except CannotWrite:
        return False
    return True


def training_process(root: Path) -> int | None:
    """Return the id of the process on this computer that holds the lock of the run folder `root`, or None."""
    if not is_training(root):
        return None
    holder = _holder(root)
    pid = holder.get("pid")
    return pid if isinstance(pid, int) and holder.get("host") == socket.gethostname() else None


def _holder(root: Path) -> dict[str, Any]:
    try:
        holder = json.loads((root / ".holder.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return holder if isinstance(holder, dict) else {}
