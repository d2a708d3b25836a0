"""Strokes on their way to the mask file: noted at once, removed when a save holds them, replayed after a crash.

One picture's strokes lie in numbered segments `journal/<hash of key>-<n>.bin`, each a row of records
`length · crc32 · JSON head · packed tiles`. A record cut off by a crash ends its segment and harms nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from workbench.core.history import TILE, Patch
from workbench.core.problems import CannotWrite

_FRAME = struct.Struct("<II")  # length and crc32 of the payload
_HEAD = struct.Struct("<I")  # length of the JSON head within the payload
_NAME = re.compile(r"([0-9a-f]{32})-(\d{1,9})\.bin")

Size = tuple[int, int]


def encode_record(patch: Patch, size: Size) -> bytes:
    """One patch of a mask of `size` (width, height) as bytes."""
    tiles = [[x, y, w, h, len(before), len(after)] for x, y, w, h, before, after in patch.tiles]
    head = json.dumps({"format": 1, "key": patch.key, "what": patch.what, "size": size, "tiles": tiles}).encode()
    blobs = [blob for *_, before, after in patch.tiles for blob in (before, after)]
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
        except (KeyError, TypeError, ValueError, struct.error, zlib.error):
            return


def _patch(payload: bytes) -> tuple[Patch, Size]:
    (length,) = _HEAD.unpack_from(payload)
    at = _HEAD.size + length
    head = json.loads(payload[_HEAD.size : at])
    width, height = map(int, head["size"])
    tiles = []
    for x, y, w, h, *lengths in head["tiles"]:
        if not (0 < w <= TILE and 0 < h <= TILE and 0 <= x <= width - w and 0 <= y <= height - h):
            raise ValueError("a tile outside of its mask")
        blobs = []
        for n in lengths:
            blobs.append(payload[at : at + n])
            at += n
            if len(_unpack(blobs[-1], w * h)) != w * h:
                raise ValueError("a tile of another size")
        before, after = blobs
        tiles.append((x, y, w, h, before, after))
    return Patch(str(head["key"]), str(head["what"]), tuple(tiles)), (width, height)


def _unpack(blob: bytes, limit: int) -> bytes:
    return zlib.decompressobj().decompress(blob, limit + 1)


def replay(patch: Patch, mask: np.ndarray) -> bool:
    """Put a patch on a mask; True if that changed it.

    A tile goes on where the mask shows what the stroke found there. Anything else is newer work, by a later save or by
    another program, and stays.
    """
    changed = False
    for x, y, width, height, before, after in patch.tiles:
        view = mask[y : y + height, x : x + width]
        if view.tobytes() == zlib.decompress(before):
            view[...] = np.frombuffer(zlib.decompress(after), np.uint8).reshape(height, width)
            changed = True
    return changed


class Journal:
    """The journal folder of one open project. For the GUI thread; a record is in the system's hands when written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, tuple[int, BinaryIO]] = {}
        self._sealed: dict[str, list[int]] = {}
        self._next: dict[str, int] = {}

    def append(self, patch: Patch, size: Size) -> None:
        """Note one patch of a mask of `size`. Raises CannotWrite; later patches then go into a new segment."""
        try:
            if patch.key not in self._open:
                self._open[patch.key] = self._new_segment(patch.key)
            file = self._open[patch.key][1]
            file.write(encode_record(patch, size))
            file.flush()
        except OSError as error:
            self.seal(patch.key)  # what follows a torn record could not be read
            raise CannotWrite(path=str(self.folder), why=error.strerror or str(error)) from error

    def seal(self, key: str) -> int:
        """End the picture's segment: what was noted so far is in segments up to the returned number."""
        if key in self._open:
            number, file = self._open.pop(key)
            _close(file)
            self._sealed.setdefault(key, []).append(number)
        return self._next.get(key, 1) - 1

    def discard(self, key: str, upto: int) -> None:
        """A save holds everything up to segment `upto`: remove it."""
        kept = []
        for number in self._sealed.pop(key, []):
            if number > upto:
                kept.append(number)
                continue
            if not _remove(self._path(key, number)):
                kept.append(number)
        if kept:
            self._sealed[key] = kept

    def close(self) -> None:
        """Let go of the files; what no save holds stays for the next opening."""
        for _, file in self._open.values():
            _close(file)
        self._open.clear()

    def leftovers(self) -> dict[str, list[tuple[Patch, Size]]]:
        """What an earlier session noted and did not save, by picture, in order. `discard` then removes it too."""
        found: dict[str, list[tuple[Patch, Size]]] = {}
        for path in self._files():
            matched = _NAME.fullmatch(path.name)
            try:
                records = list(decode_records(path.read_bytes())) if matched else []
            except OSError:
                continue
            if not matched:
                continue
            if not records:
                _remove(path)  # cut off within its first record: nothing to bring back
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

    def _new_segment(self, key: str) -> tuple[int, BinaryIO]:
        self.folder.mkdir(parents=True, exist_ok=True)
        number = self._next.get(key, 1)
        while True:
            try:
                file = self._path(key, number).open("xb")
            except FileExistsError:  # of a segment that could not be read
                number += 1
                continue
            self._next[key] = number + 1
            return number, file

    def _path(self, key: str, number: int) -> Path:
        return self.folder / f"{_hash(key)}-{number:06d}.bin"


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _close(file: BinaryIO) -> None:
    with contextlib.suppress(OSError):  # a full disk can refuse the last bytes; the save that follows says so
        file.close()


def _remove(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
