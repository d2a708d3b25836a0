"""Renderer of the canvas: scene in a backing store of device pixels below, overlays of the interactors above."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPixmap, QRegion
from PySide6.QtWidgets import QWidget

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.interactor import Interactor
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.view_state import Viewport, ViewState

_JOINED = 16_000  # pixels that cost as much as one more rectangle


class BackingStore:
    """Cache of the drawn scene. A moving outline above the scene requires no redraw of it."""

    def __init__(self) -> None:
        self._pixels = QPixmap()
        self._stale = QRegion()
        self.repainted = 0  # pixels drawn so far, for tests of the cost of a move

    def invalidate(self, rect: Rect | None) -> None:
        """Mark `rect`, device pixels, as changed; None marks everything."""
        area = self._pixels.rect() if rect is None else QRect(rect.x, rect.y, rect.width, rect.height)
        self._stale = self._stale.united(area)

    def scroll(self, dx: int, dy: int) -> None:
        """Shift the cached scene by whole device pixels."""
        whole = self._pixels.rect()
        self._pixels.scroll(dx, dy, whole)
        self._stale = self._stale.translated(dx, dy).united(QRegion(whole) - QRegion(whole.translated(dx, dy)))

    def drawn(self, scene: CanvasScene, view: Viewport, ratio: float) -> QPixmap:
        """Return the whole scene in device pixels. ratio: device pixels per logical pixel."""
        size = QSize(view.width, view.height)
        if self._pixels.size() != size:
            self._pixels = QPixmap(size)
            self._stale = QRegion(self._pixels.rect())
        stale, self._stale = self._stale.intersected(self._pixels.rect()), QRegion()
        if not stale.isEmpty():
            painter = QPainter(self._pixels)
            try:
                for area in joined(stale):
                    draw_part(painter, area, scene, view, round(ratio))
                    self.repainted += area.width() * area.height()
            finally:
                painter.end()
        return self._pixels


def joined(region: QRegion) -> list[QRect]:
    """Return the rectangles of a region, or their bounding rectangle if that costs hardly more."""
    around = region.boundingRect()
    if region.rectCount() == 1:
        return [around]
    parts = list(region)
    return [around] if cheap_to_merge(around, parts) else parts


def cheap_to_merge(around: QRect, parts: Sequence[QRect]) -> bool:
    """Return True if drawing `around` costs little more than drawing the parts in it."""
    covered = sum(part.width() * part.height() for part in parts)
    return around.width() * around.height() <= covered + _JOINED * len(parts)


def draw_part(painter: QPainter, area: QRect, scene: CanvasScene, view: Viewport, line: int) -> None:
    """Draw `area`, device pixels. line: width of the frame around the image."""
    shown = view.shown
    x, y, width, height = area.x(), area.y(), area.width(), area.height()
    part = Rect(x - shown.x, y - shown.y, width, height).clipped(shown.width, shown.height)
    if (part.width, part.height) != (width, height):
        painter.fillRect(area, scene.backdrop)
    if shown.empty:
        return
    if not part.empty:
        part = Rect(part.x + shown.x, part.y + shown.y, part.width, part.height)
        for image in scene.images(view, part):
            painter.drawImage(part.x, part.y, image)
    if (part.width, part.height) != (width, height):
        _draw_frame(painter, area, shown, line, scene.frame)


def _draw_frame(painter: QPainter, area: QRect, shown: Rect, line: int, color: QColor) -> None:
    """Draw the frame as filled rectangles; clipped lines would differ at the corners."""
    left, top = shown.x - line, shown.y - line
    wide, high = shown.width + 2 * line, shown.height + 2 * line
    for side in (
        QRect(left, top, wide, line),
        QRect(left, top + high - line, wide, line),
        QRect(left, top, line, high),
        QRect(left + wide - line, top, line, high),
    ):
        part = side.intersected(area)
        if not part.isEmpty():
            painter.fillRect(part, color)


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
        """Redraw after a zoom. A pan by whole logical pixels scrolls the existing screen content.

        `QWidget.scroll` would move bars on the canvas too, so that nothing is scrolled while there is one.
        """
        view, ratio = self._view.viewport, self._view.ratio
        dx, dy = view.x - old.x, view.y - old.y
        if view != old.translated(dx, dy):
            self.update_scene()
            return
        self.backing.scroll(dx, dy)
        whole = ratio == int(ratio) and dx % int(ratio) == 0 and dy % int(ratio) == 0
        bars = any(isinstance(child, QWidget) and child.isVisible() for child in self._widget.children())
        if not whole or bars or any(overlay.showing for overlay in self.overlays):
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
