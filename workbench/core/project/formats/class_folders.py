"""Folders of images per kind: the folder name becomes the verdict. Also flat folders with <kind>_<number> names."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import PurePosixPath

from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    distinctive_folders,
)


def recognition_score(tree: FileTree) -> int:
    return len(_verdicts(tree.images)[0])


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    verdicts, origin = _verdicts(tree.images)
    if not verdicts:
        verdicts = distinctive_folders(tree.images, min_names=1)
    if options.class_name is not None:
        verdicts, origin = dict.fromkeys(tree.images, options.class_name), ""
    batch = ImportedLabels(notes=[origin] if origin else [])
    for image in tree.images:
        if image in verdicts:
            read = partial(_read, verdicts[image])
            batch.entries.append(ImportedEntry(tree.path(image), tree.path(image), image, read))
        elif verdicts:
            batch.unlabeled.append((tree.path(image), image))
    return batch


def _read(verdict: str, width: int, height: int) -> ImportedLabel:
    return ImportedLabel(verdict=verdict)


def _verdicts(images: list[str]) -> tuple[dict[str, str], str]:
    """Return verdicts by image, and a sentence on their origin if it is not obvious."""
    folders = distinctive_folders(images)
    if folders:
        return folders, ""
    named: dict[str, str] = {}
    for image in images:
        kind, separator, number = PurePosixPath(image).stem.rpartition("_")
        if separator and kind and number.isdecimal():
            named[image] = kind
    kinds = Counter(named.values())
    if len(kinds) < 2 or len(named) < 0.9 * len(images):
        return {}, ""
    return named, "The folders tell no kinds, so the part of each file name before its last _ became the verdict."
