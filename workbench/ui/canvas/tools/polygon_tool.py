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
EDGE_SNAP = 5.0  # logical pixels in which an edge is caught, to add a corner


class PolygonTool(Tool):
    """Polygon tool: clicks set corners; Enter, a double click or a click on the first corner paints.

    Drag a corner to move it, drag an edge to add one, Shift-click or Delete to remove the one under the pointer.
    """

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self.points: list[Point] = []
        self._pointer: Point | None = None
        self._dragged: int | None = None
        self._closing = False  # the first corner is pressed; its release without a move closes the polygon
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
        corner = self._corner(event.point)
        edge = self._edge(event.point) if corner is None else None
        if corner is not None and event.shift:
            self._remove(corner)
        elif corner is not None:
            self._dragged, self._closing = corner, corner == 0 and len(self.points) > 2
        elif edge is not None:
            self.points.insert(edge + 1, event.point)
            self._dragged = edge + 1
        else:
            self.points.append(event.point)
            self._dragged = len(self.points) - 1
        self._redraw()

    def move(self, event: PointerEvent) -> None:
        if self._dragged is not None and self._dragged < len(self.points):
            if self._closing and self.view.distance(self.points[self._dragged], event.point) <= 2:
                return
            self._closing = False
            self._redraw()
            self.points[self._dragged] = event.point
            self._redraw()

    def finish(self, event: PointerEvent) -> None:
        self._dragged = None
        if self._closing:
            self._closing = False
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
            corner = None if self._pointer is None else self._corner(self._pointer)
            if corner is not None:
                self._remove(corner)
        else:
            return super().handle_key(key)
        return True

    def close(self) -> None:
        """Paint the polygon; fewer than three corners are dropped."""
        points, id = self.points, self._id
        self.cancel()
        if len(points) > 2:
            self.context.editor.begin("polygon")
            self.context.editor.paint_polygon(points, id)
            self.context.editor.commit()

    def cancel(self) -> None:
        self._redraw()
        self.points, self._dragged, self._closing = [], None, False

    def _remove(self, index: int) -> None:
        self._redraw()
        self.points.pop(index)
        self._dragged = None
        self._redraw()

    def _corner(self, point: Point) -> int | None:
        """Return the nearest corner within reach of a point."""
        distances = [self.view.distance(vertex, point) for vertex in self.points]
        nearest = min(range(len(distances)), key=distances.__getitem__, default=None)
        return nearest if nearest is not None and distances[nearest] <= SNAP else None

    def _edge(self, point: Point) -> int | None:
        """Return the first corner of the edge within reach of a point. The closing edge, not drawn yet, is excluded."""
        position = self.view.to_widget(point)
        corners = [self.view.to_widget(p) for p in self.points]
        for i, (a, b) in enumerate(zip(corners, corners[1:])):
            if _edge_distance(position, a, b) <= EDGE_SNAP:
                return i
        return None

    def _redraw(self) -> None:
        if self.points:
            self.redraw(self._area())

    def _area(self) -> QRectF:
        points = [*self.points, *([self._pointer] if self._pointer else [])]
        return bounds((self.view.to_widget(p) for p in points), 8)

    @property
    def color(self) -> QColor:
        return ERASING if self._id == self.context.background_id else self.context.color

    def draw(self, painter: QPainter) -> None:
        if not self.points:
            return
        corners = [self.view.to_widget(p) for p in self.points]
        corner = None if self._pointer is None else self._corner(self._pointer)
        edge = None if self._pointer is None or corner is not None else self._edge(self._pointer)
        preview = []
        if self._pointer and self._dragged is None and corner is None and edge is None:
            preview = [self.view.to_widget(self._pointer)]
        outline(painter, QPolygonF(corners + preview), self.color, fill=True)
        painter.setPen(QPen(QColor(0, 0, 0, 190), 1.2))
        for i, position in enumerate(corners):
            size = 5.5 if i == corner else 3.5
            painter.setBrush(QBrush(ERASING if i == 0 else self.color))
            painter.drawEllipse(position, size, size)
        if edge is not None and self._dragged is None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for color, width in ((DARK, 3.0), (ERASING, 1.4)):
                painter.setPen(QPen(color, width))
                painter.drawEllipse(self.view.to_widget(self._pointer), 4.5, 4.5)


def _edge_distance(position: QPointF, a: QPointF, b: QPointF) -> float:
    """Return the distance of a point from an edge."""
    along, out = b - a, position - a
    length = along.x() ** 2 + along.y() ** 2
    t = min(max((out.x() * along.x() + out.y() * along.y()) / length, 0.0), 1.0) if length else 0.0
    foot = a + along * t
    return math.hypot(position.x() - foot.x(), position.y() - foot.y())
