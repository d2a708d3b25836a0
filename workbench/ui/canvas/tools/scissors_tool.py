"""Magnetic lasso: an outline that snaps to image edges between clicks (intelligent scissors)."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QPolygonF

from workbench.core.geometry.selection import EMPTY, IntelligentScissors, Point, Selection
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.tool_base import ENDING, Tool, bounds, outline
from workbench.ui.canvas.tools.tool_context import ERASING, ToolContext

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
            self.context.refuse("nothing here")
        else:
            self.context.paint_step(selection, id, "smart edge")

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
