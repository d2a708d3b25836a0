"""Content of the canvas: the session's open image with its labels, or another page of its file."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, Signal

from workbench.session.session import Session
from workbench.ui.canvas.layers.canvas_scene import CanvasScene


class CanvasContent(QObject):
    """Content that is shown in a scene. `page_fits`: the labels fit the shown page."""

    about_to_change = Signal()
    changed = Signal()

    def __init__(self, session: Session, scene: CanvasScene, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._scene = session, scene
        self.page_fits = True
        self._overlays = None, None, None  # layers of the image, stored while they do not fit the page
        for signal in (session.image_opened, session.image_failed, session.project_closed):
            signal.connect(self.show)
        for signal in (session.project_opened, session.classes_changed):
            signal.connect(self._recolor)
        session.image_previewed.connect(self._show_preview)
        session.mask_changed.connect(scene.mask_changed)
        self._recolor()

    def show(self, *_: object) -> None:
        """Show the open image, or nothing."""
        self.about_to_change.emit()
        self.page_fits = True
        self._scene.show_image(self._session.image, keep_display=True)
        self._scene.show_labels(self._session.mask)
        self.changed.emit()

    def _show_preview(self, _: str, small: np.ndarray, size: tuple[int, int]) -> None:
        self._scene.show_preview(small, size)

    def show_page(self, page: np.ndarray | None) -> None:
        """Show another page of the file; None returns to the image. Labels stay visible if they fit the page."""
        image, scene = self._session.image, self._scene
        if image is None:
            return
        self.about_to_change.emit()
        overlays = scene.overlays if self.page_fits else self._overlays
        shown = image if page is None else page
        self.page_fits = shown.shape[:2] == image.shape[:2]
        scene.show_image(shown, keep_display=True)
        self._overlays = overlays
        if self.page_fits:
            scene.overlays = overlays
        else:
            scene.previewing = True  # no painting on this page
        self.changed.emit()

    @property
    def pixels(self) -> np.ndarray | None:
        """Shown pixels: of the page if the labels fit it, else of the image, (H, W) or (H, W, 3)."""
        layer = self._scene.image
        top = layer.levels[0] if layer is not None else None
        return top if top is not None and self.page_fits and not self._scene.previewing else self._session.image

    def _recolor(self) -> None:
        project = self._session.project
        colors = {info.id: info.color for info in project.classes} if project else {}
        self._scene.set_colors(colors, self._session.classes.hidden)
