"""Crack tracer: two clicks on a thin line paint the line between them at its measured width."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPolygonF

from workbench.core.geometry.selection import Crack, CrackTracer, Point
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.tool_base import ENDING, Tool, bounds, outline, ring
from workbench.ui.canvas.tools.tool_context import ERASING, ToolContext

REACH = 3.0  # pixels: search radius for the line around a click, path by the ring


class CrackTool(Tool):
    """Tool whose clicks each paint the path from the previous click. Enter, Esc or a double click ends the line."""

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._tracer: CrackTracer | None = None
        self._start: Point | None = None
        self._pointer: Point | None = None
        self._path: list[Point] = []
        self._pending: list[list[Point]] = []  # paths drawn until they are painted
        self._id = 0

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
        path = self._path or [self._start, end]
        self._pending.append(path)

        def paint(crack: Crack) -> None:
            if path in self._pending:
                self._redraw()
                self._pending.remove(path)
            if crack.selection.cut:
                self.context.refuse("too far")
            elif crack.selection.empty:
                self.context.refuse("no line")
            else:
                self.context.paint_step(crack.selection, id, "crack")
                self.context.report("width", float(np.median(crack.width)))

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
        self._path = path
        self._redraw()

    def wants(self, key: int) -> bool:
        return self.busy and key in (*ENDING, Qt.Key.Key_Escape)

    def handle_key(self, key: int) -> bool:
        if not self.wants(key):
            return False
        self.cancel()
        return True

    def cancel(self) -> None:
        self.context.tasks.cancel_preview()
        self._redraw()
        self._tracer = self._start = None
        self._path = []
        if not self.context.tasks.busy:
            self._pending = []

    def _redraw(self) -> None:
        points = [p for line in (self._path, *self._pending) for p in line]
        points += [p for p in (self._start, self._pointer) if p is not None]
        if points:
            self.redraw(bounds((self.view.to_widget(p) for p in points), self.view.to_length(REACH) + 6))

    def draw(self, painter: QPainter) -> None:
        color = ERASING if self._id == self.context.background_id else self.context.color
        for line in (*self._pending, self._path):
            if line:
                outline(painter, QPolygonF([self.view.to_widget(p) for p in line]), color)
        for point in (self._start, self._pointer):
            if point is not None:
                ring(painter, self.view.to_widget(point), max(4.0, self.view.to_length(REACH)), color)
