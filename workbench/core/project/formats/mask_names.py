"""Words in names of files and folders: those that tell masks from images, and the others, by which both are paired.

Data splits of foreign data sets: folders train, val and test, and text files that list the images of each split.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePosixPath, PureWindowsPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    IMAGE_FOLDERS,
    MASK_FOLDERS,
    SPLIT_FOLDERS,
    SPLITS,
    FileTree,
    ImportedLabels,
    normalized_name,
    suffix_of,
    without_accents,
    without_suffix,
)
from workbench.core.project.formats.text_files import text_lines
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_LIST_WORDS = frozenset(("list", "lists", "images", "file", "files", "set", "paddle"))
# Columns that may contain blanks, as "images/part 1.jpg labels/part 1.png".
_SUFFIXES = "|".join(suffix[1:] for suffix in (*sorted(IMAGE_SUFFIXES), ".xml", ".json"))
_COLUMN = re.compile(rf"\S(?:.*?\S)?\.(?:{_SUFFIXES})(?=\s|$)", re.IGNORECASE)
_LARGEST = 64 << 20  # bytes of a list


def split_of(path: str | PurePosixPath) -> str | None:
    """Return the data split that a path names: "instances_val2017.json" and "valid/a.txt" give "val"; else None."""
    words = [word for part in PurePosixPath(path).parts for word in _plain_words(part)]
    for word in reversed(words):
        split = _split_named(word)
        if split is not None:
            return split
    return None


def _split_named(word: str) -> str | None:
    return next((split for split, names in SPLITS.items() if word in names), None)


def _plain_words(name: str) -> list[str]:
    """Return the words of a name in lower case, without digits: "instances_val2017.json" gives instances, val, json."""
    return re.findall(r"[^\W\d_]+", name.casefold())


def listed_rows(tree: FileTree) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (list, split, columns) of each row in files such as train.txt, val_list.txt and ImageSets/Main/test.txt.

    Columns are paths with forward slashes; lists that are not text are left out.
    """
    for name in tree.with_suffix(".txt"):
        words = _plain_words(PurePosixPath(name).stem)
        split = _split_named(words[0]) if words else None
        if split is None or not _LIST_WORDS.issuperset(words[1:]):
            continue
        for line in text_lines(tree, name, limit=_LARGEST) or ():
            columns = line.split("\t") if "\t" in line else _COLUMN.findall(line) or line.split()
            if len(columns) == 1:
                columns = re.split("[,;]", columns[0])
            if columns:
                yield name, split, [PureWindowsPath(column).as_posix() for column in columns]


def listed_pairs(tree: FileTree) -> dict[str, str]:
    """Return mask -> image of the pairs in lists of PaddleSeg and PaddleX, relative to the list or to the tree.

    The list in an export of the workbench is one of them.
    """
    files = tree.names
    pairs = {label: image for label, image in tree.originals.pairs.items() if suffix_of(label) in IMAGE_SUFFIXES}
    for name, _, columns in listed_rows(tree):
        if len(columns) != 2:
            continue
        for folder in (PurePosixPath(name).parent, PurePosixPath()):
            image, mask = (str(folder / column) for column in columns)
            if image != mask and image in files and mask in files and PurePosixPath(mask).suffix != ".xml":
                pairs[mask] = image
                break
    return pairs


def with_splits(tree: FileTree, batch: ImportedLabels) -> ImportedLabels:
    """Return labels with the data split of each image, from lists or else from the names of its folders.

    Images outside of the folders val and test belong to none. A split is none if its only part is train or holds all
    images, and so is one with all defects outside of train (MVTec AD).
    """
    listed: dict[str, set[str]] = {}
    for _, split, columns in listed_rows(tree):
        for column in columns[:2]:  # image and mask, of which only one may be in the tree
            listed.setdefault(_key(column), set()).add(split)
    splits = [
        entry.split or _listed(entry.key, listed) or split_of(PurePosixPath(entry.key).parent)
        for entry in batch.entries
    ]
    if len(set(splits)) < 2 or set(splits) == {"train", None}:
        return batch
    train = [entry.good for entry, split in zip(batch.entries, splits) if split == "train"]
    if train and all(train):
        batch.notes.append(Message("import.no_split"))
        return batch
    batch.entries = [replace(entry, split=split) for entry, split in zip(batch.entries, splits)]
    return batch


def _key(path: str) -> str:
    if PurePosixPath(path).suffix.lower() in IMAGE_SUFFIXES:
        path = without_suffix(path)
    return path.casefold().lstrip("./")


def _listed(image: str, listed: dict[str, set[str]]) -> str | None:
    """Return the split of an image whose path ends with a listed one, or is the end of one."""
    parts = PurePosixPath(_key(image)).parts
    for start in range(len(parts)):
        found = listed.get("/".join(parts[start:]))
        if found is not None and len(found) == 1:
            return next(iter(found))
    return None


# --- masks ----------------------------------------------------------------------------------------


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
    rf"^({_LATIN})(?=\d)|^(?!mask(?:ed|ing|er))({_LONG})(?=.)|(?<=\d)({_LATIN})$|({_LONG})$"
    rf"|({_any_of(word for word in _KINDS if word[0] >= _IS_WIDE)})"
)


@dataclass(frozen=True)
class Words:
    """Words of a name that identify it, in lower case. named: how surely the name is that of a mask.

    image: the name has a word for images.
    """

    rest: tuple[str, ...]
    named: int
    image: bool


@lru_cache(maxsize=100_000)
def words_of(name: str) -> Words:
    """Return the words of a folder's name or of the stem of a file: "Masks_lot1" and "lot1" have the word "lot1"."""
    joined = _JOINED.sub(lambda match: "".join(filter(None, match.groups())).lower(), without_accents(name))
    plain = re.findall(r"[^\W_]+", _CAMEL.sub("_", joined).casefold())
    cut = [[token] if token in _KINDS else _CUTS.sub(r" \g<0> ", token).split() for token in plain]
    tokens = [part for parts in cut for part in parts]
    masks = [token for token in tokens if token in MASK_FOLDERS]
    image = any(token in IMAGE_FOLDERS for token in tokens)
    if masks or image:
        tokens = [token for token in tokens if token not in _KINDS and token not in _FILLERS]
    certain = any(token in _MASKS_ONLY or token[0] >= _IS_WIDE for token in masks)
    return Words(tuple(tokens), CERTAIN if certain else LIKELY if masks else NOT_NAMED, image)


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
def file_name(file: str) -> FileName:
    """Return the words of a path below a tree."""
    path = PurePosixPath(file)
    parts = [words_of(part) for part in path.parts[:-1]]
    stem = words_of(path.stem)
    level = mask_level(file)
    of_folders = LIKELY if any(part.named for part in parts) else NOT_NAMED
    named = CERTAIN if level is not None else max(stem.named, of_folders)
    folders = tuple(word for part in parts for word in part.rest if word not in SPLIT_FOLDERS)
    suffix = (path.suffix[1:].casefold(),) if suffix_of(file) in IMAGE_SUFFIXES else ()
    in_images = next((not part.named for part in reversed(parts) if part.named or part.image), False)
    return FileName(folders, stem.rest, stem.rest + suffix, named, in_images, split_of(path.parent))


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
