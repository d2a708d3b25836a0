"""Selection of input images from file names, folders and patterns, and names of their results."""

from __future__ import annotations

import glob
import itertools
import os
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from ..io.image_io import IMAGE_SUFFIXES
from ..text_safety import natural_key


@dataclass(frozen=True)
class InputSource:
    """Input image. path: the file. root: folder given by the user, or the file's own. relative: path below root."""

    path: Path
    root: Path
    relative: PurePath


@dataclass(frozen=True)
class SkippedInput:
    """Skipped image or argument, and the reason."""

    path: str
    why: str


def collect_images(
    names: Sequence[str | Path], *, leave_out: Path | None = None
) -> tuple[list[InputSource], list[SkippedInput]]:
    """Return the image files given by file names, folders (recursive) and patterns such as lot*/*.png.

    Files given by name are accepted with any suffix. Hidden files and everything in the folder `leave_out` (results of
    an earlier run) are skipped. Each file occurs once, in the order of the names, the files of a folder or pattern in
    natural order. Also returns the names that matched nothing.
    """
    sources: dict[str, InputSource] = {}
    skipped = []
    for name in names:
        matches = list(_sources_of(str(name), leave_out))
        if not matches:
            skipped.append(SkippedInput(str(name), _why_nothing(str(name))))
        for source in matches:
            sources.setdefault(os.path.abspath(source.path), source)
    return list(sources.values()), skipped


def _why_nothing(name: str) -> str:
    if Path(name).is_dir():
        return "there are no images in this folder"
    return "no image matches this pattern" if glob.has_magic(name) else "there is no such file"


def _sources_of(name: str, leave_out: Path | None) -> Iterator[InputSource]:
    path = Path(name)
    if path.is_dir():
        for file in _images_below(path, leave_out):
            yield InputSource(file, path, file.relative_to(path))
    elif path.exists():  # before patterns, because file names may contain brackets
        yield InputSource(path, path.parent, PurePath(path.name))
    elif glob.has_magic(name):
        root = _before_pattern(path)
        for match in map(Path, sorted(glob.glob(name, recursive=True), key=natural_key)):
            if _is_below(match, leave_out):
                continue
            if match.is_dir():
                for file in _images_below(match, leave_out):
                    yield InputSource(file, root, file.relative_to(root))
            elif match.suffix.lower() in IMAGE_SUFFIXES:
                yield InputSource(match, root, match.relative_to(root))


def _before_pattern(path: Path) -> Path:
    fixed = []
    for part in path.parts:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return Path(*fixed)


def _images_below(folder: Path, leave_out: Path | None) -> list[Path]:
    images: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name[0] != "." and not _is_below(Path(parent, name), leave_out)]
        visible = (name for name in files if name[0] != ".")
        images += (Path(parent, name) for name in visible if Path(name).suffix.lower() in IMAGE_SUFFIXES)
    return sorted(images, key=lambda file: natural_key(file.as_posix()))


def _is_below(path: Path, folder: Path | None) -> bool:
    return folder is not None and Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))


def output_names(sources: Sequence[InputSource]) -> list[str]:
    """Return a result name for each image, with "/" between folders and without suffix.

    Names are as short as uniqueness permits, also on case-insensitive file systems: the path below the root; then with
    suffix; then with the root's name; then numbered. No name leads out of the results folder.
    """
    levels = [0] * len(sources)
    while True:
        names = [_name(source, level) for source, level in zip(sources, levels)]
        clashes = _clashes(names)
        raised = [min(_MAX_LEVEL, level + clash) for level, clash in zip(levels, clashes)]
        if raised == levels:
            break
        levels = raised
    folders = _folders(names)
    used = {_key(name) for name, clash in zip(names, clashes) if not clash}
    for index, clash in enumerate(clashes):
        number, name = 1, names[index]
        while clash and (_key(name) in used or _key(f"{name}.png") in folders):
            number += 1
            name = f"{names[index]}~{number}"
        names[index] = name
        used.add(_key(name))
    return names


class OutputNames:
    """Registry of result names in use; `reserve` returns a free one for a new image."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def add(self, name: str) -> None:
        self._files.add(_key(name))
        self._folders |= _folders([name])

    def is_free(self, name: str) -> bool:
        """Return True if the name is free and conflicts with no existing folder or file."""
        key = _key(name)
        blocked = any(f.endswith(".png") and f[:-4] in self._files for f in _folders([name]))
        return key not in self._files and f"{key}.png" not in self._folders and not blocked

    def reserve(self, source: InputSource, request: str | None = None) -> str:
        """Reserve and return a free name; see `free`."""
        name = self.free(source, request)
        self.add(name)
        return name

    def free(self, source: InputSource, request: str | None = None) -> str:
        """Return a free name: `request`, or the shortest as in `output_names`."""
        choices = [*([] if request is None else [request]), *(_name(source, level) for level in range(_MAX_LEVEL + 1))]
        flat = choices[-1].replace("/", "~")  # if a file has the name of its folder
        numbered = (f"{base}~{number}" for number in itertools.count(2) for base in (choices[-1], flat))
        return next(name for name in itertools.chain(choices, numbered) if self.is_free(name))


_MAX_LEVEL = 2


def _name(source: InputSource, level: int) -> str:
    parts = [part for part in source.relative.parts if part not in ("..", ".", source.relative.anchor)]
    if level == 0:
        parts[-1] = PurePath(parts[-1]).stem
    if level == _MAX_LEVEL:
        parts.insert(0, Path(os.path.abspath(source.root)).name or "root")
    # Backslashes and drive letters have a meaning in paths of other systems.
    name = "/".join(parts).replace("\\", "_")
    return f"{name[0]}_{name[2:]}" if name[1:2] == ":" else name


def _clashes(names: Sequence[str]) -> list[bool]:
    """Return for each name whether it is shared, or would be both a file and a folder."""
    count = Counter(map(_key, names))
    folders = _folders(names)
    return [count[_key(name)] > 1 or _key(f"{name}.png") in folders for name in names]


def _folders(names: Sequence[str]) -> set[str]:
    folders: set[str] = set()
    for name in names:
        folder = _key(name).rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
