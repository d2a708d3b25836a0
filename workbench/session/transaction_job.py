"""Change of many files of the open project, in a worker thread: progress, undo, and the place on the undo stack.

Merging and deleting classes: masks are rewritten in a worker thread with progress, cancellation and undo.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import ClassesChanging, Problem
from workbench.core.project.class_merge import ClassMerge, ClassMergePlan, newest_merge
from workbench.core.project.file_transaction import FilePass, FileTransaction, dropped_text, prune
from workbench.core.project.project import BACKGROUND, Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.label import LabelLock
from workbench.session.tasks import Job, ThinnedProgress
from workbench.session.undo import Barrier
from workbench.session.verdict_steps import VerdictSteps


class ChangeBarrier(Barrier):
    """A change on the undo stack. Its job moves it there at the end of an undo or redo."""

    def __init__(self, job: TransactionJob, title: str, change: FileTransaction, contents: dict[str, str]) -> None:
        super().__init__(contents)
        self.title, self.change = title, change
        self._job = job

    def can_undo(self) -> bool:
        return self._job.can_undo(self.change)

    def undo(self) -> bool:
        self._job.undo(self.change)
        return False

    def redo(self) -> bool:
        self._job.redo(self.change)
        return False


class TransactionJob(Job):
    """Owner of one change at a time. The open image cannot be painted on while files are written."""

    problem_met = Signal(object)
    written = Signal()  # files of the project have changed
    dropped = Signal(object)  # message about older changes that can no longer be undone

    def __init__(
        self,
        editor: Editor,
        autosave: Autosave,
        classes: ClassList,
        verdict_steps: VerdictSteps,
        locked: Problem,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._classes = editor, autosave, classes
        self._verdict_steps = verdict_steps
        self._undo_stack = editor.undo_stack
        self._lock = LabelLock(locked)
        self._project: Project | None = None

    def close(self) -> None:
        super().close()
        self.tasks.stop()
        self._lock.release()
        self._project = None

    @property
    def ready(self) -> bool:
        """True if a change can start."""
        return self._project is not None and self._project.writable and not self.running

    @property
    def locks(self) -> bool:
        """True while files of the project are written."""
        return self.running

    def can_undo(self, change: FileTransaction) -> bool:
        return self.ready and change.plan.state == "done"

    def undo(self, change: FileTransaction) -> None:
        """Undo a change, in a worker thread."""

    def redo(self, change: FileTransaction) -> None:
        """Make a change again that was undone, in a worker thread."""

    def lock_open_image(self, _: str = "") -> None:
        """Forbid painting on the open image while files are written."""
        if self.locks:
            self._lock.lock(self._editor.label)

    def _flushed(self) -> bool:
        return self.ready and self._saved()

    def _saved(self) -> bool:
        self._editor.finish_stroke()
        self._verdict_steps.finish()
        return self._autosave.flush()

    def _run(
        self,
        change: FileTransaction,
        on_done: Callable[[FilePass], object],
        on_failed: Callable[[Problem], object],
        *,
        undo: bool = False,
        stoppable: bool = False,
    ) -> None:
        """Make or undo a change. A pass that was stopped is not finished."""
        begin, work, finish = (
            (change.begin_undo, change.undo, change.finish_undo) if undo else (change.begin, change.do, change.finish)
        )

        def fail(problem: Problem) -> None:
            self._lock.release()
            on_failed(problem)

        def end(result: FilePass) -> None:
            try:
                if result.complete:
                    finish()
            except Problem as problem:
                fail(problem)
                return
            self._lock.release()
            on_done(result)

        try:
            begin()
        except Problem as problem:
            fail(problem)
            return
        self.begin(
            lambda task: work(ThinnedProgress(task.report), task.cancelled if stoppable else lambda: False),
            end,
            fail,
            on_progress=self.progressed.emit,
        )
        self.lock_open_image()

    def _revert(
        self,
        change: FileTransaction,
        on_done: Callable[[FilePass], object],
        *,
        forget: bool = False,
        stoppable: bool = False,
    ) -> None:
        """Undo a change, here and on the undo stack. forget: it cannot be repeated, and is deleted."""
        on_stack = self._is_on_stack(change)

        def end(result: FilePass) -> None:
            if result.complete:
                try:
                    if forget:
                        change.delete()
                except Problem as problem:
                    self.problem_met.emit(problem)
                if on_stack:
                    self._undo_stack.remove_barrier(to_undone=not forget)
            on_done(result)

        self._run(change, end, self._failed, undo=True, stoppable=stoppable)

    def _failed(self, problem: Problem) -> None:
        """Report the end of a change that could not be made or undone."""
        self.problem_met.emit(problem)

    def _push(self, title: str, change: FileTransaction) -> None:
        """Put a change on the undo stack."""
        self._undo_stack.start_barrier(ChangeBarrier(self, title, change, self._undo_stack.contents))

    def _is_on_stack(self, change: FileTransaction) -> bool:
        barrier = self._undo_stack.barrier
        return isinstance(barrier, ChangeBarrier) and barrier.change.folder == change.folder

    def _prune(self, project: Project) -> None:
        """Delete the oldest changes above the limits, and what precedes them on the undo stack."""

        def drop(count: int) -> None:
            if count:
                self._undo_stack.drop_barriers(
                    lambda barrier: isinstance(barrier, ChangeBarrier) and not barrier.change.folder.exists()
                )
                self.dropped.emit(dropped_text(count))

        self.tasks.submit(lambda _: prune(project), drop, self.problem_met.emit)


class ClassMergeJob(TransactionJob):
    """Merge or deletion of classes, one at a time. change: running, interrupted, or the newest of the project."""

    changed = Signal()  # start, end, or availability of undo
    ended = Signal(object, object)  # ClassMergePlan, FilePass

    def __init__(
        self,
        editor: Editor,
        autosave: Autosave,
        classes: ClassList,
        verdict_steps: VerdictSteps,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(editor, autosave, classes, verdict_steps, ClassesChanging(), parent)
        self.change: ClassMerge | None = None

    def open(self, project: Project) -> None:
        """Load an interrupted change of classes, if there is one."""
        self._project = project
        self._load()

    def _load(self) -> None:
        self.change = None
        try:
            self.change = None if self._project is None else newest_merge(self._project)
        except Problem as problem:
            self.problem_met.emit(problem)
        self.changed.emit()

    def close(self) -> None:
        """Stop without undoing; the change can be finished after the project is opened again."""
        super().close()
        self.change = None

    # --- state ------------------------------------------------------------------------------------

    @property
    def plan(self) -> ClassMergePlan | None:
        return None if self.change is None else self.change.plan

    @property
    def unfinished(self) -> bool:
        """True if an interrupted change can be finished or undone."""
        return self.plan is not None and self.plan.state != "done" and not self.running

    @property
    def can_undo_merge(self) -> bool:
        """True if the newest change of the project is one of classes."""
        if self.change is None or not self.ready:
            return False
        return self._undo_stack.barrier is None or self._is_on_stack(self.change)

    # --- requests ---------------------------------------------------------------------------------

    def start(self, removed: list[int], into: int = BACKGROUND) -> bool:
        """Merge classes into another one or into background. Return False and emit `problem_met` on failure."""
        project = self._project
        if self.running or project is None or not self._saved():
            return False
        try:
            change = ClassMerge.prepare(project, removed, into)
            change.begin()
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        self._make(change)
        return True

    def resume(self) -> None:
        """Finish an interrupted change."""
        change = self.change
        if change is None or not self.unfinished or not self._flushed():
            return
        if change.plan.state == "undoing":
            self.undo(change)
        else:
            self._make(change)

    def undo_merge(self) -> None:
        """Restore the former masks and classes."""
        if self.change is not None:
            self.undo(self.change)

    def undo(self, change: FileTransaction) -> None:
        if not self._flushed() or not isinstance(change, ClassMerge):
            return
        self.change = change

        def end(result: FilePass) -> None:
            self._load()
            self._finished(change.plan, result)

        self._revert(change, end, forget=True, stoppable=True)
        self._classes.changed.emit()
        self.changed.emit()

    # --- work -------------------------------------------------------------------------------------

    def _make(self, change: ClassMerge) -> None:
        self.change = change
        if not self._is_on_stack(change):
            self._push("merge classes", change)

        def end(result: FilePass) -> None:
            if not result.complete:
                self.undo(change)
                return
            if self._editor.class_id in change.plan.removed:
                ids = [info.id for info in change.project.classes]
                self._classes.choose(change.plan.into or (ids[0] if ids else BACKGROUND))
            self._prune(change.project)
            self._finished(change.plan, result)

        self._run(change, end, self._failed, stoppable=True)
        self.changed.emit()

    def _failed(self, problem: Problem) -> None:
        """Report a problem; the change can be finished later."""
        super()._failed(problem)
        self.changed.emit()

    def _finished(self, plan: ClassMergePlan, result: FilePass) -> None:
        self._classes.changed.emit()
        for problem in result.problems[:1]:
            self.problem_met.emit(problem)
        self.written.emit()
        self.changed.emit()
        self.ended.emit(plan, result)
