"""Journal that also writes outside of the project while the project cannot be written.

Unsaved changes are then in `rescue/<id of the project>-<token>/` in the user's data folder, in the record format of the
project's own journal. They are read at the next opening of that project in that folder, and removed when all of them
are saved. `core.project.project_identity` decides to which folder they belong.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable
from pathlib import Path

from workbench.core.file_lock import FileLock, LockHeld
from workbench.core.problems import CannotWrite
from workbench.core.project.project import Project
from workbench.core.project.project_identity import rescue_folder
from workbench.inference.io.file_access import discard_tree
from workbench.session.journal import (
    NOTES,
    SHARED,
    STROKES,
    Journal,
    Leftovers,
    Place,
    encode_note_record,
    encode_record,
)

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
            raise CannotWrite(path=str(folder), why=str(error)) from error

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
        except CannotWrite:
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
        discard_tree(self.folder)
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
        with contextlib.suppress(CannotWrite):
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
        except CannotWrite:
            self.write_rescue()
            raise
        if self._rescue is not None:
            self.write_rescue()


def _locked(folder: Path) -> FileLock:
    lock = FileLock(folder / _LOCK)
    lock.acquire()
    return lock
