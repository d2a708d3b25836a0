"""Label formats of other tools: one module per format, or for formats that are alike. `find` reads labels under a path.

Writers are listed in `core.project.exporting`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath

from workbench.core.images.image_files import CONVERTIBLE_SUFFIXES, image_size
from workbench.core.messages import Message
from workbench.core.plugins import plugins
from workbench.core.problems import Problem
from workbench.core.project.formats import (
    coco,
    json_formats,
    label_studio,
    label_tables,
    labelme,
    png_masks,
    verdict_labels,
    xml_formats,
    yolo,
)
from workbench.core.project.formats.base import (
    FAULTS,
    TABLE_SUFFIXES,
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    Refusal,
    comparable,
    empty_label,
    suffix_of,
)
from workbench.core.project.formats.data_split import with_splits
from workbench.core.project.formats.image_finder import ImageFinder
from workbench.core.project.formats.mask_files import ARRAY_SUFFIXES
from workbench.core.project.formats.mask_names import mask_level, words_of
from workbench.core.project.formats.mask_pairing import pair
from workbench.core.project.formats.original_names import ExportedFile, ExportRecord
from workbench.core.project.formats.shape_labels import ShapeReader
from workbench.core.project.formats.text_files import LARGEST_SET, read_text
from workbench.inference.io.image_io import IMAGE_SUFFIXES


@dataclass(frozen=True)
class Format:
    """Label format of another tool.

    recognition_score: returns the likely number of labels in a tree. title: name in the language of its tool; "" if the
    window translates a description instead. own_files: the labels are files beside the images.
    of_pixels: the labels are of pixels, so that an image without one may be an image without defects. of_images: image
    files or their folders are the labels, so that of chosen files no others count.
    """

    name: str
    recognition_score: Callable[[FileTree], int]
    reader: Callable[[FileTree, ImportOptions, dict[int, str]], ImportedLabels]
    title: str = ""
    own_files: bool = True
    of_pixels: bool = True
    of_images: bool = False

    def score(self, tree: FileTree) -> int:
        """Return the likely number of labels in a tree."""
        return self.recognition_score(tree.chosen_part() if self.of_images else tree)

    def find(self, tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
        """Return the labels in a tree, with the data split of their images. known: id -> name of the classes."""
        batch = self.reader(tree.chosen_part() if self.of_images else tree, options, known)
        if tree.chosen is not None:
            batch.unlabeled = [(path, key) for path, key in batch.unlabeled if path in tree.chosen]
        if self.own_files:
            _leave_out_predictions(tree, batch)
        batch.unread = _unread_labels(tree, batch)
        if options.background and self.of_pixels:
            batch.entries += [
                ImportedEntry(path, path, key, empty_label, background=True, count=0) for path, key in batch.unlabeled
            ]
            batch.unlabeled = []
        batch = with_splits(tree, batch)
        batch.notes += [Message("import.names_unreadable", path=str(path)) for path in tree.originals.unreadable]
        batch.entries = [_with_original_names(tree, entry, options) for entry in batch.entries]
        return batch


def _of_shapes(name: str, reader: ShapeReader, title: str = "") -> Format:
    return Format(name, reader.recognition_score, reader.find, title)


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        _of_shapes("labelme", labelme.READER, "labelme, X-AnyLabeling"),
        _of_shapes("cityscapes", json_formats.CITYSCAPES, "Cityscapes"),
        _of_shapes("eiseg", json_formats.EISEG, "EISeg"),
        _of_shapes("isat", json_formats.ISAT, "ISAT"),
        Format("coco-panoptic", coco.panoptic_score, coco.find_panoptic, "COCO panoptic"),
        Format("png", png_masks.recognition_score, png_masks.find, of_images=True),
        _of_shapes("coco", coco.COCO, "COCO"),
        _of_shapes("cvat", xml_formats.CVAT, "CVAT XML"),
        _of_shapes("cvat-backup", xml_formats.CVAT_BACKUP, "CVAT backup"),
        _of_shapes("voc", xml_formats.VOC, "Pascal VOC XML"),
        Format("yolo", yolo.recognition_score, yolo.find, "YOLO"),
        _of_shapes("deeppcb", label_tables.DEEPPCB, "DeepPCB"),
        _of_shapes("via", json_formats.VIA, "VIA"),
        _of_shapes("createml", json_formats.CREATEML, "CreateML"),
        _of_shapes("datumaro", json_formats.DATUMARO, "Datumaro"),
        _of_shapes("labelstudio", label_studio.READER, "Label Studio"),
        _of_shapes("supervisely", json_formats.SUPERVISELY, "Supervisely"),
        _of_shapes("regions", label_tables.READER),
        Format("verdicts", verdict_labels.table_score, verdict_labels.find_table, of_pixels=False),
        Format(
            "folders",
            verdict_labels.folder_score,
            verdict_labels.find_folders,
            own_files=False,
            of_pixels=False,
            of_images=True,
        ),
    )
}


_PREDICTED = frozenset(
    "pred preds predict predicts predicted prediction predictions inference inferred submission submissions".split()
)


def _is_predicted(file: str) -> bool:
    """Return True for a file that a word in its name or folder calls one of predictions: "runs/predict2/a.txt"."""
    return not _PREDICTED.isdisjoint(re.findall(r"[^\W\d_]+", file.casefold()))


def _leave_out_predictions(tree: FileTree, batch: ImportedLabels) -> None:
    """Refuse the predictions of a model beside labels of the same format."""
    groups: dict[bool, list[ImportedEntry]] = {False: [], True: []}
    for entry in batch.entries:
        groups[_is_predicted(tree.shown(entry.label))].append(entry)
    batch.entries, predicted = groups[False], groups[True]
    if not batch.entries:
        batch.entries = predicted
        return
    used = {entry.image for entry in batch.entries}
    others = {entry.image: entry.key for entry in predicted if entry.image is not None and entry.image not in used}
    batch.unlabeled += others.items()
    files = dict.fromkeys(entry.label for entry in predicted)
    batch.refused += [Refusal(file, Message("import.predicted"), images=()) for file in files]


def _with_original_names(tree: FileTree, entry: ImportedEntry, options: ImportOptions) -> ImportedEntry:
    """Return a label that the workbench has exported with the names of the project; any other one unchanged."""
    record = tree.originals.record_of(entry.label)
    if record is None:
        return entry
    image = tree.originals.of(entry.label, *entry.aliases)
    if image is None and entry.image is not None:
        image = tree.originals.of(entry.image)
    entry = replace(entry, read=partial(_read_exported, entry.read, record, image, options.class_name is not None))
    return entry if image is None else replace(entry, key=image.key.removeprefix("@"), origin=image.key)


def _read_exported(
    read: Callable[[int, int], ImportedLabel],
    record: ExportRecord,
    image: ExportedFile | None,
    named: bool,
    width: int,
    height: int,
) -> ImportedLabel:
    """Return a label with the names of the project. named: the user has chosen the name of its class or verdict."""
    label = read(width, height)
    label.exact = True
    if not named:
        own = image.class_name if image is not None else ""
        label.names = {id: own or record.classes.get(name, name) for id, name in label.names.items()}
        if label.verdict is not None:
            label.verdict = record.verdicts.get(label.verdict, label.verdict)
        if image is not None and image.verdict is not None:
            label.verdict = image.verdict or None
    return label


# Of files with the name of an image, those that hold no labels: images, data of cameras, checksums, documents.
_OTHERS = (
    ".xmp .thm .aae .md5 .sha1 .sha256 .log .tmp .bak .lnk .ini .url .htm .html .doc .docx .pdf .wld .jgw .pgw .tfw"
)
_NO_LABELS = {*IMAGE_SUFFIXES, *CONVERTIBLE_SUFFIXES, *_OTHERS.split()}
_LAST_WORD = re.compile(r"(?:\.\w+|[\W_]+[^\W\d_]+)$")
_STRUCTURED = (".json", ".xml", ".jsonl", ".ndjson", ".manifest")


def _unread_labels(tree: FileTree, batch: ImportedLabels) -> dict[Path, Path]:
    """Return image -> label file or mask of the files that have, or contain, its name and were not read."""
    read, finder = batch.read_files(), ImageFinder(tree)
    stems = {comparable(PurePosixPath(name).stem) for name in finder.names}
    by_name: dict[str, list[str]] = defaultdict(list)
    for name in finder.names:
        by_name[comparable(PurePosixPath(name).name)].append(name)
    # The array of a mask that was read is a copy of it.
    masks = {comparable(path.stem) for path in batch.mask_files}
    unread: dict[Path, Path] = {}
    for name in tree.files:
        suffix, stem = suffix_of(name), comparable(PurePosixPath(name).stem)
        is_mask = suffix in CONVERTIBLE_SUFFIXES and mask_level(name) is not None
        no_label = (suffix in _NO_LABELS and not is_mask) or (suffix in ARRAY_SUFFIXES and stem in masks)
        if tree.path(name) in read or no_label:
            continue
        while stem and stem not in stems:  # "a.png.json", "a-asset.json", "a.json.part" are of "a"
            stem = _LAST_WORD.sub("", stem) if _LAST_WORD.search(stem) else ""
        image = finder.find(stem, name) if stem else None
        for one in [image] if image is not None else _images_named_in(tree, name, by_name, masks):
            unread.setdefault(tree.path(one), tree.path(name))
    pairing = pair(tree)
    for mask, image in [
        *pairing.pairs.items(),
        *((mask, one) for mask, found in pairing.open.items() for one in found),
    ]:
        if tree.path(mask) not in read:
            unread.setdefault(tree.path(image), tree.path(mask))
    return unread


_SUFFIXES = "|".join(suffix[1:] for suffix in IMAGE_SUFFIXES)
_IMAGE_NAME = re.compile(rf"[^\"'<>|/\\:*?\s][^\"'<>|/\\:*?\n]*\.(?:{_SUFFIXES})\b", re.IGNORECASE)


def _images_named_in(tree: FileTree, file: str, images: Mapping[str, list[str]], masks: Set[str]) -> Iterable[str]:
    """Return the images whose names occur in a structured text, or beside that of another file in a row of a table.

    None if masks that were read occur too, as in lists. If no masks were read, numbers in a file that is named like
    labels, without a name of an image, may be labels of all images of its folder. images: names by their last parts,
    see `comparable`.
    """
    table = suffix_of(file) in (*TABLE_SUFFIXES, ".txt")
    if suffix_of(file) not in _STRUCTURED and not table:
        return []
    try:
        text = read_text(tree, tree.path(file), limit=LARGEST_SET)
    except FAULTS:
        return []
    text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    lines = [line for line in text.splitlines() if line.strip()]
    plain = suffix_of(file) == ".txt"
    rows = [re.sub(r"\s" if plain else "[,;\t]", "\n", line) for line in lines]
    rows = [row for row in rows if not plain or row.count("\n") < _MOST_WORDS]
    named: set[str] = set()
    for names in ({comparable(name) for name in _IMAGE_NAME.findall(row)} for row in (rows if table else (text,))):
        # of a table only the rows of pairs: others may hold measures of their image
        if len(names) > table and masks.isdisjoint(PurePosixPath(name).stem for name in names):
            named |= set() if plain and names <= images.keys() else names
    words = words_of(PurePosixPath(file).stem)
    if table and not masks and words.named and not words.rest and lines and all(map(_NUMBERS.fullmatch, lines)):
        folder = PurePosixPath(file).parent
        return [one for one in chain(*images.values()) if folder in PurePosixPath(one).parents]
    return chain.from_iterable(images.get(name, ()) for name in named)


_MOST_WORDS = 8  # of a row in a text file; sentences have more
_NUMBERS = re.compile(r"\s*[-+]?\d[-+.\deE]*(?:[,;\s]+[-+]?\d[-+.\deE]*){2,}\s*")
_SAMPLE = 200  # labels whose images are searched to compare formats


def recognized(tree: FileTree) -> list[tuple[Format, int]]:
    """Return the formats found in a tree with their number of labels, best first.

    Of several formats, the one with the most images is best: some files may belong to images that are elsewhere. Tables
    of verdicts follow the labels of pixels, and folder names are last. PNG masks are listed without a count if they are
    only likely. Labels that the workbench has exported are read as they were written.
    """
    counts = [(format, format.score(tree)) for format in FORMATS.values()]
    found = [(format, count) for format, count in counts if count]
    if not any(format.own_files for format, _ in found) and png_masks.has_masks(tree.chosen_part()):
        found.insert(0, (FORMATS["png"], 0))
    own = [format for format, _ in found if format.own_files]
    images = {format.name: _matched_images(format, tree) for format in own} if len(found) > 1 else {}

    def rank(entry: tuple[Format, int]) -> tuple[int, int, int]:
        format, count = entry
        matched = images.get(format.name, 0)
        if format.name in tree.originals.readers:
            return -1, 0, 0
        table = format.name == "verdicts"
        group = 3 if not format.own_files else (4 if table else 2) if not matched else int(table)
        return group, -matched, -count

    return sorted(found, key=rank)


def _matched_images(format: Format, tree: FileTree) -> int:
    """Return the approximate number of images with labels of a format that fit them, without decoding labels."""
    batch = format.reader(tree, ImportOptions(), {})
    entries = batch.entries
    sample = entries[:: max(1, len(entries) // _SAMPLE)]
    fitting = {entry.image for entry in sample if _fits(entry)}
    uncertain = {image for refusal in batch.refused for image in refusal.images or ()} if batch.pairings else ()
    return round(len(fitting) * len(entries) / max(1, len(sample))) + len(uncertain)


def _fits(entry: ImportedEntry) -> bool:
    if entry.image is None:
        return False
    try:
        return entry.size is None or entry.size == image_size(entry.image)
    except Problem:
        return False


# At the end: a plug-in imports this module.
FORMATS |= plugins("workbench.formats", lambda plugin: isinstance(plugin, Format), FORMATS)
