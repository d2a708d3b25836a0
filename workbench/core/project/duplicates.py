"""Identical images in two projects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbench.core.project.project import Project
from workbench.inference.io.regular_files import read_regular


def find_duplicates(project: Project, keys: Sequence[str], other: Project, other_keys: Iterable[str]) -> list[str]:
    """Return those of `keys` whose files equal, byte for byte, a file of `other_keys` in the other project.

    Names are ignored. Reads files of equal size: not for the GUI thread.
    """
    other_files = _by_size(other, other_keys)
    contents = {size: {content(path) for path in paths.values()} - {None} for size, paths in other_files.items()}
    duplicates = {
        key
        for size, paths in _by_size(project, keys).items()
        for key, path in paths.items()
        if size in contents and content(path) in contents[size]
    }
    return [key for key in keys if key in duplicates]


def _by_size(project: Project, keys: Iterable[str]) -> dict[int, dict[str, Path]]:
    paths: dict[int, dict[str, Path]] = {}
    for key in keys:
        path = project.image_path(key)
        try:
            paths.setdefault(path.stat().st_size, {})[key] = path
        except OSError:
            continue
    return paths


def content(path: Path) -> bytes | None:
    """Return the hash of a file's content, None if it cannot be read."""
    try:
        return hashlib.sha256(read_regular(path)).digest()
    except OSError:
        return None
