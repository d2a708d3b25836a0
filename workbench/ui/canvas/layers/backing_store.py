"""Scene of the canvas in device pixels: backdrop, unscaled layers and a frame around the image.

The pixels of a partial repaint equal those of a full repaint.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap, QRegion

from workbench.core.geometry.drawing import Rect
from workbench.ui.canvas.layers.canvas_scene import CanvasScene
from workbench.ui.canvas.layers.viewport import Viewport

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
