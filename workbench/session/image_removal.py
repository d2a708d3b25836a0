"""Removal of images and sources from the open project, with undo; a worker thread moves the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project import trash
from workbench.core.project.project import Project
from workbench.core.project.trash import Removal
from workbench.session.autosave import Autosave
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.open_image import OpenImage
from workbench.session.tasks import Job, Task
from workbench.session.undo import UndoCommand
from workbench.session.verdict_steps import VerdictSteps

Work = Callable[[Project, Callable[[int, int], None]], Removal]


class ImagesRemoved(UndoCommand):
    """Removal of images, of a source or of label files, by `work`. Undo and redo run in the background."""

    def __init__(self, removal: ImageRemoval, work: Work, plan: Removal) -> None:
        self._removal, self.work, self.plan = removal, work, plan
        self.removed = True
        self.title = "remove source" if plan.source else "remove images" if plan.keys else "remove labels"
        self.nbytes = 400 + 100 * (len(plan.keys) + len(plan.files))

    def can_undo(self) -> bool:
        return not self._removal.running

    def undo(self) -> bool:
        if self.removed:
            self._removal.restore(self.plan, self)
        return not self.removed

    def redo(self) -> bool:
        if not self.removed:
            self._removal.repeat(self)
        return self.removed


class ImageRemoval(Job):
    """Removal and restoration of images. The labels must not be edited while it runs: the window is blocked."""

    removed = Signal(object)  # Removal
    restored = Signal(object, object)  # Removal, paths of copies of files whose places were taken
    sources_changed = Signal()
    problem_met = Signal(object)

    def __init__(
        self,
        editor: Editor,
        autosave: Autosave,
        image_list: ImageList,
        current: OpenImage,
        verdict_steps: VerdictSteps,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._image_list = editor, autosave, image_list
        self._current, self._verdict_steps, self._undo_stack = current, verdict_steps, editor.undo_stack
        self._project: Project | None = None

    def open(self, project: Project | None) -> None:
        """Revert a removal that the end of the process has interrupted."""
        self._project = project
        if project is not None and project.writable:
            try:
                trash.recover(project)
            except Problem as problem:
                self.problem_met.emit(problem)

    # --- requests ---------------------------------------------------------------------------------

    def remove_images(self, keys: Sequence[str]) -> None:
        """Remove images with their labels; own image files go to the trash of the project."""
        self._remove(lambda project, report: trash.remove_images(project, list(keys), report), set(keys))

    def remove_source(self, name: str) -> None:
        """Remove an external source with the labels of its images."""
        gone = {key for key in self._image_list.keys if key.startswith(f"@{name}/")}
        self._remove(lambda project, report: trash.remove_source(project, name, report), gone)

    def remove_labels(self, files: Sequence[str]) -> None:
        """Remove label files, such as "masks/a.png.png", that belong to no image or are unreadable."""
        self._remove(lambda project, _: trash.strays_removed(project, list(files)), set())

    def restore(self, plan: Removal, command: ImagesRemoved | None = None) -> None:
        """Restore a removal. command: that of the undo stack, None for one of an earlier session."""

        def done(kept: list[Path]) -> None:
            if command is not None:
                command.removed = False
                self._follow(command)
            self._update(plan)
            if plan.keys and plan.source is None:
                self._current.open(plan.keys[0])
            self.restored.emit(plan, kept)

        self._start(lambda project, report: trash.restore(project, plan.name, report), done)

    def repeat(self, command: ImagesRemoved) -> None:
        """Make a removal again that was undone."""

        def done(new: Removal) -> None:
            command.plan, command.removed = new, True
            self._follow(command)
            self._update(new)
            self.removed.emit(new)

        self._start(command.work, done, set(command.plan.keys))

    def forget(self, plan: Removal) -> None:
        """Drop the undo step of a removal whose files were deleted permanently."""
        self._undo_stack.drop(lambda command: isinstance(command, ImagesRemoved) and command.plan.name == plan.name)

    # --- work -------------------------------------------------------------------------------------

    def _start(self, work: Callable, on_done: Callable, gone: set[str] | None = None) -> None:
        """Save, leave the images in `gone`, and start `work(project, report)`."""
        project = self._project
        self._editor.finish_stroke()
        if project is None or self.running or not self._autosave.flush():
            return
        self._verdict_steps.finish()
        self._current.leave_images(gone or set())

        def run(task: Task):
            return work(project, task.report)

        self.begin(run, on_done, self._failed, on_progress=self.progressed.emit)

    def _remove(self, work: Work, gone: set[str]) -> None:
        def done(plan: Removal) -> None:
            if plan.keys or plan.files or plan.source:
                self._undo_stack.push(ImagesRemoved(self, work, plan))
            self._update(plan)
            self.removed.emit(plan)

        self._start(work, done, gone)

    def _follow(self, command: ImagesRemoved) -> None:
        """Complete the undo or redo that has started the work, which has ended."""
        stack = self._undo_stack
        if not command.removed and stack.next_undo is command:
            stack.undo()
        elif command.removed and stack.next_redo is command:
            stack.redo()

    def _update(self, plan: Removal) -> None:
        if plan.source is not None:
            self.sources_changed.emit()
        self._refresh()

    def _failed(self, problem: Problem) -> None:
        self._refresh()
        self.problem_met.emit(problem)

    def _refresh(self) -> None:
        if self._project is not None:
            self._image_list.refresh(self._project)
