"""Folder of an open project: its identity while it is moved or replaced, and its write lock for one process.

The lock is held on a file beside project.json. A lock belongs to a file, not to a path: if the file is deleted and
recreated, another process can lock the new one. `check` detects this. The token in `.cache/holder.json` identifies the
most recent holder, also where file identities are not stable.

A copied folder has the id of its original until it is opened where both are known. In the user's data folder,
`projects/<id>.json` names the folder in which this user last had a project open for writing, and `rescue/*/origin.json`
the folder from which unsaved changes come.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import socket
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_dir

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, CopyOrMoved, ProjectGone, ProjectLocked, ProjectTaken
from workbench.core.project.project_json import ProjectJson
from workbench.core.project.storage import FileLock, LockHeld, check_links, write_json
from workbench.inference.io.file_access import keep_root, read_regular
from workbench.inference.io.json_io import read_object

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
        return read_object(root / HOLDER, limit=_MAX_BYTES).get("token") == self._token

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
    holder = read_object(root / HOLDER, limit=_MAX_BYTES)
    pid, host = holder.get("pid"), holder.get("host")
    if not isinstance(pid, int) or isinstance(pid, bool) or not 0 < pid < 1 << 32:
        pid = "?"
    if not isinstance(host, str) or not 0 < len(host) <= 255 or not host.isprintable():
        host = "?"
    return {"pid": pid, "host": host}


# --- identity -------------------------------------------------------------------------------------


FolderKind = Literal["copy", "moved"]
_ORIGIN = "origin.json"


def rescue_folder() -> Path:
    """Return the folder of all rescue journals of this user."""
    return _data_folder() / "rescue"


@dataclass(frozen=True)
class RescueOrigin:
    """Project whose unsaved changes a rescue journal holds. content: hash of its project.json, which may have no id."""

    folder: Path
    id: str
    path: str
    content: str

    def write(self) -> None:
        """Write it into the folder of the journal. Raises CannotWrite."""
        fields = {"format": 1, "id": self.id, "path": self.path, "content": self.content}
        write_json(self.folder / _ORIGIN, fields)


@dataclass(frozen=True)
class ProjectIdentity:
    """Folder and id of an open project. lock: None if it is not open for writing."""

    root: Path
    id: str
    json: ProjectJson
    lock: ProjectLock | None

    def is_at(self, path: Path | str) -> bool:
        """Return True if `path` leads to this folder."""
        if os.path.realpath(path) == os.path.realpath(self.root):
            return True
        return self.lock is not None and self.lock.is_held_at(Path(path))

    @property
    def earlier_folder(self) -> Path | None:
        """The other folder in which the project was open last; None if it is unknown or this one."""
        path = read_object(self._record).get("path")
        return None if not isinstance(path, str) or self.is_at(path) else Path(path)

    @property
    def moved_from(self) -> Path | None:
        """The folder in which the project was open last, if it does not hold it any more."""
        earlier = self.earlier_folder
        return None if earlier is None or id_of(earlier) == self.id else earlier

    def check(self) -> None:
        """Raise CopyOrMoved unless it is known which folder holds the project.

        It is unknown if the other folder exists too, or if unsaved changes belong to it.
        """
        earlier = self.earlier_folder
        others = [origin.path for origin in self.rescue_origins() if not self.is_at(origin.path)]
        if others:
            raise CopyOrMoved(path=str(self.root), other=others[0], why=Message("identity.unsaved"))
        if earlier is not None and id_of(earlier) == self.id:
            raise CopyOrMoved(path=str(self.root), other=str(earlier), why=Message("identity.both"))

    def remember(self) -> None:
        """Record the folder, as far as possible."""
        if self.json.identified and read_object(self._record).get("path") != str(self.root):
            with contextlib.suppress(CannotWrite, UnicodeEncodeError):
                write_json(self._record, {"format": 1, "path": str(self.root)})

    # --- unsaved changes --------------------------------------------------------------------------

    def origin(self, folder: Path) -> RescueOrigin:
        """Return this project as the origin of a rescue journal."""
        return RescueOrigin(folder, self.id, str(self.root), self._content)

    def rescue_origins(self) -> list[RescueOrigin]:
        """Return those of the project in any folder. Without an id on the disk, the same path or content decides."""
        found = []
        with contextlib.suppress(OSError):
            for folder in sorted(rescue_folder().iterdir()):
                fields = read_object(folder / _ORIGIN)
                values = [fields.get(name) for name in ("id", "path", "content")]
                if not all(isinstance(value, str) for value in values):
                    continue
                origin = RescueOrigin(folder, *map(str, values))
                same = self.is_at(origin.path) or origin.content == self._content
                if origin.id == self.id or (same and not self.json.identified):
                    found.append(origin)
        return found

    def take_changes(self) -> None:
        """Take over unsaved changes of the other folder, as the project was moved here. Raises CannotWrite."""
        for origin in self.rescue_origins():
            replace(origin, id=self.id, path=str(self.root)).write()

    @property
    def _record(self) -> Path:
        return _data_folder() / "projects" / f"{self.id}.json"

    @property
    def _content(self) -> str:
        return hashlib.sha256(self.json.content).hexdigest()


def _data_folder() -> Path:
    return Path(user_data_dir("defect-workbench", appauthor=False))
