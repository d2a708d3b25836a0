"""Note of the open image, and undoable changes of verdicts and groups of one or many images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, cast

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project import annotation
from workbench.core.project.annotation import Note, Split, Status
from workbench.core.project.project import Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.label import Label
from workbench.session.note_changes import NoteChange
from workbench.session.tasks import TaskRunner
from workbench.session.undo import UndoCommand, UndoStack


class ImageNotes(QObject):
    """Changes of the open image's note. Each one is saved like a stroke."""

    changed = Signal(str)  # key
    problem_met = Signal(object)

    def __init__(self, editor: Editor, autosave: Autosave, classes: ClassList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._classes = editor, autosave, classes

    def set_verdict(self, name: str | None) -> None:
        """Set the image's verdict; a name that is new is added to the project."""
        name = (name or "").strip() or None
        label = self._changeable_label()
        if label is None or label.note.verdict == name:
            return
        self._classes.ensure_verdict(name)
        label.note.verdict = name
        self._add(label, "verdict")

    def set_status(self, status: Status) -> None:
        """Set the status: new, started or done. A done image without a mask gets an empty one, marking it good."""
        label = self._changeable_label()
        if label is None:
            return
        if status == "done" and not label.on_disk:
            label.edits += 1
        label.note.status = status
        self._add(label, status)

    def set_group(self, group: str | None) -> None:
        """Set the group of images that a data split keeps together; None: by the project's rule."""
        label = self._changeable_label()
        if label is not None and label.note.group != group:
            label.note.group = group
            self._add(label, "group")

    def set_pin(self, split: Split | None) -> None:
        """Pin the image and its group to a split, from the next training on; None: no restriction."""
        label = self._changeable_label()
        if label is not None and label.note.pin != split:
            label.note.pin = split
            self._add(label, "pin")

    def add(self, what: str) -> None:
        """Add an entry to the history of the open note; written at once."""
        if self._editor.label is not None:
            self._add(self._editor.label, what)

    def touched(self, *, now: bool = False) -> None:
        """Save a change of the open note, soon or at once (`now`)."""
        if self._editor.label is not None:
            self._touched(self._editor.label, now=now)

    def _add(self, label: Label, what: str) -> None:
        label.note.add(what)
        self._touched(label, now=True)
        self.changed.emit(label.key)

    def _touched(self, label: Label, *, now: bool) -> None:
        label.note_edits += 1
        self._autosave.changed(label, now=now)

    def _changeable_label(self) -> Label | None:
        """Return the label of the open image; None, after `problem_met`, if it cannot be changed."""
        problem = self._editor.refusal()
        if problem is not None:
            self.problem_met.emit(problem)
        self._editor.commit()
        return self._editor.label if problem is None else None


Values = dict[str, str | None]
Field = Literal["verdict", "status", "group"]
RefusedValues = dict[str, tuple[str | None, Problem]]  # value that the image keeps, and the reason

_NBYTES = 300  # approximate memory of an undo command per image


class VerdictChange(UndoCommand):
    """Values of one field of some notes, by image, before and after a change. key: the image, for a status."""

    def __init__(self, steps: VerdictSteps, field: Field, before: Values, after: Values) -> None:
        self._steps = steps
        self.field: Field = field
        self.before, self.after = before, after
        self.title, self.nbytes = field, _NBYTES * len(after)
        self.key = self.first_key if field == "status" else None

    @property
    def first_key(self) -> str:
        """Key of the first image."""
        return next(iter(self.after))

    def undo(self) -> bool:
        self._steps.set_values(self.field, self.before)
        self._steps.stepped.emit(self, "undone")
        return True

    def redo(self) -> bool:
        self._steps.set_values(self.field, self.after)
        self._steps.stepped.emit(self, "redone")
        return True


class VerdictSteps(QObject):
    """Assignment of verdicts and status. The open image changes in memory; other notes are written in a thread."""

    stepped = Signal(object, str)  # VerdictChange, and "done", "undone" or "redone"
    problem_met = Signal(object)

    def __init__(
        self,
        editor: Editor,
        autosave: Autosave,
        image_list: ImageList,
        classes: ClassList,
        notes: ImageNotes,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._image_list, self._classes, self._notes = (
            editor,
            autosave,
            image_list,
            classes,
            notes,
        )
        self._undo_stack: UndoStack = editor.undo_stack
        self._project: Project | None = None
        self._tasks = TaskRunner(parent=self)
        self._writing: dict[int, set[str]] = {}  # by batch: images whose notes are being written
        self._batch = 0

    def open(self, project: Project) -> None:
        self._project = project

    def close(self) -> None:
        self.finish()  # assigned verdicts are written before the project closes
        self._project = None

    def set_verdicts(self, keys: Sequence[str], verdict: str | None) -> None:
        """Assign a verdict to images, None to remove it; images that have it already are skipped."""
        name, rows, label = (verdict or "").strip() or None, self._image_list.rows, self._editor.label
        verdicts = {key: rows[key].verdict for key in keys if key in rows}
        if label is not None and label.key in keys:
            verdicts[label.key] = label.note.verdict  # its row may not have been read yet
        before = {key: verdict for key, verdict in verdicts.items() if verdict != name}
        if self._project is None or not before:
            return
        if not self._project.writable:
            self.problem_met.emit(self._project.read_only("the verdict"))
            return
        self._classes.ensure_verdict(name)
        self._push(VerdictChange(self, "verdict", before, dict.fromkeys(before, name)))

    def set_groups(self, groups: Mapping[str, str]) -> None:
        """Set the groups of images, by key; a data split keeps the images of a group together."""
        rows, label = self._image_list.rows, self._editor.label
        before: Values = {key: rows[key].group or None for key in groups if key in rows}
        if label is not None and label.key in groups:
            before[label.key] = label.note.group
        before = {key: name for key, name in before.items() if name != groups[key]}
        if self._project is None or not before:
            return
        if not self._project.writable:
            self.problem_met.emit(self._project.read_only("the group"))
            return
        self._push(VerdictChange(self, "group", before, {key: groups[key] for key in before}))

    def set_status(self, status: Status) -> None:
        """Set the status of the open image; an image marked done without a mask gets an empty one."""
        self._editor.finish_stroke()  # a label still being computed belongs to this image and precedes this change
        label = self._editor.label
        if label is None or label.note.status == status or self._editor.refusal() is not None:
            self._notes.set_status(status)  # no undo command; reports why the image cannot be changed
            return
        self._push(VerdictChange(self, "status", {label.key: label.note.status}, {label.key: status}))

    def _push(self, change: VerdictChange) -> None:
        self.set_values(change.field, change.after)
        self._undo_stack.push(change)
        self.stepped.emit(change, "done")

    def set_values(self, field: Field, values: Mapping[str, str | None]) -> None:
        """Set a field of the notes of some images, without an undo command."""
        remaining, label = dict(values), self._editor.label
        if label is not None and label.key in remaining:
            value = remaining.pop(label.key)
            if field == "verdict":
                self._notes.set_verdict(value)
            elif field == "group":
                self._notes.set_group(value)
            else:
                self._notes.set_status(cast("Status", value))
        for key in list(remaining):
            label = self._autosave.unsaved(key)
            if label is not None and label.problem is None:
                _set(label.note, field, remaining.pop(key))
                label.note_edits += 1
                self._autosave.changed(label, now=True)
                self._put_row(key, field, getattr(label.note, field))
        if remaining and self._project is not None:
            self._write_notes(self._project, field, remaining)

    def _write_notes(self, project: Project, field: Field, values: Values) -> None:
        # Record the changes in the journal first, as the notes are written later.
        changes = [
            NoteChange(
                key,
                {field: {"from": getattr(self._image_list.row(key), field) or None, "to": value}},
                _history_entry(field, value),
            )
            for key, value in values.items()
        ]
        record = self._autosave.record_note_changes(changes)
        for key, value in values.items():
            self._put_row(key, field, value)
        self._batch += 1
        self._writing[self._batch] = set(values)
        written = partial(self._notes_written, field, self._batch, record)

        def on_failed(problem: Problem) -> None:
            written({})
            self.problem_met.emit(problem)

        self._tasks.submit(lambda _: _write(project, field, values), written, on_failed)

    def _put_row(self, key: str, field: Field, value: str | None) -> None:
        shown = value or "" if field == "group" else value
        self._image_list.put(replace(self._image_list.row(key), **{field: shown}))

    def wait_for(self, key: str) -> None:
        """Wait until the note of an image is written, as it is about to be read."""
        if any(key in keys for keys in self._writing.values()):
            self.finish()

    def finish(self) -> None:
        """Wait until all pending notes are written."""
        self._tasks.wait()

    def _notes_written(self, field: Field, batch: int, record: int, refused: RefusedValues) -> None:
        self._writing.pop(batch, None)
        self._autosave.discard_note_changes(record)
        for key, (value, _) in refused.items():
            self._put_row(key, field, value)
        for _, problem in list(refused.values())[:1]:
            self.problem_met.emit(problem)


def _set(note: Note, field: Field, value: str | None) -> None:
    setattr(note, field, value)
    note.add(_history_entry(field, value))


def _history_entry(field: Field, value: str | None) -> str:
    return str(value) if field == "status" else field


def _write(project: Project, field: Field, values: Values) -> RefusedValues:
    """Write notes. Return those that cannot be written, with the value they keep."""
    refused: RefusedValues = {}
    for key, value in values.items():
        present = Note.model_fields[field].default
        try:
            note = annotation.load_note(project, key)
            present = getattr(note, field)
            if present != value:
                _set(note, field, value)
                annotation.save_note(project, key, note)
        except Problem as problem:
            refused[key] = (present, problem)
    return refused
