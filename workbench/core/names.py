"""Unique names for files and folders, and lists of names on a command line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

_SURROGATE = re.compile("[\ud800-\udfff]")


def numbered_names(stem: str, suffix: str = "") -> Iterator[str]:
    """Yield "stem", "stem-2", "stem-3", … without end, each followed by `suffix`."""
    yield f"{stem}{suffix}"
    for number in itertools.count(2):
        yield f"{stem}-{number}{suffix}"


def free_path(folder: Path, stem: str, suffix: str = "") -> Path:
    """Return the first path of `numbered_names` in `folder` that does not exist."""
    return next(path for name in numbered_names(stem, suffix) if not (path := folder / name).exists())


def split_names(text: str) -> list[str]:
    """Split a comma-separated list, without surrounding spaces and empty entries."""
    return [part.strip() for part in text.split(",") if part.strip()]


def is_text(name: str) -> bool:
    """Return False for a file name in bytes that are no UTF-8, which Python represents by lone surrogates."""
    return name.isascii() or not _SURROGATE.search(name)


def as_text(name: str) -> str:
    """Return a file name with escapes for its bytes that are no UTF-8, for files that hold text only."""
    return name.encode("utf-8", "backslashreplace").decode()
