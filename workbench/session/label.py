"""Label of one image in memory, and its loading and saving, consistent while the user paints.

The mask is encoded in bands of rows: a save compresses only those that changed since the previous save.
"""

from __future__ import annotations

import json
import struct
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.problems import CannotWrite, Problem
from workbench.core.project import annotation
from workbench.core.project.annotation import Note, Status, encode_mask, palette_bytes
from workbench.core.project.image_row import ImageRow
from workbench.core.project.label_transaction import KnownFiles
from workbench.core.project.project import BACKGROUND, MAX_CLASS_ID, ClassInfo, Project
from workbench.core.project.storage import file_stamp, inside, write_bytes, write_json
from workbench.core.text_patterns import free_path
from workbench.session.journal import NoteChange, difference

BAND = 1 << 16  # approximate number of pixel bytes per band; at least one row
_MAX_BANDS = 512  # per mask
_ADLER = 65521


class IncrementalPng:
    """Encoder for repeated saves of one mask: standard 8-bit palette PNG, rows unfiltered, zlib level 1.

    Each band is a deflate segment in an IDAT chunk of its own. It ends in a full flush, so it contains no references to
    other bands. The zlib checksum is combined from those of the bands. One instance serves one mask, from one thread at
    a time.
    """

    def __init__(self, classes: Sequence[ClassInfo]) -> None:
        self.classes = list(classes)  # may be replaced between encodings: the palette is rewritten each time
        self._shape: tuple[int, int] | None = None
        self._rows = 1
        self._bands: list[_PngBand] = []
        self._changed: list[Rect] = []
        self._stale: set[int] = set()  # bands that differ from the mask

    def encode(self, mask: np.ndarray, dirty_rects: Iterable[Rect] | None = None) -> bytes:
        """Return the PNG file of `mask`, uint8 (H, W), not empty.

        `dirty_rects`: areas that changed since the mask was last encoded; None if unknown. A mask of another shape is
        encoded completely. Raises ValueError for another dtype or number of dimensions.
        """
        self.invalidate(dirty_rects)
        self.encode_changed(mask)
        return self.file()

    def invalidate(self, rects: Iterable[Rect] | None) -> None:
        """Mark areas of the mask as changed; None marks the whole mask."""
        if rects is None:
            self._shape = None
        else:
            self._changed += rects

    def encode_changed(self, mask: np.ndarray) -> None:
        """Compress the bands that were marked by `invalidate`.

        If the mask changes during this call, `invalidate` the changed areas and encode again before calling `file`; the
        other bands remain valid. After an error, the remaining bands are compressed by the next call.
        """
        if mask.dtype != np.uint8 or mask.ndim != 2 or not mask.size:
            raise ValueError(f"a mask is uint8 (H, W) and not empty, not {mask.dtype} {mask.shape}")
        height, width = mask.shape
        if mask.shape != self._shape:
            self._shape, self._rows = mask.shape, max(1, BAND // (width + 1), -(-height // _MAX_BANDS))
            self._bands = [_EMPTY_BAND] * -(-height // self._rows)
            self._stale = set(range(len(self._bands)))
        changed, self._changed = self._changed, []
        for rect in changed:
            rect = rect.clipped(width, height)
            if not rect.empty:
                self._stale.update(range(rect.y // self._rows, (rect.y + rect.height - 1) // self._rows + 1))
        for number in sorted(self._stale):
            self._bands[number] = encode_band(mask[number * self._rows : (number + 1) * self._rows])
            self._stale.discard(number)

    def file(self) -> bytes:
        """Return the PNG file of the encoded mask. Raises ValueError if bands remain to be encoded."""
        if self._shape is None or self._stale or self._changed:
            raise ValueError("not all of the mask is encoded")
        height, width = self._shape
        check = 1
        for band in self._bands:
            check = combine_adler32(check, band.adler, band.length)
        header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
        return b"".join(
            [
                b"\x89PNG\r\n\x1a\n",
                _chunk(b"IHDR", header),
                _chunk(b"PLTE", palette_bytes(self.classes)),
                _chunk(b"IDAT", b"\x78\x01"),
                *(band.chunk for band in self._bands),
                _chunk(b"IDAT", b"\x03\x00" + struct.pack(">I", check)),
                _chunk(b"IEND", b""),
            ]
        )

    def foreground_counts(self) -> tuple[tuple[int, int], ...]:
        """Return (class id, pixels) of the classes painted in the encoded mask, ids ascending."""
        total: dict[int, int] = {}
        for band in self._bands:
            for id, pixels in band.counts:
                total[id] = total.get(id, 0) + pixels
        return tuple((id, total[id]) for id in sorted(total))


class _PngBand(NamedTuple):
    """Band of rows: IDAT chunk, Adler-32 and length of the uncompressed bytes, and pixels per class."""

    chunk: bytes
    adler: int
    length: int
    counts: tuple[tuple[int, int], ...]


_EMPTY_BAND = _PngBand(b"", 1, 0, ())


def encode_band(rows: np.ndarray) -> _PngBand:
    """Return some rows of a mask as a part of a PNG file. rows: uint8 (h, W)."""
    plain = np.zeros((rows.shape[0], rows.shape[1] + 1), np.uint8)  # first byte of a row: filter type none
    plain[:, 1:] = rows
    pixels = np.bincount(plain[(plain > 0) & (plain <= MAX_CLASS_ID)])  # of the copy, as `rows` may change
    counts = tuple((id, int(pixels[id])) for id in np.flatnonzero(pixels).tolist())
    deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    compressed = deflate.compress(plain.data) + deflate.flush(zlib.Z_FULL_FLUSH)
    return _PngBand(_chunk(b"IDAT", compressed), zlib.adler32(plain.data), plain.size, counts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def combine_adler32(first: int, second: int, length: int) -> int:
    """Return the Adler-32 of two concatenated byte strings, from both checksums and the second length (RFC 1950)."""
    a1, b1, a2, b2 = first & 0xFFFF, first >> 16, second & 0xFFFF, second >> 16
    a = (a1 + a2 - 1) % _ADLER
    b = (b1 + b2 + length * (a1 - 1)) % _ADLER
    return b << 16 | a


_MAX_ATTEMPTS = 20  # to encode a mask while no stroke is made


@dataclass(eq=False)
class Label:
    """A mask and a note, with counters of changes and of saved changes.

    Only the GUI thread changes a label. A saving thread encodes the mask meanwhile: `write_sequence` is odd while
    pixels change, so data encoded between two equal even values is consistent, and `changes` lists the regions to
    encode again.
    """

    key: str
    note: Note = field(default_factory=Note)
    mask: np.ndarray | None = None  # uint8 (H, W)
    problem: Problem | None = None  # reason why this label cannot be changed; its files are then never written
    stamp: str = ""  # stamp of its files when they were read or completely written
    files: KnownFiles = field(default_factory=KnownFiles)  # changed by the saving thread
    on_disk: bool = False  # a mask file exists
    edits: int = 0
    saved_edits: int = 0
    note_edits: int = 0
    saved_note_edits: int = 0
    journalled_note: dict[str, Any] | None = None  # content in the files and the journal; None: that of a new note
    journalled_note_edits: int = 0
    write_sequence: int = 0
    changes: deque[Rect] = field(default_factory=deque)  # regions changed since they were encoded
    png: IncrementalPng | None = None  # mask as encoded for the last save; used by the saving thread only

    @property
    def mask_unsaved(self) -> bool:
        return self.edits != self.saved_edits

    @property
    def unsaved(self) -> bool:
        return self.mask_unsaved or self.note_edits != self.saved_note_edits

    def begin(self) -> None:
        """Mark the start of a change of pixels."""
        self.write_sequence += 1

    def end(self, touched: Iterable[Rect], *, changed: bool) -> None:
        """Mark the end of a change of pixels. touched: regions that may have changed. changed: False if none did."""
        self.changes.extend(touched)
        self.edits += changed
        self.write_sequence += 1

    @contextmanager
    def changing(self, touched: Sequence[Rect]) -> Iterator[np.ndarray]:
        """Yield the mask for a change. touched: the regions to change; if empty, the mask need not be saved."""
        assert self.mask is not None
        self.begin()
        try:
            yield self.mask
        finally:
            self.end(touched, changed=bool(touched))

    def add_history(self, action: str) -> bool:
        """Add an action to the note's history, once in a row. Return True if the status became `started`."""
        history = self.note.history
        if not history or history[-1].what != action:
            self.note.add(action)
            self.note_edits += 1
        if self.note.status != "new":
            return False
        self.note.status = "started"
        self.note_edits += 1
        return True

    def follow_pixels(self, background: int) -> bool:
        """Make the image new if all its strokes are undone, started if one is redone. Return True if that changed it.

        A verdict, or a status that the user has set, stays. background: id of unpainted pixels.
        """
        own = self.note.verdict is not None or any(entry.what in get_args(Status) for entry in self.note.history)
        if own or self.mask is None or self.note.status == "done":
            return False
        painted = bool(self.mask.any() if background == BACKGROUND else (self.mask != background).any())
        if painted == (self.note.status != "new"):
            return False
        self.note.status = "started" if painted else "new"
        self.note_edits += 1
        return True

    def take_note_change(self) -> NoteChange | None:
        """Return the change of the note since the last call or since it was read; None without a change."""
        if self.note_edits == self.journalled_note_edits:
            return None
        before = Note().content() if self.journalled_note is None else self.journalled_note
        self.journalled_note, self.journalled_note_edits = self.note.content(), self.note_edits
        fields = difference(before, self.journalled_note)
        if not fields or self.mask is None:
            return None
        height, width = self.mask.shape
        new_mask = self.mask_unsaved and not self.on_disk
        return NoteChange(self.key, fields, size=(width, height), new_mask=new_mask)

    def set_explicit(self, on: bool) -> None:
        """Set whether unpainted pixels are unlabeled instead of background."""
        self.note.explicit_background = on
        self.note_edits += 1


@dataclass(frozen=True)
class Saved:
    """Result of one save. content: checksum of the mask. counts: (class id, pixels); None if it was not written."""

    edits: int
    note_edits: int
    stamp: str
    content: str
    status: str
    verdict: str | None
    counts: tuple[tuple[int, int], ...] | None


class MaskChanged(Exception):
    """The mask is being changed; the save is to be repeated after the stroke."""


def label_stamp(project: Project, key: str) -> str:
    """Return a stamp that changes when another program writes the mask or the note of an image."""
    return file_stamp(project.mask_path(key), project.note_path(key))


def load_label(project: Project, key: str, size: tuple[int, int]) -> Label:
    """Load the label of an image of `size` (width, height). Never raises: a broken file is reported in `problem`."""
    # The stamp is taken first: a write during loading makes the label count as stale, never as fresh.
    label = Label(key, stamp=label_stamp(project, key))
    label.on_disk = not label.stamp.startswith("-")
    label.files = KnownFiles.read(project.root, key)
    try:
        label.note = annotation.load_note(project, key)
        label.journalled_note = label.note.content()
        label.mask = annotation.load_mask(project, key, size)
    except Problem as problem:
        label.problem = problem
        return label
    except MemoryError:
        label.problem = CannotWrite(path=str(project.mask_path(key)), why="there is not enough memory for it")
        return label
    if label.mask is None:
        label.mask = annotation.new_mask(size, label.note)
    return label


def write_label(project: Project, label: Label, note: Note | None, note_edits: int) -> Saved:
    """Write the unsaved parts of a label, in the saving thread. note: a copy to write, None if the note is saved.

    Files that another program has written meanwhile are copied to `journal/kept` before they are replaced, see
    `KnownFiles.kept`. Raises MaskChanged, or a Problem as `annotation.save_label`.
    """
    project.need_write(label.key)
    mask, edits, counts = None, label.edits, None
    if label.mask_unsaved and label.mask is not None:
        mask, edits, counts = _encode(label, label.mask, list(project.classes))
    annotation.save_label(project, label.key, mask=mask, note=note, files=label.files)
    saved_note = note or label.note
    stamp, content = label_stamp(project, label.key), label.files.sums["mask"]
    return Saved(edits, note_edits, stamp, content, saved_note.status, saved_note.verdict, counts)


def _encode(label: Label, mask: np.ndarray, classes: list[ClassInfo]) -> tuple[bytes, int, tuple[tuple[int, int], ...]]:
    """Return the mask's file, its edits and its counts. Only bands changed since the last call are encoded."""
    png = label.png or IncrementalPng(classes)
    label.png = None  # until success, so that everything is encoded again after an error
    png.classes = classes
    for _ in range(_MAX_ATTEMPTS):
        before = label.write_sequence
        if before % 2:
            break
        edits = label.edits
        png.invalidate([label.changes.popleft() for _ in range(len(label.changes))])
        png.encode_changed(mask)
        if label.write_sequence == before:
            label.png = png
            return png.file(), edits, png.foreground_counts()
    label.png = png  # an unfinished stroke adds its regions to `changes` when it ends
    raise MaskChanged


def noted_row(row: ImageRow, note: Note) -> ImageRow:
    """Return `row` updated by a change of the note."""
    return replace(row, status=note.status, verdict=note.verdict, group=note.group or "")


def saved_row(row: ImageRow, saved: Saved) -> ImageRow:
    """Return `row` updated by a save."""
    counts = row.counts if saved.counts is None else saved.counts
    masked = row.masked or saved.counts is not None
    return replace(row, status=saved.status, verdict=saved.verdict, counts=counts, masked=masked, broken="")


def copy_labels(labels: Sequence[Label], project: Project, folder: Path) -> Path:
    """Write masks/<key>.png and notes/<key>.json of `labels` into `folder` and return the folder used.

    A folder that already holds files is not touched: the copy then goes into a new folder inside it. A mask is written
    if its pixels are unsaved, a note always. Raises CannotWrite.
    """
    target = _empty_folder(folder, project)
    for label in labels:
        if label.mask_unsaved and label.mask is not None:
            write_bytes(inside(target / "masks", label.key + ".png"), _encoded(label, label.mask, project))
        write_json(inside(target / "notes", label.key + ".json"), json.loads(label.note.model_dump_json()))
    return target


def _encoded(label: Label, mask: np.ndarray, project: Project) -> bytes:
    """Return the file of a label's mask. Raises CannotWrite if a stroke changes it meanwhile."""
    before = label.write_sequence
    try:
        data = encode_mask(mask, list(project.classes))
    except MemoryError as error:
        raise CannotWrite(path=label.key, why="there is not enough memory for it") from error
    if before % 2 or label.write_sequence != before:
        raise CannotWrite(path=label.key, why="it is being edited")
    return data


def _empty_folder(folder: Path, project: Project) -> Path:
    """Return `folder` if it is empty or new, else a new folder in it, named after the project."""
    try:
        if not folder.exists() or not any(folder.iterdir()):
            folder.mkdir(parents=True, exist_ok=True)
            return folder
        stem = f"{project.root.name}-unsaved-{time.strftime('%Y%m%d-%H%M%S')}"
        target = free_path(folder, stem)
        target.mkdir()
    except OSError as error:
        raise CannotWrite.of(folder, error) from error
    return target


class LabelLock:
    """Labels that cannot be edited while a job rewrites the label files. problem: reason that each has meanwhile."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._locked: list[tuple[Label, Problem | None]] = []  # with their own problems

    def lock(self, label: Label | None) -> None:
        """Lock the label of the open image, if there is one."""
        if label is not None and label.problem is not self._problem:
            self._locked.append((label, label.problem))
            label.problem = self._problem

    def release(self) -> None:
        """Release all labels."""
        for label, problem in self._locked:
            label.problem = problem
        self._locked.clear()
