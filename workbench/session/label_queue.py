"""Label queue and list of suspected label errors: computed in a background thread, updated as images are labeled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import ModelUnusable, Problem
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.tasks import Job, Task
from workbench.session.training.shown_runs import RunList
from workbench.session.training.training_control import TrainingControl

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

    def __init__(
        self, session: Session, training: TrainingControl, runs: RunList, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
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
        session.image_opened.connect(self._filter)
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
