"""List row of a class: color, name, key, and an eye that hides the class."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate

from workbench.core.project.project import DONT_CARE
from workbench.ui.widgets.item_views import draw_row_background, state_color
from workbench.ui.widgets.theme import ThemeManager

IdRole = Qt.ItemDataRole.UserRole
ColorRole = Qt.ItemDataRole.UserRole + 1
KeyRole = Qt.ItemDataRole.UserRole + 2
HiddenRole = Qt.ItemDataRole.UserRole + 3
HEIGHT = 30


def swatch_rect(row: QRect) -> QRect:
    return QRect(row.x() + 4, row.y() + (row.height() - 20) // 2, 24, 20)


def eye_rect(row: QRect) -> QRect:
    return QRect(row.right() - 26, row.y() + (row.height() - 22) // 2, 24, 22)


class ClassDelegate(QStyledItemDelegate):
    """Delegate that draws color, name, key, and an eye that hides the class."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style

    def sizeHint(self, option, index) -> QSize:
        return QSize(120, HEIGHT)

    def paint(self, painter: QPainter, option, index) -> None:
        theme, rect = self._style.theme, option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = "accent" if option.state & QStyle.StateFlag.State_Selected else ""
        draw_row_background(painter, rect, theme, fill=state_color(option), line=line)
        hidden = bool(index.data(HiddenRole))
        swatch = QRectF(swatch_rect(rect)).adjusted(3, 2, -5, -2)
        painter.setPen(QPen(QColor(0, 0, 0, 100), 1))
        color = QColor(index.data(ColorRole))
        painter.setBrush(color)
        if index.data(IdRole) == DONT_CARE:
            painter.setBrush(QBrush(theme.color("muted"), Qt.BrushStyle.BDiagPattern))
            painter.setPen(QPen(theme.color("muted"), 1))
        painter.drawRoundedRect(swatch, 4, 4)
        right = rect.right() - 4
        if index.data(IdRole) != DONT_CARE:
            if hidden or option.state & QStyle.StateFlag.State_MouseOver:
                icon = self._style.icon("eye-off" if hidden else "eye", "muted")
                icon.paint(painter, eye_rect(rect).adjusted(3, 2, -3, -2))
            right = eye_rect(rect).left() - 4
        right = self._draw_key(painter, rect, right, index.data(KeyRole), option)
        painter.setPen(theme.color("disabled" if hidden else "text"))
        box = QRect(rect.x() + 32, rect.y(), right - rect.x() - 36, rect.height())
        text = option.fontMetrics.elidedText(index.data(), Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()

    def _draw_key(self, painter: QPainter, rect: QRect, right: int, key: str, option) -> int:
        if not key:
            return right
        theme = self._style.theme
        badge = QRectF(right - 20, rect.y() + (rect.height() - 18) / 2, 18, 18)
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("base"))
        painter.drawRoundedRect(badge, 4, 4)
        painter.setPen(theme.color("muted"))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, key)
        return int(badge.left()) - 4

    def createEditor(self, parent, option, index):
        editor = QLineEdit(parent)
        editor.setMaxLength(100)
        editor.setAccessibleName(index.data())
        return editor

    def updateEditorGeometry(self, editor, option, index) -> None:
        editor.setGeometry(option.rect.adjusted(28, 0, -28, 0))
