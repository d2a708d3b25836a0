"""Image sources: folders of images, the listing of their files, their keys, and copying of images into the project.

Keys that two images would have: those of a source begin with "@name/", as may the path of one in `pictures/`. Such
images of the project's own are not listed. When the project is opened for writing, their folder is renamed: runs and
labels keep the keys of the source's images, with which these were shown.

A project or data set of somebody else may name any place outside of it: a whole disk, or a computer that learns who
opens it. Nothing is read from such places, nor are they looked up, before the user has allowed them on this computer.
The networks of a project that was not created by this user on this computer are not run in the process of the window or
command.
"""

from __future__ import annotations

import contextlib
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from pydantic import field_validator

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, FolderMissing, KeysSeparated, LabelsAmbiguous, Problem, UntrustedPlaces
from workbench.core.project.storage import LABEL_FILES, inside, move_file, same_content
from workbench.core.stored_model import StoredModel
from workbench.core.text_patterns import numbered_names
from workbench.inference.io.file_access import open_file, replacing
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.json_io import JsonError, read_json
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


def ignore_images(sources: Sequence[Source], patterns: Mapping[str, Sequence[str]]) -> None:
    """Add patterns, by the name of a source, to those of images that are not listed."""
    for source in sources:
        source.ignore = list(dict.fromkeys([*source.ignore, *patterns.get(source.name, ())]))


def list_images(sources: Sequence[Source], patterns: Mapping[str, Sequence[str]]) -> None:
    """Remove patterns that `ignore_images` has added."""
    for source in sources:
        source.ignore = [pattern for pattern in source.ignore if pattern not in patterns.get(source.name, ())]


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


_REMEMBERED = 500  # projects and data sets
_PLACES = 10  # of one name: a project and its copies
_CREATED = ""  # in place of the name of a place: the project was created here
Allowed = dict[str, list[str]]  # places by the name that the project has for them
_allowed: dict[str, Allowed] = {}  # those allowed by this process, in case that the file cannot be written


def outside_places(folder: Path, paths: Iterable[str]) -> dict[str, str]:
    """Return those `paths`, relative to `folder`, that leave it, with their absolute paths.

    Paths that do not exist are of another computer and left out. Those on the network are not looked up.
    """
    base = os.path.normpath(folder)
    places = {path: os.path.normpath(os.path.join(base, path)) for path in paths if path}
    return {path: place for path, place in places.items() if not Path(place).is_relative_to(base) and _may_exist(place)}


def project_places(root: Path, sources: Iterable[Source]) -> dict[str, str]:
    """Return the places outside of a project from which it reads images, see `outside_places`."""
    paths = [path for source in sources if source.name for path in (source.relative, source.path)]
    with contextlib.suppress(OSError):
        paths.append(os.readlink(root / "pictures"))
    return outside_places(root, paths)


def need_trust(path: Path, id: str, places: Mapping[str, str]) -> None:
    """Raise UntrustedPlaces unless the user has allowed all places for this project or data set.

    id: of the project; "" for the path. places: see `outside_places`. A project may be moved, together with folders
    that it names relative to its own; a copy reads from other such folders, which are other places.
    """
    id = id or os.path.realpath(path)
    known = [entries.get(id, {}) for entries in (_allowed, _stored())]
    if places and not any(all(_allows(places, name, allowed) for name in places) for allowed in known):
        shown = ", ".join(dict.fromkeys(places.values()))
        raise UntrustedPlaces(path=str(path), places=shown, id=id, named=dict(places))


def _allows(places: Mapping[str, str], name: str, allowed: Mapping[str, Sequence[str]]) -> bool:
    """Return True if the place of a name is among the allowed ones, or if none of them exists any more."""
    known = allowed.get(name, ())
    return places[name] in known or (bool(known) and not any(_may_exist(place) for place in known))


def _may_exist(place: str) -> bool:
    return _is_remote(place) or os.path.isdir(place)


def _is_remote(place: str) -> bool:
    """Return True for a place on the network, which is not looked up."""
    return place.startswith(("//", "\\\\"))


def trust(id: str, places: Mapping[str, str]) -> None:
    """Remember that the user has allowed a project or data set to read from places, see `outside_places`."""
    _add(id, {name: [place] for name, place in places.items()})


def note_created(id: str) -> None:
    """Remember that the user has created a project on this computer."""
    trust(id, {_CREATED: ""})


def is_own(id: str) -> bool:
    """Return True if the user has created the project of an id, or its original, on this computer."""
    return any(_CREATED in entries.get(id, {}) for entries in (_allowed, _stored()))


def trust_copy(id: str, copy: str) -> None:
    """Allow the copy of a project, which has another id, what its original is allowed."""
    for known in (_allowed, _stored()):
        _add(copy, known.get(id, {}))


def trust_named(problem: UntrustedPlaces) -> None:
    """Remember that the user has allowed the places that a problem names."""
    trust(problem.fields["id"], problem.fields["named"])


def _add(id: str, places: Mapping[str, Sequence[str]]) -> None:
    from workbench.core.project.storage import write_json

    known = _stored()
    own = _allowed.setdefault(id, known.get(id, {}))
    if all(set(found) <= set(own.get(name, ())) for name, found in places.items()):
        return
    for name, found in places.items():
        own[name] = list(dict.fromkeys([*own.get(name, ()), *found]))[-_PLACES:]
    known = {other: entry for other, entry in known.items() if other != id} | {id: own}
    with contextlib.suppress(CannotWrite):
        write_json(_path(), dict(list(known.items())[-_REMEMBERED:]))


def _path() -> Path:
    from platformdirs import user_config_dir

    return Path(user_config_dir("defect-workbench", appauthor=False)) / "trusted.json"


def _stored() -> dict[str, Allowed]:
    try:
        raw = read_json(_path())
    except (FileNotFoundError, JsonError):
        return {}
    entries = raw.items() if isinstance(raw, dict) else ()
    return {id: entry for id, entry in entries if isinstance(entry, dict) and all(map(_is_list, entry.values()))}


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
