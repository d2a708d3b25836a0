"""Label that shows an icon."""

from __future__ import annotations

from PySide6.QtGui import QIcon, QPainter
from PySide6.QtWidgets import QWidget


class IconLabel(QWidget):
    """Icon of a fixed size, painted anew in the colors of the theme and for the screen that it is on.

    A QLabel keeps its pixmap in the colors and the pixel ratio of the time when it was set.
    """

    def __init__(self, icon: QIcon | None = None, size: int = 16) -> None:
        """Create a label. size: px, logical."""
        super().__init__()
        self._icon = icon or QIcon()
        self.setFixedSize(size, size)

    def set_icon(self, icon: QIcon) -> None:
        self._icon = icon
        self.update()

    def paintEvent(self, event) -> None:
        mode = QIcon.Mode.Normal if self.isEnabled() else QIcon.Mode.Disabled
        self._icon.paint(QPainter(self), self.rect(), mode=mode)
