"""Data of one image for lists and searches, read from its files, and the stamps that show changes of the files.

Cache of image and label data, so that a list of 100,000 images needs no file to be opened.

It is the SQLite database `.cache/index.sqlite` and may be deleted at any time: missing, stale (size or time of a file
differs) or broken rows are read again from the files. Use `with_index`, which recovers from any database error.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sqlite3
import zlib
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.problems import IndexRebuilt, MaskBroken, MaskHeld, Problem
from workbench.core.project import annotation, label_transaction
from workbench.core.project.project import Project
from workbench.core.project.sources import walk
from workbench.core.project.storage import file_stamp, from_column, is_damage, open_shared, remove, to_column
from workbench.inference.io.opencv import cv2

Numbers = tuple[tuple[int, int], ...]  # (class id, number)


@dataclass(frozen=True, slots=True)
class ImageRow:
    """Indexed data of one image."""

    key: str
    width: int = 0
    height: int = 0
    status: str = "new"
    verdict: str | None = None
    counts: Numbers = ()  # pixels of each painted class
    masked: bool = False  # a mask file exists
    broken: str = ""  # the reason, in English; "" if all files are readable
    regions: Numbers = ()  # connected regions (8 neighbors) of each painted class
    group: str = ""  # from the note; "" if it has none
    date: float = 0.0  # of the image file, seconds since 1970
    score: float | None = None  # 0..1, probability of the strongest predicted defect

    @property
    def area(self) -> int:
        """Painted pixels of all classes."""
        return sum(pixels for _, pixels in self.counts)

    @property
    def region_count(self) -> int:
        return sum(number for _, number in self.regions)

    @property
    def labeled(self) -> bool:
        """True if the user has set a status or a verdict."""
        return self.status != "new" or self.verdict is not None


def read_row(
    project: Project, key: str, *, date: float | None = None, saves: label_transaction.SaveRecords | None = None
) -> ImageRow:
    """Read the files of one image. Never raises; a broken file becomes the row's reason.

    date: time of the image file's last change, if it is known. saves: see `annotation.load_note`.
    """
    try:
        path = project.image_path(key)
        width, height = image_size(path)
        date = path.stat().st_mtime if date is None else date
    except (Problem, OSError) as problem:
        return ImageRow(key=key, broken=str(problem))
    try:
        note = annotation.load_note(project, key, saves)
        mask = annotation.load_mask(project, key, (width, height))
    except Problem as problem:
        return ImageRow(key=key, width=width, height=height, broken=str(problem), date=date)
    counts = () if mask is None else annotation.foreground_counts(mask)
    regions = () if mask is None else tuple((id, count_regions(mask, id)) for id, _ in counts)
    return ImageRow(
        key, width, height, note.status, note.verdict, counts, mask is not None, "", regions, note.group or "", date
    )


def count_regions(mask: np.ndarray, id: int) -> int:
    """Return the number of connected regions (8 neighbors) of a class in uint8 (H, W)."""
    plane = (mask == id).view(np.uint8)  # OpenCV takes a mask of one pixel for a number
    # Contours need far less memory than labels with four bytes per pixel; holes are recognized by their parent.
    _, tree = cv2.findContours(plane, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    return 0 if tree is None else int((tree[0][:, 3] < 0).sum())


class FileStamps:
    """Sizes and times of all files of a project, from three directory walks: much faster than a query per file."""

    def __init__(self, project: Project) -> None:
        self._images: dict[str, str] = {}
        for source in project.file.sources:
            walk_stamps(source.folder(project.root), self._images, source.prefix)
        self._masks = walk_stamps(project.root / "masks")
        self._notes = walk_stamps(project.root / "notes")

    def of(self, key: str) -> str:
        mask, note = self._masks.get(key + ".png", "-"), self._notes.get(key + ".json", "-")
        return f"{self._images.get(key, '-')}|{mask}|{note}"


def stamp_of(project: Project, key: str) -> str:
    """Return the stamp of one image's files."""
    try:
        return file_stamp(project.image_path(key), project.mask_path(key), project.note_path(key))
    except Problem:
        return "-|-|-"


def walk_stamps(folder: Path, target: dict[str, str] | None = None, prefix: str = "") -> dict[str, str]:
    """Return the stamp of every file below a folder, by its POSIX path, without unreadable files."""
    stamps = {} if target is None else target
    for relative, entry in walk(folder):
        with contextlib.suppress(OSError):
            state = entry.stat()
            stamps[prefix + relative] = f"{state.st_size}:{state.st_mtime_ns}"
    return stamps


VERSION = 3
_COLUMNS = 'key, width, height, status, verdict, counts, masked, broken, regions, "group", date'
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS pictures (
  key TEXT PRIMARY KEY, {_COLUMNS.partition(", ")[2]}, stamp TEXT, place INTEGER, sum INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_place ON pictures (place, key);
CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, score REAL) WITHOUT ROWID;
"""
_STORED = [*_COLUMNS.split(", "), "stamp", "place", "sum"]
_INSERT = f"INSERT OR REPLACE INTO pictures ({', '.join(_STORED)}) VALUES ({', '.join('?' * len(_STORED))})"
_FILES = ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm")
_LOCK_TIMEOUT = 10.0  # seconds to wait for another process that writes
_BATCH_SIZE = 200  # rows per commit


class ImageIndex:
    """Rows of a project's images. Use one object per thread."""

    def __init__(self, project: Project, *, memory: bool = False, lock_timeout: float = _LOCK_TIMEOUT) -> None:
        """Open the database. memory: keep the rows in memory only. Raises sqlite3.Error, OSError."""
        self.project = project
        self._pending: list[tuple] = []  # rows not written yet
        self._database = _open(project, memory, lock_timeout)

    def close(self) -> None:
        self._database.close()

    # --- stored rows, without file access -----------------------------------------------------------

    def keys(self) -> list[str]:
        """Return the keys of the images in the order of the last refresh."""
        return [_key(stored) for (stored,) in self._database.execute("SELECT key FROM pictures ORDER BY place")]

    def batches(self, size: int = 4000) -> Iterator[list[ImageRow]]:
        """Yield all rows in order, in batches. Raises sqlite3.DatabaseError for a damaged row."""
        names = ", ".join(f"p.{name}" for name in [*_COLUMNS.split(", "), "stamp", "sum"])
        cursor = self._database.execute(
            f"SELECT {names}, s.score FROM pictures p LEFT JOIN scores s ON s.key = p.key ORDER BY p.place"
        )
        while batch := cursor.fetchmany(size):
            yield [_row(values) for values in batch]

    def rows(self) -> dict[str, ImageRow]:
        return {row.key: row for batch in self.batches() for row in batch}

    def mask_stamps(self) -> dict[str, tuple[str, Numbers]]:
        """Return, by image, the stamp of the mask file as read, and the pixels of each class."""
        cursor = self._database.execute("SELECT key, stamp, counts FROM pictures WHERE masked AND broken = ''")
        return {_key(stored): (stamp.split("|")[1], _numbers(counts)) for stored, stamp, counts in cursor}

    # --- updates ------------------------------------------------------------------------------------

    def refresh(
        self,
        keys: list[str],
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        known_keys: Container[str] | None = None,
    ) -> Iterator[ImageRow]:
        """Update the rows of `keys`; yield each changed row and drop the rows of missing images.

        known_keys: keys whose rows the caller already has; all others are read from the files and yielded too.
        """
        ids = {info.id for info in self.project.classes}
        known = {
            _key(stored): ("" if _needs_reread(broken, stamp, counts, ids) else stamp, place)
            for stored, stamp, place, broken, counts in self._database.execute(
                "SELECT key, stamp, place, broken, counts FROM pictures"
            )
            if known_keys is None or _key(stored) in known_keys
        }
        removed = known.keys() - set(keys)
        self._database.executemany("DELETE FROM pictures WHERE key = ?", ((to_column(key),) for key in removed))
        self._database.commit()
        stamps, saves = FileStamps(self.project), label_transaction.SaveRecords(self.project.root)
        moves: list[tuple[int, str | bytes]] = []
        for place, key in enumerate(keys):
            if cancelled is not None and cancelled():
                break
            stamp = stamps.of(key)
            stored, stored_place = known.get(key, ("", -1))
            if stored != stamp:
                yield self._read_image(key, stamp, place, saves)
                if len(self._pending) >= _BATCH_SIZE:
                    self._write()
            elif stored_place != place:
                moves.append((place, to_column(key)))
            if progress is not None:
                progress(place + 1, len(keys))
        self._database.executemany("UPDATE pictures SET place = ? WHERE key = ?", moves)
        self._write()

    def read_changed(self, key: str) -> ImageRow:
        """Read the files of one image again and return its row."""
        place_row = self._database.execute("SELECT place FROM pictures WHERE key = ?", (to_column(key),)).fetchone()
        row = self._read_image(key, stamp_of(self.project, key), place_row[0] if place_row else -1)
        self._write()
        return row

    def set_scores(self, scores: Mapping[str, float]) -> None:
        """Store the model's probabilities of some images; kept until replaced or the cache is deleted."""
        self._database.executemany(
            "INSERT OR REPLACE INTO scores VALUES (?, ?)", ((to_column(key), score) for key, score in scores.items())
        )
        self._database.commit()

    def _read_image(
        self, key: str, stamp: str, place: int, saves: label_transaction.SaveRecords | None = None
    ) -> ImageRow:
        time = stamp.partition("|")[0].rpartition(":")[2]  # of the image, in nanoseconds, see `file_stamp`
        row = read_row(self.project, key, date=int(time) / 1e9 if time.isdecimal() else None, saves=saves)
        values = (*_values(row), stamp)
        self._pending.append((*values, place, _checksum(values)))
        score = self._database.execute("SELECT score FROM scores WHERE key = ?", (to_column(key),)).fetchone()
        return row if score is None else replace(row, score=_score(score[0]))

    def _write(self) -> None:
        """Write the collected rows. The database is locked only during this call, not while files are read."""
        self._database.executemany(_INSERT, self._pending)
        self._database.commit()
        self._pending.clear()


def read_rows(
    project: Project,
    progress: Callable[[int, int], None] | None = None,
    on_rebuilt: Callable[[IndexRebuilt], None] = lambda problem: None,
) -> dict[str, ImageRow]:
    """Return the rows of the images of a project by key, after an update of its index."""
    rows: dict[str, ImageRow] = {}

    def read(index: ImageIndex) -> None:
        for _ in index.refresh(project.images(), progress=progress):
            pass
        rows.clear()
        rows.update(index.rows())

    with_index(project, read, on_rebuilt)
    return rows


def with_index(
    project: Project,
    function: Callable[[ImageIndex], None],
    on_rebuilt: Callable[[IndexRebuilt], None] = lambda problem: None,
    lock_timeout: float = _LOCK_TIMEOUT,
) -> None:
    """Call `function` with the index, and call it again from its beginning if the database fails.

    A damaged database is deleted first, once, and `on_rebuilt` is called with the problem. If that fails, or after an
    error of the system, the rows are kept in memory for this call. Raises ProjectGone if the project was moved.
    """
    memory = False
    for attempt in range(3):
        index = None
        try:
            index = ImageIndex(project, memory=memory, lock_timeout=lock_timeout)
            function(index)
            return
        except (sqlite3.Error, OSError, UnicodeError) as error:  # SQLite messages may quote damaged text
            if memory:
                raise
            project.check_folder()  # SQLite reports various errors in a folder that was moved
            memory, why = not is_damage(error) or attempt > 0, str(error)
        finally:
            if index is not None:
                index.close()
        if not memory:
            remove(project.root, _FILES)
            on_rebuilt(IndexRebuilt(why=why))


def _open(project: Project, memory: bool, lock_timeout: float) -> sqlite3.Connection:
    if memory:
        database = sqlite3.connect(":memory:")
        database.executescript(_SCHEMA)
        return database
    database = open_shared(project.root, _FILES, lock_timeout)
    try:
        database.execute("PRAGMA trusted_schema=OFF")
        if database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            database.execute("DROP TABLE IF EXISTS pictures")
        database.executescript(_SCHEMA)
        database.execute(f"PRAGMA user_version={VERSION}")
        database.commit()
        if _schema_of(database) != _expected_schema():
            raise sqlite3.DatabaseError(Message("index.tables"))
    except BaseException:
        database.close()
        raise
    return database


def _schema_of(database: sqlite3.Connection) -> set[tuple]:
    return set(database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@functools.cache
def _expected_schema() -> set[tuple]:
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript(_SCHEMA)
        return _schema_of(database)


def _needs_reread(broken: str, stamp: str, counts: str, ids: set[int]) -> bool:
    """Return True if changed classes may affect a row: a new class may repair it, a removed one may break it."""
    try:
        return "|-|" not in stamp if broken else any(id not in ids for id, _ in _numbers(counts))
    except (TypeError, ValueError):
        raise sqlite3.DatabaseError(Message("index.row")) from None


def _values(row: ImageRow) -> tuple:
    counts, regions = (json.dumps(numbers) if numbers else "" for numbers in (row.counts, row.regions))
    return (
        to_column(row.key),
        row.width,
        row.height,
        row.status,
        row.verdict,
        counts,
        int(row.masked),
        to_column(row.broken),
        regions,
        row.group,
        row.date,
    )


def _row(values: tuple) -> ImageRow:
    *stored, stamp, checksum, score = values
    if _checksum((*stored, stamp)) != checksum:
        raise sqlite3.DatabaseError(Message("index.row"))
    key, width, height, status, verdict, counts, masked, broken, regions, group, date = stored
    return ImageRow(
        _key(key),
        width,
        height,
        status,
        verdict,
        _numbers(counts),
        bool(masked),
        from_column(broken),
        _numbers(regions),
        group,
        date,
        _score(score),
    )


def _key(stored: object) -> str:
    if not isinstance(stored, (str, bytes)):
        raise sqlite3.DatabaseError(Message("index.row"))
    return from_column(stored)


def _checksum(values: tuple) -> int:
    return zlib.crc32(repr(values).encode())


def _score(value: object) -> float | None:
    return value if isinstance(value, float) and 0 <= value <= 1 else None


def _numbers(text: str) -> Numbers:
    try:
        return tuple((first, second) for first, second in json.loads(text)) if text else ()
    except (ValueError, TypeError, RecursionError):
        raise sqlite3.DatabaseError(Message("index.row")) from None


def masks_with_classes(
    project: Project, classes: set[int], stopped: Callable[[], bool] = lambda: False
) -> dict[str, set[int]]:
    """Return the ids among `classes` of each mask that has one, also of missing images; from the index where it can.

    Damaged masks are left out. Raises MaskHeld.
    """
    indexed = indexed_masks(project)
    found: dict[str, set[int]] = {}
    for name, stamp in walk_stamps(project.root / "masks").items():
        if stopped():
            break
        if not name.endswith(".png"):
            continue
        key = name.removesuffix(".png")
        indexed_stamp, counts = indexed.get(key, ("", ()))
        if indexed_stamp == stamp:
            ids = {id for id, _ in counts}
        else:
            try:
                ids = set(annotation.ids_in(annotation.read_mask(project.mask_path(key))))
            except MaskHeld:
                raise
            except (MaskBroken, FileNotFoundError):
                continue
        if ids & classes:
            found[key] = ids & classes
    return found


def indexed_masks(project: Project) -> dict[str, tuple[str, Numbers]]:
    """Return the indexed stamp and pixel counts of each mask; empty if the index cannot be read."""
    with contextlib.suppress(sqlite3.Error, OSError), contextlib.closing(ImageIndex(project)) as index:
        return index.mask_stamps()
    return {}
