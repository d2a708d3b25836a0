"""What a foreign label format hands over, whatever it is: entries that say which picture, and how to read its label."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np

from workbench.core.problems import Problem
from workbench.core.project import Project
from workbench.core.sources import natural_key
from workbench.core.walking import walk
from workbench.inference.reading import PICTURE_SUFFIXES

# Folder names that say what lies in them, and nothing about the part or the defect.
PICTURE_FOLDERS = frozenset("image images img imgs picture pictures jpegimages photo photos input inputs data".split())
MASK_FOLDERS = frozenset(
    "mask masks label labels annotation annotations ann anns groundtruth groundtruths gt gts segmentation "
    "segmentations segmentationclass segmentationclasspng seg segs labelids maskpng maskspng".split()
)
SPLIT_FOLDERS = frozenset("train training val valid validation test testing trainval dev".split())


class Unreadable(Exception):
    """One label that cannot be taken over; the text is the reason, a part of a sentence. The import goes on."""


# All that a damaged label file may raise while it is read; a full disk is a Problem and ends the import.
FAULTS = (Unreadable, OSError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError,
          MemoryError)  # fmt: skip


def reason(error: BaseException) -> str:
    """Return why a label cannot be taken over, as a part of a sentence."""
    if isinstance(error, (Unreadable, Problem)):
        return str(error)
    return f"it cannot be read ({getattr(error, 'strerror', None) or error or type(error).__name__})"


@dataclass(frozen=True)
class Options:
    """What the person who imports decided. threshold: grey values from it on are the defect."""

    class_name: str | None = None
    threshold: int | None = None


@dataclass
class Label:
    """One picture's label. mask: uint8 (H, W) of the ids in `names`, with 0, 254 and 255 as in a project; or None."""

    mask: np.ndarray | None = None
    names: dict[int, str] = field(default_factory=dict)
    verdict: str | None = None
    notes: list[str] = field(default_factory=list)  # what could not be taken over, English sentences


@dataclass(frozen=True)
class Entry:
    """One label and the picture that it belongs to.

    label: the file that holds it. picture: the picture's file, or None if it must be one of the project's.
    key: where the picture would lie below `pictures/`. aliases: other spellings of the key, without a suffix, by which
    the project's pictures are searched. read: (width, height) of the picture to its label, raises Unreadable.
    embedded: the bytes of the picture where the label file carries them. missing: why `picture` is None.
    """

    label: Path
    picture: Path | None
    key: str
    read: Callable[[int, int], Label]
    aliases: tuple[str, ...] = ()
    embedded: Callable[[], bytes] | None = None
    missing: str = "its picture was found neither beside it nor in the project"


@dataclass
class Batch:
    """Everything that one format found under a path. keep_ids: a new class takes the id that its label uses."""

    entries: list[Entry] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unlabelled: list[tuple[Path, str]] = field(default_factory=list)  # pictures without a label: (file, key)
    mask_files: list[Path] = field(default_factory=list)  # labels that look like pictures
    keep_ids: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Tree:
    """The files under the imported path, as natural-sorted posix paths below `root`."""

    root: Path
    files: tuple[str, ...]

    @classmethod
    def of(cls, path: Path, project: Project | None = None) -> Tree:
        """All regular files below `path` that are not hidden; the project itself is passed over when it lies inside."""
        root = path.absolute()
        own = None if project is None else os.path.realpath(project.root)

        def enter(entry: os.DirEntry[str]) -> bool:
            return entry.name != "__MACOSX" and (own is None or os.path.realpath(entry.path) != own)

        found = [relative for relative, _ in walk(root, enter)]
        return cls(root, tuple(sorted(found, key=natural_key)))

    def path(self, relative: str) -> Path:
        return self.root / relative

    def ending(self, *suffixes: str) -> list[str]:
        return [name for name in self.files if suffix_of(name) in suffixes]

    @property
    def pictures(self) -> list[str]:
        return [name for name in self.files if suffix_of(name) in PICTURE_SUFFIXES]


def suffix_of(relative: str) -> str:
    return PurePosixPath(relative).suffix.lower()


def without_suffix(relative: str) -> str:
    stem, _ = os.path.splitext(relative)
    return stem


def plain(name: str) -> str:
    """A folder's name for comparison: "Ground_Truth" is "groundtruth"."""
    return re.sub(r"[\W_]+", "", name).casefold()


def says_nothing(folder: str) -> bool:
    """True for "images", "Validation_Images", "train": names that tell no class."""
    words = [word.casefold() for word in re.split(r"[\W_]+", folder) if word]
    generic = PICTURE_FOLDERS | MASK_FOLDERS | SPLIT_FOLDERS
    return plain(folder) in generic or (bool(words) and all(word in generic for word in words))


def telling_folders(relatives: Sequence[str], *, least: int = 2) -> dict[str, str]:
    """For each path the folder that tells pictures apart: the first level with `least` telling names; or nothing.

    "MT_Crack/Imgs/7.jpg" and "MT_Fray/Imgs/9.jpg" give MT_Crack and MT_Fray, "train/OK/1.png" gives OK.
    """
    levels: dict[int, set[str]] = {}
    paths = {relative: PurePosixPath(relative).parts[:-1] for relative in relatives}
    for parts in paths.values():
        for level, part in enumerate(parts):
            if not says_nothing(part):
                levels.setdefault(level, set()).add(part)
    for level in sorted(levels):
        if len(levels[level]) >= least:
            return {
                relative: parts[level] for relative, parts in paths.items()
                if len(parts) > level and not says_nothing(parts[level])
            }  # fmt: skip
    return {}
