"""Dashed frame around the region of a suspected label error."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.canvas_widget import Canvas
from workbench.ui.canvas.interactor import Interactor

_GAP = 5  # logical pixels around the region
_DARK, _LIGHT = QColor(20, 22, 25, 210), QColor("#ffd24d")


class LabelIssueMarker(QObject, Interactor):
    """Frame drawn above everything; transparent to pointer events."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self._rect: Rect | None = None

    def show(self, rect: Rect | None) -> None:
        """Frame a rectangle of image pixels; None hides the frame."""
        before, self._rect = self.area, rect
        for area in (before, self.area):
            self._canvas.renderer.update_overlay(area)

    @property
    def area(self) -> QRect | None:
        frame = self._frame()
        return None if frame is None else frame.toAlignedRect().adjusted(-3, -3, 3, 3)

    def _frame(self) -> QRectF | None:
        if self._rect is None or self._canvas.scene.image is None:
            return None
        rect, view = self._rect, self._canvas.view_state
        corners = view.to_widget((rect.x, rect.y)), view.to_widget((rect.x + rect.width, rect.y + rect.height))
        return QRectF(*corners).adjusted(-_GAP, -_GAP, _GAP, _GAP)

    def draw(self, painter: QPainter) -> None:
        frame = self._frame()
        if frame is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(_DARK, 3.6))
        painter.drawRoundedRect(frame, 5, 5)
        pen = QPen(_LIGHT, 1.8)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.drawRoundedRect(frame, 5, 5)
