"""Round brushes measured in image pixels: current class, eraser, "don't care" and explicit background."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from workbench.core.geometry.selection import Point, encircle
from workbench.core.project.project import BACKGROUND, DONT_CARE
from workbench.ui.canvas.tools.tool_base import PointerEvent, Tool, bounds, outline, ring
from workbench.ui.canvas.tools.tool_context import DONT_CARE_COLOR, ERASING, ToolContext

CLOSE = 14.0  # closing distance: a stroke that ends this close to its start is closed, logical pixels
QUICK = 4 << 20  # pixels: a larger encircled area is filled in a thread


class Brush(Tool):
    """Brush of the current class. A stroke that returns to its start fills the enclosed area if "encircle" is on."""

    name = "brush"
    cursor = Qt.CursorShape.BlankCursor
    options = ("size", "encircle", "pressure")
    what = "paint"

    def __init__(self, desk: ToolContext) -> None:
        super().__init__(desk)
        self._points: list[Point] = []
        self._id = BACKGROUND
        self._length = 0.0  # length of the stroke, logical pixels
        self._ring: Point | None = None

    @property
    def color(self) -> QColor:
        return self.desk.color

    def id_for(self, touch: PointerEvent) -> int:
        return self.desk.ground if touch.erase else self.desk.class_id

    @property
    def busy(self) -> bool:
        return bool(self._points)

    @property
    def showing(self) -> bool:
        return self.busy or self._ring is not None

    @property
    def radius(self) -> float:
        return self.desk.diameter / 2

    def pressed(self, touch: PointerEvent) -> float:
        """Return the brush radius under the present pen pressure. The ring shows the full radius."""
        return max(self.radius * touch.pressure, 0.5)

    def press(self, touch: PointerEvent) -> None:
        self._id, self._length = self.id_for(touch), 0.0
        self._points = [touch.point]
        self.desk.begin("erase" if self._id == self.desk.ground else self.what)
        self.desk.segment(touch.point, touch.point, self.pressed(touch), self._id)

    def move(self, touch: PointerEvent) -> None:
        if not self._points:
            return
        closing = self._closing
        self.desk.segment(self._points[-1], touch.point, self.pressed(touch), self._id)
        self._length += self.desk.apart(self._points[-1], touch.point)
        self._points.append(touch.point)
        if closing or self._closing:
            self.desk.redraw(self._area())

    def release(self, touch: PointerEvent) -> None:
        if not self._points:
            return
        points, closing, area = self._points, self._closing, self._area()
        self._points = []
        mask, id, what = self.desk.mask, self._id, self.what
        if not closing or mask is None:
            self.desk.commit()
            return
        shape = mask.shape
        (left, top), (right, bottom) = ([f(p[i] for p in points) for i in (0, 1)] for f in (min, max))
        if (right - left) * (bottom - top) <= QUICK:
            self.desk.paint(encircle(points, shape), id)
            self.desk.commit()
        else:
            self.desk.commit()
            self.desk.work.run(lambda: encircle(points, shape), lambda found: self.desk.lay(found, id, what))
        self.desk.redraw(area)

    def cancel(self) -> None:
        if self._points:
            area = self._area()
            self._points = []
            self.desk.cancel()
            self.desk.redraw(area)

    @property
    def _closing(self) -> bool:
        """True if the stroke would be closed if it ended here."""
        if not self.desk.options.on("encircle") or len(self._points) < 3:
            return False
        reach = max(CLOSE, self.desk.to_length(self.radius))
        return self._length > 4 * reach and self.desk.apart(self._points[0], self._points[-1]) <= reach

    def hover(self, point: Point | None) -> None:
        for spot in (self._ring, point):
            if spot is not None:
                self.desk.redraw(self._ring_area(spot))
        self._ring = point

    def _ring_area(self, point: Point) -> QRectF:
        center, reach = self.desk.to_widget(point), self.desk.to_length(self.radius) + 4
        return QRectF(center.x() - reach, center.y() - reach, 2 * reach, 2 * reach)

    def _area(self) -> QRectF:
        return bounds((self.desk.to_widget(p) for p in self._points), 4)

    def draw(self, painter: QPainter) -> None:
        if self._points and self._closing:
            color = ERASING if self._id == self.desk.ground else self.color
            outline(painter, QPolygonF([self.desk.to_widget(p) for p in self._points]), color, fill=True, closed=True)
        if self._ring is not None:
            erases = self.color == ERASING
            center, radius = self.desk.to_widget(self._ring), self.desk.to_length(self.radius)
            ring(painter, center, radius, self.color, mark="-" if erases else "+")


class Eraser(Brush):
    """Brush that resets pixels to the unpainted state."""

    name = "eraser"
    needs_class = False
    what = "erase"

    @property
    def color(self) -> QColor:
        return ERASING

    def id_for(self, touch: PointerEvent) -> int:
        return self.desk.ground


class DontCareBrush(Brush):
    """Brush for pixels of unknown class, which are left out of training and of all metrics."""

    name = "dont_care"
    needs_class = False

    @property
    def color(self) -> QColor:
        return DONT_CARE_COLOR

    def id_for(self, touch: PointerEvent) -> int:
        return self.desk.ground if touch.erase else DONT_CARE


class BackgroundBrush(Brush):
    """Brush for explicit background, which counts when only painted pixels are trained on."""

    name = "background"
    options = ("explicit", "size", "encircle", "pressure")
    needs_class = False

    @property
    def color(self) -> QColor:
        return ERASING

    def id_for(self, touch: PointerEvent) -> int:
        return self.desk.ground if touch.erase else BACKGROUND
