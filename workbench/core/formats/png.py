"""Masks as image files: palette ids, black and white, 16 bit, color; beside their images or in a separate folder."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path, PurePosixPath

from workbench.core import annotation
from workbench.core.formats.foreign import (
    Batch,
    Entry,
    Label,
    Options,
    Tree,
    telling_folders,
    without_suffix,
)
from workbench.core.formats.label_lists import find_list, write_list
from workbench.core.formats.mask_values import Meaning, decide, read_raw, survey
from workbench.core.formats.pairing import pair, spellings
from workbench.core.pictures import picture_size
from workbench.core.problems import Problem
from workbench.core.project import NOT_LABELLED, Project
from workbench.core.storage import write_bytes, write_text

DEFAULT_CLASS = "defect"


def weigh(tree: Tree) -> int:
    """Return the number of masks, judged by names only."""
    found = pair(tree)
    return len(found.pairs) + len(found.lone)


def holds_masks(tree: Tree) -> bool:
    """Return True if some folders hold masks of the images in others, judged by the file contents."""
    found = pair(tree, look_inside=True)
    return bool(found.pairs) or bool(found.lone and not found.pictures)


def find(tree: Tree, options: Options, known: dict[int, str]) -> Batch:
    """Return the masks found. known: id -> name of the project's classes."""
    found = pair(tree, look_inside=True)
    masks = [*found.pairs, *found.lone]
    listed = find_list(tree, masks)
    values = survey((tree.path(mask), _size(tree, found.pairs.get(mask))) for mask in masks)
    meaning = decide(values, listed, known, options.threshold, options.class_name is not None)
    names = _single_names(found.pairs, options, known, meaning.top)
    batch = Batch(keep_ids=True, mask_files=[tree.path(mask) for mask in masks])
    for mask, picture in found.pairs.items():
        read = partial(_read, tree.path(mask), meaning, names.get(picture, names[""]))
        batch.entries.append(Entry(tree.path(mask), tree.path(picture), picture, read))
    for mask in found.lone:
        read = partial(_read, tree.path(mask), meaning, names[""])
        batch.entries.append(Entry(tree.path(mask), None, mask, read, aliases=spellings(mask)))
    batch.unlabelled = [(tree.path(picture), picture) for picture in found.pictures] if masks else []
    batch.notes = _say(meaning, values.grey.any())
    return batch


def _read(path: Path, meaning: Meaning, single_name: str, width: int, height: int) -> Label:
    mask, names = meaning.apply(read_raw(path, (width, height)), single_name)
    return Label(mask, names)


def _size(tree: Tree, picture: str | None) -> tuple[int, int] | None:
    """Return (width, height) of a mask's image, None if unknown."""
    try:
        return None if picture is None else picture_size(tree.path(picture))
    except Problem:
        return None


def _single_names(pairs: dict[str, str], options: Options, known: dict[int, str], top: int) -> dict[str, str]:
    """Return the class names of black and white masks by image; "" holds the name for all others."""
    if options.class_name is not None:
        return {"": options.class_name}
    folders = telling_folders(list(pairs.values()))
    kinds = set(folders.values())
    numbered = len({re.sub(r"\d+", "#", name) for name in kinds}) == 1  # lot1, lot2: parts, not kinds of defect
    only = next(iter(known.values())) if len(known) == 1 else None
    default = only or (known.get(1) if top == 1 else None) or DEFAULT_CLASS
    if numbered or (only is not None and only not in kinds):
        return {"": default}
    return {"": default, **folders}


def _say(meaning: Meaning, any_grey: bool) -> list[str]:
    if any_grey and meaning.grey == "one class" and not meaning.asked and meaning.top > 1:
        return [f"The masks are black and white: values from {meaning.threshold} on were taken as the defect."]
    return []


def write(project: Project, out: Path, keys: list[str]) -> list[str]:
    """Write `masks/<image without suffix>.png` (palette ids) and labels.txt. Return what PNG masks cannot hold."""
    verdicts = open_areas = 0
    names: set[str] = set()
    for key in keys:
        mask = annotation.load_mask(project, key)
        verdicts += annotation.load_note(project, key).verdict is not None
        if mask is None:
            continue
        open_areas += bool((mask == NOT_LABELLED).any())
        relative = without_suffix(key.lstrip("@"))
        if relative.casefold() in names:
            relative = key.lstrip("@")  # two images differ in their suffix only
        names.add(relative.casefold())
        target = out / "masks" / PurePosixPath(f"{relative}.png")
        write_bytes(target, annotation.encode_mask(mask, project.classes))
    write_text(out / "labels.txt", write_list({info.id: info.name for info in project.classes}))
    lost = []
    if verdicts:
        lost.append(f"{verdicts} verdicts: PNG masks have no place for them.")
    if open_areas:
        lost.append(f"{open_areas} masks hold areas that are not labelled yet; they are the value {NOT_LABELLED}.")
    return lost
