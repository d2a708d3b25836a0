"""Tools that paint by gray value or area: fill a region or its holes, magic wand, threshold brush."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from workbench.core.geometry.selection import (
    EMPTY,
    LIVE,
    Point,
    Selection,
    ToneBand,
    ToneHistogram,
    fill_holes,
    histogram,
    magic_wand,
    region_at,
    select_band,
    suggest_tolerance,
    tone_band_at,
)
from workbench.core.project.project import MAX_CLASS_ID
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.image_context import ERASING
from workbench.ui.canvas.tools.shape_tools import Brush
from workbench.ui.canvas.tools.tool_base import RegionChooser, Tool, bounds, outline
from workbench.ui.canvas.tools.tool_context import ToolContext

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


MAX_WIDTH = 600  # pixels: color comparison under a wider brush would delay the stroke
_PANEL = QRectF(12, -112, 196, 100)  # from the lower left corner of the canvas


@dataclass(frozen=True)
class ThresholdPreview:
    """Pixels that the brush would paint at the pointer, and the tones below it."""

    band: ToneBand
    selected: Selection
    tones: ToneHistogram


class ThresholdTool(Brush):
    """Threshold brush of the brush diameter, up to MAX_WIDTH."""

    def __init__(self, context: ToolContext) -> None:
        super().__init__(context)
        self._band: ToneBand | None = None
        self.tones: ToneHistogram | None = None

    @property
    def radius(self) -> float:
        return min(self.context.options.diameter, MAX_WIDTH) / 2

    @property
    def showing(self) -> bool:
        return super().showing or self.tones is not None

    # --- strokes ---------------------------------------------------------------------------------

    def start(self, event: PointerEvent) -> None:
        image = self.context.image
        if image is None:
            return
        band = tone_band_at(image, event.point, self._tolerance, levels=self.context.levels)
        if band is None:
            return
        self._cancel_preview()
        self._band, self._id = band, self.id_for(event)
        self._points = [event.point]
        if self.context.options.on("band_auto"):
            self.context.options.set("band", band.tolerance)
        self.context.editor.begin("threshold")
        self._paint_to(event.point)

    def move(self, event: PointerEvent) -> None:
        if self._points:
            self._paint_to(event.point)

    def _paint_to(self, point: Point) -> None:
        """Continue the stroke to `point` in parts: the bounding box of a long oblique segment is mostly empty."""
        image, band = self.context.image, self._band
        if image is None or band is None:
            return
        start = self._points[-1]
        parts = max(1, int(np.hypot(point[0] - start[0], point[1] - start[1]) / max(2 * self.radius, 32)))
        for i in range(parts):
            a, b = (
                (start[0] + (point[0] - start[0]) * t, start[1] + (point[1] - start[1]) * t)
                for t in (i / parts, (i + 1) / parts)
            )
            self.context.paint_selection(select_band(image, a, b, self.radius, band), self._id)
        self._points.append(point)

    def finish(self, event: PointerEvent) -> None:
        if self._points:
            self._points, self._band = [], None
            self.context.editor.commit()

    def cancel(self) -> None:
        super().cancel()
        self._band = None
        self._cancel_preview()

    # --- preview ---------------------------------------------------------------------------------

    @property
    def _tolerance(self) -> float | None:
        return None if self.context.options.on("band_auto") else self.context.options["band"]

    def hover(self, point: Point | None) -> None:
        super().hover(point)
        image = self.context.image
        if image is None or point is None or not self.context.contains(point):
            self._cancel_preview()
            return
        radius, levels, tolerance, stroke_band = self.radius, self.context.levels, self._tolerance, self._band

        def compute() -> ThresholdPreview | None:
            band = stroke_band or tone_band_at(image, point, tolerance, levels=levels)
            if band is None:
                return None
            selected = select_band(image, point, point, radius, band)
            return ThresholdPreview(band, selected, histogram(image, point, point, radius, band))

        self.context.tasks.preview(compute, self._show_preview)

    def _show_preview(self, preview: ThresholdPreview | None) -> None:
        self.tones = None if preview is None else preview.tones
        # During a stroke the mask itself shows the selected pixels.
        self.show(None if preview is None or self._points else preview.selected)
        self.redraw(self._panel())

    def _cancel_preview(self) -> None:
        self.context.tasks.cancel_preview()
        self.show(None)
        if self.tones is not None:
            self.tones = None
            self.redraw(self._panel())

    def _panel(self) -> QRectF:
        return _PANEL.translated(0, self.view.height)

    def draw(self, painter: QPainter) -> None:
        if self.selection_preview is not None:
            self.selection_preview.draw(painter, self.view)
        super().draw(painter)
        if self.tones is not None:
            draw_histogram(painter, self._panel(), self.tones, self.context.color)


def draw_histogram(painter: QPainter, area: QRectF, tones: ToneHistogram, color: QColor) -> None:
    """Draw the histogram of tones under the brush; selected tones have the color of the class."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(255, 255, 255, 40), 1))
    painter.setBrush(QColor(18, 20, 22, 215))
    painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
    plot = area.adjusted(10, 10, -10, -24)
    first, last = float(tones.edges[0]), float(tones.edges[-1])
    across = plot.width() / max(last - first, 1e-9)
    low, high = max(tones.low, first), min(tones.high, last)
    band = QRectF(plot.left() + (low - first) * across, plot.top(), max(2.0, (high - low) * across), plot.height())
    tint = QColor(color)
    tint.setAlpha(50)
    painter.fillRect(band, tint)
    # Square roots keep a small defect visible beside the background.
    heights = np.sqrt(tones.counts) / max(1.0, float(np.sqrt(tones.counts.max(initial=0))))
    middle = (tones.edges[:-1] + tones.edges[1:]) / 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for i, height in enumerate(heights):
        if height > 0:
            selected = tones.low <= middle[i] <= tones.high
            left, right = (plot.left() + (tones.edges[i + k] - first) * across for k in (0, 1))
            bar = QRectF(left, plot.bottom() - height * plot.height(), max(1.0, right - left), height * plot.height())
            painter.fillRect(bar, color if selected else QColor(168, 174, 180))
    painter.setPen(QColor(231, 233, 235))
    line = area.adjusted(10, area.height() - 22, -10, -4)
    if tones.color:
        text = f"ΔE ≤ {tones.high:.1f}"
    else:
        text = f"{_format(tones.low)} – {_format(tones.high)}"
    painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
    painter.setPen(QPen(QColor(color), 1))
    painter.drawLine(QPointF(band.left(), plot.bottom() + 2), QPointF(band.right(), plot.bottom() + 2))


def _format(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.3g}"
