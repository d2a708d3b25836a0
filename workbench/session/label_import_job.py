"""Import of labels or another project, in a worker thread: preview, progress, cancellation, undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, SignalInstance

from workbench.core.problems import LabelsImporting, NothingToImport, Problem
from workbench.core.project.file_transaction import FilePass, FileTransaction, changes, recover
from workbench.core.project.import_journal import ImportJournal
from workbench.core.project.project import Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.tasks import Task, ThinnedProgress
from workbench.session.transaction_job import TransactionJob
from workbench.session.verdict_steps import VerdictSteps

if TYPE_CHECKING:
    from workbench.core.project.import_account import ImportReport, ImportRequest
    from workbench.core.project.import_images import LabelFiles
    from workbench.core.project.import_plan import ImportPlan
    from workbench.core.project.label_merge import Keep, MergeReport

_TITLE = "import labels"


class LabelImportJob(TransactionJob):
    """Preview and execution of one import at a time. The open image cannot be painted on while files are written.

    activity: "reading" for a preview, "comparing" for a merge, "importing", "undoing" or "redoing"; "" if there is
    none.
    """

    planned = Signal(object)  # ImportPlan
    imported = Signal(object)  # ImportReport; canceled if nothing was imported
    merge_planned = Signal(object)  # MergeReport
    merged = Signal(object)  # MergeReport
    undone = Signal(object)  # FilePass
    redone = Signal(object)  # FilePass
    recovered = Signal(object)  # ImportRecord of an import that an earlier process had begun

    def __init__(
        self,
        editor: Editor,
        autosave: Autosave,
        classes: ClassList,
        verdict_steps: VerdictSteps,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(editor, autosave, classes, verdict_steps, LabelsImporting(), parent)
        self._stack = ExitStack()  # holds the files of the preview open
        self._files: LabelFiles | None = None
        self._next: tuple[Sequence[Path], ImportRequest] | None = None  # preview that follows the present one
        self.activity = ""

    def open(self, project: Project) -> None:
        """Finish an import or its undo that an earlier process had begun."""
        self._project = project
        if not project.writable:
            return
        try:
            newest = next(changes(project), None)
        except Problem as problem:
            self.problem_met.emit(problem)
            return
        state = "" if newest is None else newest.plan.state
        if isinstance(newest, ImportJournal) and state == "doing":
            self._write("recovering", newest, lambda _: self.recovered.emit(newest.plan))
        elif isinstance(newest, ImportJournal) and state == "undoing":
            self._restore(newest, forget=False)
        elif state in ("preparing", "undone"):
            self._begin("deleting", lambda _: recover(project), lambda _: None, self._failed)

    def close(self) -> None:
        """End without a result. Files that are being prepared are deleted; an import that is written is completed."""
        super().close()
        self.release()
        self._next = None
        self.activity = ""

    @property
    def locks(self) -> bool:
        return self.activity not in ("", "reading", "deleting")

    # --- preview ----------------------------------------------------------------------------------

    def preview(self, paths: Sequence[Path], request: ImportRequest) -> None:
        """Read the labels of a folder, an archive or several files; `planned` or `failed` follows.

        A running preview is canceled first. An archive stays unpacked until `release`.
        """
        from workbench.core.project.import_plan import plan_import

        if self.running:
            if self.activity == "reading":
                self._next = (paths, request)
                self.cancel()
            return
        project = self._project
        if project is None:
            return
        self._next = None

        def read(task: Task) -> ImportPlan | None:
            files = self._open_files(project, paths)
            return plan_import(project, files, request, progress=ThinnedProgress(task.report), stopped=task.cancelled)

        def fail(problem: Problem) -> None:
            if not self._start_next():
                self.failed.emit(problem)

        self._begin("reading", read, self._planned, fail, NothingToImport)

    def _open_files(self, project: Project, paths: Sequence[Path]) -> LabelFiles:
        from workbench.core.project.import_images import open_labels

        if self._files is None or self._files.paths != tuple(paths):
            self._stack.close()
            self._files = self._stack.enter_context(open_labels(project, paths))
        return self._files

    def _planned(self, plan: ImportPlan | None) -> None:
        if not self._start_next() and plan is not None:
            self.planned.emit(plan)

    def _start_next(self) -> bool:
        if self._next is None:
            return False
        self.preview(*self._next)
        return True

    @property
    def found(self) -> dict[str, int]:
        """Formats recognized in the files of the preview, best first, with their number of labels."""
        return {} if self._files is None else {format.name: count for format, count in self._files.found}

    def release(self) -> None:
        """Close the files of the preview."""
        if self.running and self.activity == "reading":
            self._next = None
            super().close()
            self.activity = ""
        self._files = None
        self._stack.close()

    # --- import, undo, redo -------------------------------------------------------------------------

    def start(self, paths: Sequence[Path], request: ImportRequest) -> bool:
        """Import; `imported` or `failed` follows. Return False if unsaved labels cannot be saved or a job runs."""
        project = self._project
        if project is None or not self._flushed():
            return False

        from workbench.core.project.importing import prepare_import

        def prepare(task: Task) -> tuple[ImportReport, ImportJournal | None]:
            files, progress = self._open_files(project, paths), ThinnedProgress(task.report)
            return prepare_import(project, files, request, progress=progress, stopped=task.cancelled)

        self._begin("importing", prepare, partial(self._prepared, self.imported), self._failed, NothingToImport)
        return True

    def preview_merge(self, root: Path, keep: Keep) -> None:
        """Compare with the project in `root`; `merge_planned` follows, or `failed`."""
        from workbench.core.project.label_merge import merge_project

        project = self._project
        if project is None or self.running or not self._saved():
            return

        def compare(task: Task) -> MergeReport:
            other, progress = Project.open(root, write=False), ThinnedProgress(task.report)
            return merge_project(project, other, keep=keep, dry_run=True, progress=progress, stopped=task.cancelled)

        self._begin("reading", compare, self.merge_planned.emit, self._failed)

    def merge(self, root: Path, keep: Keep) -> None:
        """Merge the project in `root`, as an import; `merged` follows, or `failed`."""
        from workbench.core.project.label_merge import prepare_merge

        project = self._project
        if project is None or not self._flushed():
            return

        def prepare(task: Task) -> tuple[MergeReport, ImportJournal | None]:
            other, progress = Project.open(root, write=False), ThinnedProgress(task.report)
            return prepare_merge(project, other, keep=keep, progress=progress, stopped=task.cancelled)

        self._begin("comparing", prepare, partial(self._prepared, self.merged), self._failed)

    def _prepared(self, done: SignalInstance, result: tuple[ImportReport | MergeReport, ImportJournal | None]) -> None:
        report, journal = result
        self._lock.release()
        if journal is None:
            done.emit(report)
            return

        def end(result: FilePass) -> None:
            report.leave_out(result.problems)
            self._push(_TITLE, journal)
            self._prune(journal.project)
            done.emit(report)

        self._write("importing", journal, end)

    def undo(self, change: FileTransaction) -> None:
        """Restore the project as before the import; `undone` follows."""
        if self._flushed():
            self._restore(change, forget=False)

    def _restore(self, change: FileTransaction, *, forget: bool) -> None:
        def end(result: FilePass) -> None:
            self._report_written()
            self.undone.emit(result)

        self.activity = "undoing"
        self._revert(change, end, forget=forget)

    def redo(self, change: FileTransaction) -> None:
        """Import again what was undone; `redone` follows."""
        if not self._flushed():
            return

        def end(result: FilePass) -> None:
            self._undo_stack.move_barrier_to_done()
            self.redone.emit(result)

        self._write("redoing", change, end)

    def _write(self, activity: str, change: FileTransaction, on_done: Callable[[FilePass], object]) -> None:
        """Write the prepared files. After a failure the project is restored."""

        def end(result: FilePass) -> None:
            self._report_written()
            on_done(result)

        def fail(problem: Problem) -> None:
            self._failed(problem)
            if change.plan.state == "doing":
                self._restore(change, forget=activity != "redoing")

        self.activity = activity
        self._run(change, end, fail)

    # --- common -------------------------------------------------------------------------------------

    def _begin(
        self,
        activity: str,
        work: Callable[[Task], object],
        on_done: Callable,
        on_failed: Callable[[Problem], object],
        problem: type[Problem] | None = None,
    ) -> None:
        self.activity = activity
        self.lock_open_image()
        as_problem = None
        if problem is not None:
            as_problem = lambda error: problem(path="", why=str(error) or type(error).__name__)  # noqa: E731
        self.begin(work, on_done, on_failed, on_progress=self.progressed.emit, as_problem=as_problem)

    def _end(self, callback: Callable, ending: object) -> None:
        self.activity = ""
        super()._end(callback, ending)

    def _failed(self, problem: Problem) -> None:
        self._lock.release()
        self.activity = ""
        self.failed.emit(problem)
        self._report_written()

    def _report_written(self) -> None:
        self._classes.changed.emit()
        self.written.emit()
