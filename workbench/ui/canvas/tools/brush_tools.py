"""Round brushes measured in image pixels: current class, eraser, ignored areas and explicit background."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from workbench.core.geometry.selection import Point, encircle
from workbench.core.project.project import BACKGROUND, DONT_CARE
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.image_context import DONT_CARE_COLOR, ERASING
from workbench.ui.canvas.tools.tool_base import Tool, bounds, outline, ring
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
