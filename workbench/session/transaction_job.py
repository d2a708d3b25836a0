"""Change of many files of the open project, in a worker thread: progress, undo, and the place on the undo stack."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project.file_transaction import FilePass, FileTransaction, dropped_text, prune
from workbench.core.project.project import Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.jobs import Job, ThinnedProgress
from workbench.session.label import LabelLock
from workbench.session.undo import Barrier


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
    dropped = Signal(object)  # message about older changes that can no longer be undone

    def __init__(
        self, editor: Editor, autosave: Autosave, classes: ClassList, locked: Problem, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._classes = editor, autosave, classes
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
        if not self.ready:
            return False
        self._editor.finish_stroke()
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
