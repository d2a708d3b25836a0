"""Tools that drag an outline: rectangle of whole pixels, inscribed ellipse, lasso, and box cut."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPolygonF

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point, Selection, box_cut, ellipse, encircle
from workbench.ui.canvas.tools.tool_base import PointerEvent, Tool, bounds, box_area, outline
from workbench.ui.canvas.tools.tool_context import ERASING, ToolContext


class RectangleTool(Tool):
    """Box of whole pixels, dragged from corner to corner; Shift makes it a square."""

    name = "rectangle"
    closes = True

    def __init__(self, desk: ToolContext) -> None:
        super().__init__(desk)
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

    def press(self, touch: PointerEvent) -> None:
        self._start = self._end = touch.point
        self._id = self.id_for(touch)
        self.desk.redraw(self._area())

    def move(self, touch: PointerEvent) -> None:
        if self._start is None:
            return
        self.desk.redraw(self._area())
        self._end = _square(self._start, touch.point) if touch.shift else touch.point
        self.desk.redraw(self._area())

    def release(self, touch: PointerEvent) -> None:
        if self._start is None:
            return
        self.move(touch)
        box = self.box
        self.cancel()
        self.finish(box)

    def finish(self, box: Rect) -> None:
        # A view of one True needs no memory, even for a box as large as the image.
        inside = np.broadcast_to(np.True_, (box.height, box.width))
        self.desk.lay(Selection(box, inside), self._id, "rectangle")

    def cancel(self) -> None:
        if self._start is not None:
            area = self._area()
            self._start = None
            self.desk.redraw(area)

    def _area(self) -> QRectF:
        return box_area(self.desk, self.box).adjusted(-4, -4, 4, 4)

    @property
    def color(self) -> QColor:
        return ERASING if self._id == self.desk.ground else self.desk.color

    def draw(self, painter: QPainter) -> None:
        if self._start is not None:
            outline(painter, self.shape(), self.color, fill=True, closed=True)

    def shape(self) -> QPolygonF:
        """Dragged shape in widget coordinates."""
        area = box_area(self.desk, self.box)
        return QPolygonF([area.topLeft(), area.topRight(), area.bottomRight(), area.bottomLeft()])


class EllipseTool(RectangleTool):
    """Ellipse in a box of whole pixels; Shift makes it a circle."""

    name = "ellipse"

    def finish(self, box: Rect) -> None:
        mask, id = self.desk.mask, self._id
        if mask is not None:
            shape = mask.shape
            self.desk.work.run(lambda: ellipse(box, shape), lambda found: self.desk.lay(found, id, "ellipse"))

    def shape(self) -> QPolygonF:
        area = box_area(self.desk, self.box)
        count = min(max(24, round(area.width() + area.height()) // 6), 360)
        turns = (2 * math.pi * i / count for i in range(count))
        center, a, b = area.center(), area.width() / 2, area.height() / 2
        return QPolygonF([QPointF(center.x() + a * math.cos(t), center.y() + b * math.sin(t)) for t in turns])


class BoxCutTool(RectangleTool):
    """Box around a defect; the pixels that differ from their surroundings are selected."""

    name = "box_cut"

    def __init__(self, desk: ToolContext) -> None:
        super().__init__(desk)
        self._cutting: Rect | None = None

    @property
    def showing(self) -> bool:
        return self.busy or self._cutting is not None

    def finish(self, box: Rect) -> None:
        image, id, levels = self.desk.image, self._id, self.desk.levels
        self._cutting = box
        self.desk.redraw(self._waiting())

        def cut(found: Selection) -> None:
            self._forget()
            if found.cut:
                self.desk.refuse("too large")
            elif found.empty:
                self.desk.refuse("nothing in the box")
            else:
                self.desk.lay(found, id, "box cut")

        self.desk.work.run(lambda: box_cut(image, box, levels=levels), cut)

    def cancel(self) -> None:
        super().cancel()
        self._forget()

    def _forget(self) -> None:
        if self._cutting is not None:
            area = self._waiting()
            self._cutting = None
            self.desk.redraw(area)

    def _waiting(self) -> QRectF:
        assert self._cutting is not None
        return box_area(self.desk, self._cutting).adjusted(-4, -4, 4, 4)

    def draw(self, painter: QPainter) -> None:
        super().draw(painter)
        if self._cutting is not None:
            outline(painter, QPolygonF(box_area(self.desk, self._cutting)), self.color, closed=True)


class LassoTool(Tool):
    """Lasso: selects the area enclosed by a freehand line."""

    name = "lasso"
    closes = True

    def __init__(self, desk: ToolContext) -> None:
        super().__init__(desk)
        self._points: list[Point] = []
        self._id = 0

    @property
    def busy(self) -> bool:
        return bool(self._points)

    def press(self, touch: PointerEvent) -> None:
        self._id = self.id_for(touch)
        self._points = [touch.point]

    def move(self, touch: PointerEvent) -> None:
        if self._points:
            self._points.append(touch.point)
            # The tinted area reaches from the pointer back to the start.
            self.desk.redraw(self._area())

    def release(self, touch: PointerEvent) -> None:
        points, mask, id = self._points, self.desk.mask, self._id
        self.cancel()
        if points and mask is not None:
            points = [*points, touch.point] if points[-1] != touch.point else points
            shape = mask.shape
            self.desk.work.run(lambda: encircle(points, shape), lambda found: self.desk.lay(found, id, "lasso"))

    def cancel(self) -> None:
        if self._points:
            area = self._area()
            self._points = []
            self.desk.redraw(area)

    def _area(self) -> QRectF:
        return bounds((self.desk.to_widget(p) for p in self._points), 5)

    def draw(self, painter: QPainter) -> None:
        if self._points:
            color = ERASING if self._id == self.desk.ground else self.desk.color
            outline(painter, QPolygonF([self.desk.to_widget(p) for p in self._points]), color, fill=True, closed=True)


def _square(start: Point, end: Point) -> Point:
    side = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    return start[0] + math.copysign(side, end[0] - start[0]), start[1] + math.copysign(side, end[1] - start[1])
