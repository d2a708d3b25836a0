"""Strokes on their way to the mask file: noted at once, removed when a save holds them, replayed after a crash.

One picture's strokes lie in numbered segments `journal/<hash of key>-<n>.bin`, each a row of records
`length · crc32 · JSON head · packed areas`. A record cut off by a crash ends its segment and harms nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from workbench.core.history import Patch
from workbench.core.problems import CannotWrite
from workbench.core.storage import check_links
from workbench.inference.json_io import parse_json
from workbench.inference.writing import make_folder

_FRAME = struct.Struct("<II")  # length and crc32 of the payload
_HEAD = struct.Struct("<I")  # length of the JSON head within the payload
_NAME = re.compile(r"([0-9a-f]{32})-(\d{1,9})\.bin")

Size = tuple[int, int]


def encode_record(patch: Patch, size: Size) -> bytes:
    """One patch of a mask of `size` (width, height) as bytes."""
    blobs = [patch.areas, patch.before, patch.after]
    head = json.dumps({"format": 2, "key": patch.key, "what": patch.what, "when": patch.when, "size": size,
                       "explicit": patch.explicit, "lengths": [len(blob) for blob in blobs]}).encode()  # fmt: skip
    payload = b"".join([_HEAD.pack(len(head)), head, *blobs])
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def decode_records(data: bytes) -> Iterator[tuple[Patch, Size]]:
    """The patches of a segment, up to the first record that is torn or damaged."""
    at = 0
    while at + _FRAME.size <= len(data):
        length, check = _FRAME.unpack_from(data, at)
        at += _FRAME.size
        payload = data[at : at + length]
        at += length
        if len(payload) != length or zlib.crc32(payload) != check:
            return
        try:
            yield _patch(payload)
        except (KeyError, TypeError, ValueError, ArithmeticError, struct.error, zlib.error):
            return


def _patch(payload: bytes) -> tuple[Patch, Size]:
    (length,) = _HEAD.unpack_from(payload)
    at = _HEAD.size + length
    head = parse_json(payload[_HEAD.size : at], surrogates=True)
    if head["format"] != 2:
        raise ValueError("a record of another version")
    width, height = map(int, head["size"])
    blobs = []
    for n in map(int, head["lengths"]):
        blobs.append(payload[at : at + n])
        at += n
    areas, before, after = blobs
    explicit = None if head["explicit"] is None else bool(head["explicit"])
    patch = Patch(str(head["key"]), str(head["what"]), areas, before, after, explicit, float(head["when"]))
    patch.check((width, height))
    return patch, (width, height)


class Journal:
    """The journal folder of one open project. For the GUI thread; a record is in the system's hands when written.

    A record that cannot be written waits, and goes in front of the next.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, tuple[int, io.FileIO]] = {}
        self._sealed: dict[str, list[int]] = {}
        self._next: dict[str, int] = {}
        self._waiting: dict[str, list[bytes]] = {}
        self.unreadable: list[Path] = []  # found by `leftovers`

    def append(self, patch: Patch, size: Size) -> None:
        """Note one patch of a mask of `size`. Raises CannotWrite; `catch_up` tries again."""
        self.put(patch.key, encode_record(patch, size))

    def put(self, key: str, record: bytes) -> None:
        """Note one record as `encode_record` makes it. Raises CannotWrite; `catch_up` tries again."""
        self._waiting.setdefault(key, []).append(record)
        self._write(key)

    def catch_up(self) -> None:
        """Write what could not be written. Raises CannotWrite."""
        for key in list(self._waiting):
            self._write(key)

    def clear_waiting(self, key: str) -> None:
        """Let go of what could not be written."""
        self._waiting.pop(key, None)

    def _write(self, key: str) -> None:
        waiting = self._waiting[key]
        try:
            if key not in self._open:
                self._open[key] = self._new_segment(key)
            file = self._open[key][1]
            while waiting:
                end = file.tell()
                try:
                    _write_all(file, waiting[0])
                except OSError:
                    file.truncate(end)  # what follows a torn record could not be read
                    file.seek(end)
                    raise
                waiting.pop(0)
        except OSError as error:
            self.seal(key)
            raise CannotWrite.of(self.folder, error) from error
        del self._waiting[key]

    def seal(self, key: str) -> int:
        """End the picture's segment: what was noted so far is in segments up to the returned number."""
        if key in self._open:
            number, file = self._open.pop(key)
            _close(file)
            self._sealed.setdefault(key, []).append(number)
        return self._next.get(key, 1) - 1

    def discard(self, key: str, upto: int) -> None:
        """A save holds everything up to segment `upto`: remove it."""
        kept = [number for number in self._sealed.pop(key, []) if number > upto or not _remove(self._path(key, number))]
        if kept:
            self._sealed[key] = kept

    def clear(self, key: str) -> None:
        """A save holds everything that was noted of a picture."""
        self._waiting.pop(key, None)
        self.discard(key, self.seal(key))

    def close(self) -> None:
        """Let go of the files; what no save holds stays for the next opening."""
        with contextlib.suppress(CannotWrite):
            self.catch_up()
        for _, file in self._open.values():
            _close(file)
        self._open.clear()

    def leftovers(self) -> dict[str, list[tuple[Patch, Size]]]:
        """What an earlier session noted and did not save, by picture, in order. `discard` then removes it too."""
        found: dict[str, list[tuple[Patch, Size]]] = {}
        for path in self._files():
            matched = _NAME.fullmatch(path.name)
            try:
                data = path.read_bytes() if matched else None
            except OSError:
                continue
            if data is None:
                continue
            records = list(decode_records(data))
            if not records:
                if not data[_FRAME.size :] or len(data) < _FRAME.size + _FRAME.unpack_from(data)[0]:
                    _remove(path)  # cut off within its first record: nothing to bring back
                else:
                    self.unreadable.append(path)  # damaged, or of another version: left as it is
                continue
            key = records[0][0].key
            if matched[1] != _hash(key):
                continue
            found.setdefault(key, []).extend(record for record in records if record[0].key == key)
            number = int(matched[2])
            self._sealed.setdefault(key, []).append(number)
            self._next[key] = number + 1
        return found

    def _files(self) -> list[Path]:
        try:
            return sorted(self.folder.glob("*.bin"))
        except OSError:
            return []

    def _new_segment(self, key: str) -> tuple[int, io.FileIO]:
        check_links(self.folder.parent, self.folder / "segment")
        make_folder(self.folder)
        number = self._next.get(key, 1)
        while True:
            try:
                file = self._path(key, number).open("xb", buffering=0)
            except FileExistsError:  # of a segment that could not be read
                number += 1
                continue
            self._next[key] = number + 1
            return number, file

    def _path(self, key: str, number: int) -> Path:
        return self.folder / f"{_hash(key)}-{number:06d}.bin"


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _close(file: io.FileIO) -> None:
    with contextlib.suppress(OSError):  # a full disk can refuse the last bytes; the save that follows says so
        file.close()


def _write_all(file: io.FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _remove(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
