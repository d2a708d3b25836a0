"""Cache of image and mask thumbnails, computed in a thread for visible rows, newest request first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage, QPixmap

from workbench.core.image_list.thumbnail_cache import ThumbnailCache, label_thumbnail
from workbench.core.problems import ImageBroken, Problem
from workbench.core.project.annotation import read_mask
from workbench.core.project.image_row import ImageRow, Numbers
from workbench.core.project.project import Project
from workbench.session.tasks import Task, TaskRunner

EDGE = 192  # pixels of the longer side
CACHED = 600  # thumbnails
QUEUED = 120  # requests; older ones belong to rows scrolled out of view


class ThumbnailProvider(QObject):
    """Cache of several hundred thumbnails. `get` returns at once; `arrived` is emitted when more are ready."""

    arrived = Signal(object)  # key

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = TaskRunner(1, self)
        self._project: Project | None = None
        self._cache: ThumbnailCache | None = None
        self.pixmaps: OrderedDict[str, QPixmap | None] = OrderedDict()
        self._requests: OrderedDict[str, None] = OrderedDict()
        self._running = False
        self._labels: OrderedDict[str, tuple[Numbers, QImage | None]] = OrderedDict()
        self._label_requests: OrderedDict[str, Numbers] = OrderedDict()

    def set_project(self, project: Project | None) -> None:
        self._project = project
        self._cache = None if project is None else ThumbnailCache(project, EDGE)
        self.pixmaps.clear()
        self._requests.clear()
        self._labels.clear()
        self._label_requests.clear()

    def labels(self, row: ImageRow) -> QImage | None:
        """Return the painted classes of an image, ids as 8-bit color indices; outdated ones until updated."""
        if not row.counts:
            return None
        counts, image = self._labels.get(row.key, (None, None))
        if counts != row.counts:
            self._label_requests[row.key] = row.counts
            self._label_requests.move_to_end(row.key)
            while len(self._label_requests) > QUEUED:
                self._label_requests.popitem(last=False)
            self._next()
        return image

    def get(self, key: str) -> QPixmap | None:
        """Return the thumbnail, or None if it is not ready or the image cannot be read."""
        if key in self.pixmaps:
            self.pixmaps.move_to_end(key)
            return self.pixmaps[key]
        self._requests[key] = None
        self._requests.move_to_end(key)
        while len(self._requests) > QUEUED:
            self._requests.popitem(last=False)
        self._next()
        return None

    def end(self) -> None:
        self._requests.clear()
        self._label_requests.clear()
        self._tasks.wait()

    def _next(self) -> None:
        if self._running or self._project is None:
            return
        if not self._requests:
            self._next_label()
            return
        key, _ = self._requests.popitem()
        project, cache = self._project, self._cache
        assert cache is not None
        self._running = True

        def on_finished(image: QImage | None) -> None:
            self._running = False
            if project is self._project:
                self.pixmaps[key] = QPixmap.fromImage(image) if image is not None else None
                while len(self.pixmaps) > CACHED:
                    self.pixmaps.popitem(last=False)
                self.arrived.emit(key)
            self._next()

        self._submit(lambda _: _image(cache.get(key)), on_finished, project.image_path(key))

    def _next_label(self) -> None:
        if not self._label_requests:
            return
        key, counts = self._label_requests.popitem()
        project = self._project
        self._running = True

        def on_finished(image: QImage | None) -> None:
            self._running = False
            if project is self._project:
                self._labels[key] = (counts, image)
                while len(self._labels) > CACHED:
                    self._labels.popitem(last=False)
                self.arrived.emit(key)
            self._next()

        self._submit(lambda _: _label_image(project, key), on_finished, project.mask_path(key))

    def _submit(
        self, work: Callable[[Task], QImage | None], arrive: Callable[[QImage | None], None], path: Path
    ) -> None:
        self._tasks.submit(
            work,
            arrive,
            lambda _: arrive(None),
            as_problem=lambda error: ImageBroken(path=str(path), why=str(error)),
        )


def _label_image(project: Project, key: str) -> QImage | None:
    try:
        pixels = label_thumbnail(read_mask(project.mask_path(key)), EDGE)
    except (Problem, FileNotFoundError):
        return None
    height, width = pixels.shape
    return QImage(pixels.data, width, height, pixels.strides[0], QImage.Format.Format_Indexed8).copy()


def _image(pixels: np.ndarray) -> QImage:
    pixels = np.ascontiguousarray(pixels)
    height, width = pixels.shape[:2]
    format = QImage.Format.Format_Grayscale8 if pixels.ndim == 2 else QImage.Format.Format_RGB888
    return QImage(pixels.data, width, height, pixels.strides[0], format).copy()
