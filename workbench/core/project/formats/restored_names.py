"""Original names of labels that were read from an export of the workbench."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
)
from workbench.core.project.formats.original_names import ExportedFile, ExportRecord


def restore_names(tree: FileTree, batch: ImportedLabels, options: ImportOptions) -> None:
    """Give the labels that were read the names that they have in the project."""
    batch.notes += [Message("import.names_unreadable", path=str(path)) for path in tree.originals.unreadable]
    batch.entries = [_restored(tree, entry, options) for entry in batch.entries]


def _restored(tree: FileTree, entry: ImportedEntry, options: ImportOptions) -> ImportedEntry:
    record = tree.originals.record(entry.label)
    if record is None:
        return entry
    image = tree.originals.of(entry.label, *entry.aliases)
    if image is None and entry.image is not None:
        image = tree.originals.of(entry.image)
    read = partial(_read, entry.read, record, image, options.class_name is not None)
    if image is None:
        return replace(entry, read=read)
    return replace(entry, read=read, key=image.key.removeprefix("@"), origin=image.key)


def _read(
    read: Callable[[int, int], ImportedLabel],
    record: ExportRecord,
    image: ExportedFile | None,
    renamed: bool,
    width: int,
    height: int,
) -> ImportedLabel:
    """Return a label with original names. renamed: the user has chosen the name of its class or verdict."""
    label = read(width, height)
    label.exact = True
    if not renamed:
        own = image.class_name if image is not None else ""
        label.names = {id: own or record.classes.get(name, name) for id, name in label.names.items()}
        if label.verdict is not None:
            label.verdict = record.verdicts.get(label.verdict, label.verdict)
        if image is not None and image.verdict is not None:
            label.verdict = image.verdict or None
    return label
