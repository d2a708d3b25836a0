"""Note of the open image: verdict, status, split and history."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.core.project.annotation import Status
from workbench.core.runs.dataset import Split
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor


class ImageNotes(QObject):
    """Changes of the open image's note. Each one is saved like a stroke."""

    changed = Signal(str)  # key
    problem_met = Signal(object)

    def __init__(self, editor: Editor, saver: Autosave, classes: ClassList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor, self._saver, self._classes = editor, saver, classes

    def set_verdict(self, name: str | None) -> None:
        """Set the image's verdict; a name that is new is added to the project."""
        name = (name or "").strip() or None
        if not self._may() or self._editor.label.note.verdict == name:
            return
        self._classes.ensure_verdict(name)
        self._editor.label.note.verdict = name
        self.add("verdict")

    def set_status(self, status: Status) -> None:
        """Set the status: new, started or done. A done image without a mask gets an empty one, marking it good."""
        if not self._may():
            return
        label = self._editor.label
        if status == "done" and not label.on_disk:
            label.edits += 1
        label.note.status = status
        self.add(status)

    def set_group(self, group: str | None) -> None:
        """Set the group of images that a data split keeps together; None: by the project's rule."""
        if self._may() and self._editor.label.note.group != group:
            self._editor.label.note.group = group
            self.add("group")

    def set_pin(self, split: Split | None) -> None:
        """Pin the image and its group to a split, from the next training on; None: no restriction."""
        if self._may() and self._editor.label.note.pin != split:
            self._editor.label.note.pin = split
            self.add("pin")

    def add(self, what: str) -> None:
        """Add an entry to the note's history; written at once."""
        label = self._editor.label
        label.note.add(what)
        self.touched(now=True)
        self.changed.emit(label.key)

    def touched(self, *, now: bool = False) -> None:
        """Save a change of the note, soon or at once (`now`)."""
        self._editor.label.note_edits += 1
        self._saver.changed(self._editor.label, now=now)

    def _may(self) -> bool:
        problem = self._editor.refusal()
        if problem is not None:
            self.problem_met.emit(problem)
        self._editor.commit()
        return problem is None and self._editor.label is not None
