"""Label queue and list of suspected label errors: computed in a background thread, updated as images are labeled."""

from __future__ import annotations

from typing import Any, Literal

from PySide6.QtCore import QObject, QThread, Signal

from workbench.core.label_next.image_scan import AT_ONCE
from workbench.core.label_next.label_advice import (
    LabelIssueList,
    LabelNextList,
    find_label_issues,
    is_open,
    rank_images,
)
from workbench.core.label_next.label_issues import LabelIssue, holds, is_confirmed
from workbench.core.label_next.label_ranking import RankReason, issue_reason
from workbench.core.problems import ModelUnusable, Problem
from workbench.core.project.image_index import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.session.background_job import BackgroundJob, JobThread
from workbench.session.session import Session
from workbench.session.training.run_list import RunList
from workbench.session.training.training_control import TrainingControl

Mode = Literal["", "next", "errors"]
COUNT = 200  # images in the label queue


class _RankingThread(JobThread):
    """Thread that computes a list; if interrupted, the result so far is returned."""

    progressed = Signal(int, int)

    def __init__(
        self, project: Project, rows: dict[str, ImageRow], run: Run | None, mode: Mode, most: int, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._project, self._rows, self._run, self._mode, self._most = project, rows, run, mode, most

    def as_problem(self, error: Exception) -> Problem:
        return ModelUnusable(path=str(self._run.best) if self._run else "", why=str(error) or type(error).__name__)

    def work(self) -> LabelNextList | LabelIssueList:
        asked: dict[str, Any] = {
            "most": self._most,
            "progress": self.progressed.emit,
            "cancelled": self.isInterruptionRequested,
        }
        if self._mode == "next":
            return rank_images(self._project, self._rows, self._run, count=COUNT, **asked)
        return (
            find_label_issues(self._project, self._rows, self._run, **asked)
            if self._run is not None
            else LabelIssueList()
        )


class LabelQueue(BackgroundJob):
    """Label queue and list of suspected label errors. `mode` selects the list in use, "" for none."""

    changed = Signal()  # the mode, or the listed images
    progressed = Signal(int, int)

    def __init__(
        self, session: Session, training: TrainingControl, runs: RunList, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.mode: Mode = ""
        self.suggestions: LabelNextList | None = None
        self.doubts: LabelIssueList | None = None
        self._session, self._runs = session, runs
        self._stale = False
        self._postponed: bool | None = None  # `more` of a `look` that waits for the list of runs
        self._reasons: dict[str, tuple[RankReason, ...]] = {}
        self._left: dict[str, tuple[LabelIssue, ...]] = {}  # open suspected errors, by image
        self._listed: list[str] = []
        session.project_closed.connect(self._closed)
        session.image_opened.connect(self._filter)
        session.history_changed.connect(self._filter)
        session.note_changed.connect(self._filter)
        training.ended.connect(self._model_changed)
        runs.listed.connect(self._runs_listed)

    # --- state ------------------------------------------------------------------------------------

    @property
    def found(self) -> LabelNextList | LabelIssueList | None:
        """Result from which the present list was made."""
        return {"next": self.suggestions, "errors": self.doubts}.get(self.mode)

    @property
    def keys(self) -> list[str]:
        """Images of the present list, in order."""
        return self._listed

    def reasons(self, key: str) -> tuple[RankReason, ...]:
        """Return the reasons why an image is in the present list."""
        if self.mode == "errors":
            row, project = self._session.rows.get(key, ImageRow(key)), self._session.project
            names = {info.id: info.name for info in project.classes} if project is not None else {}
            found = (issue_reason(issue, names, good=not row.counts) for issue in self.issues(key))
            return tuple({str(why): why for why in found}.values())
        return self._reasons.get(key, ()) if self.mode == "next" else ()

    def issues(self, key: str | None) -> tuple[LabelIssue, ...]:
        """Return the open suspected errors in the label of an image, worst first."""
        return self._left.get(key, ()) if key is not None else ()

    def possible(self, mode: Mode) -> bool:
        return bool(self._session.keys) and (mode != "errors" or self._runs.newest_usable is not None)

    # --- orders -----------------------------------------------------------------------------------

    def activate(self, mode: Mode) -> None:
        """Select a list, or none with ""; a missing list is computed."""
        if mode == self.mode:
            return
        self.cancel()
        self.mode = mode
        self._list()
        if mode and self.found is None:
            self.look()

    def look(self, *, more: bool = False) -> None:
        """Compute the present list again; `changed` or `failed` follows. more: from more images than before."""
        project = self._session.project
        if project is None or not self.mode or self.running:
            return
        if self._runs.refreshing:
            self._postponed = more
            return
        self._session.flush()
        rows = {key: self._session.rows.get(key) or ImageRow(key) for key in self._session.keys}
        most = 5 * AT_ONCE if more else AT_ONCE
        thread = _RankingThread(project, rows, self._runs.newest_usable, self.mode, most, self)
        thread.progressed.connect(self.progressed)
        self.begin(thread, QThread.Priority.LowPriority)

    # --- updates ----------------------------------------------------------------------------------

    def _runs_listed(self) -> None:
        more, self._postponed = self._postponed, None
        if more is not None:
            self.look(more=more)
        self.state_changed.emit()

    def on_finished(self, thread: JobThread, found: LabelNextList | LabelIssueList | Problem) -> None:
        stale, self._stale = self._stale, False
        if stale:
            pass  # another model has been trained meanwhile
        elif isinstance(found, LabelNextList):
            self.suggestions = found
            self._reasons = {entry.key: entry.whys for entry in found.entries}
        elif isinstance(found, LabelIssueList):
            self.doubts = found
            self._left = dict(found.issues)
        else:
            self.failed.emit(found)
        if self.mode and self.found is None and (stale or not isinstance(found, Problem)):
            self.look()  # the other list was selected meanwhile
        self._filter()
        self._list()

    def _model_changed(self, _: object) -> None:
        """Discard the lists after a training, as they depend on the model."""
        self.suggestions = self.doubts = None
        if self.running:
            self._stale = True
            self.cancel()
        elif self.mode:
            self.look()

    def _closed(self) -> None:
        self.close()
        self._stale = False
        self.mode, self.suggestions, self.doubts, self._postponed = "", None, None, None
        self._reasons, self._left, self._listed = {}, {}, []
        self.state_changed.emit()
        self.changed.emit()

    def _filter(self, *_: object) -> None:
        """Remove resolved label errors of the open image, and done images, from the list."""
        session, key = self._session, self._session.key
        if self.mode == "errors" and self.doubts is not None and key in self.doubts.issues and session.note is not None:
            note, mask = session.note, session.mask
            self._left[key] = tuple(
                issue
                for issue in self.doubts.issues[key]
                if not is_confirmed(issue, note.confirmed) and holds(issue, mask, note.verdict)
            )
        if self.mode:
            self._list()

    def _list(self) -> None:
        before, session = self._listed, self._session
        self._listed = []
        if session.project is not None and self.mode == "next" and self.suggestions is not None:
            self._listed = [entry.key for entry in self.suggestions.entries if self._waits(entry.key)]
        elif session.project is not None and self.mode == "errors" and self.doubts is not None:
            self._listed = [key for key in self.doubts.issues if self._left.get(key) or key == session.key]
        if self._listed != before or not self._listed:
            self.changed.emit()

    def _waits(self, key: str) -> bool:
        session = self._session
        return key == session.key or is_open(session.rows.get(key, ImageRow(key)), session.project)
