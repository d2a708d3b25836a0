"""The open image, changes of its note (verdict, status, split), and undo that opens the image of a change.

Images and labels are loaded in worker threads: the requested image first, then prefetched neighbors.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.images import image_files
from workbench.core.problems import ImageBroken, MaskWrongSize, NoImages, Problem, StepsLost
from workbench.core.project.annotation import Split, Status
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.autosave import Autosave
from workbench.session.class_list import ClassList
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.label import Label, label_stamp, load_label
from workbench.session.tasks import Task, TaskRunner
from workbench.session.undo import UndoCommand, UndoStack


@dataclass(frozen=True)
class LoadedImage:
    """An image with its label. stamp: stamp of the image file when it was read. pages: number of pages of the file."""

    image: ImageArray
    label: Label
    stamp: str
    pages: int = 1

    @property
    def nbytes(self) -> int:
        return self.image.nbytes + (0 if self.label.mask is None else self.label.mask.nbytes)


class LruCache:
    """Cache of the most recently used images, up to `limit` bytes; the newest is always kept."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._items: OrderedDict[str, LoadedImage] = OrderedDict()
        self.nbytes = 0

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def get(self, key: str) -> LoadedImage | None:
        if key in self._items:
            self._items.move_to_end(key)
        return self._items.get(key)

    def put(self, key: str, loaded: LoadedImage) -> None:
        self.remove(key)
        self._items[key] = loaded
        self.nbytes += loaded.nbytes
        while self.nbytes > self.limit and len(self._items) > 1:
            self.remove(next(iter(self._items)))

    def remove(self, key: str) -> None:
        loaded = self._items.pop(key, None)
        if loaded is not None:
            self.nbytes -= loaded.nbytes

    def clear(self) -> None:
        self._items.clear()
        self.nbytes = 0


class ImageLoader(QObject):
    """Loader of images and labels. `loaded` or `failed` follows `request`, for the last request only."""

    loaded = Signal(object, object)  # key, LoadedImage
    failed = Signal(object, object)  # key, Problem
    previewed = Signal(object, object, object)  # key, reduced image, full (width, height); `loaded` follows

    def __init__(
        self, unsaved: Callable[[str], Label | None], parent: QObject | None = None, *, limit: int = 512 << 20
    ) -> None:
        super().__init__(parent)
        self.requested: str | None = None
        self._unsaved = unsaved
        self.cache = LruCache(limit)
        self.tasks = TaskRunner(2, self)  # two threads: the requested image need not wait for a neighbor being loaded
        self._project: Project | None = None
        self._loading: set[str] = set()
        self._needed: frozenset[str] = frozenset()  # images whose loading is not skipped

    def open(self, project: Project) -> None:
        self._project = project

    def close(self) -> None:
        self._needed = frozenset()
        self.tasks.stop()
        self._loading.clear()
        self.cache.clear()
        self._project = self.requested = None

    def request(self, key: str) -> None:
        """Load an image and its label; `loaded` may be emitted before this returns."""
        self.requested = key
        self._needed = frozenset((key,))
        loaded = self._cached(key)
        if loaded is not None:
            self.loaded.emit(key, loaded)
        else:
            self._load(key, urgent=True)

    def prefetch(self, keys: Sequence[str]) -> None:
        """Load these images ahead of time, unless another one is requested meanwhile."""
        self._needed = frozenset((*keys, *([] if self.requested is None else [self.requested])))
        for key in keys:
            if key not in self.cache:
                self._load(key, urgent=False)

    @property
    def budget(self) -> int:
        """Limit of the image cache in bytes."""
        return self.cache.limit

    def _cached(self, key: str) -> LoadedImage | None:
        """Return the cached image with its present label; None if its files have changed."""
        loaded = self.cache.get(key)
        if loaded is None or self._project is None:
            return None
        if loaded.stamp != image_stamp(self._project, key):
            self.cache.remove(key)
            return None
        label = self._unsaved(key)
        if label is not None:
            loaded = replace(_with_label(loaded.image, label, loaded.stamp), pages=loaded.pages)
        elif loaded.label.stamp != label_stamp(self._project, key):
            return None
        self.cache.put(key, loaded)
        return loaded

    def _load(self, key: str, *, urgent: bool) -> None:
        project = self._project
        if project is None or key in self._loading:
            return
        self._loading.add(key)
        cached = self.cache.get(key)

        def work(task: Task) -> LoadedImage | None:
            if key not in self._needed:
                return None
            if cached is None and key == self.requested:
                preview = _read_preview(project, key)
                if preview is not None:
                    task.report(*preview)
            return read(project, key, cached)

        self.tasks.submit(
            work,
            lambda loaded: self._on_loaded(key, loaded),
            lambda problem: self._on_failed(key, problem),
            on_progress=lambda reduced, size: self._on_preview(key, reduced, size),
            as_problem=lambda error: ImageBroken(
                path=str(project.image_path(key)), why=str(error) or type(error).__name__
            ),
            urgent=urgent,
        )

    def _on_preview(self, key: str, reduced: np.ndarray, size: tuple[int, int]) -> None:
        if key == self.requested:
            self.previewed.emit(key, reduced, size)

    def _on_failed(self, key: str, problem: Problem) -> None:
        self._loading.discard(key)
        if key == self.requested:
            self.failed.emit(key, problem)

    def _on_loaded(self, key: str, loaded: LoadedImage | None) -> None:
        self._loading.discard(key)
        if loaded is not None:
            self.cache.put(key, loaded)
        if key != self.requested:
            return
        # Load again if the task was skipped and requested again since, or read the files before a save of this session.
        fresh = self._cached(key)
        if fresh is not None:
            self.loaded.emit(key, fresh)
        else:
            self._load(key, urgent=True)


def read(project: Project, key: str, cached: LoadedImage | None = None) -> LoadedImage:
    """Read an image and its label; the pixels of `cached` are reused if the image file is unchanged."""
    stamp = image_stamp(project, key)
    if cached is not None and cached.stamp == stamp:
        image, pages = cached.image, cached.pages
    else:
        path = project.image_path(key)
        image, pages = image_files.read_displayed(path), image_files.page_count(path)
    height, width = image.shape[:2]
    return LoadedImage(image, load_label(project, key, (width, height)), stamp, pages)


def _read_preview(project: Project, key: str) -> tuple[np.ndarray, tuple[int, int]] | None:
    """Return the reduced image embedded in the file and the size of the full one; None if there is none."""
    try:
        return image_files.preview(project.image_path(key))
    except Problem:
        return None


def image_stamp(project: Project, key: str) -> str:
    try:
        return file_stamp(project.image_path(key))
    except Problem:
        return "-"


def _with_label(image: ImageArray, label: Label, stamp: str) -> LoadedImage:
    if label.mask is not None and label.mask.shape != image.shape[:2]:
        # The image was replaced while its strokes were unsaved: they are saved, but can no longer be edited.
        (h, w), (height, width) = label.mask.shape, image.shape[:2]
        problem = MaskWrongSize(path=label.key, mask_width=w, mask_height=h, width=width, height=height)
        label = Label(label.key, label.note, problem=problem)
    return LoadedImage(image, label, stamp)


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
