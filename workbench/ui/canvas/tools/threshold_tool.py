"""Threshold brush: a stroke takes only pixels close to the tone under its start, and previews them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.core.geometry.selection import (
    Point,
    Selection,
    ToneBand,
    ToneHistogram,
    histogram,
    select_band,
    tone_band_at,
)
from workbench.ui.canvas.interactor import PointerEvent
from workbench.ui.canvas.tools.brush_tools import Brush
from workbench.ui.canvas.tools.tool_context import ToolContext

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
