"""How the workbench writes files: whole or not at all, and never outside the project."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.core.problems import CannotWrite, LinkLeadsOutside, ProjectBroken
from workbench.inference.writing import write_atomic


def keep_aside(root: Path, stem: str, data: bytes, suffix: str) -> Path:
    """Write a file to `journal/kept` of a project under a name of its own. Raises CannotWrite."""
    path = free_place_aside(root, stem, suffix)
    write_bytes(path, data, root=root)
    return path


def free_place_aside(root: Path, stem: str, suffix: str) -> Path:
    """Return an unused path in `journal/kept` of a project."""
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{stem}"
    folder = root / "journal" / "kept"
    return next(p for i in range(100_000) if not (p := folder / f"{stem}{f'-{i}' if i else ''}{suffix}").exists())


def write_bytes(path: Path, data: bytes, *, root: Path | None = None) -> None:
    """Write `data` to `path` so that at any instant the old or the new content is there, never a part.

    root: the folder that must not be left through a link. Raises CannotWrite with the cause; the old file is then
    untouched.
    """
    if root is not None:
        check_links(root, path)
    try:
        write_atomic(path, data)
    except OSError as error:
        raise CannotWrite.of(path, error) from error


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any, *, root: Path | None = None) -> None:
    """Write `value` as JSON, see `write_bytes`."""
    text = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=False) + "\n"
    write_bytes(path, text.encode("utf-8"), root=root)


def check_links(root: Path, path: Path) -> None:
    """Check that the folder of `path` lies below `root` also when links are followed. Raises LinkLeadsOutside.

    `path` itself may be a link: a file that is replaced takes the place of the link.
    """
    if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(root)):
        raise LinkLeadsOutside(path=str(path))


def inside(root: Path, relative: str) -> Path:
    """The path of `relative` (posix form) under `root`; refuses to leave it, whatever a file says."""
    pure = PurePosixPath(relative)
    foreign = os.sep == "\\" and ("\\" in relative or ":" in relative)
    if pure.is_absolute() or ".." in pure.parts or foreign:
        raise ProjectBroken(path=str(root), why=f"the path {relative!r} leaves the project")
    return root.joinpath(*pure.parts)


def file_stamp(*paths: Path) -> str:
    """Size and time of files, "-" for one that is not there; differs when any of them was written."""
    parts = []
    for path in paths:
        try:
            state = os.stat(path)
            parts.append(f"{state.st_size}:{state.st_mtime_ns}")
        except OSError:
            parts.append("-")
    return "|".join(parts)
