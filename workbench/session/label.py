"""One picture's label in memory, and how it goes to and from the disk without tearing while a person paints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.core import annotation
from workbench.core.annotation import Note
from workbench.core.index import Row
from workbench.core.problems import CannotWrite, Problem
from workbench.core.project import Project
from workbench.core.storage import file_stamp


@dataclass(eq=False)
class Label:
    """A mask and a note, with counters that tell what of them is on the disk.

    The GUI thread alone changes it. A saving thread copies the mask meanwhile: `stirring` is odd while pixels
    change, so a copy made between two equal even values is whole.
    """

    key: str
    note: Note = field(default_factory=Note)
    mask: np.ndarray | None = None  # uint8 (H, W)
    problem: Problem | None = None  # why this label may not be changed; its files are then never written
    stamp: str = ""  # state of its files when they were read or written
    on_disk: bool = False  # a mask file is there
    edits: int = 0
    saved_edits: int = 0
    note_edits: int = 0
    saved_note_edits: int = 0
    stirring: int = 0

    @property
    def mask_unsaved(self) -> bool:
        return self.edits != self.saved_edits

    @property
    def unsaved(self) -> bool:
        return self.mask_unsaved or self.note_edits != self.saved_note_edits

    def begin(self) -> None:
        """Pixels are about to change."""
        self.stirring += 1

    def end(self, *, changed: bool) -> None:
        """Pixels are at rest again."""
        self.edits += changed
        self.stirring += 1

    @contextmanager
    def changing(self) -> Iterator[np.ndarray]:
        assert self.mask is not None
        self.begin()
        try:
            yield self.mask
        finally:
            self.end(changed=True)


@dataclass(frozen=True)
class Saved:
    """What one save has put on the disk. counts: (class id, pixels); None if the mask was not written."""

    edits: int
    note_edits: int
    stamp: str
    status: str
    verdict: str | None
    counts: tuple[tuple[int, int], ...] | None


class Stirred(Exception):
    """The mask changed while it was copied: try again when the stroke has settled."""


def label_stamp(project: Project, key: str) -> str:
    """Differs when someone else has written the mask or the note of a picture."""
    return file_stamp(project.mask_path(key), project.note_path(key))


def load_label(project: Project, key: str, size: tuple[int, int]) -> Label:
    """The label of a picture of `size` (width, height). Never raises: what is broken becomes `problem`."""
    # The stamp is taken first: a write after it makes the label count as stale, never as fresh.
    label = Label(key, stamp=label_stamp(project, key))
    label.on_disk = not label.stamp.startswith("-")
    try:
        label.note = annotation.load_note(project, key)
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

    Raises Stirred, or a Problem; the old files are then untouched.
    """
    counts = None
    edits = label.edits
    if edits != label.saved_edits and label.mask is not None:
        before = label.stirring
        snapshot = label.mask.copy() if before % 2 == 0 else None
        if snapshot is None or label.stirring != before or label.edits != edits:
            raise Stirred
        annotation.save_mask(project, label.key, snapshot)
        counts = annotation.foreground_counts(snapshot)
    if note is not None:
        annotation.save_note(project, label.key, note)
    told = note or label.note
    return Saved(edits, note_edits, label_stamp(project, label.key), told.status, told.verdict, counts)


def saved_row(row: Row, saved: Saved) -> Row:
    """`row` after a save."""
    counts = row.counts if saved.counts is None else saved.counts
    masked = row.masked or saved.counts is not None
    return replace(row, status=saved.status, verdict=saved.verdict, counts=counts, masked=masked, broken="")
