"""Import of labels of other tools: find the image of each label, add it to the project, write mask and verdict.

A label that cannot be imported is skipped with the reason. Nothing of the project changes before all labels are read:
`import_journal` then writes all files as one step, which can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from workbench.core import problems
from workbench.core.messages import Message
from workbench.core.project import annotation, import_journal
from workbench.core.project.file_transaction import dropped_text
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.import_request import ImportReport, ImportRequest
from workbench.core.project.label_files import LabelFiles, open_labels
from workbench.core.project.label_reading import LabelReading, Progress, ReadLabel
from workbench.core.project.project import BACKGROUND, NOT_LABELED, Project
from workbench.core.project.storage import remove_leftovers


def import_labels(
    project: Project,
    path: Path | str | Sequence[Path | str],
    request: ImportRequest | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    **choices: Any,
) -> ImportReport:
    """Import the labels below `path`, or of label files, and the images that they belong to.

    choices: fields of the request, if none is given. overwrite: conflicts="replace". An interrupted import is finished
    first. Raises FolderMissing, UnknownFormat, NothingToImport, CannotWrite, ProjectReadOnly.
    """
    if request is None:
        request = ImportRequest(**({"conflicts": "replace"} if overwrite else {}), **choices)
    project.need_write(Message("what.import"))
    remove_leftovers(project.root)
    import_journal.recover(project)
    with open_labels(project, path) as files:
        report, journal = prepare_import(project, files, request, progress=progress)
    if journal is not None:
        journal.execute()
        report.notes += filter(None, [dropped_text(journal.dropped)])
    return report


def prepare_import(
    project: Project,
    files: LabelFiles,
    request: ImportRequest,
    *,
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[ImportReport, ImportJournal | None]:
    """Read all labels and prepare the files of the import in the journal; the project itself does not change.

    The journal is None if nothing is to be written: `stopped` returned True, and the report is marked as canceled, no
    label can be imported, or the project has all of it. The last import can then still be undone.
    """
    project.need_write(Message("what.import"))
    journal = ImportJournal(project)
    try:
        reading = LabelReading(project, files, request)
        report = reading.run(_JournalWriter(reading, journal).add, progress, stopped)
        reading.fill(journal.plan)
        if request.strict and not report.ledger.complete:
            raise problems.NotAllUsed(n=len(report.skipped), first=": ".join(report.skipped[0]))
        usable = report.labeled or report.unchanged
        report.undoable = bool(usable) and not report.cancelled and journal.close()
    except BaseException:
        journal.delete()
        raise
    if not report.undoable:
        journal.delete()
    return report, journal if report.undoable else None


class _JournalWriter:
    """Writer of labels into the journal of an import."""

    def __init__(self, reading: LabelReading, journal: ImportJournal) -> None:
        self._reading, self._journal = reading, journal
        self._action = f"import {reading.format.name}"

    def add(self, read: ReadLabel) -> None:
        """Prepare the files of a label and of its image."""
        reading, image, label, note = self._reading, read.image, read.label, read.note
        copied = (image.embedded or image.file) if image.new else None
        if label is None or read.entry is None:
            if copied is not None:
                self._journal.add(image.key, image=copied)
            return
        merged, former = read.existing and reading.request.conflicts == "merge", _content(note)
        mask = reading.project_mask(read)
        self._journal.plan.classes = list(reading.classes.added)  # for the colors of the mask file
        if merged and mask is not None:
            mask = _merged(annotation.load_mask(reading.project, image.key, read.size), mask)
        if label.verdict is not None and read.finished and not (merged and note.verdict is not None):
            note.verdict = label.verdict
        if reading.request.split and reading.has_split and read.entry.split is not None and note.pin is None:
            note.pin = cast(annotation.Split, read.entry.split)
        if label.boxes or not read.finished:
            note.status = "started"  # regions made of boxes, and labels that are not complete, are to be checked
        elif not merged:
            note.status = "done"
        if copied is None and _content(note) == former and _is_stored(reading.project, image.key, mask):
            read.equal = True
            return
        note.add(self._action)
        self._journal.add(image.key, image=copied, mask=mask, note=note)


def _content(note: annotation.Note) -> dict[str, Any]:
    return note.model_dump(exclude={"history"})


def _is_stored(project: Project, key: str, mask: np.ndarray | None) -> bool:
    """Return True if an image has this mask, or if there is none to store."""
    try:
        return mask is None or np.array_equal(annotation.read_mask(project.mask_path(key)), mask)
    except (FileNotFoundError, problems.MaskBroken):
        return False


def _merged(mine: np.ndarray | None, theirs: np.ndarray) -> np.ndarray:
    """Return `mine` with the regions of `theirs` where it is background or unlabeled; both uint8 (H, W)."""
    if mine is None:
        return theirs
    empty = (mine == BACKGROUND) | (mine == NOT_LABELED)
    return np.where(empty & (theirs != BACKGROUND) & (theirs != NOT_LABELED), theirs, mine)
