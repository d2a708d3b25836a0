"""Image sources: folders of images, the listing of their files, their keys, and copying of images into the project.

Keys that two images would have: those of a source begin with "@name/", as may the path of one in `pictures/`. Such
images of the project's own are not listed. When the project is opened for writing, their folder is renamed: runs and
labels keep the keys of the source's images, with which these were shown.
"""

from __future__ import annotations

import fnmatch
import functools
import glob
import heapq
import itertools
import os
import re
import shutil
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from pydantic import field_validator

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, FolderMissing, KeysSeparated, LabelsAmbiguous, Problem
from workbench.core.project.storage import LABEL_FILES, inside, move_file, same_content
from workbench.core.stored_model import StoredModel
from workbench.core.text_patterns import numbered_names
from workbench.inference.io.file_access import open_file, replacing
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.text_safety import natural_key

Unreadable = Callable[[str, OSError], None]


def walk(
    folder: Path | str,
    enter: Callable[[os.DirEntry[str]], bool] = lambda entry: True,
    unreadable: Unreadable = lambda prefix, error: None,
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield (posix path below `folder`, entry) of each file. Hidden files and folders are skipped.

    Pipes, devices and sockets are skipped too; links to missing files and entries that cannot be accessed are not, so
    that they are shown as unreadable. Links to folders are followed, but each folder is entered only once: first all
    real folders, then those behind links, ordered by path. Folders are recognized by their real paths, because network
    drives may give all of them the same file id. `enter` returns False for folders to skip.

    unreadable: called with the path below `folder` and the error of a folder that exists but cannot be listed.
    """
    visited: set[str] = set()
    folders: deque[tuple[str, str, str]] = deque([("", str(folder), os.path.realpath(folder))])  # prefix, path, real
    linked_folders: list[tuple[str, str]] = []  # heap
    while folders or linked_folders:
        if folders:
            prefix, path, real = folders.popleft()
        else:
            prefix, path = heapq.heappop(linked_folders)
            real = os.path.realpath(path)
        if real in visited:
            continue
        visited.add(real)
        try:
            with os.scandir(path) as entries:
                visible = [entry for entry in entries if not entry.name.startswith(".")]
        except FileNotFoundError:
            continue
        except OSError as error:
            unreadable(prefix, error)
            continue
        for entry in visible:
            try:
                is_folder, is_link = entry.is_dir(), _is_link(entry)
            except OSError:
                is_folder = is_link = False
            if not is_folder:
                if _is_listed(entry):
                    yield prefix + entry.name, entry
            elif enter(entry):
                subfolder = f"{prefix}{entry.name}/"
                if is_link:
                    heapq.heappush(linked_folders, (subfolder, entry.path))
                else:
                    folders.append((subfolder, entry.path, os.path.join(real, entry.name)))


def _is_link(entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        return True
    return sys.platform == "win32" and (
        entry.stat(follow_symlinks=False).st_reparse_tag == stat.IO_REPARSE_TAG_MOUNT_POINT  # a junction
    )


def _is_listed(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file() or stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return True  # broken links and files that cannot be accessed are shown as unreadable


class Source(StoredModel):
    """Folder of images. `name` is "" for the project's own `pictures/`. Other sources are read-only.

    path: absolute path of the folder when it was added, or a path relative to the project folder. relative: path from
    the project folder, with `/`, if both lie close together; it has priority, so that they can be moved together.
    """

    name: str = ""
    path: str = "pictures"
    relative: str = ""
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
        if not self.name:
            return inside(root, self.path)
        if self.relative and os.path.isdir(near := os.path.normpath(root / self.relative)):
            return Path(near)
        return Path(os.path.normpath(root / self.path))

    def missing(self, root: Path) -> bool:
        """Return True if an external folder is not available."""
        return bool(self.name) and not os.path.isdir(self.folder(root))

    def images(self, root: Path, unreadable: Unreadable = lambda prefix, error: None) -> list[str]:
        """Return the keys of the images without the prefix, in natural order. Lists folders; opens no files.

        unreadable: as in `walk`.
        """
        ignored = _matcher(tuple(self.ignore))
        keys = [
            relative
            for relative, entry in walk(self.folder(root), unreadable=unreadable)
            if os.path.splitext(entry.name)[1].lower() in IMAGE_SUFFIXES and not ignored(relative)
        ]
        return sorted(keys, key=natural_key)


@functools.lru_cache(32)
def _matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a function that tests a key against glob patterns. Patterns of single files are found in a set."""
    single = {name for pattern in patterns if glob.escape(name := _unescaped(pattern)) == pattern}
    others = [re.compile(fnmatch.translate(p)) for p in patterns if glob.escape(_unescaped(p)) != p]
    return lambda key: key in single or any(pattern.match(key) for pattern in others)


def _unescaped(pattern: str) -> str:
    """Return the text from which `glob.escape` makes a pattern."""
    return re.sub(r"\[([*?[])\]", r"\1", pattern)


def source_of(folder: Path | str, sources: Sequence[Source], root: Path) -> Source:
    """Return the source of `folder` among `sources`, or a new one with a unique name. Raises FolderMissing."""
    path = Path(folder).resolve()
    if not path.is_dir():
        raise FolderMissing(path=str(folder))
    for source in sources:
        if source.folder(root).resolve() == path:
            return source
    names = {source.name.casefold() for source in sources}  # some file systems ignore case
    stem, pictures = path.name or "source", root / "pictures"
    name = next(
        name for name in numbered_names(stem) if name.casefold() not in names and not (pictures / f"@{name}").exists()
    )
    return Source(name=name, path=str(path), relative=relative_path(path, root))


def relative_path(folder: Path, root: Path) -> str:
    """Return the path of a folder from the project folder `root`, "" unless both lie close together.

    Close: the folder is below the project, below its parent or below the parent's parent.
    """
    root, folder = Path(os.path.realpath(root)), Path(os.path.realpath(folder))
    for steps, base in enumerate((root, *root.parents[:2])):
        if folder.is_relative_to(base) and base != Path(base.anchor):
            return PurePosixPath(*[".."] * steps, *folder.relative_to(base).parts).as_posix()
    return ""


def copy_image(path: Path, folder: Path, key: str) -> str:
    """Copy an image file into `folder` as `key`. A number is appended if a different file has that name.

    Return the final key. Raises CannotWrite.
    """
    stem, suffix = os.path.splitext(key)
    for candidate in itertools.islice(numbered_names(stem, suffix), 100_000):
        target = inside(folder, candidate)
        try:
            if not target.exists():
                with open_file(path) as source, replacing(target) as file:
                    shutil.copyfileobj(source, file)
                return candidate
            if same_content(target, path):
                return candidate
        except OSError as error:
            raise CannotWrite.of(target, error) from error
    raise CannotWrite(path=key, why=Message("file.too_many_names"))


# --- keys that two images would have --------------------------------------------------------------


_SHOWN = 5  # images named in a message


def source_prefixes(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return what the keys of images of the external sources begin with."""
    return tuple(source.prefix for source in sources if source.name)


def own_key(sources: Sequence[Source], key: str) -> str:
    """Return the key for a new image in `pictures/`: `key`, without "@" if it would be that of another source."""
    return key.lstrip("@") if key.startswith(source_prefixes(sources)) else key


class NewKeys:
    """Keys of images that are copied into `pictures/`, all different; also in case, if its file system ignores it."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "pictures"
        self._folded = str.casefold if (root / "PROJECT.JSON").exists() else str
        self._used: set[str] = set()

    def add(self, path: Path, key: str) -> tuple[str, bool]:
        """Return the key of an image file, numbered if another has it, and False if the file is there already."""
        for candidate in numbered_names(*os.path.splitext(key)):
            target = inside(self._folder, candidate)
            if target.exists():
                if same_content(target, path):
                    return candidate, False
            elif self._folded(candidate) not in self._used:
                self._used.add(self._folded(candidate))
                return candidate, True
        raise AssertionError("numbered names never end")


def shared_sources(root: Path, sources: Sequence[Source]) -> list[Source]:
    """Return the available sources whose keys begin as those of images in `pictures/`."""
    return [source for source in sources if source.name and _own_images(root, source) and not source.missing(root)]


def separate_keys(root: Path, sources: Sequence[Source]) -> list[Problem]:
    """Rename the folders of such images in a project that is open for writing. Return what has to be reported.

    A label stays with the source's image, unless there is none. Raises CannotWrite.
    """
    notices: list[Problem] = []
    for source in shared_sources(root, sources):
        folder = root / "pictures" / f"@{source.name}"
        own, theirs, both = _own_images(root, source), set(source.images(root)), []
        name = next(name for name in numbered_names(source.name) if not _is_used(root, name, set(own)))
        for key in own:
            for kind, suffix in LABEL_FILES:
                label = inside(root / kind, f"{source.prefix}{key}{suffix}")
                if not label.exists():
                    continue
                if key in theirs:
                    both.append(key)
                    break
                move_file(label, inside(root / kind, f"{name}/{key}{suffix}"), root=root)
        move_file(folder, folder.with_name(name), root=root)
        notices.append(KeysSeparated(name=source.name, path=str(folder), new=str(folder.with_name(name))))
        if both:
            shown = ", ".join(both[:_SHOWN]) + ("…" if len(both) > _SHOWN else "")
            notices.append(LabelsAmbiguous(n=len(both), name=source.name, other=name, images=shown))
    return notices


def _own_images(root: Path, source: Source) -> list[str]:
    """Return the paths, in the folder named as a source, of images in `pictures/`."""
    return Source(path=f"pictures/@{source.name}").images(root)


def _is_used(root: Path, name: str, own: set[str]) -> bool:
    """Return True if a folder has this name, except labels of the own images that an interrupted call has moved."""
    labels = ((root / kind / name, suffix) for kind, suffix in LABEL_FILES)
    return (root / "pictures" / name).exists() or any(
        relative.removesuffix(suffix) not in own for folder, suffix in labels for relative, _ in walk(folder)
    )
