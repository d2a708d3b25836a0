"""Atomic file writing: a file is either the old one or the complete new one."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from .file_access import patiently, remove_file

_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
_in_progress: set[str] = set()  # temporary files that this process is writing

_ROOTS: set[Path] = set()
UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)  # answers of network drives without fsync


def write_atomic(path: Path | str, data: bytes | memoryview) -> None:
    """Write `data` to `path` through a temporary file in the same folder. Creates the folder. Raises OSError."""
    with replacing(path) as file:
        file.write(data)


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
    latest = time.time() - min_age
    for path, _, names in os.walk(folder):
        for name in names:
            if _TEMPORARY.fullmatch(name) and name not in _in_progress:
                file = os.path.join(path, name)
                with contextlib.suppress(OSError):
                    if not min_age or os.stat(file).st_mtime < latest:
                        os.unlink(file)
        if stopped() or not below:
            return


def replace_path(temporary: Path, path: Path) -> None:
    """Move a file or folder to `path`. Raises OSError."""
    patiently(temporary.replace, path)


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """Yield a file that replaces `path` if the block succeeds and is deleted if it fails.

    Creates the folder. Raises OSError.
    """
    path = Path(path)
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
    except BaseException:
        with contextlib.suppress(OSError):
            remove_file(temporary, missing_ok=True)
        raise
    finally:
        _in_progress.discard(temporary.name)
