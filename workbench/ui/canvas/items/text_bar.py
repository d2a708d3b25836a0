"""Bar with a text over the canvas: its size, and drawing of bar and arrows."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF

HEIGHT, END, MARGIN = 26, 28, 10  # logical pixels: height, clickable end, distance to the border of the canvas
DARK, LIGHT = QColor(18, 20, 22, 215), QColor(231, 233, 235)


def bar_width(metrics: QFontMetrics, text: str, *, ends: int = 2) -> int:
    """Return the width of a bar in logical pixels. ends: 2, or 1 for a bar with a right end only."""
    return metrics.horizontalAdvance(text) + ends * END + 12 * (3 - ends)


def draw_bar(painter: QPainter, area: QRect, text: str, *, ends: int = 2) -> None:
    """Draw a bar with its text in the middle between its ends. Pen and brush are left as signs at the ends need them.

    ends: as for `bar_width`.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(255, 255, 255, 40), 1))
    painter.setBrush(DARK)
    painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    painter.setPen(LIGHT)
    painter.drawText(area if ends == 2 else area.adjusted(0, 0, -END, 0), Qt.AlignmentFlag.AlignCenter, text)
    painter.setPen(QPen(LIGHT, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def draw_arrows(painter: QPainter, area: QRect) -> None:
    """Draw arrows to the left and right at the ends of a bar, after `draw_bar`."""
    middle = area.y() + area.height() / 2
    for x, side in ((area.left() + END / 2, 1), (area.right() + 1 - END / 2, -1)):
        tip, ends = QPointF(x - 2.5 * side, middle), x + 2.5 * side
        painter.drawPolyline(QPolygonF([QPointF(ends, middle - 4.5), tip, QPointF(ends, middle + 4.5)]))
