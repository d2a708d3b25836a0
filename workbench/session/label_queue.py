"""Label queue and list of suspected label errors: computed in a background thread, updated as images are labeled.

Errors are corrected one at a time: the model's prediction is accepted or the label confirmed. Tiny regions are removed
and tiny holes filled in the masks of some images, one undo step per image.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import EMPTY, Selection
from workbench.core.problems import ModelUnusable, Problem
from workbench.core.project.annotation import ConfirmedLabel, Note
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.tasks import Job, Task
from workbench.session.training.shown_runs import RunList
from workbench.session.training.training_control import TrainingControl
from workbench.session.undo import UndoCommand

if TYPE_CHECKING:
    from workbench.core.label_next.label_advice import LabelIssueList, LabelNextList
    from workbench.core.label_next.label_issues import LabelIssue
    from workbench.core.label_next.label_ranking import RankReason


Mode = Literal["", "next", "errors"]
COUNT = 200  # images in the label queue


def _compute_list(
    project: Project, rows: dict[str, ImageRow], run: Run | None, mode: Mode, limit: int, task: Task
) -> LabelNextList | LabelIssueList:
    """Compute a list, in the worker thread; if canceled, return the result so far."""
    from workbench.core.label_next.label_advice import LabelIssueList, find_label_issues, rank_images

    progress, cancelled = task.report, task.cancelled
    if mode == "next":
        return rank_images(project, rows, run, count=COUNT, most=limit, progress=progress, cancelled=cancelled)
    if run is None:
        return LabelIssueList()
    return find_label_issues(project, rows, run, most=limit, progress=progress, cancelled=cancelled)


class LabelQueue(Job):
    """Label queue and list of suspected label errors. `mode` selects the list in use, "" for none."""

    changed = Signal()  # the mode, or the listed images

    def __init__(self, session: Session, training: TrainingControl, runs: RunList) -> None:
        super().__init__()
        self.mode: Mode = ""
        self.ranking: LabelNextList | None = None
        self.issue_list: LabelIssueList | None = None
        self._session, self._runs = session, runs
        self._stale = False
        self._postponed: bool | None = None  # `more` of a `refresh` that waits for the list of runs
        self._reasons: dict[str, tuple[RankReason, ...]] = {}
        self._open_issues: dict[str, tuple[LabelIssue, ...]] = {}  # open suspected errors, by image
        self._keys: list[str] = []
        session.project_closed.connect(self._closed)
        session.current.opened.connect(self._filter)
        session.history_changed.connect(self._filter)
        session.note_changed.connect(self._filter)
        training.ended.connect(self._model_changed)
        runs.listed.connect(self._runs_listed)
        runs.in_use_changed.connect(self._model_changed)

    # --- state ------------------------------------------------------------------------------------

    @property
    def result(self) -> LabelNextList | LabelIssueList | None:
        """Result from which the present list was made."""
        return {"next": self.ranking, "errors": self.issue_list}.get(self.mode)

    @property
    def keys(self) -> list[str]:
        """Images of the present list, in order."""
        return self._keys

    def reasons(self, key: str) -> tuple[RankReason, ...]:
        """Return the reasons why an image is in the present list."""
        if self.mode == "errors":
            from workbench.core.label_next.label_ranking import issue_reason

            row, project = self._session.rows.get(key, ImageRow(key)), self._session.project
            names = {info.id: info.name for info in project.classes} if project is not None else {}
            reasons = (issue_reason(issue, names, good=not row.counts) for issue in self.issues(key))
            return tuple({str(reason): reason for reason in reasons}.values())
        return self._reasons.get(key, ()) if self.mode == "next" else ()

    def issues(self, key: str | None) -> tuple[LabelIssue, ...]:
        """Return the open suspected errors in the label of an image, worst first."""
        return self._open_issues.get(key, ()) if key is not None else ()

    def possible(self, mode: Mode) -> bool:
        return bool(self._session.keys) and (mode != "errors" or self._runs.in_use is not None)

    # --- commands -----------------------------------------------------------------------------------

    def activate(self, mode: Mode) -> None:
        """Select a list, or none with ""; a missing list is computed."""
        if mode == self.mode:
            return
        self.cancel()
        self.mode = mode
        self._list()
        if mode and self.result is None:
            self.refresh()

    def refresh(self, *, more: bool = False) -> None:
        """Compute the present list again; `changed` or `failed` follows. more: from more images than before."""
        from workbench.core.label_next.image_features import AT_ONCE

        project = self._session.project
        if project is None or not self.mode or self.running:
            return
        if self._runs.refreshing:
            self._postponed = more
            return
        self._session.flush()
        rows = {key: self._session.rows.get(key) or ImageRow(key) for key in self._session.keys}
        run, mode, limit = self._runs.in_use, self.mode, 5 * AT_ONCE if more else AT_ONCE
        self.begin(
            lambda task: _compute_list(project, rows, run, mode, limit, task),
            self._on_computed,
            self._on_computed,
            on_progress=self.progressed.emit,
            as_problem=lambda error: ModelUnusable(
                path=str(run.best) if run else "", why=str(error) or type(error).__name__
            ),
        )

    # --- updates ----------------------------------------------------------------------------------

    def _runs_listed(self) -> None:
        more, self._postponed = self._postponed, None
        if more is not None:
            self.refresh(more=more)
        self.state_changed.emit()

    def _on_computed(self, result: LabelNextList | LabelIssueList | Problem) -> None:
        from workbench.core.label_next.label_advice import LabelIssueList, LabelNextList

        stale, self._stale = self._stale, False
        if stale:
            pass  # another model has been trained meanwhile
        elif isinstance(result, LabelNextList):
            self.ranking = result
            self._reasons = {entry.key: entry.reasons for entry in result.entries}
        elif isinstance(result, LabelIssueList):
            self.issue_list = result
            self._open_issues = dict(result.issues)
        else:
            self.failed.emit(result)
        if self.mode and self.result is None and (stale or not isinstance(result, Problem)):
            self.refresh()  # the other list was selected meanwhile
        self._filter()
        self._list()

    def _model_changed(self, _: object = None) -> None:
        """Discard the lists after a training or the choice of another model, as they depend on the model."""
        self.ranking = self.issue_list = None
        if self.running:
            self._stale = True
            self.cancel()
        elif self.mode:
            self.refresh()

    def _closed(self) -> None:
        self.close()
        self._stale = False
        self.mode, self.ranking, self.issue_list, self._postponed = "", None, None, None
        self._reasons, self._open_issues, self._keys = {}, {}, []
        self.state_changed.emit()
        self.changed.emit()

    def _filter(self, *_: object) -> None:
        """Remove resolved label errors of the open image, and done images, from the list."""
        session, key = self._session, self._session.key
        issues = self.issue_list.issues if self.mode == "errors" and self.issue_list is not None else {}
        if key is not None and key in issues and session.note is not None:
            from workbench.core.label_next.label_issues import is_confirmed, is_current

            note, mask = session.note, session.mask
            self._open_issues[key] = tuple(
                issue
                for issue in issues[key]
                if not is_confirmed(issue, note.confirmed) and is_current(issue, mask, note.verdict)
            )
        if self.mode:
            self._list()

    def _list(self) -> None:
        before, session = self._keys, self._session
        self._keys = []
        project = session.project
        if project is not None and self.mode == "next" and self.ranking is not None:
            self._keys = [entry.key for entry in self.ranking.entries if self._waits(entry.key, project)]
        elif project is not None and self.mode == "errors" and self.issue_list is not None:
            self._keys = [key for key in self.issue_list.issues if self._open_issues.get(key) or key == session.key]
        if self._keys != before or not self._keys:
            self.changed.emit()

    def _waits(self, key: str, project: Project) -> bool:
        from workbench.core.label_next.label_advice import is_open

        session = self._session
        return key == session.key or is_open(session.rows.get(key, ImageRow(key)), project)


# --- suspected label errors -----------------------------------------------------------------------


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
        session.current.opened.connect(self._opened)
        session.current.failed.connect(self._next)
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
        from workbench.core.project_check import specks, tiny_holes

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

    def __init__(self, session: Session, queue: LabelQueue) -> None:
        super().__init__()
        self._session, self._queue = session, queue
        self._index = 0
        self._key: str | None = None
        self._reported: LabelIssue | None = None
        session.current.opened.connect(self._image_opened)
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
