"""Journal of unsaved strokes and note changes: written at once, removed when saved, merged after a crash.

Strokes of an image: numbered segments `journal/<hash of key>-<n>.bin`, each with records
`length · crc32 · JSON head · packed areas`. A record cut off by a crash ends its segment; all others stay valid.

Changes of its note: segments `journal/<hash of key>-<n>.note`, each with records `length · crc32 · JSON`, see
note_changes. A segment with a record of a newer version is left as it is and reported.

Changes of notes: recorded in the journal, and merged into the notes after a crash.

Only the fields that differ are recorded: a plain field with its value before and after, a list with the entries removed
and added. This preserves changes that another program has made in the note meanwhile: lists are merged, and a plain
field takes the recorded value only if it still holds one of the recorded values.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.problems import CannotWrite
from workbench.core.project.annotation import Note
from workbench.core.project.history import Patch
from workbench.core.project.storage import check_links, key_hash
from workbench.inference.io.file_access import make_folder, read_regular, remove_file
from workbench.inference.io.json_io import parse_json

FORMAT = 1
# Recorded by the editor together with the pixels that change with it, see history.Patch.
_RECORDED_ELSEWHERE = frozenset({"explicit_background"})

Content = dict[str, Any]  # content of a note, as JSON values
Size = tuple[int, int]  # width, height


@dataclass(frozen=True)
class NoteChange:
    """Difference between two states of the note of image `key`.

    fields: {"from": value, "to": value} of a plain field, {"removed": [...], "added": [...]} of a list.
    act: entry for the note's history, if the change does not contain the history itself.
    size: (width, height) of the image's mask, None if unknown.
    new_mask: an image without a mask gets an empty one.
    """

    key: str
    fields: dict[str, dict[str, Any]]
    act: str = ""
    size: Size | None = None
    new_mask: bool = False
    when: float = field(default_factory=time.time)  # seconds since 1970

    def encode(self) -> bytes:
        """Return the content of a journal record."""
        content = {
            "format": FORMAT,
            "key": self.key,
            "fields": self.fields,
            "act": self.act,
            "size": self.size,
            "new_mask": self.new_mask,
            "when": self.when,
        }
        return json.dumps(content).encode()

    @classmethod
    def decode(cls, data: bytes) -> NoteChange:
        """Read the content of a journal record. Raises ValueError if it is invalid or of a newer version."""
        try:
            head = json.loads(data)
            if head["format"] != FORMAT:
                raise ValueError("a record of another version")
            size = None if head["size"] is None else (int(head["size"][0]), int(head["size"][1]))
            fields = {str(name): _checked(change) for name, change in head["fields"].items()}
            if "format" in fields:
                raise ValueError("a change of the format")
            Note.model_validate({name: change.get("to", change.get("added")) for name, change in fields.items()})
            return cls(str(head["key"]), fields, str(head["act"]), size, bool(head["new_mask"]), float(head["when"]))
        except (KeyError, IndexError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError("not a change of a note") from error


def _checked(change: dict[str, Any]) -> dict[str, Any]:
    if change.keys() == {"removed", "added"}:
        if isinstance(change["removed"], list) and isinstance(change["added"], list):
            return change
    elif change.keys() == {"from", "to"}:
        return change
    raise ValueError("not a change of a field")


def difference(before: Content, after: Content) -> dict[str, dict[str, Any]]:
    """Return the `fields` of a change from one content of a note to another."""
    fields = {}
    for name, new in after.items():
        old = before.get(name)
        if new == old or name in _RECORDED_ELSEWHERE:
            continue
        if isinstance(old, list) and isinstance(new, list):
            fields[name] = _list_difference(old, new)
        else:
            fields[name] = {"from": old, "to": new}
    return fields


def _list_difference(old: list, new: list) -> dict[str, Any]:
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    before, after = _identities(old), _identities(new)
    return {
        "removed": [entry for entry in old[start:] if _identity(entry) not in after],
        "added": [entry for entry in new[start:] if _identity(entry) not in before],
    }


@dataclass(frozen=True)
class MergedNote:
    """A note after recorded changes were merged into it.

    conflicting: the note with all recorded values, if another program changed some of the same fields.
    """

    note: Note
    changed: bool
    conflicting: Note | None = None


@dataclass
class _Values:
    known: list[Any] = field(default_factory=list)
    last: Any = None


def merge(note: Note, changes: Sequence[NoteChange]) -> MergedNote:
    """Return a note with recorded changes merged, oldest first; `note` itself stays as it is."""
    before = note.content()
    content, plain = note.content(), dict[str, _Values]()
    for change in changes:
        for name, recorded in change.fields.items():
            if "to" in recorded:
                values = plain.setdefault(name, _Values())
                values.known += [recorded["from"], recorded["to"]]
                values.last = recorded["to"]
            elif isinstance(content.get(name), list):
                content[name] = _merged_list(content[name], recorded["removed"], recorded["added"])
    conflicting = dict(content)
    misfits = False
    for name, values in plain.items():
        conflicting[name] = values.last
        if content.get(name) in values.known:
            content[name] = values.last
        else:
            misfits = True
    changed = content != before
    merged = Note.model_validate(content)
    for act in dict.fromkeys(change.act for change in changes if change.act) if changed else ():
        merged.add(act)
    return MergedNote(merged, changed, Note.model_validate(conflicting) if misfits else None)


def _merged_list(entries: list, removed: list, added: list) -> list:
    removed_ids, present = _identities(removed), _identities(entries)
    remaining = [entry for entry in entries if _identity(entry) not in removed_ids]
    return remaining + [entry for entry in added if _identity(entry) not in present]


def _identities(entries: Iterable[Any]) -> set[str]:
    return {_identity(entry) for entry in entries}


def _identity(entry: Any) -> str:
    return json.dumps(entry, sort_keys=True)


_FRAME = struct.Struct("<II")  # length and crc32 of the payload
_HEAD = struct.Struct("<I")  # length of the JSON head within the payload
_NAME = re.compile(r"([0-9a-f]{32})-(\d{1,9})(\.bin|\.note)")
STROKES, NOTES = ".bin", ".note"
SHARED = ""  # key of segments that hold changes of many images

Place = tuple[str, str]  # key of an image ("" for many) and kind of record, the suffix of its segments


def encode_record(patch: Patch, size: Size) -> bytes:
    """Return one patch of a mask of `size` (width, height) as bytes."""
    blobs = [patch.areas, patch.before, patch.after]
    head = json.dumps(
        {
            "format": 2,
            "key": patch.key,
            "what": patch.what,
            "when": patch.when,
            "size": size,
            "explicit": patch.explicit,
            "lengths": [len(blob) for blob in blobs],
        }
    ).encode()
    return framed(b"".join([_HEAD.pack(len(head)), head, *blobs]))


def encode_note_record(change: NoteChange) -> bytes:
    """Return one change of a note as bytes."""
    return framed(change.encode())


def framed(payload: bytes) -> bytes:
    """Return a record: length and CRC32 of the payload, then the payload."""
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def decode_records(data: bytes) -> Iterator[tuple[Patch, Size]]:
    """Yield the patches of a segment, up to the first record that is incomplete or damaged."""
    for payload in _payloads(data):
        try:
            yield _patch(payload)
        except (KeyError, TypeError, ValueError, ArithmeticError, struct.error, zlib.error):
            return


def decode_note_records(data: bytes) -> list[NoteChange]:
    """Return the changes up to an incomplete record. Raises ValueError for a record of another version."""
    return [NoteChange.decode(payload) for payload in _payloads(data)]


def _payloads(data: bytes) -> Iterator[bytes]:
    offset = 0
    while offset + _FRAME.size <= len(data):
        length, check = _FRAME.unpack_from(data, offset)
        offset += _FRAME.size
        payload = data[offset : offset + length]
        offset += length
        if len(payload) != length or zlib.crc32(payload) != check:
            return
        yield payload


def _patch(payload: bytes) -> tuple[Patch, Size]:
    (length,) = _HEAD.unpack_from(payload)
    offset = _HEAD.size + length
    head = parse_json(payload[_HEAD.size : offset], surrogates=True)
    if head["format"] != 2:
        raise ValueError("a record of another version")
    width, height = map(int, head["size"])
    blobs = []
    for n in map(int, head["lengths"]):
        blobs.append(payload[offset : offset + n])
        offset += n
    areas, before, after = blobs
    explicit = None if head["explicit"] is None else bool(head["explicit"])
    patch = Patch(str(head["key"]), str(head["what"]), areas, before, after, explicit, float(head["when"]))
    patch.check((width, height))
    return patch, (width, height)


class Journal:
    """Journal folder of one open project, for the GUI thread. Writes are unbuffered.

    Strokes and note changes have separate segments, numbered in one sequence. A record that fails is queued first.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[Place, tuple[int, io.FileIO]] = {}  # by key and suffix
        self._sealed: dict[str, list[tuple[int, str]]] = {}
        self._removable: dict[str, int] = {}  # number up to which the segments of a key are saved
        self._next: dict[str, int] = {}
        self._queued: dict[Place, list[bytes]] = {}

    def append(self, patch: Patch, size: Size) -> None:
        """Record one patch of a mask of `size` (width, height). Raises CannotWrite; `catch_up` tries again."""
        self.put((patch.key, STROKES), encode_record(patch, size))

    def append_note(self, change: NoteChange) -> None:
        """Record one change of a note. Raises CannotWrite; `catch_up` tries again."""
        self.put((change.key, NOTES), encode_note_record(change))

    def append_notes(self, changes: Sequence[NoteChange]) -> int:
        """Record changes of many images at once, until `discard_notes`. Return the number of the segment.

        Raises CannotWrite; the changes are then discarded.
        """
        try:
            self.put((SHARED, NOTES), b"".join(encode_note_record(change) for change in changes))
        finally:
            self._queued.pop((SHARED, NOTES), None)
            segment = self.seal(SHARED)
        return segment

    def discard_notes(self, segment: int | None = None) -> None:
        """Remove the records of `append_notes`, up to a segment or all: they are in the notes or recorded again."""
        self.discard(SHARED, self.seal(SHARED) if segment is None else segment)

    def put(self, place: Place, record: bytes) -> None:
        """Write one encoded record. place: key of the image and kind of record. Raises CannotWrite; see `catch_up`."""
        self._queued.setdefault(place, []).append(record)
        self._write(place)

    def catch_up(self) -> None:
        """Write queued records. Raises CannotWrite."""
        for place in list(self._queued):
            self._write(place)

    def clear_queued(self, place: Place) -> None:
        """Discard queued records."""
        self._queued.pop(place, None)

    def _write(self, place: Place) -> None:
        waiting = self._queued[place]
        try:
            if place not in self._open:
                self._open[place] = self._new_segment(*place)
            file = self._open[place][1]
            while waiting:
                end = file.tell()
                try:
                    _write_all(file, waiting[0])
                except OSError:
                    file.truncate(end)  # records after an incomplete one could not be read
                    file.seek(end)
                    raise
                waiting.pop(0)
        except OSError as error:
            self.seal(place[0])
            raise CannotWrite.of(self.folder, error) from error
        del self._queued[place]

    def seal(self, key: str) -> int:
        """Close the image's open segments. Return the highest segment number so far."""
        for suffix in (STROKES, NOTES):
            if (key, suffix) in self._open:
                number, file = self._open.pop((key, suffix))
                _close(file)
                self._sealed.setdefault(key, []).append((number, suffix))
        return self._next.get(key, 1) - 1

    def discard(self, key: str, upto: int) -> None:
        """Remove the segments up to number `upto`, which a save contains."""
        segments = self._sealed.pop(key, [])
        self._removable[key] = upto
        remaining = [item for item in segments if item[0] > upto or not _remove(self._path(key, *item))]
        if remaining:
            self._sealed[key] = remaining

    def clear(self, key: str) -> None:
        """Remove all records of an image, which a save contains."""
        for suffix in (STROKES, NOTES):
            self._queued.pop((key, suffix), None)
        self.discard(key, self.seal(key))

    def close(self) -> None:
        """Close the files and remove saved segments that `discard` could not remove; unsaved ones stay."""
        with contextlib.suppress(CannotWrite):
            self.catch_up()
        for _, file in self._open.values():
            _close(file)
        self._open.clear()
        for key, number in self._removable.items():
            for segment in self._sealed.get(key, ()):
                if segment[0] <= number:
                    with contextlib.suppress(OSError):
                        remove_file(self._path(key, *segment), missing_ok=True)

    def leftovers(self) -> Leftovers:
        """Return the unsaved changes of an earlier session; `discard` then removes them too."""
        found = Leftovers()
        for path in self._files():
            if (match := _NAME.fullmatch(path.name)) is None:
                continue
            try:
                data = read_regular(path)
            except OSError:
                continue
            suffix, changes, records = match[3], [], []
            if suffix == STROKES:
                records = list(decode_records(data))
            else:
                with contextlib.suppress(ValueError):
                    changes = decode_note_records(data)
            if not records and not changes:
                if not data[_FRAME.size :] or len(data) < _FRAME.size + _FRAME.unpack_from(data)[0]:
                    _remove(path)  # cut off within its first record: nothing to recover
                else:
                    found.unreadable.append(path)  # damaged, or of another version: left as it is
                continue
            key = records[0][0].key if records else changes[0].key
            if changes and match[1] == key_hash(SHARED):
                key = SHARED
            if match[1] != key_hash(key):
                continue
            if records:
                found.strokes.setdefault(key, []).extend(record for record in records if record[0].key == key)
            for change in changes:
                if key in (change.key, SHARED):
                    found.note_changes.setdefault(change.key, []).append(change)
                if key == SHARED:
                    found.shared_keys.add(change.key)
            number = int(match[2])
            self._sealed.setdefault(key, []).append((number, suffix))
            self._next[key] = max(number + 1, self._next.get(key, 1))
        for key in found.shared_keys:  # their segments do not share one numbering
            found.note_changes[key].sort(key=lambda change: change.when)
        return found

    def _files(self) -> list[Path]:
        try:
            return sorted(path for suffix in (STROKES, NOTES) for path in self.folder.glob("*" + suffix))
        except OSError:
            return []

    def _new_segment(self, key: str, suffix: str) -> tuple[int, io.FileIO]:
        check_links(self.folder.parent, self.folder / "segment")
        make_folder(self.folder)
        number = self._next.get(key, 1)
        while True:
            try:
                file = self._path(key, number, suffix).open("xb", buffering=0)
            except FileExistsError:  # taken by a segment that could not be read
                number += 1
                continue
            self._next[key] = number + 1
            return number, file

    def _path(self, key: str, number: int, suffix: str) -> Path:
        return self.folder / f"{key_hash(key)}-{number:06d}{suffix}"


def _close(file: io.FileIO) -> None:
    with contextlib.suppress(OSError):  # a full disk can refuse the last bytes; the following save reports it
        file.close()


def _write_all(file: io.FileIO, data: bytes) -> None:
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[file.write(remaining) :]


def _remove(path: Path) -> bool:
    """Remove a file at once: after every save the GUI thread does that, and must not wait for a virus scanner."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        return True
    return False


@dataclass
class Leftovers:
    """Unsaved changes of an earlier session.

    strokes: patches with the size of their mask, per image, in order. note_changes: of notes, per image, in order.
    shared_keys: images with changes from `append_notes`. unreadable: files that cannot be read.
    """

    strokes: dict[str, list[tuple[Patch, Size]]] = field(default_factory=dict)
    note_changes: dict[str, list[NoteChange]] = field(default_factory=dict)
    shared_keys: set[str] = field(default_factory=set)
    unreadable: list[Path] = field(default_factory=list)

    @property
    def keys(self) -> list[str]:
        """Images with strokes or changes of their note."""
        return list(dict.fromkeys([*self.strokes, *self.note_changes]))
