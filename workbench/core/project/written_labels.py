"""Labels written by another program: those of many images as one step, which the window and `undo_last` undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, get_args

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.project import annotation, import_journal
from workbench.core.project.annotation import Split
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.project import DONT_CARE, NOT_LABELED, Project


@dataclass(frozen=True)
class WrittenLabel:
    """Label to write to an image. What is None stays as it is.

    class_map: uint8 (H, W) of the size of the image: class ids, 0 background, 254 ignored, 255 not labeled. verdict:
    name, added to the project if it is new; "" removes it. done: the label is finished; an image without a class map
    then has no defect. split: "train", "val", "test"; "" removes the assignment. group: name of the part; "" for that
    of the grouping rule.
    """

    class_map: np.ndarray | None = None
    verdict: str | None = None
    done: bool | None = None
    split: str | None = None
    group: str | None = None


def write_labels(project: Project, labels: Mapping[str, WrittenLabel]) -> int:
    """Write labels by key of the image, all or none of them. Return the number of images whose label has changed.

    An interrupted change is finished first. Raises NotInProject, BadSettings, MaskWrongSize, MaskUnknownClass,
    ImageBroken, NoteBroken, ProjectReadOnly, CannotWrite.
    """
    project.need_write(Message("what.import"))
    import_journal.recover(project)
    known = set(project.images())
    with ImportJournal(project) as journal:
        for key, label in labels.items():
            if key not in known:
                raise problems.NotInProject(name=key)
            _add(journal, key, label)
        names = {label.verdict for label in labels.values()} - {None, "", *project.file.verdicts}
        journal.plan.verdicts = sorted(filter(None, names))
        journal.plan.label_format, journal.plan.labeled = "python", journal.count
        changed = journal.close()
    return journal.execute().images if changed else 0


def _add(journal: ImportJournal, key: str, label: WrittenLabel) -> None:
    """Prepare the files of a label, unless the image has it."""
    project = journal.project
    note = annotation.load_note(project, key)
    before, mask = note.content(), None
    if label.class_map is not None:
        mask = _checked(project, key, label.class_map)
        stored = annotation.load_mask(project, key, (mask.shape[1], mask.shape[0]))
        mask = None if stored is not None and np.array_equal(stored, mask) else mask
    if label.verdict is not None:
        note.verdict = label.verdict or None
    if label.split is not None:
        if label.split not in ("", *get_args(Split)):
            why = Message("settings.choice", names=", ".join(get_args(Split)))
            raise problems.BadSettings(key="split", value=label.split, why=why)
        note.pin = cast(Split, label.split) if label.split else None
    if label.group is not None:
        note.group = label.group or None
    if label.done is not None:
        note.status = "done" if label.done else "started"
    elif note.status == "new" and (mask is not None or note.verdict is not None):
        note.status = "started"
    if label.done and label.class_map is None and project.classes and not project.mask_path(key).exists():
        mask = annotation.new_mask(image_size(project.image_path(key)), note)
    if mask is not None or note.content() != before:
        note.add("import python")
        journal.add(key, mask=mask, note=note)


def _checked(project: Project, key: str, class_map: np.ndarray) -> np.ndarray:
    """Return a class map as a contiguous array, if the image can have it."""
    path, (width, height) = str(project.mask_path(key)), image_size(project.image_path(key))
    if class_map.dtype != np.uint8 or class_map.ndim != 2:
        why = Message("settings.class_map")
        raise problems.BadSettings(key="class_map", value=f"{class_map.dtype} {class_map.shape}", why=why)
    if class_map.shape != (height, width):
        found = class_map.shape
        raise problems.MaskWrongSize(path=path, mask_width=found[1], mask_height=found[0], width=width, height=height)
    unknown = {*annotation.ids_in(class_map)} - {0, DONT_CARE, NOT_LABELED, *(info.id for info in project.classes)}
    if unknown:
        raise problems.MaskUnknownClass(path=path, ids=", ".join(map(str, sorted(unknown))))
    return np.ascontiguousarray(class_map)
