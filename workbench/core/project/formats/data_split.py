"""Data splits of foreign data sets: folders train, val and test, and text files that list the images of each split."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    MASK_FOLDERS,
    SPLITS,
    TABLE_SUFFIXES,
    FileTree,
    ImportedLabels,
    without_suffix,
)
from workbench.core.project.formats.text_files import text_lines
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_LIST_WORDS = frozenset(("list", "lists", "images", "file", "files", "set", "paddle"))
# Columns that may contain blanks, as "images/part 1.jpg labels/part 1.png".
_IMAGE_ENDINGS = tuple(IMAGE_SUFFIXES)
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


def paired_rows(tree: FileTree) -> Iterator[tuple[str, str, str]]:
    """Yield (list, image, mask) of the rows of lists and tables that name two image files.

    The image is first, unless the title of the first column is one of masks.
    """
    for name, _, columns in listed_rows(tree):
        if len(columns) == 2:
            yield name, columns[0], columns[1]
    for name in tree.with_suffix(*TABLE_SUFFIXES):
        titles: list[str] = []
        for line in text_lines(tree, name, limit=_LARGEST) or ():
            cells = [cell.strip('" ') for cell in re.split("[,;\t]", line)]
            titles = titles or cells
            files = [i for i, cell in enumerate(cells) if cell.lower().endswith(_IMAGE_ENDINGS)]
            if len(files) == 2:
                of_mask = not MASK_FOLDERS.isdisjoint(_plain_words("".join(titles[files[0] :][:1])))
                image, mask = (PureWindowsPath(cells[i]).as_posix() for i in (files[::-1] if of_mask else files))
                yield name, image, mask


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
