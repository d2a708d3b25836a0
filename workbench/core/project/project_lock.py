"""Write lock of a project: one process at a time, held on a file beside project.json.

Earlier versions locked `.cache/lock`. That file is locked too, so that old and new versions exclude each other. A lock
belongs to a file, not to a path: if the file is deleted and recreated, another process can lock the new one. `check`
detects this. The token in `.cache/holder.json` identifies the most recent holder, also where file identities are not
stable.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import stat
from pathlib import Path
from typing import Any

import filelock

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, ProjectLocked, ProjectTaken
from workbench.core.project.storage import write_json

NAME = "project.lock"
_MOST = 10_000  # bytes of holder.json


class ProjectLock:
    """Acquired lock. The constructor raises ProjectLocked or CannotWrite if the lock cannot be acquired."""

    def __init__(self, root: Path) -> None:
        self._root, self._token = root, secrets.token_hex(8)
        self._held: dict[str, tuple[filelock.BaseFileLock, tuple[int, int] | None]] = {}
        try:
            self._acquire(NAME)
            self._acquire_former()
        except filelock.Timeout as error:
            self.release()
            raise ProjectLocked(**_holder(root)) from error
        except OSError as error:
            self.release()
            raise CannotWrite.of(root, error) from error

    def release(self) -> None:
        for lock, _ in self._held.values():
            lock.release()
        self._held.clear()

    def check(self) -> None:
        """Reacquire the lock if its file was deleted. Raises ProjectTaken if another process holds the new file."""
        if all(_identity(self._root / name) == identity for name, (_, identity) in self._held.items()):
            return
        try:
            if _identity(self._root / NAME) != self._held[NAME][1]:
                self._acquire(NAME)
            self._acquire_former()
        except filelock.Timeout as error:
            if self._is_holder(self._root):
                return  # file identity changed on a network drive, or another process acquired only part of the lock
            raise ProjectTaken(path=str(self._root), why=Message("file.locked"), **_holder(self._root)) from error
        except OSError as error:
            raise CannotWrite.of(self._root, error) from error

    def at(self, root: Path) -> ProjectLock:
        """Return this lock if its file was moved to `root`, else a new one. Raises ProjectLocked, CannotWrite."""
        if _identity(root / NAME) != self._held[NAME][1]:
            try:
                return ProjectLock(root)
            except ProjectLocked:
                if not self._is_holder(root):
                    raise
        self._root = root
        return self

    def _is_holder(self, root: Path) -> bool:
        return _read_holder(root).get("token") == self._token

    def _acquire_former(self) -> None:
        former, held = ".cache/lock", self._held.get(".cache/lock")
        if held is not None and _identity(self._root / former) == held[1]:
            return
        (self._root / ".cache").mkdir(exist_ok=True)
        self._acquire(former)
        with contextlib.suppress(CannotWrite):  # the file is only informative
            holder = {"pid": os.getpid(), "host": socket.gethostname(), "token": self._token}
            write_json(self._root / ".cache" / "holder.json", holder)

    def _acquire(self, name: str) -> None:
        path = self._root / name
        lock = filelock.FileLock(path, thread_local=False)
        lock.acquire(timeout=0)
        former = self._held.get(name)
        self._held[name] = (lock, _identity(path))
        if former is not None:
            former[0].release()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _holder(root: Path) -> dict[str, str | int]:
    """Return the process and host in holder.json, "?" for missing or invalid values."""
    found = _read_holder(root)
    pid, host = found.get("pid"), found.get("host")
    plain = isinstance(pid, int) and not isinstance(pid, bool) and 0 < pid < 1 << 32
    named = isinstance(host, str) and 0 < len(host) <= 255 and host.isprintable()
    return {"pid": pid if plain else "?", "host": host if named else "?"}


def _read_holder(root: Path) -> dict[str, Any]:
    """Return the content of holder.json, {} if it is not a JSON object."""
    path = root / ".cache" / "holder.json"
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("no file")
        with path.open("rb") as file:
            found = json.loads(file.read(_MOST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
