"""Crack tracer: path between two clicks along a crack or scratch, with its measured width."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.geometry.selection.lightness import GrayLevels, levels_of, lightness
from workbench.core.geometry.selection.line_width import covered_pixels, measure_width, smooth_path
from workbench.core.geometry.selection.pixel_selection import EMPTY, Point, Selection, around, padded, pixel_at
from workbench.core.geometry.selection.ridge_filter import cost_of, ridges
from workbench.core.geometry.selection.shortest_paths import ShortestPathSearch

Polarity = Literal["dark", "bright", "auto"]

SNAP = 3  # pixels: a click snaps to the strongest ridge within this distance


@dataclass(frozen=True, eq=False)
class Crack:
    """Traced line. `line` float (n, 2), image points; `width` float (n,), pixels; `selection`: covered pixels."""

    line: np.ndarray
    width: np.ndarray
    selection: Selection
    dark: bool


NO_CRACK = Crack(np.zeros((0, 2)), np.zeros(0), EMPTY, True)


class CrackTracer:
    """Tracer of a thin line from a first click to the cursor, including its width.

    `picture` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. `widest`: expected maximum line width in pixels; lines
    up to twice as wide are still measured. Computation is limited to a window around the clicks (see `Guide`).
    """

    def __init__(
        self,
        image: np.ndarray,
        start: Point,
        *,
        polarity: Polarity = "auto",
        widest: float = 9.0,
        levels: GrayLevels | None = None,
    ) -> None:
        self._image, self._widest = image, widest
        self._levels = levels or levels_of(image)
        self._polarity: Polarity = polarity
        self._start = start
        self._searches: dict[tuple[bool, int], ShortestPathSearch] = {}  # key: dark line, reduction
        self._ridge_cache: dict[int, tuple[Rect, tuple[np.ndarray, np.ndarray]]] = {}

    def path(self, end: Point, *, exact: bool = True) -> tuple[np.ndarray, bool] | None:
        """Return the pixels int (n, 2) from the first click to `end` and whether the line is dark.

        None outside the image or if too far (see `Guide.to`). `exact` False is fast at any distance, for a preview.
        """
        shape = self._image.shape
        if pixel_at(self._start, shape) is None or pixel_at(end, shape) is None:
            return None
        dark = self._is_dark(end)
        if dark is None:
            return None
        pixels = self._path_search(dark).to(self._snap(end, dark), exact=exact)
        return None if pixels is None else (pixels, dark)

    def trace(self, end: Point) -> Crack:
        """Return the line between the first click and `end` with its width, empty if `pixels` returns None.

        The selection of the empty result has `cut` if both points are in the image but too far apart.
        """
        result = self.path(end)
        if result is None:
            shape = self._image.shape
            too_far = pixel_at(self._start, shape) is not None and pixel_at(end, shape) is not None
            return replace(NO_CRACK, selection=replace(EMPTY, cut=too_far))
        pixels, dark = result
        return self.measure_width(pixels, dark=dark)

    def measure_width(self, pixels: np.ndarray, *, dark: bool) -> Crack:
        """Measure the width along a path, int (n, 2) pixels, in sections to keep windows small."""
        center_line = smooth_path(pixels)
        line, width = center_line.copy(), np.ones(len(center_line))
        shape = self._image.shape
        margin, part, overlap = int(3 * self._widest) + 4, 512, 16
        for first in range(0, len(line), part):
            low, high = max(0, first - overlap), min(len(line), first + part + overlap)
            rect = around([tuple(p) for p in center_line[low:high]], margin, shape)
            light = lightness(self._image, rect, self._levels)
            moved, widths = measure_width(
                light, center_line[low:high] - (rect.x, rect.y), widest=self._widest, dark=dark
            )
            section = slice(first - low, min(first + part, len(line)) - low)
            line[first : first + part] = moved[section] + (rect.x, rect.y)
            width[first : first + part] = widths[section]
        return Crack(line, width, covered_pixels(line, width, pixels, shape), dark)

    def _is_dark(self, end: Point) -> bool | None:
        """Return True if the dark path to `end` is clearer than the bright one; None if there is no path.

        The end of a crack has low contrast, so the clicks alone are unreliable. Half the resolution is sufficient.
        """
        if self._polarity != "auto":
            return self._polarity == "dark"
        strengths = []
        for dark in (True, False):
            search = self._path_search(dark, least_step=2)
            pixels = search.to(self._snap(end, dark), exact=False)
            if pixels is None:
                return None
            columns, rows = (pixels - (search.rect.x, search.rect.y)).T // search.step
            strengths.append(float(np.median(self._ridges(search.rect, search.step)[0 if dark else 1][rows, columns])))
        return strengths[0] >= strengths[1]

    def _path_search(self, dark: bool, least_step: int = 1) -> ShortestPathSearch:
        if (dark, least_step) not in self._searches:

            def costs(rect: Rect, step: int) -> np.ndarray:
                return cost_of(self._ridges(rect, step)[0 if dark else 1])

            start = self._snap(self._start, dark)
            self._searches[dark, least_step] = ShortestPathSearch(
                costs, start, self._image.shape, least_step=least_step
            )
        return self._searches[dark, least_step]

    def _ridges(self, rect: Rect, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return the dark and bright ridges of a window. The largest window of each step is cached."""
        cached_rect, cached = self._ridge_cache.get(step, (NOTHING, None))
        if cached_rect == rect and cached is not None:
            return cached
        tones = lightness(self._image, rect, self._levels, step)
        cached = ridges(tones, widest=max(self._widest / step, 3.0))
        if rect.width * rect.height >= cached_rect.width * cached_rect.height:
            self._ridge_cache[step] = rect, cached
        return cached

    def _snap(self, point: Point, dark: bool) -> Point:
        """Return the strongest ridge pixel near a click, or the click itself if there is none."""
        near = around([point], SNAP, self._image.shape)
        rect = padded(near, 3 * SNAP + int(self._widest), self._image.shape)
        ridge = self._ridges(rect)[0 if dark else 1]
        y, x = near.y - rect.y, near.x - rect.x
        ridge = ridge[y : y + near.height, x : x + near.width]
        rows, columns = np.mgrid[near.y : near.y + near.height, near.x : near.x + near.width] + 0.5
        distance = np.hypot(columns - point[0], rows - point[1])
        weight = np.where(distance <= SNAP, ridge * (1 - 0.5 * distance / (SNAP + 1)), 0)
        row, column = np.unravel_index(int(weight.argmax()), weight.shape)
        if weight[row, column] <= 0:
            return point
        return near.x + int(column) + 0.5, near.y + int(row) + 0.5


def trace_crack(
    image: np.ndarray,
    start: Point,
    end: Point,
    *,
    polarity: Polarity = "auto",
    widest: float = 9.0,
    levels: GrayLevels | None = None,
) -> Crack:
    """Trace the thin line between two clicks, see `CrackTracer`."""
    return CrackTracer(image, start, polarity=polarity, widest=widest, levels=levels).trace(end)
