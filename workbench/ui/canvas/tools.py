"""What a hand does on the picture: each tool turns presses, moves and keys into orders to the session.

Points are picture coordinates. An order with class id 0 erases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

Point = tuple[float, float]
MAX_DIAMETER = 4000


class Desk(Protocol):
    """What a tool may use: the session's orders, and the canvas for looks."""

    def begin(self, what: str) -> None: ...
    def segment(self, start: Point, end: Point, radius: float, id: int) -> None: ...
    def polygon(self, points: list[Point], id: int) -> None: ...
    def flood(self, point: Point, id: int) -> None: ...
    def commit(self) -> None: ...
    def cancel(self) -> None: ...

    @property
    def class_id(self) -> int: ...
    @property
    def color(self) -> QColor: ...
    @property
    def diameter(self) -> int: ...

    def to_widget(self, point: Point) -> QPointF: ...
    def to_length(self, length: float) -> float: ...
    def redraw(self, area: QRectF) -> None: ...


@dataclass
class Touch:
    """One event of the pointer: where, and whether it erases or ends a shape."""

    point: Point
    erase: bool = False
    double: bool = False


class Tool:
    """A tool that does nothing; the others override what they need."""

    name = ""
    cursor = Qt.CursorShape.CrossCursor

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def busy(self) -> bool:
        """True while something is begun that Esc would drop."""
        return False

    def press(self, touch: Touch) -> None: ...
    def move(self, touch: Touch) -> None: ...
    def hover(self, point: Point | None) -> None: ...
    def release(self, touch: Touch) -> None: ...
    def cancel(self) -> None: ...

    def key(self, key: int) -> bool:
        """True if the key meant something to this tool just now."""
        if key == Qt.Key.Key_Escape and self.busy:
            self.cancel()
            return True
        return False

    def draw(self, painter: QPainter) -> None: ...


class Brush(Tool):
    """A round brush of true size; `erases` makes it the eraser."""

    name = "brush"
    cursor = Qt.CursorShape.BlankCursor
    erases = False

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._last: Point | None = None
        self._id = 0
        self._ring: Point | None = None

    @property
    def busy(self) -> bool:
        return self._last is not None

    def press(self, touch: Touch) -> None:
        self._id = 0 if self.erases or touch.erase else self.desk.class_id
        self._last = touch.point
        self.desk.begin("erase" if self._id == 0 else "paint")
        self.desk.segment(touch.point, touch.point, self.desk.diameter / 2, self._id)

    def move(self, touch: Touch) -> None:
        if self._last is not None:
            self.desk.segment(self._last, touch.point, self.desk.diameter / 2, self._id)
            self._last = touch.point

    def release(self, touch: Touch) -> None:
        if self._last is not None:
            self._last = None
            self.desk.commit()

    def cancel(self) -> None:
        if self._last is not None:
            self._last = None
            self.desk.cancel()

    def hover(self, point: Point | None) -> None:
        for spot in (self._ring, point):
            if spot is not None:
                self.desk.redraw(self._ring_area(spot))
        self._ring = point

    def _ring_area(self, point: Point) -> QRectF:
        center, reach = self.desk.to_widget(point), self.desk.to_length(self.desk.diameter / 2) + 4
        return QRectF(center.x() - reach, center.y() - reach, 2 * reach, 2 * reach)

    def draw(self, painter: QPainter) -> None:
        if self._ring is None:
            return
        center, radius = self.desk.to_widget(self._ring), self.desk.to_length(self.desk.diameter / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        inner = QColor("#ffffff") if self.erases else self.desk.color
        # Dark beside light: seen on any picture.
        for color, width in ((QColor(0, 0, 0, 170), 3.0), (inner, 1.4)):
            painter.setPen(QPen(color, width))
            painter.drawEllipse(center, max(radius, 1.5), max(radius, 1.5))
        if radius > 9:
            for color, width in ((QColor(0, 0, 0, 170), 3.0), (inner, 1.2)):
                painter.setPen(QPen(color, width))
                painter.drawLine(QPointF(center.x() - 3, center.y()), QPointF(center.x() + 3, center.y()))
                if not self.erases:
                    painter.drawLine(QPointF(center.x(), center.y() - 3), QPointF(center.x(), center.y() + 3))


class Eraser(Brush):
    name = "eraser"
    erases = True


class Fill(Tool):
    """Gives the connected area of one id under the pointer to the current class."""

    name = "fill"
    cursor = Qt.CursorShape.PointingHandCursor

    def press(self, touch: Touch) -> None:
        self.desk.begin("fill")
        self.desk.flood(touch.point, 0 if touch.erase else self.desk.class_id)
        self.desk.commit()


def next_diameter(diameter: int, steps: int) -> int:
    """Brush sizes grow by about a sixth a step, by one pixel at least."""
    for _ in range(abs(steps)):
        step = max(1, round(diameter / 6))
        diameter += step if steps > 0 else -step
    return min(max(diameter, 1), MAX_DIAMETER)
