"""A rectangle of the canvas drawn anew: backdrop, the layers one pixel to one pixel, and a line around the picture.

Whatever rectangle is drawn, its pixels are those of a whole repaint.
"""

from __future__ import annotations

import math
from typing import Protocol

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor, QImage, QPainter, QRegion

from workbench.core.drawing import Rect
from workbench.ui.canvas.viewport import Viewport

_JOINED = 16_000  # logical pixels that cost as much as one more rectangle


class Scene(Protocol):
    """What there is to draw."""

    view: Viewport
    backdrop: QColor
    frame: QColor

    def devicePixelRatioF(self) -> float: ...
    def images(self, view: Viewport, part: Rect) -> list[QImage]: ...


def joined(region: QRegion) -> list[QRect]:
    """The rectangles of a region, or the one around them where that is hardly more to draw."""
    around, parts = region.boundingRect(), list(region)
    least = sum(part.width() * part.height() for part in parts)
    return [around] if around.width() * around.height() <= least + _JOINED * len(parts) else parts


def draw_part(painter: QPainter, area: QRect, scene: Scene) -> None:
    """Draw `area`, logical pixels."""
    painter.fillRect(area, scene.backdrop)
    shown, ratio = scene.view.shown, scene.devicePixelRatioF()
    if shown.empty:
        return
    x, y = math.floor(area.x() * ratio), math.floor(area.y() * ratio)
    right, bottom = math.ceil((area.right() + 1) * ratio), math.ceil((area.bottom() + 1) * ratio)
    part = Rect(x - shown.x, y - shown.y, right - x, bottom - y).clipped(shown.width, shown.height)
    if not part.empty:
        part = Rect(part.x + shown.x, part.y + shown.y, part.width, part.height)
        painter.save()
        painter.setClipRect(area)
        for image in scene.images(scene.view, part):
            image.setDevicePixelRatio(ratio)
            painter.drawImage(QPointF(part.x / ratio, part.y / ratio), image)
        painter.restore()
    _draw_frame(painter, area, shown, ratio, scene.frame)


def _draw_frame(painter: QPainter, area: QRect, shown: Rect, ratio: float, color: QColor) -> None:
    """In filled rectangles: drawn lines differ at corners with what is clipped."""
    left, top = math.floor(shown.x / ratio) - 1, math.floor(shown.y / ratio) - 1
    right = math.ceil((shown.x + shown.width) / ratio)
    bottom = math.ceil((shown.y + shown.height) / ratio)
    for side in (
        QRect(left, top, right - left + 1, 1),
        QRect(left, bottom, right - left + 1, 1),
        QRect(left, top, 1, bottom - top + 1),
        QRect(right, top, 1, bottom - top + 1),
    ):
        part = side.intersected(area)
        if not part.isEmpty():
            painter.fillRect(part, color)
