"""Tools that trace a line between clicks: the crack tracer and the magnetic lasso."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from workbench.core.geometry.selection import EMPTY, Crack, CrackTracer, IntelligentScissors, Point, Selection
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.image_context import ERASING
from workbench.ui.canvas.tools.tool_base import ENDING, Tool, bounds, outline, ring
from workbench.ui.canvas.tools.tool_context import ToolContext

REACH = 3.0  # pixels: search radius for the line around a click, path by the ring


class CrackTool(Tool):
    """Tool whose clicks each paint the path from the previous click. Enter, Esc or a double click ends the line."""

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._tracer: CrackTracer | None = None
        self._start: Point | None = None
        self._pointer: Point | None = None
        self.path: list[Point] = []
        self._pending: list[list[Point]] = []  # paths drawn until they are painted
        self._id = 0
        self._painting = False

    @property
    def busy(self) -> bool:
        return self._start is not None

    @property
    def showing(self) -> bool:
        return self.busy or bool(self._pending) or self._pointer is not None

    def start(self, event: PointerEvent) -> None:
        if event.double:
            self.cancel()
            return
        image = self.context.image
        if image is None or not self.context.contains(event.point):
            return
        if self._tracer is not None:
            self._trace(self._tracer, event.point)
        else:
            self._id = self.id_for(event)
        self._begin(event.point)

    def _begin(self, point: Point) -> None:
        options = self.context.options
        self._tracer = CrackTracer(
            self.context.image, point, polarity=options.line, widest=options["widest"], levels=self.context.levels
        )
        self._start = point
        self._set_path([])

    def _trace(self, tracer: CrackTracer, end: Point) -> None:
        id = self._id
        path = self.path or [self._start, end]
        self._pending.append(path)

        def paint(crack: Crack) -> None:
            if path in self._pending:
                self._redraw()
                self._pending.remove(path)
            if crack.selection.cut:
                self.context.requests.refuse("too far")
            elif crack.selection.empty:
                self.context.requests.refuse("no line")
            else:
                self._painting = True
                self.context.paint_step(crack.selection, id, "crack")
                self._painting = False
                self.context.requests.report("width", float(np.median(crack.width)))

        self.context.tasks.run(lambda: tracer.trace(end), paint)

    def hover(self, point: Point | None) -> None:
        self._redraw()
        self._pointer = point
        self._redraw()
        tracer = self._tracer
        if tracer is None:
            return
        if point is None or not self.context.contains(point):
            self.context.tasks.cancel_preview()
            self._set_path([])
        else:
            self.context.tasks.preview(lambda: tracer.path(point, exact=False), self._show_path)

    def _show_path(self, result: tuple[np.ndarray, bool] | None) -> None:
        path = [] if result is None else [(x + 0.5, y + 0.5) for x, y in result[0].tolist()]
        self._set_path(path)

    def _set_path(self, path: list[Point]) -> None:
        self._redraw()
        self.path = path
        self._redraw()

    def wants(self, key: int) -> bool:
        return self.busy and key in (*ENDING, Qt.Key.Key_Escape)

    def handle_key(self, key: int) -> bool:
        if not self.wants(key):
            return False
        self.cancel()
        return True

    def mask_changed(self) -> None:
        """End the line after a change made elsewhere, such as an undo of the path that it continues."""
        if self.busy and not self._painting and not self._pending:
            self.cancel()

    def cancel(self) -> None:
        self.context.tasks.cancel_preview()
        self._redraw()
        self._tracer = self._start = None
        self.path = []
        if not self.context.tasks.busy:
            self._pending = []

    def _redraw(self) -> None:
        points = [p for line in (self.path, *self._pending) for p in line]
        points += [p for p in (self._start, self._pointer) if p is not None]
        if points:
            self.redraw(bounds((self.view.to_widget(p) for p in points), self.view.to_length(REACH) + 6))

    def draw(self, painter: QPainter) -> None:
        color = ERASING if self._id == self.context.background_id else self.context.color
        for line in (*self._pending, self.path):
            if line:
                outline(painter, QPolygonF([self.view.to_widget(p) for p in line]), color)
        for point in (self._start, self._pointer):
            if point is not None:
                ring(painter, self.view.to_widget(point), max(4.0, self.view.to_length(REACH)), color)


SNAP = 9.0  # logical pixels around the first point in which a click closes the outline


class ScissorsTool(Tool):
    """Tool whose clicks set points. Backspace removes the last point; Enter, a double click or the first point closes.

    All paths are searched in one thread, in order. The tool holds the paths computed so far.
    """

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._scissors: IntelligentScissors | None = None
        self._anchors: list[Point] = []
        self._paths: list[list[Point]] = []
        self._wire: list[Point] = []
        self._id = 0

    @property
    def busy(self) -> bool:
        return bool(self._anchors)

    def start(self, event: PointerEvent) -> None:
        if event.double:
            self.close()
            return
        image = self.context.image
        if image is None:
            return
        if self._scissors is None:
            self._scissors = IntelligentScissors(image, levels=self.context.levels)
            self._id = self.id_for(event)
        elif len(self._anchors) > 2 and self.view.distance(event.point, self._anchors[0]) <= SNAP:
            self.close()
            return
        scissors, point = self._scissors, event.point
        self._anchors.append(point)
        self.context.tasks.cancel_preview()
        self._set_wire([])
        self.context.tasks.run(lambda: scissors.anchor(point), lambda path: self._add_path(scissors, path))
        self._redraw()

    def _add_path(self, scissors: IntelligentScissors, path: list[Point]) -> None:
        if scissors is self._scissors:
            self._paths.append(path)
            self._redraw()

    def hover(self, point: Point | None) -> None:
        scissors = self._scissors
        if scissors is None:
            return
        if point is None or self.context.tasks.busy:
            self.context.tasks.cancel_preview()
            self._set_wire([])
        else:
            self.context.tasks.preview(lambda: scissors.wire(point), self._set_wire)

    def _set_wire(self, wire: list[Point]) -> None:
        self._redraw()
        self._wire = wire
        self._redraw()

    def wants(self, key: int) -> bool:
        return self.busy and key in (*ENDING, Qt.Key.Key_Backspace, Qt.Key.Key_Escape)

    def handle_key(self, key: int) -> bool:
        if self.wants(key) and key in ENDING:
            self.close()
        elif self.wants(key) and key == Qt.Key.Key_Backspace:
            self._remove_last()
        else:
            return super().handle_key(key)
        return True

    def _remove_last(self) -> None:
        scissors = self._scissors
        assert scissors is not None
        if len(self._anchors) == 1:
            self.cancel()
            return
        self._anchors.pop()
        self.context.tasks.cancel_preview()
        self._set_wire([])

        def remove(_: None) -> None:
            if scissors is self._scissors:
                self._redraw()
                self._paths.pop()

        self.context.tasks.run(scissors.back, remove)

    def close(self) -> None:
        """Paint the enclosed area once the outline has reached its start."""
        scissors, count, id = self._scissors, len(self._anchors), self._id
        self.cancel()
        if scissors is not None and count > 1:
            self.context.tasks.run(scissors.closed, lambda selection: self._paint(selection, id))

    def _paint(self, selection: Selection, id: int) -> None:
        if selection is EMPTY or selection.empty:
            self.context.requests.refuse("nothing here")
        else:
            self.context.paint_step(selection, id, "smart_edge")

    def cancel(self) -> None:
        self.context.tasks.cancel_preview()
        self._redraw()
        self._scissors = None
        self._anchors, self._paths, self._wire = [], [], []

    def _redraw(self) -> None:
        if self._anchors:
            self.redraw(self._area())

    def _area(self) -> QRectF:
        points = [*self._anchors, *self._wire, *(point for path in self._paths for point in path)]
        return bounds((self.view.to_widget(p) for p in points), 8)

    def draw(self, painter: QPainter) -> None:
        if not self._anchors:
            return
        color = ERASING if self._id == self.context.background_id else self.context.color
        path = [point for path in self._paths for point in path] + self._wire
        shape = QPolygonF([self.view.to_widget(p) for p in path])
        outline(painter, shape, color, fill=True)
        painter.setPen(QPen(QColor(0, 0, 0, 190), 1.2))
        closes = len(self._anchors) > 2 and self._wire and self.view.distance(self._wire[-1], self._anchors[0]) <= SNAP
        for i, anchor in enumerate(self._anchors):
            size = 5.5 if i == 0 and closes else 3.5
            painter.setBrush(QBrush(ERASING if i == 0 else color))
            painter.drawEllipse(self.view.to_widget(anchor), size, size)
