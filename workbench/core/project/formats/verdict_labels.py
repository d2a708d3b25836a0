"""Verdicts of images: tables, folders whose names are verdicts, and flat names <verdict>_<number>.

A table has a line per image, also with one column of 0 and 1 per label (Roboflow `_classes.csv`) or with label numbers
and a list of names in labels.txt (PaddleX, PaddleClas).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import PurePosixPath, PureWindowsPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    Refusal,
    are_parts,
    comparable,
    distinctive_folders,
    entry_name,
    folder_levels,
    is_good,
    normalized_name,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, LabelWriter
from workbench.core.project.formats.label_tables import (
    SPLIT_COLUMNS,
    VERDICT_COLUMNS,
    LabelTable,
    is_number,
    is_region_table,
    tables,
)
from workbench.core.project.formats.mask_pairing import masks_beside_images
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.text_files import listed_names
from workbench.core.project.storage import same_content, write_text
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_LABEL_SUFFIXES = (*IMAGE_SUFFIXES, ".gif", ".xml", ".txt", ".json", ".npy", ".mat")
_UNDECIDED = frozenset(("", "na", "nan", "null", "tbd", "unknown", "unsure"))  # see `normalized_name`
_OTHER_COLUMNS = frozenset(("region_shape_attributes", "annotation_id"))  # of VIA and of Label Studio
_TITLES = ("image", "verdict", "split")  # of the tables that the workbench writes
_NAME_LISTS = ("labels.txt", "classes.txt", "label.txt", "label_list.txt")


def table_score(tree: FileTree) -> int:
    return sum(len(verdicts) + len(refused) for _, verdicts, refused in _tables(tree))


def find_table(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    found = {table.file: (table, verdicts, refused) for table, verdicts, refused in _tables(tree)}

    def parse(tree: FileTree, file: str) -> Iterator[ShapedImage | Refusal]:
        table, verdicts, refused = found[file]
        splits, split = _splits(table), split_of(file)
        for name, verdict in verdicts.items():
            yield ShapedImage(name, verdict=options.class_name or verdict, split=splits.get(name, split))
        for row, name, why in refused:
            place = entry_name("row", row) if row else ""
            yield Refusal(tree.path(file), why, place, () if row else None, (name,) if name else ())

    batch = find_shapes(tree, list(found), parse, options)
    given = {name: verdict for _, verdicts, _ in found.values() for name, verdict in verdicts.items()}
    kinds = frozenset(given.values())
    batch.entries = [_compare_folder(tree, entry, given.get(entry.aliases[0], ""), kinds) for entry in batch.entries]
    return batch


def _compare_folder(tree: FileTree, entry: ImportedEntry, verdict: str, kinds: frozenset[str]) -> ImportedEntry:
    """Refuse a verdict of a table whose image lies in the folder of another one; in own exports no folder is one."""
    image = entry.image
    folder = "" if image is None or tree.originals.of(image) is not None else image.parent.name
    contradicts = folder in kinds - {verdict} or (is_good(folder) and not is_good(verdict) and not is_number(verdict))
    if not (verdict and contradicts):
        return entry
    why = Message("import.several_verdicts", names=f"{folder}, {verdict}")
    return replace(entry, refused=(*entry.refused, ("", why)))


def _read(verdict: str, width: int, height: int) -> ImportedLabel:
    return ImportedLabel(verdict=verdict)


_Refused = list[tuple[int, str, str]]  # number of the row, name of the image, reason


def _tables(tree: FileTree) -> Iterator[tuple[LabelTable, dict[str, str], _Refused]]:
    """Yield (table, verdict by image name, rows without a usable verdict)."""
    names = _label_names(tree)
    for table in tables(tree):
        if not is_region_table(table) and not _OTHER_COLUMNS.intersection(table.header):
            verdicts, refused = _table_verdicts(table, names)
            if verdicts or refused:
                yield table, verdicts, refused


def _splits(table: LabelTable) -> dict[str, str]:
    """Return the data split of the images that a column of a table assigns to one."""
    column = table.column(*SPLIT_COLUMNS)
    if column is None:
        return {}
    cells = ((table.image_name(row), row[column]) for row in table.rows if column < len(row))
    return {name: split for name, cell in cells if (split := split_of(cell)) is not None}


def _table_verdicts(table: LabelTable, names: list[str]) -> tuple[dict[str, str], _Refused]:
    """Return the verdict by image name, and the rows without one. Rows with an empty cell have no verdict."""
    own = table.titles == _TITLES
    columns, flags = _verdict_columns(table)
    if not table.header:
        words = (word for i in table.others() for cell in table.cells(i) for word in cell.split())
        if any(PureWindowsPath(word).suffix.lower() in _LABEL_SUFFIXES for word in words):
            return {}, []  # image and label file: a list of pairs
        if not columns:
            return {}, [(0, "", Message("import.no_titles"))]
    if not columns:
        unclear = ", ".join(table.titles[i] for i in table.others() if not _are_measures(table, i))
        return {}, [(0, "", Message("import.verdict_column", names=unclear))] if unclear else []
    verdicts: dict[str, str] = {}
    refused: _Refused = []
    for number, row in enumerate(table.rows, 2 if table.titles else 1):
        image = table.image_name(row) if table.image < len(row) else ""
        cells = {i: row[i] for i in columns if i < len(row) and row[i]}
        found = [table.titles[i] for i, cell in cells.items() if cell != "0"] if flags else list(cells.values())
        label, why = "".join(found[:1]), ""
        if not own and PureWindowsPath(label).suffix.lower() in _LABEL_SUFFIXES:
            return {}, []  # image and label file: a list of pairs
        if not own and label.isdecimal() and int(label) < len(names):
            label = names[int(label)]
        unclear = [] if own else [cell for cell in cells.values() if _is_undecided(cell, flags)]
        if len(set(found)) > 1 or (label and verdicts.setdefault(image, label) != label):
            why = Message(
                "import.several_verdicts", names=", ".join(dict.fromkeys([verdicts.get(image, label), *found]))
            )
        elif unclear:
            why = Message("import.no_verdict", text=unclear[0])
        elif table.header and len(row) < len(table.header) and not label:
            why = Message("import.cut_row", n=len(row), m=len(table.header))
        if why:
            refused.append((number, image, why))
    for _, image, _ in refused:
        verdicts.pop(image, None)
    if not own and len(Counter(verdicts.values())) > max(20, len(verdicts) // 2):
        return {}, []  # nearly as many labels as images: numbers or remarks, not verdicts
    return verdicts, refused


def _verdict_columns(table: LabelTable) -> tuple[list[int], bool]:
    """Return the columns of the verdicts, and whether they are one of 0 and 1 for each label; [] if unclear."""
    others, named = table.others(), table.titled(*VERDICT_COLUMNS)
    if not table.header:
        return others if len(others) == 1 else [], False
    if not named and len(others) > 1 and all(table.cells(i) <= {"0", "1"} for i in others):
        return others, True
    left = [i for i in others if not _are_measures(table, i)]
    texts = [i for i in left if not table.cells(i) <= {"0", "1"}]
    return named or (texts if len(left) == 1 else []), False


def _is_undecided(cell: str, flag: bool) -> bool:
    """Return True for a cell that is no verdict, or, of a column of 0 and 1, another number or a word."""
    number = is_number(cell) and "." in cell
    return cell not in ("0", "1") if flag else number or normalized_name(cell) in _UNDECIDED


def _are_measures(table: LabelTable, column: int) -> bool:
    """Return True for a column of numbers that are more than yes and no."""
    cells = table.cells(column)
    return all(map(is_number, cells)) and not cells <= {"0", "1"}


def _label_names(tree: FileTree) -> list[str]:
    lists = (name for name in tree.files if PurePosixPath(name).name.casefold() in _NAME_LISTS)
    return [re.sub(r"^\d+\s+(?=\S)", "", name) for name in listed_names(tree, lists).values()]


def folder_score(tree: FileTree) -> int:
    return len(_folder_verdicts(tree, _images(tree))[0])


def find_folders(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    images = _images(tree)
    verdicts, origin = _folder_verdicts(tree, images)
    if not verdicts:
        verdicts = distinctive_folders(images, min_names=1)
    if options.class_name is not None:
        verdicts, origin = dict.fromkeys(images, options.class_name), ""
    batch = ImportedLabels(
        notes=[origin] if origin else [], other_masks=[tree.path(mask) for mask in masks_beside_images(tree)]
    )
    rivals = _verdicts_of_copies(tree, verdicts)
    for image in images:
        if image in verdicts:
            read = partial(_read, verdicts[image])
            why = Message("import.several_verdicts", names=", ".join(rivals.get(image, ())))
            refused = (("", why),) if image in rivals else ()
            batch.entries.append(ImportedEntry(tree.path(image), tree.path(image), image, read, refused=refused))
        elif verdicts:
            batch.unlabeled.append((tree.path(image), image))
    return batch


def _verdicts_of_copies(tree: FileTree, verdicts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the verdicts of images with a copy, of the same name and content, in the folder of another verdict.

    In own exports they are those of two images of the project.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for image in verdicts:
        if tree.originals.of(tree.path(image)) is None:
            groups[comparable(PurePosixPath(image).name)].append(image)
    found: dict[str, list[str]] = {}
    for group in groups.values():
        for first, second in combinations(group, 2) if len({verdicts[image] for image in group}) > 1 else ():
            if verdicts[first] != verdicts[second] and same_content(tree.path(first), tree.path(second)):
                found[first] = found[second] = [verdicts[first], verdicts[second]]
    return found


def rival_folders(images: list[str]) -> list[str]:
    """Return the names of two levels of folders that may be verdicts: each has several, and some of both repeat."""
    levels = [found for found in folder_levels(images) if not are_parts(found.values())]
    for first, second in combinations(levels, 2):
        pairs = {(first[image], folder) for image, folder in second.items() if image in first}
        names = [sorted(set(found.values())) for found in (first, second)]
        if min(map(len, names)) > 1 and len(pairs) > max(map(len, names)) and not any(map(is_good, sum(names, []))):
            return [", ".join(found[:3]) for found in names]
    return []


def _images(tree: FileTree) -> list[str]:
    masks = masks_beside_images(tree)
    return [image for image in tree.images if image not in masks]


def _folder_verdicts(tree: FileTree, images: list[str]) -> tuple[dict[str, str], str]:
    """Return verdicts by image, and a sentence on their origin if it is not obvious."""
    exported = {image: known.verdict for image in images if (known := tree.originals.of(tree.path(image)))}
    folders = {image: verdict for image, verdict in exported.items() if verdict} or distinctive_folders(images)
    if folders:
        unclear = are_parts(folders.values()) or rival_folders(images)
        return ({} if unclear and not any(exported.values()) else folders), ""
    named: dict[str, str] = {}
    for image in images:
        kind, separator, number = PurePosixPath(image).stem.rpartition("_")
        if separator and kind and number.isdecimal():
            named[image] = kind
    kinds = Counter(named.values())
    if len(kinds) < 2 or are_parts(kinds) or len(named) < 0.9 * len(images):
        return {}, ""
    return named, Message("import.verdicts_of_names")


class ImageFolderWriter(LabelWriter):
    """[SPLIT/]<verdict>/<image>, as torchvision, Keras and PaddleClas read it. The images are always copied."""

    holds = "verdicts"

    def write(self, image: ExportedImage) -> None:
        export = self.export
        picture = PurePosixPath(export.split_folder(image), image.verdict or "", export.image_name(image))
        export.copy_image(image, picture, always=True, verdict=image.verdict)


class VerdictTableWriter(LabelWriter):
    """verdicts.csv with the columns image, verdict and split, in UTF-8 with a byte order mark for Excel; images/."""

    holds = "verdicts"

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._rows: list[tuple[str, str, str]] = []

    def write(self, image: ExportedImage) -> None:
        export = self.export
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        self._rows.append((export.image_name(image), image.verdict or "", image.split))

    def finish(self) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(_TITLES)
        writer.writerows(self._rows)
        write_text(self.export.out / "verdicts.csv", "\ufeff" + buffer.getvalue())
