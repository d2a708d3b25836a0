"""Inspection area on the canvas: the tool that draws it, and its outline, which is shown with every tool."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF, QTransform

from workbench.session.session import Session
from workbench.session.verdict_steps import scaled
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer
from workbench.ui.canvas.tools.image_context import ERASING
from workbench.ui.canvas.tools.polygon_tool import PolygonTool

_LINE, _BESIDE, _OUTSIDE = QColor(255, 255, 255, 150), QColor(0, 0, 0, 110), QColor(0, 0, 0, 70)
_COLOR = QColor("#56b4e9")  # of a polygon that is being drawn


class InspectionTool(PolygonTool):
    """Polygon tool that adds to the inspection area; a polygon begun with Ctrl is taken out of it."""

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
        return ERASING if self._excluded else _COLOR


class AreaOutline(QObject, Interactor):
    """Outline of the inspection area of the open image. What lies outside is darkened a little."""

    bounded = False

    def __init__(self, session: Session, view: ViewState, renderer: SceneRenderer, parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._view = session, view
        self._drawn: tuple[object, QPainterPath] | None = None
        session.areas.changed.connect(renderer.update_scene)

    @property
    def showing(self) -> bool:
        return self.path is not None

    @property
    def path(self) -> QPainterPath | None:
        """Area in the coordinates of the open image, None without one."""
        area, image = self._session.areas.of(self._session.key), self._session.image
        if area is None or image is None:
            return None
        height, width = image.shape[:2]
        if self._drawn is None or self._drawn[0] != (area, width, height):
            whole = QPainterPath()
            whole.addRect(0, 0, width, height)
            path = QPainterPath(whole) if area.polygons[0].excluded else QPainterPath()
            for polygon in scaled(area, (width, height)):
                shape = QPainterPath()
                shape.addPolygon(QPolygonF([QPointF(x, y) for x, y in polygon.points]))
                shape.closeSubpath()
                path = path.subtracted(shape) if polygon.excluded else path.united(shape)
            self._drawn = (area, width, height), path.intersected(whole)
        return self._drawn[1]

    def draw(self, painter: QPainter) -> None:
        path, image = self.path, self._session.image
        if path is None or image is None:
            return
        first = self._view.to_widget((0, 0))
        size = self._view.to_widget((image.shape[1], image.shape[0])) - first
        place = QTransform().translate(first.x(), first.y()).scale(size.x() / image.shape[1], size.y() / image.shape[0])
        shape, frame = place.map(path), QPainterPath()
        frame.addRect(first.x(), first.y(), size.x(), size.y())
        frame.addPath(shape)  # filled by the odd-even rule: what is in one of both only
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(frame, _OUTSIDE)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for color, width in ((_BESIDE, 3.0), (_LINE, 1.2)):
            painter.setPen(QPen(color, width))
            painter.drawPath(shape)
