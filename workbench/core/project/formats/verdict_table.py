"""Tables of verdicts: text files with an image and its label per line, separated by comma, semicolon, tab or blank.

With or without a header; also one column of 0 and 1 per label (Roboflow `_classes.csv`), and label numbers with a list
of names in labels.txt (PaddleX, PaddleClas).
"""

from __future__ import annotations

import csv
import io
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
    without_suffix,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.image_finder import ImageFinder
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.json_io import JsonError, read_file

_LARGEST = 256 << 20  # bytes of a table
_SEPARATORS = ",;\t "
_LABEL_SUFFIXES = (*IMAGE_SUFFIXES, ".gif", ".xml", ".txt", ".json", ".npy", ".mat")
_LABEL_COLUMNS = frozenset("label class verdict category target result grade classname".split())
_NAME_LISTS = ("labels.txt", "classes.txt", "label.txt", "label_list.txt")


def recognition_score(tree: FileTree) -> int:
    return sum(len(verdicts) + several for verdicts, several in _tables(tree).values())


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
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
            verdicts, several = _verdicts(rows, names)
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


def _verdicts(rows: list[list[str]], names: list[str]) -> tuple[dict[str, str], int]:
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
