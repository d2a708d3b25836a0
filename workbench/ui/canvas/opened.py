"""The view of what is open: the picture or another page of its file, its labels, the colours of the classes."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from workbench.session.session import Session
from workbench.ui.canvas.view import View


class Opened(View):
    """Follows the session. `page_fits`: labels can lie on the page that is looked at."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.page_fits = True
        self._covers = None, None, None  # labels, predictions, difference, while a page is looked at that they misfit

    def follow(self) -> None:
        """From now on; and show what is open already."""
        session = self._session
        for signal in (session.picture_opened, session.picture_failed, session.project_closed):
            signal.connect(self._show)
        for signal in (session.project_opened, session.classes_changed):
            signal.connect(self._recolor)
        session.mask_changed.connect(self.mask_changed)
        self._recolor()
        self._show()

    def drop_work(self) -> None:
        """Another picture comes: nothing that was begun on this one goes on."""

    def _show(self, *_: object) -> None:
        self.drop_work()
        self.page_fits = True
        self.show_picture(self._session.picture, keep_display=True)
        self.show_labels(self._session.mask)
        self.came()

    def came(self) -> None:
        """Another picture is shown now."""

    def _recolor(self) -> None:
        project = self._session.project
        colors = {info.id: info.color for info in project.classes} if project else {}
        self.set_colors(colors, self._session.classes.hidden)

    # --- pages -----------------------------------------------------------------------------------

    def show_page(self, page: np.ndarray | None) -> None:
        """Another page of the picture's file in its place, None: the picture again. The labels stay where they fit."""
        picture = self._session.picture
        if picture is None:
            return
        self.drop_work()
        covers = (self.labels, self._coming or self.predictions, self.heat) if self.page_fits else self._covers
        shown = picture if page is None else page
        self.page_fits = shown.shape[:2] == picture.shape[:2]
        self.show_picture(shown, keep_display=True)
        self._covers = covers
        if self.page_fits:
            self.labels, self.predictions, self.heat = covers
            self.restyle()
        else:
            self.previewing = True  # nothing can be painted on it

    @property
    def seen(self) -> np.ndarray | None:
        """The pixels that lie on the canvas, of the page that is looked at; of the picture where they do not fit it."""
        layer, picture = self.picture, self._session.picture
        top = layer.levels[0] if layer is not None else None
        return top if top is not None and self.page_fits and not self.previewing else picture
