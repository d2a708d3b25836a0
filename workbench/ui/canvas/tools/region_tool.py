"""Region tool: one labeled region is chosen by a click and moved, grown, smoothed, reassigned or deleted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import (
    EMPTY,
    Point,
    Selection,
    around,
    fill_holes,
    grow,
    region_at,
    shrink,
    smooth,
)
from workbench.core.project.project import BACKGROUND, MAX_CLASS_ID
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.layers.suggestion_layer import SelectionPreview
from workbench.ui.canvas.tools.image_context import ERASING
from workbench.ui.canvas.tools.tool_base import Tool
from workbench.ui.canvas.tools.tool_context import ToolContext

SYNCHRONOUS = 4 << 20  # pixels: a larger region is searched in a thread
REACH = 5.0  # logical pixels: search radius around a click
MAX_REACH = 64  # upper limit of that radius, image pixels
_GAP = 5  # logical pixels between the chosen region and its frame
_DARK, _BRIGHT = QColor(20, 22, 25, 210), QColor("#ffffff")
DRAG_DISTANCE = 4.0  # logical pixels of movement before a click becomes a drag

_K = Qt.Key
_ARROWS = {_K.Key_Left: (-1, 0), _K.Key_Right: (1, 0), _K.Key_Up: (0, -1), _K.Key_Down: (0, 1)}
_GROW, _SHRINK = (_K.Key_Plus, _K.Key_Equal), (_K.Key_Minus,)
_DELETE = (_K.Key_Delete, _K.Key_Backspace)
_DIGITS = range(_K.Key_1, _K.Key_9 + 1)


@dataclass(frozen=True, eq=False)
class SelectedRegion:
    """Connected region of the mask and its class."""

    selection: Selection
    id: int


class RegionTool(Tool):
    """Tool whose click chooses the region under the pointer. Each action on the region is one step."""

    cursor = Qt.CursorShape.ArrowCursor
    needs_class = False

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self.region: SelectedRegion | None = None
        self._pressed: Point | None = None
        self._offset = (0, 0)
        self._changing = False

    @property
    def busy(self) -> bool:
        return self.region is not None

    # --- selection -------------------------------------------------------------------------------

    def start(self, event: PointerEvent) -> None:
        self._pressed, self._offset = event.point, (0, 0)
        self.choose(event.point)
        if event.erase and self.region is not None:
            self._pressed = None
            self.delete()

    def choose(self, point: Point) -> bool:
        """Choose the region at a point. Return False if there is none or the search is not finished."""
        mask, pixel = self.context.mask, self._nearest_pixel(point)
        if mask is None or pixel is None:
            self._select(None)
            return False
        id = int(mask[pixel[1], pixel[0]])
        point = pixel[0] + 0.5, pixel[1] + 0.5
        region = region_at(mask, point, limit=SYNCHRONOUS)
        if region.cut:
            self._select(None)
            self.context.tasks.run(lambda: region_at(mask, point), lambda region: self._select_region(region, id))
            return False
        self._select_region(region, id)
        return True

    def _nearest_pixel(self, point: Point) -> tuple[int, int] | None:
        """Return the visible painted pixel (column, row) nearest to a point within REACH, since cracks are thin."""
        mask = self.context.mask
        if mask is None or not self.context.contains(point):
            return None
        reach = min(MAX_REACH, math.ceil(REACH / self.view.to_length(1)))
        rect = around([point], reach, mask.shape)
        rows, columns = np.nonzero(self._painted(mask[rect.slices]))
        distances = np.hypot(columns + rect.x + 0.5 - point[0], rows + rect.y + 0.5 - point[1])
        # The pixel under the point has priority.
        if not distances.size or distances.min() > max(0.75, reach):
            return None
        nearest = int(distances.argmin())
        return int(columns[nearest]) + rect.x, int(rows[nearest]) + rect.y

    def _painted(self, ids: np.ndarray) -> np.ndarray:
        """Return which pixels of a part of the mask, uint8, belong to a visible region; bool of the same shape."""
        hidden = [id for id, _, _ in self.context.classes if self.context.hidden(id)]
        return (ids > BACKGROUND) & (ids <= MAX_CLASS_ID) & ~np.isin(ids, hidden)

    def arrive(self, rect: Rect) -> None:
        """Choose the region to which a key has moved the view, so that the next key can change it."""
        mask = self.context.mask
        if mask is None:
            return
        inside = rect.clipped(mask.shape[1], mask.shape[0])
        rows, columns = np.nonzero(self._painted(mask[inside.slices]))
        if rows.size:
            self.choose((int(columns[0]) + inside.x + 0.5, int(rows[0]) + inside.y + 0.5))
        else:
            self._select(None)

    def _select_region(self, region: Selection, id: int) -> None:
        if region.cut:
            self.context.requests.refuse("too large")
        else:
            self._select(SelectedRegion(region, id))

    def _select(self, region: SelectedRegion | None) -> None:
        self.region = region
        self._show()
        self.context.requests.choose_region(region)

    def _show(self) -> None:
        region = self.region
        moved = None if region is None else _moved(region.selection, self._offset)
        self.show(moved, None if region is None else self.context.color_of(region.id))

    # --- moving ----------------------------------------------------------------------------------

    def move(self, event: PointerEvent) -> None:
        if self._pressed is None or self.region is None:
            return
        if self._offset == (0, 0) and self.view.distance(self._pressed, event.point) < DRAG_DISTANCE:
            return
        offset = round(event.point[0] - self._pressed[0]), round(event.point[1] - self._pressed[1])
        if offset != self._offset:
            self._offset = offset
            self._show()
            self.redraw(SelectionPreview(self.region.selection, ERASING).area(self.view))

    def finish(self, event: PointerEvent) -> None:
        self._pressed = None
        offset, self._offset = self._offset, (0, 0)
        if offset != (0, 0):
            self.shift(*offset)

    def shift(self, dx: int, dy: int) -> None:
        if self.region is not None:
            self._replace(_moved(self.region.selection, (dx, dy)), self.region.id, "move region")

    # --- actions ---------------------------------------------------------------------------------

    def grow(self) -> None:
        self._reshape(grow, "grow region")

    def shrink(self) -> None:
        self._reshape(shrink, "shrink region")

    def smooth(self) -> None:
        self._reshape(smooth, "smooth region")

    def fill_holes(self) -> None:
        self._reshape(lambda selection, step, shape: fill_holes(selection), "fill holes")

    def edit_outline(self) -> None:
        """Show the corners of the region's outline in the polygon tool."""
        if self.region is not None:
            self.context.requests.edit_outline(self.region.selection, self.region.id)

    def delete(self) -> None:
        self._replace(EMPTY, self.context.background_id, "delete region")

    def reclass(self, id: int) -> None:
        if self.region is not None and id != self.region.id:
            self._replace(self.region.selection, id, "change class")

    def _reshape(self, reshape, action: str) -> None:
        region, mask = self.region, self.context.mask
        if region is None or mask is None:
            return
        shape, step = mask.shape, self.context.options["step"]
        if region.selection.inside.size <= SYNCHRONOUS // 4:
            self._replace(reshape(region.selection, step, shape), region.id, action)
        else:
            self.context.tasks.run(
                lambda: reshape(region.selection, step, shape),
                lambda new: self._replace(new, region.id, action) if self.region is region else None,
            )

    def _replace(self, new: Selection, id: int, action: str) -> None:
        region, mask = self.region, self.context.mask
        if region is None or mask is None:
            return
        if self.context.locked(region.id):
            self.context.requests.refuse("locked")
            self._show()
            return
        self._changing = True
        self.context.replace(region.selection, new, id, action)
        self._changing = False
        clipped = _clipped(new, mask.shape)
        self._select(None if clipped.empty else SelectedRegion(clipped, id))

    def mask_changed(self) -> None:
        """Drop the chosen region after a change made elsewhere, such as an undo: it may no longer exist."""
        if not self._changing and self.region is not None:
            self._pressed, self._offset = None, (0, 0)
            self._select(None)

    # --- keys ------------------------------------------------------------------------------------

    def wants(self, key: int) -> bool:
        if self.region is None:
            return False
        if key in _DIGITS:
            return self.context.class_of_key(key) is not None
        return key in (_K.Key_Escape, *_DELETE, *_GROW, *_SHRINK, *_ARROWS)

    def handle_key(self, key: int) -> bool:
        if not self.wants(key):
            return False
        if key in _DELETE:
            self.delete()
        elif key in _GROW:
            self.grow()
        elif key in _SHRINK:
            self.shrink()
        elif key in _ARROWS:
            self.shift(*_ARROWS[key])
        elif key in _DIGITS:
            self.reclass(self.context.class_of_key(key))
        else:
            self.cancel()
        return True

    def cancel(self) -> None:
        self._pressed, self._offset = None, (0, 0)
        if self.region is not None:
            self._select(None)

    def redraw(self, area: QRectF) -> None:
        super().redraw(area.adjusted(-_GAP - 3, -_GAP - 3, _GAP + 3, _GAP + 3))

    def draw(self, painter: QPainter) -> None:
        region = self.region
        if region is not None and self._offset != (0, 0):
            SelectionPreview(region.selection, ERASING).draw(painter, self.view)
        super().draw(painter)
        if region is not None:
            self._draw_frame(painter, _moved(region.selection, self._offset).rect)

    def _draw_frame(self, painter: QPainter, rect: Rect) -> None:
        """Frame the chosen region, as its outline alone resembles those of the others."""
        frame = self.view.to_widget_rect(rect).adjusted(-_GAP, -_GAP, _GAP, _GAP)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = QPen(_BRIGHT, 1.6)
        pen.setDashPattern([4, 3])
        for each in (QPen(_DARK, 3.2), pen):
            painter.setPen(each)
            painter.drawRoundedRect(frame, 3, 3)


def _moved(selection: Selection, offset: tuple[int, int]) -> Selection:
    rect = selection.rect
    return Selection(
        Rect(rect.x + offset[0], rect.y + offset[1], rect.width, rect.height), selection.inside, selection.cut
    )


def _clipped(selection: Selection, shape: tuple[int, ...]) -> Selection:
    """Return the part of a selection inside the image."""
    rect = selection.rect.clipped(shape[1], shape[0])
    return selection if rect == selection.rect else Selection(rect, selection.within(rect)).trimmed()
