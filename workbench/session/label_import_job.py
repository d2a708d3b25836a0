"""Import of labels into the open project, in a worker thread: preview, progress, cancellation, undo and redo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import LabelsImporting, NothingToImport, Problem
from workbench.core.project import import_files, import_journal
from workbench.core.project.import_files import ImportPass
from workbench.core.project.import_journal import ImportRecord
from workbench.core.project.project import Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.jobs import Job, ThinnedProgress
from workbench.session.label import LabelLock
from workbench.session.tasks import Task
from workbench.session.undo import JobBarrier

if TYPE_CHECKING:
    from workbench.core.project.import_plan import ImportPlan
    from workbench.core.project.import_request import ImportReport, ImportRequest
    from workbench.core.project.label_files import LabelFiles


class LabelImportJob(Job):
    """Preview and execution of one import at a time. The open image cannot be painted on while files are written.

    activity: "reading" for a preview, "importing", "undoing" or "redoing"; "" if there is none.
    """

    planned = Signal(object)  # ImportPlan
    imported = Signal(object)  # ImportReport; canceled if nothing was imported
    undone = Signal(object)  # ImportPass
    redone = Signal(object)  # ImportPass
    recovered = Signal(object)  # ImportRecord of an import that an earlier process had begun
    written = Signal()  # files of the project have changed
    problem_met = Signal(object)

    def __init__(self, editor: Editor, autosave: Autosave, classes: ClassList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._classes = editor, autosave, classes
        self._undo_stack = editor.undo_stack
        self._lock = LabelLock(LabelsImporting())
        self._project: Project | None = None
        self._record: ImportRecord | None = None
        self._stack = ExitStack()  # holds the files of the preview open
        self._files: LabelFiles | None = None
        self._next: tuple[Sequence[Path], ImportRequest] | None = None  # preview that follows the present one
        self.activity = ""

    def open(self, project: Project) -> None:
        """Finish an import or its undo that an earlier process had begun."""
        self._project = project
        if not project.writable or not self._load_record(project):
            return
        state = self._record.state if self._record is not None else ""
        if state == "doing":
            self._write("recovering", lambda _: self.recovered.emit(self._record))
        elif state == "undoing":
            self.undo_import()
        elif import_files.new_folder(project).exists() or (
            state != "done" and import_files.last_folder(project).exists()
        ):
            self._record, recover = None, lambda _: import_journal.recover(project)
            self._begin("deleting", recover, self._recovered, self._failed)

    def _recovered(self, record: ImportRecord | None) -> None:
        self._lock.release()
        self._record = record

    def _load_record(self, project: Project) -> bool:
        try:
            self._record = import_journal.load_record(project)
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        return True

    def close(self) -> None:
        """End without a result. Files that are being prepared are deleted; an import that is written is completed."""
        super().close()
        self._lock.release()
        self.release()
        self._project = self._record = self._next = None
        self.activity = ""

    @property
    def ready(self) -> bool:
        """True if an import, undo or redo can start."""
        return self._project is not None and self._project.writable and not self.running

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
        from workbench.core.project.label_files import open_labels

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

        def prepare(task: Task) -> tuple[ImportReport, ImportRecord | None]:
            files, progress = self._open_files(project, paths), ThinnedProgress(task.report)
            return prepare_import(project, files, request, progress=progress, stopped=task.cancelled)

        self._begin("importing", prepare, self._prepared, self._failed, NothingToImport)
        return True

    def _prepared(self, result: tuple[ImportReport, ImportRecord | None]) -> None:
        report, record = result
        self._lock.release()
        if record is None:  # the last import can still be undone
            self.imported.emit(report)
            return
        self._record = record

        def end(_: ImportPass) -> None:
            self._start_barrier()
            self.imported.emit(report)

        self._write("importing", end)

    def add_written(self) -> None:
        """Put an import that was written elsewhere, such as a merge of projects, on the undo stack."""
        if self._project is not None and self._load_record(self._project):
            self._start_barrier()

    def _start_barrier(self) -> None:
        barrier = JobBarrier(
            "import labels",
            self._undo_stack.contents,
            can_undo=lambda: self.ready,
            undo=self.undo_import,
            redo=self.redo_import,
        )
        self._undo_stack.start_barrier(barrier)

    def undo_import(self) -> None:
        """Restore the project as before the import; `undone` follows."""
        project, record = self._project, self._record
        if project is None or record is None or not self._flushed():
            return
        try:
            self._record = record = import_journal.begin_undo(project, record)
        except Problem as problem:
            self.problem_met.emit(problem)
            return
        work = lambda task: import_files.restore_files(project, ThinnedProgress(task.report))  # noqa: E731
        self._begin("undoing", work, self._restored, self._failed)

    def _restored(self, result: ImportPass) -> None:
        self._lock.release()
        try:
            self._record = import_journal.finish_undo(*self._current())
        except Problem as problem:
            self._failed(problem)
            return
        if self._record is not None and self._record.state == "undone":  # not one that could not be written
            self._undo_stack.move_barrier_to_undone("import labels")
        self._report_written()
        self.undone.emit(result)

    def redo_import(self) -> None:
        """Import again what was undone; `redone` follows."""
        if self._record is None or not self._flushed():
            return

        def end(result: ImportPass) -> None:
            self._undo_stack.move_barrier_to_done()
            self.redone.emit(result)

        self._write("redoing", end)

    def _write(self, activity: str, on_done: Callable[[ImportPass], object]) -> None:
        """Write the prepared files. After a failure the project is restored."""
        project, record = self._current()
        try:
            self._record = import_journal.begin(project, record)
        except Problem as problem:
            self._load_record(project)
            self._failed(problem)
            return

        def end(result: ImportPass) -> None:
            self._lock.release()
            try:
                self._record = import_journal.finish(*self._current())
            except Problem as problem:
                self._failed(problem)
                return
            self._report_written()
            on_done(result)

        def fail(problem: Problem) -> None:
            self._failed(problem)
            self.undo_import()

        self._begin(activity, lambda task: import_files.write_files(project, ThinnedProgress(task.report)), end, fail)

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
        if activity != "reading":
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
        self.failed.emit(problem)
        self._report_written()

    def _report_written(self) -> None:
        self._classes.changed.emit()
        self.written.emit()

    def _current(self) -> tuple[Project, ImportRecord]:
        """Return the open project and the import that is written or undone."""
        assert self._project is not None and self._record is not None
        return self._project, self._record

    def _flushed(self) -> bool:
        if not self.ready:
            return False
        self._editor.finish_stroke()
        return self._autosave.flush()

    def lock_open_image(self, _: str = "") -> None:
        """Forbid painting on the open image while files are written."""
        if self.activity not in ("", "reading", "deleting"):
            self._lock.lock(self._editor.label)
