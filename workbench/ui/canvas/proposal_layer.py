"""Suggestion layer: class colors, tinted, with a dashed outline visible on labels and predictions.

Like every layer it draws a device rectangle; its pixels do not depend on the choice of that rectangle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtGui import QImage

from workbench.core.drawing import Rect
from workbench.core.proposals import Proposal
from workbench.core.selection import Point
from workbench.inference.cv import cv2
from workbench.ui.canvas.layers import premultiplied
from workbench.ui.canvas.outlines import codes_of
from workbench.ui.canvas.viewport import Viewport

_FILL, _GAP = 0.20, 0.75  # opacities
_WHOLE = 1 << 18  # device pixels: a larger region is drawn in parts on demand
_TOGETHER = 500  # regions on one sheet


class ProposalLayer:
    """Layer of suggestions in the colors of their classes."""

    def __init__(self) -> None:
        self.visible = True
        self._ratio = 1.0
        self._every: list[Proposal] = []
        self._boxes = np.zeros((0, 4))  # left, top, right, bottom in image pixels
        self._inks: dict[int, np.ndarray] = {}  # int32 (256,): nothing, inside, dash, gap
        self._scale = 0.0
        self._drawn: dict[int, tuple[Rect, np.ndarray]] = {}  # codes at this scale by list index
        self._other: tuple[float, dict[int, tuple[Rect, np.ndarray]]] = 0.0, {}  # codes at the previous scale

    @property
    def proposals(self) -> list[Proposal]:
        return self._every

    @property
    def rects(self) -> list[Rect]:
        """Bounding rectangles of the shown suggestions, image pixels."""
        return [one.selection.rect for one in self._every if self.visible and one.class_id in self._inks]

    def show(self, proposals: Sequence[Proposal]) -> None:
        self._every = list(proposals)
        rects = [one.selection.rect for one in self._every]
        self._boxes = np.array([[r.x, r.y, r.x + r.width, r.y + r.height] for r in rects], float).reshape(-1, 4)
        self._forget()

    def color(self, colors: dict[int, str], hidden: frozenset[int]) -> None:
        """Set class colors, "#rrggbb" by id; suggestions of other classes are not shown."""
        self._inks = {id: _inks(color) for id, color in colors.items() if id not in hidden}

    def near(self, point: Point, reach: float) -> Proposal | None:
        """Return the shown suggestion at a point of the image, or the nearest within `reach` image pixels."""
        if not self.visible or not self._every:
            return None
        x, y = point
        left, top, right, bottom = self._boxes.T
        hits = (left - reach <= x) & (x < right + reach) & (top - reach <= y) & (y < bottom + reach)
        best, least = None, (math.inf, math.inf)
        for number in np.flatnonzero(hits).tolist():
            one = self._every[number]
            if one.class_id in self._inks:
                away = _away(one, point, reach)
                if away <= reach and (away, one.selection.inside.size) < least:
                    best, least = one, (away, one.selection.inside.size)
        return best

    def took_size(self, ratio: float) -> None:
        """Set the number of device pixels per logical pixel."""
        self._ratio = ratio
        self._forget()

    def image(self, view: Viewport, part: Rect) -> QImage | None:
        """Draw `part` in colors with transparency. Return None if it is empty."""
        if view.scale != self._scale:  # the minimap and the view alternate
            (scale, drawn), self._other = self._other, (self._scale, self._drawn)
            self._scale, self._drawn = view.scale, drawn if scale == view.scale else {}
        if not self.visible or not self._every:
            return None
        here = Rect(part.x - view.x, part.y - view.y, part.width, part.height)
        left, top, right, bottom = self._boxes.T * view.scale
        hits = (left < here.x + here.width + 1) & (right > here.x - 1)
        hits &= (top < here.y + here.height + 1) & (bottom > here.y - 1)
        numbers = [n for n in np.flatnonzero(hits).tolist() if self._every[n].class_id in self._inks]
        self._draw([number for number in numbers if number not in self._drawn])
        pixels: np.ndarray | None = None
        for number in numbers:
            rect, codes = self._drawn.get(number) or self._part(number, here)
            common = rect.common(here)
            if not common.empty:
                pixels = np.zeros((here.height, here.width), np.int32) if pixels is None else pixels
                some = codes[_within(common, rect)]
                inks = self._inks[self._every[number].class_id]
                cv2.copyTo(cv2.LUT(some, inks), some, pixels[_within(common, here)])
        if pixels is None:
            return None
        kind = QImage.Format.Format_ARGB32_Premultiplied
        return QImage(pixels.data, here.width, here.height, pixels.strides[0], kind)

    def _forget(self) -> None:
        self._drawn, self._other = {}, (0.0, {})

    def _draw(self, numbers: list[int]) -> None:
        """Draw all small regions completely in one pass and cache them."""
        rects = {number: self._device(number) for number in numbers}
        small = [number for number, rect in rects.items() if rect.width * rect.height <= _WHOLE]
        for first in range(0, len(small), _TOGETHER):
            some = small[first : first + _TOGETHER]
            wanted = [rects[number] for number in some]
            every = codes_of([self._every[n].selection for n in some], wanted, self._scale, self._ratio)
            self._drawn.update(zip(some, zip(wanted, every, strict=True), strict=True))

    def _part(self, number: int, here: Rect) -> tuple[Rect, np.ndarray]:
        """Draw the part of a large region at `here`."""
        rect = self._device(number).common(here)
        return rect, codes_of([self._every[number].selection], [rect], self._scale, self._ratio)[0]

    def _device(self, number: int) -> Rect:
        """Return the bounding rectangle in device pixels from the image corner."""
        box, scale = self._every[number].selection.rect, self._scale
        x, y = math.floor(box.x * scale), math.floor(box.y * scale)
        return Rect(x, y, math.ceil((box.x + box.width) * scale) - x, math.ceil((box.y + box.height) * scale) - y)


def _inks(color: str) -> np.ndarray:
    inks = np.zeros(256, np.int32)  # length of a table of bytes
    inks[1:4] = premultiplied(color, _FILL), premultiplied(color, 1.0), premultiplied("#000000", _GAP)
    return inks


def _within(part: Rect, rect: Rect) -> tuple[slice, slice]:
    y, x = part.y - rect.y, part.x - rect.x
    return slice(y, y + part.height), slice(x, x + part.width)


def _away(one: Proposal, point: Point, reach: float) -> float:
    """Return the distance of a point from a suggestion in image pixels: 0 inside, inf beyond `reach`."""
    rect, inside = one.selection.rect, one.selection.inside
    x, y = math.floor(point[0]) - rect.x, math.floor(point[1]) - rect.y
    if 0 <= x < rect.width and 0 <= y < rect.height and inside[y, x]:
        return 0.0
    far = min(math.ceil(reach), 64)
    top, left = max(0, y - far), max(0, x - far)
    rows, columns = np.nonzero(inside[top : max(0, y + far + 1), left : max(0, x + far + 1)])
    if not rows.size:
        return math.inf
    return float(np.hypot(rows + top + 0.5 + rect.y - point[1], columns + left + 0.5 + rect.x - point[0]).min())
