"""Tools that outline an area first: a rectangle of whole pixels, and a polygon with vertices that stay movable."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from workbench.core.drawing import Rect
from workbench.ui.canvas.tools import Desk, Point, Tool, Touch

SNAP = 9.0  # logical pixels within which a vertex is taken hold of


class Rectangle(Tool):
    """A box of whole pixels, dragged from corner to corner."""

    name = "rectangle"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._start: Point | None = None
        self._end: Point = (0, 0)
        self._erase = False

    @property
    def busy(self) -> bool:
        return self._start is not None

    @property
    def box(self) -> Rect:
        """The pixels under the drag, those of both corners included."""
        assert self._start is not None
        (ax, ay), (bx, by) = self._start, self._end
        x, y = math.floor(min(ax, bx)), math.floor(min(ay, by))
        return Rect(x, y, math.floor(max(ax, bx)) + 1 - x, math.floor(max(ay, by)) + 1 - y)

    def press(self, touch: Touch) -> None:
        self._start = self._end = touch.point
        self._erase = touch.erase
        self.desk.redraw(self._area())

    def move(self, touch: Touch) -> None:
        if self._start is not None:
            self.desk.redraw(self._area())
            self._end = touch.point
            self.desk.redraw(self._area())

    def release(self, touch: Touch) -> None:
        if self._start is None:
            return
        self.move(touch)
        box = self.box
        right, bottom = box.x + box.width, box.y + box.height
        corners = [(box.x, box.y), (right, box.y), (right, bottom), (box.x, bottom)]
        self._drop()
        self.desk.begin("rectangle")
        # Half a pixel inside: a corner marks the pixel that it lies in.
        self.desk.polygon([_towards(c, box) for c in corners], 0 if self._erase else self.desk.class_id)
        self.desk.commit()

    def cancel(self) -> None:
        if self._start is not None:
            self._drop()

    def _drop(self) -> None:
        area = self._area()
        self._start = None
        self.desk.redraw(area)

    def _area(self) -> QRectF:
        box = self.box
        a = self.desk.to_widget((box.x, box.y))
        b = self.desk.to_widget((box.x + box.width, box.y + box.height))
        return QRectF(a, b).adjusted(-4, -4, 4, 4)

    def draw(self, painter: QPainter) -> None:
        if self._start is None:
            return
        area = self._area().adjusted(4, 4, -4, -4)
        fill = QColor("#ffffff" if self._erase else self.desk.color)
        fill.setAlpha(50)
        painter.setBrush(fill)
        for color, width in _pens(self.desk.color):
            painter.setPen(QPen(color, width))
            painter.drawRect(area)


class Polygon(Tool):
    """Vertices by clicks, movable until the polygon is closed by Enter, a double click or its first vertex."""

    name = "polygon"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.points: list[Point] = []
        self._pointer: Point | None = None
        self._held: int | None = None
        self._erase = False

    @property
    def busy(self) -> bool:
        return bool(self.points)

    def press(self, touch: Touch) -> None:
        if touch.double:
            self.close()
            return
        if not self.points:
            self._erase = touch.erase
        near = self._near(touch.point)
        if near == 0 and len(self.points) > 2:
            self.close()
        elif near is not None:
            self._held = near
        else:
            self.points.append(touch.point)
            self._held = len(self.points) - 1
        self._redraw()

    def move(self, touch: Touch) -> None:
        if self._held is not None and self._held < len(self.points):
            self._redraw()
            self.points[self._held] = touch.point
            self._redraw()

    def release(self, touch: Touch) -> None:
        self._held = None

    def hover(self, point: Point | None) -> None:
        if self.points:
            self._redraw()
            self._pointer = point
            self._redraw()
        else:
            self._pointer = point

    def key(self, key: int) -> bool:
        if self.points and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.close()
            return True
        if self.points and key == Qt.Key.Key_Backspace:
            self._redraw()
            self.points.pop()
            self._redraw()
            return True
        return super().key(key)

    def close(self) -> None:
        """Paint what was drawn; fewer than three vertices are dropped."""
        points = self.points
        self.cancel()
        if len(points) > 2:
            self.desk.begin("polygon")
            self.desk.polygon(points, 0 if self._erase else self.desk.class_id)
            self.desk.commit()

    def cancel(self) -> None:
        self._redraw()
        self.points, self._held = [], None

    def _near(self, point: Point) -> int | None:
        here = self.desk.to_widget(point)
        for i, vertex in enumerate(self.points):
            away = self.desk.to_widget(vertex) - here
            if math.hypot(away.x(), away.y()) <= SNAP:
                return i
        return None

    def _redraw(self) -> None:
        spots = [*self.points, *([self._pointer] if self._pointer else [])]
        if spots:
            shape = QPolygonF([self.desk.to_widget(p) for p in spots])
            self.desk.redraw(shape.boundingRect().adjusted(-8, -8, 8, 8))

    def draw(self, painter: QPainter) -> None:
        if not self.points:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        vertices = [self.desk.to_widget(p) for p in self.points]
        loose = [self.desk.to_widget(self._pointer)] if self._pointer and self._held is None else []
        shape = QPolygonF(vertices + loose)
        fill = QColor("#ffffff" if self._erase else self.desk.color)
        fill.setAlpha(45)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(shape)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in _pens(self.desk.color):
            painter.setPen(QPen(color, width))
            painter.drawPolyline(shape)
        closes = len(self.points) > 2 and self._pointer is not None and self._near(self._pointer) == 0
        for i, vertex in enumerate(vertices):
            size = 5.5 if i == 0 and closes else 3.5
            painter.setPen(QPen(QColor(0, 0, 0, 190), 1.2))
            painter.setBrush(QBrush(QColor("#ffffff") if i == 0 else self.desk.color))
            painter.drawEllipse(vertex, size, size)


def _pens(color: QColor) -> tuple[tuple[QColor, float], tuple[QColor, float]]:
    return (QColor(0, 0, 0, 150), 3.0), (color, 1.4)


def _towards(corner: Point, box: Rect) -> Point:
    """A corner of the box moved by less than half a pixel to its middle, so that it marks no pixel outside."""
    x, y = corner
    middle_x, middle_y = box.x + box.width / 2, box.y + box.height / 2
    return x + (0.25 if x < middle_x else -0.25), y + (0.25 if y < middle_y else -0.25)
