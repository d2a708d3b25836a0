"""Verdicts of images: tables with a line per image, and folders per verdict or flat names <verdict>_<number>.

The cells of a table are separated by comma, semicolon, tab, bar or blank, with or without a header; also one column of
0 and 1 per label (Roboflow `_classes.csv`), and label numbers with a list of names in labels.txt (PaddleX, PaddleClas).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath

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
    without_suffix,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.image_finder import ImageFinder
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, LabelWriter
from workbench.core.project.formats.label_tables import LabelTable, is_region_table, tables
from workbench.core.project.formats.mask_pairing import masks_beside_images
from workbench.core.project.formats.text_files import listed_names
from workbench.core.project.storage import write_text
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_LABEL_SUFFIXES = (*IMAGE_SUFFIXES, ".gif", ".xml", ".txt", ".json", ".npy", ".mat")
_LABEL_COLUMNS = frozenset("label class verdict category target result grade classname 标签 类别 结果 判定".split())
_OTHER_COLUMNS = frozenset(("region_shape_attributes", "annotation_id"))  # of VIA and of Label Studio
_SPLIT_COLUMNS = ("split", "subset", "dataset", "数据集", "划分")
_TITLES = ("image", "verdict", "split")  # of the tables that the workbench writes
_NAME_LISTS = ("labels.txt", "classes.txt", "label.txt", "label_list.txt")


def table_score(tree: FileTree) -> int:
    return sum(len(verdicts) + len(refused) for _, verdicts, refused in _tables(tree))


def find_table(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    batch, images = ImportedLabels(), ImageFinder(tree)
    for table, verdicts, refused in _tables(tree):
        splits = _splits(table)
        split = split_of(table.file)
        for name, verdict in verdicts.items():
            found = images.find(name, table.file)
            batch.entries.append(
                ImportedEntry(
                    label=tree.path(table.file),
                    image=None if found is None else tree.path(found),
                    key=found or name,
                    read=partial(_read, options.class_name or verdict),
                    aliases=(name, without_suffix(name), PurePosixPath(name).stem),
                    split=splits.get(name, split),
                )
            )
        for row, name, why in refused:
            found = images.find(name, table.file) if name else None
            paths = () if found is None else (tree.path(found),)
            batch.refused.append(Refusal(tree.path(table.file), why, entry_name("row", row), paths))
    used = {entry.image for entry in batch.entries}
    batch.unlabeled = [(tree.path(name), name) for name in images.names if tree.path(name) not in used]
    return batch


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
    column = table.column(*_SPLIT_COLUMNS)
    if column is None:
        return {}
    cells = ((table.image_name(row), row[column]) for row in table.rows if column < len(row))
    return {name: split for name, cell in cells if (split := split_of(cell)) is not None}


def _table_verdicts(table: LabelTable, names: list[str]) -> tuple[dict[str, str], _Refused]:
    """Return the verdict by image name, and the rows without one. Rows with an empty cell have no verdict."""
    columns, own = _verdict_columns(table), table.titles == _TITLES
    verdicts: dict[str, str] = {}
    refused: _Refused = []
    lengths = {len(row) for row in table.rows}
    for number, row in enumerate(table.rows, 2 if table.titles else 1):
        image = table.image_name(row) if table.image < len(row) else ""
        why = ""
        if len(columns) > 1:
            on = [table.titles[column] for column in columns if row[column : column + 1] == ["1"]]
            label = on[0] if len(on) == 1 else ""
            why = Message("import.several_verdicts", names=", ".join(on)) if len(on) > 1 else ""
        else:
            label = "".join(row[column] for column in columns if column < len(row))
            if not own and PureWindowsPath(label).suffix.lower() in _LABEL_SUFFIXES:
                return {}, []  # image and label file: a list of pairs
            if not table.header and len(row) > 2 and len(lengths) > 1:
                why = Message("import.several_verdicts", names=", ".join(row[1:]))
        if table.header and len(row) < len(table.header) and not label:
            why = Message("import.cut_row", n=len(row), m=len(table.header))
        if not own and label.isdecimal() and int(label) < len(names):
            label = names[int(label)]
        if label and not why and verdicts.setdefault(image, label) != label:
            why = Message("import.several_verdicts", names=f"{verdicts[image]}, {label}")
        if why:
            refused.append((number, image, why))
    for _, image, _ in refused:
        verdicts.pop(image, None)
    if not own and len(Counter(verdicts.values())) > max(20, len(verdicts) // 2):
        return {}, []  # nearly as many labels as images: numbers or remarks, not verdicts
    return verdicts, refused


def _verdict_columns(table: LabelTable) -> list[int]:
    """Return the column of the verdicts, or the columns of 0 and 1 of all labels."""
    columns = [(i, name) for i, name in enumerate(table.header) if i != table.image and name not in _SPLIT_COLUMNS]
    named = [i for i, name in columns if name in _LABEL_COLUMNS]
    others = [i for i, name in columns if name]
    if (
        not named
        and len(others) > 1
        and all({*row[: table.image], *row[table.image + 1 :]} <= {"0", "1"} for row in table.rows)
    ):
        return others
    width = max(map(len, table.rows), default=0)
    fallback = others or [i for i in range(width) if i != table.image]
    after = [i for i in fallback if i > table.image]
    return (named or after or fallback)[:1]


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
    for image in images:
        if image in verdicts:
            read = partial(_read, verdicts[image])
            batch.entries.append(ImportedEntry(tree.path(image), tree.path(image), image, read))
        elif verdicts:
            batch.unlabeled.append((tree.path(image), image))
    return batch


def _images(tree: FileTree) -> list[str]:
    masks = masks_beside_images(tree)
    return [image for image in tree.images if image not in masks]


def _folder_verdicts(tree: FileTree, images: list[str]) -> tuple[dict[str, str], str]:
    """Return verdicts by image, and a sentence on their origin if it is not obvious."""
    exported = {image: known.verdict for image in images if (known := tree.originals.of(tree.path(image)))}
    folders = {image: verdict for image, verdict in exported.items() if verdict} or distinctive_folders(images)
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
