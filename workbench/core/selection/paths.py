"""The cheapest way over a picture between two points: Dijkstra's algorithm in OpenCV, on costs of ours, in windows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.core.drawing import Rect
from workbench.core.selection.selection import Point, around, pixel_at
from workbench.inference.cv import cv2

# The cost of every pixel of a window, float32, all finite and >= 0. With step > 1 of a picture reduced that much.
Costs = Callable[[Rect, int], np.ndarray]

REACH = 192  # pixels around the start that are searched before the hand has gone further
ROOM = 24  # pixels around the hand: with less a new window is searched
FINE = 1 << 20  # a window of this many pixels is searched as it is; a larger one is searched reduced
LIMIT = 16 << 20  # the largest window that is searched at all
LEG = 256  # pixels between the points of a reduced find that are then joined at full resolution
LEG_MARGIN = 24

# The engine never enters the outermost pixels of its grid.
_EDGE = 1


class CheapestPaths:
    """All cheapest 8-connected ways over a grid from one start (column, row).

    A step costs what the pixel entered costs, times the step's length. `cost` is float32 (h, w), finite, >= 0.
    The engine is that of OpenCV's intelligent scissors (>= 4.5.1), given the cost in place of the magnitude of the
    gradient, and no weight on anything else: its own features lose weak edges, its search is fast and exact.
    """

    def __init__(self, cost: np.ndarray, start: tuple[int, int]) -> None:
        height, width = cost.shape[0] + 2 * _EDGE, cost.shape[1] + 2 * _EDGE
        top = max(float(cost.max(initial=0)), 1e-6)
        # A cost of nothing at all would let ways wander; the frame is dearer than any way around inside.
        grid = np.full((height, width), top * 8, np.float32)
        grid[_EDGE:-_EDGE, _EDGE:-_EDGE] = np.maximum(cost, top * 1e-5)
        self._engine = cv2.segmentation.IntelligentScissorsMB()
        self._engine.setWeights(0.0, 0.0, 1.0)
        nothing, flat = np.zeros((height, width), np.uint8), np.zeros((height, width, 2), np.float32)
        self._engine.applyImageFeatures(nothing, flat, grid)
        self._engine.buildMap((start[0] + _EDGE, start[1] + _EDGE))

    def to(self, end: tuple[int, int]) -> np.ndarray:
        """int (n, 2): the pixels (column, row) from the start to `end`, both included."""
        return np.asarray(self._engine.getContour((end[0] + _EDGE, end[1] + _EDGE))).reshape(-1, 2) - _EDGE


class Guide:
    """Cheapest ways from one point of a picture to wherever the hand is, searched in a window that grows with it.

    `to` answers at once while the hand stays in the window. `shape` is the picture's (H, W, ...); `least_step` asks for
    a picture reduced that much in any case.
    """

    def __init__(self, costs: Costs, start: Point, shape: tuple[int, ...], *, least_step: int = 1) -> None:
        self._costs, self._shape, self._start, self._least_step = costs, shape, start, least_step
        self._at = pixel_at(start, shape)
        self.rect = Rect(0, 0, 0, 0)  # what is searched now,
        self.step = 1  # and how much it is reduced
        self._paths: CheapestPaths | None = None

    def to(self, end: Point, *, exact: bool = True) -> np.ndarray | None:
        """int (n, 2): pixels (column, row) from the start to `end`; None if either is outside the picture or too far.

        The way lies within the window: up to a third of the distance around both points. Beyond 1 Mpx that is searched
        in a reduced picture, and then, if `exact`, along the find at full resolution.
        """
        there = pixel_at(end, self._shape)
        if self._at is None or there is None:
            return None
        if not self._ready(end):
            return None
        way = self._reached(there)
        return self._joined(way) if exact and self.step > 1 else way

    def _ready(self, end: Point) -> bool:
        """See that the window holds the way to `end`; False if it would be too large."""
        both = [self._start, end]
        away = max(abs(end[0] - self._start[0]), abs(end[1] - self._start[1]))
        if self._paths is not None:
            # A window already searched serves while there is still some room around the hand.
            need = around(both, ROOM, self._shape)
            if need.united(self.rect) == self.rect:
                return True
        near = around([self._start], REACH, self._shape)
        wide = around(both, max(48, int(away / 3)), self._shape).united(near).united(self.rect)
        for rect in (wide, *(around(both, max(48, int(away / part)), self._shape) for part in (3, 8, 24, 72))):
            if rect.width * rect.height <= LIMIT:
                self._search(rect)
                return True
        return False

    def _search(self, rect: Rect) -> None:
        step = self._least_step
        while -(-rect.width // step) * -(-rect.height // step) > FINE:
            step += 1
        cost = self._costs(rect, step)
        x, y = self._at
        self._paths = CheapestPaths(cost, ((x - rect.x) // step, (y - rect.y) // step))
        self.rect, self.step = rect, step

    def _reached(self, pixel: tuple[int, int]) -> np.ndarray:
        """The way in pixels of the picture; at a reduced step from cell centre to cell centre."""
        rect, step = self.rect, self.step
        way = self._paths.to(((pixel[0] - rect.x) // step, (pixel[1] - rect.y) // step))
        if step == 1:
            return way + (rect.x, rect.y)
        way = way * step + (rect.x + step // 2, rect.y + step // 2)
        way = np.minimum(way, (self._shape[1] - 1, self._shape[0] - 1))
        return np.concatenate([[self._at], way[1:-1], [pixel]])

    def _joined(self, coarse: np.ndarray) -> np.ndarray:
        """The full-resolution way along a reduced one, leg by leg."""
        every = max(1, LEG // self.step)
        stops = [tuple(map(int, p)) for p in coarse[:-1:every]] + [tuple(map(int, coarse[-1]))]
        parts, here = [], stops[0]
        for i, stop in enumerate(stops[1:], 1):
            between = coarse[(i - 1) * every : i * every + 1]
            rect = around([here, stop, *map(tuple, between)], LEG_MARGIN, self._shape)
            cost = self._costs(rect, 1)
            if i < len(stops) - 1:
                stop = _cheapest_near(cost, (stop[0] - rect.x, stop[1] - rect.y), self.step)
                stop = stop[0] + rect.x, stop[1] + rect.y
            paths = CheapestPaths(cost, (here[0] - rect.x, here[1] - rect.y))
            part = paths.to((stop[0] - rect.x, stop[1] - rect.y)) + (rect.x, rect.y)
            parts.append(part[1:] if parts else part)
            here = stop
        return np.concatenate(parts)


def _cheapest_near(cost: np.ndarray, pixel: tuple[int, int], reach: int) -> tuple[int, int]:
    """Where the cost is least, up to `reach` from `pixel` (column, row)."""
    x, y = max(0, pixel[0] - reach), max(0, pixel[1] - reach)
    part = cost[y : pixel[1] + reach + 1, x : pixel[0] + reach + 1]
    row, column = np.unravel_index(int(part.argmin()), part.shape)
    return x + int(column), y + int(row)
