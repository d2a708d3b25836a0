"""Intelligent scissors: an outline that follows edges between the points set by the user.

Live wire of Mortensen and Barrett (1995) with one feature, the gradient of the slightly smoothed image. In measurements
on noisy edges, this follows weak edges that the original three features, as implemented in OpenCV, lose.
"""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.polygons import polygon_inside, polygon_rect
from workbench.core.geometry.selection.lightness import GrayLevels, levels_of, reduced
from workbench.core.geometry.selection.pixel_selection import EMPTY, Point, Selection, pixel_at
from workbench.core.geometry.selection.shortest_paths import ShortestPathSearch, cost_of
from workbench.inference.io.opencv import cv2

SIGMA = 1.5  # pixels: smoothing before the gradient
FLOOR = np.float32(0.002)  # least cost of a pixel: long detours on a clear edge cost more than a short path
BORDER = np.float32(0.05)  # cost along the image border, where a cut-off defect ends


class IntelligentScissors:
    """Outline being drawn. `anchor` sets points; `wire` is the path from the last one to the cursor.

    `image` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. Points and results are image coordinates. If no path
    can be searched (outside the image, or further than `shortest_paths.MAX_WINDOW_PIXELS` permits), the wire is
    straight.
    """

    def __init__(self, image: np.ndarray, *, levels: GrayLevels | None = None) -> None:
        self._image = image
        self._levels = levels or levels_of(image)
        self.anchors: list[Point] = []
        self._legs: list[list[Point]] = []  # path to each anchor from the previous one
        self._search: ShortestPathSearch | None = None

    @property
    def path(self) -> list[Point]:
        """Return the outline through all anchors so far."""
        return [point for leg in self._legs for point in leg]

    def wire(self, point: Point) -> list[Point]:
        """Return the path from the last anchor to `point` inclusive; fast enough to follow the cursor."""
        return self._path_to(point, exact=False) if self.anchors else [point]

    def anchor(self, point: Point) -> list[Point]:
        """Add an anchor and return the path to it from the previous one."""
        if not np.isfinite(point).all():
            return []
        leg = self._path_to(point, exact=True) if self.anchors else [point]
        self._legs.append(leg[1:] if self.anchors else leg)
        self.anchors.append(point)
        self._search = None
        return leg

    def back(self) -> None:
        """Remove the last anchor."""
        if self.anchors:
            self.anchors.pop()
            self._legs.pop()
            self._search = None

    def closed(self) -> Selection:
        """Return the area enclosed by the outline after connecting the last anchor to the first."""
        if not self.anchors:
            return EMPTY
        closing = self._path_to(self.anchors[0], exact=True) if len(self.anchors) > 1 else []
        return close_outline(self.path + closing[1:], self._image.shape)

    def _path_to(self, point: Point, *, exact: bool) -> list[Point]:
        start = self.anchors[-1]
        if pixel_at(start, self._image.shape) is None:
            return [start, point]
        if self._search is None:
            self._search = ShortestPathSearch(self._costs, start, self._image.shape)
        pixels = self._search.to(point, exact=exact)
        if pixels is None:
            return [start, point]
        return [start, *map(tuple, (pixels[1:-1] + 0.5).tolist()), point]

    def _costs(self, rect: Rect, step: int) -> np.ndarray:
        tone = reduced(self._image, rect, self._levels, step)
        cost = np.maximum(cost_of(_gradient(np.nan_to_num(tone, copy=False))), FLOOR)
        height, width = self._image.shape[:2]
        for on_border, line in (
            (rect.x == 0, cost[:, 0]),
            (rect.y == 0, cost[0]),
            (rect.x + rect.width == width, cost[:, -1]),
            (rect.y + rect.height == height, cost[-1]),
        ):
            if on_border:
                np.minimum(line, BORDER, out=line)
        return cost


def close_outline(path: list[Point], shape: tuple[int, ...]) -> Selection:
    """Return the pixels of an image of `shape` (H, W, ...) inside a closed outline, by the even-odd rule."""
    rect = polygon_rect(path, (shape[0], shape[1]))
    if rect.empty:
        return EMPTY
    return Selection(rect, polygon_inside(np.asarray(path, np.float64), rect)).trimmed()


def _gradient(tone: np.ndarray) -> np.ndarray:
    """Return the gradient magnitude of the tone, float32 (h, w); for color, over L*a*b*."""
    smooth = cv2.GaussianBlur(tone, (0, 0), SIGMA, borderType=cv2.BORDER_REPLICATE)
    # Single rows and columns have no gradient across, but OpenCV's default border would mirror one in.
    x = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, borderType=cv2.BORDER_REPLICATE)
    y = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, borderType=cv2.BORDER_REPLICATE)
    square = x * x + y * y
    return np.sqrt(square if square.ndim == 2 else square.sum(axis=2))
