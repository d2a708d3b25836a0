"""Frame that shows the keyboard focus of a widget that draws no focus itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
_LINE = 2  # px


class FocusFrame(QWidget):
    """Frame over a widget, visible from the moment it is focused by the keyboard until the pointer is used on it."""

    def __init__(self, target: QWidget) -> None:
        super().__init__(target)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.FocusIn:
            self.setGeometry(self.parentWidget().rect())
            self.setVisible(event.reason() in _KEYBOARD)
            self.raise_()
        elif kind in (QEvent.Type.FocusOut, QEvent.Type.MouseButtonPress):
            self.hide()
        elif kind == QEvent.Type.Resize:
            self.setGeometry(self.parentWidget().rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(self.palette().highlight().color(), _LINE))
        painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()
