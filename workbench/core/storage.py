"""How the workbench writes files: whole or not at all, and never outside the project."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.core.problems import CannotWrite, ProjectBroken

# The only portable way to read the umask is to set it: once, at import, before there are threads.
_UMASK = os.umask(0o022)
os.umask(_UMASK)


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that at any instant the old or the new content is there, never a part.

    Raises CannotWrite with the cause; the old file is then untouched.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes private files; a project is shared by its folder's own rights.
            os.chmod(name, 0o666 & ~_UMASK)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CannotWrite(path=str(path), why=error.strerror or str(error)) from error


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1, sort_keys=False) + "\n")


def inside(root: Path, relative: str) -> Path:
    """The path of `relative` (posix form) under `root`; refuses to leave it, whatever a file says."""
    pure = PurePosixPath(relative)
    foreign = os.sep == "\\" and ("\\" in relative or ":" in relative)
    if pure.is_absolute() or ".." in pure.parts or foreign:
        raise ProjectBroken(path=str(root), why=f"the path {relative!r} leaves the project")
    return root.joinpath(*pure.parts)
