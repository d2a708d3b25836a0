"""Image sources: folders of images, their keys, and copying of images into the project."""

from __future__ import annotations

import fnmatch
import itertools
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, field_validator

from workbench.core.messages import Message
from workbench.core.names import numbered_names
from workbench.core.problems import CannotWrite, FolderMissing
from workbench.core.project.folder_walk import walk
from workbench.core.project.storage import inside
from workbench.inference.io.atomic_write import replacing
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_DIGITS = re.compile(r"(\d+)")


def natural_key(text: object) -> list[str | int]:
    """Return a key for natural sorting: numbers by value, letters case-insensitively."""
    parts: list[str | int] = _DIGITS.split(str(text).casefold())
    parts[1::2] = map(int, parts[1::2])
    return parts


class Source(BaseModel):
    """Folder of images. `name` is "" for the project's own `pictures/`. Other sources are read-only."""

    name: str = ""
    path: str = "pictures"
    ignore: list[str] = []  # glob patterns on the key without prefix, e.g. for masks among the images

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if any(separator in name for separator in "/\\") or name in {".", ".."}:
            raise ValueError("a source's name is one folder name")
        return name

    @property
    def prefix(self) -> str:
        """Prefix of the keys of the source's images."""
        return f"@{self.name}/" if self.name else ""

    def folder(self, root: Path) -> Path:
        """Return the path of the folder for a project in `root`."""
        return Path(self.path) if self.name else inside(root, self.path)

    def images(self, root: Path) -> list[str]:
        """Return the keys of the images without the prefix, in natural order. Lists folders; opens no files."""
        keys = [
            relative
            for relative, entry in walk(self.folder(root))
            if os.path.splitext(entry.name)[1].lower() in IMAGE_SUFFIXES
            and not any(fnmatch.fnmatchcase(relative, pattern) for pattern in self.ignore)
        ]
        return sorted(keys, key=natural_key)


def source_of(folder: Path | str, sources: Sequence[Source], root: Path) -> Source:
    """Return the source of `folder` among `sources`, or a new one with a unique name. Raises FolderMissing."""
    path = Path(folder).resolve()
    if not path.is_dir():
        raise FolderMissing(path=str(folder))
    for source in sources:
        if source.folder(root).resolve() == path:
            return source
    names = {source.name for source in sources}
    stem = path.name or "source"
    name = next(name for name in numbered_names(stem) if name not in names)
    return Source(name=name, path=str(path))


def copy_image(path: Path, folder: Path, key: str) -> str:
    """Copy an image file into `folder` as `key`. A number is appended if a different file has that name.

    Return the final key. Raises CannotWrite.
    """
    stem, suffix = os.path.splitext(key)
    for candidate in itertools.islice(numbered_names(stem, suffix), 100_000):
        target = inside(folder, candidate)
        try:
            if not target.exists():
                with path.open("rb") as source, replacing(target) as file:
                    shutil.copyfileobj(source, file)
                return candidate
            if target.stat().st_size == path.stat().st_size and target.read_bytes() == path.read_bytes():
                return candidate
        except OSError as error:
            raise CannotWrite.of(target, error) from error
    raise CannotWrite(path=key, why=Message("file.too_many_names"))
