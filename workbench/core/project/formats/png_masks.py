"""Masks as image files: palette ids, black and white, 16 bit, color; beside their images or in a separate folder.

Writers: PNG, lists of PaddleSeg and PaddleX, the layout of MVTec AD, Pascal VOC folders.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    PairingChoice,
    Refusal,
    UnreadableLabel,
    are_parts,
    distinctive_folders,
    empty_label,
    entry_name,
    is_good,
    is_in_good_folder,
    suffix_of,
)
from workbench.core.project.formats.label_export import (
    VOID,
    ExportedImage,
    LabelExport,
    LabelWriter,
    encode_numbers,
    palette,
    regions,
    write_lines,
)
from workbench.core.project.formats.label_studio import TaskMasks, count_task_masks, task_masks
from workbench.core.project.formats.mask_content import MaskContent, content_of, describe, size_of, why_unreadable
from workbench.core.project.formats.mask_files import losses_of, read_raw
from workbench.core.project.formats.mask_names import are_versions, mask_level, spellings, without_mask_words, words_of
from workbench.core.project.formats.mask_pairing import AS_MASKS, Pairing, pair
from workbench.core.project.formats.mask_values import LabelList, ValueMeaning, decide, find_lists, write_list
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED
from workbench.core.project.storage import write_bytes, write_text

DEFAULT_CLASS = "defect"
_UNLISTED = {"unlisted=name": "name", "unlisted=ignore": "ignore"}  # answers: `ImportOptions.unlisted`
_EXAMPLES = 3


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
    found = _MaskSet(tree, options, known)
    pairing, meanings = found.pairing, {id(one): one for one in found.meanings.values()}.values()
    files = [*found.masks, *found.unused, *pairing.open, *pairing.doubtful, *pairing.copies]
    batch = ImportedLabels(
        entries=[*found.entries(), *found.entries_without_image()],
        refused=[*found.unreadable_lists, *_refusals(tree, pairing, any_masks=bool(found.masks))],
        pairings=[*pairing.choices, *found.unlisted_choices()],
        unlisted=sum((one.unlisted for one in meanings), Counter()),
        mask_files=[tree.path(mask) for mask in files],
        keep_ids=len(meanings) < 2 and not (found.merged and len(found.pairs) > len(found.of_image)),
    )
    if found.from_one:
        batch.notes.append(Message("import.matlab_base"))
    if found.masks or pairing.open:
        _add_others(tree, [image for image in pairing.images if image not in found.of_image], batch)
    for meaning in meanings:
        batch.notes += _describe_source(
            meaning, [found.contents[m] for m in found.masks if found.meanings[m] is meaning]
        )
    return batch


class _MaskSet:
    """Masks of a tree with their images, contents and meanings.

    pairs: mask -> image. of_image: image -> masks. merged: several masks of an image are its classes. from_one: masks
    of MATLAB whose numbers start at 1. unused: masks of earlier annotations.
    """

    def __init__(self, tree: FileTree, options: ImportOptions, known: dict[int, str]) -> None:
        rules = (options.pair or "").split(",")
        unlisted = next((_UNLISTED[rule] for rule in rules if rule in _UNLISTED), options.unlisted)
        self._tree, self._options = tree, replace(options, unlisted=unlisted)
        answer = options.pair if options.threshold is None else f"{options.pair or ''},{AS_MASKS}"
        self.pairing = pairing = pair(tree, inspect_contents=True, answer=answer)
        self._tasks = task_masks(tree)
        of_task = {mask: task for task in self._tasks for mask in task.masks}
        self.unused = [mask for task in self._tasks for mask in task.unused]
        self.masks = [*pairing.pairs, *pairing.unpaired, *of_task]
        self.pairs = pairing.pairs | {mask: task.image for mask, task in of_task.items() if task.image is not None}
        if not self.masks and not pairing.open and not pairing.doubtful and options.threshold is not None:
            self.pairs = pairing.not_masks  # the user says that they are masks
            self.masks = list(self.pairs)
        self._read_contents()
        lists, self.unreadable_lists = find_lists(tree, self.masks)
        self.meanings = _meanings(self.contents, lists, known, self._options)
        largest = max((meaning.largest for meaning in self.meanings.values()), default=0)
        listed = {name for one in lists.values() if one is not None for name in one.names.values()}
        self._names = _single_names(pairing.pairs or self.pairs, options, known, largest)
        if options.class_name is None:
            if len(listed) == 1:
                self._names = {"": listed.pop()}  # the only class of the lists
            self._names |= {mask: label for task in self._tasks for mask, label in task.masks.items()}
        self.of_image: dict[str, list[str]] = defaultdict(list)
        for mask, image in self.pairs.items():
            self.of_image[image].append(mask)
        self.merged = all(meaning.is_one_class for meaning in self.meanings.values())

    def _read_contents(self) -> None:
        sizes = {image: size_of(self._tree, image) for image in self.pairs.values()}
        self.contents = {mask: content_of(self._tree, mask, sizes.get(self.pairs.get(mask, ""))) for mask in self.masks}
        # In MATLAB, numbers start at 1, which is the background (BSDS, CrackForest), if they do so in all files.
        files = {mask: one for mask, one in self.contents.items() if suffix_of(mask) == ".mat" and one is not None}
        smallest = min((int(one.values[0]) for one in files.values()), default=0)
        self.from_one = set(files) if smallest == 1 else set()
        self.contents |= {mask: replace(files[mask], values=files[mask].values - 1) for mask in self.from_one}

    def _reader(self, masks: Iterable[str], *, good: bool = False) -> Callable[[int, int], ImportedLabel]:
        parts = [
            _Part(
                self._tree.path(mask),
                self.contents[mask],
                self.meanings[mask],
                self._names.get(mask, self._names[""]),
                mask in self.from_one,
            )
            for mask in masks
        ]
        return partial(_read, parts, good=good)

    def entries(self) -> Iterator[ImportedEntry]:
        """Yield the labels of the images that have masks."""
        path = self._tree.path
        own = self._tree.originals  # in own exports no folder says that an image has no defects
        good = {image for image in self.of_image if is_in_good_folder(image) and own.of(path(image)) is None}
        good = good if len(good) < len(self.of_image) else set()  # a folder "ok" of all images says nothing
        for image, found in self.of_image.items():
            # files of one mask must be equal
            for group in [found] if self.merged and not are_versions(found) else [[mask] for mask in found]:
                first = group[0] == found[0]
                refused = _further(task for task in self._tasks if task.image == image and first)
                entry = ImportedEntry(
                    path(group[0]), path(image), image, self._reader(group, good=image in good), refused=refused
                )
                yield replace(entry, count=len(group) + len(refused))

    def entries_without_image(self) -> Iterator[ImportedEntry]:
        path = self._tree.path
        for mask in self.pairing.unpaired:
            aliases = () if mask in self.pairing.strange else spellings(mask)
            entry = ImportedEntry(path(mask), None, mask, self._reader([mask]), aliases=aliases)
            yield replace(entry, missing=why_unreadable(self._tree, mask) or entry.missing)
        for task in self._tasks:
            if task.image is None:
                first, refused = next(iter(task.masks)), _further([task])
                entry = ImportedEntry(path(first), None, first, self._reader(task.masks), task.aliases, refused=refused)
                missing = Message("import.task_image", n=task.task)
                yield replace(entry, count=len(task.masks) + len(refused), missing=missing)

    def unlisted_choices(self) -> list[PairingChoice]:
        """Return the possible answers to the question what the values mean that no name explains."""
        found: dict[str, set[int]] = {}
        for mask, content in self.contents.items():
            values = self.meanings[mask].unlisted.keys() & set([] if content is None else content.values.tolist())
            if values and self._options.unlisted == "refuse":
                found[mask] = values
        path, ids = self._tree.path, ", ".join(map(str, sorted(set().union(*found.values()))))
        examples = [(path(self.pairs[mask]) if mask in self.pairs else None, path(mask)) for mask in found]
        texts = (Message("import.unlisted_name", ids=ids), Message("import.unlisted_ignore", ids=ids))
        rules = zip(_UNLISTED, texts) if found else ()
        return [PairingChoice(rule, text, len(found), examples[:_EXAMPLES]) for rule, text in rules]


def _further(tasks: Iterable[TaskMasks]) -> tuple[tuple[str, str], ...]:
    """Return the masks of earlier annotations of an image, as refused entries."""
    unused = (PurePosixPath(mask).name for task in tasks for mask in task.unused)
    return tuple((entry_name("mask", name), Message("import.further_annotation")) for name in unused)


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
    for mask, images in pairing.open.items():
        why = Message("import.pairing_open" if len(images) > 1 else "import.pairing_rival")
        refused.append(Refusal(tree.path(mask), why, images=tuple(map(tree.path, images))))
    for file, image in pairing.doubtful.items():
        refused.append(Refusal(tree.path(file), Message("import.doubtful"), images=(tree.path(image or file),)))
    if not any_masks and not refused:
        for file, image in pairing.not_masks.items():
            refused.append(Refusal(tree.path(file), Message("import.many_grays_threshold"), images=(tree.path(image),)))
    return refused


def _add_others(tree: FileTree, images: list[str], batch: ImportedLabels) -> None:
    """Add images without a mask; those in folders of good images (MVTec AD) are labeled."""
    good = [image for image in images if is_in_good_folder(image)]
    for image in good:
        read = partial(empty_label, verdict="OK")
        batch.entries.append(ImportedEntry(tree.path(image), tree.path(image), image, read, good=True))
    batch.unlabeled = [(tree.path(image), image) for image in images if image not in set(good)]
    if good:
        batch.notes.append(Message("import.good_images", n=len(good)))


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


def _read(parts: list[_Part], width: int, height: int, *, good: bool) -> ImportedLabel:
    """Return the label of one mask, or of several masks of different classes. good: the folder says: no defects."""
    found = [part.read(width, height) for part in parts]
    if good and any(((mask > 0) & (mask <= MAX_CLASS_ID)).any() for mask, *_ in found):
        raise UnreadableLabel(Message("import.defect_in_good_folder"))
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


def _single_names(pairs: dict[str, str], options: ImportOptions, known: dict[int, str], top: int) -> dict[str, str]:
    """Return the class names of black and white masks by mask; "" holds the name for all others.

    Names come from the folders of the images, from those of the masks, or from the part of a mask's name that follows
    the name of its image ("part 1_crack.png").
    """
    if options.class_name is not None:
        return {"": options.class_name}

    def kinds_in(paths: Mapping[str, str]) -> dict[str, str]:
        """Return the folder that distinguishes each mask; a folder with the name of the image is that of one part."""
        names = distinctive_folders(list(paths.values()))
        found = {mask: names[path] for mask, path in paths.items() if path in names}
        return {mask: name for mask, name in found.items() if name != PurePosixPath(pairs[mask]).stem}

    several = len(pairs) > len(set(pairs.values()))  # masks of an image
    below = kinds_in({mask: path for mask in pairs if (path := _below_mask_folder(mask))})
    folders = {mask: name for mask, name in below.items() if name in PurePosixPath(pairs[mask]).parts}
    folders = folders or ({} if several else kinds_in(pairs))
    folders = folders or kinds_in({mask: mask for mask in pairs})
    folders = folders or {mask: name for mask, image in pairs.items() if (name := _name_after(mask, image))}
    folders = {mask: without_mask_words(name) for mask, name in folders.items()}
    kinds = set(folders.values())
    only_class = next(iter(known.values())) if len(known) == 1 else None
    default = only_class or (known.get(1) if top == 1 else None) or DEFAULT_CLASS
    if are_parts(kinds) or (only_class is not None and only_class not in kinds):
        return {"": default}
    return {"": default, **folders}


def _name_after(mask: str, image: str) -> str:
    """Return the name of a class in a mask's name after the name of its image; "" if there is none."""
    stem, start = PurePosixPath(mask).stem, PurePosixPath(image).stem
    if not stem.casefold().startswith(start.casefold()):
        return ""
    name = stem[len(start) :]
    if name.casefold().startswith(suffix_of(image)):  # "a.bmp_crack"
        name = name[len(suffix_of(image)) :]
    name = without_mask_words(name).strip("-_. ")
    return name if any(not word.isdecimal() for word in words_of(name).rest) else ""


def _below_mask_folder(mask: str) -> str:
    """Return the path of a mask below its folder of masks, if any: "cut/1.png" of "bottle/ground_truth/cut/1.png"."""
    level = mask_level(mask)
    return "" if level is None else "/".join(PurePosixPath(mask).parts[level + 1 :])


def _describe_source(meaning: ValueMeaning, contents: Iterable[MaskContent | None]) -> list[str]:
    any_gray = any(one is not None and one.kind == "grey" and len(one.values) > 1 for one in contents)
    notes: list[str] = [Message("import.blended", n=len(meaning.blended))] if meaning.blended else []
    if any_gray and meaning.gray == "one class" and meaning.options.threshold is None and meaning.largest > 1:
        notes.append(Message("import.gray_masks", n=meaning.threshold))
    if meaning.unlisted:
        ids = ", ".join(str(id) for id in sorted(meaning.unlisted))
        notes.append(Message("import.unlisted_values", ids=ids, n=max(meaning.unlisted.values())))
    return notes


# --- writers --------------------------------------------------------------------------------------


class PngWriter(LabelWriter):
    """masks/<image>.png (palette ids; ignored and unlabeled pixels are 255), labels.txt, and images/."""

    marks_ignored = True

    def write(self, image: ExportedImage) -> None:
        export = self.export
        label = PurePosixPath("masks", image.split, f"{image.name}.png")
        export.copy_image(image, PurePosixPath("images", image.split, export.image_name(image)), label=label)
        write_bytes(export.out / label, export.numbered_mask(image))

    def finish(self) -> None:
        write_text(self.export.out / "labels.txt", write_list(self.export.names))


PADDLE_LIST = ("background",)


class PaddleWriter(LabelWriter):
    """images/, annotations/<image>.png (0 background, 1..n classes, 255 ignored), train.txt, val.txt, test.txt.

    labels.txt and class_names.txt name the numbers from 0, background first. A list without images is not written, as
    PaddleX refuses empty lists.
    """

    marks_ignored = True

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._lists: dict[str, list[str]] = defaultdict(list)

    def write(self, image: ExportedImage) -> None:
        export = self.export
        picture = PurePosixPath("images", export.image_name(image))
        mask = PurePosixPath("annotations", f"{image.name}.png")
        write_bytes(export.out / mask, export.numbered_mask(image))
        export.copy_image(image, picture, label=mask)
        self._lists[image.split or "train"].append(f"{picture} {mask}")

    def finish(self) -> None:
        for split, rows in self._lists.items():
            write_lines(self.export.out / f"{split}.txt", rows)
        for name in ("labels.txt", "class_names.txt"):
            write_text(self.export.out / name, write_list(self.export.names, PADDLE_LIST))


_GRAYS = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)  # palette


class MvtecWriter(LabelWriter):
    """Images without defects in train/good (in test/good if their split is test), others in test by their class.

    Masks are black and white. The images are always copied, since their folder is the label.
    """

    holds = "folders"

    def write(self, image: ExportedImage) -> None:
        export = self.export
        ids = [] if image.mask is None else [id for id in annotation.ids_in(image.mask) if 0 < id <= MAX_CLASS_ID]
        name, verdict = export.image_name(image), image.verdict or ""
        if not ids:
            if image.mask is None and (image.verdict is None or not is_good(image.verdict)):
                export.lose(image, "images without a mask")
                return
            folder = "test" if image.split in ("val", "test") else "train"
            export.copy_image(image, PurePosixPath(folder, "good", name), always=True, verdict=verdict)
            return
        assert image.mask is not None
        export.lose_areas(image, ignored=True)
        export.lose(image, "classes in one mask", len(ids) - 1)
        export.lose(image, "verdicts", int(image.verdict is not None))
        kind = export.names[export.numbers[ids[0]]] if len(ids) == 1 else "combined"
        class_name = kind if len(ids) == 1 else ""
        defect = np.where((image.mask > 0) & (image.mask <= MAX_CLASS_ID), 255, 0).astype(np.uint8)
        label = PurePosixPath("ground_truth", kind, f"{image.name}_mask.png")
        write_bytes(export.out / label, encode_numbers(defect, _GRAYS))
        picture = PurePosixPath("test", kind, name)
        export.copy_image(image, picture, label=label, always=True, class_name=class_name, verdict=verdict)


VOC_LIST = ("# label:color_rgb:parts:actions", "background:0,0,0::")
_MOST_OBJECTS = 254  # numbers of an object mask


class VocWriter(LabelWriter):
    """SegmentationClass, SegmentationObject, Annotations (boxes), ImageSets, JPEGImages and labelmap.txt.

    Masks have the colors of labelmap.txt, by which CVAT reads them, as the palette of class numbers.
    """

    marks_ignored = True

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._sets: dict[str, list[str]] = defaultdict(list)

    def write(self, image: ExportedImage) -> None:
        assert image.mask is not None
        export, found = self.export, regions(image.mask, self.export.numbers)
        objects = np.zeros(image.mask.shape, np.uint8)
        objects[(image.mask == DONT_CARE) | (image.mask == NOT_LABELED)] = VOID
        for number, region in enumerate(found[:_MOST_OBJECTS], 1):
            objects[region.rect.slices][region.inside] = number
        export.lose(image, "objects", max(0, len(found) - _MOST_OBJECTS))
        label = PurePosixPath("SegmentationClass", f"{image.name}.png")
        write_bytes(export.out / label, export.numbered_mask(image))
        object_file = export.out / "SegmentationObject" / f"{image.name}.png"
        write_bytes(object_file, encode_numbers(objects, _object_colors()))
        names = [(export.names[export.numbers[region.class_id]], region.rect) for region in found]
        write_text(export.out / "Annotations" / f"{image.name}.xml", _boxes(export, image, names))
        export.copy_image(image, PurePosixPath("JPEGImages", export.image_name(image)), label=label)
        self._sets[image.split or "default"].append(image.name)

    def finish(self) -> None:
        colors = palette(self.export)
        rows = {id: f"{name}:{','.join(map(str, colors[id]))}::" for id, name in self.export.names.items()}
        write_text(self.export.out / "labelmap.txt", write_list(rows, VOC_LIST))
        for split, names in self._sets.items():
            for kind in ("Segmentation", "Main"):
                write_lines(self.export.out / "ImageSets" / kind / f"{split}.txt", names)


def _object_colors() -> np.ndarray:
    """Return distinct colors of object numbers, uint8 (256, 3): the bits of a number, interleaved over the channels."""
    numbers = np.arange(256)
    colors = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        colors[:, bit % 3] |= (((numbers >> bit) & 1) << (7 - bit // 3)).astype(np.uint8)
    return colors


def _boxes(export: LabelExport, image: ExportedImage, objects: list) -> str:
    root = Element("annotation")
    name = PurePosixPath(export.image_name(image))
    SubElement(root, "folder").text = str(name.parent) if name.parent.name else "JPEGImages"
    SubElement(root, "filename").text = str(name)
    size = SubElement(root, "size")
    for key, value in (("width", image.width), ("height", image.height), ("depth", 3)):
        SubElement(size, key).text = str(value)
    SubElement(root, "segmented").text = "1"
    for label, rect in objects:
        entry = SubElement(root, "object")
        SubElement(entry, "name").text = label
        SubElement(entry, "difficult").text = "0"
        box = SubElement(entry, "bndbox")
        corners = (rect.x, rect.y, rect.x + rect.width, rect.y + rect.height)
        for key, value in zip(("xmin", "ymin", "xmax", "ymax"), corners):
            SubElement(box, key).text = str(value)
    indent(root)
    return tostring(root, encoding="unicode") + "\n"
