"""Folder of an open project: its identity while it is moved or replaced, and its write lock for one process.

The lock is held on a file beside project.json. A lock belongs to a file, not to a path: if the file is deleted and
recreated, another process can lock the new one. `check` detects this. The token in `.cache/holder.json` identifies the
most recent holder, also where file identities are not stable.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import stat
import threading
from pathlib import Path
from typing import Any

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, ProjectGone, ProjectLocked, ProjectTaken
from workbench.core.project.project_json import ProjectJson
from workbench.core.project.storage import FileLock, LockHeld, check_links, write_json
from workbench.inference.io.file_access import keep_root, open_file, read_regular

State = tuple[tuple[int, int], tuple[int, int, int]]


class ProjectFolder:
    """Folder of an open project, recognized by its identity on the disk and by the id in project.json."""

    def __init__(self, root: Path, id: str, json: ProjectJson) -> None:
        self._root, self._id, self._json = root, id, json
        self._mutex = threading.Lock()
        self._state = _state(root)
        keep_root(root)

    def check(self) -> None:
        """Raise ProjectGone if the project is no longer there. Two calls of `stat` if nothing has changed."""
        try:
            state = _state(self._root)
        except OSError as error:
            raise ProjectGone.of(self._root, error) from error
        if state == self._state:
            return
        with self._mutex:
            same = state[0] == self._state[0] and id_of(self._root) in ("", self._id)
            if not same and not self.matches(self._root):
                raise ProjectGone(path=str(self._root), why=Message("file.another_folder"))
            self._state = state

    def matches(self, root: Path) -> bool:
        """Return True if `root` is the same folder after a move or its project.json has the same id.

        Without an id, project.json must have the same content.
        """
        id = id_of(root)
        if id:
            return id == self._id
        try:
            same = _state(root)[0] == self._state[0]
        except OSError:
            return False
        return same or _read(root) == self._json.content


def id_of(root: Path) -> str:
    """Return the id in the project.json of a folder, "" if there is none."""
    try:
        fields: Any = json.loads(_read(root))
    except (ValueError, RecursionError):
        return ""
    id = fields.get("id") if isinstance(fields, dict) else None
    return id if isinstance(id, str) else ""


def _state(root: Path) -> State:
    folder, file = os.stat(root), os.stat(root / "project.json")
    return (folder.st_dev, folder.st_ino), (file.st_ino, file.st_size, file.st_mtime_ns)


def _read(root: Path) -> bytes:
    try:
        return read_regular(root / "project.json")
    except OSError:
        return b""


NAME, HOLDER = "project.lock", ".cache/holder.json"
_MAX_BYTES = 10_000  # bytes of holder.json


class ProjectLock:
    """Acquired lock. The constructor raises ProjectLocked or CannotWrite if the lock cannot be acquired."""

    def __init__(self, root: Path) -> None:
        self._root, self._token = root, secrets.token_hex(8)
        self._lock: FileLock | None = None
        self._identity: tuple[int, int] | None = None
        try:
            self._acquire()
        except LockHeld as error:
            raise ProjectLocked(**_holder(root)) from error
        except OSError as error:
            self.release()
            raise CannotWrite.of(root, error) from error
        except CannotWrite:
            self.release()
            raise

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def check(self) -> None:
        """Reacquire the lock if its file was deleted. Raises ProjectTaken if another process holds the new file."""
        try:
            if _identity(self._root / NAME) != self._identity:
                self._acquire()
            elif not (self._root / HOLDER).exists():
                self._write_holder()
        except LockHeld as error:
            if self.is_held_at(self._root):
                return  # file identity changed on a network drive, or another process acquired only part of the lock
            raise ProjectTaken(path=str(self._root), why=Message("file.locked"), **_holder(self._root)) from error
        except OSError as error:
            raise CannotWrite.of(self._root, error) from error

    def move_to(self, root: Path) -> ProjectLock:
        """Return this lock if its file was moved to `root`, else a new one. Raises ProjectLocked, CannotWrite."""
        if _identity(root / NAME) != self._identity:
            try:
                return ProjectLock(root)
            except ProjectLocked:
                if not self.is_held_at(root):
                    raise
        self._root = root
        return self

    def is_held_at(self, root: Path) -> bool:
        """Return True if `root` leads to the folder that this lock protects, whatever its path or file identity."""
        return _read_holder(root).get("token") == self._token

    def _acquire(self) -> None:
        path, former = self._root / NAME, self._lock
        lock = FileLock(path)
        lock.acquire()
        self._lock, self._identity = lock, _identity(path)
        if former is not None:
            former.release()
        self._write_holder()

    def _write_holder(self) -> None:
        path = self._root / HOLDER
        check_links(self._root, path)
        with contextlib.suppress(CannotWrite):  # the file is only informative
            write_json(path, {"pid": os.getpid(), "host": socket.gethostname(), "token": self._token})


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_dev, state.st_ino


def _holder(root: Path) -> dict[str, str | int]:
    """Return the process and host in holder.json, "?" for missing or invalid values."""
    holder = _read_holder(root)
    pid, host = holder.get("pid"), holder.get("host")
    if not isinstance(pid, int) or isinstance(pid, bool) or not 0 < pid < 1 << 32:
        pid = "?"
    if not isinstance(host, str) or not 0 < len(host) <= 255 or not host.isprintable():
        host = "?"
    return {"pid": pid, "host": host}


def _read_holder(root: Path) -> dict[str, Any]:
    """Return the content of holder.json, {} if it is not a JSON object."""
    path = root / HOLDER
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("no file")
        with open_file(path) as file:
            content = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
