"""Merging and deleting classes: masks are rewritten in a worker thread with progress, cancellation and undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import ClassesChanging, Problem
from workbench.core.project import class_merge
from workbench.core.project.class_merge import ClassMergePlan, ClassMergeResult
from workbench.core.project.history import History
from workbench.core.project.project import BACKGROUND, Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.label import Label
from workbench.session.tasks import Task, TaskRunner

_SAMPLED = 500  # number of masks measured to estimate the disk space


@dataclass(frozen=True)
class MergeExtent:
    """Share of a project that some classes take. bytes: estimated disk space for the backup of their masks."""

    images: int
    regions: int
    pixels: int
    bytes: int = 0


class ClassMergeJob(QObject):
    """Merge or deletion of classes, one at a time. The open image cannot be painted on while it runs."""

    progressed = Signal(int, int)
    changed = Signal()  # start, end, or availability of undo
    ended = Signal(object, object)  # Plan, Done
    rewritten = Signal()  # mask files have changed
    history_changed = Signal()
    problem_met = Signal(object)

    def __init__(
        self, editor: Editor, saver: Autosave, listing: ImageList, classes: ClassList, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._editor, self._saver, self._listing, self._classes = editor, saver, listing, classes
        self._project: Project | None = None
        self.plan: ClassMergePlan | None = None  # running, interrupted, or done with a backup
        self.running = False
        self._fresh = False  # done since the project was opened: the next undo reverts it
        self._kept: tuple[History, dict] | None = None
        self._barred: list[tuple[Label, Problem | None]] = []
        self._task: Task | None = None
        self._tasks = TaskRunner(parent=self)

    def open(self, project: Project) -> None:
        """Load the plan of an interrupted change of classes, if there is one."""
        self._project = project
        try:
            self.plan = class_merge.load_plan(project)
        except Problem as problem:
            self.plan = None
            self.problem_met.emit(problem)
        self.changed.emit()

    # --- state ------------------------------------------------------------------------------------

    def extent(self, ids: set[int]) -> MergeExtent:
        """Return the extent of some classes according to the image list."""
        project, images, regions, pixels, size = self._project, 0, 0, 0, 0
        if project is None:
            return MergeExtent(0, 0, 0)
        for key, row in self._listing.rows.items():
            found = [number for id, number in row.counts if id in ids]
            if found:
                images += 1
                pixels += sum(found)
                regions += sum(number for id, number in row.regions if id in ids)
                if images <= _SAMPLED:
                    path = project.mask_path(key)
                    size += path.stat().st_size if path.exists() else 0
        return MergeExtent(images, regions, pixels, round(size * images / max(1, min(images, _SAMPLED))))

    @property
    def unfinished(self) -> bool:
        """True if an interrupted change can be finished or undone."""
        return self.plan is not None and self.plan.state != "done" and not self.running

    @property
    def can_undo_merge(self) -> bool:
        return self.plan is not None and not self.running and self._project.writable

    def can_undo(self) -> bool:
        """Return True if the change of classes is the last step, which undo would revert."""
        history = self._editor.history
        return self._fresh and self.can_undo_merge and history.next_undo is None

    # --- orders -----------------------------------------------------------------------------------

    def undo(self) -> bool:
        """Undo the change if it is the last step. Return True if it was."""
        self._editor.commit()
        if not self.can_undo():
            return False
        self.undo_merge()
        return True

    def start(self, removed: list[int], into: int = BACKGROUND) -> bool:
        """Merge classes into another one or into background. Return False and emit `problem_met` on failure."""
        if self.running or not self._flushed():
            return False
        try:
            self.plan = class_merge.begin(self._project, removed, into)
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        editor = self._editor
        self._kept = (editor.history, editor.contents)
        editor.history, editor.contents = History(), {}
        self._run()
        return True

    def resume(self) -> None:
        """Finish an interrupted change."""
        if self.unfinished and self._project.writable and self._flushed():
            if self.plan.state == "undoing":
                self.undo_merge()
            else:
                self._run()

    def undo_merge(self) -> None:
        """Restore the former masks and classes."""
        if not self.can_undo_merge or not self._flushed():
            return
        try:
            self.plan = class_merge.begin_undo(self._project, self.plan)
        except Problem as problem:
            self.problem_met.emit(problem)
            return
        self._classes.changed.emit()
        self._run()

    def cancel(self) -> None:
        """Stop and undo the part done so far."""
        if self._task is not None:
            self._task.finish_early()

    def close(self) -> None:
        """Stop without undoing; the change can be finished after the project is opened again."""
        self._tasks.stop()
        self._free()
        self._project, self.plan, self.running, self._kept, self._fresh = None, None, False, None, False

    # --- work -------------------------------------------------------------------------------------

    def _flushed(self) -> bool:
        if self._project is None:
            return False
        self._editor.finish_stroke()
        return self._saver.flush()

    def _run(self) -> None:
        project, plan, self.running = self._project, self.plan, True
        self.lock_open_image()
        work = class_merge.undo if plan.state == "undoing" else class_merge.apply_plan
        self.changed.emit()
        self._task = self._tasks.submit(
            lambda task: work(project, plan, _Sparse(task.report), task.cancelled),
            self._arrived,
            self._failed,
            on_progress=self.progressed.emit,
        )

    def _failed(self, problem: Problem) -> None:
        """Release the open image; the change can be finished later."""
        self.running = False
        self._free()
        self.problem_met.emit(problem)
        self.changed.emit()

    def _arrived(self, done: ClassMergeResult) -> None:
        plan, project = self.plan, self._project
        self.running = False
        self._free()
        try:
            if plan.state == "undoing":
                class_merge.forget(project)
                self._restore()
            elif not done.whole:
                self.undo_merge()
                return
            else:
                class_merge.settle(project, plan)
                self.plan, self._fresh = plan.model_copy(update={"state": "done"}), True
                if self._editor.class_id in plan.removed:
                    ids = [info.id for info in project.classes]
                    self._classes.choose(plan.into or (ids[0] if ids else BACKGROUND))
        except Problem as problem:
            self.problem_met.emit(problem)
            self.changed.emit()
            return
        except Exception:
            self.changed.emit()  # before the unexpected error is reported: the change can be finished later
            raise
        self._classes.changed.emit()
        for problem in done.left[:1]:
            self.problem_met.emit(problem)
        self.rewritten.emit()
        self.changed.emit()
        self.ended.emit(plan, done)
        self.history_changed.emit()

    def _restore(self) -> None:
        """Restore the undo history from before the change, unless steps were made after it."""
        editor, kept = self._editor, self._kept
        self.plan, self._kept, self._fresh = None, None, False
        if kept is not None and editor.history.next_undo is None:
            editor.history, editor.contents = kept

    # --- the open image ---------------------------------------------------------------------------

    def lock_open_image(self, _: str = "") -> None:
        """Forbid painting on the open image while masks are rewritten."""
        label = self._editor.label
        if self.running and label is not None and not isinstance(label.problem, ClassesChanging):
            self._barred.append((label, label.problem))
            label.problem = ClassesChanging()

    def _free(self) -> None:
        for label, problem in self._barred:
            label.problem = problem
        self._barred.clear()


class _Sparse:
    """Progress callback that forwards about 100 calls in total."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell = tell

    def __call__(self, done: int, total: int) -> None:
        if done == total or done % max(1, total // 100) == 0:
            self._tell(done, total)
