"""Masks as image files: palette ids, black and white, 16 bit, color; beside their images or in a separate folder."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    Refusal,
    distinctive_folders,
    entry_name,
    is_good,
    suffix_of,
)
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, encode_numbers, palette
from workbench.core.project.formats.label_studio import TaskMasks, count_task_masks, task_masks
from workbench.core.project.formats.mask_files import MaskContent, content_of, describe, losses_of, read_raw, size_of
from workbench.core.project.formats.mask_names import without_mask_words
from workbench.core.project.formats.mask_pairing import AS_MASKS, Pairing, name_after, pair, spellings
from workbench.core.project.formats.mask_values import LabelList, ValueMeaning, decide, find_lists, write_list
from workbench.core.project.project import NOT_LABELED
from workbench.core.project.storage import write_bytes, write_text

DEFAULT_CLASS = "defect"


def recognition_score(tree: FileTree) -> int:
    """Return the number of masks, recognized by names and, if these are not certain, by content."""
    pairing = pair(tree)
    return len(pairing.pairs) + len(pairing.unpaired) + len(pairing.open) + count_task_masks(tree)


def has_masks(tree: FileTree) -> bool:
    """Return True if some folders hold masks of the images in others, recognized by the file contents."""
    pairing = pair(tree, inspect_contents=True)
    return bool(pairing.pairs) or bool(pairing.unpaired and not pairing.images)


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the masks found. known: id -> name of the project's classes."""
    answer = options.pair if options.threshold is None else f"{options.pair or ''},{AS_MASKS}"
    pairing = pair(tree, inspect_contents=True, answer=answer)
    tasks = task_masks(tree)
    of_task = {mask: task for task in tasks for mask in task.masks}
    unused = [mask for task in tasks for mask in task.unused]
    masks = [*pairing.pairs, *pairing.unpaired, *of_task]
    pairs = pairing.pairs | {mask: task.image for mask, task in of_task.items() if task.image is not None}
    if not masks and not pairing.open and not pairing.doubtful and options.threshold is not None:
        pairs = pairing.not_masks  # the user says that they are masks
        masks = list(pairs)
    contents = {mask: content_of(tree, mask, _size(tree, pairs.get(mask))) for mask in masks}
    bases = _matlab_bases(contents)
    contents |= {mask: replace(one, values=one.values - 1) for mask in bases if (one := contents[mask]) is not None}
    lists, unreadable = find_lists(tree, masks)
    meanings = _meanings(contents, lists, known, options)
    largest = max((meaning.largest for meaning in meanings.values()), default=0)
    listed = {name for one in lists.values() if one is not None for name in one.names.values()}
    names = _single_names(pairing.pairs or pairs, options, known, largest)
    if options.class_name is None and len(listed) == 1:
        names = {"": listed.pop()}  # the only class of the lists
    if options.class_name is None:
        names |= {mask: label for task in tasks for mask, label in task.masks.items()}
    of_image: dict[str, list[str]] = defaultdict(list)
    for mask, image in pairs.items():
        of_image[image].append(mask)
    merged = all(meaning.is_one_class for meaning in meanings.values())  # several masks of an image are its classes
    keep_ids = len(set(map(id, meanings.values()))) < 2 and not (merged and len(pairs) > len(of_image))
    files = [*masks, *unused, *pairing.open, *pairing.doubtful, *pairing.copies]
    batch = ImportedLabels(keep_ids=keep_ids, mask_files=[tree.path(mask) for mask in files])

    def reader(group: Iterable[str]) -> Callable[[int, int], ImportedLabel]:
        parts = [_Part(tree.path(m), contents[m], meanings[m], names.get(m, names[""]), m in bases) for m in group]
        return partial(_read, parts)

    for image, found in of_image.items():
        for group in [found] if merged else [[mask] for mask in found]:
            refused = _further(task for task in tasks if task.image == image and group[0] == found[0])
            entry = ImportedEntry(tree.path(group[0]), tree.path(image), image, reader(group), refused=refused)
            batch.entries.append(replace(entry, count=len(group) + len(refused)))
    for mask in pairing.unpaired:
        aliases = () if mask in pairing.strange else spellings(mask)
        batch.entries.append(ImportedEntry(tree.path(mask), None, mask, reader([mask]), aliases=aliases))
    for task in tasks:
        if task.image is None:
            first, refused = next(iter(task.masks)), _further([task])
            entry = ImportedEntry(tree.path(first), None, first, reader(task.masks), task.aliases, refused=refused)
            missing = Message("import.task_image", n=task.task)
            batch.entries.append(replace(entry, count=len(task.masks) + len(refused), missing=missing))
    batch.refused = [*unreadable, *_refusals(tree, pairing, any_masks=bool(masks))]
    batch.pairings = pairing.choices
    if bases:
        batch.notes.append(Message("import.matlab_base"))
    if masks or pairing.open:
        _add_others(tree, [image for image in pairing.images if image not in of_image], batch)
    for meaning in {id(one): one for one in meanings.values()}.values():
        batch.unlisted += meaning.unlisted
        batch.notes += _describe_source(meaning, [contents[mask] for mask in masks if meanings[mask] is meaning])
    return batch


def _further(tasks: Iterable[TaskMasks]) -> tuple[tuple[str, str], ...]:
    """Return the masks of earlier annotations of an image, as refused entries."""
    unused = (PurePosixPath(mask).name for task in tasks for mask in task.unused)
    return tuple((entry_name("mask", name), Message("import.further_annotation")) for name in unused)


def _matlab_bases(contents: Mapping[str, MaskContent | None]) -> set[str]:
    """Return the MATLAB files if their numbers start at 1, the background (BSDS, CrackForest), in all of them."""
    files = {mask: one for mask, one in contents.items() if suffix_of(mask) == ".mat" and one is not None}
    smallest = min((int(one.values[0]) for one in files.values() if one.values.size), default=0)
    return set(files) if smallest == 1 else set()


def _meanings(
    contents: Mapping[str, MaskContent | None],
    lists: Mapping[str, LabelList | None],
    known: dict[int, str],
    options: ImportOptions,
) -> dict[str, ValueMeaning]:
    """Return the meaning of the values of each mask; masks with the same list of names have one meaning."""
    groups: dict[str, list[str]] = defaultdict(list)
    for mask in contents:
        groups[repr(lists[mask])].append(mask)
    meanings = {}
    for masks in groups.values():
        found = [content for mask in masks if (content := contents[mask]) is not None]
        meanings |= dict.fromkeys(masks, decide(found, lists[masks[0]], known, options))
    return meanings


def _refusals(tree: FileTree, pairing: Pairing, *, any_masks: bool) -> list[Refusal]:
    """Return the masks that are not imported before the questions about them are answered, for each possible image."""
    refused = []
    options = ", ".join(choice.rule for choice in pairing.choices)
    for mask, images in pairing.open.items():
        why = Message("import.pairing_open" if len(images) > 1 else "import.pairing_rival", options=options)
        refused.append(Refusal(tree.path(mask), why, images=tuple(map(tree.path, images))))
    for file, image in pairing.doubtful.items():
        why = Message("import.doubtful", options=options)
        refused.append(Refusal(tree.path(file), why, images=(tree.path(image or file),)))
    if not any_masks and not refused:
        for file, image in pairing.not_masks.items():
            refused.append(Refusal(tree.path(file), Message("import.many_grays_threshold"), images=(tree.path(image),)))
    return refused


def _add_others(tree: FileTree, images: list[str], batch: ImportedLabels) -> None:
    """Add images without a mask; those in folders of good images (MVTec AD) are labeled."""
    good = [image for image in images if is_good(PurePosixPath(image).parent.name)]
    for image in good:
        batch.entries.append(ImportedEntry(tree.path(image), tree.path(image), image, _read_good, good=True))
    batch.unlabeled = [(tree.path(image), image) for image in images if image not in set(good)]
    if good:
        batch.notes.append(Message("import.good_images", n=len(good)))


def _read_good(width: int, height: int) -> ImportedLabel:
    return ImportedLabel(np.zeros((height, width), np.uint8), verdict="OK")


@dataclass(frozen=True)
class _Part:
    """Mask of an image. content: of its file. name: of its only class. from_one: its numbers start at 1."""

    path: Path
    content: MaskContent | None
    meaning: ValueMeaning
    name: str
    from_one: bool

    def read(self, width: int, height: int) -> tuple[np.ndarray, dict[int, str], int]:
        """Return ids, uint8 (H, W), their names, and the number of objects. Raises UnreadableLabel."""
        raw = read_raw(self.path, (width, height))
        if self.from_one:
            raw = replace(raw, values=raw.values - 1)
        content = self.content or describe(raw, losses_of(self.path))
        return *self.meaning.apply(raw, content, self.name), raw.instances


def _read(parts: list[_Part], width: int, height: int) -> ImportedLabel:
    """Return the label of one mask, or of several masks of different classes."""
    found = [part.read(width, height) for part in parts]
    lost = Counter({"import.instances": sum(instances for *_, instances in found)})
    labels = [(mask, names) for mask, names, _ in found]
    if len(labels) == 1:
        return ImportedLabel(*labels[0], lost=lost)
    merged = np.zeros((height, width), np.uint8)
    ids: dict[str, int] = {}
    for mask, names in labels:
        for id, name in names.items():
            region = mask == id
            target = ids.setdefault(name, len(ids) + 1)
            lost["import.overlap"] += int(np.count_nonzero(region & (merged != 0) & (merged != target)))
            merged[region] = target
    return ImportedLabel(merged, {id: name for name, id in ids.items()}, lost=lost)


def _size(tree: FileTree, image: str | None) -> tuple[int, int] | None:
    """Return (width, height) of a mask's image, None if unknown."""
    return None if image is None else size_of(tree, image)


def _single_names(pairs: dict[str, str], options: ImportOptions, known: dict[int, str], top: int) -> dict[str, str]:
    """Return the class names of black and white masks by mask; "" holds the name for all others.

    Names come from the folders of the images, from those of the masks, or from the part of a mask's name that follows
    the name of its image ("part 1_crack.png").
    """
    if options.class_name is not None:
        return {"": options.class_name}
    by_image = distinctive_folders(list(pairs.values()))
    folders = {mask: by_image[image] for mask, image in pairs.items() if image in by_image}
    folders = folders or distinctive_folders(list(pairs))
    if len(pairs) > len(set(pairs.values())):  # several masks of an image
        folders = distinctive_folders(list(pairs)) or {m: n for m, i in pairs.items() if (n := name_after(m, i))}
    elif not folders:
        folders = {m: n for m, i in pairs.items() if (n := name_after(m, i))}
    kinds = {without_mask_words(name) for name in folders.values()}
    numbered = len({re.sub(r"\d+", "#", name) for name in kinds}) == 1  # lot1, lot2: parts, not kinds of defect
    folders = {mask: without_mask_words(name) for mask, name in folders.items()}
    kinds = set(folders.values())
    only_class = next(iter(known.values())) if len(known) == 1 else None
    default = only_class or (known.get(1) if top == 1 else None) or DEFAULT_CLASS
    if (numbered and len(kinds) > 1) or (only_class is not None and only_class not in kinds):
        return {"": default}
    return {"": default, **folders}


def _describe_source(meaning: ValueMeaning, contents: Iterable[MaskContent | None]) -> list[str]:
    any_gray = any(one is not None and one.kind == "grey" and len(one.values) > 1 for one in contents)
    notes: list[str] = []
    if any_gray and meaning.gray == "one class" and meaning.options.threshold is None and meaning.largest > 1:
        notes.append(Message("import.gray_masks", n=meaning.threshold))
    if meaning.unlisted:
        ids = ", ".join(str(id) for id in sorted(meaning.unlisted))
        notes.append(Message("import.unlisted_values", ids=ids, n=max(meaning.unlisted.values())))
    return notes


class PngWriter:
    """masks/<image>.png (palette ids; ignored and unlabeled pixels are 255), labels.txt, and images/."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "verdicts", int(image.verdict is not None))
        if image.mask is None:
            return
        export.lose(image, "masks with unlabeled areas", int((image.mask == NOT_LABELED).any()))
        label = PurePosixPath("masks", image.split, f"{image.name}.png")
        export.copy_image(image, PurePosixPath("images", image.split, export.image_name(image)), label=label)
        write_bytes(export.out / label, encode_numbers(export.table[image.mask], palette(export)))

    def finish(self) -> None:
        write_text(self._export.out / "labels.txt", write_list(self._export.names))
