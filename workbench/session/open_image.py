"""The open image: loading, display, and undo that opens the image a step was made on."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.core.problems import Problem
from workbench.core.project.history import Patch
from workbench.session.editor import Editor
from workbench.session.image_list import ImageList
from workbench.session.image_loader import ImageLoader, LoadedImage
from workbench.session.label import Label


class OpenImage(QObject):
    """The open image. While the next one is read, the former one stays and can be painted on."""

    wanted = Signal(str)  # key of the image whose label is about to be read
    opened = Signal(str)
    failed = Signal(str, object)  # key, Problem
    history_changed = Signal()
    followed = Signal(str, object)  # "undo" or "redo", and the Patch for which another image was opened

    def __init__(self, listing: ImageList, loader: ImageLoader, editor: Editor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.key: str | None = None
        self.image: np.ndarray | None = None
        self.label: Label | None = None
        self.pages = 1  # of the image file; the first one is displayed
        self._listing = listing
        self._loader = loader
        self._editor = editor
        self._direction = 1
        self._waiting: list[str] = []  # undo and redo orders whose image is still loading
        loader.loaded.connect(self._arrived)
        loader.failed.connect(self._failed)
        listing.listed.connect(self._prefetch)

    def close(self) -> None:
        self.key = self.image = self.label = None
        self._waiting.clear()

    # --- images -----------------------------------------------------------------------------------

    def open(self, key: str) -> None:
        """Open an image; drops undo orders that are pending for another one."""
        self._waiting.clear()
        self._want(key)

    def go(self, step: int) -> bool:
        key = self._listing.at(self._loader.wanted, step)
        if key is not None:
            self._direction = 1 if step > 0 else -1
            self.open(key)
        return key is not None

    def _want(self, key: str) -> None:
        self._editor.finish_stroke()
        self.wanted.emit(key)
        self._loader.request(key)

    def _arrived(self, key: str, loaded: LoadedImage) -> None:
        self.pages = loaded.pages
        self._show(key, loaded.image, loaded.label)
        self.opened.emit(key)
        self._prefetch()
        orders, self._waiting = self._waiting, []
        for order in orders:
            patch = self.next_step(order)
            self.undo_or_redo(order)
            if patch is not None and patch.key == key:
                self.followed.emit(order, patch)

    def _failed(self, key: str, problem: Problem) -> None:
        if self._waiting:
            # Its steps can never be reached again and would block undo of older ones.
            self._editor.history.forget(key)
            self._waiting.clear()
            self.history_changed.emit()
        self._show(key, None, None)
        self.failed.emit(key, problem)

    def _show(self, key: str, image: np.ndarray | None, label: Label | None) -> None:
        self._editor.commit()
        self.key, self.image, self.label = key, image, label
        self._editor.label = label

    def _prefetch(self) -> None:
        # Very large images would evict each other from the cache.
        if self.key is not None and self.image is not None and 3 * self.image.nbytes <= self._loader.budget:
            self._loader.prefetch(self._listing.near(self.key, self._direction))

    # --- undo and redo ----------------------------------------------------------------------------

    def next_step(self, order: str) -> Patch | None:
        history = self._editor.history
        return history.next_undo if order == "undo" else history.next_redo

    def undo_or_redo(self, order: str) -> None:
        """Undo or redo ("undo", "redo") the next step, on the image it was made on."""
        self._editor.finish_stroke()
        if self._waiting:
            self._waiting.append(order)
            return
        patch = self.next_step(order)
        if patch is None:
            return
        if patch.key != self.key or self.image is None:
            self._waiting.append(order)
            self._want(patch.key)
        elif order == "undo":
            self._editor.undo()
        else:
            self._editor.redo()
