"""Intelligent scissors: an outline that snaps to edges between the points that a hand sets.

The live wire of Mortensen and Barrett (1995) on one feature, the gradient of the lightly smoothed picture: measured on
noisy edges, that follows them where their three features, as OpenCV has them, lose weak ones.
"""

from __future__ import annotations

import numpy as np

from workbench.core.drawing import Rect
from workbench.core.polygons import polygon_inside, polygon_rect
from workbench.core.selection.paths import Guide
from workbench.core.selection.ridges import cost_of
from workbench.core.selection.selection import EMPTY, Point, Selection, pixel_at
from workbench.core.selection.tones import Levels, levels_of, reduced
from workbench.inference.cv import cv2

SIGMA = 1.5  # pixels: how far noise is averaged before the gradient
FLOOR = np.float32(0.002)  # the least cost of a pixel: a long way around on a clear edge is no cheaper than a short one
BORDER = np.float32(0.05)  # the cost along the picture's border: a defect that it cuts off ends there


class Scissors:
    """An outline under way. `anchor` sets points; `wire` is the way from the last one to the hand.

    `picture` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. Points and results are picture coordinates. Where no
    way can be searched (outside the picture, or further than `paths.LIMIT` allows) the wire is straight.
    """

    def __init__(self, picture: np.ndarray, *, levels: Levels | None = None) -> None:
        self._picture = picture
        self._levels = levels or levels_of(picture)
        self.anchors: list[Point] = []
        self._legs: list[list[Point]] = []  # the way to each anchor from the one before
        self._guide: Guide | None = None

    @property
    def path(self) -> list[Point]:
        """The outline through all anchors so far."""
        return [point for leg in self._legs for point in leg]

    def wire(self, point: Point) -> list[Point]:
        """From the last anchor to `point`, both included; quick, to be drawn while the hand moves."""
        return self._way(point, exact=False) if self.anchors else [point]

    def anchor(self, point: Point) -> list[Point]:
        """Set a point; returns the way to it from the one before."""
        if not np.isfinite(point).all():
            return []
        leg = self._way(point, exact=True) if self.anchors else [point]
        self._legs.append(leg[1:] if self.anchors else leg)
        self.anchors.append(point)
        self._guide = None
        return leg

    def back(self) -> None:
        """Take back the last anchor."""
        if self.anchors:
            self.anchors.pop()
            self._legs.pop()
            self._guide = None

    def closed(self) -> Selection:
        """What the outline encloses once a wire leads from the last anchor back to the first."""
        if not self.anchors:
            return EMPTY
        back = self._way(self.anchors[0], exact=True) if len(self.anchors) > 1 else []
        return close(self.path + back[1:], self._picture.shape)

    def _way(self, point: Point, *, exact: bool) -> list[Point]:
        start = self.anchors[-1]
        if pixel_at(start, self._picture.shape) is None:
            return [start, point]
        if self._guide is None:
            self._guide = Guide(self._costs, start, self._picture.shape)
        way = self._guide.to(point, exact=exact)
        if way is None:
            return [start, point]
        return [start, *map(tuple, (way[1:-1] + 0.5).tolist()), point]

    def _costs(self, rect: Rect, step: int) -> np.ndarray:
        tone = reduced(self._picture, rect, self._levels, step)
        cost = np.maximum(cost_of(_gradient(np.nan_to_num(tone, copy=False))), FLOOR)
        height, width = self._picture.shape[:2]
        for on_border, line in (
            (rect.x == 0, cost[:, 0]),
            (rect.y == 0, cost[0]),
            (rect.x + rect.width == width, cost[:, -1]),
            (rect.y + rect.height == height, cost[-1]),
        ):
            if on_border:
                np.minimum(line, BORDER, out=line)
        return cost


def close(path: list[Point], shape: tuple[int, ...]) -> Selection:
    """The pixels of a picture of `shape` (H, W, ...) inside a closed outline, by the even-odd rule."""
    rect = polygon_rect(path, (shape[0], shape[1]))
    if rect.empty:
        return EMPTY
    return Selection(rect, polygon_inside(np.asarray(path, np.float64), rect)).trimmed()


def _gradient(tone: np.ndarray) -> np.ndarray:
    """float32 (h, w): how fast the tone changes; of colour, over all of L*a*b*."""
    smooth = cv2.GaussianBlur(tone, (0, 0), SIGMA, borderType=cv2.BORDER_REPLICATE)
    # Of single rows and columns there is no gradient across, and OpenCV's own border would mirror one in.
    x = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, borderType=cv2.BORDER_REPLICATE)
    y = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, borderType=cv2.BORDER_REPLICATE)
    square = x * x + y * y
    return np.sqrt(square if square.ndim == 2 else square.sum(axis=2))
