"""Files that are either the old one or the whole new one, never a part."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_atomic(path: Path | str, data: bytes | memoryview) -> None:
    """Write `data` to `path` through a temporary file in the same folder. Creates the folder. Raises OSError."""
    with replacing(path) as file:
        file.write(data)


def sweep(folder: Path, *, below: bool = False) -> None:
    """Remove what writes that were cut off have left in a folder; below: also in those below it.

    Nobody else may be writing there.
    """
    for path in folder.rglob(".*.tmp") if below else folder.glob(".*.tmp"):
        if re.fullmatch(r"\.[0-9a-f]{16}\.tmp", path.name):
            path.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` when the block ends well and is gone when it does not.

    Creates the folder. Raises OSError.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A short random name: the picture's own name may already be as long as the file system allows.
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
