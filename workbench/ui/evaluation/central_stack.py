"""Center of the window: the current image, the thumbnails, or the evaluation of a run."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.ui.images.images_panel import ImagesPanel


class CentralStack(QStackedWidget):
    """Stack of canvas, thumbnail view and evaluation; the image panel switches between the first two."""

    evaluation_toggled = Signal(bool)

    def __init__(self, canvas: QWidget, images: ImagesPanel, evaluation: QWidget) -> None:
        super().__init__()
        self._canvas, self._images, self._thumbnails, self._evaluation = (
            canvas,
            images,
            images.thumbnail_view,
            evaluation,
        )
        for page in (canvas, self._thumbnails, evaluation):
            self.addWidget(page)
        self.currentChanged.connect(lambda _: self.updateGeometry())
        images.thumbnails_toggled.connect(self._show_images)

    def minimumSizeHint(self) -> QSize:
        """Return the least size of the shown page; with that of the others the side panels would be cut."""
        return self.currentWidget().minimumSizeHint()

    @property
    def in_evaluation(self) -> bool:
        return self.currentWidget() is self._evaluation

    def show_evaluation(self, on: bool) -> None:
        """Show the evaluation, or return to the previous page."""
        if on == self.in_evaluation:
            return
        if on:
            self.setCurrentWidget(self._evaluation)
            self.evaluation_toggled.emit(True)
        else:
            self._show_images(self._images.browsing)

    def _show_images(self, thumbnails: bool) -> None:
        was_evaluation = self.in_evaluation
        if thumbnails:
            self.setCurrentWidget(self._thumbnails)
            self._thumbnails.show_current()
        else:
            self.setCurrentWidget(self._canvas)
            self._canvas.setFocus()
        if was_evaluation:
            self.evaluation_toggled.emit(False)
