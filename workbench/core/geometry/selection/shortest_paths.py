"""Cheapest paths along edges and cracks: multi-scale ridge measure, and Dijkstra's algorithm with own costs.

Intelligent scissors: an outline that follows edges between the points set by the user.

Live wire of Mortensen and Barrett (1995) with one feature, the gradient of the slightly smoothed image. In measurements
on noisy edges, this follows weak edges that the original three features, as implemented in OpenCV, lose.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.core.geometry.drawing import Rect, polygon_inside, polygon_rect
from workbench.core.geometry.selection.pixel_selection import (
    EMPTY,
    GrayLevels,
    Point,
    Selection,
    around,
    levels_of,
    pixel_at,
    reduced,
)
from workbench.inference.io.opencv import cv2

_SECOND_DERIVATIVE = np.array([[1, -2, 1]], np.float32)
_MIXED_DERIVATIVE = np.array([[0.25, 0, -0.25], [0, 0, 0], [-0.25, 0, 0.25]], np.float32)
# Weight of the curvature along the line, which is high for blobs.
_BLOB_PENALTY = 0.25


def scales_for(widest: float) -> list[float]:
    """Return the Gaussian sigmas for lines up to `widest` pixels wide: from 1, each about 1.5 times the last."""
    last = max(1.0, widest / 3)
    count = max(1, round(np.log(last) / np.log(1.5))) + 1 if last > 1.1 else 1
    return [float(s) for s in np.geomspace(1.0, last, count)]


def ridges(light: np.ndarray, *, widest: float = 9.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the strengths of dark and of bright lines at each pixel of `light`, each float32 (h, w) >= 0.

    The larger eigenvalue of the Hessian at the scale of maximum response, scaled by sigma squared (Lindeberg 1998, Sato
    et al. 1998), minus a part of the other one, so that edges and spots count less than lines.
    """
    dark = bright = np.zeros(light.shape, np.float32)
    for sigma in scales_for(widest):
        smooth = cv2.GaussianBlur(light, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
        xx = cv2.filter2D(smooth, -1, _SECOND_DERIVATIVE, borderType=cv2.BORDER_REPLICATE)
        yy = cv2.filter2D(smooth, -1, _SECOND_DERIVATIVE.T, borderType=cv2.BORDER_REPLICATE)
        xy = cv2.filter2D(smooth, -1, _MIXED_DERIVATIVE, borderType=cv2.BORDER_REPLICATE)
        mean, spread = (xx + yy) * np.float32(0.5), cv2.magnitude((xx - yy) * np.float32(0.5), xy)
        scale = np.float32(sigma * sigma)
        high, low = (mean + spread) * scale, (mean - spread) * scale
        penalty = np.float32(_BLOB_PENALTY)
        strengths = high - penalty * np.abs(low), -low - penalty * np.abs(high)
        dark, bright = np.maximum(dark, strengths[0]), np.maximum(bright, strengths[1])
    return dark, bright


def cost_of(ridge: np.ndarray) -> np.ndarray:
    """Return the cost of entering a pixel, float32 (h, w) in (0, 1]: 1 without a line, much less on a clear one."""
    scale = float(np.quantile(ridge[:: max(1, ridge.shape[0] // 256), :: max(1, ridge.shape[1] // 256)], 0.95))
    if scale <= 1e-6:
        return np.ones_like(ridge)
    relative = ridge * np.float32(1 / scale)
    return 1 / (1 + 20 * relative * np.sqrt(relative))


# Costs of the pixels of a window, float32, finite and >= 0. For step > 1, of an image reduced by that factor.
Costs = Callable[[Rect, int], np.ndarray]

REACH = 192  # pixels around the start in the first search window
MARGIN = 24  # pixels of margin around the cursor; below this a new window is searched
MAX_SEARCH_PIXELS = 1 << 20  # pixels of the largest window searched at full resolution
MAX_WINDOW_PIXELS = 16 << 20  # pixels of the largest window
SECTION_LENGTH = 256  # pixels between points of a reduced path that are connected at full resolution
SECTION_MARGIN = 24

# OpenCV's search does not enter the outermost pixels of its grid.
_EDGE = 1


class CheapestPaths:
    """Cheapest 8-connected paths over a grid from one start (column, row).

    A step costs the value of the entered pixel times the step length. `cost` is float32 (h, w), finite, >= 0. The
    search is that of OpenCV's intelligent scissors (>= 4.5.1), with the cost in place of the gradient magnitude and all
    other weights zero: its own features lose weak edges, while its search is fast and exact.
    """

    def __init__(self, cost: np.ndarray, start: tuple[int, int]) -> None:
        height, width = cost.shape[0] + 2 * _EDGE, cost.shape[1] + 2 * _EDGE
        max_cost = max(float(cost.max(initial=0)), 1e-6)
        # Zero costs would permit arbitrary detours. The frame is costlier than any path around inside.
        grid = np.full((height, width), max_cost * 8, np.float32)
        grid[_EDGE:-_EDGE, _EDGE:-_EDGE] = np.maximum(cost, max_cost * 1e-5)
        self._engine = cv2.segmentation.IntelligentScissorsMB()
        self._engine.setWeights(0.0, 0.0, 1.0)
        no_edges, no_gradient = np.zeros((height, width), np.uint8), np.zeros((height, width, 2), np.float32)
        self._engine.applyImageFeatures(no_edges, no_gradient, grid)
        self._engine.buildMap((start[0] + _EDGE, start[1] + _EDGE))

    def to(self, end: tuple[int, int]) -> np.ndarray:
        """Return the pixels (column, row) from the start to `end` inclusive, int (n, 2)."""
        return np.asarray(self._engine.getContour((end[0] + _EDGE, end[1] + _EDGE))).reshape(-1, 2) - _EDGE


class ShortestPathSearch:
    """Cheapest paths from one image point to the cursor, searched in a window that grows as needed.

    `to` is immediate while the cursor is in the window. `shape` is that of the image (H, W, ...); `least_step` is the
    minimum reduction factor.
    """

    def __init__(self, costs: Costs, start: Point, shape: tuple[int, ...], *, least_step: int = 1) -> None:
        self._costs, self._shape, self._start, self._least_step = costs, shape, start, least_step
        self._start_pixel = pixel_at(start, shape)
        self.rect = Rect(0, 0, 0, 0)  # searched window
        self.step = 1  # its reduction factor
        self._paths: CheapestPaths | None = None

    def to(self, end: Point, *, exact: bool = True) -> np.ndarray | None:
        """Return the pixels (column, row) from the start to `end`, int (n, 2); None outside the image or if too far.

        The path stays in the window: up to a third of the distance around both points. Above 1 Mpx the window is
        searched at reduced resolution and then, if `exact`, along the result at full resolution.
        """
        end_pixel = pixel_at(end, self._shape)
        if self._start_pixel is None or end_pixel is None:
            return None
        paths = self._paths_to(end, self._start_pixel)
        if paths is None:
            return None
        pixels = self._path(paths, self._start_pixel, end_pixel)
        return self._refine(pixels) if exact and self.step > 1 else pixels

    def _paths_to(self, end: Point, start_pixel: tuple[int, int]) -> CheapestPaths | None:
        """Search a window that contains the path to `end`, if necessary; None if it would be too large."""
        end_points = [self._start, end]
        distance = max(abs(end[0] - self._start[0]), abs(end[1] - self._start[1]))
        if self._paths is not None:
            # Reuse the searched window while it has some margin around the cursor.
            needed = around(end_points, MARGIN, self._shape)
            if needed.united(self.rect) == self.rect:
                return self._paths
        nearby = around([self._start], REACH, self._shape)
        preferred = around(end_points, max(48, int(distance / 3)), self._shape).united(nearby).united(self.rect)
        for rect in (
            preferred,
            *(around(end_points, max(48, int(distance / part)), self._shape) for part in (3, 8, 24, 72)),
        ):
            if rect.width * rect.height <= MAX_WINDOW_PIXELS:
                return self._search(rect, start_pixel)
        return None

    def _search(self, rect: Rect, start_pixel: tuple[int, int]) -> CheapestPaths:
        step = self._least_step
        while -(-rect.width // step) * -(-rect.height // step) > MAX_SEARCH_PIXELS:
            step += 1
        cost = self._costs(rect, step)
        x, y = start_pixel
        self._paths = CheapestPaths(cost, ((x - rect.x) // step, (y - rect.y) // step))
        self.rect, self.step = rect, step
        return self._paths

    def _path(self, paths: CheapestPaths, start: tuple[int, int], end: tuple[int, int]) -> np.ndarray:
        """Return the path in image pixels; at reduced resolution, between cell centers."""
        rect, step = self.rect, self.step
        pixels = paths.to(((end[0] - rect.x) // step, (end[1] - rect.y) // step))
        if step == 1:
            return pixels + (rect.x, rect.y)
        pixels = pixels * step + (rect.x + step // 2, rect.y + step // 2)
        pixels = np.minimum(pixels, (self._shape[1] - 1, self._shape[0] - 1))
        return np.concatenate([np.array([start]), pixels[1:-1], np.array([end])])

    def _refine(self, coarse: np.ndarray) -> np.ndarray:
        """Return the full-resolution path along a reduced one, computed in sections."""
        stride = max(1, SECTION_LENGTH // self.step)
        stops = [(int(x), int(y)) for x, y in [*coarse[:-1:stride], coarse[-1]]]
        parts, previous = [], stops[0]
        for i, stop in enumerate(stops[1:], 1):
            section = coarse[(i - 1) * stride : i * stride + 1]
            rect = around([previous, stop, *((x, y) for x, y in section.tolist())], SECTION_MARGIN, self._shape)
            cost = self._costs(rect, 1)
            if i < len(stops) - 1:
                stop = _cheapest_near(cost, (stop[0] - rect.x, stop[1] - rect.y), self.step)
                stop = stop[0] + rect.x, stop[1] + rect.y
            paths = CheapestPaths(cost, (previous[0] - rect.x, previous[1] - rect.y))
            part = paths.to((stop[0] - rect.x, stop[1] - rect.y)) + (rect.x, rect.y)
            parts.append(part[1:] if parts else part)
            previous = stop
        return np.concatenate(parts)


def _cheapest_near(cost: np.ndarray, pixel: tuple[int, int], radius: int) -> tuple[int, int]:
    """Return the pixel of least cost up to `radius` from `pixel` (column, row)."""
    x, y = max(0, pixel[0] - radius), max(0, pixel[1] - radius)
    part = cost[y : pixel[1] + radius + 1, x : pixel[0] + radius + 1]
    row, column = np.unravel_index(int(part.argmin()), part.shape)
    return x + int(column), y + int(row)


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
