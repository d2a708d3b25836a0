"""Tools that drag an outline (rectangle, ellipse, lasso, box of suggestions), and round brushes."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point, Selection, ellipse, encircle
from workbench.core.project.project import BACKGROUND, DONT_CARE
from workbench.core.suggestions.suggestions import in_box
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.image_context import DONT_CARE_COLOR, ERASING
from workbench.ui.canvas.tools.region_tool import DRAG_DISTANCE
from workbench.ui.canvas.tools.tool_base import Tool, bounds, box_area, outline, ring
from workbench.ui.canvas.tools.tool_context import ToolContext

CLOSING_DISTANCE = 14.0  # logical pixels: a stroke that ends this close to its start is closed
SYNCHRONOUS = 4 << 20  # pixels: a larger encircled area is filled in a thread


class Brush(Tool):
    """Brush of the current class. A stroke that returns to its start fills the enclosed area if "encircle" is on."""

    cursor = Qt.CursorShape.BlankCursor
    action = "paint"

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._points: list[Point] = []
        self._id = BACKGROUND
        self._length = 0.0  # length of the stroke, logical pixels
        self._ring: Point | None = None

    @property
    def color(self) -> QColor:
        return self.context.color

    @property
    def busy(self) -> bool:
        return bool(self._points)

    @property
    def showing(self) -> bool:
        return self.busy or self._ring is not None

    @property
    def radius(self) -> float:
        return self.context.options.diameter / 2

    def pen_radius(self, event: PointerEvent) -> float:
        """Return the brush radius under the present pen pressure. The ring shows the full radius."""
        return max(self.radius * event.pressure, 0.5)

    def start(self, event: PointerEvent) -> None:
        self._id, self._length = self.id_for(event), 0.0
        self._points = [event.point]
        self.context.editor.begin("erase" if self._id == self.context.background_id else self.action)
        self.context.editor.paint_segment(event.point, event.point, self.pen_radius(event), self._id)

    def move(self, event: PointerEvent) -> None:
        if not self._points:
            return
        closing = self._closing
        self.context.editor.paint_segment(self._points[-1], event.point, self.pen_radius(event), self._id)
        self._length += self.view.distance(self._points[-1], event.point)
        self._points.append(event.point)
        if closing or self._closing:
            self.redraw(self._area())

    def finish(self, event: PointerEvent) -> None:
        if not self._points:
            return
        points, closing, area = self._points, self._closing, self._area()
        self._points = []
        mask, id, action = self.context.mask, self._id, self.action
        if not closing or mask is None:
            self.context.editor.commit()
            return
        shape = mask.shape
        (left, top), (right, bottom) = ([f(p[i] for p in points) for i in (0, 1)] for f in (min, max))
        if (right - left) * (bottom - top) <= SYNCHRONOUS:
            self.context.paint_selection(encircle(points, shape), id)
            self.context.editor.commit()
        else:
            self.context.editor.commit()
            self.context.tasks.run(
                lambda: encircle(points, shape), lambda selection: self.context.paint_step(selection, id, action)
            )
        self.redraw(area)

    def cancel(self) -> None:
        if self._points:
            area = self._area()
            self._points = []
            self.context.editor.cancel()
            self.redraw(area)

    @property
    def _closing(self) -> bool:
        """True if the stroke would be closed if it ended here."""
        if not self.context.options.on("encircle") or len(self._points) < 3:
            return False
        reach = max(CLOSING_DISTANCE, self.view.to_length(self.radius))
        return self._length > 4 * reach and self.view.distance(self._points[0], self._points[-1]) <= reach

    def hover(self, point: Point | None) -> None:
        for center in (self._ring, point):
            if center is not None:
                self.redraw(self._ring_area(center))
        self._ring = point

    def _ring_area(self, point: Point) -> QRectF:
        center, reach = self.view.to_widget(point), self.view.to_length(self.radius) + 4
        return QRectF(center.x() - reach, center.y() - reach, 2 * reach, 2 * reach)

    def _area(self) -> QRectF:
        return bounds((self.view.to_widget(p) for p in self._points), 4)

    def draw(self, painter: QPainter) -> None:
        if self._points and self._closing:
            color = ERASING if self._id == self.context.background_id else self.color
            outline(painter, QPolygonF([self.view.to_widget(p) for p in self._points]), color, fill=True, closed=True)
        if self._ring is not None:
            erases = self.color == ERASING
            center, radius = self.view.to_widget(self._ring), self.view.to_length(self.radius)
            ring(painter, center, radius, self.color, mark="-" if erases else "+")


class Eraser(Brush):
    """Brush that resets pixels to the unpainted state."""

    needs_class = False
    action = "erase"

    @property
    def color(self) -> QColor:
        return ERASING

    def id_for(self, event: PointerEvent) -> int:
        return self.context.background_id


class IgnoreBrush(Brush):
    """Brush for pixels of unknown class, which are left out of training and of all metrics."""

    needs_class = False

    @property
    def color(self) -> QColor:
        return DONT_CARE_COLOR

    def id_for(self, event: PointerEvent) -> int:
        return self.context.background_id if event.erase else DONT_CARE


class BackgroundBrush(Brush):
    """Brush for explicit background, which counts when only painted pixels are trained on."""

    needs_class = False

    @property
    def color(self) -> QColor:
        return ERASING

    def id_for(self, event: PointerEvent) -> int:
        return self.context.background_id if event.erase else BACKGROUND


class RectangleTool(Tool):
    """Box of whole pixels, dragged from corner to corner; Shift makes it a square."""

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._start: Point | None = None
        self._end: Point = (0, 0)
        self._id = 0

    @property
    def busy(self) -> bool:
        return self._start is not None

    @property
    def box(self) -> Rect:
        """Pixels under the drag, including both corners."""
        assert self._start is not None
        (ax, ay), (bx, by) = self._start, self._end
        x, y = math.floor(min(ax, bx)), math.floor(min(ay, by))
        return Rect(x, y, math.floor(max(ax, bx)) + 1 - x, math.floor(max(ay, by)) + 1 - y)

    def start(self, event: PointerEvent) -> None:
        self._start = self._end = event.point
        self._id = self.id_for(event)
        self.redraw(self._area())

    def move(self, event: PointerEvent) -> None:
        if self._start is None:
            return
        self.redraw(self._area())
        self._end = _square(self._start, event.point) if event.shift else event.point
        self.redraw(self._area())

    def finish(self, event: PointerEvent) -> None:
        if self._start is None:
            return
        self.move(event)
        box = self.box
        self.cancel()
        self.apply(box)

    def apply(self, box: Rect) -> None:
        # A view of one True needs no memory, even for a box as large as the image.
        inside = np.broadcast_to(np.True_, (box.height, box.width))
        self.context.paint_step(Selection(box, inside), self._id, "rectangle")

    def cancel(self) -> None:
        if self._start is not None:
            area = self._area()
            self._start = None
            self.redraw(area)

    def _area(self) -> QRectF:
        return box_area(self.view, self.box).adjusted(-4, -4, 4, 4)

    @property
    def color(self) -> QColor:
        return ERASING if self._id == self.context.background_id else self.context.color

    def draw(self, painter: QPainter) -> None:
        if self._start is not None:
            outline(painter, self.shape(), self.color, fill=True, closed=True)

    def shape(self) -> QPolygonF:
        """Dragged shape in widget coordinates."""
        area = box_area(self.view, self.box)
        return QPolygonF([area.topLeft(), area.topRight(), area.bottomRight(), area.bottomLeft()])


class EllipseTool(RectangleTool):
    """Ellipse in a box of whole pixels; Shift makes it a circle."""

    def apply(self, box: Rect) -> None:
        mask, id = self.context.mask, self._id
        if mask is not None:
            shape = mask.shape
            self.context.tasks.run(
                lambda: ellipse(box, shape), lambda selection: self.context.paint_step(selection, id, "ellipse")
            )

    def shape(self) -> QPolygonF:
        area = box_area(self.view, self.box)
        count = min(max(24, round(area.width() + area.height()) // 6), 360)
        turns = (2 * math.pi * i / count for i in range(count))
        center, a, b = area.center(), area.width() / 2, area.height() / 2
        return QPolygonF([QPointF(center.x() + a * math.cos(t), center.y() + b * math.sin(t)) for t in turns])


class LassoTool(Tool):
    """Lasso: selects the area enclosed by a freehand line."""

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._points: list[Point] = []
        self._id = 0

    @property
    def busy(self) -> bool:
        return bool(self._points)

    def start(self, event: PointerEvent) -> None:
        self._id = self.id_for(event)
        self._points = [event.point]

    def move(self, event: PointerEvent) -> None:
        if self._points:
            self._points.append(event.point)
            # The tinted area reaches from the pointer back to the start.
            self.redraw(self._area())

    def finish(self, event: PointerEvent) -> None:
        points, mask, id = self._points, self.context.mask, self._id
        self.cancel()
        if points and mask is not None:
            points = [*points, event.point] if points[-1] != event.point else points
            shape = mask.shape
            self.context.tasks.run(
                lambda: encircle(points, shape), lambda selection: self.context.paint_step(selection, id, "lasso")
            )

    def cancel(self) -> None:
        if self._points:
            area = self._area()
            self._points = []
            self.redraw(area)

    def _area(self) -> QRectF:
        return bounds((self.view.to_widget(p) for p in self._points), 5)

    def draw(self, painter: QPainter) -> None:
        if self._points:
            color = ERASING if self._id == self.context.background_id else self.context.color
            outline(painter, QPolygonF([self.view.to_widget(p) for p in self._points]), color, fill=True, closed=True)


def _square(start: Point, end: Point) -> Point:
    side = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    return start[0] + math.copysign(side, end[0] - start[0]), start[1] + math.copysign(side, end[1] - start[1])


ACCEPTING = QColor("#6fd08c")
_DIGITS = range(Qt.Key.Key_1, Qt.Key.Key_9 + 1)


class SuggestionTool(RectangleTool):
    """Tool that paints accepted suggestions only. Keys 1 to 9 change the class of the suggestion under the pointer."""

    cursor = Qt.CursorShape.ArrowCursor
    needs_class = False

    def start(self, event: PointerEvent) -> None:
        super().start(event)
        self._rejects = event.erase

    def apply(self, box: Rect) -> None:
        suggestions = self.context.suggestions
        if self.view.to_length(max(box.width, box.height) - 1) < DRAG_DISTANCE:
            suggestion = suggestions.at((box.x + 0.5, box.y + 0.5))
            chosen = [suggestion] if suggestion is not None else []
        else:
            chosen = in_box(suggestions.suggestions, box)
        if chosen:
            (suggestions.rejected if self._rejects else suggestions.accepted).emit(chosen)
        else:
            self.context.requests.refuse("no proposal")

    def wants(self, key: int) -> bool:
        return super().wants(key) or (key in _DIGITS and self.context.suggestions.current is not None)

    def handle_key(self, key: int) -> bool:
        if key in _DIGITS:
            return self.context.suggestions.reclass_by_digit(key)
        return super().handle_key(key)

    @property
    def color(self) -> QColor:
        return ERASING if self._rejects else ACCEPTING
