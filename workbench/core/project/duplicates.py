"""Images with identical files, in one project or in two."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.core.project.project import Project
from workbench.inference.io.regular_files import read_regular


class FileTable:
    """Images of a project by the content of their files, of which only those of a requested size are read."""

    def __init__(self, project: Project, keys: Iterable[str]) -> None:
        self._project = project
        self._by_size: dict[int, list[str]] = {}
        self._contents: dict[str, bytes | None] = {}
        for key in keys:
            try:
                self._by_size.setdefault(project.image_path(key).stat().st_size, []).append(key)
            except OSError:
                continue

    def equal(self, path: Path) -> list[str]:
        """Return the images whose files equal a file, byte for byte. Raises OSError if it cannot be listed."""
        candidates = self._by_size.get(path.stat().st_size, [])
        digest = content(path) if candidates else None
        return [key for key in candidates if digest is not None and self._content(key) == digest]

    def _content(self, key: str) -> bytes | None:
        if key not in self._contents:
            self._contents[key] = content(self._project.image_path(key))
        return self._contents[key]


def find_duplicates(project: Project, keys: Sequence[str], other: Project, other_keys: Iterable[str]) -> list[str]:
    """Return those of `keys` whose files equal, byte for byte, a file of `other_keys` in the other project.

    Names are ignored. Reads files of equal size: not for the GUI thread.
    """
    table = FileTable(other, other_keys)
    return [key for key in keys if _has_equal(table, project.image_path(key))]


def _has_equal(table: FileTable, path: Path) -> bool:
    try:
        return bool(table.equal(path))
    except OSError:
        return False


def content(path: Path) -> bytes | None:
    """Return the hash of a file's content, None if it cannot be read."""
    try:
        return hashlib.sha256(read_regular(path)).digest()
    except OSError:
        return None
