"""Loading of JSON label files of other tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.core.project.formats.base import FileTree, UnreadableLabel, decode_text
from workbench.inference.io.json_io import JsonError, parse_json, read_file

LARGEST = 1 << 30  # bytes of a label file


def json_files(tree: FileTree, *keys: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the JSON files below a tree that contain all `keys`, such as b'"images"'."""
    for name in tree.with_suffix(".json"):
        try:
            data = read_file(tree.path(name), limit=LARGEST)
        except (FileNotFoundError, JsonError):
            continue
        if all(key in data for key in keys):
            yield name, data


def load(path: Path) -> Any:
    """Return the content of a label file. Raises UnreadableLabel."""
    try:
        data = read_file(path, limit=LARGEST)
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            data = decode_text(data).encode()
        return parse_json(data)
    except (FileNotFoundError, ValueError) as error:
        raise UnreadableLabel(str(error)) from None
