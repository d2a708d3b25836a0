"""Zoom and pan of the canvas, and the conversions between image, device pixels and widget."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QObject, QPointF, Signal

from workbench.core.geometry.selection import Point
from workbench.ui.canvas.layers.viewport import Viewport


class ViewState(QObject):
    """Present viewport. `ratio`: device pixels per logical pixel. `fitted`: the whole image is kept visible."""

    about_to_change = Signal()
    changed = Signal(object)  # the previous Viewport

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.viewport = Viewport(1, 1)
        self.ratio = 1.0
        self.fitted = True

    # --- changes ---------------------------------------------------------------------------------

    def set(self, viewport: Viewport) -> None:
        self.fitted = False
        self._change(viewport)

    def fit(self) -> None:
        """Show the whole image, also after the widget is resized."""
        self.set(self.viewport.fitted())
        self.fitted = True

    def zoom_at(self, factor: float, position: QPointF) -> None:
        """Zoom around a position of the widget, which keeps showing the same image point."""
        self.set(self.viewport.zoomed(factor, *self.device_point(position)))

    def set_image_size(self, width: int, height: int) -> None:
        """Set the size of the image in pixels. An image of another size is fitted."""
        old = self.viewport
        viewport = replace(old, image_width=width, image_height=height)
        self.fitted = self.fitted or viewport != old
        self._change(viewport.fitted() if self.fitted else viewport)

    def clear_image(self) -> None:
        self._change(replace(self.viewport, image_width=0, image_height=0))

    def resize(self, width: int, height: int, ratio: float) -> None:
        """Set the size of the widget in device pixels."""
        self.ratio = ratio
        if (width, height) != (self.viewport.width, self.viewport.height):
            viewport = self.viewport.resized(width, height)
            self._change(viewport.fitted() if self.fitted else viewport)

    def _change(self, viewport: Viewport) -> None:
        old = self.viewport
        if viewport != old:
            self.about_to_change.emit()
            self.viewport = viewport
            self.changed.emit(old)

    # --- conversions -----------------------------------------------------------------------------

    def device_point(self, position: QPointF) -> tuple[float, float]:
        """Convert a position of the widget to device pixels."""
        return position.x() * self.ratio, position.y() * self.ratio

    def image_point(self, position: QPointF) -> Point:
        """Convert a position of the widget to image coordinates."""
        return self.viewport.to_image(position.x() * self.ratio, position.y() * self.ratio)

    def to_widget(self, point: Point) -> QPointF:
        """Convert image coordinates to a position of the widget."""
        x, y = self.viewport.to_screen(*point)
        return QPointF(x / self.ratio, y / self.ratio)

    def to_length(self, length: float) -> float:
        """Convert a length from image pixels to logical pixels."""
        return length * self.viewport.scale / self.ratio

    def distance(self, a: Point, b: Point) -> float:
        """Return the distance of two image points in logical pixels."""
        return self.to_length(math.hypot(a[0] - b[0], a[1] - b[1]))

    @property
    def width(self) -> float:
        """Width of the widget in logical pixels."""
        return self.viewport.width / self.ratio

    @property
    def height(self) -> float:
        return self.viewport.height / self.ratio
