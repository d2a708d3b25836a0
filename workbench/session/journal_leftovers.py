"""Unsaved changes of an earlier session, as read from a journal."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from workbench.core.project.history import Patch
from workbench.session.note_changes import NoteChange

Size = tuple[int, int]  # width, height


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
