"""Ruler over the image: drag a line to measure its length in pixels and micrometers."""

from __future__ import annotations

import math

from PySide6.QtCore import QLineF, QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen

from workbench.core.geometry.selection import Point
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.text import formatting

_TICK = 6.0  # logical pixels on each side of the line's ends
_SHORTEST = 2  # device pixels: a shorter line is removed
_DARK, _LIGHT = QColor(0, 0, 0, 190), QColor(255, 255, 255)


class Ruler(QObject, Interactor):
    """Ruler. While it is on, left drags measure; Shift keeps the line horizontal, vertical or diagonal."""

    switched = Signal(bool)

    def __init__(self, view: ViewState, renderer: SceneRenderer, parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._renderer = view, renderer
        self.on = False
        self.um_per_pixel: float | None = None
        self.line: tuple[Point, Point] | None = None  # image coordinates

    def switch(self, on: bool) -> None:
        if on == self.on:
            return
        old = self.area
        self.on, self.line = on, None
        self._renderer.update_overlay(old)
        self.switched.emit(on)

    def set_scale(self, um_per_pixel: float | None) -> None:
        self.um_per_pixel = um_per_pixel
        self._renderer.update_overlay(self.area)

    def clear(self) -> None:
        """Remove the line when another image is shown."""
        old = self.area
        self.line = None
        self._renderer.update_overlay(old)

    @property
    def length(self) -> float:
        """Length in image pixels; 0 without a line."""
        return math.dist(*self.line) if self.line else 0.0

    def text(self) -> str:
        return formatting.length(self.length, self.um_per_pixel)

    # --- pointer and keys ------------------------------------------------------------------------

    def press(self, event: PointerEvent) -> bool:
        allowed = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)
        if not self.on or event.button != Qt.MouseButton.LeftButton or event.modifiers not in allowed:
            return False
        self._set_line((event.point, event.point))
        return True

    def move(self, event: PointerEvent) -> None:
        if self.line is not None:
            self._set_line((self.line[0], self._end(self.line[0], event)))

    def release(self, event: PointerEvent) -> None:
        self.move(event)
        if self.length * self._view.viewport.scale < _SHORTEST:
            self.clear()

    def key(self, event: QKeyEvent) -> bool:
        ends = self.on and event.key() == Qt.Key.Key_Escape
        if ends:
            self.switch(False)
        return ends

    @staticmethod
    def _end(start: Point, event: PointerEvent) -> Point:
        """Return the pointer position; with Shift its projection on the nearest multiple of 45 degrees."""
        if not event.shift:
            return event.point
        (x0, y0), (x, y), eighth = start, event.point, math.pi / 4
        angle = round(math.atan2(y - y0, x - x0) / eighth) * eighth
        along = (x - x0) * math.cos(angle) + (y - y0) * math.sin(angle)
        return x0 + along * math.cos(angle), y0 + along * math.sin(angle)

    def _set_line(self, line: tuple[Point, Point]) -> None:
        old, self.line = self.area, line
        self._renderer.update_overlay(old)
        self._renderer.update_overlay(self.area)

    # --- drawing ---------------------------------------------------------------------------------

    def _screen_line(self) -> QLineF:
        assert self.line is not None
        return QLineF(*(self._view.to_widget(point) for point in self.line))

    def _text_box(self, line: QLineF) -> QRectF:
        """Return the box of the length text: beside the far end, inside the canvas."""
        size = self._renderer.font_metrics.size(0, self.text())
        width, height = size.width() + 12, size.height() + 6
        x = line.x2() + 12 if line.dx() >= 0 else line.x2() - 12 - width
        x = min(max(x, 4), max(self._view.width - width - 4, 4))
        y = min(max(line.y2() - height / 2, 4), max(self._view.height - height - 4, 4))
        return QRectF(x, y, width, height)

    @property
    def area(self) -> QRect | None:
        if self.line is None:
            return None
        line = self._screen_line()
        around = QRectF(line.p1(), line.p2()).normalized().adjusted(-_TICK - 3, -_TICK - 3, _TICK + 3, _TICK + 3)
        return around.united(self._text_box(line)).toAlignedRect().adjusted(-2, -2, 2, 2)

    def draw(self, painter: QPainter) -> None:
        if self.line is None:
            return
        line = self._screen_line()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ticks = []
        if line.length() > 0:
            across = line.normalVector().unitVector()
            step = QPointF(across.dx(), across.dy()) * _TICK
            ticks = [QLineF(end - step, end + step) for end in (line.p1(), line.p2())]
        for color, width in ((_DARK, 3.0), (_LIGHT, 1.4)):
            painter.setPen(QPen(color, width))
            painter.drawLines([line, *ticks])
        box = self._text_box(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_DARK)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(_LIGHT)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self.text())
