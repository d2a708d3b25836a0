"""Session: one open project, one open image, its label. Methods are requests; signals report results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project.annotation import Note
from workbench.core.project.history import Patch
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.core.project.project_identity import FolderKind
from workbench.core.project.source_locations import forget_source, locate_source
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.image_removal import ImageRemoval
from workbench.session.open_project import OpenProject, Unsaved


class Session(QObject):
    """Session of the window: the interface to the open project and its parts.

    Methods never raise a Problem: they emit `problem_met`. Painting is done by `editor`.
    """

    project_opened = Signal()
    project_closed = Signal()
    images_listed = Signal(object)  # list[str]
    rows_changed = Signal(object)  # list[ImageRow], at most five times a second
    index_progress = Signal(int, int)
    edit_finishing = Signal()  # an edit is about to end: pending work for the open image has to be delivered now
    image_previewed = Signal(object, object, object)  # key, reduced image, (width, height); `image_opened` follows
    image_opened = Signal(object)  # key
    image_failed = Signal(object, object)  # key, Problem
    mask_changed = Signal(object)  # Rect
    note_changed = Signal(object)  # key
    label_saved = Signal(object)  # key
    classes_changed = Signal()  # classes, verdicts, visibility or locks
    current_class_changed = Signal(int)
    history_changed = Signal()  # the undo stack, or whether undo is possible
    save_state_changed = Signal(str)  # "saved" | "dirty" | "failed"
    step_followed = Signal(str, object)  # "undo" or "redo", and the UndoCommand for which another image was opened
    images_added = Signal(object)  # Added
    sources_changed = Signal()  # image folders, or their availability
    problem_met = Signal(object)

    def __init__(
        self, parent: QObject | None = None, *, save_delay: float = 0.5, retry: float = 5.0, cache: int = 512 << 20
    ) -> None:
        super().__init__(parent)
        self._parts = parts = OpenProject(self, save_delay=save_delay, retry=retry, cache=cache)
        self.undo_stack, self.editor, self.notes = parts.undo_stack, parts.editor, parts.notes
        self.autosave, self.folder, self.classes = parts.autosave, parts.folder, parts.classes
        self.verdict_steps, self.class_merge = parts.verdict_steps, parts.class_merge
        self.image_list, self.image_loader = parts.image_list, parts.image_loader
        self.label_import = parts.label_import
        self.removal = ImageRemoval(self, self)
        self._relay_signals(parts)

    def _relay_signals(self, parts: OpenProject) -> None:
        parts.opened.connect(self._project_opened)
        parts.closed.connect(self.project_closed)
        parts.problem_met.connect(self.problem_met)
        self.problem_met.connect(self.folder.on_problem)
        parts.note_changed.connect(self.note_changed)
        parts.label_saved.connect(self.label_saved)
        self.undo_stack.changed.connect(self.history_changed)
        self.class_merge.changed.connect(self.history_changed)
        self.label_import.state_changed.connect(self.history_changed)
        self.classes.changed.connect(self.classes_changed)
        self.classes.chosen.connect(self.current_class_changed)
        self.editor.finishing.connect(self.edit_finishing)
        self.editor.mask_changed.connect(self.mask_changed)
        self.autosave.state_changed.connect(self.save_state_changed)
        self.save_state_changed.connect(self.folder.refresh)
        self.image_loader.previewed.connect(self.image_previewed)
        parts.image.opened.connect(self.image_opened)
        parts.image.failed.connect(self.image_failed)
        parts.image.step_followed.connect(self.step_followed)
        self.image_list.added.connect(self.images_added)
        self.image_list.listed.connect(self.images_listed)
        self.image_list.rows_changed.connect(self.rows_changed)
        self.image_list.progressed.connect(self.index_progress)

    def _project_opened(self) -> None:
        self.removal.open(self.project)
        self.project_opened.emit()
        self.current_class_changed.emit(self.class_id)

    # --- state ------------------------------------------------------------------------------------

    @property
    def project(self) -> Project | None:
        return self._parts.project

    @property
    def writable(self) -> bool:
        return self.project is not None and self.project.writable

    @property
    def keys(self) -> list[str]:
        """Images of the project, in order."""
        return self.image_list.keys

    @property
    def rows(self) -> dict[str, ImageRow]:
        return self.image_list.rows

    @property
    def done_count(self) -> int:
        """Number of images marked done."""
        return self.image_list.done

    @property
    def key(self) -> str | None:
        """Key of the open image, including one that failed to open."""
        return self._parts.image.key

    @property
    def opening(self) -> str | None:
        """Key of the image that was requested last, also while it is still read."""
        return self.image_loader.requested

    @property
    def image(self) -> ImageArray | None:
        """Open image: (H, W) or (H, W, 3) RGB, uint8, uint16 or float32."""
        return self._parts.image.image

    @property
    def pages(self) -> int:
        """Number of pages of the open image file; the first one is the image."""
        return self._parts.image.pages

    @property
    def mask(self) -> np.ndarray | None:
        """Mask of the open image: uint8 (H, W), changed in place. None if there is none or it is broken."""
        label = self._parts.image.label
        return None if label is None else label.mask

    @property
    def mask_problem(self) -> Problem | None:
        label = self._parts.image.label
        return None if label is None else label.problem

    @property
    def note(self) -> Note | None:
        label = self._parts.image.label
        return None if label is None else label.note

    @property
    def class_id(self) -> int:
        return self.editor.class_id

    @property
    def save_state(self) -> str:
        return self.autosave.state

    # --- project ----------------------------------------------------------------------------------

    def create_project(
        self,
        root: Path | str,
        images: Path | str | None = None,
        classes: Sequence[str] = (),
        verdicts: Sequence[str] = (),
    ) -> bool:
        """Create a project and open it, see `OpenProject.create`."""
        self.removal.close()
        return self._parts.create(root, images, classes, verdicts)

    def open_project(self, root: Path | str, write: bool = True, identity: FolderKind | None = None) -> bool:
        """Open a project, see `OpenProject.open`."""
        self.removal.close()
        return self._parts.open(root, write, identity)

    def find_folder(self, root: Path | str) -> bool:
        """Continue with the open project in `root`, to which it was moved, see `OpenProject.relocate`."""
        return self._parts.relocate(root)

    def close_project(self, unsaved: Unsaved = "refuse") -> bool:
        """Save and close the project, see `OpenProject.close`. Return True if no project is open afterwards."""
        self.removal.close()
        return self._parts.close(unsaved)

    def end(self) -> None:
        """Close the project without asking, as the application ends; nothing is discarded."""
        self.removal.close()
        self._parts.end()

    def flush(self) -> bool:
        """Save now and wait for it. Return True if nothing is unsaved afterwards."""
        return self._parts.flush()

    def add_images(self, paths: Sequence[Path | str], left_out: Sequence[tuple[str, str]] = ()) -> bool:
        """Copy image files and folders into the project, in a worker thread. Return False if that is not possible.

        `images_added` follows, with the files left out, including those given by `left_out`: names and reasons.
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

    def refresh_images(self) -> None:
        """Scan the folders again."""
        if self.project is not None:
            self.image_list.refresh(self.project)

    def set_score(self, key: str, score: float) -> None:
        """Set the highest defect probability that a model found in an image, 0..1, for the list."""
        if key in self.rows:
            self.image_list.set_score(key, score)

    # --- images -----------------------------------------------------------------------------------

    def open_image(self, key: str) -> None:
        """Open an image; `image_opened` or `image_failed` follows. Until then the former one stays open."""
        if self.project is not None:
            self._parts.image.open(key)

    def close_image(self) -> None:
        """Close the open image; `image_failed` follows, as there is no other one."""
        self._parts.image.leave()

    def reload(self) -> None:
        """Reload the open image and the list after mask files have changed."""
        self._parts.reload()

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
        return self._parts.image.go(step)

    # --- edits (strokes are made by the editor) ---------------------------------------------------------

    def copy_previous_labels(self) -> None:
        """Copy the labels of the previous image to this one, as one step."""
        source = self.image_list.neighbor(self.key, -1)
        if source is not None and self.key in self.keys and self.project is not None:
            self._parts.label_copier.copy(self.project, source, self.autosave.unsaved(source))

    def undo(self) -> None:
        """Undo the last change. If it was made on another image, that image is opened."""
        self._parts.image.undo_or_redo("undo")

    def redo(self) -> None:
        self._parts.image.undo_or_redo("redo")

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
