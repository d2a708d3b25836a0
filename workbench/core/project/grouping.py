"""Groups of images of the same part, which must be on the same side of a split, and images with identical files."""

from __future__ import annotations

import functools
import hashlib
import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, Protocol

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import thumbnail
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.project import Grouping, Project
from workbench.inference.io.file_access import read_regular

_SEARCH_TIMEOUT = 1.0  # seconds of CPU time for one name; ordinary patterns take microseconds
_TOTAL_TIMEOUT = 5.0  # seconds for all slow names together
_SLOW_SEARCH = 0.01  # seconds; a search that takes longer counts as slow


class FileTable:
    """Images of a project by the content of their files, of which only those of a requested size are read."""

    def __init__(self, project: Project, keys: Iterable[str]) -> None:
        self._project = project
        self._by_size: dict[int, list[str]] = {}
        self._contents: dict[str, bytes | None] = {}
        for key in keys:
            try:
                self._by_size.setdefault(project.image_path(key).stat().st_size, []).append(key)
            except OSError:
                continue

    def equal(self, path: Path) -> list[str]:
        """Return the images whose files equal a file, byte for byte. Raises OSError if it cannot be listed."""
        candidates = self._by_size.get(path.stat().st_size, [])
        digest = content_digest(path) if candidates else None
        return [key for key in candidates if digest is not None and self._content(key) == digest]

    def _content(self, key: str) -> bytes | None:
        if key not in self._contents:
            self._contents[key] = content_digest(self._project.image_path(key))
        return self._contents[key]


def find_duplicates(project: Project, keys: Sequence[str], other: Project, other_keys: Iterable[str]) -> list[str]:
    """Return those of `keys` whose files equal, byte for byte, a file of `other_keys` in the other project.

    Names are ignored. Reads files of equal size: not for the GUI thread.
    """
    table = FileTable(other, other_keys)
    return [key for key in keys if _has_equal(table, project.image_path(key))]


def _has_equal(table: FileTable, path: Path) -> bool:
    try:
        return bool(table.equal(path))
    except OSError:
        return False


def content_digest(path: Path) -> bytes | None:
    """Return the SHA-256 of a file's content, None if it cannot be read."""
    try:
        return hashlib.sha256(read_regular(path)).digest()
    except OSError:
        return None


class NamePattern:
    """Grouping pattern, with the syntax of Python's `re`. A pattern that took too long is refused at each later search.

    Raises BadGrouping if the pattern is invalid.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._lock = threading.Lock()
        self._remaining = _TOTAL_TIMEOUT
        self._refused = ""
        import regex

        try:
            self._compiled = regex.compile(pattern)
        except (regex.error, RecursionError, OverflowError, ValueError) as error:
            raise problems.BadGrouping(pattern=pattern, why=Message("grouping.invalid", error=error)) from None

    def group(self, key: str) -> str | None:
        """Return the matches of the pattern's groups, joined by "|", or the whole match; None if there is no match.

        Raises BadGrouping if the search takes too long.
        """
        if self._refused:
            raise problems.BadGrouping(pattern=self.pattern, why=self._refused)
        start = time.perf_counter()
        try:
            match = self._compiled.search(key, timeout=_SEARCH_TIMEOUT)
        except (TimeoutError, MemoryError):
            self._refuse(key)
        elapsed = time.perf_counter() - start
        if elapsed > _SLOW_SEARCH:
            with self._lock:
                self._remaining -= elapsed
            if self._remaining < 0:
                self._refuse(key)
        if match is None:
            return None
        return "|".join(part or "" for part in match.groups()) or match.group(0)

    def _refuse(self, key: str) -> NoReturn:
        self._refused = Message("grouping.slow", key=key)
        raise problems.BadGrouping(pattern=self.pattern, why=self._refused) from None


@functools.lru_cache(maxsize=16)
def name_pattern(pattern: str) -> NamePattern:
    """Return the pattern, compiled once. Raises BadGrouping."""
    return NamePattern(pattern)


class GroupedImage(Protocol):
    """Required attributes of a dataset item."""

    key: str
    group: str
    width: int
    height: int


def group(
    project: Project, items: Sequence[GroupedImage], notes: dict[str, annotation.Note], rule: Grouping | None = None
) -> None:
    """Set the group of each item: from its note, or by a rule, that of the project by default. Raises BadGrouping."""
    rule = rule or project.file.grouping
    if rule.rule == "folder":
        names = {item.key: str(Path(item.key).parent) for item in items}
    elif rule.rule == "pattern" and rule.pattern:
        names = {item.key: _by_pattern(rule.pattern, item.key) for item in items}
    elif rule.rule == "each":
        names = {item.key: item.key for item in items}
    else:
        names = _auto_groups(project, items)
    for item in items:
        item.group = notes[item.key].group or names[item.key]


def check_pattern(project: Project, keys: Sequence[str]) -> None:
    """Raise BadGrouping if the project's grouping pattern is invalid, or too slow on one of these names."""
    rule = project.file.grouping
    if rule.rule == "pattern" and rule.pattern:
        for key in keys:
            name_pattern(rule.pattern).group(key)


def _by_pattern(pattern: str, key: str) -> str:
    group_name = name_pattern(pattern).group(key)
    return key if group_name is None else group_name


def _auto_groups(project: Project, items: Sequence[GroupedImage]) -> dict[str, str]:
    """Group similar images, and neighbors by number.

    Cameras number images in the order of parts, so the last number of a name indicates best which images belong
    together: names that differ in numbers only are sorted by it and split, at the widest gaps, into short series.
    """
    parent = {item.key: item.key for item in items}

    def find(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for chunk in number_series([item.key for item in items]):
        for key in chunk[1:]:
            parent[find(key)] = find(chunk[0])
    for a, b in near_duplicates(project, items):
        parent[find(a)] = find(b)
    return {item.key: find(item.key) for item in items}


def number_series(keys: Sequence[str]) -> list[list[str]]:
    """Return series of keys that differ in numbers only, sorted by the last number and split at the widest gaps."""
    series: dict[str, list[tuple[int, str]]] = {}
    for key in keys:
        skeleton, number = split_number(key)
        if number is not None:
            series.setdefault(skeleton, []).append((number, key))
    target = max(1, min(10, len(keys) // 20))
    return [[key for _, key in chunk] for members in series.values() for chunk in _cut(sorted(members), target)]


def groups_by_name(keys: Sequence[str], rule: Grouping, note_groups: Mapping[str, str]) -> dict[str, str]:
    """Return the group of each image without opening files: from its note (`note_groups`), else from its name.

    An unusable pattern is replaced by the folder here; training and checks refuse such a pattern.
    """
    if rule.rule == "folder":
        names = {key: key.rpartition("/")[0] for key in keys}
    elif rule.rule == "pattern" and rule.pattern:
        try:
            names = {key: _by_pattern(rule.pattern, key) for key in keys}
        except problems.BadGrouping:
            names = {key: key.rpartition("/")[0] for key in keys}
    elif rule.rule == "each":
        names = {}
    else:
        names = {key: chunk[0] for chunk in number_series(keys) for key in chunk}
    return {key: note_groups.get(key) or names.get(key, key) for key in keys}


def _cut(members: list[tuple[int, str]], target: int) -> list[list[tuple[int, str]]]:
    """Split a sorted series into pieces of at most 2 x `target`, each time at the widest gap near the middle."""
    if len(members) <= 2 * target:
        return [members]
    low, high = len(members) // 4, max(len(members) // 4 + 1, 3 * len(members) // 4)
    gaps = [(members[i][0] - members[i - 1][0], -abs(i - len(members) // 2), i) for i in range(max(1, low), high)]
    position = max(gaps)[2]
    return _cut(members[:position], target) + _cut(members[position:], target)


def near_duplicates(
    project: Project, items: Sequence[GroupedImage], edge: int = 24, limit: float = 0.97
) -> list[tuple[str, str]]:
    """Return pairs of the same aspect ratio (5 %) whose small gray versions correlate above `limit`."""
    if len(items) > 4000:
        return []  # for larger projects, series by number have to suffice
    vectors = np.zeros((len(items), edge * edge), np.float32)
    for i, item in enumerate(items):
        try:
            gray = thumbnail(project.image_path(item.key), 96)
        except problems.Problem:
            continue
        gray = gray.mean(axis=2) if gray.ndim == 3 else gray.astype(np.float32)
        rows = np.linspace(0, gray.shape[0] - 1, edge).round().astype(int)
        columns = np.linspace(0, gray.shape[1] - 1, edge).round().astype(int)
        flat = gray[np.ix_(rows, columns)].ravel().astype(np.float32)
        flat -= flat.mean()
        norm = np.linalg.norm(flat)
        vectors[i] = flat / norm if norm > 1e-3 else 0
    aspect = np.array([item.width / max(1, item.height) for item in items])
    pairs = []
    for i in range(len(items) - 1):
        correlations = vectors[i + 1 :] @ vectors[i]
        same_aspect = np.abs(aspect[i + 1 :] / aspect[i] - 1) < 0.05
        pairs += [(items[i].key, items[i + 1 + j].key) for j in np.flatnonzero((correlations > limit) & same_aspect)]
    return pairs


# --- one more image ---------------------------------------------------------------------------------


def group_of_added(
    project: Project, held_out: Sequence[GroupedImage], added: GroupedImage, note: annotation.Note
) -> str:
    """Return the group of an image labeled after the split: that of a validation/test image, or its own.

    With the automatic rule it joins a group of validation/test images if it resembles one of them, or if its number is
    as close to theirs as they are to each other.
    """
    rule = project.file.grouping
    if note.group:
        return note.group
    if rule.rule == "folder":
        return str(Path(added.key).parent)
    if rule.rule == "pattern" and rule.pattern:
        return _by_pattern(rule.pattern, added.key)
    if rule.rule != "each":
        for item in held_out:
            if _is_neighbor(added.key, item, held_out) or near_duplicates(project, [added, item]):
                return item.group
    return added.key


def _is_neighbor(key: str, item: GroupedImage, held_out: Sequence[GroupedImage]) -> bool:
    skeleton, number = split_number(key)
    if number is None or split_number(item.key)[0] != skeleton:
        return False
    own = split_number(item.key)[1]
    members = (split_number(other.key) for other in held_out if other.group == item.group)
    numbers = sorted(n for s, n in members if s == skeleton and n is not None)
    max_gap = max((b - a for a, b in zip(numbers, numbers[1:])), default=1)
    return own is not None and abs(number - own) <= max(1, max_gap)


def split_number(key: str) -> tuple[str, int | None]:
    """Return a name without its folder and with its numbers replaced, and its last number, None without one."""
    numbers = re.findall(r"\d+", Path(key).stem)
    return re.sub(r"\d+", "#", Path(key).stem), int(numbers[-1]) if numbers else None
