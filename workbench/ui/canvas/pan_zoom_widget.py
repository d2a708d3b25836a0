"""Widget that shows a scene at any position and scale, pans and zooms, and redraws only changed parts."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.items.canvas_items import MOVE, PRESS, RELEASE, CanvasItem
from workbench.ui.canvas.layers.backing_store import BackingStore, hardly_more
from workbench.ui.canvas.layers.viewport import Viewport


class PanZoomWidget(QWidget):
    """Scene widget. `view` is the position of the image. Tools and guests are drawn over the cached scene."""

    view_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(QSize(160, 120))
        self.backdrop = QColor("#141517")
        self.frame = QColor("#3a3f45")
        self.view = Viewport(1, 1)
        self._fitted = True
        self._backing = BackingStore()
        self._waiting = QRect()  # area of the next paint event
        self._guests: tuple[CanvasItem, ...] = ()
        # Owner of the pointer from press to release: an item over the image, or a drag of one of its buttons.
        self._owner: CanvasItem | None = None
        self.button = Qt.MouseButton.NoButton

    # --- overridden by subclasses ----------------------------------------------------------------

    def images(self, view: Viewport, part: Rect) -> list[QImage]:
        """Return the layers of `part` of `view`, bottom first; one image pixel per device pixel."""
        return []

    def draw_tools(self, painter: QPainter) -> None:
        """Draw the overlays of tools above everything, in logical pixels."""

    def busy_overlay(self) -> bool:
        """Return True while an overlay is drawn that must not be scrolled with the image."""
        return False

    @property
    def panning(self) -> bool:
        """True while a left drag pans the image."""
        return False

    def on_resized(self, ratio: float) -> None:
        """Called after a change of the size or of the number of device pixels per logical pixel."""

    def add_item(self, guest: CanvasItem) -> None:
        """Add a guest from another package; it is drawn above the scene and receives pointer events last."""
        self._guests = (*self._guests, guest)

    # --- view ------------------------------------------------------------------------------------

    @property
    def fitted(self) -> bool:
        """True while the whole image is kept visible."""
        return self._fitted

    def set_view(self, view: Viewport) -> None:
        """Set the view. A pan by whole logical pixels scrolls the existing screen content."""
        before = [guest.area for guest in self._guests]
        old, self.view = self.view, view
        self._fitted = False
        if view == old:
            return
        if view.scale != old.scale:
            self.update()
            self.view_changed.emit()
            return
        dx, dy, ratio = view.x - old.x, view.y - old.y, self.devicePixelRatioF()
        self._backing.scroll(dx, dy)
        whole = ratio == int(ratio) and dx % int(ratio) == 0 and dy % int(ratio) == 0
        if whole and not self.busy_overlay():
            dx, dy = round(dx / ratio), round(dy / ratio)
            self.scroll(dx, dy)
            for guest, area in zip(self._guests, before, strict=True):
                for part in (area and area.translated(dx, dy), guest.area):
                    if part is not None:
                        super().update(part.adjusted(-2, -2, 2, 2))
        else:
            super().update()
        self.view_changed.emit()

    def fit(self) -> None:
        self.set_view(self.view.fitted())
        self._fitted = True

    def actual_size(self) -> None:
        self.set_view(self.view.at_scale(1.0))

    def zoom(self, factor: float) -> None:
        """Zoom around the center of the screen area."""
        self.set_view(self.view.zoomed(factor, self.view.width / 2, self.view.height / 2))

    def screen_point(self, position: QPointF) -> tuple[float, float]:
        """Convert a position in this widget to device pixels."""
        ratio = self.devicePixelRatioF()
        return position.x() * ratio, position.y() * ratio

    def image_point(self, position: QPointF) -> tuple[float, float]:
        return self.view.to_image(*self.screen_point(position))

    # --- updates ---------------------------------------------------------------------------------

    def update(self, area: QRect | None = None) -> None:
        """Redraw the scene in `area`, logical pixels; None redraws everything."""
        if area is None:
            self._backing.invalidate(None)
            super().update()
        else:
            ratio = self.devicePixelRatioF()
            corner = QPointF(area.x() * ratio, area.y() * ratio)
            x, y = math.floor(corner.x()), math.floor(corner.y())
            right, bottom = math.ceil((area.right() + 1) * ratio), math.ceil((area.bottom() + 1) * ratio)
            self._backing.invalidate(Rect(x, y, right - x, bottom - y))
            self._repaint(area)

    def update_scene(self, rect: Rect) -> None:
        """Redraw the scene in a rectangle of device pixels."""
        rect = rect.clipped(self.view.width, self.view.height)
        if not rect.empty:
            self._backing.invalidate(rect)
            self._repaint(self._logical(rect))

    def update_over(self, rect: Rect) -> None:
        """Redraw the overlays in a rectangle of device pixels."""
        rect = rect.clipped(self.view.width, self.view.height)
        if not rect.empty:
            self._repaint(self._logical(rect))

    def _repaint(self, area: QRect) -> None:
        """Schedule a repaint; merge it with the pending one if cheap: clipping to many rectangles is slow in Qt."""
        if self._waiting.contains(area):
            return
        around = self._waiting.united(area)
        if hardly_more(around, (self._waiting, area)):
            self._waiting = area = around
        super().update(area)

    def _logical(self, rect: Rect) -> QRect:
        ratio = self.devicePixelRatioF()
        if ratio == 1:
            return QRect(rect.x, rect.y, rect.width, rect.height)
        left, top = math.floor(rect.x / ratio), math.floor(rect.y / ratio)
        right, bottom = math.ceil((rect.x + rect.width) / ratio), math.ceil((rect.y + rect.height) / ratio)
        return QRect(left, top, right - left, bottom - top)

    # --- events ----------------------------------------------------------------------------------

    def _taken_by_guest(self, kind: QEvent.Type, event: QMouseEvent) -> bool:
        """Offer a pointer event to the items over the image; the one that takes a press owns the pointer from then on,
        until no button is down.
        """
        if kind in PRESS and event.buttons() == event.button():
            self._owner = None  # the first button down: a release before it was missed
        owner, taken = self._owner, False
        for guest in [owner] if owner is not None else self._guests:
            if guest.take(kind, event):
                taken = True
                if kind in PRESS:
                    self._owner = guest
                break
        if kind == RELEASE and event.buttons() == Qt.MouseButton.NoButton:
            self._owner = None
        return taken or owner is not None

    def paintEvent(self, event) -> None:
        self._waiting = QRect()
        ratio = self.devicePixelRatioF()
        scene = self._backing.drawn(self, ratio)
        painter = QPainter(self)
        try:
            painter.save()
            painter.scale(1 / ratio, 1 / ratio)
            painter.drawPixmap(0, 0, scene)
            painter.restore()
            self.draw_tools(painter)
            for guest in self._guests:
                area = guest.area
                if area is not None and event.region().intersects(area.adjusted(-2, -2, 2, 2)):
                    guest.draw(painter)
        finally:
            painter.end()  # a painter kept alive by a traceback would terminate the process

    def event(self, event: QEvent) -> bool:
        kind = event.type()
        if (kind in PRESS or kind in (MOVE, RELEASE)) and self.button == Qt.MouseButton.NoButton:
            if self._taken_by_guest(kind, event):
                event.accept()
                return True
        elif kind == QEvent.Type.DevicePixelRatioChange:
            self._fit_to_widget()
        return super().event(event)

    def resizeEvent(self, event) -> None:
        self._fit_to_widget()

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        self._fit_to_widget()

    def showEvent(self, event) -> None:
        super().showEvent(event)
        self._fit_to_widget()

    def _fit_to_widget(self) -> None:
        ratio = self.devicePixelRatioF()
        width, height = max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio))
        if (width, height) == (self.view.width, self.view.height):
            return
        self.on_resized(ratio)
        self.view = self.view.resized(width, height)
        if self._fitted:
            self.view = self.view.fitted()
        self.update()
        self.view_changed.emit()
