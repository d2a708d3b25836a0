"""List of suggestions: one row each, with buttons that accept and reject it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QToolTip

from workbench.core.suggestions.suggestions import Suggestion
from workbench.ui.shortcuts import with_key
from workbench.ui.suggestions.suggestions_controller import SuggestionsController
from workbench.ui.widgets.item_views import ItemRole, ListModel, draw_background, draw_row_background, state_color
from workbench.ui.widgets.theme import ThemeManager

ROW = 26  # px: least height of a row
_BUTTON, _ICON, _RIGHT = 24, 15, 4  # px: width of a button, its icon, space on the right
ColorRole, ProbabilityRole, EditedRole = (ItemRole + i for i in range(1, 4))


def button_rects(row: QRect) -> dict[str, QRect]:
    """Return the rectangles of the buttons "accept" and "reject" in a row."""
    left = row.right() + 1 - _RIGHT - 2 * _BUTTON
    return {
        name: QRect(left + i * _BUTTON, row.y() + 1, _BUTTON, row.height() - 2)
        for i, name in enumerate(("accept", "reject"))
    }


class SuggestionDelegate(QStyledItemDelegate):
    """Delegate that draws a dashed swatch, the class, the probability and the buttons."""

    def __init__(self, style: ThemeManager) -> None:
        super().__init__()
        self._style = style
        self.hovered: tuple[int, str] = (-1, "")  # row and button under the pointer
        self.enabled = True  # the image can be changed

    def sizeHint(self, option, index) -> QSize:
        return QSize(120, max(ROW, option.fontMetrics.height() + 8))

    def paint(self, painter: QPainter, option, index) -> None:
        theme, rect = self._style.theme, option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_row_background(painter, rect, theme, fill=state_color(option))
        color = QColor(index.data(ColorRole))
        swatch = QRectF(rect.x() + 8, rect.y() + (rect.height() - 12) / 2, 17, 12)
        fill = QColor(color)
        fill.setAlpha(60)
        pen = QPen(color, 1.6)
        pen.setDashPattern([2.4, 1.8])
        painter.setPen(pen)
        painter.setBrush(fill)
        painter.drawRoundedRect(swatch, 3, 3)
        box = rect.adjusted(33, 0, -(_RIGHT + 2 * _BUTTON + 4), 0)
        probability = index.data(ProbabilityRole)
        painter.setPen(theme.color("muted"))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, probability)
        box.setRight(box.right() - option.fontMetrics.horizontalAdvance(probability) - 8)
        name = index.data() + (" *" if index.data(EditedRole) else "")
        painter.setPen(theme.color("text"))
        text = option.fontMetrics.elidedText(name, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
        self._draw_buttons(painter, rect, index.row())
        painter.restore()

    def _draw_buttons(self, painter: QPainter, row: QRect, number: int) -> None:
        theme, ratio = self._style.theme, painter.device().devicePixelRatioF()
        icons = {"accept": ("done", "success"), "reject": ("close", "danger")}
        for name, rect in button_rects(row).items():
            if self.enabled and self.hovered == (number, name):
                draw_background(painter, rect, theme, fill="raised", line="border", radius=4)
            icon, role = icons[name]
            pixmap = theme.pixmap(icon, _ICON, role if self.enabled else "disabled", ratio)
            painter.drawPixmap(rect.center() - QPoint(_ICON // 2, _ICON // 2), pixmap)


class SuggestionListView(QListView):
    """List view whose rows have buttons; Space accepts the current row and Delete rejects it, as on the canvas."""

    def __init__(self, controller: SuggestionsController, model: ListModel[Suggestion], style: ThemeManager) -> None:
        super().__init__(objectName="history")
        self._controller = controller
        self._pressed: tuple[int, str] = (-1, "")
        self._delegate = SuggestionDelegate(style)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self.setAccessibleName(self.tr("Suggestions"))
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        style.changed.connect(self.viewport().update)

    def set_changeable(self, on: bool) -> None:
        """Enable or disable the buttons of the rows."""
        if on != self._delegate.enabled:
            self._delegate.enabled = on
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        interaction, suggestion = self._controller.interaction, self.currentIndex().data(ItemRole)
        if suggestion is not None and event.key() == Qt.Key.Key_Space:
            interaction.accepted.emit([suggestion])
        elif suggestion is None or not interaction.key(event, suggestion):
            super().keyPressEvent(event)

    # --- buttons of the rows ---------------------------------------------------------------------

    def button_at(self, position: QPoint) -> tuple[QModelIndex, str]:
        """Return the row at a position of the viewport and its button there, "" if there is none."""
        index = self.indexAt(position)
        if not index.isValid():
            return index, ""
        rects = button_rects(self.visualRect(index))
        return index, next((name for name, rect in rects.items() if rect.contains(position)), "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index, button = self.button_at(event.position().toPoint())
        self._pressed = (index.row(), button) if button and event.button() == Qt.MouseButton.LeftButton else (-1, "")
        if not self._pressed[1]:
            super().mousePressEvent(event)  # selects the row, which moves the view to the suggestion

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, (-1, "")
        if not pressed[1]:
            super().mouseReleaseEvent(event)
            return
        index, button = self.button_at(event.position().toPoint())
        if (index.row(), button) == pressed and self._delegate.enabled:
            interaction, suggestion = self._controller.interaction, index.data(ItemRole)
            (interaction.accepted if button == "accept" else interaction.rejected).emit([suggestion])

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mousePressEvent(event)  # the second of two quick clicks decides on the next row

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        index, button = self.button_at(event.position().toPoint())
        self._hover((index.row(), button) if button else (-1, ""))
        if not self._pressed[1]:
            super().mouseMoveEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            _, button = self.button_at(event.pos())
            texts = {
                "accept": with_key(self.tr("Accept"), "accept_suggestion"),
                "reject": with_key(self.tr("Reject"), "reject_suggestion"),
            }
            QToolTip.showText(event.globalPos(), texts.get(button, ""), self.viewport())
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover((-1, ""))
        return super().viewportEvent(event)

    def _hover(self, hovered: tuple[int, str]) -> None:
        if hovered != self._delegate.hovered:
            self._delegate.hovered = hovered
            self.viewport().update()
