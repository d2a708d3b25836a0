"""Correction of suspected label errors, one at a time: accept the model's finding or confirm the label."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.label_next.label_issues import LabelIssue, confirmation
from workbench.session.label_queue import LabelQueue
from workbench.session.session import Session

ADD, MEND, RIGHT = "accept proposal", "mend label", "label is right"


class LabelIssueReview(QObject):
    """Suspected label errors of the open image. `slip` is the current one, None outside the list of label errors."""

    changed = Signal()  # `slip` changed
    refused = Signal(str)  # nothing was painted: "locked" or "kept", as for suggestions
    kept = Signal(str)  # key of the image whose label was confirmed

    def __init__(self, session: Session, guide: LabelQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._guide = session, guide
        self._at = 0
        self._key: str | None = None
        self._told: LabelIssue | None = None
        session.image_opened.connect(self._opened)
        guide.changed.connect(self._follow)
        session.history_changed.connect(self._follow)
        session.note_changed.connect(self._follow)

    @property
    def issues(self) -> tuple[LabelIssue, ...]:
        """Open suspected errors of the open image, worst first."""
        session = self._session
        here = self._guide.mode == "errors" and session.note is not None and session.key is not None
        return self._guide.issues(session.key) if here else ()

    @property
    def place(self) -> int:
        """Index of `slip` in `slips`, from 0."""
        return min(self._at, len(self.issues) - 1)

    @property
    def issue(self) -> LabelIssue | None:
        issues = self.issues
        return issues[self.place] if issues else None

    def possible(self) -> bool:
        return self.issue is not None and self._session.writable

    # --- orders -----------------------------------------------------------------------------------

    def step(self, by: int) -> None:
        """Go to the next suspected error of this image, cyclically."""
        if self.issues:
            self._at = (self.place + by) % len(self.issues)
            self._follow()

    def accept_model(self) -> bool:
        """Apply the model's finding: paint its region, erase the labeled one, or set its verdict."""
        issue, session, editor = self.issue, self._session, self._session.editor
        if issue is None or not session.writable:
            return False
        if issue.kind == "verdict":
            session.judging.set_verdicts([session.key], issue.said)
            return True
        if not editor.begin(ADD if issue.kind == "missing" else MEND):
            return False
        found, mask = issue.selection, session.mask
        inside = found.inside
        if issue.kind != "missing":  # pixels painted there since the check stay
            inside = inside & (mask[found.rect.slices] == issue.labelled_id)
        before = np.count_nonzero(mask[found.rect.slices] == issue.labelled_id)
        editor.paint_region(inside, found.corner, editor.background_id if issue.kind == "extra" else issue.class_id)
        unchanged = np.count_nonzero(mask[found.rect.slices] == issue.labelled_id) == before
        editor.commit()
        if unchanged and inside.any():
            self.refused.emit("locked" if editor.locked else "kept")
        elif not unchanged:
            self._tell_origin(issue)
        return not unchanged

    def _tell_origin(self, issue: LabelIssue) -> None:
        """Enter the model and its finding in the note's history."""
        session, doubts = self._session, self._guide.issue_list
        note, project = session.note, session.project
        if note is None or project is None or not note.history:
            return
        names = {info.id: info.name for info in project.classes}
        model = doubts.model if doubts is not None else ""
        detail = f"run {model}: {issue.kind} {names.get(issue.class_id, issue.class_id)} {issue.certainty:.2f}"
        note.history[-1] = note.history[-1].model_copy(update={"detail": detail})
        session.notes.touched()

    def keep_label(self) -> bool:
        """Confirm the label: this error is not suggested again, by any model."""
        issue, session = self.issue, self._session
        if issue is None or not session.writable or session.note is None:
            return False
        session.note.confirmed.append(confirmation(issue))
        session.notes.add(RIGHT)
        self.kept.emit(session.key or "")
        return True

    def undo(self, key: str) -> None:
        """Undo the last confirmation in the open image."""
        session = self._session
        if session.key == key and session.note is not None and session.note.confirmed and session.writable:
            session.note.confirmed.pop()
            session.notes.add("doubt label")

    # --- updates ----------------------------------------------------------------------------------

    def _opened(self, key: str) -> None:
        if key != self._key:
            self._key, self._at = key, 0
        self._follow()

    def _follow(self, *_: object) -> None:
        issue = self.issue
        if issue != self._told:
            self._told = issue
            self.changed.emit()
