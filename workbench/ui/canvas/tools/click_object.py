"""Object of the click segmentation in preparation: its points and box, and the masks of the steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPolygonF

from workbench.core.click_model.click_model import ClickMask, Prompts
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.tools.tool_base import bounds, box_area, outline, ring
from workbench.ui.canvas.tools.tool_context import ERASING

_POINT = 10.0  # logical pixels: radius of a drawn point
_COMPUTING = 14.0  # of the ring around a point whose mask is being computed


@dataclass
class ClickObject:
    """Object in preparation. window: part of the image that the network receives.

    points: (position, True to add or False to remove) in the order of the clicks. masks: by number of points, for those
    numbers whose mask is computed. commits: it is painted once its mask is computed.
    """

    window: Rect
    box: Rect | None = None
    points: list[tuple[Point, bool]] = field(default_factory=list)
    masks: dict[int, ClickMask] = field(default_factory=dict)
    commits: bool = False

    @property
    def mask(self) -> ClickMask | None:
        """Mask of the present points, None while it is computed."""
        return self.masks.get(len(self.points))

    @property
    def prior(self) -> ClickMask | None:
        """Mask of the most points before the last one."""
        fewer = [count for count in self.masks if count < len(self.points)]
        return self.masks[max(fewer)] if fewer else None

    @property
    def prompts(self) -> Prompts:
        return Prompts(tuple(self.points), self.box)

    def add(self, point: Point, *, adds: bool, window: Rect) -> None:
        """Add a point. window: joined with that of the object if the point is outside, because the view was moved."""
        left, top = self.window.x, self.window.y
        if not (left <= point[0] < left + self.window.width and top <= point[1] < top + self.window.height):
            self.window = self.window.united(window)
            self.masks.clear()
        self.points.append((point, adds))
        self.commits = False

    def remove_last(self) -> bool:
        """Remove the last point, or the box if there is none. Return False if nothing is left."""
        self.masks.pop(len(self.points), None)
        self.commits = False
        if self.points:
            self.points.pop()
        else:
            self.box = None
        return bool(self.points) or self.box is not None

    def remove_failed(self) -> bool:
        """Remove the points after the last computed mask. Return False if nothing is left."""
        self.commits = False
        if not self.masks:
            return False
        del self.points[max(self.masks) :]
        return True

    # --- drawing ---------------------------------------------------------------------------------

    def area(self, view: ViewState) -> QRectF:
        """Return the rectangle of points and box in logical pixels."""
        area = bounds((view.to_widget(point) for point, _ in self.points), _COMPUTING + 4)
        return area if self.box is None else area.united(box_area(view, self.box).adjusted(-4, -4, 4, 4))

    def draw(self, painter: QPainter, view: ViewState, color: QColor) -> None:
        if self.box is not None:
            outline(painter, QPolygonF(box_area(view, self.box)), color, closed=True)
        for point, adds in self.points:
            ring(painter, view.to_widget(point), _POINT, color if adds else ERASING, mark="+" if adds else "-")
        if self.mask is None and self.points:
            ring(painter, view.to_widget(self.points[-1][0]), _COMPUTING, ERASING)
