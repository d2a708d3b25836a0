"""Cell of the contact sheet: large thumbnail with its labels, verdict, status and name."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate

from workbench.core.index import Row
from workbench.session.session import Session
from workbench.ui.panels.picture_list import RowRole
from workbench.ui.panels.picture_row import draw_status
from workbench.ui.panels.thumbnails import EDGE, Thumbnails
from workbench.ui.theme import Style

CELL = QSize(EDGE + 16, EDGE + 40)
_STRENGTH = 170  # opacity of the labels, 0..255


class SheetCell(QStyledItemDelegate):
    """Delegate of the sheet. All cells have the same size, so that long sheets need no measuring."""

    def __init__(self, session: Session, thumbnails: Thumbnails, style: Style) -> None:
        super().__init__()
        self._session, self._thumbnails, self._style = session, thumbnails, style
        self._colors: tuple[list, list[int]] = ([], [])

    def sizeHint(self, option, index) -> QSize:
        return CELL

    def paint(self, painter: QPainter, option, index) -> None:
        row: Row = index.data(RowRole)
        theme, rect = self._style.theme, option.rect.adjusted(3, 3, -3, -3)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        path = QPainterPath()
        path.addRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.fillPath(path, theme.color("selection" if selected else "hover" if hovered else "panel"))
        if selected:
            painter.setPen(QPen(theme.color("accent"), 1.5))
            painter.drawPath(path)
        box = QRect(rect.x() + 5, rect.y() + 5, rect.width() - 10, rect.height() - 36)
        self._draw_picture(painter, box, row)
        if row.verdict:
            self._draw_verdict(painter, box, row.verdict, option.fontMetrics)
        line = QRect(rect.x() + 8, box.bottom() + 4, rect.width() - 34, 24)
        painter.setPen(theme.color("text"))
        room = line.width() - (34 if row.score is not None else 0)
        name = option.fontMetrics.elidedText(row.key.rpartition("/")[2], Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, name)
        if row.score is not None:
            painter.setPen(theme.color("muted"))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, f"{row.score:.2f}")
        draw_status(painter, QPointF(rect.right() - 13, line.center().y() + 1), row, theme)
        painter.restore()

    def _draw_picture(self, painter: QPainter, box: QRect, row: Row) -> None:
        theme = self._style.theme
        painter.fillRect(box, theme.color("canvas"))
        pixmap = None if row.broken and not row.width else self._thumbnails.get(row.key)
        if pixmap is None or pixmap.isNull():
            icon = theme.icon("warning", "danger") if row.broken else theme.icon("picture", "disabled")
            icon.paint(painter, QRect(box.center().x() - 16, box.center().y() - 16, 32, 32))
            return
        ratio = min(box.width() / pixmap.width(), box.height() / pixmap.height())
        width, height = max(1, round(pixmap.width() * ratio)), max(1, round(pixmap.height() * ratio))
        target = QRect(box.x() + (box.width() - width) // 2, box.y() + (box.height() - height) // 2, width, height)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(target, pixmap)
        labels = self._thumbnails.labels(row)
        if labels is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
            labels.setColorTable(self._table())
            painter.drawImage(target, labels)

    def _table(self) -> list[int]:
        """Return the ARGB of each id; hidden classes are transparent."""
        project, hidden = self._session.project, self._session.classes.hidden
        wanted = [(info.id, info.color) for info in project.classes if info.id not in hidden] if project else []
        if self._colors[0] != wanted:
            table = [0] * 256
            for id, name in wanted:
                color = QColor(name)
                color.setAlpha(_STRENGTH)
                table[id] = color.rgba()
            self._colors = (wanted, table)
        return self._colors[1]

    def _draw_verdict(self, painter: QPainter, box: QRect, verdict: str, metrics) -> None:
        theme = self._style.theme
        text = metrics.elidedText(verdict, Qt.TextElideMode.ElideRight, box.width() - 24)
        tag = QRectF(box.x() + 5, box.y() + 5, metrics.horizontalAdvance(text) + 12, metrics.height() + 4)
        painter.setPen(QPen(theme.color("border"), 1))
        painter.setBrush(theme.color("raised"))
        painter.drawRoundedRect(tag, 4, 4)
        painter.setPen(theme.color("text"))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, text)
