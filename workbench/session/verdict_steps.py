"""Verdicts of one or many images, and the status of the open one. Each change is one undo step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.annotation import Note, Status
from workbench.core.project.history import Patch
from workbench.core.project.project import Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.image_notes import ImageNotes
from workbench.session.note_changes import NoteChange
from workbench.session.tasks import TaskRunner

Values = dict[str, str | None]
Field = Literal["verdict", "status"]
Refused = dict[str, tuple[str | None, Problem]]  # value kept by the image, and the reason


@dataclass(frozen=True)
class NoteStep:
    """Values of one field of some notes before and after. under, over: the strokes before and after the step."""

    field: Field
    before: Values
    after: Values
    under: Patch | None
    over: Patch | None = None

    @property
    def key(self) -> str:
        """Key of the first image of the step."""
        return next(iter(self.after))


class VerdictSteps(QObject):
    """Assignment of verdicts and status. The open image changes in memory; other notes are written in a thread."""

    judged = Signal(int)  # number of images whose verdict or status changed
    stepped = Signal(object, str)  # Step, and "done", "undone" or "redone"
    history_changed = Signal()
    problem_met = Signal(object)

    def __init__(
        self,
        editor: Editor,
        saver: Autosave,
        listing: ImageList,
        classes: ClassList,
        notes: ImageNotes,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor, self._saver, self._listing, self._classes, self._notes = editor, saver, listing, classes, notes
        self._project: Project | None = None
        self._tasks = TaskRunner(parent=self)
        self._writing: dict[int, set[str]] = {}  # by round: images whose notes are being written
        self._round = 0
        self._done: list[NoteStep] = []
        self._undone: list[NoteStep] = []

    def open(self, project: Project) -> None:
        self._project = project

    def set_verdicts(self, keys: Sequence[str], verdict: str | None) -> None:
        """Assign a verdict to images, None to remove it; images that have it already are skipped."""
        name, rows, label = (verdict or "").strip() or None, self._listing.rows, self._editor.label
        known = {key: rows[key].verdict for key in keys if key in rows}
        if label is not None and label.key in keys:
            known[label.key] = label.note.verdict  # its row may not have been read yet
        before = {key: verdict for key, verdict in known.items() if verdict != name}
        if self._project is None or not before:
            return
        if not self._project.writable:
            self.problem_met.emit(self._project.read_only("the verdict"))
            return
        self._classes.ensure_verdict(name)
        self._do(NoteStep("verdict", before, dict.fromkeys(before, name), self._editor.history.next_undo))

    def set_status(self, status: Status) -> None:
        """Set the status of the open image; an image marked done without a mask gets an empty one."""
        self._editor.finish_stroke()  # a label still being computed belongs to this image and precedes this step
        label = self._editor.label
        if label is None or label.note.status == status or self._editor.refusal() is not None:
            self._notes.set_status(status)  # no undo step; reports why the image cannot be changed
            return
        before: Values = {label.key: label.note.status}
        self._do(NoteStep("status", before, {label.key: status}, self._editor.history.next_undo))

    def _do(self, step: NoteStep) -> None:
        self._undone.clear()
        self._editor.history.forget_undone()
        self._done.append(step)
        self._put(step.field, step.after)
        self.stepped.emit(step, "done")

    @property
    def last(self) -> NoteStep | None:
        """Step of this class that undo would revert now, or None."""
        return self._done[-1] if self.can_undo() else None

    def wait_for(self, key: str) -> None:
        """Wait until the note of an image is written, as it is about to be read."""
        if any(key in keys for keys in self._writing.values()):
            self._tasks.wait()

    def can_undo(self) -> bool:
        return bool(self._done) and self._done[-1].under is self._editor.history.next_undo

    def undo(self) -> bool:
        """Undo the last step if it is one of this class. Return True if it was."""
        self._editor.commit()
        if not self.can_undo():
            return False
        step, history = self._done.pop(), self._editor.history
        self._undone.append(replace(step, over=history.next_redo))
        self._put(step.field, step.before)
        self.stepped.emit(step, "undone")
        return True

    def can_redo(self) -> bool:
        history = self._editor.history
        last = self._undone[-1] if self._undone else None
        return last is not None and (last.under, last.over) == (history.next_undo, history.next_redo)

    def redo(self) -> bool:
        if not self.can_redo():
            return False
        step = self._undone.pop()
        self._done.append(step)
        self._put(step.field, step.after)
        self.stepped.emit(step, "redone")
        return True

    def close(self) -> None:
        self._tasks.wait()  # assigned verdicts are written before the project closes
        self._project = None
        self._done.clear()
        self._undone.clear()

    def _put(self, field: Field, values: Mapping[str, str | None]) -> None:
        rest, opened = dict(values), self._editor.label
        if opened is not None and opened.key in rest:
            change = self._notes.set_verdict if field == "verdict" else self._notes.set_status
            change(rest.pop(opened.key))
        for key in list(rest):
            label = self._saver.unsaved(key)
            if label is not None and label.problem is None:
                _set(label.note, field, rest.pop(key))
                label.note_edits += 1
                self._saver.changed(label, now=True)
                self._listing.put(replace(self._listing.row(key), **{field: getattr(label.note, field)}))
        project, rows = self._project, self._listing
        # Record the changes in the journal first, as the notes are written later.
        changes = [
            NoteChange(key, {field: {"from": getattr(rows.row(key), field), "to": value}}, _act(field, value))
            for key, value in rest.items()
        ]
        record = self._saver.record_note_changes(changes) if changes else 0
        for key, value in rest.items():
            self._listing.put(replace(self._listing.row(key), **{field: value}))
        if rest and project is not None:
            self._round += 1
            self._writing[self._round] = set(rest)
            written = partial(self._written, field, self._round, record)

            def on_failed(problem: Problem) -> None:
                written({})
                self.problem_met.emit(problem)

            self._tasks.submit(lambda _: _write(project, field, rest), written, on_failed)
        self.history_changed.emit()
        self.judged.emit(len(values))

    def finish(self) -> None:
        """Wait until all pending notes are written."""
        self._tasks.wait()

    def _written(self, field: Field, round: int, record: int, refused: Refused) -> None:
        self._writing.pop(round, None)
        self._saver.discard_note_changes(record)
        for key, (value, _) in refused.items():
            self._listing.put(replace(self._listing.row(key), **{field: value}))
        for _, problem in list(refused.values())[:1]:
            self.problem_met.emit(problem)


def _set(note: Note, field: Field, value: str | None) -> None:
    setattr(note, field, value)
    note.add(_act(field, value))


def _act(field: Field, value: str | None) -> str:
    """Return the entry for the note's history."""
    return "verdict" if field == "verdict" else str(value)


def _write(project: Project, field: Field, values: Values) -> Refused:
    """Write notes. Return those that cannot be written, with the value they keep."""
    refused: Refused = {}
    for key, value in values.items():
        kept = Note.model_fields[field].default
        try:
            note = annotation.load_note(project, key)
            kept = getattr(note, field)
            if kept != value:
                _set(note, field, value)
                annotation.save_note(project, key, note)
        except Problem as problem:
            refused[key] = (kept, problem)
    return refused
