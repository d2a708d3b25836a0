"""Session: one open project, one open image, its label. Methods are requests; signals report results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QCoreApplication, QObject

from workbench.core.problems import CannotWrite, Problem, ProjectLocked, UnsavedLabels
from workbench.core.project.history import Patch
from workbench.core.project.project import Project
from workbench.core.project.source_locations import locate_source
from workbench.session.image_removal import ImageRemoval
from workbench.session.session_state import SessionState
from workbench.session.undo import MaskEdit


class Session(SessionState):
    """Session of the window. Methods never raise a Problem: they emit `problem_met`. Painting is done by `editor`."""

    def __init__(
        self, parent: QObject | None = None, *, save_delay: float = 0.5, retry: float = 5.0, cache: int = 512 << 20
    ) -> None:
        super().__init__(parent, save_delay=save_delay, retry=retry, cache=cache)
        self.removal = ImageRemoval(self, self)
        self.class_merge.rewritten.connect(self.reload)
        app = QCoreApplication.instance()
        if app is not None:
            app.aboutToQuit.connect(self.end)

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
            project = Project.create(root, images=images, classes=list(classes), verdicts=list(verdicts))
        except Problem as problem:
            self.problem_met.emit(problem)
            return False
        return self._switch_to(project)

    def open_project(self, root: Path | str, write: bool = True) -> bool:
        """Open a project; read-only, with `problem_met`, if it is locked or cannot be written.

        Return False on failure or if labels of the open project cannot be saved; that project then stays open.
        """
        root = Path(root).absolute()
        if self.project is not None and self.project.root == root:
            # The content of the rescue journal is recovered by the opening that follows.
            rescued = not self.writable and self._autosave.rescued
            if not self.close_project("journal" if rescued else "refuse"):
                return False
        try:
            try:
                project = Project.open(root, write=write)
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

    def close_project(self, unsaved: Literal["refuse", "journal", "discard"] = "refuse") -> bool:
        """Save unsaved labels, end all threads and close the project. Return True if no project is open afterwards.

        unsaved: handling of labels that cannot be saved. "refuse": the project stays open, with `problem_met`;
        "journal": their strokes stay in the journal; "discard": nothing is saved and they are lost.
        """
        if self.project is None:
            return True
        if unsaved == "refuse" and not self._all_saved():
            return False
        self.verdict_steps.close()
        self.class_merge.close()
        self.removal.close()
        self.editor.close()
        self._autosave.close(discard=unsaved == "discard")
        self._loader.close()
        self._image_list.close()
        self._copier.close()
        self._current_image.close()
        self.folder.close()
        self.project.close()
        self.project = None
        self.classes.close()
        self.undo_stack.clear()
        self.project_closed.emit()
        return True

    def end(self) -> None:
        """Close the project without asking, as the application ends; nothing is discarded."""
        self.close_project("journal")

    def find_folder(self, root: Path | str) -> bool:
        """Continue with the open project in `root`, to which it was moved; unsaved changes are saved there.

        Return False, with a problem, if there is no project or another one, or it cannot be written.
        """
        self.editor.finish_stroke()
        if self.project is None or not self.folder.relocate(Path(root)):
            return False
        key, undo_state = self.key, self.undo_stack.state
        opened = self.open_project(self.project.root)
        self.undo_stack.state = undo_state
        if key is not None:
            self.open_image(key)
        return opened

    def flush(self) -> bool:
        """Save now and wait for it. Return True if nothing is unsaved afterwards."""
        self.editor.finish_stroke()
        return self._autosave.flush()

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
        else:
            self._image_list.add(self.project, [Path(path) for path in paths], left_out)
            return True
        return False

    def refresh_images(self) -> None:
        """Scan the folders again."""
        if self.project is not None:
            self._image_list.refresh(self.project)

    def _all_saved(self) -> bool:
        """Try to save. Return True if nothing is unsaved; otherwise emit `problem_met`."""
        if self.flush():
            return True
        self.problem_met.emit(UnsavedLabels(count=len(self._autosave.unsaved_keys)))
        return False

    def _switch_to(self, project: Project) -> bool:
        if not self.close_project():
            project.close()
            return False
        self.undo_stack.clear()
        self.project = project
        self.folder.open(project)
        self.editor.open(project)
        self._loader.open(project)
        recovered = self._autosave.open(project)
        for part in (self.classes, self.verdict_steps, self.class_merge, self.removal):
            part.open(project)
        self.undo_stack.push(*(MaskEdit(self.editor, patch) for patch in recovered))
        self.project_opened.emit()
        self.current_class_changed.emit(self.class_id)
        self.refresh_images()
        return True

    def set_score(self, key: str, score: float) -> None:
        """Set the highest defect probability that a model found in an image, 0..1, for the list."""
        if key in self._image_list.rows:
            self._image_list.set_score(key, score)

    # --- images -----------------------------------------------------------------------------------

    def open_image(self, key: str) -> None:
        """Open an image; `image_opened` or `image_failed` follows. Until then the former one stays open."""
        if self.project is not None:
            self._current_image.open(key)

    def close_image(self) -> None:
        """Close the open image; `image_failed` follows, as there is no other one."""
        self._current_image.leave()

    def add_source(self, folder: Path | str) -> bool:
        """Use the images of a folder where they are. Return False, with `problem_met`, on failure."""
        return self._change_sources(lambda project: project.add_source(folder))

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
        self.refresh_images()
        if self.key is not None:
            self.open_image(self.key)
        return True

    def go(self, step: int) -> bool:
        """Open the image `step` places on or back, clamped to the list. Return False if there is none."""
        return self._current_image.go(step)

    # --- edits (strokes are made by the editor) ---------------------------------------------------------

    def copy_previous_labels(self) -> None:
        """Copy the labels of the previous image to this one, as one step."""
        source = self._image_list.neighbor(self.key, -1)
        if source is not None and self.key in self.keys and self.project is not None:
            self._copier.copy(self.project, source, self._autosave.unsaved(source))

    def undo(self) -> None:
        """Undo the last change. If it was made on another image, that image is opened."""
        self._current_image.undo_or_redo("undo")

    def redo(self) -> None:
        self._current_image.undo_or_redo("redo")

    def steps(self) -> tuple[list[Patch], list[Patch]]:
        """Return the edits of the open image: done, oldest first, and undone, the next to redo first."""
        return self.undo_stack.patches(self.key) if self.key is not None else ([], [])

    def restore(self, patch: Patch | None) -> None:
        """Restore the open image as of one of its `steps` (None: before the first); undo reverts it."""
        self.editor.finish_stroke()
        self.editor.restore(patch)

    # --- updates ----------------------------------------------------------------------------------

    def reload(self) -> None:
        """Reload the open image and the list after mask files have changed."""
        if self.key is not None:
            self.open_image(self.key)
        self.refresh_images()
