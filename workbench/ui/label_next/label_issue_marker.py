"""Dashed frame around the region of a suspected label error."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.items.canvas_items import CanvasItemHost

_GAP = 5  # logical pixels around the region
_DARK, _LIGHT = QColor(20, 22, 25, 210), QColor("#ffd24d")


class LabelIssueMarker(QObject):
    """Frame drawn above everything; transparent to pointer events."""

    def __init__(self, view: CanvasItemHost) -> None:
        super().__init__(view)
        self._view = view
        self._rect: Rect | None = None

    def show(self, rect: Rect | None) -> None:
        """Frame a rectangle of image pixels; None hides the frame."""
        before, self._rect = self.area, rect
        for area in (before, self.area):
            if area is not None:
                self._view.update(area.adjusted(-2, -2, 2, 2))

    @property
    def area(self) -> QRect | None:
        frame = self._frame()
        return None if frame is None else frame.toAlignedRect().adjusted(-3, -3, 3, 3)

    def _frame(self) -> QRectF | None:
        if self._rect is None or self._view.image is None:
            return None
        rect, ratio = self._rect, self._view.devicePixelRatioF()
        left, top = self._view.view.to_screen(rect.x, rect.y)
        right, bottom = self._view.view.to_screen(rect.x + rect.width, rect.y + rect.height)
        return QRectF(left / ratio, top / ratio, (right - left) / ratio, (bottom - top) / ratio).adjusted(
            -_GAP, -_GAP, _GAP, _GAP
        )

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        return False

    def draw(self, painter: QPainter) -> None:
        frame = self._frame()
        if frame is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(_DARK, 3.6))
        painter.drawRoundedRect(frame, 5, 5)
        pen = QPen(_LIGHT, 1.8)
        pen.setDashPattern([4, 3])
        painter.setPen(pen)
        painter.drawRoundedRect(frame, 5, 5)
        painter.restore()
