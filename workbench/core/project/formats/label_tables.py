"""Tables in text files with a row for each image or region: separators, header, and the column of the image."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from workbench.core.project.formats.base import FileTree
from workbench.core.project.formats.text_files import LARGEST_SET, read_text, texts
from workbench.inference.io.image_io import IMAGE_SUFFIXES

_SEPARATORS = ",;\t| "
_SAMPLE = 200  # rows that are examined to find the column of the images


@dataclass(frozen=True)
class LabelTable:
    """Table whose rows name images. titles: names of the columns, empty without a header.

    image: number of the column with the names of the images.
    """

    file: str
    titles: tuple[str, ...]
    rows: list[list[str]]
    image: int

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns in lower case."""
        return tuple(title.casefold() for title in self.titles)

    def column(self, *names: str) -> int | None:
        """Return the number of the first column with one of these names, None if there is none."""
        return next((self.header.index(name) for name in names if name in self.header), None)

    def image_name(self, row: Sequence[str]) -> str:
        """Return the name of the image of a row, with forward slashes."""
        return PureWindowsPath(row[self.image]).as_posix()


def tables(tree: FileTree) -> Iterator[LabelTable]:
    """Yield the tables of a tree."""
    for file, text in texts(tree, ".csv", ".tsv", ".txt"):
        table = parse_table(file, text, tree.image_stems)
        if table is not None:
            yield table


def table_of(tree: FileTree, file: str) -> LabelTable | None:
    """Return the table in a file, None if it is none. Raises FileNotFoundError, ValueError, UnreadableLabel."""
    return parse_table(file, read_text(tree, tree.path(file), limit=LARGEST_SET), tree.image_stems)


def parse_table(file: str, text: str, stems: frozenset[str] = frozenset()) -> LabelTable | None:
    """Return a table in which nearly every row names an image, None if the text is none.

    An image is a cell with the suffix of one, or in tables with a header, the name of an image without a suffix
    (`stems`).
    """
    for separator in _SEPARATORS:
        try:
            rows = [
                [cell.strip() for cell in row if cell.strip() or separator != " "]
                for row in csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator != "\t")
                if any(cell.strip() for cell in row)
            ]
        except csv.Error:
            continue
        if max(map(len, rows), default=0) < 2:
            continue
        image = _image_column(rows, stems if PurePosixPath(file).suffix.lower() != ".txt" else frozenset())
        if image is None:
            continue
        named = is_image(rows[0][image])
        titles = () if named else tuple(rows[0])
        body = rows if named else rows[1:]
        if max(map(len, body), default=0) > 1:
            return LabelTable(file, titles, body, image)
    return None


def _image_column(rows: list[list[str]], stems: frozenset[str]) -> int | None:
    sample = rows[:_SAMPLE]
    width = min(len(row) for row in sample)
    for column in range(width):
        if sum(is_image(row[column]) for row in sample) >= max(1, len(sample) - 1):
            return column
    if len(rows) < 2:
        return None
    known = [
        sum(is_image(row[column]) or PureWindowsPath(row[column]).name in stems for row in sample[1:])
        if sample[0][column] not in stems
        else 0
        for column in range(width)
    ]
    most = max(known, default=0)
    return known.index(most) if most > len(sample[1:]) // 2 else None  # some images may be missing


def is_image(cell: str) -> bool:
    """Return True for a name with the suffix of an image file, and perhaps "_" and a number after it."""
    return re.sub(r"_\d+$", "", PureWindowsPath(cell).suffix.lower()) in IMAGE_SUFFIXES
