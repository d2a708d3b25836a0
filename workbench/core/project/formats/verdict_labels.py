"""Verdicts of images: tables with a line per image, and folders per verdict or flat names <verdict>_<number>.

The cells of a table are separated by comma, semicolon, tab or blank, with or without a header; also one column of 0 and
1 per label (Roboflow `_classes.csv`), and label numbers with a list of names in labels.txt (PaddleX, PaddleClas).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    decode_text,
    distinctive_folders,
    without_suffix,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.image_finder import ImageFinder
from workbench.core.project.formats.label_export import ExportedImage, LabelExport
from workbench.core.project.storage import write_text
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.json_io import JsonError, read_file

_LARGEST = 256 << 20  # bytes of a table
_SEPARATORS = ",;\t "
_LABEL_SUFFIXES = (*IMAGE_SUFFIXES, ".gif", ".xml", ".txt", ".json", ".npy", ".mat")
_LABEL_COLUMNS = frozenset("label class verdict category target result grade classname".split())
_NAME_LISTS = ("labels.txt", "classes.txt", "label.txt", "label_list.txt")


def table_score(tree: FileTree) -> int:
    return sum(len(verdicts) + several for verdicts, several in _tables(tree).values())


def find_table(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    batch, images = ImportedLabels(), ImageFinder(tree)
    for table, (verdicts, several) in _tables(tree).items():
        split = split_of(table)
        for name, verdict in verdicts.items():
            found = images.find(name, table)
            batch.entries.append(
                ImportedEntry(
                    label=tree.path(table),
                    image=None if found is None else tree.path(found),
                    key=found or name,
                    read=partial(_read, options.class_name or verdict),
                    aliases=(without_suffix(name), PurePosixPath(name).stem),
                    split=split,
                )
            )
        if several:
            batch.skipped.append((str(tree.path(table)), Message("import.several_labels", n=several)))
    used = {entry.image for entry in batch.entries}
    batch.unlabeled = [(tree.path(name), name) for name in images.names if tree.path(name) not in used]
    return batch


def _read(verdict: str, width: int, height: int) -> ImportedLabel:
    return ImportedLabel(verdict=verdict)


def _tables(tree: FileTree) -> dict[str, tuple[dict[str, str], int]]:
    """Return the tables of a tree: file -> (verdict by image name, number of images with several labels)."""
    names = _label_names(tree)
    tables = {}
    for file in tree.with_suffix(".csv", ".tsv", ".txt"):
        try:
            text = decode_text(read_file(tree.path(file), limit=_LARGEST))
        except (FileNotFoundError, JsonError, ValueError):
            continue
        rows = _rows(text)
        if rows:
            verdicts, several = _table_verdicts(rows, names)
            if verdicts or several:
                tables[file] = verdicts, several
    return tables


def _rows(text: str) -> list[list[str]]:
    """Return the rows of a table in which nearly every row names an image; [] if the text is none."""
    for separator in _SEPARATORS:
        try:
            rows = [
                [cell.strip() for cell in row if cell.strip() or separator != " "]
                for row in csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator != "\t")
                if any(cell.strip() for cell in row)
            ]
        except csv.Error:
            continue
        with_image = sum(_is_image(row[0]) for row in rows)
        if with_image and with_image >= len(rows) - 1 and min(len(row) for row in rows) >= 2:
            return rows
    return []


def _is_image(cell: str) -> bool:
    return PureWindowsPath(cell).suffix.lower() in IMAGE_SUFFIXES


def _table_verdicts(rows: list[list[str]], names: list[str]) -> tuple[dict[str, str], int]:
    header = None if _is_image(rows[0][0]) else rows[0]
    body = rows[1:] if header else rows
    verdicts: dict[str, str] = {}
    several = 0
    one_hot = header is not None and len(header) > 2 and all(set(row[1:]) <= {"0", "1"} for row in body)
    column = 1
    if header is not None and not one_hot:
        column = next((i for i, name in enumerate(header) if i and name.casefold() in _LABEL_COLUMNS), 1)
    for row in body:
        image = PureWindowsPath(row[0]).as_posix()
        if one_hot and header is not None:
            on = [name for name, cell in zip(header[1:], row[1:]) if cell == "1"]
            several += len(on) > 1
            label = on[0] if len(on) == 1 else ""
        else:
            label = row[column] if column < len(row) else ""
            if PureWindowsPath(label).suffix.lower() in _LABEL_SUFFIXES:
                return {}, 0  # image and label file: a list of pairs
            if header is None and len(row) > 2 and len({len(r) for r in body}) > 1:
                several, label = several + 1, ""
        if label.isdecimal() and int(label) < len(names):
            label = names[int(label)]
        if label:
            verdicts[image] = label
    if len(Counter(verdicts.values())) > max(20, len(verdicts) // 2):
        return {}, 0  # nearly as many labels as images: numbers or remarks, not verdicts
    return verdicts, several


def _label_names(tree: FileTree) -> list[str]:
    for name in tree.files:
        if PurePosixPath(name).name.casefold() in _NAME_LISTS:
            try:
                lines = decode_text(read_file(tree.path(name), limit=1 << 20)).splitlines()
            except (FileNotFoundError, JsonError, ValueError):
                continue
            return [line.split()[-1] if line.split()[0].isdecimal() else line.strip() for line in lines if line.strip()]
    return []


def folder_score(tree: FileTree) -> int:
    return len(_folder_verdicts(tree.images)[0])


def find_folders(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since verdicts are not classes."""
    verdicts, origin = _folder_verdicts(tree.images)
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


def _folder_verdicts(images: list[str]) -> tuple[dict[str, str], str]:
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


class ImageFolderWriter:
    """[SPLIT/]<verdict>/<image>, as torchvision, Keras and PaddleClas read it. The images are always copied."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "masks", int(image.mask is not None))
        if image.verdict is None:
            export.lose(image, "images without a verdict")
            return
        folder = re.sub(r'[\\/:*?"<>|]+', "_", image.verdict).strip(". ") or "_"
        flat = export.image_name(image).replace("/", "_")
        export.copy_image(image, PurePosixPath(image.split, folder, flat), always=True)

    def finish(self) -> None:
        pass


class VerdictTableWriter:
    """verdicts.csv with the columns image, verdict and split, in UTF-8 with a byte order mark for Excel; images/."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._rows: list[tuple[str, str, str]] = []

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose(image, "masks", int(image.mask is not None))
        if image.verdict is None:
            export.lose(image, "images without a verdict")
            return
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        self._rows.append((export.image_name(image), image.verdict, image.split))

    def finish(self) -> None:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(("image", "verdict", "split"))
        writer.writerows(self._rows)
        write_text(self._export.out / "verdicts.csv", "\ufeff" + buffer.getvalue())
