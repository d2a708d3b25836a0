"""Verdicts for one picture or for many at once: one step each, which one undo takes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from workbench.core import annotation
from workbench.core.history import Patch
from workbench.core.problems import Problem
from workbench.core.project import Project
from workbench.session.class_list import ClassList
from workbench.session.editing import Editor
from workbench.session.lane import Lane
from workbench.session.listing import Listing
from workbench.session.notes import Notes
from workbench.session.saving import Saver

Verdicts = dict[str, str | None]


@dataclass(frozen=True)
class _Step:
    """Verdicts before and after; `under` and `over` are the strokes it lies between."""

    before: Verdicts
    after: Verdicts
    under: Patch | None
    over: Patch | None = None


class Judging(QObject):
    """The open picture is judged in memory, the others' notes are written in a worker thread."""

    judged = Signal(int)  # pictures whose verdict changed
    history_changed = Signal()
    problem_met = Signal(object)

    def __init__(
        self, editor: Editor, saver: Saver, listing: Listing, classes: ClassList, notes: Notes,
        parent: QObject | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._editor, self._saver, self._listing, self._classes, self._notes = editor, saver, listing, classes, notes
        self._project: Project | None = None
        self._lane = Lane(parent=self)
        self._done: list[_Step] = []
        self._undone: list[_Step] = []

    def open(self, project: Project) -> None:
        self._project = project

    def give(self, keys: Sequence[str], verdict: str | None) -> None:
        """Give pictures a verdict, None takes it back; pictures that have it already are passed over."""
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
        self._classes.need_verdict(name)
        after = dict.fromkeys(before, name)
        self._undone.clear()
        self._done.append(_Step(before, after, self._editor.history.next_undo))
        self._put(after)

    def undoes(self) -> bool:
        return bool(self._done) and self._done[-1].under is self._editor.history.next_undo

    def undone(self) -> bool:
        """Take the last step back, if it is one of these."""
        self._editor.commit()
        if not self.undoes():
            return False
        step, history = self._done.pop(), self._editor.history
        self._undone.append(replace(step, over=history.next_redo))
        self._put(step.before)
        return True

    def redoes(self) -> bool:
        history = self._editor.history
        last = self._undone[-1] if self._undone else None
        return last is not None and (last.under, last.over) == (history.next_undo, history.next_redo)

    def redone(self) -> bool:
        if not self.redoes():
            return False
        step = self._undone.pop()
        self._done.append(step)
        self._put(step.after)
        return True

    def close(self) -> None:
        self._lane.finish()  # what was told as given is written
        self._project = None
        self._done.clear()
        self._undone.clear()

    def _put(self, verdicts: Mapping[str, str | None]) -> None:
        rest, opened = dict(verdicts), self._editor.label
        if opened is not None and opened.key in rest:
            self._notes.set_verdict(rest.pop(opened.key))
        for key in list(rest):
            label = self._saver.unsaved(key)
            if label is not None and label.problem is None:
                label.note.verdict = rest.pop(key)
                label.note.add("verdict")
                label.note_edits += 1
                self._saver.changed(label, now=True)
                self._listing.put(replace(self._listing.row(key), verdict=label.note.verdict))
        project = self._project
        for key, verdict in rest.items():
            self._listing.put(replace(self._listing.row(key), verdict=verdict))
        if rest and project is not None:
            self._lane.submit(lambda: _write(project, rest), self._written)
        self.history_changed.emit()
        self.judged.emit(len(verdicts))

    def _written(self, refused: dict[str, tuple[str | None, Problem]] | None, error: Exception | None) -> None:
        if error is not None:
            raise error
        for key, (verdict, _) in refused.items():
            self._listing.put(replace(self._listing.row(key), verdict=verdict))
        for _, problem in list(refused.values())[:1]:
            self.problem_met.emit(problem)


def _write(project: Project, verdicts: Verdicts) -> dict[str, tuple[str | None, Problem]]:
    """Write notes; returns those that cannot be, with the verdict they keep."""
    refused: dict[str, tuple[str | None, Problem]] = {}
    for key, verdict in verdicts.items():
        kept = None
        try:
            note = annotation.load_note(project, key)
            kept = note.verdict
            if kept != verdict:
                note.verdict = verdict
                note.add("verdict")
                annotation.save_note(project, key, note)
        except Problem as problem:
            refused[key] = (kept, problem)
    return refused
