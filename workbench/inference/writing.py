"""Files that are either the old one or the whole new one, never a part."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
_under_way: set[str] = set()  # names of the temporary files that this process is writing now

# Seconds. On Windows a file that somebody reads at this moment cannot be replaced, and readers are done soon.
_PAUSES = (0.01, 0.05, 0.2, 0.5) if sys.platform == "win32" else ()
_ROOTS: set[Path] = set()


def write_atomic(path: Path | str, data: bytes | memoryview) -> None:
    """Write `data` to `path` through a temporary file in the same folder. Creates the folder. Raises OSError."""
    with replacing(path) as file:
        file.write(data)


def keep_root(root: Path) -> None:
    """Never create the folder `root` from now on: it holds an open project or run, and may be moved or unmounted."""
    _ROOTS.add(root)


def make_folder(folder: Path) -> None:
    """Create a folder with its parents, but no root given to `keep_root` and nothing above one. Raises OSError."""
    below: list[Path] = []
    for path in (folder, *folder.parents):
        if path in _ROOTS:
            os.stat(path)
            for missing in reversed(below):
                missing.mkdir(exist_ok=True)
            return
        below.append(path)
    folder.mkdir(parents=True, exist_ok=True)


def sweep(folder: Path, *, below: bool = False, stopped: Callable[[], bool] = lambda: False) -> None:
    """Remove what writes that were cut off have left in a folder, where that can be done; below: also below it.

    No other process may be writing there; what this process is writing stays.
    """
    for path, _, names in os.walk(folder):
        for name in names:
            if _TEMPORARY.fullmatch(name) and name not in _under_way:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(path, name))
        if stopped() or not below:
            return


def _put(temporary: Path, path: Path) -> None:
    for pause in _PAUSES:
        try:
            temporary.replace(path)
            return
        except PermissionError:
            time.sleep(pause)
    temporary.replace(path)


@contextlib.contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` when the block ends well and is gone when it does not.

    Creates the folder. Raises OSError.
    """
    path = Path(path)
    make_folder(path.parent)
    # A short random name: the picture's own name may already be as long as the file system allows.
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    _under_way.add(temporary.name)
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _put(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        _under_way.discard(temporary.name)
