"""Ruler over the image: drag a line to measure its length in pixels and micrometers."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QLineF, QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen

from workbench.core.geometry.selection import Point
from workbench.ui.canvas.items.canvas_items import MOVE, PRESS, RELEASE, CanvasItemHost
from workbench.ui.text import formatting

_TICK = 6.0  # logical pixels on each side of the line's ends
_DARK, _LIGHT = QColor(0, 0, 0, 190), QColor(255, 255, 255)


class Ruler(QObject):
    """Ruler. While it is on, left drags measure; Shift keeps the line horizontal, vertical or diagonal."""

    switched = Signal(bool)

    def __init__(self, view: CanvasItemHost) -> None:
        super().__init__(view)
        self._view = view
        self.on = False
        self.um_per_pixel: float | None = None
        self.line: tuple[Point, Point] | None = None  # image coordinates
        self._dragging = False

    def switch(self, on: bool) -> None:
        if on == self.on:
            return
        old = self.area
        self.on, self.line, self._dragging = on, None, False
        self._redraw(old)
        self.switched.emit(on)

    def set_scale(self, um_per_pixel: float | None) -> None:
        self.um_per_pixel = um_per_pixel
        self._redraw(self.area)

    def forget(self) -> None:
        """Remove the line when another image is shown."""
        old = self.area
        self.line, self._dragging = None, False
        self._redraw(old)

    @property
    def length(self) -> float:
        """Length in image pixels; 0 without a line."""
        return math.dist(*self.line) if self.line else 0.0

    def text(self) -> str:
        return formatting.length(self.length, self.um_per_pixel)

    # --- pointer ---------------------------------------------------------------------------------

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        if not self.on or self._view.image is None:
            return False
        left = Qt.MouseButton.LeftButton
        if (
            kind in PRESS
            and event.button() == left
            and event.modifiers()
            in (
                Qt.KeyboardModifier.NoModifier,
                Qt.KeyboardModifier.ShiftModifier,
            )
            and not self._view.panning
        ):
            point = self._view.image_point(event.position())
            self._dragging = True
            self._set((point, point))
            return True
        if kind == MOVE and self._dragging and self.line is not None:
            self._set((self.line[0], self._held(event)))
            return True
        if kind == RELEASE and event.button() == left and self._dragging:
            if self.line is not None:
                self._set((self.line[0], self._held(event)))
            self._dragging = False
            if self.length * self._view.view.scale < 2:
                self.forget()
            return True
        return False

    def _held(self, event: QMouseEvent) -> Point:
        assert self.line is not None
        x, y = self._view.image_point(event.position())
        if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            return x, y
        (x0, y0), eighth = self.line[0], math.pi / 4
        angle = round(math.atan2(y - y0, x - x0) / eighth) * eighth
        along = (x - x0) * math.cos(angle) + (y - y0) * math.sin(angle)
        return x0 + along * math.cos(angle), y0 + along * math.sin(angle)

    def _set(self, line: tuple[Point, Point]) -> None:
        old, self.line = self.area, line
        self._redraw(old)
        self._redraw(self.area)

    def _redraw(self, area: QRect | None) -> None:
        if area is not None:
            self._view.update(area)

    # --- drawing ---------------------------------------------------------------------------------

    def _ends(self) -> QLineF:
        assert self.line is not None
        ratio = self._view.devicePixelRatioF()
        (x0, y0), (x1, y1) = (self._view.view.to_screen(*point) for point in self.line)
        return QLineF(x0 / ratio, y0 / ratio, x1 / ratio, y1 / ratio)

    def _plate(self, line: QLineF) -> QRectF:
        """Return the box of the length text: beside the far end, inside the canvas."""
        size = self._view.fontMetrics().size(0, self.text())
        width, height = size.width() + 12, size.height() + 6
        x = line.x2() + 12 if line.dx() >= 0 else line.x2() - 12 - width
        x = min(max(x, 4), max(self._view.width() - width - 4, 4))
        y = min(max(line.y2() - height / 2, 4), max(self._view.height() - height - 4, 4))
        return QRectF(x, y, width, height)

    @property
    def area(self) -> QRect | None:
        if self.line is None:
            return None
        line = self._ends()
        around = QRectF(line.p1(), line.p2()).normalized().adjusted(-_TICK - 3, -_TICK - 3, _TICK + 3, _TICK + 3)
        return around.united(self._plate(line)).toAlignedRect().adjusted(-2, -2, 2, 2)

    def draw(self, painter: QPainter) -> None:
        if self.line is None:
            return
        line = self._ends()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ticks = []
        if line.length() > 0:
            across = line.normalVector().unitVector()
            step = QPointF(across.dx(), across.dy()) * _TICK
            ticks = [QLineF(end - step, end + step) for end in (line.p1(), line.p2())]
        for color, width in ((_DARK, 3.0), (_LIGHT, 1.4)):
            painter.setPen(QPen(color, width))
            painter.drawLines([line, *ticks])
        plate = self._plate(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_DARK)
        painter.drawRoundedRect(plate, 4, 4)
        painter.setPen(_LIGHT)
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, self.text())
        painter.restore()
