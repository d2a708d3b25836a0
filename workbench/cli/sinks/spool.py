"""Spool file of an output: the records that it has not delivered yet, in order, in an SQLite database."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from workbench.cli.sinks.sink_base import Record
from workbench.core.problems import Problem

_FORMAT = 1


class SpoolUnusable(Problem):
    message = "{path} cannot be used for unsent results: {why}."
    advice = "Choose another folder with --spool, or move the file away; the unsent results in it are then not sent."


class Spool:
    """Spool file, opened by one process at a time.

    durable: an added record survives a power failure; otherwise it survives only the end of the process.
    Not safe for threads: the caller locks. Methods raise OSError if the file cannot be read or written.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        """Open or create the file. Raises SpoolUnusable."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
        except (OSError, sqlite3.Error) as error:
            raise SpoolUnusable(path=str(path), why=_reason(error)) from error
        try:
            self._prepare(path, durable)
        except sqlite3.Error as error:
            self._base.close()
            raise SpoolUnusable(path=str(path), why=_reason(error)) from error
        except BaseException:
            self._base.close()
            raise

    def _prepare(self, path: Path, durable: bool) -> None:
        # One process holds the file; the write-ahead log then needs no shared memory and works on network drives.
        self._base.execute("PRAGMA locking_mode=EXCLUSIVE")
        found = self._base.execute("PRAGMA user_version").fetchone()[0]
        if found > _FORMAT:
            raise SpoolUnusable(path=str(path), why="it was written by a newer version")
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        self._base.execute("BEGIN EXCLUSIVE")
        self._base.execute(
            "CREATE TABLE IF NOT EXISTS records "
            "(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"
        )
        self._base.execute(f"PRAGMA user_version={_FORMAT}")
        self._base.execute("COMMIT")

    def count(self) -> int:
        return int(self._run("SELECT COUNT(*) FROM records").fetchone()[0])

    def add(self, record: Record) -> bool:
        """Append a record. Return False if it replaces one of the same id that was not delivered yet."""
        body = json.dumps(record)
        self._run("BEGIN")
        try:
            replaced = self._run("DELETE FROM records WHERE key = ?", record["id"]).rowcount
            self._run("INSERT INTO records (key, body) VALUES (?, ?)", record["id"], body)
            self._run("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise
        return not replaced

    def next(self, after: int) -> tuple[int, Record] | None:
        """Return number and content of the oldest record with a number above `after`, None if there is none."""
        row = self._run("SELECT id, body FROM records WHERE id > ? ORDER BY id LIMIT 1", after).fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def remove(self, number: int) -> bool:
        """Remove a record. Return False if it was replaced in the meantime."""
        return bool(self._run("DELETE FROM records WHERE id = ?", number).rowcount)

    def close(self) -> None:
        self._base.close()

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            return self._base.execute(statement, values)
        except sqlite3.Error as error:
            raise OSError(f"the spool file cannot be used ({error})") from error


def _reason(error: OSError | sqlite3.Error) -> str:
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return "another program is using it"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]
