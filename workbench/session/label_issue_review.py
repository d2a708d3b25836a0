"""Correction of suspected label errors, one at a time: accept the model's prediction or confirm the label.

Removal of tiny regions and filling of tiny holes in the masks of some images, one undo step per image.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import EMPTY, Selection
from workbench.core.project.annotation import ConfirmedLabel, Note
from workbench.session.label_queue import LabelQueue
from workbench.session.session import Session
from workbench.session.undo import UndoCommand

if TYPE_CHECKING:
    from workbench.core.label_next.label_issues import LabelIssue

Repair = Literal["remove specks", "fill tiny holes"]


class LabelRepair(QObject):
    """Repair of masks through the editor: each image is opened, changed and saved like a stroke."""

    progressed = Signal(int, int)
    ended = Signal(int)  # number of changed images

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._repair: Repair = "remove specks"
        self._waiting: deque[str] = deque()
        self._total = self._changed = 0
        session.image_opened.connect(self._opened)
        session.image_failed.connect(self._next)
        session.project_closed.connect(self._waiting.clear)

    @property
    def running(self) -> bool:
        return bool(self._waiting)

    def start(self, repair: Repair, keys: Sequence[str]) -> None:
        """Repair the masks of images, in order. `ended` follows."""
        if self.running or not keys:
            return
        self._repair, self._waiting = repair, deque(dict.fromkeys(keys))
        self._total, self._changed = len(self._waiting), 0
        self._session.open_image(self._waiting[0])

    def cancel(self) -> None:
        """End after the images done so far."""
        if self.running:
            self._waiting.clear()
            self.ended.emit(self._changed)

    def _opened(self, key: str) -> None:
        if self._waiting and self._waiting[0] == key:
            self._changed += self._repair_image()
            self._next(key)

    def _next(self, key: str, _: object = None) -> None:
        if not self._waiting or self._waiting[0] != key:
            return
        self._waiting.popleft()
        self.progressed.emit(self._total - len(self._waiting), self._total)
        if self._waiting:
            self._session.open_image(self._waiting[0])
        else:
            self.ended.emit(self._changed)

    def _repair_image(self) -> bool:
        """Repair the open image. Return True if its mask changed."""
        from workbench.core.check.project_check import specks, tiny_holes

        editor, mask = self._session.editor, self._session.mask
        if mask is None or not editor.begin(self._repair):
            editor.commit()
            return False
        if self._repair == "remove specks":
            for part in list(specks(mask)):
                (x, y), (height, width) = part.corner, part.inside.shape
                speck = Selection(Rect(x, y, width, height), part.inside)
                editor.replace_region(speck, EMPTY, editor.background_id)
        else:
            for part in list(tiny_holes(mask)):
                editor.paint_region(part.inside, part.corner, part.id)
        return editor.commit()


ACCEPT, CORRECT, CONFIRM, UNCONFIRM = "accept proposal", "mend label", "label is right", "doubt label"


class LabelConfirmation(UndoCommand):
    """A label that the user confirmed although the model contradicts it."""

    title = CONFIRM
    needs_image = True

    def __init__(self, session: Session, key: str, confirmed: ConfirmedLabel) -> None:
        self._session, self.key, self._confirmed = session, key, confirmed

    def undo(self) -> bool:
        note = self._note()
        if note is None:
            return False
        if self._confirmed in note.confirmed:
            note.confirmed.remove(self._confirmed)
        self._session.notes.add(UNCONFIRM)
        return True

    def redo(self) -> bool:
        note = self._note()
        if note is None:
            return False
        note.confirmed.append(self._confirmed)
        self._session.notes.add(CONFIRM)
        return True

    def _note(self) -> Note | None:
        """Return the note of the open image, None after `problem_met` if it cannot be changed."""
        session = self._session
        problem = session.editor.refusal()
        if problem is not None:
            session.problem_met.emit(problem)
        return session.note if problem is None and session.key == self.key else None


class LabelIssueReview(QObject):
    """Suspected label errors of the open image. `issue` is the current one, None outside the list of label errors."""

    changed = Signal()  # `issue` changed
    refused = Signal(str)  # nothing was painted: "locked" or "kept", as for suggestions
    confirmed = Signal(object)  # key of the image whose label was confirmed

    def __init__(self, session: Session, queue: LabelQueue, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._queue = session, queue
        self._index = 0
        self._key: str | None = None
        self._reported: LabelIssue | None = None
        session.image_opened.connect(self._image_opened)
        queue.changed.connect(self._update)
        session.history_changed.connect(self._update)
        session.note_changed.connect(self._update)

    @property
    def issues(self) -> tuple[LabelIssue, ...]:
        """Open suspected errors of the open image, worst first."""
        session = self._session
        active = self._queue.mode == "errors" and session.note is not None and session.key is not None
        return self._queue.issues(session.key) if active else ()

    @property
    def place(self) -> int:
        """Index of `issue` in `issues`, from 0."""
        return min(self._index, len(self.issues) - 1)

    @property
    def issue(self) -> LabelIssue | None:
        issues = self.issues
        return issues[self.place] if issues else None

    def possible(self) -> bool:
        return self.issue is not None and self._session.writable

    # --- requests ---------------------------------------------------------------------------------

    def step(self, by: int) -> None:
        """Go to the next suspected error of this image, cyclically."""
        if self.issues:
            self._index = (self.place + by) % len(self.issues)
            self._update()

    def accept_model(self) -> bool:
        """Apply the model's prediction: paint its region, erase the labeled one, or set its verdict."""
        issue, session, editor = self.issue, self._session, self._session.editor
        if issue is None or session.key is None or not session.writable:
            return False
        if issue.kind == "verdict":
            session.verdict_steps.set_verdicts([session.key], issue.predicted_verdict)
            return True
        region, mask = issue.selection, session.mask
        if not editor.begin(ACCEPT if issue.kind == "missing" else CORRECT) or mask is None:
            return False
        inside = region.inside
        if issue.kind != "missing":  # pixels painted there since the check stay
            inside = inside & (mask[region.rect.slices] == issue.labeled_id)
        before = np.count_nonzero(mask[region.rect.slices] == issue.labeled_id)
        editor.paint_region(inside, region.corner, editor.background_id if issue.kind == "extra" else issue.class_id)
        unchanged = np.count_nonzero(mask[region.rect.slices] == issue.labeled_id) == before
        editor.commit()
        if unchanged and inside.any():
            self.refused.emit("locked" if editor.locked else "kept")
        elif not unchanged:
            self._record_origin(issue)
        return not unchanged

    def _record_origin(self, issue: LabelIssue) -> None:
        """Enter the model and its prediction in the note's history."""
        session, issue_list = self._session, self._queue.issue_list
        note, project = session.note, session.project
        if note is None or project is None or not note.history:
            return
        names = {info.id: info.name for info in project.classes}
        model = issue_list.model if issue_list is not None else ""
        detail = f"run {model}: {issue.kind} {names.get(issue.class_id, issue.class_id)} {issue.certainty:.2f}"
        note.history[-1] = note.history[-1].model_copy(update={"detail": detail})
        session.notes.save_change()

    def keep_label(self) -> bool:
        """Confirm the label: no model suggests this error again. One undo command."""
        from workbench.core.label_next.label_issues import confirmation

        issue, session = self.issue, self._session
        key = session.key
        if issue is None or key is None or not session.writable or session.note is None:
            return False
        command = LabelConfirmation(session, key, confirmation(issue))
        if not command.redo():
            return False
        session.undo_stack.push(command)
        self.confirmed.emit(key)
        return True

    def can_undo(self, key: str) -> bool:
        """Return True if the confirmation of a label of this image is the next command to undo."""
        command = self._session.undo_stack.next_undo
        return isinstance(command, LabelConfirmation) and command.key == key

    def undo(self, key: str) -> None:
        """Undo the last confirmation in an image if it is the next command to undo."""
        if self.can_undo(key):
            self._session.undo()

    # --- updates ----------------------------------------------------------------------------------

    def _image_opened(self, key: str) -> None:
        if key != self._key:
            self._key, self._index = key, 0
        self._update()

    def _update(self, *_: object) -> None:
        issue = self.issue
        if issue != self._reported:
            self._reported = issue
            self.changed.emit()
