"""Center of the window: the open image, the contact sheet, or the evaluation of a run."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.ui.images.images_panel import ImagesPanel


class CentralStack(QStackedWidget):
    """Stack of canvas, contact sheet and evaluation; the image panel switches between the first two."""

    reviewing = Signal(bool)

    def __init__(self, canvas: QWidget, images: ImagesPanel, review: QWidget) -> None:
        super().__init__()
        self._canvas, self._images, self._sheet, self._review = canvas, images, images.thumbnail_view, review
        for page in (canvas, self._sheet, review):
            self.addWidget(page)
        images.thumbnails_toggled.connect(self._show)

    @property
    def in_review(self) -> bool:
        return self.currentWidget() is self._review

    def show_review(self, on: bool) -> None:
        """Show the evaluation, or return to the previous page."""
        if on == self.in_review:
            return
        if on:
            self.setCurrentWidget(self._review)
            self.reviewing.emit(True)
        else:
            self._show(self._images.browsing)

    def _show(self, sheet: bool) -> None:
        left = self.in_review
        if sheet:
            self.setCurrentWidget(self._sheet)
            self._sheet.show_current()
        else:
            self.setCurrentWidget(self._canvas)
            self._canvas.setFocus()
        if left:
            self.reviewing.emit(False)
