"""Rounded background of a selected or hovered list row."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from workbench.ui.widgets.theme import Theme


def draw_plate(painter: QPainter, row: QRect, theme: Theme, *, fill: str = "", line: str = "") -> None:
    """Draw the background. fill, line: names of theme colors; empty for none."""
    path = QPainterPath()
    path.addRoundedRect(QRectF(row).adjusted(0.5, 1.5, -0.5, -1.5), 5, 5)
    if fill:
        painter.fillPath(path, theme.color(fill))
    if line:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color(line), 1))
        painter.drawPath(path)
