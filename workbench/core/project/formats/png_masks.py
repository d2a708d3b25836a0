"""Masks as image files: palette ids, black and white, 16 bit, color; beside their images or in a separate folder."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path, PurePosixPath

from workbench.core.images.image_files import image_size
from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    distinctive_folders,
    without_suffix,
)
from workbench.core.project.formats.label_lists import find_list, write_list
from workbench.core.project.formats.mask_pairing import pair, spellings
from workbench.core.project.formats.mask_values import ValueMeaning, collect_values, decide, read_raw
from workbench.core.project.project import NOT_LABELED, Project
from workbench.core.project.storage import write_bytes, write_text

DEFAULT_CLASS = "defect"


def recognition_score(tree: FileTree) -> int:
    """Return the number of masks, judged by names only."""
    pairing = pair(tree)
    return len(pairing.pairs) + len(pairing.unpaired)


def has_masks(tree: FileTree) -> bool:
    """Return True if some folders hold masks of the images in others, judged by the file contents."""
    pairing = pair(tree, inspect_contents=True)
    return bool(pairing.pairs) or bool(pairing.unpaired and not pairing.images)


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the masks found. known: id -> name of the project's classes."""
    pairing = pair(tree, inspect_contents=True)
    masks = [*pairing.pairs, *pairing.unpaired]
    listed = find_list(tree, masks)
    values = collect_values((tree.path(mask), _size(tree, pairing.pairs.get(mask))) for mask in masks)
    meaning = decide(values, listed, known, options.threshold, options.class_name is not None)
    names = _single_names(pairing.pairs, options, known, meaning.largest)
    batch = ImportedLabels(keep_ids=True, mask_files=[tree.path(mask) for mask in masks])
    for mask, image in pairing.pairs.items():
        read = partial(_read, tree.path(mask), meaning, names.get(image, names[""]))
        batch.entries.append(ImportedEntry(tree.path(mask), tree.path(image), image, read))
    for mask in pairing.unpaired:
        read = partial(_read, tree.path(mask), meaning, names[""])
        batch.entries.append(ImportedEntry(tree.path(mask), None, mask, read, aliases=spellings(mask)))
    batch.unlabeled = [(tree.path(image), image) for image in pairing.images] if masks else []
    batch.notes = _describe_source(meaning, bool(values.gray.any()))
    return batch


def _read(path: Path, meaning: ValueMeaning, single_name: str, width: int, height: int) -> ImportedLabel:
    mask, names = meaning.apply(read_raw(path, (width, height)), single_name)
    return ImportedLabel(mask, names)


def _size(tree: FileTree, image: str | None) -> tuple[int, int] | None:
    """Return (width, height) of a mask's image, None if unknown."""
    try:
        return None if image is None else image_size(tree.path(image))
    except Problem:
        return None


def _single_names(pairs: dict[str, str], options: ImportOptions, known: dict[int, str], top: int) -> dict[str, str]:
    """Return the class names of black and white masks by image; "" holds the name for all others."""
    if options.class_name is not None:
        return {"": options.class_name}
    folders = distinctive_folders(list(pairs.values()))
    kinds = set(folders.values())
    numbered = len({re.sub(r"\d+", "#", name) for name in kinds}) == 1  # lot1, lot2: parts, not kinds of defect
    only_class = next(iter(known.values())) if len(known) == 1 else None
    default = only_class or (known.get(1) if top == 1 else None) or DEFAULT_CLASS
    if numbered or (only_class is not None and only_class not in kinds):
        return {"": default}
    return {"": default, **folders}


def _describe_source(meaning: ValueMeaning, any_gray: bool) -> list[str]:
    if any_gray and meaning.gray == "one class" and not meaning.explicit and meaning.largest > 1:
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
        open_areas += bool((mask == NOT_LABELED).any())
        relative = without_suffix(key.lstrip("@"))
        if relative.casefold() in names:
            relative = key.lstrip("@")  # two images differ in their suffix only
        names.add(relative.casefold())
        target = out / "masks" / PurePosixPath(f"{relative}.png")
        write_bytes(target, annotation.encode_mask(mask, project.classes))
    write_text(out / "labels.txt", write_list({info.id: info.name for info in project.classes}))
    losses = []
    if verdicts:
        losses.append(f"{verdicts} verdicts: PNG masks have no place for them.")
    if open_areas:
        losses.append(f"{open_areas} masks hold areas that are not labelled yet; they are the value {NOT_LABELED}.")
    return losses
