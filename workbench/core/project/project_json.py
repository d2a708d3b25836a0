"""File project.json of an open project: written atomically and merged with changes made by other programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.core.problems import (
    CannotWrite,
    NotAProject,
    Problem,
    ProjectBroken,
    ProjectChangedElsewhere,
    RemovedElsewhere,
)
from workbench.core.project.project_merge import merge
from workbench.core.project.storage import backup_conflict, file_stamp, write_json

Fields = dict[str, Any]


class ProjectJson:
    """File behind a `ProjectFile`, which is modified in place.

    content: bytes of the file as last read or written. notices: problems reported by merges. merged: callback after a
    merge.
    """

    def __init__(self, root: Path, file: Any, content: bytes, read: Callable[[Path], Any]) -> None:
        self.content = content
        self.notices: list[Problem] = []
        self.merged: Callable[[], None] | None = None
        self._root, self._file, self._read = root, file, read
        self._base: Fields = file.model_dump(mode="json")
        self._stamp = ""

    @property
    def identified(self) -> bool:
        """True if the file contained an id when it was last read or written."""
        return bool(self._base.get("id"))

    @property
    def path(self) -> Path:
        return self._root / "project.json"

    def move_to(self, root: Path) -> None:
        """Set the folder of the file to `root`."""
        self._root, self._stamp = root, ""

    def take_notices(self) -> list[Problem]:
        """Return and clear the problems reported by merges."""
        notices, self.notices = self.notices, []
        return notices

    def save(self) -> None:
        """Merge and write. Raises CannotWrite; the next call then merges again."""
        previous = self._base, self.content, self._stamp
        fields = self._merge()
        ours = self._file.model_dump(mode="json")
        try:
            write_json(self.path, {**fields, **ours})
        except CannotWrite:
            self._base, self.content, self._stamp = previous
            raise
        self._base, self._stamp = ours, file_stamp(self.path)
        try:
            self.content = self.path.read_bytes()
        except OSError:
            self._stamp = ""

    def refresh(self) -> None:
        """Merge if another program has written the file."""
        if file_stamp(self.path) != self._stamp:
            self._merge()

    def _merge(self) -> Fields:
        """Merge changes of another program. Return the file's content as found, {} if unreadable."""
        stamp = file_stamp(self.path)
        try:
            content = self.path.read_bytes()
        except OSError:
            return {}
        if content == self.content:
            self._stamp = stamp
            return json.loads(content)
        try:
            theirs = self._read(self._root).model_dump(mode="json")
            fields = json.loads(content)
        except (ProjectBroken, NotAProject, ValueError, RecursionError):
            backup = backup_conflict(self._root, "project", content, ".json")
            self.notices.append(ProjectChangedElsewhere(fields="project.json", kept=str(backup)))
            self._notify_merged()
            return {}
        theirs["id"] = self._base["id"] = self._file.id
        merged = merge(self._base, self._file.model_dump(mode="json"), theirs)
        if merged.conflicts:
            backup = backup_conflict(self._root, "project", content, ".json")
            self.notices.append(ProjectChangedElsewhere(fields=", ".join(merged.conflicts), kept=str(backup)))
        if merged.removed:
            backup = backup_conflict(self._root, "project", self.content, ".json")
            self.notices.append(RemovedElsewhere(names=", ".join(merged.removed), kept=str(backup)))
        self._replace_fields(merged.fields, merged.new_ids)
        self._base, self.content, self._stamp = theirs, content, stamp
        self._notify_merged()
        return fields

    def _notify_merged(self) -> None:
        if self.merged is not None:
            self.merged()

    def _replace_fields(self, fields: Fields, new_ids: dict[int, int]) -> None:
        """Make `fields` the content. Unchanged classes remain the same objects."""
        for info in self._file.classes:
            info.id = new_ids.get(info.id, info.id)
        current = {info.id: info for info in self._file.classes}
        merged = type(self._file).model_validate(fields)
        merged.classes = [current[info.id] if current.get(info.id) == info else info for info in merged.classes]
        for name in fields:
            setattr(self._file, name, getattr(merged, name))
