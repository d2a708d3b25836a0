"""Loading of JSON label files of other tools."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, UnreadableLabel, read_utf8
from workbench.inference.io.json_io import parse_json
from workbench.inference.io.regular_files import open_regular

LARGEST = 1 << 30  # bytes of a label file, which may embed its image
LARGEST_SET = 256 << 20  # bytes of a label file of many images, which needs about 15 times its size in memory
_ENDS = 1 << 20  # bytes at the start and at the end of larger files that are searched for keys


def json_files(tree: FileTree, *keys: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the JSON files below a tree that contain all `keys`, such as b'"images"'."""
    for name in tree.with_suffix(".json"):
        path = tree.path(name)
        try:
            data = read_utf8(path, limit=LARGEST) if path.stat().st_size <= LARGEST_SET else _ends(path)
        except (OSError, ValueError):
            continue
        if all(key in data for key in keys):
            yield name, data


def _ends(path: Path) -> bytes:
    with open_regular(path) as file:
        start = file.read(_ENDS)
        file.seek(-_ENDS, os.SEEK_END)
        return start + file.read(_ENDS)


def load(path: Path, *, limit: int = LARGEST_SET) -> Any:
    """Return the content of a label file of at most `limit` bytes. Raises UnreadableLabel."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise UnreadableLabel(Message("import.file_too_large", n=size >> 20, m=limit >> 20))
        return parse_json(read_utf8(path, limit=limit))
    except (OSError, ValueError) as error:
        raise UnreadableLabel(str(error)) from None
