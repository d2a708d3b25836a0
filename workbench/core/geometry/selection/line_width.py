"""Width of a thin line, measured on profiles across its center line, and the pixels covered by it."""

from __future__ import annotations

import numpy as np

from workbench.core.geometry.selection.pixel_selection import Selection, around
from workbench.inference.io.opencv import cv2

STEP = 0.5  # pixels between samples of a profile
ALONG = 9  # neighboring profiles to average: the line changes slowly, the grain does not


def smoothed(way: np.ndarray, sigma: float = 2.0) -> np.ndarray:
    """Smooth an 8-connected path (pixels) into image coordinates, float (n, 2). The end points are kept."""
    points = way.astype(np.float64) + 0.5
    if len(points) < 3:
        return points
    reach = min(int(3 * sigma), len(points) - 1)
    # Point reflection at the ends keeps the end points and directions.
    before, after = 2 * points[0] - points[reach:0:-1], 2 * points[-1] - points[-2 : -2 - reach : -1]
    extended = np.concatenate([before, points, after])
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    return np.stack([np.convolve(extended[:, axis], weights, "valid") for axis in (0, 1)], axis=1)


def normals(line: np.ndarray) -> np.ndarray:
    """Return the unit normals of a line of points (n, 2), float (n, 2)."""
    if len(line) < 2:
        return np.tile([[0.0, 1.0]], (len(line), 1))
    along = np.gradient(line, axis=0)
    length = np.hypot(along[:, 0], along[:, 1])
    along[length < 1e-9] = (1.0, 0.0)
    return np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]


def measure(light: np.ndarray, line: np.ndarray, *, widest: float, dark: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the center line (n, 2), moved to the middle of the profile, and the full width at half depth (n,).

    `light` float32 (h, w); `line` (n, 2) in its coordinates. The baseline of a profile is a straight line through its
    two outer parts, which compensates an uneven background. Profiles without a clear line get the median width.
    """
    half = max(3.0, 1.25 * widest)
    offsets = np.arange(-round(half / STEP), round(half / STEP) + 1) * STEP
    across = normals(line)
    x = line[:, :1] + across[:, :1] * offsets - 0.5
    y = line[:, 1:] + across[:, 1:] * offsets - 0.5
    profile = _sampled(light, x, y)
    profile = cv2.blur(profile if not dark else -profile, (1, ALONG), borderType=cv2.BORDER_REPLICATE)
    outer = np.abs(offsets) > half * 0.55
    left = np.median(profile[:, outer & (offsets < 0)], axis=1)
    right = np.median(profile[:, outer & (offsets > 0)], axis=1)
    foot = ((left + right) / 2)[:, None] + ((right - left) / (2 * half * 0.775))[:, None] * offsets
    depth = profile - foot
    near = np.flatnonzero(np.abs(offsets) <= 1.5)
    peak = near[0] + depth[:, near].argmax(axis=1)
    top = depth[np.arange(len(depth)), peak]
    low, high = _half_depth(depth, peak, top)
    width, middle = (high - low) * STEP, (low + high) / 2 * STEP + offsets[0]
    clear = top > 0.3 * np.median(top)
    clear &= (top > 0) & (width <= 2 * widest)
    if not clear.any():
        return line, np.ones(len(line))
    middle[~clear] = 0.0
    width[~clear] = np.median(width[clear])
    width = _running_median(width, ALONG)
    middle = np.clip(_running_median(middle, ALONG), -2.0, 2.0)
    return line + across * middle[:, None], np.clip(width, 1.0, 2 * widest)


def covered(line: np.ndarray, width: np.ndarray, way: np.ndarray, shape: tuple[int, ...]) -> Selection:
    """Return the pixels within half the `width` (n,) of the nearest point of `line` (n, 2), and those of `way`.

    All in the coordinates of an image of `shape`; `way` int (n, 2) has the pixel of each point.
    """
    rect = around([tuple(p) for p in way.astype(float)], int(np.ceil(width.max() / 2)) + 3, shape)
    off = np.ones((rect.height, rect.width), np.uint8)
    columns, rows = way[:, 0] - rect.x, way[:, 1] - rect.y
    off[rows, columns] = 0
    away, label = cv2.distanceTransformWithLabels(off, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    point_of = np.zeros(int(label.max()) + 1, np.int64)
    point_of[label[rows, columns]] = np.arange(len(way))
    inside = off == 0
    row, column = np.nonzero((away <= width.max() / 2 + 3) & ~inside)
    point = point_of[label[row, column]]
    dx, dy = column + rect.x + 0.5 - line[point, 0], row + rect.y + 0.5 - line[point, 1]
    inside[row, column] = dx * dx + dy * dy <= np.square(width[point] / 2)
    return Selection(rect, inside).trimmed()


def _sampled(light: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
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


def _half_depth(depth: np.ndarray, peak: np.ndarray, top: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the fractional samples at which each profile falls to half of `top` on both sides of `peak`."""
    count, samples = depth.shape
    below = depth < (top / 2)[:, None]
    at, rows = np.arange(samples), np.arange(count)
    left = np.where(below & (at < peak[:, None]), at, -1).max(axis=1)
    right = np.where(below & (at > peak[:, None]), at, samples).min(axis=1)

    def crossing(outside: np.ndarray, step: int) -> np.ndarray:
        safe = np.clip(outside, 0, samples - 1)
        inner = np.clip(outside + step, 0, samples - 1)
        out, into = depth[rows, safe], depth[rows, inner]
        part = (top / 2 - out) / np.where(into != out, into - out, 1)
        return np.where(safe == outside, safe + step * np.clip(part, 0, 1), safe)

    return crossing(left, 1), crossing(right, -1)


def _running_median(values: np.ndarray, size: int) -> np.ndarray:
    reach = size // 2
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(values, reach, mode="reflect" if len(values) > reach else "edge"), size
    )
    return np.median(windows, axis=1)
