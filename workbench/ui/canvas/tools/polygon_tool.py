"""Polygon with corners that can be moved, added and removed, also after it was painted.

Inspection area on the canvas: the tool that draws it as a polygon, and its outline, which is shown with every tool.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF, QTransform

from workbench.core.geometry.selection import Point, Selection, outline_of, with_outline
from workbench.inference.part_position import Placement
from workbench.session.session import Session
from workbench.session.undo import UndoCommand
from workbench.session.verdict_steps import scaled
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.canvas.tools.image_context import ERASING
from workbench.ui.canvas.tools.tool_base import DARK, ENDING, Tool, bounds, outline
from workbench.ui.canvas.tools.tool_context import ToolContext
from workbench.ui.text.formatting import translate_message

SNAP = 9.0  # logical pixels in which a corner is caught
EDGE_SNAP = 5.0  # logical pixels in which an edge is caught, to add a corner


class CornerTool(Tool):
    """Tool with corners; subclasses define which ones."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._pointer: Point | None = None

    @property
    def _corners(self) -> list[Point]:
        """Corners that the pointer can take."""
        raise NotImplementedError

    @property
    def _closed(self) -> bool:
        """True if an edge from the last to the first corner exists."""
        raise NotImplementedError

    def _hit(self, point: Point) -> tuple[int | None, int | None]:
        """Return the corner, else the edge, within reach of a point."""
        corner = self._corner(point)
        return corner, self._edge(point) if corner is None else None

    def _corner(self, point: Point) -> int | None:
        """Return the nearest corner within reach of a point."""
        distances = [self.view.distance(vertex, point) for vertex in self._corners]
        nearest = min(range(len(distances)), key=distances.__getitem__, default=None)
        return nearest if nearest is not None and distances[nearest] <= SNAP else None

    def _edge(self, point: Point) -> int | None:
        """Return the first corner of the edge within reach of a point.

        The closing edge of an unfinished polygon, not drawn yet, is excluded.
        """
        position = self.view.to_widget(point)
        corners = [self.view.to_widget(p) for p in self._corners]
        if self._closed and corners:
            corners.append(corners[0])
        for i, (a, b) in enumerate(zip(corners, corners[1:])):
            if _edge_distance(position, a, b) <= EDGE_SNAP:
                return i
        return None


def draw_corners(
    painter: QPainter, view: ViewState, points: Sequence[Point], color: QColor, current: int | None, added: Point | None
) -> None:
    """Draw corners, the first one and `current` emphasized, and a ring where a corner would be added."""
    painter.setPen(QPen(QColor(0, 0, 0, 190), 1.2))
    for i, point in enumerate(points):
        size = 5.5 if i == current else 3.5
        painter.setBrush(QBrush(ERASING if i == 0 else color))
        painter.drawEllipse(view.to_widget(point), size, size)
    if added is not None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for line_color, width in ((DARK, 3.0), (ERASING, 1.4)):
            painter.setPen(QPen(line_color, width))
            painter.drawEllipse(view.to_widget(added), 4.5, 4.5)


def _edge_distance(position: QPointF, a: QPointF, b: QPointF) -> float:
    """Return the distance of a point from an edge."""
    along, out = b - a, position - a
    length = along.x() ** 2 + along.y() ** 2
    t = min(max((out.x() * along.x() + out.y() * along.y()) / length, 0.0), 1.0) if length else 0.0
    foot = a + along * t
    return math.hypot(position.x() - foot.x(), position.y() - foot.y())


@dataclass
class OutlineEdit:
    """Corners of a painted outline. `apply` replaces what was painted before; all changes together are one undo step.

    paint: paints an outline as one undo step. command: that step, None before the first change.
    """

    context: ToolContext
    points: list[Point]
    id: int
    paint: Callable[[Sequence[Point]], None]
    command: UndoCommand | None = None

    def apply(self) -> None:
        """Paint the present corners in place of the former ones, as long as that step is the last one."""
        stack = self.context.editor.undo_stack
        if self.command is not None and stack.next_undo is self.command:
            stack.undo()
        self.record(lambda: self.paint(self.points))

    def record(self, paint: Callable[[], None]) -> None:
        """Paint, and store the undo step that was made, if any."""
        stack = self.context.editor.undo_stack
        before = stack.next_undo
        paint()
        self.command = stack.next_undo if stack.next_undo is not before else None


def polygon_edit(context: ToolContext, points: Sequence[Point], id: int) -> OutlineEdit:
    """Return the edit of a polygon that is painted with class `id`."""

    def paint(corners: Sequence[Point]) -> None:
        context.editor.begin("polygon")
        context.editor.paint_polygon(corners, id)
        context.editor.commit()

    return OutlineEdit(context, list(points), id, paint)


def region_edit(context: ToolContext, region: Selection, id: int) -> OutlineEdit:
    """Return the edit of the outline of a region of the mask. Holes and details along unchanged edges are kept."""
    points = outline_of(region)
    original = list(points)

    def paint(corners: Sequence[Point]) -> None:
        mask = context.mask
        if mask is not None:
            context.replace(region, with_outline(region, original, corners, mask.shape), id, "edit outline")

    return OutlineEdit(context, points, id, paint)


class PolygonTool(CornerTool):
    """Polygon tool: clicks set corners; Enter, a double click or a click on the first corner paints.

    Drag a corner to move it, drag an edge to add one, Shift-click or Delete to remove the one under the pointer. The
    corners of a painted polygon, or of a region's outline, stay editable until the next shape begins.
    """

    closes = True

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self.points: list[Point] = []
        self._dragged: int | None = None
        self._closing = False  # the first corner is pressed; its release without a move closes the polygon
        self._id = 0
        self.edit: OutlineEdit | None = None  # painted outline with editable corners
        self._painting = False  # `edit` is changing the mask
        self._changed = False  # the corners of `edit` differ from what is painted

    @property
    def busy(self) -> bool:
        return bool(self.points)

    @property
    def showing(self) -> bool:
        return self.busy or self.edit is not None

    def edit_region(self, region: Selection, id: int) -> None:
        """Show the outline of a region of class `id` with editable corners."""
        self.cancel()
        if self.context.locked(id):
            self.context.requests.refuse("locked")
            return
        self._set_edit(region_edit(self.context, region, id))

    def start(self, event: PointerEvent) -> None:
        if event.double:
            self.close()
            return
        if self.edit is not None and not self.points:
            if self._start_edit(event):
                return
            self._set_edit(None)
        if not self.points:
            self._id = self.id_for(event)
        self._pointer = event.point
        corner, edge = self._hit(event.point)
        if corner is not None and event.shift:
            self._remove(corner)
        elif corner is not None:
            self._dragged, self._closing = corner, corner == 0 and len(self.points) > 2
        elif edge is not None:
            self.points.insert(edge + 1, event.point)
            self._dragged = edge + 1
        else:
            self.points.append(event.point)
            self._dragged = len(self.points) - 1
        self._redraw()

    def _start_edit(self, event: PointerEvent) -> bool:
        """Take a corner or an edge of the painted outline. Return False if none is within reach."""
        edit = self.edit
        assert edit is not None
        self._pointer = event.point
        corner, edge = self._hit(event.point)
        if corner is not None and event.shift:
            self._remove(corner)
            self._apply()
        elif corner is not None:
            self._dragged = corner
        elif edge is not None:
            self._redraw()
            edit.points.insert(edge + 1, event.point)
            self._dragged, self._changed = edge + 1, True
            self._redraw()
        return corner is not None or edge is not None

    def _apply(self) -> None:
        """Paint the changed corners of the painted outline."""
        self._changed = False
        if self.edit is not None:
            self._painting = True
            self.edit.apply()
            self._painting = False
            self._redraw()

    def _set_edit(self, edit: OutlineEdit | None) -> None:
        self._redraw()
        self.edit, self._changed, self._dragged = edit, False, None
        self._redraw()

    def mask_changed(self) -> None:
        """Hide the corners after a change made elsewhere, such as an undo: the outline may no longer exist."""
        if self.edit is not None and not self._painting:
            self._set_edit(None)

    @property
    def _corners(self) -> list[Point]:
        """Corners that the pointer can take."""
        return self.points if self.points or self.edit is None else self.edit.points

    @property
    def _closed(self) -> bool:
        return not self.points

    def move(self, event: PointerEvent) -> None:
        corners = self._corners
        if self._dragged is not None and self._dragged < len(corners):
            resting = (self._closing or corners is not self.points) and not self._changed
            if resting and self.view.distance(corners[self._dragged], event.point) <= 2:
                return
            self._closing, self._changed = False, corners is not self.points
            self._redraw()
            corners[self._dragged] = event.point
            self._redraw()

    def finish(self, event: PointerEvent) -> None:
        self._dragged = None
        if self._closing:
            self._closing = False
            self.close()
        elif self._changed:
            self._apply()

    def hover(self, point: Point | None) -> None:
        self._redraw()
        self._pointer = point
        self._redraw()

    def wants(self, key: int) -> bool:
        if self.edit is not None and not self.busy:
            over = self._pointer is not None and self._corner(self._pointer) is not None
            return key == Qt.Key.Key_Escape or (key == Qt.Key.Key_Delete and over)
        return self.busy and key in (*ENDING, Qt.Key.Key_Backspace, Qt.Key.Key_Delete, Qt.Key.Key_Escape)

    def handle_key(self, key: int) -> bool:
        if self.wants(key) and key in ENDING:
            self.close()
        elif self.wants(key) and key == Qt.Key.Key_Backspace:
            self._remove(len(self.points) - 1)
        elif self.wants(key) and key == Qt.Key.Key_Delete:
            corner = None if self._pointer is None else self._corner(self._pointer)
            if corner is not None:
                self._remove(corner)
                if not self.busy:
                    self._apply()
        elif self.wants(key) and not self.busy:
            self._set_edit(None)
        else:
            return super().handle_key(key)
        return True

    def close(self) -> None:
        """Paint the polygon; fewer than three corners are dropped."""
        points, id = self.points, self._id
        self.cancel()
        if len(points) > 2:
            edit = polygon_edit(self.context, points, id)
            edit.record(lambda: edit.paint(points))
            if edit.command is not None:
                self._set_edit(edit)

    def cancel(self) -> None:
        self._set_edit(None)
        self.points, self._dragged, self._closing = [], None, False

    def _remove(self, index: int) -> None:
        self._redraw()
        if self.edit is not None and not self.points and len(self.edit.points) <= 3:
            return  # an outline needs three corners
        self._corners.pop(index)
        self._dragged = None
        self._redraw()

    def _redraw(self) -> None:
        points = [*self._corners, *([self._pointer] if self._pointer else [])]
        if self._corners:
            self.redraw(bounds((self.view.to_widget(p) for p in points), 8))

    @property
    def color(self) -> QColor:
        return ERASING if self._id == self.context.background_id else self.context.color

    def draw(self, painter: QPainter) -> None:
        points = self._corners
        if not points:
            return
        finished = not self.points
        color = self.color if not finished or self.edit is None else self._edit_color(self.edit.id)
        corner, edge = (None, None) if self._pointer is None else self._hit(self._pointer)
        free = self._pointer is not None and self._dragged is None and corner is None and edge is None
        preview = [self._pointer] if free and not finished else []
        shape = QPolygonF([self.view.to_widget(p) for p in (*points, *preview)])
        outline(painter, shape, color, fill=not finished or self._changed, closed=finished)
        marked = self._pointer if edge is not None and self._dragged is None else None
        draw_corners(painter, self.view, points, ERASING if finished else color, corner, marked)

    def _edit_color(self, id: int) -> QColor:
        return ERASING if id == self.context.background_id else self.context.color_of(id)


# --- inspection area ------------------------------------------------------------------------------


_LINE, _BESIDE, _OUTSIDE = QColor(255, 255, 255, 150), QColor(0, 0, 0, 110), QColor(0, 0, 0, 70)
_COLOR, _ZONE = QColor("#56b4e9"), QColor("#f0e442")  # of a polygon that is being drawn, of zones
_LOST = QColor("#ff9d5c")  # of the reason why the area could not move with the part


class InspectionTool(PolygonTool):
    """Polygon tool that adds to the inspection area or a zone; a polygon begun with Ctrl is taken out of it."""

    needs_class = False
    _excluded = False

    def start(self, event: PointerEvent) -> None:
        if not self.points and not event.double:
            self._excluded = event.erase
        super().start(event)

    def close(self) -> None:
        points = self.points
        self.cancel()
        if len(points) > 2:
            self.context.add_to_area(points, excluded=self._excluded)

    @property
    def color(self) -> QColor:
        return ERASING if self._excluded else _ZONE if self.context.options.zone else _COLOR


class AreaOutline(QObject, Interactor):
    """Outline of the inspection area of the open image, and its zones. What lies outside is darkened a little."""

    bounded = False

    def __init__(self, session: Session, view: ViewState, renderer: SceneRenderer, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._view = session, view
        self._renderer = renderer
        self._drawn: tuple[object, dict[str, QPainterPath]] | None = None
        self._found: tuple[object, Placement] | None = None  # key and area, and where the part is
        session.areas.changed.connect(self._find)
        session.current.opened.connect(self._find)

    @property
    def placement(self) -> Placement | None:
        """Place of the part in the open image; None if the area does not move, or the part is still looked for."""
        key = self._session.key
        return self._found[1] if self._found and self._found[0] == (key, self._session.areas.of(key)) else None

    def _find(self, *_: object) -> None:
        self._renderer.update_scene()
        key, image = self._session.key, self._session.image
        area = self._session.areas.of(key)
        if key is not None and image is not None and area is not None and area.reference is not None:
            self._session.areas.find(key, image, partial(self._part_found, (key, area)))

    def _part_found(self, of: object, placement: Placement | None) -> None:
        if placement is not None:
            self._found = of, placement
            self._renderer.update_scene()

    @property
    def showing(self) -> bool:
        return self.path is not None

    @property
    def path(self) -> QPainterPath | None:
        """Area in the coordinates of the open image, None without one."""
        return self.paths.get("")

    @property
    def paths(self) -> dict[str, QPainterPath]:
        """Area, under "", and zones by name, in the coordinates of the open image; empty without an area."""
        area, image = self._session.areas.of(self._session.key), self._session.image
        if area is None or image is None:
            return {}
        height, width = image.shape[:2]
        if self.placement is not None:
            area = area.moved(self.placement)
        if self._drawn is None or self._drawn[0] != (area, width, height):
            whole = QPainterPath()
            whole.addRect(0, 0, width, height)
            own = area.inspected
            paths = {"": QPainterPath(whole) if not own or own[0].excluded else QPainterPath()}
            for polygon in scaled(area, (width, height)):
                shape = QPainterPath()
                shape.addPolygon(QPolygonF([QPointF(x, y) for x, y in polygon.points]))
                shape.closeSubpath()
                path = paths.setdefault(polygon.zone, QPainterPath())
                paths[polygon.zone] = path.subtracted(shape) if polygon.excluded else path.united(shape)
            self._drawn = (area, width, height), {name: path.intersected(whole) for name, path in paths.items()}
        return self._drawn[1]

    def draw(self, painter: QPainter) -> None:
        paths, image = self.paths, self._session.image
        if not paths or image is None:
            return
        first = self._view.to_widget((0, 0))
        size = self._view.to_widget((image.shape[1], image.shape[0])) - first
        place = QTransform().translate(first.x(), first.y()).scale(size.x() / image.shape[1], size.y() / image.shape[0])
        shape, frame = place.map(paths[""]), QPainterPath()
        frame.addRect(first.x(), first.y(), size.x(), size.y())
        frame.addPath(shape)  # filled by the odd-even rule: what is in one of both only
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(frame, _OUTSIDE)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((_BESIDE, 3.0), (_LINE, 1.2)):
            painter.setPen(QPen(color, width))
            painter.drawPath(shape)
        placement = self.placement
        if placement is not None and placement.why:
            text = self.tr("The part was not found: {why}").format(why=translate_message(placement.why))
            _draw_text(painter, first + QPointF(8, painter.fontMetrics().height()), text, _LOST)
        for name, path in paths.items():
            if name:
                _draw_zone(painter, place.map(path), name)


def _draw_zone(painter: QPainter, shape: QPainterPath, name: str) -> None:
    for color, width, style in ((_BESIDE, 3.0, Qt.PenStyle.SolidLine), (_ZONE, 1.4, Qt.PenStyle.DashLine)):
        painter.setPen(QPen(color, width, style))
        painter.drawPath(shape)
    corner = shape.boundingRect().topLeft() + QPointF(4, painter.fontMetrics().ascent() + 3)
    _draw_text(painter, corner, name, _ZONE)


def _draw_text(painter: QPainter, corner: QPointF, text: str, color: QColor) -> None:
    for pen, shift in ((DARK, QPointF(1, 1)), (color, QPointF())):
        painter.setPen(pen)
        painter.drawText(corner + shift, text)
