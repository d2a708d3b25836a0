"""List of images that keeps the current image visible."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QListView, QWidget

_BATCH = 200  # rows that are laid out at once, so that a long list appears immediately

_LEAST_WIDTH = 220  # px
_BESIDE_NAME = 112  # px of a row that its thumbnail, status and scroll bar take
_NAME = "n" * 15  # of the length of a name that is not elided


class ImageListView(QListView):
    """List of rows of equal height, laid out in batches."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setUniformItemSizes(True)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self.setBatchSize(_BATCH)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self._target = QPersistentModelIndex()  # row to scroll to once it is laid out
        self.verticalScrollBar().rangeChanged.connect(self._continue)
        self.verticalScrollBar().actionTriggered.connect(self._stop)

    def minimumSizeHint(self) -> QSize:
        """Return a width at which names of images can be distinguished, which depends on the size of texts."""
        width = max(_LEAST_WIDTH, _BESIDE_NAME + self.fontMetrics().horizontalAdvance(_NAME))
        return QSize(width, super().minimumSizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            QTimer.singleShot(0, self, lambda: self.scrollTo(self.currentIndex()))  # rows have another height

    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QListView.ScrollHint = QListView.ScrollHint.EnsureVisible,
    ) -> None:
        """Scroll to a row; to one that is not laid out yet as soon as it is."""
        super().scrollTo(index, hint)
        self._target = QPersistentModelIndex() if self._visible(index) else QPersistentModelIndex(index)

    def doItemsLayout(self) -> None:
        """Lay out the rows again, after each change of a row.

        The first batch reaches down to the lowest visible row. A smaller one would scroll the list up.
        """
        height = max(1, self.sizeHintForRow(0))
        lowest = (self.verticalScrollBar().value() + self.viewport().height()) // height
        self.setBatchSize(max(_BATCH, lowest + 2))
        super().doItemsLayout()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._stop()
        super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the current row visible, for example when the panel below unfolds."""
        current = self.currentIndex()
        before = QRect(0, 0, self.viewport().width(), event.oldSize().height())
        followed = current.isValid() and before.contains(self.visualRect(current).center())
        super().resizeEvent(event)
        if followed and not self._visible(current):
            self.scrollTo(current)

    def _visible(self, index: QModelIndex | QPersistentModelIndex) -> bool:
        return self.viewport().rect().contains(self.visualRect(QModelIndex(index)).center())

    def _continue(self, *_: int) -> None:
        if self._target.isValid():
            self.scrollTo(QModelIndex(self._target))

    def _stop(self, *_: int) -> None:
        self._target = QPersistentModelIndex()
