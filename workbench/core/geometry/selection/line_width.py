"""Width of a thin line, measured on profiles across its center line, and the pixels covered by it."""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.selection.pixel_selection import Selection, around
from workbench.inference.io.opencv import cv2

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
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(values, radius, mode="reflect" if len(values) > radius else "edge"), size
    )
    return np.median(windows, axis=1)
