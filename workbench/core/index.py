"""A cache of what the files say, so that a list of 100,000 pictures needs no file to be opened.

SQLite in `.cache/index.sqlite`. It may be deleted at any time: what is missing, stale (size or time of a file differs)
or broken is read again from the files, which stay the truth.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.core import annotation
from workbench.core.pictures import picture_size
from workbench.core.problems import Problem
from workbench.core.project import Project
from workbench.core.storage import file_stamp

VERSION = 1


@dataclass(frozen=True)
class Row:
    """What the picture list shows of one picture."""

    key: str
    width: int = 0
    height: int = 0
    status: str = "new"
    verdict: str | None = None
    counts: tuple[tuple[int, int], ...] = ()  # (class id, pixels), foreground ids only
    masked: bool = False  # a mask file is there
    broken: str = ""  # the reason, in English; "" if all is well


class Index:
    """The rows of a project's pictures. One object a thread."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._database = self._open()

    def close(self) -> None:
        self._database.close()

    def rows(self, keys: list[str] | None = None) -> dict[str, Row]:
        """Rows known so far, without looking at the files."""
        wanted = None if keys is None else set(keys)
        return {
            key: _row(key, data)
            for key, data in self._database.execute("SELECT key, data FROM pictures")
            if wanted is None or key in wanted
        }

    def refresh(
        self, keys: list[str], *, progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[Row]:  # fmt: skip
        """Bring the rows of `keys` up to date; yields each row that changed, rows of gone pictures are dropped."""
        known = dict(self._database.execute("SELECT key, stamp FROM pictures"))
        gone = known.keys() - set(keys)
        self._database.executemany("DELETE FROM pictures WHERE key = ?", ((key,) for key in gone))
        for i, key in enumerate(keys):
            if cancelled is not None and cancelled():
                break
            stamp = self._stamp(key)
            if known.get(key) != stamp:
                row = read_row(self.project, key)
                self._database.execute(
                    "INSERT OR REPLACE INTO pictures VALUES (?, ?, ?)", (key, stamp, _pack(row))
                )
                if i % 200 == 199:
                    self._database.commit()
                yield row
            if progress is not None:
                progress(i + 1, len(keys))
        self._database.commit()

    def _stamp(self, key: str) -> str:
        project = self.project
        stamp = file_stamp(project.picture_path(key), project.mask_path(key), project.note_path(key))
        # A new class can mend a mask that used it; pictures without a mask need no second look.
        classes = "" if stamp.split("|")[1] == "-" else ",".join(str(c.id) for c in project.classes)
        return f"{stamp}|{classes}"

    def _open(self) -> sqlite3.Connection:
        path = self.project.root / ".cache" / "index.sqlite"
        for attempt in range(2):
            try:
                path.parent.mkdir(exist_ok=True)
                database = sqlite3.connect(path, timeout=10)
                database.execute("PRAGMA journal_mode=WAL")
                if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                    database.execute("DROP TABLE IF EXISTS pictures")
                database.execute("CREATE TABLE IF NOT EXISTS pictures (key TEXT PRIMARY KEY, stamp TEXT, data TEXT)")
                database.execute(f"PRAGMA user_version={VERSION}")
                database.commit()
                return database
            except (sqlite3.DatabaseError, OSError):
                with contextlib.suppress(Exception):
                    database.close()
                if attempt == 0:
                    for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
                        with contextlib.suppress(OSError):
                            (path.parent / name).unlink()
        # A read-only folder: a cache in memory serves as well.
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE pictures (key TEXT PRIMARY KEY, stamp TEXT, data TEXT)")
        return database


def read_row(project: Project, key: str) -> Row:
    """What the files of one picture say now; never raises, a broken file becomes the row's reason."""
    path: Path = project.picture_path(key)
    try:
        width, height = picture_size(path)
    except Problem as problem:
        return Row(key=key, broken=str(problem))
    try:
        note = annotation.load_note(project, key)
        mask = annotation.load_mask(project, key, (width, height))
    except Problem as problem:
        return Row(key=key, width=width, height=height, broken=str(problem))
    counts: tuple[tuple[int, int], ...] = ()
    if mask is not None:
        counts = annotation.foreground_counts(mask)
    return Row(key, width, height, note.status, note.verdict, counts, mask is not None)


def _pack(row: Row) -> str:
    return json.dumps([row.width, row.height, row.status, row.verdict, row.counts, row.masked, row.broken])


def _row(key: str, data: str) -> Row:
    width, height, status, verdict, counts, masked, broken = json.loads(data)
    return Row(key, width, height, status, verdict, tuple(map(tuple, counts)), masked, broken)
