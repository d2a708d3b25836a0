"""Base of the canvas tools: presses, moves and keys become edits in the session.

Points are image coordinates. An edit with the desk's `ground` as class erases.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point, Selection
from workbench.ui.canvas.layers.selection_preview import SelectionPreview
from workbench.ui.canvas.tools.tool_context import ToolContext

MAX_DIAMETER = 4000
_SMALL, _STEPS = 16, 4  # radius in device pixels below which a circle is placed to a quarter of a pixel
_SPRITE = 320  # device pixels: a circle of a greater radius is drawn without cache
DARK = QColor(0, 0, 0, 170)  # beside a light line: visible on any image
ENDING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True)
class PointerEvent:
    """Pointer event: position; whether it erases, ends a shape, or has Shift pressed.

    pressure: pen pressure, 0..1; 1 for a mouse and if the brush ignores pressure.
    """

    point: Point
    erase: bool = False
    double: bool = False
    shift: bool = False
    pressure: float = 1.0


class Tool:
    """Tool without effect; subclasses override what they need."""

    name = ""
    cursor = Qt.CursorShape.CrossCursor
    options: tuple[str, ...] = ()  # names of its fields in the option bar
    needs_class = True  # False: usable before a class can be painted
    uses_double = False  # a double click differs from two clicks
    closes = False  # draws a shape that Return, a click or the release of the button closes

    def __init__(self, desk: ToolContext) -> None:
        self.desk = desk
        self._ghost: SelectionPreview | None = None

    @property
    def busy(self) -> bool:
        """True while an unfinished action exists that Esc would cancel."""
        return False

    @property
    def showing(self) -> bool:
        """True while an overlay is drawn that must not be scrolled with the image."""
        return self.busy or self._ghost is not None

    def press(self, touch: PointerEvent) -> None: ...
    def move(self, touch: PointerEvent) -> None: ...
    def hover(self, point: Point | None) -> None: ...
    def release(self, touch: PointerEvent) -> None: ...
    def cancel(self) -> None: ...
    def mask_changed(self) -> None: ...

    def wants(self, key: int) -> bool:
        """Return True if the key has an effect in this tool now, overriding the window's shortcuts."""
        return key == Qt.Key.Key_Escape and self.busy

    def key(self, key: int) -> bool:
        """Handle the key. Return False if it has no effect."""
        if self.wants(key) and key == Qt.Key.Key_Escape:
            self.cancel()
            return True
        return False

    def draw(self, painter: QPainter) -> None:
        if self._ghost is not None:
            self._ghost.draw(painter, self.desk)

    # --- used by subclasses ----------------------------------------------------------------------

    def id_for(self, touch: PointerEvent) -> int:
        return self.desk.ground if touch.erase else self.desk.class_id

    def show(self, selection: Selection | None, color: QColor | None = None) -> None:
        """Preview a selection; None hides the preview."""
        old = self._ghost
        self._ghost = (
            None if selection is None or selection.empty else SelectionPreview(selection, color or self.desk.color)
        )
        for ghost in (old, self._ghost):
            if ghost is not None:
                self.desk.redraw(ghost.area(self.desk))


class RegionChooser(Tool, ABC):
    """Tool that acts on the selection found under the pointer and previews it before the click."""

    cursor = Qt.CursorShape.PointingHandCursor

    @abstractmethod
    def find(self, point: Point) -> Callable[[], Selection]:
        """Return a function, run in a thread, that computes the selection at a point."""

    def hover(self, point: Point | None) -> None:
        if point is None or not self.desk.holds(point):
            self.desk.work.cancel_preview()
            self.show(None)
        else:
            self.desk.work.preview(self.find(point), self.show)

    def cancel(self) -> None:
        self.desk.work.cancel_preview()
        self.show(None)


def ring(painter: QPainter, center: QPointF, radius: float, color: QColor, *, mark: str = "") -> None:
    """Draw a circle of the given radius, with "+" or "-" in its center if there is room."""
    ratio = painter.device().devicePixelRatioF()
    if radius * ratio > _SPRITE:
        _draw_great_ring(painter, center, radius, color, mark)
        return
    # A smooth circle is slow to draw and differs between positions only by a fraction of a pixel, so it is cached.
    steps = _STEPS if radius * ratio < _SMALL else 1
    x, y = (math.floor(place * ratio * steps + 0.5) / steps for place in (center.x(), center.y()))
    phase = x % 1, y % 1
    sprite, reach = _ring_sprite(round(radius * ratio, 3), color.name(), mark, phase, ratio)
    painter.drawPixmap(QPointF((math.floor(x) - reach) / ratio, (math.floor(y) - reach) / ratio), sprite)


@lru_cache(64)
def _ring_sprite(radius: float, color: str, mark: str, phase: tuple[float, float], ratio: float) -> tuple[QPixmap, int]:
    """Return the ring and the offset of its center from the corner in device pixels. radius: device pixels."""
    reach = math.ceil(max(radius, 4 * ratio) + 3 * ratio) + 1
    sprite = QPixmap(2 * reach + 1, 2 * reach + 1)
    sprite.setDevicePixelRatio(ratio)
    sprite.fill(Qt.GlobalColor.transparent)
    painter = QPainter(sprite)
    middle = QPointF((reach + phase[0]) / ratio, (reach + phase[1]) / ratio)
    _draw_ring(painter, middle, radius / ratio, color, mark)
    painter.end()
    return sprite, reach


def _draw_ring(painter: QPainter, center: QPointF, radius: float, color: str, mark: str) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for ink, width in _inks(QColor(color)):
        painter.setPen(QPen(ink, width))
        painter.drawEllipse(center, max(radius, 1.5), max(radius, 1.5))
        if radius > 9:
            _draw_mark(painter, center, mark)


def _draw_great_ring(painter: QPainter, center: QPointF, radius: float, color: QColor, mark: str) -> None:
    """Draw the ring with the thinnest lines: Qt draws those directly but fills wider ones in threads and blocks."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    step = 1 / painter.device().devicePixelRatioF()
    for ink, beside in ((DARK, -step), (DARK, step), (color, 0.0)):
        painter.setPen(QPen(ink, 0))
        painter.drawEllipse(center, radius + beside, radius + beside)
    for ink, width in _inks(color):
        painter.setPen(QPen(ink, width))
        _draw_mark(painter, center, mark)


def _draw_mark(painter: QPainter, center: QPointF, mark: str) -> None:
    if mark:
        painter.drawLine(center - QPointF(3, 0), center + QPointF(3, 0))
    if mark == "+":
        painter.drawLine(center - QPointF(0, 3), center + QPointF(0, 3))


def _inks(color: QColor) -> tuple[tuple[QColor, float], ...]:
    """Return colors and widths of a light line on a dark one, bottom first."""
    return (DARK, 3.0), (color, 1.4)


def outline(painter: QPainter, shape: QPolygonF, color: QColor, *, fill: bool = False, closed: bool = False) -> None:
    """Draw a line visible on any image, closed or open, with an optional tint inside."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if fill:
        inside = QColor(color)
        inside.setAlpha(48)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(inside)
        painter.drawPolygon(shape)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for ink, width in _inks(color):
        pen = QPen(ink, width)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)  # a miter join would reach far beyond the redrawn area
        painter.setPen(pen)
        (painter.drawPolygon if closed else painter.drawPolyline)(shape)


def bounds(points: Iterable[QPointF], margin: float) -> QRectF:
    return QPolygonF(list(points)).boundingRect().adjusted(-margin, -margin, margin, margin)


def box_area(desk: ToolContext, box: Rect) -> QRectF:
    """Return the rectangle of a box of pixels in widget coordinates."""
    return QRectF(desk.to_widget((box.x, box.y)), desk.to_widget((box.x + box.width, box.y + box.height)))


def next_diameter(diameter: int, steps: int) -> int:
    """Return the brush diameter after some steps of about one sixth, at least one pixel each."""
    for _ in range(abs(steps)):
        step = max(1, round(diameter / 6))
        diameter += step if steps > 0 else -step
    return min(max(diameter, 1), MAX_DIAMETER)
