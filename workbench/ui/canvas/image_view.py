"""View of the open content: the image or another page of its file, its labels and the class colors."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from workbench.session.session import Session
from workbench.ui.canvas.scene_view import SceneView


class ImageView(SceneView):
    """View that follows the session. `page_fits`: the labels fit the shown page."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.page_fits = True
        self._covers = None, None, None  # labels, predictions and difference, stored while they do not fit the page

    def follow(self) -> None:
        """Connect to the session and show the open content."""
        session = self._session
        for signal in (session.image_opened, session.image_failed, session.project_closed):
            signal.connect(self._show)
        for signal in (session.project_opened, session.classes_changed):
            signal.connect(self._recolor)
        session.mask_changed.connect(self.mask_changed)
        self._recolor()
        self._show()

    def drop_work(self) -> None:
        """Cancel unfinished work before another image is shown."""

    def _show(self, *_: object) -> None:
        self.drop_work()
        self.page_fits = True
        self.show_image(self._session.image, keep_display=True)
        self.show_labels(self._session.mask)
        self.came()

    def came(self) -> None:
        """Called after another image is shown."""

    def _recolor(self) -> None:
        project = self._session.project
        colors = {info.id: info.color for info in project.classes} if project else {}
        self.set_colors(colors, self._session.classes.hidden)

    # --- pages -----------------------------------------------------------------------------------

    def show_page(self, page: np.ndarray | None) -> None:
        """Show another page of the file; None returns to the image. Labels stay visible if they fit the page."""
        image = self._session.image
        if image is None:
            return
        self.drop_work()
        covers = (self.labels, self._coming or self.predictions, self.heat) if self.page_fits else self._covers
        shown = image if page is None else page
        self.page_fits = shown.shape[:2] == image.shape[:2]
        self.show_image(shown, keep_display=True)
        self._covers = covers
        if self.page_fits:
            self.labels, self.predictions, self.heat = covers
            self.restyle()
        else:
            self.previewing = True  # no painting on this page

    @property
    def seen(self) -> np.ndarray | None:
        """Pixels shown on the canvas: of the current page if the labels fit it, else of the image."""
        layer, image = self.image, self._session.image
        top = layer.levels[0] if layer is not None else None
        return top if top is not None and self.page_fits and not self.previewing else image
