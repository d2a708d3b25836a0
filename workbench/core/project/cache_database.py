"""SQLite databases in `.cache`: caches that may be deleted at any time, on file systems with and without locks."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.core import file_lock
from workbench.core.messages import Message
from workbench.core.project.storage import leads_outside
from workbench.core.text_patterns import is_text
from workbench.inference.io import file_access

# SQLite messages for errors of the system, after which the file is kept.
_SYSTEM_ERRORS = ("locked", "busy", "is full", "readonly", "unable to open", "disk I/O", "locking protocol", "denied")


def database_path(root: Path, files: Sequence[str]) -> Path:
    """Return the path of a database in `.cache` with the given file names, the first of which is the database.

    Raises OSError if `.cache` leads out of the project, and sqlite3.DatabaseError if one of the files is a link.
    """
    folder = root / ".cache"
    if leads_outside(root, folder):
        raise OSError(Message("file.link_outside"))
    if any((folder / name).is_symlink() for name in files):
        raise sqlite3.DatabaseError(Message("file.linked"))
    return folder / files[0]


def open_shared(root: Path, files: Sequence[str], timeout: float) -> sqlite3.Connection:
    """Open a database that several threads and processes use. Raises sqlite3.Error, OSError.

    On a file system without locks, or without writing files through to the disk, the database is a copy in memory that
    replaces the file when it is closed.
    """
    path = database_path(root, files)
    path.parent.mkdir(exist_ok=True)
    if _is_limited(root / "project.json"):
        return sqlite3.connect(":memory:", uri=True, factory=_Copy).load(path)
    database = sqlite3.connect(path, timeout=timeout)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")  # lost rows of a cache are simply read again
    except BaseException:
        database.close()
        raise
    return database


@functools.lru_cache(32)
def _is_limited(path: Path) -> bool:
    """Return True if the file `path`, which no part of this process locks, cannot be locked or synchronized."""
    if sys.platform == "win32":
        return False
    import fcntl

    with contextlib.suppress(OSError), path.open("rb") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            os.fsync(file.fileno())
        except OSError as error:
            return error.errno in (*file_lock.UNSUPPORTED, *file_access.UNSUPPORTED)
    return False


class _Copy(sqlite3.Connection):
    _path: Path

    def load(self, path: Path) -> _Copy:
        self._path = path
        with (
            contextlib.suppress(sqlite3.OperationalError),  # no file yet
            contextlib.closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as stored,
        ):
            stored.backup(self)
        return self

    def close(self) -> None:
        temporary = self._path.with_name(f".{secrets.token_hex(8)}.tmp")
        with contextlib.suppress(sqlite3.Error, OSError):
            self.commit()
            self.execute("PRAGMA synchronous=OFF")
            if self.total_changes:
                self.execute("VACUUM INTO ?", (f"{temporary.as_uri()}?nolock=1",))
                for suffix in ("-wal", "-shm"):  # of a computer with locks; they do not belong to the new file
                    self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
                file_access.replace_path(temporary, self._path)
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        super().close()


def is_damage(error: Exception) -> bool:
    """Return True if an error of a database means that its file is damaged, False for an error of the system."""
    return not isinstance(error, OSError) and not any(words in str(error) for words in _SYSTEM_ERRORS)


def remove(root: Path, files: Sequence[str]) -> None:
    """Delete the files of a damaged database as far as possible, but none outside of the project."""
    for name in files if not leads_outside(root, root / ".cache") else ():
        with contextlib.suppress(OSError):
            (root / ".cache" / name).unlink()


def to_column(text: str) -> str | bytes:
    """Return a text as a value that SQLite stores: bytes if it holds a part of a file name that is not UTF-8."""
    return text if is_text(text) else text.encode("utf-8", "surrogatepass")


def from_column(value: str | bytes) -> str:
    """Return the text that was stored by `to_column`. Raises UnicodeDecodeError."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value
