"""Search for images: words of the name, and terms such as class:scratch or prob:<0.5.

Columns of image data, for searching and sorting a hundred thousand images in milliseconds.

Thumbnail cache in `.cache/thumbnails`, which makes reopening a project faster.

The folder can be deleted at any time. The file name is a hash of the image's key and file stamp, so a changed image
gets a new file. Damaged files are recreated. If the folder exceeds its limit, the least recently used files are
removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.images.image_files import thumbnail
from workbench.core.problems import BadGrouping, CannotWrite
from workbench.core.project.grouping import name_pattern
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import MAX_CLASS_ID, ClassInfo, Grouping, Project
from workbench.core.project.storage import check_links, file_stamp
from workbench.inference.io.file_access import make_folder, replace_path
from workbench.inference.io.image_io import ReadError, decode_image, encode_png
from workbench.inference.io.opencv import cv2

MIN_FILE_SIZE = 400_000  # bytes: a smaller image file is decoded as fast as a cache entry is read
LIMIT = 256 << 20  # bytes in the folder
CHECK_INTERVAL = 100  # files written between two checks of the folder size


class ThumbnailCache:
    """Thumbnail cache of one project. Not thread-safe."""

    def __init__(self, project: Project, edge: int) -> None:
        """Create a cache. edge: maximum of the longer side in pixels."""
        self._project, self._edge = project, edge
        self._folder = project.root / ".cache" / "thumbnails"
        self._written = 0

    def get(self, key: str) -> np.ndarray:
        """Return the thumbnail, uint8 (h, w) or (h, w, 3) RGB. Raises ImageBroken."""
        image = self._project.image_path(key)
        stamp = file_stamp(image)
        if stamp == "-" or int(stamp.partition(":")[0]) < MIN_FILE_SIZE:
            return thumbnail(image, self._edge)
        path = self._path(key, stamp)
        with contextlib.suppress(OSError, ReadError):
            pixels = decode_image(path.read_bytes(), path.name)
            if pixels.dtype == np.uint8 and max(pixels.shape[:2]) <= self._edge:
                os.utime(path)  # mark as recently used
                return pixels
        pixels = thumbnail(image, self._edge)
        if self._project.writable:
            with contextlib.suppress(OSError, CannotWrite):  # disk full, or a link out of the project: not cached
                self._store(path, bytes(encode_png(pixels)))
        return pixels

    def _path(self, key: str, stamp: str) -> Path:
        name = hashlib.sha256(f"{key}\n{stamp}\n{self._edge}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / name[:2] / f"{name}.png"

    def _store(self, path: Path, data: bytes) -> None:
        check_links(self._project.root, path)
        make_folder(path.parent)
        # Not flushed to disk, since the file can be recreated.
        temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            temporary.write_bytes(data)
            replace_path(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        self._written += 1
        if self._written % CHECK_INTERVAL == 0:
            self._remove_oldest()

    def _remove_oldest(self) -> None:
        """Remove the least recently used files until the folder is at most 90 % of the limit."""
        files: list[tuple[float, int, str]] = []
        for folder in [entry.path for entry in os.scandir(self._folder) if entry.is_dir(follow_symlinks=False)]:
            for entry in os.scandir(folder):
                state = entry.stat(follow_symlinks=False)
                files.append((state.st_mtime, state.st_size, entry.path))
        total = sum(size for _, size, _ in files)
        if total <= LIMIT:
            return
        for _, size, path in sorted(files):
            Path(path).unlink(missing_ok=True)
            total -= size
            if total <= 0.9 * LIMIT:
                return


def label_thumbnail(mask: np.ndarray, edge: int) -> np.ndarray:
    """Return a reduced mask, uint8 (h, w) class ids with a longer side of at most `edge`, of uint8 (H, W).

    Each pixel has the greatest id painted in its area; don't care and not labeled count as background.
    """
    height, width = mask.shape
    factor = max(height, width) / edge
    painted = cv2.threshold(mask, MAX_CLASS_ID, 0, cv2.THRESH_TOZERO_INV)[1]
    if factor <= 1:
        return painted
    step = int(np.ceil(factor))
    spread = cv2.dilate(painted, np.ones((step, step), np.uint8))
    size = (max(1, round(width / factor)), max(1, round(height / factor)))
    return cv2.resize(spread, size, interpolation=cv2.INTER_NEAREST)


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


TERMS = ("class", "status", "verdict", "group", "regions", "area", "prob", "date")
STATES = (*STATUSES, "open", "unlabeled", "broken")
ALIASES = {"score": "prob", "unlabelled": "unlabeled"}  # names of earlier versions
NONE, ANY = "none", "any"

_TOKEN = re.compile(r"""(-?)(?:([^\s:"]+):)?(?:"([^"]*)("?)|(\S*))""")
_BOUND = re.compile(r"(<=|>=|<|>|=)?(.+)")


@dataclass(frozen=True)
class SearchError:
    """Invalid term. kind: "term" | "value" | "number" | "date" | "empty"; known: valid alternatives."""

    kind: str
    term: str
    value: str = ""
    known: tuple[str, ...] = ()


@dataclass(frozen=True)
class Term:
    """Search condition. name: "" for words of the image's name; values: alternatives; negated: preceded by `-`."""

    name: str
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True)
class Query:
    """Conjunction of search terms."""

    terms: tuple[Term, ...]
    errors: tuple[SearchError, ...] = ()


def parse(text: str) -> Query:
    """Parse a search text. A comma between values means or, "…" groups words with spaces. Never raises."""
    terms: list[Term] = []
    errors: list[SearchError] = []
    for minus, name, quoted, _, plain in _TOKEN.findall(text):
        known = ALIASES.get(name.lower(), name.lower())
        if name and known not in TERMS:
            errors.append(SearchError("term", name, known=TERMS))
        elif known and not (quoted or plain):
            errors.append(SearchError("empty", known))
        elif known:
            values = (quoted,) if quoted else tuple(filter(None, plain.split(",")))
            terms.append(Term(known, values, bool(minus)))
        elif quoted or plain:
            terms.append(Term("", ((quoted or plain).casefold(),), bool(minus)))
        elif minus:
            terms.append(Term("", ("-",)))
    return Query(tuple(terms), tuple(errors))


def select(query: Query, table: ImageTable, classes: Sequence[ClassInfo]) -> tuple[np.ndarray, list[SearchError]]:
    """Return the matching images, bool (n,), and the invalid terms, which are ignored."""
    chosen = np.ones(len(table), bool)
    errors = list(query.errors)
    for term in query.terms:
        matches = np.zeros(len(table), bool)
        valid = False
        for value in term.values:
            result = _matches(term.name, value, table, classes)
            if isinstance(result, SearchError):
                errors.append(result)
            else:
                matches |= result
                valid = True
        if valid:
            chosen &= ~matches if term.negated else matches
    return chosen, errors


def _matches(name: str, value: str, table: ImageTable, classes: Sequence[ClassInfo]) -> np.ndarray | SearchError:
    if not name:
        return np.fromiter((value in key for key in table.folded), bool, len(table))
    if name == "class":
        return _class(value, table, classes)
    if name == "status":
        return _status(value, table)
    if name in ("verdict", "group"):
        return _word(name, value, table)
    if name == "date":
        return _date(value, table)
    return _number(name, value, table)


def _class(value: str, table: ImageTable, classes: Sequence[ClassInfo]) -> np.ndarray | SearchError:
    if value == ANY:
        return table.column("classes") > 0
    if value == NONE:
        return table.column("classes") == 0
    low = value.casefold()
    named = [info.id for info in classes if info.name.casefold() == low] or [
        info.id for info in classes if low in info.name.casefold()
    ]
    if not named:
        return SearchError("value", "class", value, (*(info.name for info in classes), ANY, NONE))
    return np.logical_or.reduce([table.column(f"class:{id}") > 0 for id in named])


def _status(value: str, table: ImageTable) -> np.ndarray | SearchError:
    low = ALIASES.get(value.casefold(), value.casefold())
    states = [state for state in STATES if state == low] or [state for state in STATES if state.startswith(low)]
    if not states:
        return SearchError("value", "status", value, STATES)
    status, matches = table.column("status"), np.zeros(len(table), bool)
    for state in states:
        if state in STATUSES:
            matches |= status == STATUSES.index(state)
        elif state == "open":
            matches |= (status >= 0) & (status != STATUSES.index("done"))
        elif state == "broken":
            matches |= status < 0
        else:
            matches |= ~table.column("labelled") & (status >= 0)
    return matches


def _word(name: str, value: str, table: ImageTable) -> np.ndarray | SearchError:
    column, words = table.column(name), table.words(name)
    if value == NONE:
        return column == 0
    if value == ANY:
        return column != 0
    low = value.casefold()
    numbers = [n for word, n in words.items() if word.casefold() == low] or [
        n for word, n in words.items() if low in word.casefold()
    ]
    if not numbers:
        known = sorted(filter(None, words))[:20]
        return SearchError("value", name, value, (*known, ANY, NONE))
    if len(numbers) > 100:
        return np.isin(column, numbers)
    return np.logical_or.reduce([column == n for n in numbers])


def _number(name: str, value: str, table: ImageTable) -> np.ndarray | SearchError:
    column = table.column("score" if name == "prob" else name)
    if name == "prob" and value in (NONE, ANY):
        return np.isnan(column) == (value == NONE)
    low, dots, high = value.partition("..")
    try:
        if dots:
            return (column >= float(low)) & (column <= float(high))
        sign, number = _bound(value)
        return _compare(column, sign, float(number))
    except ValueError:
        return SearchError("number", name, value)


def _date(value: str, table: ImageTable) -> np.ndarray | SearchError:
    column = table.column("date")
    low, dots, high = value.partition("..")
    try:
        if dots:
            return (column >= _span(low)[0]) & (column < _span(high)[1])
        sign, day = _bound(value)
        start, end = _span(day)
    except (ValueError, OverflowError, OSError):
        return SearchError("date", "date", value)
    return {
        "=": (column >= start) & (column < end),
        "<": column < start,
        "<=": column < end,
        ">": column >= end,
        ">=": column >= start,
    }[sign]


def _bound(value: str) -> tuple[str, str]:
    """Return the comparison sign, "=" without one, and the number or date of a value. Raises ValueError."""
    match = _BOUND.fullmatch(value)
    if match is None:
        raise ValueError(value)
    return match[1] or "=", match[2]


def _span(text: str) -> tuple[float, float]:
    """Return begin and end of a year, a month or a day, in seconds since 1970. Raises ValueError."""
    parts = [int(part) for part in text.split("-")]
    if not 1 <= len(parts) <= 3:
        raise ValueError(text)
    year, month, day = (parts + [1, 1])[:3]
    begin = datetime(year, month, day)
    if len(parts) == 3:
        end = begin + timedelta(days=1)
    elif len(parts) == 2:
        end = datetime(parts[0] + parts[1] // 12, parts[1] % 12 + 1, 1)
    else:
        end = datetime(parts[0] + 1, 1, 1)
    return begin.timestamp(), end.timestamp()


def _compare(column: np.ndarray, sign: str, number: float) -> np.ndarray:
    if sign == "=" and column.dtype.kind == "f":
        return np.isclose(column, number, atol=0.005)  # as displayed, with two digits
    return {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "=": np.equal}[sign](
        column, number
    )


def completions(text: str, classes: Sequence[ClassInfo], verdicts: Sequence[str], groups: Sequence[str]) -> list[str]:
    """Return completions of the last, unfinished term of a search text."""
    last = text.rpartition(" ")[2] if text.count('"') % 2 == 0 else text[text.rfind(" ", 0, text.rfind('"')) + 1 :]
    minus, body = ("-", last[1:]) if last.startswith("-") else ("", last)
    name, colon, value = body.partition(":")
    if not colon:
        low = body.casefold()
        return [f"{minus}{term}:" for term in TERMS if low and term.startswith(low)]
    known: dict[str, Sequence[str]] = {
        "class": [*(info.name for info in classes), ANY, NONE],
        "status": STATES,
        "verdict": [*verdicts, ANY, NONE],
        "group": [*groups, ANY, NONE],
        "prob": ("<0.5", ">0.9", NONE),
        "regions": (">0", "1", ">10"),
        "area": ("<20", ">1000"),
        "date": (datetime.now().strftime("%Y-%m-%d"), datetime.now().strftime("%Y-%m")),
    }
    low = value.strip('"').casefold()
    matching = [
        word
        for word in known.get(ALIASES.get(name.lower(), name.lower()), ())
        if low in word.casefold() and word.casefold() != low
    ]
    return [f"{minus}{name}:" + (f'"{word}"' if re.search(r'[\s,"]', word) else word) for word in matching[:30]]
