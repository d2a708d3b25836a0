"""Click segmentation: points and a box on an object, a preview of the mask that a network of the user computes.

Box segmentation: a box around a defect, a preview, and points that add or remove areas before it is painted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from workbench.core.click_model.click_model import ClickMask, Prompts
from workbench.core.click_model.click_network import refined_box
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import EMPTY, Point, Selection
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.tools.image_context import ERASING
from workbench.ui.canvas.tools.shape_tools import RectangleTool
from workbench.ui.canvas.tools.tool_base import ENDING, bounds, box_area, outline, ring
from workbench.ui.canvas.tools.tool_context import ToolContext

CLICK = 4.0  # logical pixels of movement up to which a press is a click
_BOX_POINT = 7.0  # logical pixels: radius of a drawn point


@dataclass
class BoxSegmentation:
    """Segmentation in preparation. points: (position, True to add or False to remove), in the order of the clicks."""

    box: Rect
    id: int
    points: list[tuple[Point, bool]] = field(default_factory=list)
    selection: Selection = EMPTY
    computing: bool = True


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
        box, points = current.box, list(current.points)

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

        self.context.tasks.run(lambda: refined_box(image, box, points, levels), show)

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
            position, reach = self.view.to_widget(point), _BOX_POINT + 4
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
            ring(painter, self.view.to_widget(point), _BOX_POINT + 3, color, mark="+" if adds else "-")


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


ACTION = "click"  # name of the step
_LEFT, _RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def visible_part(whole: Rect, view: ViewState) -> Rect:
    """Return the part of the image that the view shows; the whole image if it shows none."""
    viewport = view.viewport
    left, top = (math.floor(value) for value in viewport.to_image(0, 0))
    right, bottom = (math.ceil(value) for value in viewport.to_image(viewport.width, viewport.height))
    visible = whole.common(Rect(left, top, right - left, bottom - top))
    return whole if visible.empty else visible


class ClickTool(RectangleTool):
    """Click an object or drag a box around it. Further clicks add areas; with Ctrl or the right button they remove.

    Enter, a double click or the next box paints the preview with the current class; Backspace removes the last point,
    Esc discards all. Nothing waits for the network: what is not computed when another image follows is discarded.
    """

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self.current: ClickObject | None = None
        self._pressed: PointerEvent | None = None
        self._shown: ClickMask | None = None  # in the preview

    @property
    def busy(self) -> bool:
        return super().busy or self.current is not None

    # --- gestures --------------------------------------------------------------------------------

    def hover(self, point: Point | None) -> None:
        """Compute the features of the image before the first click."""
        image = self.context.image
        usable = point is not None and self.context.contains(point) and not self.context.refusal()
        if usable and image is not None and not self.context.options.on("click_visible"):
            self.context.clicks.prepare(image)

    def press(self, event: PointerEvent) -> bool:
        if event.button != _LEFT and (event.button != _RIGHT or self.current is None):
            return False
        refusal = self.context.refusal(needs_class=True)
        if refusal:
            self.context.requests.refuse(refusal)
            return False
        self.start(event)
        return True

    def start(self, event: PointerEvent) -> None:
        self._pressed = event
        if event.double and event.button == _LEFT and self.current is not None:
            self._pressed = None
            self._commit_when_computed()

    def move(self, event: PointerEvent) -> None:
        pressed = self._pressed
        if self._start is None and pressed is not None and pressed.button == _LEFT:
            if self.view.distance(pressed.point, event.point) <= CLICK:
                return
            self.commit_pending()  # a drag begins the next object
            super().start(pressed)
        super().move(event)

    def finish(self, event: PointerEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if self._start is not None:
            self.move(event)
            box = self.box
            super().cancel()
            self.apply(box)
        elif pressed is not None:
            self._add_point(event.point, adds=not pressed.erase and pressed.button == _LEFT)

    def apply(self, box: Rect) -> None:
        image = self.context.image
        box = Rect(0, 0, 0, 0) if image is None else box.clipped(image.shape[1], image.shape[0])
        if image is not None and not box.empty:
            self.current = ClickObject(self._window(image), box)
            self._compute()

    def _add_point(self, point: Point, *, adds: bool) -> None:
        image = self.context.image
        if image is None or not self.context.contains(point):
            return
        if self.current is None and not adds:
            self.context.requests.refuse("no object")
            return
        window = self._window(image)
        self.current = self.current or ClickObject(window)
        self.current.add(point, adds=adds, window=window)
        self._compute()

    def _window(self, image: np.ndarray) -> Rect:
        """Return the part of the image that the network receives."""
        whole = Rect(0, 0, image.shape[1], image.shape[0])
        return visible_part(whole, self.view) if self.context.options.on("click_visible") else whole

    # --- keys ------------------------------------------------------------------------------------

    def wants(self, key: int) -> bool:
        return (self.current is not None and key in (*ENDING, Qt.Key.Key_Backspace)) or super().wants(key)

    def handle_key(self, key: int) -> bool:
        current = self.current
        if current is None or key not in (*ENDING, Qt.Key.Key_Backspace):
            return super().handle_key(key)
        if key in ENDING:
            self._commit_when_computed()
            return True
        self.context.clicks.cancel()
        self._redraw_all()
        if not current.remove_last():
            self._discard()
        elif current.mask is None:
            self._compute()
        else:
            self._show_mask(current.mask)
        return True

    def cancel(self) -> None:
        super().cancel()
        self._pressed = None
        self.context.clicks.cancel()
        self._discard()

    def _discard(self) -> None:
        self._redraw_all()
        self.current = self._shown = None
        self.show(None)

    # --- computation -----------------------------------------------------------------------------

    def _compute(self) -> None:
        """Request the mask of the present points; the preview of the last one stays until then."""
        current, image = self.current, self.context.image
        if current is None or image is None:
            return
        self._redraw_all()
        count, prior = len(current.points), current.prior

        def show(mask: ClickMask | None) -> None:
            if self.current is not current:
                return
            if mask is None:
                self._handle_failure(current)
                return
            current.masks[count] = mask
            self._show_mask(mask)
            if mask.selection.empty:
                self.context.requests.refuse("too large" if mask.selection.cut else "nothing segmented")
            if current.commits:
                self._commit_when_computed()

        self.context.clicks.segment(image, current.window, current.prompts, prior.prior if prior else None, show)

    def _handle_failure(self, current: ClickObject) -> None:
        self._redraw_all()
        self.context.shape_end.record()  # a Return that was meant for the object has no other effect
        if current.remove_failed() and current.mask is not None:
            self._show_mask(current.mask)
        else:
            self._discard()

    def _show_mask(self, mask: ClickMask) -> None:
        self._shown = mask
        self.show(mask.selection)
        self._redraw_all()

    def class_changed(self) -> None:
        if self.current is not None and self._shown is not None:
            self._show_mask(self._shown)

    def _commit_when_computed(self) -> None:
        """Paint the mask of all points, now or when it arrives."""
        if self.current is not None and self.current.mask is None:
            self.current.commits = True
        elif self.current is not None:
            self.commit_pending()
            self.context.shape_end.record()

    def commit_pending(self) -> None:
        """Paint the mask in the preview."""
        current, shown = self.current, self._shown
        if current is None:
            return
        if current.mask is None:
            self.context.clicks.cancel()
        self._discard()
        if shown is not None and not shown.selection.empty:
            self.context.paint_step(shown.selection, self.context.class_id, ACTION)

    # --- drawing ---------------------------------------------------------------------------------

    @property
    def color(self) -> QColor:
        return self.context.color

    def _redraw_all(self) -> None:
        if self.current is not None:
            self.redraw(self.current.area(self.view))

    def draw(self, painter: QPainter) -> None:
        super().draw(painter)
        if self.selection_preview is not None:
            self.selection_preview.draw(painter, self.view)
        if self.current is not None:
            self.current.draw(painter, self.view, self.color)
