"""Parts of a session, the signals that relay theirs, and read access to what is open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project.annotation import Note
from workbench.core.project.image_index import ImageRow
from workbench.core.project.project import Project
from workbench.inference.io.tiff_regions import ImageArray
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
from workbench.session.undo import UndoStack
from workbench.session.verdict_steps import VerdictSteps


class SessionState(QObject):
    """One open project, one open image, its label: parts and state, without requests."""

    project_opened = Signal()
    project_closed = Signal()
    images_listed = Signal(object)  # list[str]
    rows_changed = Signal(object)  # list[ImageRow], at most five times a second
    index_progress = Signal(int, int)
    edit_finishing = Signal()  # an edit is about to end: pending work for the open image has to be delivered now
    image_previewed = Signal(str, object, object)  # key, reduced image, (width, height); `image_opened` follows
    image_opened = Signal(str)
    image_failed = Signal(str, object)  # key, Problem
    mask_changed = Signal(object)  # Rect
    note_changed = Signal(str)
    label_saved = Signal(str)
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
        self.project: Project | None = None
        self.undo_stack = UndoStack(self)
        self.editor = Editor(self.undo_stack, self)
        self._autosave = Autosave(self, delay=save_delay, retry=retry)
        self.folder = ProjectWatch(self._autosave, self, retry=retry)
        self._loader = ImageLoader(self._autosave.unsaved, self, limit=cache)
        self._image_list = ImageList(self)
        self._current_image = OpenImage(self._image_list, self._loader, self.editor, self.undo_stack, self)
        self._copier = LabelCopier(self.editor, self)
        self.classes = ClassList(self.editor, self)
        self.notes = ImageNotes(self.editor, self._autosave, self.classes, self)
        self.verdict_steps = VerdictSteps(self.editor, self._autosave, self._image_list, self.classes, self.notes, self)
        self.class_merge = ClassMergeJob(self.editor, self._autosave, self._image_list, self.classes, self)
        self._connect()

    def _connect(self) -> None:
        for part in (
            self.editor,
            self._autosave,
            self._image_list,
            self._copier,
            self.classes,
            self.notes,
            self.folder,
        ):
            part.problem_met.connect(self.problem_met)
        for part in (self.verdict_steps, self.class_merge):
            part.problem_met.connect(self.problem_met)
        self.undo_stack.changed.connect(self.history_changed)
        self.class_merge.changed.connect(self.history_changed)
        self.classes.changed.connect(self.classes_changed)
        self.classes.chosen.connect(self.current_class_changed)
        self.notes.changed.connect(self._note_changed)
        self.editor.finishing.connect(self.edit_finishing)
        self.editor.mask_changed.connect(self.mask_changed)
        self.editor.note_changed.connect(self._note_changed)
        self.editor.committed.connect(self._autosave.record_patch)
        self._autosave.state_changed.connect(self.save_state_changed)
        self.problem_met.connect(self.folder.on_problem)
        self.editor.committed.connect(self.folder.refresh)
        self.save_state_changed.connect(self.folder.refresh)
        self._autosave.saved.connect(self._label_saved)
        self._loader.previewed.connect(self.image_previewed)
        self._current_image.requested.connect(self.verdict_steps.wait_for)
        self._current_image.opened.connect(self.class_merge.lock_open_image)
        self._current_image.opened.connect(self.image_opened)
        self._loader.loaded.connect(self._image_list.mark_opened)
        self._loader.failed.connect(self._image_list.mark_broken)
        self._current_image.failed.connect(self.image_failed)
        self._current_image.step_followed.connect(self.step_followed)
        self._image_list.added.connect(self.images_added)
        self._image_list.listed.connect(self.images_listed)
        self._image_list.rows_changed.connect(self.rows_changed)
        self._image_list.progressed.connect(self.index_progress)

    # --- state ------------------------------------------------------------------------------------

    @property
    def keys(self) -> list[str]:
        """Images of the project, in order."""
        return self._image_list.keys

    @property
    def rows(self) -> dict[str, ImageRow]:
        return self._image_list.rows

    @property
    def done_count(self) -> int:
        """Number of images marked done."""
        return self._image_list.done

    @property
    def writable(self) -> bool:
        return self.project is not None and self.project.writable

    @property
    def key(self) -> str | None:
        """Key of the open image, including one that failed to open."""
        return self._current_image.key

    @property
    def opening(self) -> str | None:
        """Key of the image that was requested last, also while it is still read."""
        return self._loader.requested

    @property
    def image(self) -> ImageArray | None:
        """Open image: (H, W) or (H, W, 3) RGB, uint8, uint16 or float32."""
        return self._current_image.image

    @property
    def pages(self) -> int:
        """Number of pages of the open image file; the first one is the image."""
        return self._current_image.pages

    @property
    def _label(self) -> Label | None:
        return self._current_image.label

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
        return self._autosave.state

    @property
    def autosave(self) -> Autosave:
        """Holder of the unsaved labels."""
        return self._autosave

    def can_undo(self) -> bool:
        return self.editor.painting or self.undo_stack.can_undo()

    def can_redo(self) -> bool:
        return self.undo_stack.can_redo()

    # --- updates ----------------------------------------------------------------------------------

    def _note_changed(self, key: str) -> None:
        label = self._label
        if label is not None and label.key == key:
            if label.unsaved:
                self._autosave.changed(label)
            note = label.note
            row = replace(self._image_list.row(key), status=note.status, verdict=note.verdict, group=note.group or "")
            self._image_list.put(row)
        self.note_changed.emit(key)

    def _label_saved(self, key: str, saved: Saved) -> None:
        self.undo_stack.contents[key] = saved.content
        self._image_list.put(saved_row(self._image_list.row(key), saved))
        if saved.counts is not None:
            self._image_list.invalidate(key)
        self.label_saved.emit(key)
