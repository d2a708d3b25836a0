"""Position of the image on the screen: zoom, pan, and conversions between image, device pixels and widget.

Columns and rows are device pixels. With a whole origin every device pixel shows a fixed source pixel whatever part of
the view is drawn, so a partial repaint equals a full one to the bit. Qt's own scaled drawing does not have this
property.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from PySide6.QtCore import QObject, QPointF, QRectF, Signal

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point

MAX_SCALE = 64.0


@dataclass(frozen=True)
class Viewport:
    """Image position: `scale` device pixels per image pixel; device pixel (x, y) is the outer corner of the image."""

    width: int  # of the screen area, device pixels
    height: int
    image_width: int = 0
    image_height: int = 0
    scale: float = 1.0
    x: int = 0
    y: int = 0

    @cached_property
    def level(self) -> int:
        """Pyramid level whose cells are at least one device pixel, so that none is skipped."""
        return max(0, math.ceil(-math.log2(self.scale) - 1e-9))

    @cached_property
    def shown(self) -> Rect:
        """Device rectangle covered by the image; it may lie outside the screen area.

        Below 100 % it is long enough to show the last cell of a pyramid, which may be partial.
        """
        cell = self.scale * 2**self.level
        width, height = (
            max(math.ceil(size * self.scale), math.ceil(((size - 1) >> self.level) * cell - 0.5) + 1) if size else 0
            for size in (self.image_width, self.image_height)
        )
        return Rect(self.x, self.y, width, height)

    def to_image(self, x: float, y: float) -> tuple[float, float]:
        """Convert a screen point to image coordinates."""
        return (x - self.x) / self.scale, (y - self.y) / self.scale

    def to_screen(self, x: float, y: float) -> tuple[float, float]:
        return x * self.scale + self.x, y * self.scale + self.y

    def screen_rect(self, rect: Rect, margin: int = 0) -> Rect:
        """Return all device pixels that can change when the image pixels of `rect` change."""
        cell = 1 << self.level
        left, top = rect.x // cell * cell, rect.y // cell * cell
        right, bottom = -(-(rect.x + rect.width) // cell) * cell, -(-(rect.y + rect.height) // cell) * cell
        x0, y0 = self.to_screen(left, top)
        x1, y1 = self.to_screen(right, bottom)
        # Two more: the last cell of a level may extend past the image edge.
        x, y = math.floor(x0) - 1 - margin, math.floor(y0) - 1 - margin
        return Rect(x, y, math.ceil(x1) + 2 + margin - x, math.ceil(y1) + 2 + margin - y)

    # --- other viewports -------------------------------------------------------------------------

    def resized(self, width: int, height: int) -> Viewport:
        """Return the view for another screen area, with the same image point at its center."""
        dx, dy = (width - self.width) // 2, (height - self.height) // 2
        return replace(self, width=width, height=height, x=self.x + dx, y=self.y + dy)

    def translated(self, dx: int, dy: int) -> Viewport:
        """Return the view shifted by device pixels, without a limit."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    def moved(self, dx: int, dy: int) -> Viewport:
        """Return the view panned by whole device pixels; a part of the image always stays visible."""
        return self.translated(dx, dy)._limited()

    def centered(self, x: float, y: float) -> Viewport:
        """Return the view with an image point at the center of the screen area."""
        x, y = self.width / 2 - x * self.scale, self.height / 2 - y * self.scale
        return replace(self, x=round(x), y=round(y))._limited()

    def zoomed(self, factor: float, x: float, y: float) -> Viewport:
        """Return the view scaled around a screen point, which keeps showing the same image point."""
        return self.at_scale(self.scale * factor, x, y)

    def at_scale(self, scale: float, x: float | None = None, y: float | None = None) -> Viewport:
        x, y = self.width / 2 if x is None else x, self.height / 2 if y is None else y
        scale = min(max(scale, self.min_scale), MAX_SCALE)
        if abs(scale - 1) < 0.02:
            scale = 1.0  # stops at exactly 100 % when passing it
        px, py = self.to_image(x, y)
        return replace(self, scale=scale, x=round(x - px * scale), y=round(y - py * scale))._limited()

    def fitted(self) -> Viewport:
        """Return the view of the whole image, centered, magnified 16 times at most."""
        scale = min(self.fit_scale, 16.0)
        x = (self.width - self.image_width * scale) / 2
        y = (self.height - self.image_height * scale) / 2
        return replace(self, scale=scale, x=round(x), y=round(y))

    @property
    def fit_scale(self) -> float:
        if not self.image_width or not self.image_height:
            return 1.0
        margin = 0.96
        ratio = min(self.width / self.image_width, self.height / self.image_height)
        return max(ratio * margin, 1e-4)

    @property
    def min_scale(self) -> float:
        return min(self.fit_scale / 4, 1.0)

    def _limited(self) -> Viewport:
        margin = 48  # device pixels of the image that stay visible
        wide, high = self.image_width * self.scale, self.image_height * self.scale
        x = min(max(self.x, math.ceil(min(margin, wide) - wide)), self.width - math.ceil(min(margin, wide)))
        y = min(max(self.y, math.ceil(min(margin, high) - high)), self.height - math.ceil(min(margin, high)))
        return replace(self, x=x, y=y)


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

    def actual_size(self) -> None:
        self.set(self.viewport.at_scale(1.0))

    def zoom(self, factor: float) -> None:
        """Zoom around the center of the screen area."""
        self.set(self.viewport.zoomed(factor, self.viewport.width / 2, self.viewport.height / 2))

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

    def to_widget_rect(self, rect: Rect) -> QRectF:
        """Convert a rectangle of image pixels to one of the widget."""
        return QRectF(self.to_widget((rect.x, rect.y)), self.to_widget((rect.x + rect.width, rect.y + rect.height)))

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
