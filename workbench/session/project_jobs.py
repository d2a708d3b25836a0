"""Jobs of the open project: reports, export of labels, packing, merge of another project, adoption of a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Signal

from workbench.core.messages import Message
from workbench.core.problems import CannotWrite, ModelFileRefused, NotPacked, Problem
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.session.session import Session
from workbench.session.tasks import Job, Task, ThinnedProgress

if TYPE_CHECKING:
    from workbench.core.adoption.network_file import AdoptionOptions
    from workbench.core.check.project_check import Finding
    from workbench.core.check.project_statistics import ProjectStatistics
    from workbench.core.project.formats.label_export import LabelExportOptions
    from workbench.core.project.label_merge import Keep, MergeReport

Result = TypeVar("Result")
Progress = Callable[[int, int], None]  # (done, total)
Cancelled = Callable[[], bool]
Compute = Callable[[Project, Progress, Cancelled], Result]


def check_project(project: Project, progress: Progress, cancelled: Cancelled) -> list[Finding]:
    """Return the findings of `core.check.project_check.check`."""
    from workbench.core.check.project_check import check

    return check(project, progress, cancelled)


def compute_statistics(project: Project, progress: Progress, cancelled: Cancelled) -> ProjectStatistics:
    """Return the statistics of `core.check.project_statistics.project_statistics`."""
    from workbench.core.check.project_statistics import project_statistics

    return project_statistics(project, progress, cancelled)


class ReportJob(Job, Generic[Result]):
    """Computation of a report: the project check, or its statistics.

    result: the last complete report, None if there is none. outdated: labels, classes or images have changed since.
    """

    changed = Signal()  # `result` or `outdated`

    def __init__(self, session: Session, compute: Compute[Result], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._compute = session, compute
        self.result: Result | None = None
        self.outdated = False
        self._keys: list[str] = []
        session.project_closed.connect(self._forget)
        session.images_listed.connect(self._listed)
        for signal in (
            session.label_saved,
            session.classes_changed,
            session.verdict_steps.stepped,
            session.class_merge.rewritten,
            session.sources_changed,
        ):
            signal.connect(self._outdate)

    def start(self) -> None:
        """Save unsaved labels and compute the report; `changed` follows, or `failed`."""
        project = self._session.project
        if project is None or self.running:
            return
        self._session.flush()
        self._session.verdict_steps.finish()
        self.outdated, self._keys = False, list(self._session.keys)

        def work(task: Task) -> Result | None:
            result = self._compute(project, ThinnedProgress(task.report), task.cancelled)
            return None if task.cancelled() else result

        self.begin(work, self._finish, on_progress=self.progressed.emit)

    def _finish(self, result: Result | None) -> None:
        if result is not None:
            self.result = result
        self.changed.emit()

    def _outdate(self, *_: object) -> None:
        if (self.result is not None or self.running) and not self.outdated:
            self.outdated = True
            self.changed.emit()

    def _listed(self, keys: list[str]) -> None:
        if keys != self._keys:
            self._outdate()

    def _forget(self) -> None:
        self.close()
        self.result, self.outdated = None, False
        self.changed.emit()


@dataclass(frozen=True)
class LabelExportRequest:
    """Request for an export. keys: images to export, None for all."""

    format: str
    out: Path
    keys: Sequence[str] | None = None
    options: LabelExportOptions | None = None


class LabelExportJob(Job):
    """One export of labels at a time. Files that were written remain after a cancellation."""

    ended = Signal(object)  # LabelExportReport

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, request: LabelExportRequest) -> bool:
        """Export; `ended` or `failed` follows. Return False if unsaved labels cannot be saved."""
        from workbench.core.project.exporting import export_labels

        project = self._session.project
        if project is None or self.running or not self._session.flush():
            return False
        self.begin(
            lambda task: export_labels(
                project,
                request.out,
                format=request.format,
                options=request.options,
                keys=request.keys,
                progress=ThinnedProgress(task.report),
                cancelled=task.cancelled,
            ),
            self.ended.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: CannotWrite(path=str(request.out), why=str(error) or type(error).__name__),
        )
        return True


class PackingJob(Job):
    """Packing or unpacking, one at a time. A canceled one leaves nothing behind."""

    packed = Signal(object)  # PackReport, None if canceled
    unpacked = Signal(object)  # path of the project, None if canceled

    def pack(self, project: Project, path: Path, *, runs: bool) -> None:
        """Write the project to `path`; its labels have to be saved before. `packed` follows, or `failed`."""
        from workbench.core.project.packing import pack

        self.begin(
            lambda task: pack(project, path, runs=runs, progress=task.report, stopped=task.cancelled),
            self.packed.emit,
            on_progress=self.progressed.emit,
        )

    def unpack(self, path: Path, folder: Path) -> None:
        """Unpack a project into a new folder below `folder`. `unpacked` follows, or `failed`."""
        from workbench.core.project.packing import unpack

        self.begin(
            lambda task: unpack(path, folder, progress=task.report, stopped=task.cancelled),
            self.unpacked.emit,
            on_progress=self.progressed.emit,
            as_problem=lambda error: NotPacked(path=str(path), why=str(error)),
        )


class ProjectMergeJob(Job):
    """Preview and merge of another project. The labels must not be edited during the merge: the window is blocked."""

    previewed = Signal(object)  # MergeReport
    merged = Signal(object)  # MergeReport

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session

    def preview(self, root: Path, keep: Keep) -> None:
        """Compute the report of a merge without changes; `previewed` follows, or `failed`."""
        self._start(root, keep, dry_run=True)

    def merge(self, root: Path, keep: Keep) -> None:
        """Merge the project in `root`; `merged` follows, or `failed`. It is one step of undo."""
        self._start(root, keep, dry_run=False)

    def _start(self, root: Path, keep: Keep, *, dry_run: bool) -> None:
        from workbench.core.project.label_merge import merge_project

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
        if report.undoable:
            self._session.label_import.add_written()
        self.merged.emit(report)

    def _failed(self, problem: Problem) -> None:
        self._reload()
        self.failed.emit(problem)

    def _reload(self) -> None:
        if self._session.project is not None:
            self._session.classes_changed.emit()
            self._session.reload()


class AdoptionJob(Job):
    """Adoption of a network that was trained elsewhere, one at a time. A canceled one leaves nothing behind."""

    adopted = Signal(object)  # Run, None if canceled

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        session.project_closed.connect(self.close)

    def start(self, path: Path, options: AdoptionOptions) -> None:
        """Add the network in a file to the open project; `adopted` follows, or `failed`."""
        from workbench.core.adoption.adopted_run import AdoptionCancelled, adopt

        project = self._session.project
        if project is None or self.running or not self._session.flush():
            return

        def work(task: Task) -> Run | None:
            try:
                return adopt(project, path, options, cancelled=task.cancelled)
            except AdoptionCancelled:
                return None

        self.begin(work, self._finish, as_problem=lambda error: ModelFileRefused(path=str(path), why=Message.of(error)))

    def _finish(self, run: Run | None) -> None:
        if run is not None:
            self._session.classes.changed.emit()
        self.adopted.emit(run)
