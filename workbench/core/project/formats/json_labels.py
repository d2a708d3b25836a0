"""Loading of JSON label files of other tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, UnreadableLabel, read_utf8
from workbench.inference.io.json_io import parse_json
from workbench.inference.io.regular_files import open_regular

LARGEST = 1 << 30  # bytes of a label file, which may embed its image
LARGEST_SET = 256 << 20  # bytes of a label file of many images, which needs about 15 times its size in memory
_BLOCK = 1 << 20  # bytes of larger files that are searched for keys at a time
_LONGEST_KEY = 64  # bytes


def json_files(tree: FileTree, *keys: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the JSON files below a tree that contain all `keys`, such as b'"images"'.

    Of files that are too large to be loaded, which are refused later, the content is the start only.
    """
    for name in tree.with_suffix(".json"):
        path = tree.path(name)
        try:
            if path.stat().st_size > LARGEST_SET:
                data = _start_with_keys(path, keys)
            else:
                data = read_utf8(path, limit=LARGEST_SET)
        except (OSError, ValueError):
            continue
        if all(key in data for key in keys):
            yield name, data


def _start_with_keys(path: Path, keys: Sequence[bytes]) -> bytes:
    """Return the start of a large file, followed by those of `keys` that occur anywhere in it."""
    missing, rest = set(keys), b""
    with open_regular(path) as file:
        start = block = file.read(_BLOCK)
        while block and missing:
            missing -= {key for key in missing if key in rest + block}
            rest = block[-_LONGEST_KEY:]
            block = file.read(_BLOCK)
    return start + b" ".join(set(keys) - missing)


def load(path: Path, *, limit: int = LARGEST_SET) -> Any:
    """Return the content of a label file of at most `limit` bytes. Raises UnreadableLabel."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise UnreadableLabel(Message("import.file_too_large", n=size >> 20, m=limit >> 20))
        return parse_json(read_utf8(path, limit=limit))
    except (OSError, ValueError) as error:
        raise UnreadableLabel(str(error)) from None
