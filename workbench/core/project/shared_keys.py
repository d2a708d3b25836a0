"""Keys that two images would have: those of a source begin with "@name/", as may the path of one in `pictures/`.

Such images of the project's own are not listed. When the project is opened for writing, their folder is renamed: runs
and labels keep the keys of the source's images, with which these were shown.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from workbench.core.problems import KeysSeparated, LabelsAmbiguous, Problem
from workbench.core.project.sources import Source, walk
from workbench.core.project.storage import LABEL_FILES, inside, move_file, same_content
from workbench.core.text_patterns import numbered_names

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
