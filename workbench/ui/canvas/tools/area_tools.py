"""Tools that paint a whole area by one press: fill a region or its holes, and the magic wand."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtGui import QPainter, QPolygonF

from workbench.core.geometry.selection import (
    EMPTY,
    LIVE,
    Point,
    Selection,
    fill_holes,
    magic_wand,
    region_at,
    suggest_tolerance,
)
from workbench.core.project.project import MAX_CLASS_ID
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.tool_base import RegionChooser, Tool, bounds, outline
from workbench.ui.canvas.tools.tool_context import ERASING, ToolContext

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
            self.context.requests.refuse("too large")
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
            self.context.requests.refuse("no region")
            return
        target = self.context.background_id if event.erase else id

        def fill(region: Selection) -> None:
            if region.cut:
                self.context.requests.refuse("too large")
            else:
                self.context.paint_step(region, target, "fill holes")

        self.context.tasks.run(lambda: fill_holes(region_at(mask, event.point)), fill)


DOUBLING = 90.0  # logical pixels of drag that double the tolerance


class WandTool(Tool):
    """Magic wand tool. The preview of a drag is limited to a window at the pointer; painting uses the whole area."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._seed: Point | None = None
        self._position: Point = (0, 0)
        self._id = 0
        self._base = 0.0  # tolerance before the drag; 0: not suggested yet
        self.tolerance = 0.0

    @property
    def busy(self) -> bool:
        return self._seed is not None

    def start(self, event: PointerEvent) -> None:
        image = self.context.image
        if image is None or not self.context.contains(event.point):
            return
        self._seed = self._position = event.point
        self._id = self.id_for(event)
        options = self.context.options
        if options.on("tolerance_auto"):
            # 32 floods of a small window: a few milliseconds, and the preview needs the result at once.
            self._base = suggest_tolerance(image, event.point, levels=self.context.levels)
        else:
            self._base = options["tolerance"]
        self._set_tolerance(self._base)

    def move(self, event: PointerEvent) -> None:
        if self._seed is None:
            return
        self._redraw()
        self._position = event.point
        right, down = event.point[0] - self._seed[0], event.point[1] - self._seed[1]
        distance = self.view.to_length(right - down)
        self._set_tolerance(self._base * 2 ** (distance / DOUBLING))
        self._redraw()

    def _set_tolerance(self, tolerance: float) -> None:
        self.tolerance = min(max(tolerance, 0.2), 100.0)
        self.context.options.set("tolerance", self.tolerance)
        self.context.tasks.preview(self._search(limit=LIVE), self._show_selection)

    def _show_selection(self, selection: Selection) -> None:
        if self.busy:
            self.show(selection, ERASING if self._id == self.context.background_id else None)

    def _search(self, **limit: int) -> Callable[[], Selection]:
        """Return a function, run in a thread, that computes the selection with the present options."""
        image, seed, tolerance, levels = self.context.image, self._seed, self.tolerance, self.context.levels
        smoothing, fill = self.context.options["smoothing"], self.context.options.on("fill_inside")

        def search() -> Selection:
            if image is None:
                return EMPTY
            return magic_wand(image, seed, tolerance, smoothing=smoothing, fill=fill, levels=levels, **limit)

        return search

    def finish(self, event: PointerEvent) -> None:
        if self._seed is None:
            return
        id, search = self._id, self._search()
        # The preview stays until the whole area is painted.
        self._end_drag()
        self.context.tasks.run(search, lambda selection: self._paint(selection, id))

    def _paint(self, selection: Selection, id: int) -> None:
        if not self.busy:
            self.show(None)
        if selection.cut:
            self.context.requests.refuse("too large")
        elif selection.empty:
            self.context.requests.refuse("nothing here")
        else:
            self.context.paint_step(selection, id, "wand")

    def cancel(self) -> None:
        self._end_drag()
        self.show(None)

    def _end_drag(self) -> None:
        self.context.tasks.cancel_preview()
        if self._seed is not None:
            self._redraw()
            self._seed = None

    def _redraw(self) -> None:
        if self._seed is not None:
            self.redraw(bounds((self.view.to_widget(p) for p in (self._seed, self._position)), 6))

    def draw(self, painter: QPainter) -> None:
        super().draw(painter)
        if self._seed is not None and self._position != self._seed:
            outline(painter, QPolygonF([self.view.to_widget(self._seed), self.view.to_widget(self._position)]), ERASING)
