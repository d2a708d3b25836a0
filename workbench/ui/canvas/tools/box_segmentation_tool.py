"""Box segmentation: a box around a defect, a preview, and points that add or remove areas before it is painted."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPolygonF

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import EMPTY, Point, Selection, box_cut
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.image_context import ERASING
from workbench.ui.canvas.tools.shape_tools import RectangleTool
from workbench.ui.canvas.tools.tool_base import ENDING, box_area, outline, ring
from workbench.ui.canvas.tools.tool_context import ToolContext

CLICK = 4.0  # logical pixels of movement up to which a press is a click
_POINT = 7.0  # logical pixels: radius of a drawn point


@dataclass
class BoxSegmentation:
    """Segmentation in preparation. points: (position, True to add or False to remove), in the order of the clicks."""

    box: Rect
    id: int
    points: list[tuple[Point, bool]] = field(default_factory=list)
    selection: Selection = EMPTY
    computing: bool = True

    def positions(self, add: bool) -> list[Point]:
        return [point for point, adds in self.points if adds == add]


class BoxSegmentationTool(RectangleTool):
    """Drag a box: the pixels that differ from their surroundings are previewed. Enter or the next box paints them.

    A click adds the area at a point, a click with Ctrl removes it; Backspace removes the last point, Esc discards all.
    A click far from the box paints, too.
    """

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self.current: BoxSegmentation | None = None
        self._pressed: PointerEvent | None = None

    @property
    def busy(self) -> bool:
        return super().busy or self.current is not None

    # --- gestures --------------------------------------------------------------------------------

    def start(self, event: PointerEvent) -> None:
        self._pressed = event
        if self.current is None:
            super().start(event)
        elif event.double:
            self.commit_pending()
            self._pressed = None

    def move(self, event: PointerEvent) -> None:
        pressed = self._pressed
        if self._start is None and pressed is not None and self.view.distance(pressed.point, event.point) > CLICK:
            self.commit_pending()  # a drag begins the next box
            super().start(pressed)
        super().move(event)

    def finish(self, event: PointerEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if self._start is not None:
            super().finish(event)
        elif pressed is not None and self.current is not None:
            if self._near(event.point):
                self.current.points.append((event.point, not event.erase))
                self._compute()
            else:
                self.commit_pending()

    def _near(self, point: Point) -> bool:
        """Return whether a point is in the box or at most half its size beside it."""
        assert self.current is not None
        box = self.current.box
        margin = max(box.width, box.height) / 2
        x, y = point[0] - box.x, point[1] - box.y
        return -margin <= x < box.width + margin and -margin <= y < box.height + margin

    def wants(self, key: int) -> bool:
        if self.current is not None and key in (*ENDING, Qt.Key.Key_Backspace):
            return True
        return super().wants(key)

    def handle_key(self, key: int) -> bool:
        if self.current is None or key not in (*ENDING, Qt.Key.Key_Backspace):
            return super().handle_key(key)
        if key in ENDING:
            self.commit_pending()
        elif self.current.points:
            self.current.points.pop()
            self._compute()
        return True

    def cancel(self) -> None:
        super().cancel()
        self._set(None)

    # --- computation -----------------------------------------------------------------------------

    def apply(self, box: Rect) -> None:
        self._set(BoxSegmentation(box, self._id))
        self._compute()

    def _compute(self) -> None:
        """Compute the preview in a thread."""
        current, image, levels = self.current, self.context.image, self.context.levels
        if current is None:
            return
        current.computing = True
        self._redraw_all()
        add, remove, box = current.positions(True), current.positions(False), current.box

        def show(selection: Selection) -> None:
            if self.current is not current:
                return
            current.computing = False
            if not current.points and (selection.cut or selection.empty):
                self.context.requests.refuse("too large" if selection.cut else "nothing in the box")
                self._set(None)
                return
            current.selection = selection
            self.show(selection, self.color)
            self._redraw_all()

        self.context.tasks.run(lambda: box_cut(image, box, levels=levels, add=add, remove=remove), show)

    def commit_pending(self) -> None:
        """Paint the previewed selection, as another image or tool follows or the user has accepted it."""
        current = self.current
        if current is None:
            return
        if current.computing:
            self.context.tasks.finish()
        self._set(None)
        if not current.selection.empty:
            self.context.paint_step(current.selection, current.id, "box_cut")

    def _set(self, current: BoxSegmentation | None) -> None:
        self._redraw_all()
        self.current = current
        self.show(None)
        self._redraw_all()

    # --- drawing ---------------------------------------------------------------------------------

    def _redraw_all(self) -> None:
        if self.current is None:
            return
        area = box_area(self.view, self.current.box).adjusted(-4, -4, 4, 4)
        for point, _ in self.current.points:
            position, reach = self.view.to_widget(point), _POINT + 4
            area = area.united(QPolygonF([position]).boundingRect().adjusted(-reach, -reach, reach, reach))
        self.redraw(area)

    def draw(self, painter: QPainter) -> None:
        super().draw(painter)
        current = self.current
        if current is None:
            return
        if self.selection_preview is not None:
            self.selection_preview.draw(painter, self.view)
        outline(painter, QPolygonF(box_area(self.view, current.box)), self.color, closed=True)
        for point, adds in current.points:
            color = self.color if adds else ERASING
            ring(painter, self.view.to_widget(point), _POINT + 3, color, mark="+" if adds else "-")
