"""Overview of the whole image in a corner of the canvas, framing the visible part. Click or drag to move there."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPen

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.items.canvas_items import PRESS, RELEASE, CanvasItemHost
from workbench.ui.canvas.layers.viewport import Viewport

_LONGER, _SHORTER = 160, 24  # largest longer and smallest shorter side, logical pixels
_MARGIN = 12
_SETTLED = 250  # ms after the last change of the labels before a redraw


class Minimap(QObject):
    """Minimap, hidden while the whole image is visible or if the canvas is too small."""

    def __init__(self, view: CanvasItemHost) -> None:
        super().__init__(view)
        self._view = view
        self.enabled = True
        self._image: QImage | None = None
        self._dragging = False
        self._settle = QTimer(self, singleShot=True, interval=_SETTLED, timeout=self.refresh)

    def stale(self) -> None:
        """Schedule a redraw after a change of the labels."""
        if self._image is not None:
            self._settle.start()

    def refresh(self) -> None:
        """Redraw the content."""
        self._image = None
        if self.area is not None:
            self._view.update(self.area)

    @property
    def area(self) -> QRect | None:
        view, shown = self._view.view, self._view.view.shown
        whole = (
            shown.x >= 0
            and shown.y >= 0
            and (shown.x + shown.width <= view.width and shown.y + shown.height <= view.height)
        )
        if not self.enabled or self._view.image is None or whole:
            return None
        width, height = self._size()
        if 3 * width > self._view.width() or 3 * height > self._view.height():
            return None
        return QRect(self._view.width() - width - _MARGIN, self._view.height() - height - _MARGIN, width, height)

    def _size(self) -> tuple[int, int]:
        width, height = self._view.view.image_width, self._view.view.image_height
        factor = _LONGER / max(width, height, 1)
        return max(_SHORTER, round(width * factor)), max(_SHORTER, round(height * factor))

    # --- pointer ---------------------------------------------------------------------------------

    def take(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        area, at = self.area, event.position()
        inside = area is not None and area.contains(at.toPoint())
        if kind in PRESS:
            if not self._dragging and (not inside or event.button() != Qt.MouseButton.LeftButton):
                return inside
            self._dragging = True
        elif kind == RELEASE:
            taken, self._dragging = self._dragging, False
            return taken
        elif not self._dragging:
            # A stroke begun outside continues under the map.
            return inside and event.buttons() == Qt.MouseButton.NoButton
        if area is not None:
            self._go(area, at)
        return True

    def _go(self, area: QRect, at: QPointF) -> None:
        view = self._view.view
        x = (at.x() - area.x()) / area.width() * view.image_width
        y = (at.y() - area.y()) / area.height() * view.image_height
        self._view.set_view(view.centered(x, y))

    # --- drawing ---------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        area = self.area
        if area is None:
            return
        if self._image is None or self._image.size() != area.size() * self._view.devicePixelRatioF():
            self._image = self._drawn(area)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawImage(area, self._image)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._view.frame, 1))
        painter.drawRect(area.adjusted(-1, -1, 0, 0))
        painter.setClipRect(area)
        frame = self._frame(area)
        for color, width in ((QColor(0, 0, 0, 170), 3.0), (QColor(255, 255, 255), 1.0)):
            painter.setPen(QPen(color, width))
            painter.drawRect(frame)
        painter.restore()

    def _frame(self, area: QRect) -> QRectF:
        view = self._view.view
        left, top = view.to_image(0, 0)
        right, bottom = view.to_image(view.width, view.height)
        across, down = area.width() / view.image_width, area.height() / view.image_height
        left, right = max(left, 0) * across, min(right, view.image_width) * across
        top, bottom = max(top, 0) * down, min(bottom, view.image_height) * down
        width, height = max(right - left - 1, 4), max(bottom - top - 1, 4)
        return QRectF(area.x() + left, area.y() + top, width, height)

    def _drawn(self, area: QRect) -> QImage:
        """Render image and labels at reduced size with their own layers."""
        ratio = self._view.devicePixelRatioF()
        size = area.size() * ratio
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill(self._view.backdrop)
        painter = QPainter(image)
        view = self._view.view
        scale = min(size.width() / view.image_width, size.height() / view.image_height)
        small = Viewport(size.width(), size.height(), view.image_width, view.image_height, scale)
        shown = small.shown
        part = Rect(0, 0, min(shown.width, size.width()), min(shown.height, size.height()))
        for drawn in self._view.images(small, part):
            painter.drawImage(0, 0, drawn)
        painter.end()
        return image
