"""Recovery of labels after a crash: journal entries are merged into masks and notes when the project is opened."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.problems import (
    CannotWrite,
    NoteChangesUnreadable,
    NoteDoesNotFit,
    Problem,
    StrokesDoNotFit,
    StrokesUnreadable,
)
from workbench.core.project import annotation
from workbench.core.project.annotation import Note, backup_conflict
from workbench.core.project.history import TILE, Content, Patch, StepRecording
from workbench.core.project.project import Project
from workbench.session.journal import Journal, Size
from workbench.session.label import Label, load_label
from workbench.session.note_changes import NoteChange, merge

RECOVERED = "recover strokes"


@dataclass(frozen=True)
class Recovered:
    """patches: edits that undo can revert. conflict: the mask with all strokes, if some tiles do not fit; else None."""

    patches: tuple[Patch, ...]
    changed: bool
    explicit: bool | None
    conflict: np.ndarray | None


def apply_records(patches: Sequence[Patch], mask: np.ndarray) -> Recovered:
    """Apply the journaled strokes of one image, oldest first, to its mask as read from the disk."""
    contents: dict[Rect, list[Content]] = {}  # of each tile, in the order of the strokes
    complete = True
    for patch in patches:
        for (rect, before), (_, after) in zip(patch.contents(0), patch.contents(1)):
            for tile, old, new in _tiles(rect, before, after):
                versions = contents.setdefault(tile, [old])
                if not _equal(versions[-1], old):  # a stroke in between is missing
                    complete = False
                    versions.append(old)
                versions.append(new)
    recording = StepRecording(patches[-1].key, RECOVERED, mask)
    conflicting = []
    for tile, versions in contents.items():
        view = mask[tile.slices]
        if not any(_equal(view, version) for version in versions):
            conflicting.append(tile)
        elif not _equal(view, versions[-1]):
            recording.touch(tile)
            view[...] = versions[-1]
    change = recording.finish()
    change_alone = () if change is None else (change,)
    if not conflicting:
        explicit = next((patch.explicit for patch in reversed(patches) if patch.explicit is not None), None)
        return Recovered(tuple(patches) if complete else change_alone, change is not None, explicit, None)
    conflict = mask.copy()
    for tile in conflicting:
        conflict[tile.slices] = contents[tile][-1]
    return Recovered(change_alone, change is not None, None, conflict)


def _tiles(rect: Rect, before: Content, after: Content) -> Iterator[tuple[Rect, Content, Content]]:
    if isinstance(before, int) and isinstance(after, int):  # may be a whole row of tiles
        for x in range(rect.x, rect.x + rect.width, TILE):
            yield Rect(x, rect.y, min(TILE, rect.x + rect.width - x), rect.height), before, after
    else:
        yield rect, before, after


def _equal(a: Content, b: Content) -> bool:
    return bool(np.all(np.equal(a, b)))


class LabelRecovery:
    """Recovery of one project that was just opened for writing.

    changed: receives each label that has to be saved. report: receives each problem.
    """

    def __init__(
        self, project: Project, journal: Journal, changed: Callable[[Label], None], report: Callable[[Problem], None]
    ) -> None:
        self._project, self._journal, self._changed, self._report = project, journal, changed, report
        self._shared_keys: set[str] = set()  # images with changes in segments of many images

    def run(self) -> list[Patch]:
        """Merge all entries that can be merged. Return the steps that undo can revert."""
        journal = self._journal
        patches: list[Patch] = []
        leftovers = journal.leftovers()
        for path in leftovers.unreadable:
            unreadable = NoteChangesUnreadable if path.suffix == ".note" else StrokesUnreadable
            self._report(unreadable(path=str(path)))
        self._shared_keys = leftovers.shared_keys
        for key in leftovers.keys:
            patches += self._recover_label(key, leftovers.strokes.get(key, []), leftovers.note_changes.get(key, []))
        with contextlib.suppress(CannotWrite):
            for key in self._shared_keys:  # the remaining changes move to the journal of their image
                for change in leftovers.note_changes[key]:
                    journal.append_note(change)
            journal.discard_notes()
        return patches

    def _recover_label(
        self, key: str, records: Sequence[tuple[Patch, Size]], changes: Sequence[NoteChange]
    ) -> tuple[Patch, ...]:
        """Merge the journal entries of one image. Return the steps that undo can revert."""
        journal = self._journal
        sizes = [size for _, size in records] or [change.size for change in changes if change.size is not None]
        label = load_label(self._project, key, sizes[-1]) if sizes else None
        if label is None or (label.problem is not None and not records):
            self._recover_note(key, changes)
            return ()
        if label.problem is not None:
            # The strokes stay in the journal until the mask can be read again.
            self._report(label.problem)
            return ()
        merged = merge(label.note, changes)
        if merged.conflicting is not None and not self._back_up_note(key, merged.conflicting):
            return ()
        label.note = merged.note
        label.note_edits += merged.changed
        label.edits += not label.on_disk and any(change.new_mask for change in changes)
        patches: tuple[Patch, ...] = ()
        if records and label.mask is not None:
            recovered = apply_records([patch for patch, size in records if size == sizes[-1]], label.mask)
            if recovered.conflict is not None and not self._back_up_mask(label, recovered.conflict):
                return ()
            patches = recovered.patches
            if recovered.changed or recovered.explicit not in (None, label.note.explicit_background):
                label.edits += 1
                if label.note.status == "new" and not any("status" in change.fields for change in changes):
                    label.note.status = "started"  # strokes of versions that recorded no changes of notes
                if recovered.explicit is not None:
                    label.set_explicit(recovered.explicit)
                label.note.add(RECOVERED)
                label.note_edits += 1
        if label.unsaved:
            self._changed(label)
        else:
            journal.clear(key)
        self._shared_keys.discard(key)
        return patches

    def _recover_note(self, key: str, changes: Sequence[NoteChange]) -> None:
        """Merge the journal entries of a note whose mask is unknown or cannot be read."""
        project, journal = self._project, self._journal
        try:
            merged = merge(annotation.load_note(project, key), changes)
            if merged.conflicting is not None and not self._back_up_note(key, merged.conflicting):
                return
            if merged.changed:
                annotation.save_note(project, key, merged.note)
        except Problem as problem:
            self._report(problem)  # the changes stay in the journal
            return
        journal.clear(key)
        self._shared_keys.discard(key)

    def _back_up_note(self, key: str, note: Note) -> bool:
        """Save the note with all changes to a separate file, as another program changed the same fields; report it."""
        try:
            data = json.dumps(note.content(), ensure_ascii=False, indent=1).encode()
            backup = backup_conflict(self._project, key, data, ".json")
        except CannotWrite as problem:
            self._report(problem)  # the changes stay in the journal
            return False
        self._report(NoteDoesNotFit(path=str(self._project.note_path(key)), kept=str(backup)))
        return True

    def _back_up_mask(self, label: Label, mask: np.ndarray) -> bool:
        """Save the mask with all strokes to a separate file, as some no longer fit the mask; report it."""
        try:
            data = annotation.encode_mask(mask, list(self._project.classes))
            backup = backup_conflict(self._project, label.key, data, ".png")
        except CannotWrite as problem:
            self._report(problem)  # the strokes stay in the journal
            return False
        self._report(StrokesDoNotFit(path=str(self._project.mask_path(label.key)), kept=str(backup)))
        return True
