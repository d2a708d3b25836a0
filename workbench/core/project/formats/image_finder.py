"""Search of the images that label files name, by stored path, path end, or name."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    TABLE_SUFFIXES,
    TEXT_SUFFIXES,
    FileTree,
    UnreadableLabel,
    comparable,
    suffix_of,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.mask_names import file_name, is_in_mask_folder, words_of
from workbench.core.project.formats.mask_pairing import FolderWords, masks_beside_images
from workbench.inference.io.image_io import IMAGE_SUFFIXES


class ImageFinder:
    """Search of the images of a tree by the names that label files contain. Masks are left out."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree
        self._masks = masks_beside_images(tree)
        self.names = [name for name in tree.images if name not in self._masks and not is_in_mask_folder(name)]
        self._exact = frozenset(self.names)
        self._known = {comparable(name): name for name in self.names}
        # Images may lie beside their labels, in a folder "annotations".
        self._all = {comparable(name): name for name in tree.images}
        self._by_stem: dict[str, list[str]] = {}
        for name in self.names:
            self._by_stem.setdefault(comparable(PurePosixPath(name).stem), []).append(name)

    def named(self, stem: str) -> list[str]:
        """Return the images of a name in any spelling; of two in one folder that differ in case, the exact one."""
        found = self._by_stem.get(comparable(stem), [])
        exact = {PurePosixPath(one).parent for one in found if PurePosixPath(one).stem == stem}
        return [one for one in found if PurePosixPath(one).parent not in exact or PurePosixPath(one).stem == stem]

    def _nearest(self, images: list[str], label: str, split: str | None) -> list[str]:
        """Return the images beside a label file or in its data split, or else those that share most folders with it."""
        near = [image for image in images if PurePosixPath(image).parent == PurePosixPath(label).parent]
        same = [image for image in images if split is not None and split_of(PurePosixPath(image).parent) == split]
        if near or len(same) == 1:
            return near or same
        return self._folders.best(label, same or images)

    @cached_property
    def _by_number(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for stem, images in self._by_stem.items():
            if stem.isdecimal():
                found.setdefault(int(stem), []).extend(images)
        return found

    @cached_property
    def _folders(self) -> FolderWords:
        return FolderWords(self.names, self._tree.with_suffix(*TEXT_SUFFIXES))

    def of_file(self, name: str, label: str, split: str | None = None) -> tuple[str | None, str, bool]:
        """Return (image, remark, doubtful) of the file `label`, which labels one image, named `name` in it.

        The image of the file's own name is labeled by it: after images and labels were renumbered, the name inside is
        an earlier one. The remark says so; it is doubtful if the image is in another folder. Raises UnreadableLabel if
        several images have the file's name and none the name inside.
        """
        inside = self.find(name, label, split)
        if inside is not None and inside == self._tree.originals.image_of(label, name):
            return inside, "", False
        stem, folder = PurePosixPath(label).stem, comparable(str(PurePosixPath(label).parent))
        named = self.named(stem)
        if not named and PurePosixPath(stem).suffix.lower() in IMAGE_SUFFIXES:  # "a.png.json"
            named = [one for one in self._by_stem.get(comparable(PurePosixPath(stem).stem), []) if one.endswith(stem)]
        if not named or inside in named:
            return inside, *self._stranger(inside, name, label)
        beside = [image for image in named if comparable(str(PurePosixPath(image).parent)) == folder]
        if len(beside) > 1:
            raise UnreadableLabel(Message("import.several_images", names=", ".join(sorted(beside))))
        own = beside or (named if len(named) == 1 else self._nearest(named, label, split))
        names = {"file": PurePosixPath(label).name, "inside": name}
        if len(own) != 1:
            return inside, "", False
        inner = PurePosixPath(name)
        if inside is None and comparable(PurePosixPath(own[0]).stem) in map(comparable, (inner.name, inner.stem)):
            return own[0], "", False
        if beside or inside is None:
            return own[0], Message("import.renamed", **names), False
        return own[0], Message("import.other_name_inside", **names, image=own[0]), True

    def _stranger(self, image: str | None, name: str, label: str) -> tuple[str, bool]:
        """Return (remark, doubtful) of the only image of a name: it may be in the folder of another part or lot."""
        if image is None or self._folders.best(label, [image]) or _common_end(name, image):
            return "", False
        return Message("import.other_folder", file=label, image=image), True

    def find(self, name: str, label: str, split: str | None = None) -> str | None:
        """Return the image stored as `name` in the file `label`, or None. Only images inside the tree are found.

        split: data split that the file names for this image. A name that is an address, or whose characters are
        written as %20, is decoded.

        Candidates in this order: relative to the label's folder, relative to the root, the image with the longest
        common end of its path (of several, those of the label's data split and the nearest), the only image with this
        stem, the image beside the label even if the folder's name is one of masks.
        """
        found = self._tree.originals.image_of(label, name) or self._find(name, label, split)
        if found is None and ("%" in name or "://" in name or "?" in name):
            found = self._find(unquote(urlsplit(name).path).lstrip("/"), label, split)
        return found

    def _find(self, name: str, label: str, split: str | None) -> str | None:
        path = PurePosixPath(name)
        stem, suffix = (path.stem, path.suffix) if path.suffix.lower() in IMAGE_SUFFIXES else (path.name, "")
        for folder in (PurePosixPath(label).parent, PurePosixPath()):
            place = normpath(folder / name)
            known = place if place in self._exact else self._known.get(comparable(place))
            if known is not None:
                return known
        candidates = self.named(stem) or self.named(path.stem)
        if not candidates and stem.isdecimal() and suffix_of(label) in TABLE_SUFFIXES:
            candidates = self._by_number.get(int(stem), [])  # a table program leaves out zeros at the start
        if suffix:
            file = comparable(PurePosixPath(name).name)
            candidates = [c for c in candidates if comparable(PurePosixPath(c).name) == file] or candidates
        if len(candidates) > 1:
            lengths = [_common_end(name, candidate) for candidate in candidates]
            best = [c for c, length in zip(candidates, lengths) if length == max(lengths)]
            own = file_name(label).stem  # "lot1" of "annotations/lot1.json" is the folder of its images
            best = [c for c in best if own in (words_of(part).rest for part in PurePosixPath(c).parts[:-1])] or best
            candidates = self._nearest(best, label, split or split_of(label))
        if candidates:
            return candidates[0] if len(candidates) == 1 else None
        beside = PurePosixPath(label).parent / stem
        return next(
            (
                self._all[known]
                for end in (suffix, *sorted(IMAGE_SUFFIXES))
                if (known := comparable(f"{normpath(beside)}{end}")) in self._all
            ),
            None,
        )

    def without(self, used: Collection[Path | None]) -> list[tuple[Path, str]]:
        """Return (file, name) of the images that are not in `used`. A folder with a used image holds no masks."""
        names = {name: self._tree.path(name) for name in self._tree.images}
        folders = {PurePosixPath(name).parent for name, path in names.items() if path in used}
        known = set(self.names)
        return [
            (path, name)
            for name, path in names.items()
            if path not in used
            and (name in known or (PurePosixPath(name).parent in folders and name not in self._masks))
        ]


def _common_end(a: str, b: str) -> int:
    """Return the number of equal folders at the end of two paths, file names left out."""
    count = 0
    for x, y in zip(reversed(PurePosixPath(a).parts[:-1]), reversed(PurePosixPath(b).parts[:-1])):
        if comparable(x) != comparable(y):
            break
        count += 1
    return count


def is_outside(name: str, label: str) -> bool:
    """Return True if a name stored in `label` leads out of the imported folder."""
    if name.startswith("/") or PureWindowsPath(name).drive:
        return True
    return os.path.normpath(PurePosixPath(label).parent / name).split(os.sep)[0] == ".."
