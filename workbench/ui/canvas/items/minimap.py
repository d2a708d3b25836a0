"""Overview of the whole image in a corner of the canvas, framing the visible part. Click or drag to move there."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.interactor import Interactor, PointerEvent
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.view_state import Viewport, ViewState
from workbench.ui.canvas.scene_renderer import SceneRenderer

_LONG_SIDE, _SHORT_SIDE = 160, 24  # largest longer and smallest shorter side, logical pixels
_MARGIN = 12
_DELAY = 250  # ms after the last change of the labels before a redraw


class Minimap(QObject, Interactor):
    """Minimap, hidden while the whole image is visible or if the canvas is too small."""

    cursor = Qt.CursorShape.ArrowCursor

    def __init__(self, view: ViewState, scene: CanvasScene, renderer: SceneRenderer, parent: QObject) -> None:
        super().__init__(parent)
        self._view, self._scene, self._renderer = view, scene, renderer
        self._enabled = True
        self._covered = 0  # logical pixels at the bottom of the canvas that a bar covers
        self._image: QImage | None = None
        self._dragging = False
        self._delay = QTimer(self, singleShot=True, interval=_DELAY, timeout=self.refresh)
        scene.content_changed.connect(self.refresh)
        scene.invalidated.connect(self._schedule)

    @property
    def enabled(self) -> bool:
        return self._enabled

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        self._enabled = enabled
        # Bars beside the minimap move too.
        self._renderer.update_overlay(QRect(0, 0, round(self._view.width), round(self._view.height)))

    def keep_above(self, height: int) -> None:
        """Stay above a bar that covers this many logical pixels at the bottom of the canvas; 0 for none."""
        if height != self._covered:
            self._renderer.update_overlay(self.area)
            self._covered = height
            self._renderer.update_overlay(self.area)

    def refresh(self) -> None:
        """Redraw the content."""
        self._image = None
        self._renderer.update_overlay(self.area)

    def _schedule(self, rect: Rect | None) -> None:
        """Redraw soon after a change of the labels in `rect`."""
        if rect is not None and self._image is not None:
            self._delay.start()

    @property
    def area(self) -> QRect | None:
        view = self._view.viewport
        shown = view.shown
        whole = (
            shown.x >= 0
            and shown.y >= 0
            and (shown.x + shown.width <= view.width and shown.y + shown.height <= view.height)
        )
        if not self._enabled or self._scene.image is None or whole:
            return None
        width, height = self._size()
        right, bottom = round(self._view.width), round(self._view.height) - self._covered
        if 3 * width > right or 3 * height > bottom:
            return None
        return QRect(right - width - _MARGIN, bottom - height - _MARGIN, width, height)

    def _size(self) -> tuple[int, int]:
        width, height = self._view.viewport.image_width, self._view.viewport.image_height
        factor = _LONG_SIDE / max(width, height, 1)
        return max(_SHORT_SIDE, round(width * factor)), max(_SHORT_SIDE, round(height * factor))

    # --- pointer ---------------------------------------------------------------------------------

    def covers(self, position: QPointF) -> bool:
        area = self.area
        return area is not None and area.contains(position.toPoint())

    def press(self, event: PointerEvent) -> bool:
        if not self.covers(event.position):
            return False
        self._dragging = event.button == Qt.MouseButton.LeftButton
        self.move(event)
        return True

    def move(self, event: PointerEvent) -> None:
        area, view = self.area, self._view.viewport
        if area is None or not self._dragging:
            return
        x = (event.position.x() - area.x()) / area.width() * view.image_width
        y = (event.position.y() - area.y()) / area.height() * view.image_height
        self._view.set(view.centered(x, y))

    # --- drawing ---------------------------------------------------------------------------------

    def draw(self, painter: QPainter) -> None:
        area = self.area
        if area is None:
            return
        if self._image is None or self._image.size() != area.size() * self._view.ratio:
            self._image = self._render(area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawImage(area, self._image)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._scene.frame, 1))
        painter.drawRect(area.adjusted(-1, -1, 0, 0))
        painter.setClipRect(area)
        frame = self._frame(area)
        for color, width in ((QColor(0, 0, 0, 170), 3.0), (QColor(255, 255, 255), 1.0)):
            painter.setPen(QPen(color, width))
            painter.drawRect(frame)

    def _frame(self, area: QRect) -> QRectF:
        view = self._view.viewport
        left, top = view.to_image(0, 0)
        right, bottom = view.to_image(view.width, view.height)
        across, down = area.width() / view.image_width, area.height() / view.image_height
        left, right = max(left, 0) * across, min(right, view.image_width) * across
        top, bottom = max(top, 0) * down, min(bottom, view.image_height) * down
        width, height = max(right - left - 1, 4), max(bottom - top - 1, 4)
        return QRectF(area.x() + left, area.y() + top, width, height)

    def _render(self, area: QRect) -> QImage:
        """Render image and labels at reduced size with their own layers."""
        ratio = self._view.ratio
        size = area.size() * ratio
        image = QImage(size, QImage.Format.Format_RGB32)
        image.fill(self._scene.backdrop)
        painter = QPainter(image)
        view = self._view.viewport
        scale = min(size.width() / view.image_width, size.height() / view.image_height)
        small = Viewport(size.width(), size.height(), view.image_width, view.image_height, scale)
        shown = small.shown
        part = Rect(0, 0, min(shown.width, size.width()), min(shown.height, size.height()))
        for layer in self._scene.images(small, part):
            painter.drawImage(0, 0, layer)
        painter.end()
        return image
