"""Session: one open project, one open image, its label. Methods are requests; signals report results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, Signal

from workbench.core.problems import CannotWrite, Problem, ProjectLocked, UnsavedLabels
from workbench.core.project.annotation import Note
from workbench.core.project.history import History, Patch
from workbench.core.project.image_index import ImageRow
from workbench.core.project.project import Project
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.class_merge_job import ClassMergeJob
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.image_loader import ImageLoader
from workbench.session.image_notes import ImageNotes
from workbench.session.label import Label, Saved, saved_row
from workbench.session.label_copy import LabelCopier
from workbench.session.open_image import OpenImage
from workbench.session.project_watch import ProjectWatch
from workbench.session.verdict_steps import NoteStep, VerdictSteps


class Session(QObject):
    """Session of the window. Methods never raise a Problem: they emit `problem_met`. Painting is done by `editor`."""

    project_opened = Signal()
    project_closed = Signal()
    images_listed = Signal(object)  # list[str]
    rows_changed = Signal(object)  # list[Row], at most five times a second
    index_progress = Signal(int, int)
    settling = Signal()  # a step is about to end: pending work for the open image has to be delivered now
    image_previewed = Signal(str, object, object)  # key, reduced image, (width, height); `picture_opened` follows
    image_opened = Signal(str)
    image_failed = Signal(str, object)  # key, Problem
    mask_changed = Signal(object)  # Rect
    note_changed = Signal(str)
    label_saved = Signal(str)
    classes_changed = Signal()  # classes, verdicts, visibility or locks
    current_class_changed = Signal(int)
    history_changed = Signal()
    save_state_changed = Signal(str)  # "saved" | "dirty" | "failed"
    step_followed = Signal(str, object)  # "undo" or "redo", and the Patch on another image that was opened for it
    images_added = Signal(object)  # Added
    problem_met = Signal(object)

    def __init__(
        self, parent: QObject | None = None, *, settle: float = 0.5, retry: float = 5.0, cache: int = 512 << 20
    ) -> None:
        super().__init__(parent)
        self.project: Project | None = None
        self.editor = Editor(self)
        self._saver = Autosave(self, settle=settle, retry=retry)
        self.folder = ProjectWatch(self._saver, self, retry=retry)
        self._loader = ImageLoader(self._saver.unsaved, self, limit=cache)
        self._listing = ImageList(self)
        self._desk = OpenImage(self._listing, self._loader, self.editor, self)
        self._copier = LabelCopier(self.editor, self)
        self.classes = ClassList(self.editor, self)
        self.notes = ImageNotes(self.editor, self._saver, self.classes, self)
        self.judging = VerdictSteps(self.editor, self._saver, self._listing, self.classes, self.notes, self)
        self.class_work = ClassMergeJob(self.editor, self._saver, self._listing, self.classes, self)
        self._connect()

    def _connect(self) -> None:
        for part in (self.editor, self._saver, self._listing, self._copier, self.classes, self.notes, self.folder):
            part.problem_met.connect(self.problem_met)
        for wide in (self.judging, self.class_work):
            wide.problem_met.connect(self.problem_met)
            wide.history_changed.connect(self.history_changed)
        self.class_work.rewritten.connect(self._reread)
        self.classes.changed.connect(self.classes_changed)
        self.classes.chosen.connect(self.current_class_changed)
        self.notes.changed.connect(self._note_changed)
        self.editor.settling.connect(self.settling)
        self.editor.mask_changed.connect(self.mask_changed)
        self.editor.history_changed.connect(self.history_changed)
        self.editor.note_changed.connect(self._note_changed)
        self.editor.committed.connect(self._saver.record_patch)
        self._saver.state_changed.connect(self.save_state_changed)
        self.problem_met.connect(self.folder.on_problem)
        self.editor.committed.connect(self.folder.refresh)
        self.save_state_changed.connect(self.folder.refresh)
        self._saver.saved.connect(self._saved)
        self._loader.previewed.connect(self.image_previewed)
        self._desk.requested.connect(self.judging.wait_for)
        self._desk.opened.connect(self.class_work.lock_open_image)
        self._desk.opened.connect(self.image_opened)
        self._loader.loaded.connect(self._listing.mark_opened)
        self._loader.failed.connect(self._listing.mark_broken)
        self._desk.failed.connect(self.image_failed)
        self._desk.history_changed.connect(self.history_changed)
        self._desk.followed.connect(self.step_followed)
        self._listing.added.connect(self.images_added)
        self._listing.listed.connect(self.images_listed)
        self._listing.rows_changed.connect(self.rows_changed)
        self._listing.progressed.connect(self.index_progress)
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.end)

    # --- state ------------------------------------------------------------------------------------

    @property
    def keys(self) -> list[str]:
        """Images of the project, in order."""
        return self._listing.keys

    @property
    def rows(self) -> dict[str, ImageRow]:
        return self._listing.rows

    @property
    def done_count(self) -> int:
        """Number of images marked done."""
        return self._listing.done

    def set_score(self, key: str, score: float) -> None:
        """Set the highest defect probability that a model found in an image, 0..1, for the list."""
        if key in self._listing.rows:
            self._listing.set_score(key, score)

    @property
    def writable(self) -> bool:
        return self.project is not None and self.project.writable

    @property
    def key(self) -> str | None:
        """Key of the open image, including one that failed to open."""
        return self._desk.key

    @property
    def opening(self) -> str | None:
        """Key of the image that was requested last, also while it is still read."""
        return self._loader.requested

    @property
    def image(self) -> np.ndarray | None:
        """Open image: (H, W) or (H, W, 3) RGB, uint8, uint16 or float32."""
        return self._desk.image

    @property
    def pages(self) -> int:
        """Number of pages of the open image file; the first one is the image."""
        return self._desk.pages

    @property
    def _label(self) -> Label | None:
        return self._desk.label

    @property
    def mask(self) -> np.ndarray | None:
        """Mask of the open image: uint8 (H, W), changed in place. None if there is none or it is broken."""
        return None if self._label is None else self._label.mask

    @property
    def mask_problem(self) -> Problem | None:
        return None if self._label is None else self._label.problem

    @property
    def note(self) -> Note | None:
        return None if self._label is None else self._label.note

    @property
    def class_id(self) -> int:
        return self.editor.class_id

    @property
    def save_state(self) -> str:
        return self._saver.state

    # --- project ----------------------------------------------------------------------------------

    def create_project(
        self,
        root: Path | str,
        images: Path | str | None = None,
        classes: Sequence[str] = (),
        verdicts: Sequence[str] = (),
    ) -> bool:
        """Create a project and open it. Return False on failure or if labels of the open project cannot be saved."""
        if not self._all_saved():
            return False
        try:
            made = Project.create(root, images=images, classes=list(classes), verdicts=list(verdicts))
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        return self._take(made)

    def open_project(self, root: Path | str, write: bool = True) -> bool:
        """Open a project; read-only, with `problem_met`, if it is locked or cannot be written.

        Return False on failure or if labels of the open project cannot be saved; that project then stays open.
        """
        root = Path(root).absolute()
        if self.project is not None and self.project.root == root:
            # The content of the rescue journal is recovered by the opening that follows.
            rescued = not self.writable and self._saver.rescued
            if not self.close_project("journal" if rescued else "refuse"):
                return False
        try:
            try:
                found = Project.open(root, write=write)
            except ProjectLocked as problem:
                self.problem_met.emit(problem)
                found = Project.open(root, write=False)
            except CannotWrite as problem:
                found = Project.open(root, write=False)
                found.obstacle = problem
                self.problem_met.emit(found.read_only("project.json"))
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        return self._take(found)

    def close_project(self, unsaved: Literal["refuse", "journal", "discard"] = "refuse") -> bool:
        """Save unsaved labels, end all threads and close the project. Return True if no project is open afterwards.

        unsaved: handling of labels that cannot be saved. "refuse": the project stays open, with `problem_met`;
        "journal": their strokes stay in the journal; "discard": nothing is saved and they are lost.
        """
        if self.project is None:
            return True
        if unsaved == "refuse" and not self._all_saved():
            return False
        self.judging.close()
        self.class_work.close()
        self.editor.close()
        self._saver.close(discard=unsaved == "discard")
        self._loader.close()
        self._listing.close()
        self._copier.close()
        self._desk.close()
        self.folder.close()
        self.project.close()
        self.project = None
        self.classes.close()
        self.project_closed.emit()
        return True

    def end(self) -> None:
        """Close the project without asking, as the application ends; nothing is discarded."""
        self.close_project("journal")

    @property
    def saver(self) -> Autosave:
        """Holder of the unsaved labels."""
        return self._saver

    def find_folder(self, root: Path | str) -> bool:
        """Continue with the open project in `root`, to which it was moved; unsaved changes are saved there.

        Return False, with a problem, if there is no project or another one, or it cannot be written.
        """
        self.editor.finish_stroke()
        if self.project is None or not self.folder.relocate(Path(root)):
            return False
        key, kept = self.key, (self.editor.history, self.editor.contents)
        self.editor.history, self.editor.contents = History(), {}
        opened = self.open_project(self.project.root)
        self.editor.history, self.editor.contents = kept
        if key is not None:
            self.open_image(key)
        return opened

    def flush(self) -> bool:
        """Save now and wait for it. Return True if nothing is unsaved afterwards."""
        self.editor.finish_stroke()
        return self._saver.flush()

    def add_images(self, paths: Sequence[Path | str], left_out: Sequence[tuple[str, str]] = ()) -> bool:
        """Copy image files and folders into the project, in a worker thread. Return False if that is not possible.

        `pictures_added` follows, with the files left out, including those given by `left_out`: names and reasons.
        """
        if self.project is None:
            return False
        try:
            self.project.need_write("new pictures")
        except Problem as problem:
            self.problem_met.emit(problem)
        else:
            self._listing.add(self.project, [Path(path) for path in paths], left_out)
            return True
        return False

    def refresh_images(self) -> None:
        """Scan the folders again."""
        if self.project is not None:
            self._listing.refresh(self.project)

    def _all_saved(self) -> bool:
        """Try to save. Return True if nothing is unsaved; otherwise emit `problem_met`."""
        if self.flush():
            return True
        self.problem_met.emit(UnsavedLabels(count=len(self._saver.unsaved_keys)))
        return False

    def _take(self, project: Project) -> bool:
        if not self.close_project():
            project.close()
            return False
        self.project = project
        self.folder.open(project)
        self.editor.open(project)
        self._loader.open(project)
        for patch in self._saver.open(project):
            self.editor.history.add(patch)
        for part in (self.classes, self.judging, self.class_work):
            part.open(project)
        self.project_opened.emit()
        self.current_class_changed.emit(self.class_id)
        self.refresh_images()
        return True

    # --- images -----------------------------------------------------------------------------------

    def open_image(self, key: str) -> None:
        """Open an image; `picture_opened` or `picture_failed` follows. Until then the former one stays open."""
        if self.project is not None:
            self._desk.open(key)

    def go(self, step: int) -> bool:
        """Open the image `step` places on or back, clamped to the list. Return False if there is none."""
        return self._desk.go(step)

    # --- steps (the editor makes the strokes) ---------------------------------------------------------

    def copy_previous_labels(self) -> None:
        """Copy the labels of the previous image to this one, as one step."""
        source = self._listing.neighbor(self.key, -1)
        if source is not None and self.key in self.keys and self.project is not None:
            self._copier.copy(self.project, source, self._saver.unsaved(source))

    def undo(self) -> None:
        """Undo the last step; if it was made on another image, that image is opened first."""
        step = self.judging.last
        if self.judging.undo():
            self._show_step(step)
        elif not self.class_work.undo():
            self._desk.undo_or_redo("undo")

    def redo(self) -> None:
        if not self.judging.redo():
            self._desk.undo_or_redo("redo")

    def _show_step(self, step: NoteStep) -> None:
        """Open the image whose status was changed, as undo does for strokes."""
        if step.field == "status" and (self.key, self._loader.requested) != (step.key, step.key):
            self.judging.finish()
            self.open_image(step.key)

    def steps(self) -> tuple[list[Patch], list[Patch]]:
        """Return the steps of the open image: done, oldest first, and undone, the next to redo first."""
        return self.editor.history.steps(self.key) if self.key is not None else ([], [])

    def restore(self, step: Patch | None) -> None:
        """Restore the open image as of one of its `steps` (None: before the first); undo reverts it."""
        self.editor.finish_stroke()
        self.editor.restore(step)

    def can_undo(self) -> bool:
        wide = self.judging.can_undo() or self.class_work.can_undo()
        return self.editor.painting or wide or self._desk.next_step("undo") is not None

    def can_redo(self) -> bool:
        return self.judging.can_redo() or self._desk.next_step("redo") is not None

    # --- updates ----------------------------------------------------------------------------------

    def _reread(self) -> None:
        """Reload the open image and the list after mask files have changed."""
        if self.key is not None:
            self.open_image(self.key)
        self.refresh_images()

    def _note_changed(self, key: str) -> None:
        label = self._label
        if label is not None and label.key == key:
            if label.unsaved:
                self._saver.changed(label)
            self._listing.put(replace(self._listing.row(key), status=label.note.status, verdict=label.note.verdict))
        self.note_changed.emit(key)

    def _saved(self, key: str, saved: Saved) -> None:
        self.editor.contents[key] = saved.content
        self._listing.put(saved_row(self._listing.row(key), saved))
        if saved.counts is not None:
            self._listing.invalidate(key)
        self.label_saved.emit(key)
