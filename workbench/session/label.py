"""One picture's label in memory, and how it goes to and from the disk without tearing while a person paints."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core import annotation
from workbench.core.annotation import Note, keep_aside
from workbench.core.banded_png import BandedPng
from workbench.core.drawing import Rect
from workbench.core.index import Row
from workbench.core.problems import CannotWrite, Problem
from workbench.core.project import ClassInfo, Project
from workbench.core.storage import file_stamp, write_bytes
from workbench.inference.opening import read_regular
from workbench.session.note_changes import NoteChange, difference

_TRIES = 20  # times that a mask is looked at again because strokes were made while it was packed


@dataclass(eq=False)
class Label:
    """A mask and a note, with counters that tell what of them is on the disk.

    The GUI thread alone changes it. A saving thread packs the mask meanwhile: `stirring` is odd while pixels change,
    so what was packed between two equal even values is whole, and `changes` says where to pack again.
    """

    key: str
    note: Note = field(default_factory=Note)
    mask: np.ndarray | None = None  # uint8 (H, W)
    problem: Problem | None = None  # why this label may not be changed; its files are then never written
    stamp: str = ""  # state of its files when they were read or written
    content: str = ""  # of its mask file then: `content_sum`
    on_disk: bool = False  # a mask file is there
    edits: int = 0
    saved_edits: int = 0
    note_edits: int = 0
    saved_note_edits: int = 0
    journalled_note: dict[str, Any] | None = None  # its content in the files and the journal; None: that of a new note
    journalled_note_edits: int = 0
    stirring: int = 0
    changes: deque[Rect] = field(default_factory=deque)  # where pixels changed since they were packed
    png: BandedPng | None = None  # the mask as packed for the last save; of the saving thread

    @property
    def mask_unsaved(self) -> bool:
        return self.edits != self.saved_edits

    @property
    def unsaved(self) -> bool:
        return self.mask_unsaved or self.note_edits != self.saved_note_edits

    def begin(self) -> None:
        """Pixels are about to change."""
        self.stirring += 1

    def end(self, touched: Iterable[Rect], *, changed: bool) -> None:
        """Pixels are at rest again. touched: where they may have been changed, even if they are as they were."""
        self.changes.extend(touched)
        self.edits += changed
        self.stirring += 1

    @contextmanager
    def changing(self, touched: Sequence[Rect]) -> Iterator[np.ndarray]:
        """touched: where pixels change; nowhere for a step that is none of the mask, which then need not be saved."""
        assert self.mask is not None
        self.begin()
        try:
            yield self.mask
        finally:
            self.end(touched, changed=bool(touched))

    def tell(self, act: str) -> bool:
        """The note's history tells each kind of work once in a row. True if the picture is a started one only now."""
        history = self.note.history
        if not history or history[-1].what != act:
            self.note.add(act)
            self.note_edits += 1
        if self.note.status != "new":
            return False
        self.note.status = "started"
        self.note_edits += 1
        return True

    def take_note_change(self) -> NoteChange | None:
        """Return what changed in the note since the last call or since it was read; None if nothing did."""
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
        """Whether only what is painted counts."""
        self.note.explicit_background = on
        self.note_edits += 1


@dataclass(frozen=True)
class Saved:
    """What one save has put on the disk. counts: (class id, pixels); None if the mask was not written.

    replaced: files that someone else had written since they were read here, each with the copy that was kept of it.
    """

    edits: int
    note_edits: int
    stamp: str
    content: str
    status: str
    verdict: str | None
    counts: tuple[tuple[int, int], ...] | None
    replaced: tuple[tuple[Path, Path], ...] = ()


class Stirred(Exception):
    """The mask changes just now: try again when the stroke is done."""


def label_stamp(project: Project, key: str) -> str:
    """Differs when someone else has written the mask or the note of a picture."""
    return file_stamp(project.mask_path(key), project.note_path(key))


def load_label(project: Project, key: str, size: tuple[int, int]) -> Label:
    """The label of a picture of `size` (width, height). Never raises: what is broken becomes `problem`."""
    # The stamp is taken first: a write after it makes the label count as stale, never as fresh.
    label = Label(key, stamp=label_stamp(project, key))
    label.on_disk = not label.stamp.startswith("-")
    try:
        label.content = _content_of(project.mask_path(key))
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


def save_label(project: Project, label: Label, note: Note | None, note_edits: int) -> Saved:
    """Write what is unsaved; called in the saving thread. note: a copy to write, None if it is on the disk already.

    What someone else has written meanwhile is copied to `journal/kept` before it is replaced. Raises Stirred, or a
    Problem; the old files are then untouched.
    """
    project.need_write(label.key)
    counts, edits, content, replaced = None, label.edits, label.content, []
    mask_path, note_path = project.mask_path(label.key), project.note_path(label.key)
    mask_stamp, _, note_stamp = label.stamp.partition("|")
    if label.mask_unsaved and label.mask is not None:
        if file_stamp(mask_path) != mask_stamp and _content_of(mask_path) not in ("", content):
            replaced.append((mask_path, keep_aside(project, label.key, mask_path.read_bytes(), ".png")))
            label.png = None
        data, edits, counts = _pack(label, list(project.classes))
        write_bytes(mask_path, data, root=project.root)
        content = content_sum(data)
    if note is not None:
        if note_stamp and file_stamp(note_path) not in ("-", note_stamp):
            replaced.append((note_path, keep_aside(project, label.key, note_path.read_bytes(), ".json")))
        annotation.save_note(project, label.key, note)
    told = note or label.note
    stamp = label_stamp(project, label.key)
    return Saved(edits, note_edits, stamp, content, told.status, told.verdict, counts, tuple(replaced))


def _pack(label: Label, classes: list[ClassInfo]) -> tuple[bytes, int, tuple[tuple[int, int], ...]]:
    """The mask's file, the edits it holds, its counts. Only bands that changed since the last time are packed."""
    png, label.png = label.png or BandedPng(classes), None  # after an error: all anew
    png.classes = classes
    for _ in range(_TRIES):
        before = label.stirring
        if before % 2:
            break
        edits = label.edits
        png.touch([label.changes.popleft() for _ in range(len(label.changes))])
        png.pack(label.mask)
        if label.stirring == before:
            label.png = png
            return png.file(), edits, png.foreground_counts()
    label.png = png  # a stroke in the air says itself where it was, when it ends
    raise Stirred


def content_sum(data: bytes) -> str:
    """Tells one file's content from another's."""
    return f"{len(data)}-{zlib.crc32(data):08x}"


def _content_of(path: Path) -> str:
    try:
        return content_sum(read_regular(path))
    except OSError:
        return ""


def saved_row(row: Row, saved: Saved) -> Row:
    """`row` after a save."""
    counts = row.counts if saved.counts is None else saved.counts
    masked = row.masked or saved.counts is not None
    return replace(row, status=saved.status, verdict=saved.verdict, counts=counts, masked=masked, broken="")
