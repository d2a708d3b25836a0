"""Columns of image data, for searching and sorting a hundred thousand images in milliseconds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.core.problems import BadGrouping
from workbench.core.project.grouping import name_pattern
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Grouping

STATUSES = ("new", "started", "done")
_REBUILD_ABOVE = 5000  # changed rows above which rebuilding a column is faster

_NUMBERS: dict[str, tuple[type, Callable[[ImageRow], Any]]] = {
    "status": (np.int8, lambda row: -1 if row.broken else STATUSES.index(row.status)),
    "classes": (np.int16, lambda row: len(row.counts)),
    "regions": (np.int32, lambda row: row.region_count),
    "area": (np.int64, lambda row: row.area),
    "score": (np.float32, lambda row: np.nan if row.score is None else row.score),
    "date": (np.float64, lambda row: row.date),
    "labelled": (np.bool_, lambda row: row.labeled),
    "broken": (np.bool_, lambda row: bool(row.broken)),
}


class ImageTable:
    """Table of images: `keys` in order, and named columns, arrays with one value per key.

    Columns are created on first access and updated by `changed`.
    """

    def __init__(self, keys: Sequence[str], rows: Mapping[str, ImageRow], grouping: Grouping | None = None) -> None:
        self.keys, self.rows = keys, rows
        self.positions = {key: position for position, key in enumerate(keys)}
        self._grouping = grouping or Grouping.of_defaults()
        self._folded: list[str] | None = None
        self._columns: dict[str, np.ndarray] = {}
        self._words: dict[str, dict[str, int]] = {"verdict": {"": 0}, "group": {"": 0}}

    def __len__(self) -> int:
        return len(self.keys)

    def row(self, key: str) -> ImageRow:
        return self.rows.get(key) or ImageRow(key)

    @property
    def folded(self) -> list[str]:
        """Keys with case folded."""
        if self._folded is None:
            self._folded = [key.casefold() for key in self.keys]
        return self._folded

    def column(self, name: str) -> np.ndarray:
        """Return a column, (n,) numbers.

        "name" is the position, "status" -1 for a broken image, else its index in STATUSES, "verdict" and "group" the
        number of a word of `words`, "class:3" the pixels of class 3; others are fields of `ImageRow`.
        """
        if name == "name":
            return np.arange(len(self.keys))
        column = self._columns.get(name)
        if column is None:
            dtype, value = self._reader(name)
            rows, blank = self.rows, value(ImageRow(""))
            indexed = map(rows.get, self.keys)
            if name == "group":  # derived from the image's name if its note has none
                values = (value(row or ImageRow(key)) for key, row in zip(self.keys, indexed))
            else:
                values = (blank if row is None else value(row) for row in indexed)
            column = self._columns[name] = np.fromiter(values, dtype, len(self.keys))
        return column

    def words(self, name: str) -> dict[str, int]:
        """Return the words of the columns "verdict" and "group" with their numbers."""
        self.column(name)
        return self._words[name]

    def changed(self, rows: Sequence[ImageRow]) -> None:
        """Update the columns for changed rows, which are already in `rows`."""
        if len(rows) > _REBUILD_ABOVE:
            self._columns.clear()
            return
        for name, column in self._columns.items():
            _, value = self._reader(name)
            for row in rows:
                position = self.positions.get(row.key)
                if position is not None:
                    column[position] = value(row)

    def order(self, chosen: np.ndarray, sort: str = "name", *, descending: bool = False) -> np.ndarray:
        """Return the positions where `chosen`, bool (n,), is True, sorted; ties by name, missing values last."""
        positions = np.flatnonzero(chosen)
        values = self.column(sort)[positions]
        if sort in self._words:
            values = self._ranks(sort)[values]
        if descending:
            values = -(values if values.dtype.kind == "f" else values.astype(np.int64))
        return positions[np.argsort(values, kind="stable")]

    def _ranks(self, name: str) -> np.ndarray:
        words = self.words(name)
        ranks = np.empty(len(words), np.int32)
        for rank, word in enumerate(sorted(words, key=lambda word: (word == "", word.casefold()))):
            ranks[words[word]] = rank
        return ranks

    def _reader(self, name: str) -> tuple[type, Callable[[ImageRow], Any]]:
        if name in _NUMBERS:
            return _NUMBERS[name]
        if name == "verdict":
            return np.int32, lambda row: self._word("verdict", row.verdict or "")
        if name == "group":
            return np.int32, lambda row: self._word("group", group_of(row, self._grouping))
        id = int(name.removeprefix("class:"))
        return np.int64, lambda row: next((pixels for class_id, pixels in row.counts if class_id == id), 0)

    def _word(self, name: str, word: str) -> int:
        words = self._words[name]
        return words.setdefault(word, len(words))


def group_of(row: ImageRow, grouping: Grouping) -> str:
    """Return the group from an image's note or name: by the project's pattern, else its folder."""
    if row.group:
        return row.group
    if grouping.rule == "pattern" and grouping.pattern:
        with contextlib.suppress(BadGrouping):  # already reported by the list
            group = name_pattern(grouping.pattern).group(row.key)
            if group is not None:
                return group
    return row.key.rpartition("/")[0]


def next_row(rows: np.ndarray, current: int, step: int) -> int | None:
    """Return the nearest of some ascending rows after `current` (before with -1), wrapping around; None if no other.

    current: -1 if no row is current; the first row is returned then, or the last with -1.
    """
    rows = rows[rows != current]
    if step < 0:
        rows = rows[::-1]
    ahead = rows if current < 0 else rows[rows > current] if step > 0 else rows[rows < current]
    return int((ahead if ahead.size else rows)[0]) if rows.size else None
