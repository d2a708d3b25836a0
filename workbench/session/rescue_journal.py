"""Journal that also writes outside of the project while the project cannot be written.

Unsaved changes are then in `rescue/<id of the project>-<token>/` in the user's data folder, in the record format of the
project's own journal. They are read at the next opening of that project in that folder, and removed when all of them
are saved. `core.project.project_folder` decides to which folder they belong.

Recovery of labels after a crash: journal entries are merged into masks and notes when the project is opened.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core import problems
from workbench.core.geometry.drawing import Rect
from workbench.core.project import annotation
from workbench.core.project.annotation import Note, backup_conflict
from workbench.core.project.history import TILE, Content, Patch, StepRecording
from workbench.core.project.project import Project
from workbench.core.project.project_folder import rescue_folder
from workbench.core.project.storage import FileLock, LockHeld
from workbench.session.journal import (
    NOTES,
    SHARED,
    STROKES,
    Journal,
    Leftovers,
    NoteChange,
    Place,
    Size,
    encode_note_record,
    encode_record,
    merge,
)
from workbench.session.label import Label, load_label

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
        self,
        project: Project,
        journal: Journal,
        changed: Callable[[Label], None],
        report: Callable[[problems.Problem], None],
    ) -> None:
        self._project, self._journal, self._changed, self._report = project, journal, changed, report
        self._shared_keys: set[str] = set()  # images with changes in segments of many images

    def run(self) -> list[Patch]:
        """Merge all entries that can be merged. Return the steps that undo can revert."""
        journal = self._journal
        patches: list[Patch] = []
        leftovers = journal.leftovers()
        for path in leftovers.unreadable:
            unreadable = problems.NoteChangesUnreadable if path.suffix == ".note" else problems.StrokesUnreadable
            self._report(unreadable(path=str(path)))
        self._shared_keys = leftovers.shared_keys
        for key in leftovers.keys:
            patches += self._recover_label(key, leftovers.strokes.get(key, []), leftovers.note_changes.get(key, []))
        with contextlib.suppress(problems.CannotWrite):
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
        except problems.Problem as problem:
            self._report(problem)  # the changes stay in the journal
            return
        journal.clear(key)
        self._shared_keys.discard(key)

    def _back_up_note(self, key: str, note: Note) -> bool:
        """Save the note with all changes to a separate file, as another program changed the same fields; report it."""
        try:
            data = json.dumps(note.content(), ensure_ascii=False, indent=1).encode()
            backup = backup_conflict(self._project, key, data, ".json")
        except problems.CannotWrite as problem:
            self._report(problem)  # the changes stay in the journal
            return False
        self._report(problems.NoteDoesNotFit(path=str(self._project.note_path(key)), kept=str(backup)))
        return True

    def _back_up_mask(self, label: Label, mask: np.ndarray) -> bool:
        """Save the mask with all strokes to a separate file, as some no longer fit the mask; report it."""
        try:
            data = annotation.encode_mask(mask, list(self._project.classes))
            backup = backup_conflict(self._project, label.key, data, ".png")
        except problems.CannotWrite as problem:
            self._report(problem)  # the strokes stay in the journal
            return False
        self._report(problems.StrokesDoNotFit(path=str(self._project.mask_path(label.key)), kept=str(backup)))
        return True


_LOCK = "lock"


class RescueJournal:
    """One rescue journal, locked by the process that writes or reads it."""

    def __init__(self, folder: Path, lock: FileLock) -> None:
        self.folder, self._lock = folder, lock
        self.journal = Journal(folder)
        self.keys: set[str] = set()
        self._complete = True  # all of its files could be read

    @classmethod
    def create(cls, project: Project) -> RescueJournal:
        """Create an empty rescue journal. Raises CannotWrite."""
        folder = rescue_folder() / f"{project.file.id}-{secrets.token_hex(4)}"
        project.identity.origin(folder).write()
        try:
            return cls(folder, _locked(folder))
        except (OSError, LockHeld) as error:
            raise problems.CannotWrite(path=str(folder), why=str(error)) from error

    @classmethod
    def of(cls, project: Project) -> list[RescueJournal]:
        """Return the rescue journals that ended sessions left for the project in this folder."""
        journals = []
        identity = project.identity
        for origin in identity.rescue_origins():
            if identity.is_at(origin.path):
                with contextlib.suppress(OSError, LockHeld):  # raised for a session that still runs
                    journals.append(cls(origin.folder, _locked(origin.folder)))
        return journals

    def put(self, place: Place, record: bytes) -> None:
        """Write one record. Raises CannotWrite."""
        self.keys.add(place[0])
        try:
            self.journal.put(place, record)
        except problems.CannotWrite:
            self.journal.clear_queued(place)
            raise

    def leftovers(self) -> Leftovers:
        """Return the changes of an ended session; the journal is kept until `clear` was called for each image."""
        found = self.journal.leftovers()
        self.keys.update(found.keys)
        self._complete = not found.unreadable
        return found

    def clear(self, key: str) -> bool:
        """Remove an image's records, which a save contains. Return True if none are left and the folder is deleted."""
        if key in self.keys:
            self.journal.clear(key)
            self.keys.discard(key)
        if self.keys or not self._complete:
            return False
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)  # without waiting; what is left is removed at the next opening
        return True

    def close(self) -> None:
        self.journal.close()
        self._lock.release()


class ProjectJournal(Journal):
    """Journal of an open project together with its rescue journals."""

    def __init__(self, project: Project) -> None:
        super().__init__(project.root / "journal")
        self._project = project
        self._records: dict[str, list[tuple[Place, bytes]]] = {}  # of unsaved images
        self._recorded: set[int] = set()
        self._rescued: set[int] = set()
        self._rescue: RescueJournal | None = None
        self._earlier = RescueJournal.of(project)

    @property
    def count(self) -> int:
        """Number of unsaved changes."""
        strokes = (sum(place[1] == STROKES for place, _ in records) for records in self._records.values())
        return sum(max(1, number) for number in strokes)  # a stroke also changes the note

    def rescued(self, keys: Iterable[str]) -> bool:
        """Return True if all unsaved changes, those of `keys` included, are in a rescue journal."""
        records = [record for records in self._records.values() for _, record in records]
        return self._records.keys() >= set(keys) and all(id(record) in self._rescued for record in records)

    def write_rescue(self) -> None:
        """Write unsaved changes to the rescue journal; after a failure the next call tries again."""
        for key, _ in list(self._open):
            self.seal(key)
        with contextlib.suppress(problems.CannotWrite):
            for records in self._records.values():
                for place, record in records:
                    if id(record) not in self._rescued:
                        self._rescue = self._rescue or RescueJournal.create(self._project)
                        self._rescue.put(place, record)
                        self._rescued.add(id(record))

    def leftovers(self) -> Leftovers:
        """Return the unsaved changes of the project's journal and of its rescue journals."""
        found = super().leftovers()
        strokes, note_changes = found.strokes, found.note_changes
        for rescue in self._earlier:
            rescued = rescue.leftovers()
            for key, records in rescued.strokes.items():
                known = {encode_record(*record) for record in records}
                own = [record for record in strokes.get(key, []) if encode_record(*record) not in known]
                strokes[key] = own + records
            for key, changes in rescued.note_changes.items():
                known = {encode_note_record(change) for change in changes}
                earlier = [c for c in note_changes.get(key, []) if encode_note_record(c) not in known]
                note_changes[key] = sorted(earlier + changes, key=lambda change: change.when)
            found.unreadable += rescued.unreadable
        self._earlier = [rescue for rescue in self._earlier if not rescue.clear("")]
        for key in found.keys:
            stroke_records = [((key, STROKES), encode_record(*record)) for record in strokes.get(key, [])]
            note_records = [((key, NOTES), encode_note_record(change)) for change in note_changes.get(key, [])]
            self._records[key] = stroke_records + note_records
        return found

    @property
    def _rescues(self) -> list[RescueJournal]:
        return [*self._earlier, *([self._rescue] if self._rescue else [])]

    def is_rescued(self, key: str) -> bool:
        """Return True if a rescue journal holds changes of an image."""
        return any(key in rescue.keys for rescue in self._rescues)

    def clear(self, key: str) -> None:
        super().clear(key)
        for _, record in self._records.pop(key, []):
            self._recorded.discard(id(record))
            self._rescued.discard(id(record))
        self._earlier = [rescue for rescue in self._earlier if not rescue.clear(key)]
        if self._rescue is not None and self._rescue.clear(key):
            self._rescue = None

    def close(self) -> None:
        super().close()
        for rescue in self._rescues:
            rescue.close()
        self._earlier, self._rescue = [], None

    def _write(self, place: Place) -> None:
        # Changes of many images are not stored in memory.
        for record in self._queued[place] if place[0] != SHARED else ():
            if id(record) not in self._recorded:
                self._recorded.add(id(record))
                self._records.setdefault(place[0], []).append((place, record))
        try:
            self._project.need_write("the journal")
            super()._write(place)
        except problems.CannotWrite:
            self.write_rescue()
            raise
        if self._rescue is not None:
            self.write_rescue()


def _locked(folder: Path) -> FileLock:
    lock = FileLock(folder / _LOCK)
    lock.acquire()
    return lock
