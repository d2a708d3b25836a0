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

    requested = Signal(str)  # key of the image whose label is about to be read
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
        self._pending: list[str] = []  # "undo" and "redo" commands whose image is still loading
        loader.loaded.connect(self._on_loaded)
        loader.failed.connect(self._on_failed)
        listing.listed.connect(self._prefetch)

    def close(self) -> None:
        self.key = self.image = self.label = None
        self._pending.clear()

    # --- images -----------------------------------------------------------------------------------

    def open(self, key: str) -> None:
        """Open an image; cancels undo commands that are pending for another one."""
        self._pending.clear()
        self._request(key)

    def go(self, step: int) -> bool:
        key = self._listing.neighbor(self._loader.requested, step)
        if key is not None:
            self._direction = 1 if step > 0 else -1
            self.open(key)
        return key is not None

    def _request(self, key: str) -> None:
        self._editor.finish_stroke()
        self.requested.emit(key)
        self._loader.request(key)

    def _on_loaded(self, key: str, loaded: LoadedImage) -> None:
        self.pages = loaded.pages
        self._show(key, loaded.image, loaded.label)
        self.opened.emit(key)
        self._prefetch()
        commands, self._pending = self._pending, []
        for command in commands:
            patch = self.next_step(command)
            self.undo_or_redo(command)
            if patch is not None and patch.key == key:
                self.followed.emit(command, patch)

    def _on_failed(self, key: str, problem: Problem) -> None:
        if self._pending:
            # Its steps can never be reached again and would block undo of older ones.
            self._editor.history.forget(key)
            self._pending.clear()
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
            self._loader.prefetch(self._listing.neighbors(self.key, self._direction))

    # --- undo and redo ----------------------------------------------------------------------------

    def next_step(self, command: str) -> Patch | None:
        history = self._editor.history
        return history.next_undo if command == "undo" else history.next_redo

    def undo_or_redo(self, command: str) -> None:
        """Undo or redo ("undo", "redo") the next step, on the image it was made on."""
        self._editor.finish_stroke()
        if self._pending:
            self._pending.append(command)
            return
        patch = self.next_step(command)
        if patch is None:
            return
        if patch.key != self.key or self.image is None:
            self._pending.append(command)
            self._request(patch.key)
        elif command == "undo":
            self._editor.undo()
        else:
            self._editor.redo()
