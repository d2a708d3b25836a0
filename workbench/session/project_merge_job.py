"""Merging of another project into the open one: preview, then the merge, in a thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal

from workbench.core.problems import Problem
from workbench.core.project.label_merge import Keep, MergeReport, merge_project
from workbench.core.project.project import Project
from workbench.session.session import Session
from workbench.session.tasks import Job, Task


class ProjectMergeJob(Job):
    """Preview and merge of another project. The labels must not be edited during the merge: the window is blocked."""

    progressed = Signal(int, int)
    previewed = Signal(object)  # MergeReport
    merged = Signal(object)  # MergeReport

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session

    def preview(self, root: Path, keep: Keep) -> None:
        """Compute the report of a merge without changes; `previewed` follows, or `failed`."""
        self._start(root, keep, dry_run=True)

    def merge(self, root: Path, keep: Keep) -> None:
        """Merge the project in `root`; `merged` follows, or `failed`. It may be canceled, and repeated."""
        self._start(root, keep, dry_run=False)

    def _start(self, root: Path, keep: Keep, *, dry_run: bool) -> None:
        session, project = self._session, self._session.project
        if project is None or self.running or not session.flush():
            return
        session.verdict_steps.finish()

        def work(task: Task) -> MergeReport:
            other = Project.open(root, write=False)
            return merge_project(
                project, other, keep=keep, dry_run=dry_run, progress=task.report, stopped=task.cancelled
            )

        on_done = self.previewed.emit if dry_run else self._merged
        self.begin(work, on_done, self._failed, on_progress=self.progressed.emit)

    def _merged(self, report: MergeReport) -> None:
        self._reload()
        self.merged.emit(report)

    def _failed(self, problem: Problem) -> None:
        self._reload()
        self.failed.emit(problem)

    def _reload(self) -> None:
        if self._session.project is not None:
            self._session.classes_changed.emit()
            self._session.reload()
