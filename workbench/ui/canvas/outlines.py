"""Rasterization of regions with a dashed outline in device pixels; hundreds may be visible at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.drawing import Rect
from workbench.core.selection import Selection
from workbench.inference.cv import cv2
from workbench.ui.canvas.ghost import shape_of
from workbench.ui.canvas.viewport import Viewport

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
    wide = [Rect(r.x - margin, r.y - margin, r.width + 2 * margin, r.height + 2 * margin) for r in rects]
    places, shape = _packed(wide)
    sheet, stripes = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    lay = _Laying(selections, wide, scale)
    dash = round(3 * _DASH * ratio)
    lengths = [2 * rect.height + 3 * rect.width for rect in wide]
    table = (np.arange(max(lengths) + 2 * dash) // dash & 1).astype(np.uint8)
    for selection, rect, place in zip(selections, wide, places, strict=True):
        lay.down(selection, rect, sheet[place.slices])
        # Oblique stripes, not at 45 degrees: an outline parallel to the stripes would not be dashed. The phase advances
        # by two per row and three per column; each row is a view of one line.
        first = (2 * rect.y + 3 * rect.x) % (2 * dash)
        stripes[place.slices] = np.ndarray((rect.height, rect.width), np.uint8, table, first, (2, 3))
    square = np.ones((2 * thickness + 1,) * 2, np.uint8)
    edge = sheet - cv2.erode(sheet, square, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    sheet += edge
    sheet += edge & stripes
    return [sheet[p.y + margin : p.y + p.height - margin, p.x + margin : p.x + p.width - margin] for p in places]


class _Laying:
    """Mapping of device pixels to image rows and columns, computed once for all regions as in `shape_of`."""

    def __init__(self, selections: Sequence[Selection], wide: Sequence[Rect], scale: float) -> None:
        self._scale = scale
        self._x, self._y = min(rect.x for rect in wide), min(rect.y for rect in wide)
        right, bottom = max(rect.x + rect.width for rect in wide), max(rect.y + rect.height for rect in wide)
        centre = 0.5 if scale >= 1 else 0.0
        # First image row and column shown by each device row and column.
        self._rows, self._columns = (
            np.floor((np.arange(start, end) + centre) / scale).astype(np.int64)
            for start, end in ((self._y, bottom), (self._x, right))
        )

    def down(self, selection: Selection, rect: Rect, out: np.ndarray) -> None:
        """Write 1 into `out`, zeros of the size of `rect`, where the region is."""
        here, inside = selection.rect, selection.inside
        rows = self._rows[rect.y - self._y : rect.y - self._y + rect.height] - here.y
        columns = self._columns[rect.x - self._x : rect.x - self._x + rect.width] - here.x
        if self._scale >= 1:
            top, bottom = rows.searchsorted((0, here.height))
            left, right = columns.searchsorted((0, here.width))
            part = inside.take(rows[top:bottom], axis=0).take(columns[left:right], axis=1)
            out[top:bottom, left:right] = part
        elif inside.size > _SCATTERED:
            out[:] = shape_of(selection, Viewport(1, 1, scale=self._scale), rect)
        else:
            y = rows.searchsorted(np.arange(here.height), "right") - 1
            x = columns.searchsorted(np.arange(here.width), "right") - 1
            cells = y[:, None] * rect.width + x
            flat = np.zeros(rect.width * rect.height, np.uint8)
            flat[cells[inside]] = 1
            out[:] = flat.reshape(out.shape)


def _packed(rects: Sequence[Rect]) -> tuple[list[Rect], tuple[int, int]]:
    """Pack the rectangles on one sheet in shelves, highest first. Return places and the sheet's (rows, columns)."""
    width = max(_WIDE, *(rect.width for rect in rects))
    places: dict[int, Rect] = {}
    x = y = high = reach = 0
    for number in sorted(range(len(rects)), key=lambda number: -rects[number].height):
        rect = rects[number]
        if x + rect.width > width:
            x, y, high = 0, y + high, 0
        places[number] = Rect(x, y, rect.width, rect.height)
        x, high = x + rect.width, max(high, rect.height)
        reach = max(reach, x)
    return [places[number] for number in range(len(rects))], (y + high, reach)
