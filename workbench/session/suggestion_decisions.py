"""Decisions on suggestions: stored in the image's note, undone and redone with the steps of its history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from workbench.core.project.annotation import SuggestionDecision
from workbench.core.project.history import Patch
from workbench.session.session import Session

ACCEPT, REJECT, BRING_BACK = "accept proposal", "reject proposal", "bring back proposals"


@dataclass
class _DecisionStep:
    """One decision and its step in the history. on: in effect; False while undone."""

    patch: Patch
    added: list[SuggestionDecision] = field(default_factory=list)
    removed: list[SuggestionDecision] = field(default_factory=list)
    on: bool = True


class Decisions(QObject):
    """Decisions on the suggestions of the open image."""

    turned = Signal()  # decisions were undone or redone

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._steps: list[_DecisionStep] = []
        session.history_changed.connect(self._follow)

    def mark(self, what: str) -> Patch | None:
        """Add a step without pixels to the undo history. Return None, after `problem_met`, if that is not allowed."""
        session, editor = self._session, self._session.editor
        editor.commit()
        problem = editor.refusal()
        if problem is not None:
            session.problem_met.emit(problem)
        if problem is not None or session.key is None or session.note is None:
            return None
        patch = Patch(session.key, what, b"", b"", b"")
        editor.history.add(patch)
        return patch

    def keep(
        self,
        patch: Patch,
        detail: str,
        *,
        added: Sequence[SuggestionDecision] = (),
        removed: Sequence[SuggestionDecision] = (),
    ) -> None:
        """Record that `added` are decided and `removed` no longer are; `patch` is the corresponding step.

        detail: text for the image's history. The note is written soon, or at once if no stroke is written with it.
        """
        session = self._session
        note, label = session.note, session.editor.label
        if note is None or label is None:
            return
        self._steps.append(_DecisionStep(patch, list(added), list(removed)))
        note.decided = [one for one in note.decided if one not in removed] + list(added)
        last = note.history[-1] if note.history else None
        if last is not None and last.what == patch.what and not last.detail:
            last.detail = detail  # the editor has already added the entry
        else:
            note.add(patch.what, detail)
        session.notes.touched(now=patch.what != ACCEPT)
        session.note_changed.emit(label.key)
        session.history_changed.emit()

    def clear(self) -> None:
        self._steps.clear()

    def _follow(self) -> None:
        """Reopen decisions that were undone and restore those that were redone."""
        note, history, label = self._session.note, self._session.editor.history, self._session.editor.label
        if note is None or label is None:
            return
        turned = False
        for step in [step for step in self._steps if step.patch.key == label.key]:
            undone = history.is_undone(step.patch)
            if undone != step.on:
                continue
            if not undone and not history.is_done(step.patch):
                self._steps.remove(step)  # superseded by another stroke
                continue
            step.on, turned = not undone, True
            out, into = (step.added, step.removed) if undone else (step.removed, step.added)
            note.decided = [one for one in note.decided if one not in out] + into
        if turned:
            self._session.notes.touched()
            self.turned.emit()
