"""Crack tracer: path between two clicks along a crack or scratch, with its width measured on profiles across it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.geometry.selection.pixel_selection import (
    EMPTY,
    GrayLevels,
    Point,
    Selection,
    around,
    levels_of,
    lightness,
    padded,
    pixel_at,
)
from workbench.core.geometry.selection.shortest_paths import ShortestPathSearch, cost_of, ridges
from workbench.inference.io.opencv import cv2

Polarity = Literal["dark", "bright", "auto"]

SNAP = 3  # pixels: a click snaps to the strongest ridge within this distance


STEP = 0.5  # pixels between samples of a profile
SMOOTHING_LENGTH = 9  # neighboring profiles to average: the line changes slowly, the grain does not


def smooth_path(pixels: np.ndarray, sigma: float = 2.0) -> np.ndarray:
    """Smooth an 8-connected path (pixels) into image coordinates, float (n, 2). The end points are kept."""
    points = pixels.astype(np.float64) + 0.5
    if len(points) < 3:
        return points
    radius = min(int(3 * sigma), len(points) - 1)
    # Point reflection at the ends keeps the end points and directions.
    before, after = 2 * points[0] - points[radius:0:-1], 2 * points[-1] - points[-2 : -2 - radius : -1]
    extended = np.concatenate([before, points, after])
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights /= weights.sum()
    return np.stack([np.convolve(extended[:, axis], weights, "valid") for axis in (0, 1)], axis=1)


def normals(line: np.ndarray) -> np.ndarray:
    """Return the unit normals of a line of points (n, 2), float (n, 2)."""
    if len(line) < 2:
        return np.tile([[0.0, 1.0]], (len(line), 1))
    tangent = np.gradient(line, axis=0)
    length = np.hypot(tangent[:, 0], tangent[:, 1])
    tangent[length < 1e-9] = (1.0, 0.0)
    return np.stack([-tangent[:, 1], tangent[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]


def measure_width(light: np.ndarray, line: np.ndarray, *, widest: float, dark: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the center line (n, 2), moved to the middle of the profile, and the full width at half depth (n,).

    `light` float32 (h, w); `line` (n, 2) in its coordinates. The baseline of a profile is a straight line through its
    two outer parts, which compensates an uneven background. Profiles without a clear line get the median width.
    """
    half = max(3.0, 1.25 * widest)
    offsets = np.arange(-round(half / STEP), round(half / STEP) + 1) * STEP
    normal = normals(line)
    x = line[:, :1] + normal[:, :1] * offsets - 0.5
    y = line[:, 1:] + normal[:, 1:] * offsets - 0.5
    profile = _sample(light, x, y)
    profile = cv2.blur(profile if not dark else -profile, (1, SMOOTHING_LENGTH), borderType=cv2.BORDER_REPLICATE)
    outer = np.abs(offsets) > half * 0.55
    left = np.median(profile[:, outer & (offsets < 0)], axis=1)
    right = np.median(profile[:, outer & (offsets > 0)], axis=1)
    baseline = ((left + right) / 2)[:, None] + ((right - left) / (2 * half * 0.775))[:, None] * offsets
    depth = profile - baseline
    central = np.flatnonzero(np.abs(offsets) <= 1.5)
    peak = central[0] + depth[:, central].argmax(axis=1)
    height = depth[np.arange(len(depth)), peak]
    low, high = _half_depth(depth, peak, height)
    width, middle = (high - low) * STEP, (low + high) / 2 * STEP + offsets[0]
    valid = height > 0.3 * np.median(height)
    valid &= (height > 0) & (width <= 2 * widest)
    if not valid.any():
        return line, np.ones(len(line))
    middle[~valid] = 0.0
    width[~valid] = np.median(width[valid])
    width = _running_median(width, SMOOTHING_LENGTH)
    middle = np.clip(_running_median(middle, SMOOTHING_LENGTH), -2.0, 2.0)
    return line + normal * middle[:, None], np.clip(width, 1.0, 2 * widest)


def covered_pixels(line: np.ndarray, width: np.ndarray, pixels: np.ndarray, shape: tuple[int, ...]) -> Selection:
    """Return the pixels within half the `width` (n,) of the nearest point of `line` (n, 2), and those of `pixels`.

    All in the coordinates of an image of `shape`; `pixels` int (n, 2) has the pixel of each point.
    """
    rect = around([tuple(p) for p in pixels.astype(float)], int(np.ceil(width.max() / 2)) + 3, shape)
    uncovered = np.ones((rect.height, rect.width), np.uint8)
    columns, rows = pixels[:, 0] - rect.x, pixels[:, 1] - rect.y
    uncovered[rows, columns] = 0
    distance, label = cv2.distanceTransformWithLabels(uncovered, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    point_of = np.zeros(int(label.max()) + 1, np.int64)
    point_of[label[rows, columns].astype(np.intp)] = np.arange(len(pixels))
    inside = uncovered == 0
    row, column = np.nonzero((distance <= width.max() / 2 + 3) & ~inside)
    point = point_of[label[row, column].astype(np.intp)]
    dx, dy = column + rect.x + 0.5 - line[point, 0], row + rect.y + 0.5 - line[point, 1]
    inside[row, column] = dx * dx + dy * dy <= np.square(width[point] / 2)
    return Selection(rect, inside).trimmed()


def _sample(light: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sample `light` bilinearly at (x, y), in blocks, since OpenCV's remap is limited to 32767 rows."""
    blocks = range(0, len(x), 16384)
    parts = [
        cv2.remap(
            light,
            x[i : i + 16384].astype(np.float32),
            y[i : i + 16384].astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        for i in blocks
    ]
    return np.concatenate(parts)


def _half_depth(depth: np.ndarray, peak: np.ndarray, height: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fractional samples at which each profile falls to half of `height` on both sides of `peak`."""
    count, samples = depth.shape
    below = depth < (height / 2)[:, None]
    index, rows = np.arange(samples), np.arange(count)
    left = np.where(below & (index < peak[:, None]), index, -1).max(axis=1)
    right = np.where(below & (index > peak[:, None]), index, samples).min(axis=1)

    def crossing(outside: np.ndarray, step: int) -> np.ndarray:
        outside_index = np.clip(outside, 0, samples - 1)
        inside_index = np.clip(outside + step, 0, samples - 1)
        outer_depth, inner_depth = depth[rows, outside_index], depth[rows, inside_index]
        fraction = (height / 2 - outer_depth) / np.where(inner_depth != outer_depth, inner_depth - outer_depth, 1)
        return np.where(outside_index == outside, outside_index + step * np.clip(fraction, 0, 1), outside_index)

    return crossing(left, 1), crossing(right, -1)


def _running_median(values: np.ndarray, size: int) -> np.ndarray:
    radius = size // 2
    padded = np.pad(values, radius, mode="reflect" if len(values) > radius else "edge")
    windows: np.ndarray = np.lib.stride_tricks.sliding_window_view(padded, size)
    return np.median(windows, axis=1)


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

    `image` (H, W) or (H, W, 3) RGB, uint8, uint16 or float32. `widest`: expected maximum line width in pixels; lines
    up to twice as wide are still measured. Computation is limited to a window around the clicks, see
    `ShortestPathSearch`.
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

        None outside the image or if too far, see `ShortestPathSearch.to`. `exact` False is fast at any distance, for a
        preview.
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
        """Return the line between the first click and `end` with its width, empty if `path` returns None.

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
