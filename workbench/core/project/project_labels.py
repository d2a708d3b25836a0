"""Labels of a project as they are compared with those of another project: mask, note and time of the last change."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from workbench.core.project import annotation
from workbench.core.project.annotation import Note
from workbench.core.project.project import Project
from workbench.core.project.sources import walk


@dataclass
class ProjectLabel:
    """Label of an image in one of two projects. mask: uint8 (h, w) with the ids of the project that is merged into.

    changed: time of the last change of its files, seconds since 1970.
    """

    note: Note
    mask: np.ndarray | None
    changed: float

    @classmethod
    def load(cls, project: Project, key: str, ids: dict[int, int] | None = None) -> ProjectLabel:
        """Load mask and note of an image. ids: ids of classes to replace.

        Raises MaskBroken, MaskWrongSize, MaskUnknownClass, NoteBroken and NoteTooNew.
        """
        note, mask = annotation.load_note(project, key), annotation.load_mask(project, key)
        if mask is not None and ids:
            table = np.arange(256, dtype=np.uint8)
            for old, new in ids.items():
                table[old] = new
            mask = table[mask]
        return cls(note, mask, max(_modified(project.mask_path(key)), _modified(project.note_path(key))))

    @property
    def empty(self) -> bool:
        painted = self.mask is not None and bool(self.mask.any())
        return not painted and self.note.verdict is None and self.note.status == "new"

    def equals(self, other: ProjectLabel) -> bool:
        """Return True if pixels, verdict and status are equal; a missing mask equals an empty one."""
        fields = ("verdict", "status", "explicit_background")
        if any(getattr(self.note, name) != getattr(other.note, name) for name in fields):
            return False
        if self.mask is None or other.mask is None:
            return not any(label.mask is not None and label.mask.any() for label in (self, other))
        return np.array_equal(self.mask, other.mask)

    def last_change(self) -> float:
        """Return the time of the last change, seconds since 1970: from the history, else of the files."""
        try:
            return datetime.fromisoformat(self.note.history[-1].when).timestamp()
        except (IndexError, ValueError, OverflowError, OSError):
            return self.changed


def has_label_files(project: Project, key: str) -> bool:
    return os.path.exists(project.mask_path(key)) or os.path.exists(project.note_path(key))


def labeled_keys(project: Project) -> list[str]:
    """Return the sorted keys of all masks and notes, also of images that are not available."""
    return sorted(
        {
            relative.removesuffix(suffix)
            for folder, suffix in (("masks", ".png"), ("notes", ".json"))
            for relative, _ in walk(project.root / folder)
            if relative.endswith(suffix)
        }
    )


def _modified(path: Path) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
