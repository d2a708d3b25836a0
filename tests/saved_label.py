"""A project with one label, and the same label after a save."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from workbench.core.project import annotation, label_transaction
from workbench.core.project.annotation import Note
from workbench.core.project.project import Project

Content = tuple[np.ndarray | None, Note]  # mask and note
KEY = "批次/a.png"
EMPTY: Content = (None, Note())
OLD: Content = (np.full((40, 50), 1, np.uint8), Note(status="started", verdict="old"))
NEW: Content = (np.full((40, 50), 2, np.uint8), Note(status="done", verdict="new"))


def create(root: Path) -> Path:
    """Create a closed project with the label OLD."""
    with Project.create(root, classes=["scratch", "dent"], verdicts=["old", "new"]) as project:
        annotation.save_label(project, KEY, mask=OLD[0], note=OLD[1])
    return root


def copies(root: Path) -> Iterator[int]:
    """Yield 1, 2, 3 … and put the project back as it is now, at its path, before each."""
    template = root.rename(root.with_name("template"))
    for number in itertools.count(1):
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(template, root)
        yield number


def save_new(root: Path, opened: Callable[[], None] = lambda: None) -> None:
    """Save the label NEW. opened: called before that."""
    with Project.open(root) as project:
        opened()
        annotation.save_label(project, KEY, mask=NEW[0], note=NEW[1])


def is_label(label: Content, mask: np.ndarray | None, note: Note) -> bool:
    same_mask = mask is label[0] if mask is None or label[0] is None else np.array_equal(mask, label[0])
    return same_mask and (note.status, note.verdict) == (label[1].status, label[1].verdict)


def read(root: Path) -> Content:
    """Return mask and note as another process reads them: the project is not opened for writing."""
    project = Project.open(root, write=False)
    return annotation.load_mask(project, KEY), annotation.load_note(project, KEY)


def files(root: Path) -> Content:
    """Return the content of both files."""
    mask, note = (label_transaction.path_of(root, kind, KEY) for kind in ("mask", "note"))
    content = Note.model_validate_json(note.read_bytes()) if note.exists() else Note()
    return annotation.read_mask(mask) if mask.exists() else None, content
