"""The open image, changes of its note (verdict, status, split), and undo that opens the image of a change."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from workbench.core.problems import NoImages, Problem, StepsLost
from workbench.core.project.annotation import Split, Status
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.image_loader import ImageLoader, LoadedImage
from workbench.session.label import Label
from workbench.session.undo import UndoCommand, UndoStack


class OpenImage(QObject):
    """The open image. While the next one is read, the former one stays and can be painted on."""

    requested = Signal(object)  # key of the image whose label is about to be read
    opened = Signal(object)  # key
    failed = Signal(object, object)  # key, Problem
    problem_met = Signal(object)
    step_followed = Signal(str, object)  # "undo" or "redo", and the UndoCommand for which another image was opened

    def __init__(
        self,
        image_list: ImageList,
        loader: ImageLoader,
        editor: Editor,
        undo_stack: UndoStack,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.key: str | None = None
        self.image: ImageArray | None = None
        self.label: Label | None = None
        self.pages = 1  # of the image file; the first one is displayed
        self._image_list, self._loader, self._editor, self._undo_stack = image_list, loader, editor, undo_stack
        self._direction = 1
        self._pending: list[str] = []  # undo and redo requests whose image is still loading
        loader.loaded.connect(self._show_loaded)
        loader.failed.connect(self._show_failed)
        image_list.listed.connect(self._prefetch)

    def close(self) -> None:
        self.key = self.image = self.label = None
        self._pending.clear()

    def leave(self) -> None:
        """Close the image, as the project has no other one; `failed` follows."""
        self._editor.finish_stroke()
        self._pending.clear()
        self._loader.requested = None
        self._set(None, None, None)
        self.failed.emit("", NoImages())

    def leave_images(self, gone: set[str]) -> None:
        """Open the nearest image that is not in `gone`, if the present one is; leave it if there is none."""
        if self.key not in gone and self._loader.requested not in gone:
            return
        keys = self._image_list.keys
        place = keys.index(self.key) if self.key in keys else 0
        target = next((key for key in [*keys[place:], *reversed(keys[:place])] if key not in gone), None)
        if target is None:
            self.leave()
        else:
            self.open(target)

    # --- images -----------------------------------------------------------------------------------

    def open(self, key: str) -> None:
        """Open an image; drops undo requests that are pending for another one."""
        self._pending.clear()
        self._request(key)

    def read_again(self) -> None:
        """Read what could not be read while the project folder was missing: the image, and the images of the list."""
        if self.image is None and self._loader.requested is not None:
            self.open(self._loader.requested)
        self._image_list.read_again()

    def go(self, step: int) -> bool:
        key = self._image_list.neighbor(self._loader.requested, step)
        if key is not None:
            self._direction = 1 if step > 0 else -1
            self.open(key)
        return key is not None

    def _request(self, key: str) -> None:
        self._editor.finish_stroke()
        self.requested.emit(key)
        self._loader.request(key)

    def _show_loaded(self, key: str, loaded: LoadedImage) -> None:
        self.pages = loaded.pages
        awaited = self._next(self._pending[0]) if self._pending else None
        self._set(key, loaded.image, loaded.label)
        self.opened.emit(key)
        self._prefetch()
        requests, self._pending = self._pending, []
        if requests and self._next(requests[0]) is not awaited:
            return  # the step was lost, which was reported: no other one is undone in its place
        for direction in requests:
            command = self._next(direction)
            self.undo_or_redo(direction)
            if command is not None and command.needs_image and command.key == key:
                self.step_followed.emit(direction, command)

    def _show_failed(self, key: str, problem: Problem) -> None:
        if self._pending:
            # Its commands can never be undone again and would block undo of older ones.
            self._pending.clear()
            self._undo_stack.drop_image(key)
        self._set(key, None, None)
        self.failed.emit(key, problem)

    def _set(self, key: str | None, image: ImageArray | None, label: Label | None) -> None:
        self._editor.commit()
        self.key, self.image, self.label = key, image, label
        self._editor.label = label
        # Steps on an unsaved label belong to the mask in memory, whose save notices a file of another program.
        if label is None or label.unsaved:
            return
        if self._undo_stack.check_content(label.key, label.files.sums["mask"]):
            self.problem_met.emit(StepsLost(name=label.key))

    def _prefetch(self) -> None:
        # Very large images would evict each other from the cache.
        if self.key is not None and self.image is not None and 3 * self.image.nbytes <= self._loader.budget:
            self._loader.prefetch(self._image_list.neighbors(self.key, self._direction))

    # --- undo and redo ----------------------------------------------------------------------------

    def _next(self, direction: str) -> UndoCommand | None:
        return self._undo_stack.next_undo if direction == "undo" else self._undo_stack.next_redo

    def undo_or_redo(self, direction: str) -> None:
        """Undo or redo ("undo", "redo") the next command, on the image it needs, and show the image it changed."""
        self._editor.finish_stroke()
        if self._pending:
            self._pending.append(direction)
            return
        command = self._next(direction)
        if command is None:
            return
        if command.needs_image and command.key is not None and (command.key != self.key or self.image is None):
            self._pending.append(direction)
            self._request(command.key)
        elif direction == "redo":
            self._undo_stack.redo()
        else:
            self._undo_stack.undo()
            if command.key is not None and (self.key, self._loader.requested) != (command.key, command.key):
                self._request(command.key)


class ImageNotes(QObject):
    """Changes of the open image's note. Each one is saved like a stroke."""

    changed = Signal(object)  # key
    problem_met = Signal(object)

    def __init__(self, editor: Editor, autosave: Autosave, classes: ClassList, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor, self._autosave, self._classes = editor, autosave, classes

    def set_verdict(self, name: str | None) -> None:
        """Set the image's verdict; a name that is new is added to the project."""
        name = (name or "").strip() or None
        label = self._changeable_label()
        if label is None or label.note.verdict == name:
            return
        self._classes.ensure_verdict(name)
        label.note.verdict = name
        self._add(label, "verdict")

    def set_status(self, status: Status) -> None:
        """Set the status: new, started or done. A done image without a mask gets an empty one, marking it good."""
        label = self._changeable_label()
        if label is None:
            return
        if status == "done" and not label.on_disk:
            label.edits += 1
        label.note.status = status
        self._add(label, status)

    def set_group(self, group: str | None) -> None:
        """Set the group of images that a data split keeps together; None: by the project's rule."""
        label = self._changeable_label()
        if label is not None and label.note.group != group:
            label.note.group = group
            self._add(label, "group")

    def set_pin(self, split: Split | None) -> None:
        """Pin the image and its group to a split, from the next training on; None: no restriction."""
        label = self._changeable_label()
        if label is not None and label.note.pin != split:
            label.note.pin = split
            self._add(label, "pin")

    def add(self, what: str) -> None:
        """Add an entry to the history of the open note; written at once."""
        if self._editor.label is not None:
            self._add(self._editor.label, what)

    def save_change(self, *, now: bool = False) -> None:
        """Save a change of the open note, soon or at once (`now`)."""
        if self._editor.label is not None:
            self._save_change(self._editor.label, now=now)

    def _add(self, label: Label, what: str) -> None:
        label.note.add(what)
        self._save_change(label, now=True)
        self.changed.emit(label.key)

    def _save_change(self, label: Label, *, now: bool) -> None:
        label.note_edits += 1
        self._autosave.schedule(label, now=now)

    def _changeable_label(self) -> Label | None:
        """Return the label of the open image; None, after `problem_met`, if it cannot be changed."""
        problem = self._editor.refusal()
        if problem is not None:
            self.problem_met.emit(problem)
        self._editor.commit()
        return self._editor.label if problem is None else None
