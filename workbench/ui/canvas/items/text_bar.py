"""Bar with a text over the canvas: its size, and drawing of bar and arrows."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPolygonF

HEIGHT, END, MARGIN = 26, 28, 10  # logical pixels: height, clickable end, distance to the border of the canvas
DARK, LIGHT = QColor(18, 20, 22, 215), QColor(231, 233, 235)


def bar_width(metrics: QFontMetrics, text: str) -> int:
    """Return the width of a bar with both ends, logical pixels."""
    return metrics.horizontalAdvance(text) + 2 * END + 12


def draw_bar(painter: QPainter, area: QRect, text: str) -> None:
    """Draw a bar with its text. Pen and brush are left as signs at the ends need them."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(255, 255, 255, 40), 1))
    painter.setBrush(DARK)
    painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    painter.setPen(LIGHT)
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, text)
    painter.setPen(QPen(LIGHT, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    painter.setBrush(Qt.BrushStyle.NoBrush)


def draw_arrows(painter: QPainter, area: QRect) -> None:
    """Draw arrows to the left and right at the ends of a bar, after `draw_bar`."""
    middle = area.y() + area.height() / 2
    for x, side in ((area.left() + END / 2, 1), (area.right() + 1 - END / 2, -1)):
        tip, ends = QPointF(x - 2.5 * side, middle), x + 2.5 * side
        painter.drawPolyline(QPolygonF([QPointF(ends, middle - 4.5), tip, QPointF(ends, middle + 4.5)]))
