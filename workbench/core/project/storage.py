"""File writing: atomic and only inside the project, and removal of the temporary files that killed writes, exports and
imports have left.

SQLite databases in `.cache`: caches that may be deleted at any time, on file systems with and without locks.

Locks on files between processes. `filelock` is imported at the first use, so that the window appears sooner.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, LinkOutsideFolder, ProjectBroken
from workbench.core.text_patterns import free_path, is_text
from workbench.inference.io import file_access

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

        def acquire() -> None:
            try:
                lock.acquire(timeout=0)
            except filelock.Timeout as error:
                if file_access.PAUSES:  # Windows: a program that only reads the file can be the reason
                    with contextlib.suppress(FileNotFoundError):
                        self._path.open("rb").close()
                raise LockHeld(str(error)) from error

        try:
            file_access.patiently(acquire)
            self._lock = lock
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


# Folders written under the project lock only. Runs belong to their training process, which may outlive the window.
_FOLDERS = ("masks", "notes", "proposals", "pictures", "journal")
LABEL_FILES = (("masks", ".png"), ("notes", ".json"), ("proposals", ".json"))  # of an image: folder, suffix
_LOCK = ".lock"
KEPT_COPIES, KEPT_BYTES = 20, 256 << 20  # of one file in `journal/kept`
_UNFINISHED = re.compile(r"\..{1,80}\.[0-9a-f]{8}\.part")
_UNPACKED = re.compile(r"import-\w+")


def backup_conflict(root: Path, stem: str, data: bytes, suffix: str) -> Path:
    """Write a file to `journal/kept` of a project, unless it is there already, and return its path.

    Of the copies with this stem, the latest KEPT_COPIES remain, and fewer if they have more than KEPT_BYTES together.
    Raises CannotWrite.
    """
    copies = _copies(root, stem, suffix)
    with contextlib.suppress(OSError):
        for copy, size in copies:
            if size == len(data) and file_access.read_regular(copy) == data:
                return copy
    path = unused_backup_path(root, stem, suffix)
    write_bytes(path, data, root=root)
    nbytes = len(data)
    for number, (copy, size) in enumerate(copies, 2):
        nbytes += size
        if number > KEPT_COPIES or nbytes > KEPT_BYTES:
            with contextlib.suppress(OSError):
                file_access.remove_file(copy)
    return path


def _copies(root: Path, stem: str, suffix: str) -> list[tuple[Path, int]]:
    """Return the copies with a stem in `journal/kept` and their sizes in bytes, the latest first."""
    name = re.compile(rf"\d{{8}}-\d{{6}}-{re.escape(stem)}(-\d+)?{re.escape(suffix)}")
    found = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(root / "journal" / "kept"):
            if name.fullmatch(entry.name):
                found.append((entry.stat().st_mtime_ns, Path(entry.path), entry.stat().st_size))
    return [(path, size) for _, path, size in sorted(found, reverse=True)]


def unused_backup_path(root: Path, stem: str, suffix: str) -> Path:
    """Return an unused path in `journal/kept` of a project."""
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{stem}"
    folder = root / "journal" / "kept"
    return free_path(folder, stem, suffix)


def write_bytes(path: Path, data: bytes, *, root: Path | None = None) -> None:
    """Write `data` to `path` atomically: at any time, the file has either the old or the new content.

    root: folder that must not be left through a link. Raises CannotWrite with the cause; the old file is then
    unchanged.
    """
    if root is not None:
        check_links(root, path)
    try:
        file_access.write_atomic(path, data)
    except OSError as error:
        raise CannotWrite.of(path, error) from error


def key_hash(key: str) -> str:
    """Return a hash of an image's key, 32 hexadecimal digits, for names of files."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any, *, root: Path | None = None) -> None:
    """Write `value` as JSON, see `write_bytes`."""
    write_bytes(path, json_bytes(value), root=root)


def json_bytes(value: Any, *, ascii: bool = False) -> bytes:
    """Return the content of a JSON file. ascii: escape all other characters, among them surrogates of file names."""
    return (json.dumps(value, ensure_ascii=ascii, indent=1, sort_keys=False) + "\n").encode("utf-8")


def check_links(root: Path, path: Path) -> None:
    """Check that the folder of `path`, with links resolved, lies below `root`. Raises LinkOutsideFolder.

    `path` itself may be a link, because replacing the file replaces the link.
    """
    if leads_outside(root, path.parent):
        raise LinkOutsideFolder(path=str(path), why=Message("file.link_outside"))


def leads_outside(root: Path, path: Path) -> bool:
    """Return True if `path`, with links resolved, does not lie below `root`."""
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def inside(root: Path, relative: str) -> Path:
    """Return the path of `relative` (posix form) under `root`. Raises ProjectBroken if it leads outside."""
    pure = PurePosixPath(relative)
    foreign = os.sep == "\\" and ("\\" in relative or ":" in relative)
    if pure.is_absolute() or ".." in pure.parts or foreign:
        raise ProjectBroken(path=str(root), why=Message("file.leaves_project", path=f"{relative!r}"))
    return root.joinpath(*pure.parts)


def file_stamp(*paths: Path) -> str:
    """Return sizes and modification times of files, "-" for a missing one, to detect changes."""
    parts = []
    for path in paths:
        try:
            state = os.stat(path)
            parts.append(f"{state.st_size}:{state.st_mtime_ns}")
        except OSError:
            parts.append("-")
    return "|".join(parts)


def same_content(path: Path, other: Path) -> bool:
    """Return True if two files have the same bytes. Raises OSError."""
    if os.path.samefile(path, other):
        return True
    read = file_access.read_regular
    return path.stat().st_size == other.stat().st_size and read(path) == read(other)


def copy_file(path: Path, copy: Path, *, root: Path | None = None) -> None:
    """Copy a file atomically. root: folder that must not be left through a link.

    A hard link would not keep the content: many programs write a file in place. Raises FileNotFoundError if there is
    none, LinkOutsideFolder and CannotWrite.
    """
    if root is not None:
        check_links(root, copy)
    try:
        with file_access.open_file(path) as source, file_access.replacing(copy) as file:
            shutil.copyfileobj(source, file)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CannotWrite.of(path if error.filename == os.fspath(path) else copy, error) from error


def move_file(path: Path, target: Path, *, root: Path) -> None:
    """Move a file within a folder that must not be left through a link. Raises LinkOutsideFolder and CannotWrite."""
    for each in (path, target):
        check_links(root, each)
    try:
        file_access.make_folder(target.parent)
        try:
            file_access.replace_path(path, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            shutil.move(path, target)  # a folder of the project may be a link to another disk that it contains
    except OSError as error:
        raise CannotWrite.of(target, error) from error


def remove_leftovers(root: Path, stopped: Callable[[], bool] = lambda: False) -> None:
    """Remove temporary files of killed processes from a project that is open for writing, as far as possible.

    root: folder of the project. Only the workbench's own names of temporary files are affected, and no file that is
    being written.
    """
    file_access.sweep(root)
    for name in _FOLDERS:
        if not leads_outside(root, root / name):
            file_access.sweep(root / name, below=True, stopped=stopped)
    for name, pattern in (("exports", _UNFINISHED), (".cache", _UNPACKED)):
        if leads_outside(root, root / name):
            continue
        with contextlib.suppress(OSError):
            folders = {path.with_name(path.name.removesuffix(_LOCK)) for path in (root / name).iterdir()}
            for folder in folders:
                if not stopped() and pattern.fullmatch(folder.name) and not folder.is_symlink():
                    _remove_unfinished(folder)


@contextlib.contextmanager
def holding_part(folder: Path) -> Iterator[None]:
    """Mark the folder of an unfinished export or import as in use while the block runs, and remove what remains then.

    The mark is a lock on a file beside the folder, which ends with the process.
    """
    file_access.make_folder(folder.parent)
    lock = FileLock(_lock_of(folder))
    with contextlib.suppress(OSError, LockHeld):
        lock.acquire()
    try:
        yield
    finally:
        file_access.discard_temporary(folder)
        lock.release()
        file_access.discard_temporary(_lock_of(folder))


def _remove_unfinished(folder: Path) -> None:
    lock = FileLock(_lock_of(folder))
    with contextlib.suppress(OSError, LockHeld):
        lock.acquire()
        file_access.discard_tree(folder)
        lock.release()
        file_access.remove_file(_lock_of(folder), missing_ok=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + _LOCK)


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
            return error.errno in (*UNSUPPORTED, *file_access.UNSUPPORTED)
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
