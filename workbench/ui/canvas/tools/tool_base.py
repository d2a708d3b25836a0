"""Base of the canvas tools: presses, moves and keys become edits in the session. Points are image coordinates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPen, QPixmap, QPolygonF

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point, Selection
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.suggestion_layer import SelectionPreview
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.tools.tool_context import ToolContext

_SMALL, _STEPS = 16, 4  # radius in device pixels below which a circle is placed to a quarter of a pixel
_SPRITE = 320  # device pixels: a circle of a greater radius is drawn without cache
DARK = QColor(0, 0, 0, 170)  # beside a light line: visible on any image
ENDING = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class Tool(Interactor):
    """Tool without effect; subclasses override `start`, `move`, `finish`, `handle_key` and `cancel` as needed."""

    cursor = Qt.CursorShape.CrossCursor
    bounded = False
    needs_class = True  # False: usable before a class can be painted
    closes = False  # draws a shape that Return, a click or the release of the button closes

    def __init__(self, context: ToolContext) -> None:
        self.context, self.view = context, context.view
        self.selection_preview: SelectionPreview | None = None

    # --- called by the canvas --------------------------------------------------------------------

    def press(self, event: PointerEvent) -> bool:
        if event.button != Qt.MouseButton.LeftButton:
            return False
        refusal = self.context.refusal(needs_class=self.needs_class and not event.erase)
        if refusal:
            self.context.requests.refuse(refusal)
            return False
        busy = self.busy
        self.start(event)
        self._record_closing(busy)
        return True

    def release(self, event: PointerEvent) -> None:
        busy = self.busy
        self.finish(event)
        self._record_closing(busy)

    def key(self, event: QKeyEvent) -> bool:
        if event.key() == Qt.Key.Key_Escape and self.context.tasks.busy:
            self.context.tasks.cancel()
            self.cancel()
            return True
        busy = self.busy
        handled = self.handle_key(event.key())
        self._record_closing(busy)
        return handled

    def _record_closing(self, was_busy: bool) -> None:
        """Record the time if the event that was handled has closed the tool's shape."""
        if was_busy and self.closes and not self.busy:
            self.context.shape_end.record()

    @property
    def just_closed(self) -> bool:
        """True if a pressed Return belongs to the shape that was closed last."""
        return (self.closes and self.context.tasks.busy) or self.context.shape_end.recent

    @property
    def showing(self) -> bool:
        return self.busy or self.selection_preview is not None

    def wants(self, key: int) -> bool:
        return key == Qt.Key.Key_Escape and self.busy

    def draw(self, painter: QPainter) -> None:
        if self.selection_preview is not None:
            self.selection_preview.draw(painter, self.view)

    # --- overridden by subclasses ----------------------------------------------------------------

    def start(self, event: PointerEvent) -> None:
        """Begin a gesture, or perform the action of a click."""

    def finish(self, event: PointerEvent) -> None:
        """End the gesture."""

    def handle_key(self, key: int) -> bool:
        """Handle a key. Return False if it has no effect."""
        if self.wants(key) and key == Qt.Key.Key_Escape:
            self.cancel()
            return True
        return False

    def cancel(self) -> None:
        """Discard the unfinished action."""

    def commit_pending(self) -> None:
        """Paint a previewed result that the user has not discarded, before another image or tool."""

    def arrive(self, rect: Rect) -> None:
        """Note that a key has moved the view to a region with this bounding rectangle."""

    def mask_changed(self) -> None:
        """Handle a change of the mask, also one made by this tool."""

    def class_changed(self) -> None:
        """Handle the choice of another class."""

    # --- used by subclasses ----------------------------------------------------------------------

    def id_for(self, event: PointerEvent) -> int:
        return self.context.background_id if event.erase else self.context.class_id

    def redraw(self, area: QRectF) -> None:
        """Redraw the overlays in an area in logical pixels."""
        self.context.renderer.update_overlay(area)

    def show(self, selection: Selection | None, color: QColor | None = None) -> None:
        """Preview a selection; None hides the preview."""
        old = self.selection_preview
        self.selection_preview = (
            None if selection is None or selection.empty else SelectionPreview(selection, color or self.context.color)
        )
        for preview in (old, self.selection_preview):
            if preview is not None:
                self.redraw(preview.area(self.view))


class RegionChooser(Tool, ABC):
    """Tool that acts on the selection found under the pointer and previews it before the click."""

    cursor = Qt.CursorShape.PointingHandCursor

    @abstractmethod
    def find(self, point: Point) -> Callable[[], Selection]:
        """Return a function, run in a thread, that computes the selection at a point."""

    def hover(self, point: Point | None) -> None:
        if point is None or not self.context.contains(point):
            self.context.tasks.cancel_preview()
            self.show(None)
        else:
            self.context.tasks.preview(self.find(point), self.show)

    def cancel(self) -> None:
        self.context.tasks.cancel_preview()
        self.show(None)


def ring(painter: QPainter, center: QPointF, radius: float, color: QColor, *, mark: str = "") -> None:
    """Draw a circle of the given radius, with "+" or "-" in its center if there is room."""
    ratio = painter.device().devicePixelRatioF()
    if radius * ratio > _SPRITE:
        _draw_large_ring(painter, center, radius, color, mark)
        return
    # A smooth circle is slow to draw and differs between positions only by a fraction of a pixel, so it is cached.
    steps = _STEPS if radius * ratio < _SMALL else 1
    x, y = (math.floor(value * ratio * steps + 0.5) / steps for value in (center.x(), center.y()))
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
    for line_color, width in _line_colors(QColor(color)):
        painter.setPen(QPen(line_color, width))
        painter.drawEllipse(center, max(radius, 1.5), max(radius, 1.5))
        if radius > 9:
            _draw_mark(painter, center, mark)


def _draw_large_ring(painter: QPainter, center: QPointF, radius: float, color: QColor, mark: str) -> None:
    """Draw the ring with the thinnest lines: Qt draws those directly but fills wider ones in threads and blocks."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    step = 1 / painter.device().devicePixelRatioF()
    for line_color, offset in ((DARK, -step), (DARK, step), (color, 0.0)):
        painter.setPen(QPen(line_color, 0))
        painter.drawEllipse(center, radius + offset, radius + offset)
    for line_color, width in _line_colors(color):
        painter.setPen(QPen(line_color, width))
        _draw_mark(painter, center, mark)


def _draw_mark(painter: QPainter, center: QPointF, mark: str) -> None:
    if mark:
        painter.drawLine(center - QPointF(3, 0), center + QPointF(3, 0))
    if mark == "+":
        painter.drawLine(center - QPointF(0, 3), center + QPointF(0, 3))


def _line_colors(color: QColor) -> tuple[tuple[QColor, float], ...]:
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
    for line_color, width in _line_colors(color):
        pen = QPen(line_color, width)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)  # a miter join would reach far beyond the redrawn area
        painter.setPen(pen)
        (painter.drawPolygon if closed else painter.drawPolyline)(shape)


def bounds(points: Iterable[QPointF], margin: float) -> QRectF:
    return QPolygonF(list(points)).boundingRect().adjusted(-margin, -margin, margin, margin)


def box_area(view: ViewState, box: Rect) -> QRectF:
    """Return the rectangle of a box of pixels in widget coordinates."""
    return QRectF(view.to_widget((box.x, box.y)), view.to_widget((box.x + box.width, box.y + box.height)))
