"""Save of a label: its mask and its note are replaced in one transaction.

Before both are replaced, `notes/.saves/<hash of the key>.save` records the note that belongs to the new mask, with
checksums of that mask and of the former note. Until the mask file is replaced the label is the old one, from then on it
is the new one: readers take the recorded note as long as the note file is the former one. The next save of the label,
or the next opening of the project for writing, replaces that file. A mask or a note alone needs no record.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from workbench.core.problems import CannotWrite, Problem
from workbench.core.project.storage import backup_conflict, check_links, inside, json_bytes, key_hash, write_bytes
from workbench.inference.io.file_access import read_regular, remove_file
from workbench.inference.io.json_io import JsonError, read_json

Kind = Literal["mask", "note"]
FORMAT = 1
FOLDER, SUFFIX = "notes/.saves", ".save"  # of the records; a folder of notes that cannot be written fails first
_FILES: dict[Kind, tuple[str, str]] = {"mask": ("masks", ".png"), "note": ("notes", ".json")}  # in the order of writing


@dataclass
class KnownFiles:
    """Files of a label as last read or written here.

    sums: their checksums, "" for a missing file. kept: files that another program had written since, each with the path
    of the copy kept of it.
    """

    sums: dict[Kind, str] = field(default_factory=lambda: {"mask": "", "note": ""})
    kept: list[tuple[Path, Path]] = field(default_factory=list)

    @classmethod
    def read(cls, root: Path, key: str) -> KnownFiles:
        """Return the present files of an image. An unreadable file counts as a missing one."""
        files = cls()
        for kind in _FILES:
            with contextlib.suppress(OSError):
                files.sums[kind] = content_sum(_content(path_of(root, kind, key)))
        return files


@dataclass(frozen=True)
class _Record:
    """Record of a save. mask, before: checksums of the new mask and of the former note. note: the new note."""

    key: str
    mask: str
    before: str
    note: str

    @classmethod
    def load(cls, path: Path) -> _Record | None:
        """Return the record in a file; None if there is none, or one of another format."""
        try:
            raw = read_json(path, surrogates=True)
            if raw["format"] == FORMAT:
                return cls(*(str(raw[name]) for name in ("key", "mask", "before", "note")))
        except (FileNotFoundError, JsonError, KeyError, TypeError):
            pass
        return None


def path_of(root: Path, kind: Kind, key: str) -> Path:
    """Return the path of the mask or note of an image in the project at `root`."""
    folder, suffix = _FILES[kind]
    return inside(root / folder, key + suffix)


class SaveRecords:
    """Unfinished saves of a project, listed once a second, for a pass over many images.

    In a network folder it takes milliseconds to find that a file does not exist.
    """

    def __init__(self, root: Path) -> None:
        self._root, self._names, self._until = root, frozenset[str](), 0.0

    def __contains__(self, key: str) -> bool:
        if time.monotonic() > self._until:
            self._names = frozenset(path.name for path in records(self._root))
            self._until = time.monotonic() + 1
        return key_hash(key) + SUFFIX in self._names if self._names else False


def read_note(root: Path, key: str, saves: SaveRecords | None = None) -> bytes:
    """Return the note that belongs to the mask of an image: its file, or the record of a save. Raises OSError."""
    record = _valid_record(root, key) if saves is None or key in saves else None
    return read_regular(path_of(root, "note", key)) if record is None else record.note.encode()


def write(root: Path, key: str, contents: Mapping[Kind, bytes], files: KnownFiles | None = None) -> None:
    """Replace the mask, the note, or both.

    files: the state that the caller has read or written; a file that differs from it is another program's and is copied
        to `journal/kept` first. The state is updated with each file, also if a later one fails. None: no copies.
    Raises CannotWrite: the label is then the old one, or the new one with a note that the next call writes.
    """
    known = files or KnownFiles()
    finish(root, key, known)
    changed: list[Kind] = []
    before = ""  # checksum of the present note
    for kind in _FILES:
        if kind not in contents:
            continue
        path = path_of(root, kind, key)
        try:
            present = _content(path)
        except OSError as error:
            raise CannotWrite.of(path, error) from error
        if files is not None and present not in (None, contents[kind]) and content_sum(present) != files.sums[kind]:
            files.kept.append((path, backup_conflict(root, key_hash(key)[:8], present, path.suffix)))
        if present is not None:  # a missing folder may come back with the known file
            known.sums[kind] = content_sum(present)
        before = content_sum(present)  # the note is the last
        if present != contents[kind]:
            changed.append(kind)
    record_path = _record_path(root, key)
    if len(changed) > 1:
        record = _Record(key, content_sum(contents["mask"]), before, contents["note"].decode())
        write_bytes(record_path, json_bytes({"format": FORMAT, **asdict(record)}, ascii=True), root=root)
    for kind in changed:
        write_bytes(path_of(root, kind, key), contents[kind], root=root)
        known.sums[kind] = content_sum(contents[kind])
    if len(changed) > 1:
        _remove(record_path)


def finish(root: Path, key: str, files: KnownFiles | None = None) -> None:
    """Complete an unfinished save of a label if its mask is written, else discard its record. Raises CannotWrite."""
    path, record_path = path_of(root, "note", key), _record_path(root, key)
    check_links(root, record_path)
    try:
        record = _valid_record(root, key)
    except OSError as error:
        raise CannotWrite.of(path, error) from error
    if record is not None:
        note = record.note.encode()
        write_bytes(path, note, root=root)
        if files is not None:
            files.sums["note"] = content_sum(note)
    _remove(record_path)


def recover(root: Path) -> list[Path]:
    """Finish all unfinished saves of a project that is opened for writing; one that cannot be written stays.

    Return the records that were found.
    """
    found = records(root)
    for path in found:
        with contextlib.suppress(Problem):
            if (record := _Record.load(path)) is not None:
                finish(root, record.key)
    return found


def records(root: Path) -> list[Path]:
    """Return the records of unfinished saves in the project at `root`."""
    return list((root / FOLDER).glob("*" + SUFFIX))


def _valid_record(root: Path, key: str) -> _Record | None:
    """Return the record of an unfinished save whose mask is written and whose note is not. Raises OSError."""
    record = _Record.load(_record_path(root, key))
    if record is None or record.key != key:
        return None
    present = (content_sum(_content(path_of(root, kind, key))) for kind in _FILES)
    return record if (record.mask, record.before) == tuple(present) else None


def _record_path(root: Path, key: str) -> Path:
    return root / FOLDER / (key_hash(key) + SUFFIX)


def _content(path: Path) -> bytes | None:
    """Return the content of a file, None if there is none. Raises OSError."""
    try:
        return read_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def content_sum(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # a record of which both files are written has no effect
        remove_file(path, missing_ok=True)
