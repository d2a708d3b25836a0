"""Polygon with corners that can be moved, added and removed until it is painted."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from workbench.core.geometry.selection import Point
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.tool_base import DARK, ENDING, Tool, bounds, outline
from workbench.ui.canvas.tools.tool_context import ERASING, ToolContext

SNAP = 9.0  # logical pixels in which a corner is caught
NEAR = 5.0  # logical pixels in which a side is caught, to add a corner


class PolygonTool(Tool):
    """Polygon tool: clicks set corners; Enter, a double click or a click on the first corner paints.

    Drag a corner to move it, drag a side to add one, Shift-click or Delete to remove the one under the pointer.
    """

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self.points: list[Point] = []
        self._pointer: Point | None = None
        self._held: int | None = None
        self._closes = False  # the first corner is pressed; its release without a move closes the polygon
        self._id = 0

    @property
    def busy(self) -> bool:
        return bool(self.points)

    def start(self, event: PointerEvent) -> None:
        if event.double:
            self.close()
            return
        if not self.points:
            self._id = self.id_for(event)
        self._pointer = event.point
        near = self._corner(event.point)
        side = self._side(event.point) if near is None else None
        if near is not None and event.shift:
            self._remove(near)
        elif near is not None:
            self._held, self._closes = near, near == 0 and len(self.points) > 2
        elif side is not None:
            self.points.insert(side + 1, event.point)
            self._held = side + 1
        else:
            self.points.append(event.point)
            self._held = len(self.points) - 1
        self._redraw()

    def move(self, event: PointerEvent) -> None:
        if self._held is not None and self._held < len(self.points):
            if self._closes and self.view.distance(self.points[self._held], event.point) <= 2:
                return
            self._closes = False
            self._redraw()
            self.points[self._held] = event.point
            self._redraw()

    def finish(self, event: PointerEvent) -> None:
        self._held = None
        if self._closes:
            self._closes = False
            self.close()

    def hover(self, point: Point | None) -> None:
        if self.points:
            self._redraw()
            self._pointer = point
            self._redraw()
        else:
            self._pointer = point

    def wants(self, key: int) -> bool:
        return self.busy and key in (*ENDING, Qt.Key.Key_Backspace, Qt.Key.Key_Delete, Qt.Key.Key_Escape)

    def handle_key(self, key: int) -> bool:
        if self.wants(key) and key in ENDING:
            self.close()
        elif self.wants(key) and key == Qt.Key.Key_Backspace:
            self._remove(len(self.points) - 1)
        elif self.wants(key) and key == Qt.Key.Key_Delete:
            near = None if self._pointer is None else self._corner(self._pointer)
            if near is not None:
                self._remove(near)
        else:
            return super().handle_key(key)
        return True

    def close(self) -> None:
        """Paint the polygon; fewer than three corners are dropped."""
        points, id = self.points, self._id
        self.cancel()
        if len(points) > 2:
            self.context.begin("polygon")
            self.context.editor.paint_polygon(points, id)
            self.context.commit()

    def cancel(self) -> None:
        self._redraw()
        self.points, self._held, self._closes = [], None, False

    def _remove(self, index: int) -> None:
        self._redraw()
        self.points.pop(index)
        self._held = None
        self._redraw()

    def _corner(self, point: Point) -> int | None:
        """Return the nearest corner within reach of a point."""
        away = [self.view.distance(vertex, point) for vertex in self.points]
        nearest = min(range(len(away)), key=away.__getitem__, default=None)
        return nearest if nearest is not None and away[nearest] <= SNAP else None

    def _side(self, point: Point) -> int | None:
        """Return the first corner of the side within reach of a point. The closing side, not drawn yet, is excluded."""
        here = self.view.to_widget(point)
        corners = [self.view.to_widget(p) for p in self.points]
        for i, (a, b) in enumerate(zip(corners, corners[1:])):
            if _away(here, a, b) <= NEAR:
                return i
        return None

    def _redraw(self) -> None:
        if self.points:
            self.redraw(self._area())

    def _area(self) -> QRectF:
        spots = [*self.points, *([self._pointer] if self._pointer else [])]
        return bounds((self.view.to_widget(p) for p in spots), 8)

    @property
    def color(self) -> QColor:
        return ERASING if self._id == self.context.background_id else self.context.color

    def draw(self, painter: QPainter) -> None:
        if not self.points:
            return
        corners = [self.view.to_widget(p) for p in self.points]
        near = None if self._pointer is None else self._corner(self._pointer)
        side = None if self._pointer is None or near is not None else self._side(self._pointer)
        loose = []
        if self._pointer and self._held is None and near is None and side is None:
            loose = [self.view.to_widget(self._pointer)]
        outline(painter, QPolygonF(corners + loose), self.color, fill=True)
        painter.setPen(QPen(QColor(0, 0, 0, 190), 1.2))
        for i, corner in enumerate(corners):
            size = 5.5 if i == near else 3.5
            painter.setBrush(QBrush(ERASING if i == 0 else self.color))
            painter.drawEllipse(corner, size, size)
        if side is not None and self._held is None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for ink, width in ((DARK, 3.0), (ERASING, 1.4)):
                painter.setPen(QPen(ink, width))
                painter.drawEllipse(self.view.to_widget(self._pointer), 4.5, 4.5)


def _away(here: QPointF, a: QPointF, b: QPointF) -> float:
    """Return the distance of a point from a side."""
    along, out = b - a, here - a
    length = along.x() ** 2 + along.y() ** 2
    t = min(max((out.x() * along.x() + out.y() * along.y()) / length, 0.0), 1.0) if length else 0.0
    foot = a + along * t
    return math.hypot(here.x() - foot.x(), here.y() - foot.y())
