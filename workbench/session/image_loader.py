"""Loading of images and labels in worker threads: the requested image first, then prefetched neighbors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from workbench.core.images import image_files
from workbench.core.problems import ImageBroken, MaskWrongSize, Problem
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp
from workbench.session.label import Label, label_stamp, load_label
from workbench.session.task_queue import TaskQueue


@dataclass(frozen=True)
class LoadedImage:
    """An image with its label. stamp: stamp of the image file when it was read. pages: number of pages of the file."""

    image: np.ndarray
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
        self.drop(key)
        self._items[key] = loaded
        self.nbytes += loaded.nbytes
        while self.nbytes > self.limit and len(self._items) > 1:
            self.drop(next(iter(self._items)))

    def drop(self, key: str) -> None:
        gone = self._items.pop(key, None)
        if gone is not None:
            self.nbytes -= gone.nbytes

    def clear(self) -> None:
        self._items.clear()
        self.nbytes = 0


class ImageLoader(QObject):
    """Loader of images and labels. Answers `want(key)` by `loaded` or `failed`, for the last request only."""

    loaded = Signal(str, object)  # key, Loaded
    failed = Signal(str, object)  # key, Problem
    previewed = Signal(str, object, object)  # key, reduced image, full (width, height); `loaded` follows
    _reduced = Signal(str, object)

    def __init__(
        self, unsaved: Callable[[str], Label | None], parent: QObject | None = None, *, limit: int = 512 << 20
    ) -> None:
        super().__init__(parent)
        self.wanted: str | None = None
        self._unsaved = unsaved
        self._shelf = LruCache(limit)
        self._lane = TaskQueue(2, self)  # two threads: the requested image need not wait for a neighbor being loaded
        self._project: Project | None = None
        self._loading: set[str] = set()
        self._of_use: frozenset[str] = frozenset()
        self._reduced.connect(self._preview, Qt.ConnectionType.QueuedConnection)  # emitted in the worker thread

    def open(self, project: Project) -> None:
        self._project = project

    def close(self) -> None:
        self._of_use = frozenset()
        self._lane.cancel_pending()
        self._loading.clear()
        self._shelf.clear()
        self._project = self.wanted = None

    def request(self, key: str) -> None:
        """Load an image and its label; `loaded` may be emitted before this returns."""
        self.wanted = key
        self._of_use = frozenset((key,))
        found = self._at_hand(key)
        if found is not None:
            self.loaded.emit(key, found)
        else:
            self._load(key, urgent=True)

    def prefetch(self, keys: Sequence[str]) -> None:
        """Load these images ahead of time, unless another one is requested meanwhile."""
        self._of_use = frozenset((*keys, *([] if self.wanted is None else [self.wanted])))
        for key in keys:
            if key not in self._shelf:
                self._load(key, urgent=False)

    @property
    def budget(self) -> int:
        """Limit of the image cache in bytes."""
        return self._shelf.limit

    def _at_hand(self, key: str) -> LoadedImage | None:
        found = self._shelf.get(key)
        if found is None or self._project is None:
            return None
        if found.stamp != image_stamp(self._project, key):
            self._shelf.drop(key)
            return None
        label = self._unsaved(key)
        if label is not None:
            found = replace(_with_label(found.image, label, found.stamp), pages=found.pages)
        elif found.label.stamp != label_stamp(self._project, key):
            return None
        self._shelf.put(key, found)
        return found

    def _load(self, key: str, *, urgent: bool) -> None:
        project = self._project
        if project is None or key in self._loading:
            return
        self._loading.add(key)
        at_hand = self._shelf.get(key)

        def work() -> LoadedImage | None:
            if key not in self._of_use:
                return None
            if at_hand is None and key == self.wanted:
                small = _reduced(project, key)
                if small is not None:
                    self._reduced.emit(key, small)
            return read(project, key, at_hand)

        self._lane.submit(work, lambda found, error: self._arrived(key, found, error), urgent=urgent)

    def _preview(self, key: str, small: tuple[np.ndarray, tuple[int, int]]) -> None:
        if key == self.wanted and key in self._loading:
            self.previewed.emit(key, *small)

    def _arrived(self, key: str, found: LoadedImage | None, error: Exception | None) -> None:
        self._loading.discard(key)
        project = self._project
        if project is None:
            return
        if error is not None:
            if key == self.wanted:
                self.failed.emit(key, _as_problem(project, key, error))
            return
        if found is not None:
            self._shelf.put(key, found)
        if key != self.wanted:
            return
        # Load again if the job was skipped and requested again since, or read the files before a save of this session.
        fresh = self._at_hand(key)
        if fresh is not None:
            self.loaded.emit(key, fresh)
        else:
            self._load(key, urgent=True)


def read(project: Project, key: str, at_hand: LoadedImage | None = None) -> LoadedImage:
    """Read an image and its label; the pixels of `at_hand` are reused if the image file is unchanged."""
    stamp = image_stamp(project, key)
    if at_hand is not None and at_hand.stamp == stamp:
        image, pages = at_hand.image, at_hand.pages
    else:
        path = project.image_path(key)
        image, pages = image_files.read_displayed(path), image_files.page_count(path)
    height, width = image.shape[:2]
    return LoadedImage(image, load_label(project, key, (width, height)), stamp, pages)


def _reduced(project: Project, key: str) -> tuple[np.ndarray, tuple[int, int]] | None:
    try:
        return image_files.preview(project.image_path(key))
    except Problem:
        return None


def image_stamp(project: Project, key: str) -> str:
    try:
        return file_stamp(project.image_path(key))
    except Problem:
        return "-"


def _with_label(image: np.ndarray, label: Label, stamp: str) -> LoadedImage:
    if label.mask is not None and label.mask.shape != image.shape[:2]:
        # The image was replaced while its strokes were unsaved: they are saved, but can no longer be edited.
        (h, w), (height, width) = label.mask.shape, image.shape[:2]
        problem = MaskWrongSize(path=label.key, mask_width=w, mask_height=h, width=width, height=height)
        label = Label(label.key, label.note, problem=problem)
    return LoadedImage(image, label, stamp)


def _as_problem(project: Project, key: str, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    return ImageBroken(path=str(project.image_path(key)), why=str(error) or type(error).__name__)
