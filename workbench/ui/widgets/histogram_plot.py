"""Histogram of the open image with two handles for black and white."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPalette, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

_BINS = 128
_GRAB_DISTANCE = 7  # logical pixels around a handle


class HistogramPlot(QWidget):
    """Histogram. Drag a handle, or the area between them."""

    dragged = Signal(float, float)  # low, high

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self._bars = np.zeros(0)
        self._range = (0.0, 255.0)
        self._ends = (0.0, 255.0)
        self._drag: tuple[str, float, float, float] | None = None  # dragged part, its start, and both ends at the start

    def sizeHint(self) -> QSize:
        return QSize(160, 58)

    def show_values(self, values: np.ndarray, minimum: float, maximum: float) -> None:
        """Show the histogram of a flat sample of the image, `values`."""
        counts, _ = np.histogram(values, _BINS, (minimum, maximum)) if values.size else (np.zeros(_BINS), None)
        # Square roots keep rare values, such as defects, visible beside the surface; one bin must not flatten all.
        bars = np.sqrt(counts)
        top = np.partition(bars, -3)[-3] if bars.size else 0
        self._bars = np.minimum(bars / max(top, 1e-9), 1)
        self._range = minimum, maximum
        self.update()

    def show_ends(self, low: float, high: float) -> None:
        self._ends = low, high
        self.update()

    # --- pointer ---------------------------------------------------------------------------------

    def _x(self, value: float) -> float:
        minimum, maximum = self._range
        return 1 + (value - minimum) / max(maximum - minimum, 1e-12) * (self.width() - 2)

    def _value(self, x: float) -> float:
        minimum, maximum = self._range
        return minimum + (x - 1) / max(self.width() - 2, 1) * (maximum - minimum)

    def _part_at(self, x: float) -> str:
        low, high = (self._x(end) for end in self._ends)
        if min(abs(x - low), abs(x - high)) <= _GRAB_DISTANCE:
            return "low" if abs(x - low) < abs(x - high) or x < low else "high"
        return "both" if low < x < high else ""

    def mousePressEvent(self, event) -> None:
        part = self._part_at(event.position().x())
        if event.button() == Qt.MouseButton.LeftButton and part:
            self._drag = part, self._value(event.position().x()), *self._ends

    def mouseMoveEvent(self, event) -> None:
        x = event.position().x()
        if self._drag is None:
            shapes = {"": Qt.CursorShape.ArrowCursor, "both": Qt.CursorShape.OpenHandCursor}
            self.setCursor(shapes.get(self._part_at(x), Qt.CursorShape.SizeHorCursor))
            return
        part, start, low, high = self._drag
        minimum, maximum = self._range
        offset, gap = self._value(x) - start, (maximum - minimum) / 1000
        if part == "both":
            offset = min(max(offset, minimum - low), maximum - high) if high - low <= maximum - minimum else 0.0
        if part != "high":
            low = max(low + offset, minimum) if part == "both" else min(max(low + offset, minimum), high - gap)
        if part != "low":
            high = high + offset if part == "both" else max(min(high + offset, maximum), low + gap)
        self.dragged.emit(low, high)

    def mouseReleaseEvent(self, event) -> None:
        self._drag = None

    # --- drawing ---------------------------------------------------------------------------------

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        palette = self.palette()
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(palette.color(QPalette.ColorRole.Mid))
        painter.setBrush(palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(area, 3, 3)
        if not self.isEnabled() or not self._bars.size:
            return
        low, high = (min(max(self._x(end), 1.0), self.width() - 1.0) for end in self._ends)
        text = palette.color(QPalette.ColorRole.PlaceholderText)
        outline = self._outline()
        painter.setPen(Qt.PenStyle.NoPen)
        for left, right, strength in ((1.0, low, 90), (low, high, 255), (high, self.width() - 1.0, 90)):
            painter.setClipRect(QRectF(left, 1, right - left, self.height() - 2))
            painter.setBrush(QColor(text.red(), text.green(), text.blue(), strength))
            painter.drawPolygon(outline)
        painter.setClipping(False)
        painter.setBrush(palette.color(QPalette.ColorRole.Highlight))
        for x, tip in ((low, 5), (high, -5)):
            painter.drawRect(QRectF(x - 1, 1, 2, self.height() - 2))
            painter.drawPolygon(QPolygonF([QPointF(x, 1), QPointF(x + tip, 1), QPointF(x, 8)]))

    def _outline(self) -> QPolygonF:
        width, bottom = self.width() - 2, self.height() - 1.0
        points = [QPointF(1, bottom)]
        for i, bar in enumerate(self._bars):
            y = bottom - bar * (self.height() - 10)
            points += [QPointF(1 + i * width / _BINS, y), QPointF(1 + (i + 1) * width / _BINS, y)]
        return QPolygonF([*points, QPointF(1 + width, bottom)])
