"""Tools that act on a whole region of the mask by one click: fill it, or fill its holes."""

from __future__ import annotations

import math
from collections.abc import Callable

from workbench.core.geometry.selection import EMPTY, Point, Selection, fill_holes, region_at
from workbench.core.project.project import MAX_CLASS_ID
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.tool_base import RegionChooser
from workbench.ui.canvas.tools.tool_context import ERASING

PREVIEW_LIMIT = 4 << 20  # pixels: a larger region is searched completely only on a click
SYNCHRONOUS = 1 << 18  # pixels: a region up to this size is filled synchronously


class FillTool(RegionChooser):
    """Tool that gives the connected area of one id under the pointer to the current class."""

    def find(self, point: Point) -> Callable[[], Selection]:
        mask = self.context.mask
        return lambda: EMPTY if mask is None else region_at(mask, point, connectivity=4, limit=PREVIEW_LIMIT)

    def start(self, event: PointerEvent) -> None:
        mask, id = self.context.mask, self.id_for(event)
        self.cancel()
        if mask is None or not self.context.contains(event.point):
            return
        region = region_at(mask, event.point, connectivity=4, limit=SYNCHRONOUS)
        if region.cut:
            self.context.tasks.run(
                lambda: region_at(mask, event.point, connectivity=4), lambda region: self._paint(region, id)
            )
        else:
            self._paint(region, id)

    def _paint(self, region: Selection, id: int) -> None:
        if region.cut:
            self.context.refuse("too large")
        else:
            self.context.paint_step(region, id, "fill")


class FillHolesTool(RegionChooser):
    """Tool that fills the holes of the region under the pointer; Ctrl removes the region including its holes."""

    needs_class = False

    def _id_at(self, point: Point) -> int | None:
        mask = self.context.mask
        inside = mask is not None and self.context.contains(point)
        id = int(mask[math.floor(point[1]), math.floor(point[0])]) if inside else 0
        return id if 0 < id <= MAX_CLASS_ID and not self.context.hidden(id) else None

    def find(self, point: Point) -> Callable[[], Selection]:
        mask = self.context.mask
        if mask is None or self._id_at(point) is None:
            return lambda: EMPTY
        return lambda: fill_holes(region_at(mask, point, limit=PREVIEW_LIMIT))

    def show(self, selection: Selection | None, color=None) -> None:
        id = None
        if selection is not None and not selection.empty and self.context.mask is not None:
            first = selection.inside[0].argmax()
            id = int(self.context.mask[selection.rect.y, selection.rect.x + first])
        super().show(selection, ERASING if id is None else self.context.color_of(id))

    def start(self, event: PointerEvent) -> None:
        mask, id = self.context.mask, self._id_at(event.point)
        self.cancel()
        if mask is None or id is None:
            self.context.refuse("no region")
            return
        target = self.context.background_id if event.erase else id

        def fill(region: Selection) -> None:
            if region.cut:
                self.context.refuse("too large")
            else:
                self.context.paint_step(region, target, "fill holes")

        self.context.tasks.run(lambda: fill_holes(region_at(mask, event.point)), fill)
