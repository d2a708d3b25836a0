"""Base of all result outputs, the record that they receive for each image, and the queue of each output.

The bounded queue is the spool file of the output, an SQLite database, so that a record leaves it only after its
delivery by a thread: at least once.

Back-pressure: `put` waits while the queue is full, except while the receiver fails; then the records stay in the spool
file and the caller continues. `offer` never waits; it drops and counts the record if the queue is full.
"""

from __future__ import annotations

import datetime
import errno
import hashlib
import json
import platform
import sqlite3
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from workbench.core.evaluation.line_results import ERROR, NG, OK
from workbench.core.problems import Problem
from workbench.inference.io.file_access import UnfitPath
from workbench.inference.model_settings import ModelSettings
from workbench.inference.verdict_rule import good_verdict, unlike_text

_FORMAT = 1

Record = dict[str, Any]


class DeliveryFailed(Exception):
    """Record that was not delivered. why: a phrase. refused: the receiver rejects this record, so a repetition in this
    run is useless. retry_after: seconds that the receiver requests before the next attempt.
    """

    def __init__(self, why: str, *, refused: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(why)
        self.why = why
        self.refused = refused
        self.retry_after = retry_after


class NoGoodVerdict(Problem):
    message = "None of the verdicts of this model ({verdicts}) is known to mean OK."
    advice = "Name it with --ok-verdict."


class Sink:
    """One output. name: in messages, metrics and the name of its spool file.

    Instances hold settings only until the first `deliver`, so that they can be sent to another process. All methods
    except `for_process` are called in the worker thread of the output.
    """

    name = ""

    def for_process(self, row: int) -> Sink:
        """Return the output for the server process with this number, from 0 on."""
        return self

    def open(self, *, durable: bool) -> None:
        """Prepare the output. durable: a delivered record must survive a power failure. Raises OSError."""

    def deliver(self, record: Record) -> None:
        """Deliver one record completely. Raises DeliveryFailed, OSError."""
        raise NotImplementedError

    def close(self) -> None:
        """Release connections and files."""


class RecordMaker:
    """Records of the images of one model. good: verdict that counts as OK; None: determined from the settings.

    Raises NoGoodVerdict.
    """

    def __init__(self, settings: ModelSettings, good: str | None = None) -> None:
        self._settings = settings
        self._by_regions = settings.task == "segmentation" and settings.verdict_rule is None
        self._withholds = settings.input is not None and settings.input.withhold
        self._good = good or good_verdict(settings.verdicts, settings.verdict_rule)
        if settings.task == "classification" and self._good not in settings.verdicts:
            raise NoGoodVerdict(verdicts=", ".join(settings.verdicts))

    def make(self, entry: Record, *, key: str, name: str) -> Record:
        """Return the record of an image.

        entry: `Prediction.to_json`, or {"why"} for an image without a prediction; with "path" if it is a file.
        key: identifies the result, so that a receiver can detect a repetition. name: of the image, without suffix.
        """
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        return {
            "format": _FORMAT,
            "id": key,
            "time": now.replace("+00:00", "Z"),
            "station": platform.node(),
            "name": name,
            "model": self._settings.name,
            "run": self._settings.run,
            "result": self._result(entry),
            **entry,
        }

    def _result(self, entry: Record) -> str:
        if "why" in entry or (self._withholds and unlike_text(entry)):
            return ERROR
        good = not entry["regions"] if self._by_regions else entry["verdict"] == self._good
        return OK if good else NG


def image_key(fingerprint: str, path: str, state: tuple[int, int]) -> str:
    """Return the id of the result of one version of a file: equal whenever this model predicts this version."""
    text = "\0".join((fingerprint, PurePath(path).as_posix(), *map(str, state)))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def json_line(record: Record) -> bytes:
    """Return a record as one line of JSON in UTF-8, without the line end."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace")


# --- delivery -------------------------------------------------------------------------------------


_SPOOL_FORMAT = 1
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0  # seconds between attempts; doubled after every failure


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
        if found > _SPOOL_FORMAT:
            raise SpoolUnusable(path=str(path), why="it was written by a newer version")
        self._base.execute("PRAGMA journal_mode=WAL")
        self._base.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        self._base.execute("BEGIN EXCLUSIVE")
        self._base.execute(
            "CREATE TABLE IF NOT EXISTS records "
            "(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"
        )
        self._base.execute(f"PRAGMA user_version={_SPOOL_FORMAT}")
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


@dataclass(frozen=True)
class Counts:
    """Counts of one output since its start. sent: delivered records. failures: failed attempts. dropped: records that
    found the queue full. unsent: records in the spool file, those of earlier starts included.
    """

    sent: int = 0
    failures: int = 0
    dropped: int = 0
    unsent: int = 0


class DeliveryQueue:
    """Queue of one output. capacity: largest number of waiting records.

    log: called with a sentence about failures and recoveries. on_change: called after every change of the counts, under
    the lock of the queue. pauses: seconds before the first repetition, and the longest.
    """

    def __init__(
        self,
        sink: Sink,
        spool: Spool,
        *,
        capacity: int,
        durable: bool,
        log: Callable[[str], None],
        on_change: Callable[[str, Counts], None] = lambda name, counts: None,
        pauses: tuple[float, float] = (FIRST_PAUSE, LONGEST_PAUSE),
    ) -> None:
        self.sink = sink
        self._spool = spool
        self._capacity = capacity
        self._durable = durable
        self._log = log
        self._on_change = on_change
        self._pauses = pauses
        self._changed = threading.Condition()
        self._sent = self._failures = self._dropped = 0
        self._unsent = spool.count()
        self._refused = 0  # of the unsent records, those that the receiver has rejected in this run
        self._failing = False
        self._until: float | None = None  # end of the time for the remaining records, once the queue is closing
        self._closed = False
        if self._unsent:
            log(f"{sink.name}: Results of an earlier start are sent now: {self._unsent}.")
        self._on_change(sink.name, self.counts)
        self._thread = threading.Thread(target=self._serve, daemon=True, name=f"sink {sink.name}")
        self._thread.start()

    @property
    def counts(self) -> Counts:
        return Counts(self._sent, self._failures, self._dropped, self._unsent)

    def put(self, record: Record, cancelled: Callable[[], bool]) -> None:
        """Add a record, after waiting for a free place. Once `cancelled` returns True the record is added at once.

        Raises OSError if the spool file cannot be written.
        """
        with self._changed:
            while self._unsent - self._refused >= self._capacity and not self._failing and not cancelled():
                self._changed.wait(0.1)
            self._add(record)

    def offer(self, record: Record) -> bool:
        """Add a record without waiting. Return False if it was dropped."""
        with self._changed:
            if self._closed or self._unsent >= self._capacity:
                return self._drop("the output is closed" if self._closed else "the queue is full")
            try:
                self._add(record)
            except OSError as error:
                return self._drop(str(error))
        return True

    def request_close(self, seconds: float) -> None:
        """Stop as soon as all records are delivered, the receiver fails, or `seconds` have passed."""
        with self._changed:
            self._until = time.monotonic() + seconds
            self._changed.notify_all()

    def close(self) -> Counts:
        """Wait for the end requested by `request_close` and release the spool file. Return the final counts."""
        assert self._until is not None
        self._thread.join(max(0.0, self._until - time.monotonic()) + 1)
        with self._changed:
            self._closed = True  # a delivery that still hangs is repeated at the next start
            self._spool.close()
        return self.counts

    def _add(self, record: Record) -> None:
        self._unsent += self._spool.add(record)
        self._changed.notify_all()
        self._on_change(self.sink.name, self.counts)

    def _drop(self, why: str) -> bool:
        if not self._dropped:
            self._log(f"{self.sink.name}: results are dropped, because {why}.")
        self._dropped += 1
        self._on_change(self.sink.name, self.counts)
        return False

    def _serve(self) -> None:
        after, pause = 0, self._pauses[0]
        opened = False
        while (message := self._next(after)) is not None:
            number, record = message
            try:
                if not opened:
                    self.sink.open(durable=self._durable)
                    opened = True
                self.sink.deliver(record)
            except DeliveryFailed as error:
                failure = error
            except OSError as error:
                refused = isinstance(error, UnfitPath) or error.errno == errno.ENAMETOOLONG
                failure = DeliveryFailed(error.strerror or str(error) or type(error).__name__, refused=refused)
            except Exception as error:  # a fault in one record must not block the others
                self._log(traceback.format_exc())
                failure = DeliveryFailed(f"unexpected error: {error}", refused=True)
            else:
                pause = self._pauses[0]
                self._delivered(number)
                continue
            self._failed(failure)
            if failure.refused:
                after = number
                continue
            if self._wait(max(pause, min(failure.retry_after, self._pauses[1]))):
                break
            pause = min(2 * pause, self._pauses[1])
        self.sink.close()

    def _next(self, after: int) -> tuple[int, Record] | None:
        """Return the next record, after waiting for one, or None at the end."""
        with self._changed:
            while not self._closed and (self._until is None or time.monotonic() < self._until):
                try:
                    message = self._spool.next(after)
                except OSError as error:
                    self._log(f"{self.sink.name}: {error}.")
                    self._changed.wait(1.0)
                    continue
                if message is not None or self._until is not None:
                    return message
                self._changed.wait()
        return None

    def _wait(self, seconds: float) -> bool:
        """Wait before the next attempt. Return True if the queue is closing."""
        with self._changed:
            self._changed.wait_for(lambda: self._until is not None, seconds)
            return self._until is not None

    def _delivered(self, number: int) -> None:
        with self._changed:
            if self._closed:
                return
            try:
                self._unsent -= self._spool.remove(number)
            except OSError as error:
                self._log(f"{self.sink.name}: {error}.")
                self._changed.wait(1.0)  # the record is sent again
                return
            self._sent += 1
            if self._failing:
                self._failing = False
                self._log(f"{self.sink.name}: works again.")
            self._changed.notify_all()
            self._on_change(self.sink.name, self.counts)

    def _failed(self, failure: DeliveryFailed) -> None:
        with self._changed:
            self._failures += 1
            if failure.refused:
                if not self._refused:
                    self._log(f"{self.sink.name}: a result was refused, because {failure.why}. It is kept.")
                self._refused += 1
            elif not self._failing:
                self._failing = True
                self._log(f"{self.sink.name}: no result can be sent, because {failure.why}. Sending is repeated.")
            self._changed.notify_all()
            self._on_change(self.sink.name, self.counts)
