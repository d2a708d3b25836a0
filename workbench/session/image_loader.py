"""Loading of images and labels in worker threads: the requested image first, then prefetched neighbors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.images import image_files
from workbench.core.problems import ImageBroken, MaskWrongSize, Problem
from workbench.core.project.project import Project
from workbench.core.project.storage import file_stamp
from workbench.inference.io.tiff_regions import ImageArray
from workbench.session.label import Label, label_stamp, load_label
from workbench.session.tasks import Task, TaskRunner


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
