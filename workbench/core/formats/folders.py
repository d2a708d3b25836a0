"""Folders of images per kind: the folder name becomes the verdict. Also flat folders with <kind>_<number> names."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import PurePosixPath

from workbench.core.formats.foreign import Batch, Entry, Label, Options, Tree, telling_folders


def weigh(tree: Tree) -> int:
    return len(_verdicts(tree.pictures)[0])


def find(tree: Tree, options: Options, known: dict[int, str]) -> Batch:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    verdicts, how = _verdicts(tree.pictures)
    if not verdicts:
        verdicts = telling_folders(tree.pictures, least=1)
    if options.class_name is not None:
        verdicts, how = dict.fromkeys(tree.pictures, options.class_name), ""
    batch = Batch(notes=[how] if how else [])
    for picture in tree.pictures:
        if picture in verdicts:
            read = partial(_read, verdicts[picture])
            batch.entries.append(Entry(tree.path(picture), tree.path(picture), picture, read))
        elif verdicts:
            batch.unlabelled.append((tree.path(picture), picture))
    return batch


def _read(verdict: str, width: int, height: int) -> Label:
    return Label(verdict=verdict)


def _verdicts(pictures: list[str]) -> tuple[dict[str, str], str]:
    """Return verdicts by image, and a sentence on their origin if it is not obvious."""
    folders = telling_folders(pictures)
    if folders:
        return folders, ""
    named: dict[str, str] = {}
    for picture in pictures:
        kind, sign, number = PurePosixPath(picture).stem.rpartition("_")
        if sign and kind and number.isdecimal():
            named[picture] = kind
    kinds = Counter(named.values())
    if len(kinds) < 2 or len(named) < 0.9 * len(pictures):
        return {}, ""
    return named, "The folders tell no kinds, so the part of each file name before its last _ became the verdict."
