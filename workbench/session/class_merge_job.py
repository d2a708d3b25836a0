"""Merging and deleting classes: masks are rewritten in a worker thread with progress, cancellation and undo."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import ClassesChanging, Problem
from workbench.core.project import class_merge
from workbench.core.project.class_merge import ClassMergePlan, ClassMergeResult
from workbench.core.project.project import BACKGROUND, Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.jobs import ThinnedProgress
from workbench.session.label import LabelLock
from workbench.session.tasks import Task, TaskRunner
from workbench.session.undo import JobBarrier

_SAMPLED = 500  # number of masks measured to estimate the disk space


@dataclass(frozen=True)
class MergeExtent:
    """Share of a project that some classes take. nbytes: estimated disk space for the backup of their masks."""

    images: int
    regions: int
    pixels: int
    nbytes: int = 0


class ClassMergeJob(QObject):
    """Merge or deletion of classes, one at a time. The open image cannot be painted on while it runs."""

    progressed = Signal(int, int)
    changed = Signal()  # start, end, or availability of undo
    ended = Signal(object, object)  # ClassMergePlan, ClassMergeResult
    rewritten = Signal()  # mask files have changed
    problem_met = Signal(object)

    def __init__(
        self,
        editor: Editor,
        autosave: Autosave,
        image_list: ImageList,
        classes: ClassList,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._image_list, self._classes = editor, autosave, image_list, classes
        self._undo_stack = editor.undo_stack
        self._project: Project | None = None
        self.plan: ClassMergePlan | None = None  # running, interrupted, or done with a backup
        self.running = False
        self._lock = LabelLock(ClassesChanging())
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
        for key, row in self._image_list.rows.items():
            counts = [number for id, number in row.counts if id in ids]
            if counts:
                images += 1
                pixels += sum(counts)
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
        writable = self._project is not None and self._project.writable
        return self.plan is not None and not self.running and writable

    # --- requests ---------------------------------------------------------------------------------

    def start(self, removed: list[int], into: int = BACKGROUND) -> bool:
        """Merge classes into another one or into background. Return False and emit `problem_met` on failure."""
        project = self._project
        if self.running or project is None or not self._flush():
            return False
        try:
            plan = class_merge.begin(project, removed, into)
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        self._start_barrier()
        self._run(project, plan)
        return True

    def resume(self) -> None:
        """Finish an interrupted change."""
        project, plan = self._project, self.plan
        if project is None or plan is None or not self.unfinished or not project.writable or not self._flush():
            return
        if plan.state == "undoing":
            self.undo_merge()
            return
        if self._undo_stack.barrier is None:  # the change was started before the project was opened
            self._start_barrier()
        self._run(project, plan)

    def _start_barrier(self) -> None:
        def can_undo() -> bool:
            return self.can_undo_merge and self.plan is not None and self.plan.state != "doing"

        contents = self._undo_stack.contents
        self._undo_stack.start_barrier(JobBarrier("merge classes", contents, can_undo=can_undo, undo=self.undo_merge))

    def undo_merge(self) -> None:
        """Restore the former masks and classes."""
        project, plan = self._project, self.plan
        if project is None or plan is None or not self.can_undo_merge or not self._flush():
            return
        try:
            plan = class_merge.begin_undo(project, plan)
        except Problem as problem:
            self.problem_met.emit(problem)
            return
        self._classes.changed.emit()
        self._run(project, plan)

    def cancel(self) -> None:
        """Stop and undo the part done so far."""
        if self._task is not None:
            self._task.finish_early()

    def close(self) -> None:
        """Stop without undoing; the change can be finished after the project is opened again."""
        self._tasks.stop()
        self._lock.release()
        self._project, self.plan, self.running = None, None, False

    # --- work -------------------------------------------------------------------------------------

    def _flush(self) -> bool:
        self._editor.finish_stroke()
        return self._autosave.flush()

    def _run(self, project: Project, plan: ClassMergePlan) -> None:
        self.plan, self.running = plan, True
        self.lock_open_image()
        work = class_merge.undo if plan.state == "undoing" else class_merge.apply_plan
        self.changed.emit()
        self._task = self._tasks.submit(
            lambda task: work(project, plan, ThinnedProgress(task.report), task.cancelled),
            partial(self._finished, project, plan),
            self._failed,
            on_progress=self.progressed.emit,
        )

    def _failed(self, problem: Problem) -> None:
        """Release the open image; the change can be finished later."""
        self.running = False
        self._lock.release()
        self.problem_met.emit(problem)
        self.changed.emit()

    def _finished(self, project: Project, plan: ClassMergePlan, result: ClassMergeResult) -> None:
        self.running = False
        self._lock.release()
        try:
            if plan.state == "undoing":
                class_merge.delete_backup(project)
                self.plan = None
                self._undo_stack.remove_barrier()
            elif not result.complete:
                self.undo_merge()
                return
            else:
                class_merge.finalize(project, plan)
                self.plan = plan.model_copy(update={"state": "done"})
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
        for problem in result.problems[:1]:
            self.problem_met.emit(problem)
        self.rewritten.emit()
        self.changed.emit()
        self.ended.emit(plan, result)

    # --- the open image ---------------------------------------------------------------------------

    def lock_open_image(self, _: str = "") -> None:
        """Forbid painting on the open image while masks are rewritten."""
        if self.running:
            self._lock.lock(self._editor.label)
