"""Note of the open image: verdict, status, split and history."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.core.project.annotation import Split, Status
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.label import Label


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
