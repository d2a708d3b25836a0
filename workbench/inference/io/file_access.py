"""Access to files that another program may hold for a moment.

On Windows a file that a virus scanner, a backup or a synchronized folder reads cannot be opened, replaced or removed
until that program has closed it. Such an access is repeated for two seconds; on other systems it fails at once, because
a refusal means that the permission is missing.

Files are written atomically: a file is either the old one or the complete new one. Of untrusted files only regular
ones are opened, and headers are read without the rest of the file.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import ntpath
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

PAUSES = (0.01, 0.03, 0.06, 0.1, 0.2, 0.4, 0.6, 0.6) if sys.platform == "win32" else ()  # seconds

# Errors of Windows: access denied, sharing violation, locked, folder not empty (its file is removed, but still open).
# Python's PermissionError stands for others, too, such as a drive without a disk. `open` states none of them.
_REFUSED = (None, 5, 32, 33)
_NOT_EMPTY = 145

Result = TypeVar("Result")


_REPEATED = 5.0  # seconds in which a file that stayed held is not waited for again
_held: dict[str, float] = {}  # path of such a file: end of this time


def patiently(access: Callable[..., Result], *arguments: Any) -> Result:
    """Return access(*arguments), repeated while another program holds the file. Raises OSError."""
    for pause in PAUSES:
        try:
            return access(*arguments)
        except OSError as error:
            if not _is_held(error) and getattr(error, "winerror", None) != _NOT_EMPTY:
                raise
            if _held.get(_name(error, arguments), 0.0) > time.monotonic():
                raise
        time.sleep(pause)
    try:
        return access(*arguments)
    except PermissionError as error:
        if len(_held) > 1000:
            _held.clear()
        _held[_name(error, arguments)] = time.monotonic() + _REPEATED
        raise


def _name(error: OSError, arguments: tuple[Any, ...]) -> str:
    """Return which file was refused. Reading and writing an open file, of which a part is locked, states none."""
    return str(error.filename or next(iter(arguments), ""))


def _is_held(error: BaseException) -> bool:
    """Return True if another program may have the file open."""
    return isinstance(error, PermissionError) and getattr(error, "winerror", None) in _REFUSED


def open_file(path: Path, mode: str = "rb", buffering: int = -1) -> Any:
    """Return a binary file that is opened as by `Path.open`, once no other program holds it. Raises OSError."""
    return patiently(path.open, mode, buffering)


def reason(error: BaseException) -> str:
    """Return why an access failed, as a part of a sentence, in the words of the system where they are helpful."""
    if _is_held(error) and sys.platform == "win32":
        return "another program has it open, or its permissions do not allow it"
    return getattr(error, "strerror", None) or str(error)


class UnfitPath(OSError):
    """Path that Windows gives to no file or folder."""


_DEVICE = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]) *(\..*)?", re.IGNORECASE | re.DOTALL)
_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_LONGEST, _LONGEST_FOLDER = 259, 247  # characters of a path, unless Windows is set to allow more


def name_problem(name: str) -> str:
    """Return why Windows accepts no file or folder of this name, as a part of a sentence; "" if it does."""
    if _DEVICE.fullmatch(name):
        return f"Windows reserves the name “{name}” for a device"
    if found := _FORBIDDEN.search(name):
        return f"Windows allows no {ascii(found[0])} in the name “{name}”"
    return f"Windows drops the end of the name “{name}”" if name.endswith((".", " ")) else ""


def path_problem(path: Path | str, longest: int = _LONGEST) -> str:
    """Return why Windows accepts no file of this path, as a part of a sentence; "" if it does.

    longest: number of characters that it may have, unless long paths are enabled.
    """
    drive, rest = ntpath.splitdrive(os.fspath(path))  # a share or \\?\ counts as a drive
    for name in re.split(r"[\\/]", rest):
        if name not in ("", ".", "..") and (why := name_problem(name)):
            return why
    length = len(drive) + len(rest)
    if length <= longest or drive.startswith("\\\\?\\") or _long_paths_enabled():
        return ""
    return f"it has {length} characters, and Windows allows {longest} here"


@functools.cache
def _long_paths_enabled() -> bool:
    if sys.platform != "win32":
        return True
    import winreg

    with contextlib.suppress(OSError):
        key = r"SYSTEM\CurrentControlSet\Control\FileSystem"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key, 0, winreg.KEY_READ | winreg.KEY_WOW64_64KEY) as opened:
            return bool(winreg.QueryValueEx(opened, "LongPathsEnabled")[0])
    return False


def check_path(path: Path, longest: int = _LONGEST) -> None:
    """Raise UnfitPath if this is Windows and it accepts no file of this path; see `path_problem`."""
    if sys.platform == "win32" and (why := path_problem(path, longest)):
        raise UnfitPath(errno.EINVAL, why, os.fspath(path))


def remove_file(path: Path, *, missing_ok: bool = False) -> None:
    """Remove a file. Raises OSError."""
    patiently(path.unlink, missing_ok)


def remove_tree(folder: Path) -> None:
    """Remove a folder with its files. What was removed before an error remains so. Raises OSError."""
    patiently(shutil.rmtree, os.fspath(folder))


def discard_tree(folder: Path) -> None:
    """Remove a folder with its files, as far as possible."""
    with contextlib.suppress(OSError):
        remove_tree(folder)
    shutil.rmtree(folder, ignore_errors=True)


_LATER = 10.0  # seconds


def discard_temporary(path: Path) -> None:
    """Remove a file or folder that nobody uses again, as far as possible.

    A thread removes later what another program still holds; the process ends only after it.
    """
    remove = discard_tree if path.is_dir() else remove_file
    with contextlib.suppress(OSError):
        remove(path)
    if PAUSES and os.path.lexists(path):
        threading.Thread(target=_discard_later, args=(remove, path), name="removal").start()


def _discard_later(remove: Callable[[Path], None], path: Path) -> None:
    end = time.monotonic() + _LATER
    while os.path.lexists(path) and time.monotonic() < end:
        time.sleep(0.5)
        with contextlib.suppress(OSError):
            remove(path)


_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
_in_progress: set[str] = set()  # temporary files that this process is writing

_ROOTS: set[Path] = set()
UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)  # answers of network drives without fsync


def write_atomic(path: Path | str, data: bytes | memoryview) -> None:
    """Write `data` to `path` through a temporary file in the same folder. Creates the folder. Raises OSError."""
    with replacing(path) as file:
        patiently(_write, path, file, data)


def _write(path: Path | str, file: BinaryIO, data: bytes | memoryview) -> None:
    """Write a file from its beginning: a former attempt may have met a part that another program had locked."""
    file.seek(0)
    file.write(data)
    file.flush()


def sync(descriptor: int) -> None:
    """Write a file through to the disk, as far as its file system supports that. Raises OSError."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise


def keep_root(root: Path) -> None:
    """Never create the folder `root` from now on: it holds an open project or run, and may be moved or unmounted."""
    _ROOTS.add(root)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, except roots registered by `keep_root` and their parents. Raises OSError."""
    check_path(folder, _LONGEST_FOLDER)
    missing_folders: list[Path] = []
    for path in (folder, *folder.parents):
        if path in _ROOTS:
            os.stat(path)
            for missing_folder in reversed(missing_folders):
                missing_folder.mkdir(exist_ok=True)
            return
        missing_folders.append(path)
    folder.mkdir(parents=True, exist_ok=True)


def sweep(
    folder: Path, *, below: bool = False, min_age: float = 0.0, stopped: Callable[[], bool] = lambda: False
) -> None:
    """Remove temporary files of interrupted writes from a folder, as far as possible.

    below: include subfolders. min_age: seconds since the last change, for a folder in which another process may be
        writing. stopped: polled after each folder. Files that this process is writing are kept.
    """
    latest, folders = time.time() - min_age, [os.fspath(folder)]
    while folders and not stopped():
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:  # os.walk asks about each folder again
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders += [entry.path] if below else []
                elif _TEMPORARY.fullmatch(entry.name) and entry.name not in _in_progress:
                    with contextlib.suppress(OSError):
                        if not min_age or entry.stat().st_mtime < latest:
                            os.unlink(entry.path)


def replace_path(temporary: Path, path: Path) -> None:
    """Move a file or folder to `path`. Raises OSError."""
    patiently(temporary.replace, path)


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """Yield a file that replaces `path` if the block succeeds and is deleted if it fails.

    Creates the folder. Raises OSError.
    """
    path = Path(path)
    check_path(path)
    make_folder(path.parent)
    # A short random name, because the target's name may already have the maximum length.
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    _in_progress.add(temporary.name)
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            sync(file.fileno())
        try:
            replace_path(temporary, path)
        except FileExistsError as error:
            raise OSError(errno.EOPNOTSUPP, "the drive cannot replace files", str(path)) from error
    except BaseException as error:
        if isinstance(error, OSError) and str(error.filename) == str(temporary):
            error.filename = str(path)
        discard_temporary(temporary)
        raise
    finally:
        _in_progress.discard(temporary.name)


# Paddle and ONNX pass paths in UTF-8 to functions of Windows that expect another encoding.
ASCII_ONLY = sys.platform == "win32"


@contextlib.contextmanager
def ascii_folder(folder: Path, *names: str) -> Iterator[Path]:
    """Yield a folder with the files `names` of `folder` for Paddle or ONNX; what they write there is in it afterwards.

    It is a temporary one if the path has characters beyond ASCII: on Windows they find no file below such a path, and
    write to a folder with a damaged name. Raises OSError.
    """
    if not ASCII_ONLY or str(folder).isascii():
        yield folder
        return
    places = tempfile.gettempdir(), os.environ.get("PROGRAMDATA")  # the first one may contain the name of the user
    usable = next((place for place in places if place and place.isascii()), None)
    with tempfile.TemporaryDirectory(dir=usable, ignore_cleanup_errors=True) as place:
        for name in names:
            patiently(shutil.copyfile, folder / name, Path(place, name))
        yield Path(place)
        for path in Path(place).iterdir():
            if path.name not in names:
                write_atomic(folder / path.name, read_regular(path))


_BLOCK = 1 << 16  # bytes per read of a FileView


class NotRegular(OSError):
    """Pipe, device, socket or folder in place of a file; opening it could block forever."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(errno.EINVAL, "it is not a regular file", str(path))


def require_regular(path: Path | str) -> None:
    """Raise NotRegular unless `path` is a regular file or a link to one; OSError if it cannot be accessed."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NotRegular(path)


def open_regular(path: Path | str) -> FileIO:
    """Open a regular file for reading, following links, without blocking. Raises OSError, including NotRegular."""
    if sys.platform == "win32":  # elsewhere a second operation, which a network folder answers after milliseconds
        require_regular(path)
    # Without O_NONBLOCK, opening a pipe blocks until a writer connects.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = patiently(os.open, path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular(path)
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path | str) -> bytes:
    """Return the content of a regular file. Raises OSError."""
    return patiently(_read, path, lambda file: file.read())


def load_regular(path: Path | str, limit: int | None = None) -> np.ndarray:
    """Return the content of a regular file as uint8 (n,). Raises OSError, and ValueError beyond `limit` bytes."""

    def load(file: FileIO) -> np.ndarray:
        size = os.fstat(file.fileno()).st_size
        if limit is not None and size > limit:
            raise ValueError(f"its {size / 1e6:.0f} MB are over the limit of {limit / 1e6:.0f} MB for a file")
        data, count = np.empty(size, np.uint8), 0  # np.fromfile ends without an error where the file is locked
        while count < size and (read := file.readinto(data.data[count:])):
            count += read
        return data[:count]

    return patiently(_read, path, load)


def _read(path: Path | str, read: Callable[[FileIO], Result]) -> Result:
    with open_regular(path) as file:
        return read(file)


class FileView:
    """Read-only view of an open file with index and slice access like memoryview; only requested blocks are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._start, self._block = 0, b""

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, key: slice | int) -> bytes | int:
        if not isinstance(key, slice):
            data = self._bytes(key, min(key + 1, self._size)) if key >= 0 else b""
            if not data:
                raise IndexError(key)
            return data[0]
        start, stop, _ = key.indices(self._size)
        return self._bytes(start, stop)

    def _bytes(self, start: int, stop: int) -> bytes:
        if not (self._start <= start and stop <= self._start + len(self._block)):
            self._file.seek(start)
            self._start, self._block = start, self._file.read(max(_BLOCK, stop - start))
        return self._block[start - self._start : max(start, stop) - self._start]
