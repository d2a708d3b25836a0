"""List of images that keeps the current image visible."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QListView, QWidget

_LEAST_WIDTH = 220  # px
_BESIDE_NAME = 112  # px of a row that its thumbnail, status and scroll bar take
_NAME = "n" * 15  # of the length of a name that is not elided


class ImageListView(QListView):
    """List of rows of equal height.

    All rows are laid out at once, which takes 10 ms for 100,000 of them. A layout in batches shows no rows until it is
    complete, so that the list would flicker with each resize.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)

    def minimumSizeHint(self) -> QSize:
        """Return a width at which names of images can be distinguished, which depends on the size of texts."""
        width = max(_LEAST_WIDTH, _BESIDE_NAME + self.fontMetrics().horizontalAdvance(_NAME))
        return QSize(width, super().minimumSizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            QTimer.singleShot(0, self, lambda: self.scrollTo(self.currentIndex()))  # rows have another height

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the current row visible, for example when the panel below unfolds."""
        current = self.currentIndex()
        before = QRect(0, 0, self.viewport().width(), event.oldSize().height())
        followed = current.isValid() and before.contains(self.visualRect(current).center())
        super().resizeEvent(event)
        if followed and not self._visible(current):
            self.scrollTo(current)

    def _visible(self, index: QModelIndex) -> bool:
        row = self.visualRect(index)
        return row.top() >= 0 and row.bottom() < self.viewport().height()
