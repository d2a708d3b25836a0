"""Tool button with a menu of alternatives."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAction, QPainter, QPolygonF
from PySide6.QtWidgets import QMenu, QToolButton, QWidget


class ToolGroupButton(QToolButton):
    """Button that shows its current action. A small triangle in the corner indicates the menu."""

    def __init__(self, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for action in actions:
            menu.addAction(action)
            action.toggled.connect(lambda on, action=action: self._set_current(action) if on else None)
        self.setMenu(menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.DelayedPopup)
        self._set_current(next((action for action in actions if action.isChecked()), actions[0]))

    def _set_current(self, action: QAction) -> None:
        self.setDefaultAction(action)
        self.setAccessibleName(action.toolTip())

    def contextMenuEvent(self, event) -> None:
        self.showMenu()

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Menu):
            self.showMenu()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().placeholderText())
        corner = QPointF(self.width() - 3.5, self.height() - 3.5)
        painter.drawPolygon(QPolygonF([corner, corner - QPointF(5, 0), corner - QPointF(0, 5)]))
        painter.end()
