"""Base of tools whose corners can be taken with the pointer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from workbench.core.geometry.selection import Point
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.tools.tool_base import DARK, Tool
from workbench.ui.canvas.tools.tool_context import ERASING, ToolContext

SNAP = 9.0  # logical pixels in which a corner is caught
EDGE_SNAP = 5.0  # logical pixels in which an edge is caught, to add a corner


class CornerTool(Tool):
    """Tool with corners; subclasses define which ones."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._pointer: Point | None = None

    @property
    def _corners(self) -> list[Point]:
        """Corners that the pointer can take."""
        raise NotImplementedError

    @property
    def _closed(self) -> bool:
        """True if an edge from the last to the first corner exists."""
        raise NotImplementedError

    def _hit(self, point: Point) -> tuple[int | None, int | None]:
        """Return the corner, else the edge, within reach of a point."""
        corner = self._corner(point)
        return corner, self._edge(point) if corner is None else None

    def _corner(self, point: Point) -> int | None:
        """Return the nearest corner within reach of a point."""
        distances = [self.view.distance(vertex, point) for vertex in self._corners]
        nearest = min(range(len(distances)), key=distances.__getitem__, default=None)
        return nearest if nearest is not None and distances[nearest] <= SNAP else None

    def _edge(self, point: Point) -> int | None:
        """Return the first corner of the edge within reach of a point.

        The closing edge of an unfinished polygon, not drawn yet, is excluded.
        """
        position = self.view.to_widget(point)
        corners = [self.view.to_widget(p) for p in self._corners]
        if self._closed and corners:
            corners.append(corners[0])
        for i, (a, b) in enumerate(zip(corners, corners[1:])):
            if _edge_distance(position, a, b) <= EDGE_SNAP:
                return i
        return None


def draw_corners(
    painter: QPainter, view: ViewState, points: Sequence[Point], color: QColor, current: int | None, added: Point | None
) -> None:
    """Draw corners, the first one and `current` emphasized, and a ring where a corner would be added."""
    painter.setPen(QPen(QColor(0, 0, 0, 190), 1.2))
    for i, point in enumerate(points):
        size = 5.5 if i == current else 3.5
        painter.setBrush(QBrush(ERASING if i == 0 else color))
        painter.drawEllipse(view.to_widget(point), size, size)
    if added is not None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for line_color, width in ((DARK, 3.0), (ERASING, 1.4)):
            painter.setPen(QPen(line_color, width))
            painter.drawEllipse(view.to_widget(added), 4.5, 4.5)


def _edge_distance(position: QPointF, a: QPointF, b: QPointF) -> float:
    """Return the distance of a point from an edge."""
    along, out = b - a, position - a
    length = along.x() ** 2 + along.y() ** 2
    t = min(max((out.x() * along.x() + out.y() * along.y()) / length, 0.0), 1.0) if length else 0.0
    foot = a + along * t
    return math.hypot(position.x() - foot.x(), position.y() - foot.y())
