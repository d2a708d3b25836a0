"""Words in names of files and folders: those that tell masks from images, and the others, by which both are paired."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import PurePosixPath

from workbench.core.project.formats.base import (
    IMAGE_FOLDERS,
    MASK_FOLDERS,
    SPLIT_FOLDERS,
    normalized_name,
    suffix_of,
    without_accents,
    without_suffix,
)
from workbench.core.project.formats.data_split import split_of
from workbench.inference.io.image_io import IMAGE_SUFFIXES

NOT_NAMED, LIKELY, CERTAIN = range(3)  # how surely a name is that of a mask

# Colored copies and numbered instances that some tools write beside the masks.
_DERIVED = re.compile(
    r"visuali[sz]ation|segmentationobject|instances?$|instance[-_ ]?(ids?|masks?)$|overlay|preview|pseudo[-_ ]?colou?r",
    re.IGNORECASE,
)
# Further files per image of labelme's and Cityscapes' exporters, and masks that Label Studio names by tasks.
_DERIVED_NAME = re.compile(
    r"^label_viz$|_(instanceids|instancetrainids|labeltrainids)$|_gt(fine|coarse)_color$"
    r"|^task-\d+-annotation-\d+-by-.*-tag-",
    re.IGNORECASE,
)
# Words that mean masks only, also at the end of another one, as in "crackmask"; "label" may be part of the product.
_MASKS_ONLY = frozenset(
    "mask masks maske masken masque masques mascara mascaras maschera maschere maska maski masky maskeler маска маски "
    "маскы gt gts groundtruth groundtruths labelids".split()
)
_FILLERS = frozenset("class png npy bmp tif tiff jpeg jpg ids id fine coarse file files folder".split())
_JOINED = re.compile(r"(ground)[\W_]*(truth)|(left)[\W_]*(img)[\W_]*(8bit)|(label)[\W_]*(ids)", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


_KINDS = MASK_FOLDERS | IMAGE_FOLDERS


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_IS_WIDE = "\u2e80"  # letters from here on are of languages that are written without blanks
_LATIN = _any_of(word for word in _KINDS if word[0] < _IS_WIDE)
_LONG = _any_of(word for word in _MASKS_ONLY if len(word) > 3)
_CUTS = re.compile(
    rf"^({_LATIN})(?=\d)|^(?!mask(?:ed|ing|er))({_LONG})(?=.)|(?<=\d)({_LATIN})$|({_LONG})(?=\d*$)"
    rf"|({_any_of(word for word in _KINDS if word[0] >= _IS_WIDE)})"
)


@dataclass(frozen=True)
class Words:
    """Words of a name that identify it, in lower case. named: how surely the name is that of a mask.

    image: the name has a word for images. own: `rest` without what may number masks of an image: "a" of "a_mask_2".
    """

    rest: tuple[str, ...]
    named: int
    image: bool
    own: tuple[str, ...]


@lru_cache(maxsize=100_000)
def words_of(name: str) -> Words:
    """Return the words of a folder's name or of the stem of a file: "Masks_lot1" and "lot1" have the word "lot1"."""
    joined = _JOINED.sub(lambda match: "".join(filter(None, match.groups())).lower(), without_accents(name))
    plain = re.findall(r"[^\W_]+", _CAMEL.sub("_", joined).casefold())
    cut = [[token] if token in _KINDS else _CUTS.sub(r" \g<0> ", token).split() for token in plain]
    tokens = [part for parts in cut for part in parts]
    masks = [token for token in tokens if token in MASK_FOLDERS]
    image = any(token in IMAGE_FOLDERS for token in tokens)
    own: list[str] = []
    if masks or image:
        groups = [list(group) for _, group in groupby(tokens, lambda token: token in _KINDS or token in _FILLERS)]
        tokens = []
        for group in groups:
            if not MASK_FOLDERS.isdisjoint(group):
                own = list(tokens)
            tokens += group if _KINDS.isdisjoint(group) else []
        if masks and not own and len(cut[0]) > 1 and cut[0][0] in masks:  # "mask2_a"
            own = tokens[len(cut[0]) - 1 :]
    certain = any(token in _MASKS_ONLY or token[0] >= _IS_WIDE for token in masks)
    level = CERTAIN if certain else LIKELY if masks else NOT_NAMED
    return Words(tuple(tokens), level, image, tuple(own or tokens))


@dataclass(frozen=True)
class FileName:
    """Name of a file below a tree. folders, stem: its words. named: how surely it is the name of a mask.

    in_images: the deepest folder whose name tells something is one of images, as of "SegmentationClass/images/1.png".
    split: data split that its folders name. whole: the words with that of the suffix, which "a.jpg.png" contains.
    """

    folders: tuple[str, ...]
    stem: tuple[str, ...]
    whole: tuple[str, ...]
    named: int
    in_images: bool
    split: str | None

    def endings(self, *, whole: bool = False) -> list[tuple[str, ...]]:
        """Return the words at the end of the path that an image and its mask share, most first. whole: and the suffix.

        Without folders, the least are those of the stem that are not in the folder's name: "07" of "W1/W1_07".
        """
        stem = self.whole if whole else self.stem
        path = self.folders + stem
        keys = [path[start:] for start in range(len(path) - max(1, len(stem)) + 1)] or [path]
        least = tuple(word for word in stem if word not in self.folders)
        return keys if whole or not least or least == stem else [*keys, least]


@lru_cache(maxsize=100_000)
def file_name(file: str, *, own: bool = False) -> FileName:
    """Return the words of a path below a tree. own: without those that may number masks, see `Words`."""
    path = PurePosixPath(file)
    parts = [words_of(part) for part in path.parts[:-1]]
    stem = words_of(path.stem)
    level = mask_level(file)
    of_folders = LIKELY if any(part.named for part in parts) else NOT_NAMED
    named = CERTAIN if level is not None else max(stem.named, of_folders)
    words = [(part.own if own else part.rest) for part in (*parts, stem)]
    folders = tuple(word for part in words[:-1] for word in part if word not in SPLIT_FOLDERS)
    suffix = (path.suffix[1:].casefold(),) if suffix_of(file) in IMAGE_SUFFIXES else ()
    in_images = next((not part.named for part in reversed(parts) if part.named or part.image), False)
    return FileName(folders, words[-1], words[-1] + suffix, named, in_images, split_of(path.parent))


def mask_level(file: str) -> int | None:
    """Return the level of the folder of masks in a path, None if the deepest folder of a kind is not one of masks."""
    parts = PurePosixPath(file).parts[:-1]
    for level in range(len(parts) - 1, -1, -1):
        words = words_of(parts[level])
        if not words.rest and (words.named or words.image):
            return level if words.named else None
    return None


def is_derived(file: str) -> bool:
    """Return True for colored copies, numbered instances and other files that tools write beside masks."""
    path = PurePosixPath(file)
    return any(_DERIVED.search(part) for part in path.parts[:-1]) or bool(_DERIVED_NAME.search(path.stem))


_COPY = re.compile(r"(?: ?- ?(?:copy|kopie|copie|copia|копия|副本|コピー|복사본))?(?: ?\(\d+\))?$", re.IGNORECASE)


def are_versions(files: Iterable[str]) -> bool:
    """Return True if some files have one name: with other suffixes, or with that of a copy: "a (1).png" of "a.png"."""
    names = [os.path.splitext(file)[0] for file in files]
    copies = [original for name in names if (original := _COPY.sub("", name, count=1)) != name]
    return len(set(names)) < len(names) or not set(names).isdisjoint(copies)


def is_in_mask_folder(file: str) -> bool:
    """Return True for masks and for the copies that labelme's exporter writes into folders "<image>_json"."""
    return mask_level(file) is not None or is_derived(file) or PurePosixPath(file).parent.name.endswith("_json")


def without_mask_words(name: str) -> str:
    """Return a folder's name without the words for masks at its ends: "scratch_mask" gives "scratch"."""
    parts = re.split(r"([\W_]+)", name)
    while len(parts) > 2 and normalized_name(parts[-1]) in MASK_FOLDERS:
        parts = parts[:-2]
    while len(parts) > 2 and normalized_name(parts[0]) in MASK_FOLDERS:
        parts = parts[2:]
    return "".join(parts)


def spellings(mask: str) -> tuple[str, ...]:
    """Return possible names of a mask's image, without suffix: "masks/a_mask.png" gives "a_mask" and "a" too."""
    path, level = PurePosixPath(mask), mask_level(mask)
    paths = [path] if level is None else [path, PurePosixPath(*path.parts[:level], *path.parts[level + 1 :])]
    stems = [path.name, path.stem, without_mask_words(path.stem)]
    stems += [without_suffix(path.stem)] if suffix_of(path.stem) in IMAGE_SUFFIXES else []  # "a.jpg.png"
    return tuple(dict.fromkeys(str(path.with_name(stem)) for path in paths for stem in stems))
