"""Session: one open project, one open image, its label. Methods are requests; signals report results.

Availability of the project folder: detects when it is missing or locked by another program, and when it is back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from workbench.core.problems import CannotWrite, Problem, ProjectGone, ProjectLocked, ProjectTaken, UnsavedLabels
from workbench.core.project.annotation import Note
from workbench.core.project.history import Patch
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project, forget_source, locate_source
from workbench.core.project.project_folder import FolderKind
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor, LabelCopier
from workbench.session.image_list import ImageList
from workbench.session.image_removal import ImageRemoval
from workbench.session.label import Saved, noted_row, saved_row
from workbench.session.label_import_job import LabelImportJob
from workbench.session.open_image import ImageLoader, ImageNotes, OpenImage
from workbench.session.tasks import call_at_end
from workbench.session.transaction_job import ClassMergeJob
from workbench.session.undo import MaskEdit, UndoStack
from workbench.session.verdict_steps import AreaSteps, VerdictSteps


class ProjectWatch(QObject):
    """Watch over the project folder. problem: reason why the open project cannot be written; None if it can."""

    changed = Signal()  # the problem, or the number of unsaved changes
    returned = Signal()  # the missing folder is back in its place
    problem_met = Signal(object)

    def __init__(self, autosave: Autosave, parent: QObject | None = None, *, retry: float = 5.0) -> None:
        super().__init__(parent)
        self.problem: CannotWrite | None = None
        self._autosave = autosave
        self._project: Project | None = None
        self._timer = QTimer(self, interval=round(retry * 1000))
        self._timer.timeout.connect(self.check)

    def open(self, project: Project) -> None:
        self._project = project

    def close(self) -> None:
        self._timer.stop()
        self._project = None
        self._set(None)

    def on_problem(self, problem: object) -> None:
        """Handle a failed write: watch the folder from now on if it is missing or locked."""
        if isinstance(problem, (ProjectGone, ProjectTaken)) and self._project is not None:
            self._set(problem)

    def check(self) -> bool:
        """Check whether the project can be written again, and save then. Return True if it can."""
        if self._project is None or self.problem is None:
            return True
        try:
            self._project.need_write("")
        except Problem as problem:
            self.on_problem(problem)
            return False
        missing = isinstance(self.problem, ProjectGone)
        self._set(None)
        self._autosave.retry()
        if missing:
            self.returned.emit()
        return True

    def relocate(self, root: Path) -> bool:
        """Continue in the folder to which the project was moved, and save there. Return False on failure."""
        if self._project is None:
            return False
        try:
            self._project.relocate(root)
            self._project.need_write("")
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        self._autosave.retry()
        return self._autosave.flush()

    def refresh(self) -> None:
        """Report that something was changed or saved."""
        if self.problem is not None:
            self.changed.emit()

    def _set(self, problem: CannotWrite | None) -> None:
        before, self.problem = self.problem, problem
        if isinstance(problem, ProjectGone):
            self._timer.start()
        else:
            self._timer.stop()
        if problem is not before:
            self.changed.emit()


Unsaved = Literal["refuse", "journal", "discard"]


class SessionParts(QObject):
    """Base class of the session: its parts, with signals of their own, and the one open project, or none.

    Methods never raise a Problem: they emit `problem_met`.
    """

    project_opened = Signal()
    project_closed = Signal()
    note_changed = Signal(object)  # key
    label_saved = Signal(object)  # key
    history_changed = Signal()  # the undo stack, or whether undo is possible
    sources_changed = Signal()  # image folders, or their availability
    problem_met = Signal(object)

    def __init__(
        self, parent: QObject | None = None, *, save_delay: float = 0.5, retry: float = 5.0, cache: int = 512 << 20
    ) -> None:
        super().__init__(parent)
        self.project: Project | None = None
        self.undo_stack = UndoStack(self)
        self.editor = Editor(self.undo_stack, self)
        self.autosave = Autosave(self, delay=save_delay, retry=retry)
        self.folder = ProjectWatch(self.autosave, self, retry=retry)
        self.image_loader = ImageLoader(self.autosave.unsaved, self, limit=cache)
        self.image_list = ImageList(self)
        self.current = OpenImage(self.image_list, self.image_loader, self.editor, self.undo_stack, self)
        self.label_copier = LabelCopier(self.editor, self)
        self.classes = ClassList(self.editor, self)
        self.notes = ImageNotes(self.editor, self.autosave, self.classes, self)
        self.verdict_steps = VerdictSteps(self.editor, self.autosave, self.image_list, self.classes, self.notes, self)
        writers = self.editor, self.autosave, self.classes, self.verdict_steps
        self.class_merge = ClassMergeJob(*writers, self)
        self.label_import = LabelImportJob(*writers, self)
        self.areas = AreaSteps(self.undo_stack, self)
        parts = self.editor, self.autosave, self.image_list, self.current, self.verdict_steps
        self.removal = ImageRemoval(*parts, self)
        self._connect()
        call_at_end(self.end)

    def _connect(self) -> None:
        for part in vars(self).values():
            if hasattr(part, "problem_met"):
                part.problem_met.connect(self.problem_met)
        self.notes.changed.connect(self._note_changed)
        self.editor.note_changed.connect(self._note_changed)
        self.editor.committed.connect(self.autosave.record_patch)
        self.editor.committed.connect(self.folder.refresh)
        self.autosave.saved.connect(self._label_saved)
        self.current.requested.connect(self.verdict_steps.wait_for)
        self.image_loader.loaded.connect(self.image_list.mark_opened)
        self.image_loader.failed.connect(self.image_list.mark_broken)
        self.folder.returned.connect(self.current.read_again)
        self.removal.sources_changed.connect(self.sources_changed)
        for job in (self.class_merge, self.label_import):
            self.current.opened.connect(job.lock_open_image)
            job.written.connect(self.reload)
        self.problem_met.connect(self.folder.on_problem)
        self.undo_stack.changed.connect(self.history_changed)
        self.class_merge.changed.connect(self.history_changed)
        self.label_import.state_changed.connect(self.history_changed)
        self.autosave.state_changed.connect(self.folder.refresh)

    # --- open -------------------------------------------------------------------------------------

    def create_project(
        self,
        root: Path | str,
        images: Path | str | None = None,
        classes: Sequence[str] = (),
        verdicts: Sequence[str] = (),
    ) -> bool:
        """Create a project and open it. Return False on failure or if labels of the open project cannot be saved."""
        self.removal.close()
        if not self._all_saved():
            return False
        try:
            project = Project.create(root, images=images, classes=list(classes), verdicts=list(verdicts))
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        return self._switch_to(project)

    def open_project(self, root: Path | str, write: bool = True, identity: FolderKind | None = None) -> bool:
        """Open a project; read-only, with `problem_met`, if it is locked or cannot be written.

        identity: the answer to an earlier CopyOrMoved, see `Project.open`.

        Return False on failure or if labels of the open project cannot be saved; that project then stays open.
        """
        self.removal.close()
        root = Path(root).absolute()
        if self.project is not None and self.project.root == root:
            # The content of the rescue journal is recovered by the opening that follows.
            rescued = not self.project.writable and self.autosave.rescued
            if not self.close_project("journal" if rescued else "refuse"):
                return False
        try:
            try:
                project = Project.open(root, write=write, identity=identity)
            except ProjectLocked as problem:
                self.problem_met.emit(problem)
                project = Project.open(root, write=False)
            except CannotWrite as problem:
                project = Project.open(root, write=False)
                project.write_problem = problem
                self.problem_met.emit(project.read_only("project.json"))
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        return self._switch_to(project)

    def find_folder(self, root: Path | str) -> bool:
        """Continue with the open project in `root`, to which it was moved; unsaved changes are saved there.

        Return False, with a problem, if there is no project or another one, or it cannot be written.
        """
        self.editor.finish_stroke()
        if self.project is None or not self.folder.relocate(Path(root)):
            return False
        key, undo_state = self.current.key, self.undo_stack.state
        opened = self.open_project(self.project.root, identity="moved")
        self.undo_stack.state = undo_state
        if key is not None:
            self.current.open(key)
        return opened

    def _switch_to(self, project: Project) -> bool:
        if not self.close_project():
            project.close()
            return False
        self.undo_stack.clear()
        self.project = project
        for part in (self.folder, self.editor, self.image_loader):
            part.open(project)
        recovered = self.autosave.open(project)
        for part in (self.classes, self.verdict_steps, self.class_merge, self.label_import, self.areas):
            part.open(project)
        self.undo_stack.push(*(MaskEdit(self.editor, patch) for patch in recovered))
        self.removal.open(project)
        self.project_opened.emit()
        self.classes.chosen.emit(self.editor.class_id)
        for notice in project.json.take_notices():
            self.problem_met.emit(notice)
        self.image_list.refresh(project)
        return True

    # --- save and close ---------------------------------------------------------------------------

    def flush(self) -> bool:
        """Save now and wait for it. Return True if nothing is unsaved afterwards."""
        self.editor.finish_stroke()
        return self.autosave.flush()

    def _all_saved(self) -> bool:
        """Try to save. Return True if nothing is unsaved; otherwise emit `problem_met`."""
        if self.flush():
            return True
        self.problem_met.emit(UnsavedLabels(count=len(self.autosave.unsaved_keys)))
        return False

    def close_project(self, unsaved: Unsaved = "refuse") -> bool:
        """Save unsaved labels, end all threads and close the project. Return True if no project is open afterwards.

        unsaved: handling of labels that cannot be saved. "refuse": the project stays open, with `problem_met`;
        "journal": their strokes stay in the journal; "discard": nothing is saved and they are lost.
        """
        self.removal.close()
        if self.project is None:
            return True
        if unsaved == "refuse" and not self._all_saved():
            return False
        for part in (self.areas, self.verdict_steps, self.class_merge, self.label_import, self.editor):
            part.close()
        self.autosave.close(discard=unsaved == "discard")
        for part in (self.image_loader, self.image_list, self.label_copier, self.current, self.folder, self.project):
            part.close()
        self.project = None
        self.removal.open(None)
        self.classes.close()
        self.undo_stack.clear()
        self.project_closed.emit()
        return True

    def end(self) -> None:
        """Close the project without asking, as the application ends; nothing is discarded."""
        self.close_project("journal")

    # --- images ------------------------------------------------------------------------------------

    @property
    def keys(self) -> list[str]:
        """Images of the project, in order."""
        return self.image_list.keys

    @property
    def key(self) -> str | None:
        """Key of the open image, including one that failed to open."""
        return self.current.key

    @property
    def opening(self) -> str | None:
        """Key of the image that was requested last, also while it is still read."""
        return self.image_loader.requested

    def open_image(self, key: str) -> None:
        """Open an image; `current.opened` or `current.failed` follows. Until then the former one stays open."""
        if self.project is not None:
            self.current.open(key)

    def refresh_images(self) -> None:
        """Scan the folders again."""
        if self.project is not None:
            self.image_list.refresh(self.project)

    # --- updates ----------------------------------------------------------------------------------

    def reload(self) -> None:
        """Reload the open image and the list after files have changed; the image may be gone."""
        project, key = self.project, self.current.key
        if project is None:
            return
        if key is not None:
            keys = [key, *self.image_list.keys]
            present = next((other for other in keys if project.image_path(other).exists()), None)
            if present is None:
                self.current.leave()
            else:
                self.current.open(present)
        self.image_list.refresh(project)

    def _note_changed(self, key: str) -> None:
        label = self.current.label
        if label is not None and label.key == key:
            if label.unsaved:
                self.autosave.schedule(label)
            self.image_list.put(noted_row(self.image_list.row(key), label.note))
        self.note_changed.emit(key)

    def _label_saved(self, key: str, saved: Saved) -> None:
        self.undo_stack.contents[key] = saved.content
        row, changed = saved_row(self.image_list.row(key), saved), self.autosave.unsaved(key)
        self.image_list.put(row if changed is None else noted_row(row, changed.note))  # changed during the save
        if saved.counts is not None:
            self.image_list.invalidate(key)
        self.label_saved.emit(key)


class Session(SessionParts):
    """Session of the window: the interface to the open project and its parts.

    Methods never raise a Problem: they emit `problem_met`. Painting is done by `editor`.
    """

    # --- state ------------------------------------------------------------------------------------

    def set_project_field(self, name: str, value: object) -> bool:
        """Change a field of project.json. Return False, after `problem_met`, if it could not be saved."""
        project = self.project
        if project is None:
            return False
        before = getattr(project.file, name)
        setattr(project.file, name, value)
        try:
            project.save()
        except Problem as problem:
            setattr(project.file, name, before)
            self.problem_met.emit(problem)
            return False
        return True

    @property
    def writable(self) -> bool:
        return self.project is not None and self.project.writable

    @property
    def rows(self) -> dict[str, ImageRow]:
        return self.image_list.rows

    @property
    def image(self) -> ImageArray | None:
        """Open image: (H, W) or (H, W, 3) RGB, uint8, uint16 or float32."""
        return self.current.image

    @property
    def mask(self) -> np.ndarray | None:
        """Mask of the open image: uint8 (H, W), changed in place. None if there is none or it is broken."""
        label = self.current.label
        return None if label is None else label.mask

    @property
    def mask_problem(self) -> Problem | None:
        label = self.current.label
        return None if label is None else label.problem

    @property
    def note(self) -> Note | None:
        label = self.current.label
        return None if label is None else label.note

    # --- project ----------------------------------------------------------------------------------

    def add_images(self, paths: Sequence[Path | str], left_out: Sequence[tuple[str, str]] = ()) -> bool:
        """Copy image files and folders into the project, in a worker thread. Return False if that is not possible.

        `image_list.added` follows, with the files left out, including those given by `left_out`: names and reasons.
        """
        if self.project is None:
            return False
        try:
            self.project.need_write("new pictures")
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        self.image_list.add(self.project, [Path(path) for path in paths], left_out)
        return True

    def set_score(self, key: str, score: float) -> None:
        """Set the highest defect probability that a model found in an image, 0..1, for the list."""
        if key in self.rows:
            self.image_list.set_score(key, score)

    # --- images -----------------------------------------------------------------------------------

    def add_source(self, folder: Path | str) -> bool:
        """Use the images of a folder where they are. Return False, with `problem_met`, on failure."""
        return self._change_sources(lambda project: project.add_source(folder))

    def forget_source(self, name: str) -> bool:
        """Remove a source that was just added in vain. Return False, with `problem_met`, on failure."""
        return self._change_sources(lambda project: forget_source(project, name))

    def locate_source(self, name: str, folder: Path | str, *, check: bool = True) -> bool:
        """Set the folder of a source that was moved. Return False, with `problem_met`, on failure."""
        return self._change_sources(lambda project: locate_source(project, name, folder, check=check))

    def _change_sources(self, change: Callable[[Project], object]) -> bool:
        if self.project is None:
            return False
        try:
            change(self.project)
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        self.sources_changed.emit()
        self.reload()
        return True

    def go(self, step: int) -> bool:
        """Open the image `step` places on or back, clamped to the list. Return False if there is none."""
        return self.current.go(step)

    # --- edits (strokes are made by the editor) ---------------------------------------------------------

    def copy_previous_labels(self) -> None:
        """Copy the labels of the previous image to this one, as one step."""
        source = self.image_list.neighbor(self.key, -1)
        if source is not None and self.key in self.keys and self.project is not None:
            self.label_copier.copy(self.project, source, self.autosave.unsaved(source))

    def undo(self) -> None:
        """Undo the last change. If it was made on another image, that image is opened."""
        self.current.undo_or_redo("undo")

    def redo(self) -> None:
        self.current.undo_or_redo("redo")

    def can_undo(self) -> bool:
        return self.editor.painting or self.undo_stack.can_undo()

    def can_redo(self) -> bool:
        return self.undo_stack.can_redo()

    def steps(self) -> tuple[list[Patch], list[Patch]]:
        """Return the edits of the open image: done, oldest first, and undone, the next to redo first."""
        return self.undo_stack.patches(self.key) if self.key is not None else ([], [])

    def restore(self, patch: Patch | None) -> None:
        """Restore the open image as of one of its `steps` (None: before the first); undo reverts it."""
        self.editor.finish_stroke()
        self.editor.restore(patch)
