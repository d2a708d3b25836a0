"""What the tools see of the session and of the view."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor

from workbench.core.drawing import Rect
from workbench.core.project import DONT_CARE
from workbench.session.session import Session
from workbench.ui.canvas.tools import Point
from workbench.ui.canvas.viewport import Viewport


class Desktop(Protocol):
    """The part of the canvas that is needed here."""

    diameter: int
    view: Viewport

    def devicePixelRatioF(self) -> float: ...
    def update_screen_rect(self, rect: Rect) -> None: ...


class SessionDesk:
    """A Desk over an open session."""

    def __init__(self, view: Desktop, session: Session) -> None:
        self._view, self._session = view, session
        self.begin = session.begin
        self.commit = session.commit
        self.cancel = session.cancel
        self.segment = session.paint_segment
        self.polygon = session.paint_polygon
        self.flood = session.paint_fill

    @property
    def class_id(self) -> int:
        return self._session.class_id

    @property
    def diameter(self) -> int:
        return self._view.diameter

    @property
    def color(self) -> QColor:
        project = self._session.project
        for info in project.classes if project else ():
            if info.id == self._session.class_id:
                return QColor(info.color)
        return QColor("#c8c8c8" if self._session.class_id == DONT_CARE else "#ffffff")

    def to_widget(self, point: Point) -> QPointF:
        ratio = self._view.devicePixelRatioF()
        x, y = self._view.view.to_screen(*point)
        return QPointF(x / ratio, y / ratio)

    def to_length(self, length: float) -> float:
        return length * self._view.view.scale / self._view.devicePixelRatioF()

    def redraw(self, area: QRectF) -> None:
        ratio = self._view.devicePixelRatioF()
        corner = QPoint(int(area.x() * ratio) - 2, int(area.y() * ratio) - 2)
        width, height = int(area.width() * ratio) + 5, int(area.height() * ratio) + 5
        self._view.update_screen_rect(Rect(corner.x(), corner.y(), width, height))
