"""Renderer of the canvas: cached scene below, overlays of the interactors above; repaints only what changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.interactor import Interactor
from workbench.ui.canvas.layers.backing_store import BackingStore, cheap_to_merge
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.view_state import ViewState
from workbench.ui.canvas.layers.viewport import Viewport


class SceneRenderer:
    """Painter of a widget. `overlays`: interactors over the scene, topmost first."""

    def __init__(self, widget: QWidget, view: ViewState, scene: CanvasScene) -> None:
        self._widget, self._view, self._scene = widget, view, scene
        self.overlays: Sequence[Interactor] = ()
        self.backing = BackingStore()
        self._pending = QRect()  # area of the next paint event
        self._areas: list[QRect | None] = []  # of the overlays, before a change of the view
        view.about_to_change.connect(self._store_areas)
        view.changed.connect(self._follow_view)
        scene.invalidated.connect(self.update_scene)

    @property
    def font_metrics(self) -> QFontMetrics:
        return self._widget.fontMetrics()

    # --- updates ---------------------------------------------------------------------------------

    def update_scene(self, rect: Rect | None = None) -> None:
        """Redraw the scene in a rectangle of device pixels; None redraws everything."""
        if rect is None:
            self.backing.invalidate(None)
            QWidget.update(self._widget)
            return
        rect = rect.clipped(self._view.viewport.width, self._view.viewport.height)
        if not rect.empty:
            self.backing.invalidate(rect)
            self._repaint(self._logical(rect))

    def update_overlay(self, area: QRect | QRectF | None) -> None:
        """Redraw the overlays in a rectangle of logical pixels; the cached scene stays valid. None has no effect."""
        if area is not None:
            whole = area.toAlignedRect() if isinstance(area, QRectF) else area
            whole = whole.adjusted(-2, -2, 2, 2).intersected(self._widget.rect())
            if not whole.isEmpty():
                self._repaint(whole)

    def _repaint(self, area: QRect) -> None:
        """Schedule a repaint; merge it with the pending one if cheap: clipping to many rectangles is slow in Qt."""
        if self._pending.contains(area):
            return
        around = self._pending.united(area)
        if cheap_to_merge(around, (self._pending, area)):
            self._pending = area = around
        QWidget.update(self._widget, area)

    def _logical(self, rect: Rect) -> QRect:
        ratio = self._view.ratio
        if ratio == 1:
            return QRect(rect.x, rect.y, rect.width, rect.height)
        left, top = math.floor(rect.x / ratio), math.floor(rect.y / ratio)
        right, bottom = math.ceil((rect.x + rect.width) / ratio), math.ceil((rect.y + rect.height) / ratio)
        return QRect(left, top, right - left, bottom - top)

    # --- changes of the view ---------------------------------------------------------------------

    def _store_areas(self) -> None:
        self._areas = [overlay.area for overlay in self.overlays]

    def _follow_view(self, old: Viewport) -> None:
        """Redraw after a zoom. A pan by whole logical pixels scrolls the existing screen content."""
        view, ratio = self._view.viewport, self._view.ratio
        dx, dy = view.x - old.x, view.y - old.y
        if view != old.translated(dx, dy):
            self.update_scene()
            return
        self.backing.scroll(dx, dy)
        whole = ratio == int(ratio) and dx % int(ratio) == 0 and dy % int(ratio) == 0
        if not whole or any(overlay.showing for overlay in self.overlays):
            QWidget.update(self._widget)
            return
        dx, dy = round(dx / ratio), round(dy / ratio)
        self._widget.scroll(dx, dy)
        for overlay, area in zip(self.overlays, self._areas, strict=True):
            for part in (area and area.translated(dx, dy), overlay.area):
                if part is not None:
                    QWidget.update(self._widget, part.adjusted(-2, -2, 2, 2))

    # --- painting --------------------------------------------------------------------------------

    def paint(self, painter: QPainter, event: QPaintEvent) -> None:
        self._pending = QRect()
        ratio = self._view.ratio
        pixels = self.backing.drawn(self._scene, self._view.viewport, ratio)
        painter.save()
        painter.scale(1 / ratio, 1 / ratio)
        painter.drawPixmap(0, 0, pixels)
        painter.restore()
        if self._scene.image is None:
            return
        exposed = event.region()
        for overlay in reversed(self.overlays):
            area = overlay.area if overlay.bounded else None
            if not overlay.bounded or (area is not None and exposed.intersects(area.adjusted(-2, -2, 2, 2))):
                painter.save()
                overlay.draw(painter)
                painter.restore()
