"""Decisions on suggestions: stored in the image's note, undone and redone with the other changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from workbench.core.project.annotation import SuggestionDecision
from workbench.core.project.history import Patch
from workbench.core.suggestions.suggestions import Suggestion
from workbench.session.session import Session
from workbench.session.undo import MaskEdit, PatchTarget

ACCEPT, REJECT, RESTORE = "accept proposal", "reject proposal", "bring back proposals"
Entries = Sequence[SuggestionDecision]


class SuggestionDecisionStep(MaskEdit):
    """Decisions added to and removed from a note. The patch holds the accepted pixels; it is empty for others."""

    def __init__(
        self,
        target: PatchTarget,
        patch: Patch,
        *,
        decisions: SuggestionDecisions,
        added: Entries = (),
        removed: Entries = (),
    ) -> None:
        super().__init__(target, patch)
        self._decisions, self.added, self.removed = decisions, tuple(added), tuple(removed)

    def undo(self) -> bool:
        return super().undo() and self._decisions.revise(added=self.removed, removed=self.added)

    def redo(self) -> bool:
        return super().redo() and self._decisions.revise(added=self.added, removed=self.removed)


class SuggestionDecisions(QObject):
    """Decisions on the suggestions of the open image."""

    revised = Signal()  # decisions were undone or redone
    refused = Signal(str)  # reason why nothing was accepted

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session

    def decide(self, what: str, detail: str, *, added: Entries = (), removed: Entries = ()) -> bool:
        """Add and remove decisions, without a change of pixels: one undo command; the note is written at once.

        detail: text for the image's history. Return False, after `problem_met`, if the image cannot be changed.
        """
        session, editor = self._session, self._session.editor
        editor.commit()
        problem = editor.refusal()
        if problem is not None:
            session.problem_met.emit(problem)
        if problem is not None or session.key is None or session.note is None:
            return False
        step = self._step(added, removed)(editor, Patch(session.key, what, b"", b"", b""))
        self._record(what, detail, added, removed)
        session.undo_stack.push(step)
        return True

    def accept(self, suggestions: Sequence[Suggestion], names: Mapping[int, str]) -> Entries:
        """Paint suggestions as labels of their classes: one undo command. Return the decisions, none if refused.

        names: of the classes, by id. `refused` or `problem_met` gives the reason.
        """
        editor, accepted = self._session.editor, _entries(suggestions, "accepted")
        if not suggestions or not editor.begin(ACCEPT, self._step(accepted, ())):
            return ()
        for suggestion in suggestions:
            editor.paint_region(suggestion.selection.inside, suggestion.selection.corner, suggestion.class_id)
        if not editor.commit():
            self.refused.emit("locked" if editor.locked else "kept")
            return ()
        self._record(ACCEPT, _origin(suggestions, names), accepted, ())
        return accepted

    def reject(self, suggestions: Sequence[Suggestion], names: Mapping[int, str]) -> Entries:
        """Reject suggestions: one undo command without pixels. Return the decisions, none if refused."""
        rejected = _entries(suggestions, "rejected")
        decided = bool(suggestions) and self.decide(REJECT, _origin(suggestions, names), added=rejected)
        return rejected if decided else ()

    def revise(self, *, added: Entries, removed: Entries) -> bool:
        """Change the decisions in the note of the open image as undo and redo do. Return True."""
        note = self._session.note
        if note is not None:
            note.decided = [*(decision for decision in note.decided if decision not in removed), *added]
            self._session.notes.save_change()
            self.revised.emit()
        return True

    def _step(self, added: Entries, removed: Entries) -> partial[SuggestionDecisionStep]:
        return partial(SuggestionDecisionStep, decisions=self, added=added, removed=removed)

    def _record(self, what: str, detail: str, added: Entries, removed: Entries) -> None:
        session = self._session
        note = session.note
        if note is None or session.key is None:
            return
        note.decided = [*(decision for decision in note.decided if decision not in removed), *added]
        last = note.history[-1] if note.history else None
        if last is not None and last.what == what and not last.detail:
            last.detail = detail  # the editor has already added the entry
        else:
            note.add(what, detail)
        session.notes.save_change(now=what != ACCEPT)
        session.note_changed.emit(session.key)


def _entries(suggestions: Sequence[Suggestion], what: str) -> list[SuggestionDecision]:
    return [suggestion.origin.model_copy(update={"what": what}) for suggestion in suggestions]


def _origin(suggestions: Sequence[Suggestion], names: Mapping[int, str]) -> str:
    """Return the origin of accepted or rejected regions, for the image's history."""
    models = ", ".join(dict.fromkeys(suggestion.model for suggestion in suggestions))
    if len(suggestions) == 1:
        (only,) = suggestions
        changed = ", changed before" if only.edited else ""
        return f"run {models}: {names.get(only.class_id, only.class_id)}, score {only.score:.2f}{changed}"
    scores = [suggestion.score for suggestion in suggestions]
    return f"run {models}: {len(suggestions)} regions, scores {min(scores):.2f} to {max(scores):.2f}"
