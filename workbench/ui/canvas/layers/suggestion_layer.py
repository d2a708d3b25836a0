"""Suggestion layer: class colors, tinted, with a dashed outline visible on labels and predictions.

Like every layer it draws a device rectangle; its pixels do not depend on the choice of that rectangle.

Preview of unpainted pixels over the image: tinted, with an outline visible on any background.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Point, Selection
from workbench.core.suggestions.suggestions import Suggestion
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.layers.canvas_layers import premultiplied
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


_FILL, _GAP = 0.20, 0.75  # opacities
_CACHED = 1 << 18  # device pixels: a larger region is drawn in parts on demand
_BATCH = 500  # regions on one sheet


class SuggestionLayer:
    """Layer of suggestions in the colors of their classes."""

    def __init__(self) -> None:
        self.visible = True
        self._ratio = 1.0
        self._suggestions: list[Suggestion] = []
        self._boxes = np.zeros((0, 4))  # left, top, right, bottom in image pixels
        self._palettes: dict[int, np.ndarray] = {}  # int32 (256,): nothing, inside, dash, gap
        self._scale = 0.0
        self._drawn: dict[int, tuple[Rect, np.ndarray]] = {}  # codes at this scale by list index
        self._previous: tuple[float, dict[int, tuple[Rect, np.ndarray]]] = 0.0, {}  # codes at the previous scale

    @property
    def suggestions(self) -> list[Suggestion]:
        return self._suggestions

    @property
    def rects(self) -> list[Rect]:
        """Bounding rectangles of the shown suggestions, image pixels."""
        return [
            suggestion.selection.rect
            for suggestion in self._suggestions
            if self.visible and suggestion.class_id in self._palettes
        ]

    def show(self, suggestions: Sequence[Suggestion]) -> None:
        self._suggestions = list(suggestions)
        rects = [suggestion.selection.rect for suggestion in self._suggestions]
        self._boxes = np.array([[r.x, r.y, r.x + r.width, r.y + r.height] for r in rects], float).reshape(-1, 4)
        self._clear_cache()

    def color(self, colors: dict[int, str], hidden: frozenset[int]) -> None:
        """Set class colors, "#rrggbb" by id; suggestions of other classes are not shown."""
        self._palettes = {id: _palette(color) for id, color in colors.items() if id not in hidden}

    def nearest(self, point: Point, reach: float) -> Suggestion | None:
        """Return the shown suggestion at a point of the image, or the nearest within `reach` image pixels."""
        if not self.visible or not self._suggestions:
            return None
        x, y = point
        left, top, right, bottom = self._boxes.T
        hits = (left - reach <= x) & (x < right + reach) & (top - reach <= y) & (y < bottom + reach)
        nearest, best = None, (math.inf, math.inf)
        for number in np.flatnonzero(hits).tolist():
            suggestion = self._suggestions[number]
            if suggestion.class_id in self._palettes:
                distance = _distance(suggestion, point, reach)
                if distance <= reach and (distance, suggestion.selection.inside.size) < best:
                    nearest, best = suggestion, (distance, suggestion.selection.inside.size)
        return nearest

    def set_ratio(self, ratio: float) -> None:
        """Set the number of device pixels per logical pixel."""
        self._ratio = ratio
        self._clear_cache()

    def image(self, view: Viewport, part: Rect) -> QImage | None:
        """Draw `part` in colors with transparency. Return None if it is empty."""
        if view.scale != self._scale:  # the minimap and the view alternate
            (scale, drawn), self._previous = self._previous, (self._scale, self._drawn)
            self._scale, self._drawn = view.scale, drawn if scale == view.scale else {}
        if not self.visible or not self._suggestions:
            return None
        box = Rect(part.x - view.x, part.y - view.y, part.width, part.height)
        left, top, right, bottom = self._boxes.T * view.scale
        hits = (left < box.x + box.width + 1) & (right > box.x - 1)
        hits &= (top < box.y + box.height + 1) & (bottom > box.y - 1)
        numbers = [n for n in np.flatnonzero(hits).tolist() if self._suggestions[n].class_id in self._palettes]
        self._draw([number for number in numbers if number not in self._drawn])
        pixels: np.ndarray | None = None
        for number in numbers:
            rect, codes = self._drawn.get(number) or self._part(number, box)
            common = rect.common(box)
            if not common.empty:
                pixels = np.zeros((box.height, box.width), np.int32) if pixels is None else pixels
                part_codes = codes[_within(common, rect)]
                palette = self._palettes[self._suggestions[number].class_id]
                cv2.copyTo(cv2.LUT(part_codes, palette), part_codes, pixels[_within(common, box)])
        if pixels is None:
            return None
        kind = QImage.Format.Format_ARGB32_Premultiplied
        return QImage(pixels.data, box.width, box.height, pixels.strides[0], kind)

    def _clear_cache(self) -> None:
        self._drawn, self._previous = {}, (0.0, {})

    def _draw(self, numbers: list[int]) -> None:
        """Draw all small regions completely in one pass and cache them."""
        rects = {number: self._device(number) for number in numbers}
        small = [number for number, rect in rects.items() if rect.width * rect.height <= _CACHED]
        for first in range(0, len(small), _BATCH):
            batch = small[first : first + _BATCH]
            areas = [rects[number] for number in batch]
            codes = codes_of([self._suggestions[n].selection for n in batch], areas, self._scale, self._ratio)
            self._drawn.update(zip(batch, zip(areas, codes, strict=True), strict=True))

    def _part(self, number: int, box: Rect) -> tuple[Rect, np.ndarray]:
        """Draw the part of a large region at `box`."""
        rect = self._device(number).common(box)
        return rect, codes_of([self._suggestions[number].selection], [rect], self._scale, self._ratio)[0]

    def _device(self, number: int) -> Rect:
        """Return the bounding rectangle in device pixels from the image corner."""
        rect, scale = self._suggestions[number].selection.rect, self._scale
        x, y = math.floor(rect.x * scale), math.floor(rect.y * scale)
        return Rect(x, y, math.ceil((rect.x + rect.width) * scale) - x, math.ceil((rect.y + rect.height) * scale) - y)


def _palette(color: str) -> np.ndarray:
    palette = np.zeros(256, np.int32)  # length of a table of bytes
    palette[1:4] = premultiplied(color, _FILL), premultiplied(color, 1.0), premultiplied("#000000", _GAP)
    return palette


def _within(part: Rect, rect: Rect) -> tuple[slice, slice]:
    y, x = part.y - rect.y, part.x - rect.x
    return slice(y, y + part.height), slice(x, x + part.width)


def _distance(suggestion: Suggestion, point: Point, reach: float) -> float:
    """Return the distance of a point from a suggestion in image pixels: 0 inside, inf beyond `reach`."""
    rect, inside = suggestion.selection.rect, suggestion.selection.inside
    x, y = math.floor(point[0]) - rect.x, math.floor(point[1]) - rect.y
    if 0 <= x < rect.width and 0 <= y < rect.height and inside[y, x]:
        return 0.0
    far = min(math.ceil(reach), 64)
    top, left = max(0, y - far), max(0, x - far)
    rows, columns = np.nonzero(inside[top : max(0, y + far + 1), left : max(0, x + far + 1)])
    if not rows.size:
        return math.inf
    return float(np.hypot(rows + top + 0.5 + rect.y - point[1], columns + left + 0.5 + rect.x - point[0]).min())


_DASH = 5  # logical pixels of a dash and of the following gap
_SCATTERED = 8192  # pixels: only a smaller region is drawn pixel by pixel
_WIDE = 2048  # columns of the shared sheet


def codes_of(selections: Sequence[Selection], rects: Sequence[Rect], scale: float, ratio: float) -> list[np.ndarray]:
    """Return codes of each region, uint8, in its rectangle of device pixels from the image corner: 0 nothing, 1 inside,
    2 dash, 3 gap. ratio: device pixels per logical pixel.

    All regions are drawn on one shared sheet, separated by the reach of an outline, to keep the cost per region low.
    """
    if not rects:
        return []
    thickness = max(2, round(2 * ratio))
    margin = thickness + 1
    padded = [Rect(r.x - margin, r.y - margin, r.width + 2 * margin, r.height + 2 * margin) for r in rects]
    positions, shape = _packed(padded)
    sheet, stripes = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    layout = _OutlineLayout(selections, padded, scale)
    dash = round(3 * _DASH * ratio)
    lengths = [2 * rect.height + 3 * rect.width for rect in padded]
    table = (np.arange(max(lengths) + 2 * dash) // dash & 1).astype(np.uint8)
    for selection, rect, position in zip(selections, padded, positions, strict=True):
        layout.draw(selection, rect, sheet[position.slices])
        # Oblique stripes, not at 45 degrees: an outline parallel to the stripes would not be dashed. The phase advances
        # by two per row and three per column; each row is a view of one line.
        first = (2 * rect.y + 3 * rect.x) % (2 * dash)
        stripes[position.slices] = np.ndarray((rect.height, rect.width), np.uint8, table, first, (2, 3))
    square = np.ones((2 * thickness + 1,) * 2, np.uint8)
    edge = sheet - cv2.erode(sheet, square, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    sheet += edge
    sheet += edge & stripes
    return [sheet[p.y + margin : p.y + p.height - margin, p.x + margin : p.x + p.width - margin] for p in positions]


class _OutlineLayout:
    """Mapping of device pixels to image rows and columns, computed once for all regions as in `shape_of`."""

    def __init__(self, selections: Sequence[Selection], padded: Sequence[Rect], scale: float) -> None:
        self._scale = scale
        self._x, self._y = min(rect.x for rect in padded), min(rect.y for rect in padded)
        right, bottom = max(rect.x + rect.width for rect in padded), max(rect.y + rect.height for rect in padded)
        center = 0.5 if scale >= 1 else 0.0
        # First image row and column shown by each device row and column.
        self._rows, self._columns = (
            np.floor((np.arange(start, end) + center) / scale).astype(np.int64)
            for start, end in ((self._y, bottom), (self._x, right))
        )

    def draw(self, selection: Selection, rect: Rect, out: np.ndarray) -> None:
        """Write 1 into `out`, zeros of the size of `rect`, where the region is."""
        box, inside = selection.rect, selection.inside
        rows = self._rows[rect.y - self._y : rect.y - self._y + rect.height] - box.y
        columns = self._columns[rect.x - self._x : rect.x - self._x + rect.width] - box.x
        if self._scale >= 1:
            top, bottom = rows.searchsorted((0, box.height))
            left, right = columns.searchsorted((0, box.width))
            part = inside.take(rows[top:bottom], axis=0).take(columns[left:right], axis=1)
            out[top:bottom, left:right] = part
        elif inside.size > _SCATTERED:
            out[:] = shape_of(selection, Viewport(1, 1, scale=self._scale), rect)
        else:
            y = rows.searchsorted(np.arange(box.height), "right") - 1
            x = columns.searchsorted(np.arange(box.width), "right") - 1
            cells = y[:, None] * rect.width + x
            flat = np.zeros(rect.width * rect.height, np.uint8)
            flat[cells[inside]] = 1
            out[:] = flat.reshape(out.shape)


def _packed(rects: Sequence[Rect]) -> tuple[list[Rect], tuple[int, int]]:
    """Pack the rectangles on one sheet in shelves, highest first. Return positions and the sheet's (rows, columns)."""
    width = max(_WIDE, *(rect.width for rect in rects))
    positions: dict[int, Rect] = {}
    x = y = row_height = reach = 0
    for number in sorted(range(len(rects)), key=lambda number: -rects[number].height):
        rect = rects[number]
        if x + rect.width > width:
            x, y, row_height = 0, y + row_height, 0
        positions[number] = Rect(x, y, rect.width, rect.height)
        x, row_height = x + rect.width, max(row_height, rect.height)
        reach = max(reach, x)
    return [positions[number] for number in range(len(rects))], (y + row_height, reach)
