"""Session: one open project, one open image, its label. Methods are requests; signals report results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from workbench.core.problems import Problem
from workbench.core.project.annotation import Note
from workbench.core.project.history import Patch
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project, forget_source, locate_source
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.session_parts import SessionParts


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
