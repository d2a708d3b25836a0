"""Preview of unpainted pixels over the image: tinted, with an outline visible on any background."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.layers.view_state import Viewport, ViewState

_MARGIN = 3  # device pixels: largest overhang of the outline


class SelectionPreview:
    """Tinted selection with an outline."""

    def __init__(self, selection: Selection, color: QColor) -> None:
        self.selection = selection
        tint, line = QColor(color), QColor(color).lighter(115)
        tint.setAlpha(84)
        self._colors = np.array(
            [_premultiplied(color) for color in (QColor(0, 0, 0, 0), tint, line, QColor(0, 0, 0, 190))]
        )
        self._drawn: tuple[Viewport, Rect, np.ndarray] | None = None

    def area(self, view: ViewState) -> QRectF:
        """Return the covered rectangle in logical pixels."""
        rect, ratio = self._device(view.viewport), view.ratio
        return QRectF(rect.x / ratio, rect.y / ratio, rect.width / ratio, rect.height / ratio)

    def draw(self, painter: QPainter, view: ViewState) -> None:
        viewport = view.viewport
        if self._drawn is None or self._drawn[0] != viewport:
            rect = self._device(viewport).clipped(viewport.width, viewport.height)
            self._drawn = viewport, rect, self._pixels(viewport, rect)
        _, rect, pixels = self._drawn
        if rect.empty:
            return
        image = QImage(pixels.data, rect.width, rect.height, 4 * rect.width, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(view.ratio)
        painter.drawImage(QPointF(rect.x / view.ratio, rect.y / view.ratio), image)

    def _device(self, view: Viewport) -> Rect:
        return view.screen_rect(self.selection.rect, margin=_MARGIN)

    def _pixels(self, view: Viewport, rect: Rect) -> np.ndarray:
        """Return the pixels, uint32 (rect.height, rect.width), premultiplied ARGB."""
        shape = shape_of(self.selection, view, rect).astype(np.uint8)
        if not shape.size:
            return np.zeros(shape.shape, np.uint32)
        cross = cv2.getStructuringElement(cv2.MORPH_RECT, (3, 3))
        dilated = cv2.dilate(shape, cross, borderType=cv2.BORDER_CONSTANT, borderValue=0)
        eroded = cv2.erode(shape, cross, borderType=cv2.BORDER_CONSTANT, borderValue=0)
        # 0 outside, 1 inside, 2 the line just inside the outline, 3 the dark line around it.
        return self._colors[np.where(shape > 0, 2 - eroded, 3 * dilated)]


def shape_of(selection: Selection, view: Viewport, rect: Rect) -> np.ndarray:
    """Return the device pixels that show selected pixels, bool (rect.height, rect.width). No selected pixel is lost."""
    box, inside = selection.rect, selection.inside
    center = 0.5 if view.scale >= 1 else 0.0
    rows, columns = (
        np.floor((np.arange(start, start + length + 1) + center - origin) / view.scale).astype(np.int64) - first
        for start, length, origin, first in (
            (rect.y, rect.height, view.y, box.y),
            (rect.x, rect.width, view.x, box.x),
        )
    )
    top, bottom = np.clip(rows[:-1], 0, box.height), np.clip(_after(rows), 0, box.height)
    left, right = np.clip(columns[:-1], 0, box.width), np.clip(_after(columns), 0, box.width)
    if view.scale >= 1:
        on = (bottom > top)[:, None] & (right > left)[None, :]
        return on & inside[np.minimum(top, box.height - 1)[:, None], np.minimum(left, box.width - 1)[None, :]]
    y0, x0 = int(top[0]) if top.size else 0, int(left[0]) if left.size else 0
    part = inside[y0 : int(bottom[-1]) if bottom.size else 0, x0 : int(right[-1]) if right.size else 0]
    if not part.size:
        return np.zeros((rect.height, rect.width), bool)
    # Any selected pixel of a cell counts. Rows are reduced first because they are contiguous, then columns.
    reduced = _any(part, top - y0, bottom - y0)
    return _any(reduced.T, left - x0, right - x0).T


def _after(edges: np.ndarray) -> np.ndarray:
    """Return the end of each cell. Cells are at least one pixel long."""
    return np.maximum(edges[1:], edges[:-1] + 1)


def _any(part: np.ndarray, first: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return for each cell if any of its rows `first`..`after` is set, bool (n, w)."""
    out = np.zeros((len(first), part.shape[1]), bool)
    filled = np.flatnonzero(after > first)
    if filled.size:
        # reduceat reduces from each start to the next start; cells are adjacent, so this is exactly the cell.
        out[filled] = np.logical_or.reduceat(np.ascontiguousarray(part), first[filled], axis=0)
    return out


def _premultiplied(color: QColor) -> np.uint32:
    alpha = color.alpha()
    red, green, blue = (value * alpha // 255 for value in (color.red(), color.green(), color.blue()))
    return np.uint32(alpha << 24 | red << 16 | green << 8 | blue)
