"""Operations on selected regions: fill holes, grow, shrink, smooth, find, encircle; their outline as a polygon with few
corners, and the region after corners were moved.

Size of a region: area, length along its center line, widths and caliper diameters, in pixels or micrometers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Paint, Rect, draw_segment, polygon_inside, polygon_rect
from workbench.core.geometry.selection.pixel_selection import EMPTY, Point, Selection, padded, pixel_at
from workbench.inference.components import feret_diameters
from workbench.inference.io.opencv import cv2

# Pixels to the outline: thicker regions are thinned at reduced resolution, enough for a center line.
MAX_HALF_WIDTH = 24.0
_MAX_PIXELS = 16 << 20  # pixels: a larger rectangle is thinned at reduced resolution as well
_MAX_UPSCALED_PIXELS = 4 << 20  # pixels: up to this size, widths are measured to half a pixel


@dataclass(frozen=True)
class Measures:
    """Measures of one region.

    `area`: of its pixels. `length`: along its center line, with branches, ends extended to the outline, accurate to
    about 4 %. `max_width`: diameter of the largest inscribed circle. `feret`, `min_feret`: greatest and least caliper
    diameter over the corners of its pixels.
    """

    area: float
    length: float
    max_width: float
    feret: float
    min_feret: float


NOTHING_MEASURED = Measures(0.0, 0.0, 0.0, 0.0, 0.0)


def measures(selection: Selection) -> Measures:
    """Return the measures of a selection in pixels, over all its parts."""
    region = selection.trimmed()
    if region.empty:
        return NOTHING_MEASURED
    inside = np.pad(region.inside, 1).astype(np.uint8)
    area = float(np.count_nonzero(inside))
    feret, min_feret = calipers(region.inside)
    distance = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    length = _length(inside, distance) or feret
    return Measures(area, length, _max_width(inside, distance), feret, min_feret)


def calipers(inside: np.ndarray) -> tuple[float, float]:
    """Return the greatest and least caliper diameter of the pixels in bool (h, w), which must not be empty."""
    rows = np.flatnonzero(inside.any(axis=1))
    first = inside[rows].argmax(axis=1)
    last = inside.shape[1] - inside[rows, ::-1].argmax(axis=1)
    return feret_diameters(np.stack([rows, first, last], axis=1).astype(np.int32))


def thinned(inside: np.ndarray) -> np.ndarray:
    """Return the skeleton, uint8 0/1 (h, w), one pixel wide and with unchanged connectivity (Guo and Hall 1989)."""
    region = np.pad(inside.astype(np.uint8), 1)
    while True:
        before = region
        for table in _TABLES:
            code = cv2.filter2D(region, -1, _WEIGHTS, borderType=cv2.BORDER_CONSTANT)
            region = region & ~np.asarray(cv2.LUT(code, table), np.uint8) & 1
        if np.array_equal(before, region):
            return region[1:-1, 1:-1]


def _length(inside: np.ndarray, distance: np.ndarray) -> float:
    step = max(
        1, int(np.ceil(float(distance.max()) / MAX_HALF_WIDTH)), int(np.ceil(np.sqrt(inside.size / _MAX_PIXELS)))
    )
    if step > 1:
        # A cell belongs to the region if any of its pixels does, so thin parts stay connected.
        padded = np.pad(inside, [(0, -n % step) for n in inside.shape])
        blocks = padded.reshape(padded.shape[0] // step, step, padded.shape[1] // step, step)
        inside = np.pad(blocks.max(axis=(1, 3)), 1)
        distance = cv2.distanceTransform(inside, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    line = thinned(inside)
    if not line.any():
        return 0.0
    straight, diagonal = _links(line)
    # Vossepoel and Smeulders (1982): pixel counts overestimate oblique lines; the number of corners corrects this.
    corners = np.count_nonzero((straight == 1) & (diagonal == 1))
    path_length = (0.98 * straight.sum(dtype=np.int64) + 1.406 * diagonal.sum(dtype=np.int64)) / 2 - 0.091 * corners
    neighbors = cv2.filter2D(line, -1, np.ones((3, 3), np.float32), borderType=cv2.BORDER_CONSTANT) - 1
    ends = float(
        (distance[(line > 0) & (neighbors <= 1)] - 0.5).sum() + (distance[(line > 0) & (neighbors == 0)] - 0.5).sum()
    )
    return float(step * (path_length + ends))


def _links(line: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of straight and of diagonal links of each pixel of a thin line, each uint8 (h, w)."""
    straight, diagonal = np.zeros_like(line), np.zeros_like(line)
    head, tail = (slice(None, -1), slice(1, None))
    all_pixels = slice(None)
    for target, a, b, crossing in (
        (straight, (all_pixels, head), (all_pixels, tail), ()),
        (straight, (head, all_pixels), (tail, all_pixels), ()),
        (diagonal, (head, head), (tail, tail), ((head, tail), (tail, head))),
        (diagonal, (head, tail), (tail, head), ((head, head), (tail, tail))),
    ):
        joined = line[a] & line[b]
        for corner in crossing:  # a diagonal link counts unless two straight ones connect around its corner
            joined = joined & (1 - line[corner])
        target[a] += joined
        target[b] += joined
    return straight, diagonal


def _max_width(inside: np.ndarray, distance: np.ndarray) -> float:
    if inside.size > _MAX_UPSCALED_PIXELS:
        return 2 * float(distance.max()) - 1
    upscaled = cv2.resize(inside, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    return float(cv2.distanceTransform(upscaled, cv2.DIST_L2, cv2.DIST_MASK_PRECISE).max())


# Neighbors of a pixel, clockwise from above, as bits of a code.
_CLOCKWISE = ((0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0), (0, 0))
_WEIGHTS = np.zeros((3, 3), np.float32)
for _bit, _position in enumerate(_CLOCKWISE):
    _WEIGHTS[_position] = 1 << _bit


def _removable(code: int, second: bool) -> bool:
    n, ne, e, se, s, sw, w, nw = (bool(code >> bit & 1) for bit in range(8))
    # A single run of neighbors stays connected without the pixel.
    runs = (not n and (ne or e)) + (not e and (se or s)) + (not s and (sw or w)) + (not w and (nw or n))
    pairs = (nw or n) + (ne or e) + (se or s) + (sw or w), (n or ne) + (e or se) + (s or sw) + (w or nw)
    if runs != 1 or not 2 <= min(pairs) <= 3:
        return False
    return not ((n or ne or not se) and e) if second else not ((s or sw or not nw) and w)


_TABLES = [np.array([_removable(code, second) for code in range(256)], np.uint8) for second in (False, True)]


# Pixels of the largest window in which a region is searched.
LIMIT = 64 << 20

Member = Callable[[Rect], np.ndarray]  # bool (h, w): pixels of a rectangle that may belong to the region
MAX_CORNERS = 160
_TOLERANCE = 0.75  # pixels: initial distance of the polygon from the outline


def fill_holes(selection: Selection, *, largest: int | None = None) -> Selection:
    """Fill every hole, that is, background without a 4-connected path outside. Holes above `largest` pixels stay."""
    if selection.empty:
        return selection
    outside = cv2.copyMakeBorder((~selection.inside).astype(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=1)
    if largest is None:
        cv2.floodFill(outside, None, (0, 0), 0, flags=4)
        return Selection(selection.rect, selection.inside | (outside[1:-1, 1:-1] > 0), selection.cut)
    _, label, stats, _ = cv2.connectedComponentsWithStats(outside, connectivity=4)
    hole = stats[:, cv2.CC_STAT_AREA] <= largest
    hole[[0, int(label[0, 0])]] = False
    return Selection(selection.rect, selection.inside | hole[label[1:-1, 1:-1].astype(np.intp)], selection.cut)


def grow(selection: Selection, pixels: float, shape: tuple[int, ...]) -> Selection:
    """Return all pixels of an image of `shape` (H, W, ...) within distance `pixels` of the selection."""
    if selection.empty or pixels <= 0:
        return selection
    rect = padded(selection.rect, int(np.ceil(pixels)), shape)
    distance = _distance(~selection.within(rect))
    return Selection(rect, distance <= pixels + 1e-4, selection.cut)


def shrink(selection: Selection, pixels: float, shape: tuple[int, ...]) -> Selection:
    """Return the pixels further than `pixels` from all unselected ones. The image border does not erode the region."""
    if selection.empty or pixels <= 0:
        return selection
    rect = padded(selection.rect, 1, shape)
    inside = selection.within(rect)
    if inside.all():
        return selection
    return Selection(rect, inside & (_distance(inside) > pixels + 1e-4), selection.cut).trimmed()


def smooth(selection: Selection, pixels: float, shape: tuple[int, ...]) -> Selection:
    """Smooth the outline: each pixel takes the majority of its neighborhood of radius about `pixels`.

    Much thinner parts disappear; the image border is extrapolated.
    """
    if selection.empty or pixels <= 0:
        return selection
    rect = padded(selection.rect, int(np.ceil(2 * pixels)) + 1, shape)
    share = cv2.GaussianBlur(
        selection.within(rect).astype(np.float32), (0, 0), max(0.3, pixels / 2), borderType=cv2.BORDER_REPLICATE
    )
    return Selection(rect, share > 0.5, selection.cut).trimmed()


def region_at(mask: np.ndarray, point: Point, *, connectivity: int = 8, limit: int = LIMIT) -> Selection:
    """Return the connected region of the class id under `point` in a mask, uint8 (H, W); empty outside the mask.

    The search window grows with the region up to `limit` pixels; `cut` is set if the region exceeds it.
    """
    pixel = pixel_at(point, mask.shape)
    if pixel is None:
        return EMPTY
    id = mask[pixel[1], pixel[0]]
    return connected(lambda rect: mask[rect.slices] == id, pixel, mask.shape, connectivity=connectivity, limit=limit)


def connected(
    member: Member, pixel: tuple[int, int], shape: tuple[int, ...], *, connectivity: int, limit: int, start: int = 128
) -> Selection:
    """Return the pixels connected to `pixel` (column, row) for which `member(rect)`, bool (h, w), holds.

    The window extends `start` pixels at first and grows on the sides that the region touches, up to `limit` pixels.
    """
    rect = padded(Rect(pixel[0], pixel[1], 1, 1), start, shape)
    while True:
        flood = _flood(member(rect), (pixel[0] - rect.x, pixel[1] - rect.y), connectivity)
        if flood is None:
            return EMPTY
        inside = Rect(rect.x + flood.rect.x, rect.y + flood.rect.y, flood.rect.width, flood.rect.height)
        wider = _enlarge(rect, inside, shape)
        if wider == rect:
            return Selection(inside, flood.inside)
        if wider.width * wider.height > limit:
            return Selection(inside, flood.inside, cut=True)
        rect = wider


def encircle(points: list[Point], shape: tuple[int, ...], *, radius: float = 0.0) -> Selection:
    """Return the area enclosed by a closed stroke, including the stroke of `radius`.

    If the stroke crosses itself, all loops are included: areas excluded by the even-odd rule are filled.
    """
    height, width = shape[:2]
    rect = polygon_rect(points, (height, width))
    if not points or rect.empty:
        return EMPTY
    rect = padded(rect, int(np.ceil(radius)) + 1, shape)
    inside = polygon_inside(np.asarray(points, np.float64), rect)
    if radius > 0:
        stroke = np.zeros(inside.shape, np.uint8)
        local_points = [(x - rect.x, y - rect.y) for x, y in points]
        for a, b in zip(local_points, local_points[1:] or local_points):
            draw_segment(stroke, a, b, radius, Paint(1))
        inside |= stroke > 0
    return fill_holes(Selection(rect, inside)).trimmed()


def _distance(inside: np.ndarray) -> np.ndarray:
    """Return the exact distance from each True pixel to the nearest False one, between centers, float32."""
    return cv2.distanceTransform(inside.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)


def _flood(member: np.ndarray, seed: tuple[int, int], connectivity: int) -> Selection | None:
    if not member[seed[1], seed[0]]:
        return None
    flood = np.zeros((member.shape[0] + 2, member.shape[1] + 2), np.uint8)
    flags = connectivity | cv2.FLOODFILL_MASK_ONLY | (1 << 8)
    _, _, flood, box = cv2.floodFill(member.astype(np.uint8), flood, seed, 0, 0, 0, flags)
    rect = Rect(*map(int, box))
    return Selection(rect, flood[rect.y + 1 : rect.y + 1 + rect.height, rect.x + 1 : rect.x + 1 + rect.width] > 0)


def _enlarge(rect: Rect, inside: Rect, shape: tuple[int, ...]) -> Rect:
    """Return `rect` enlarged by half on each side that `inside` touches, up to the image border."""
    step_x, step_y = rect.width // 2 + 1, rect.height // 2 + 1
    left = step_x if inside.x == rect.x else 0
    top = step_y if inside.y == rect.y else 0
    right = step_x if inside.x + inside.width == rect.x + rect.width else 0
    bottom = step_y if inside.y + inside.height == rect.y + rect.height else 0
    enlarged = Rect(rect.x - left, rect.y - top, rect.width + left + right, rect.height + top + bottom)
    return enlarged.clipped(shape[1], shape[0])


def outline_of(selection: Selection) -> list[Point]:
    """Return the corners of the outer outline of a selection's largest part, without its holes.

    The polygon runs through the centers of the boundary pixels. It is simplified (Douglas and Peucker 1973) as far as
    needed for at most `MAX_CORNERS` corners.
    """
    contours, _ = cv2.findContours(selection.inside.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not contours:
        return []
    contour = max(contours, key=lambda points: (cv2.contourArea(points), len(points)))
    tolerance = _TOLERANCE
    corners = cv2.approxPolyDP(contour, tolerance, True)
    while len(corners) > MAX_CORNERS:
        tolerance *= 1.4
        corners = cv2.approxPolyDP(contour, tolerance, True)
    x, y = selection.corner
    if len(corners) > 2:
        return [(float(px) + x + 0.5, float(py) + y + 0.5) for px, py in corners[:, 0]]
    # A line or a single pixel: its box.
    left, top, width, height = cv2.boundingRect(contour)
    left, top = left + x, top + y
    return [(left, top), (left + width, top), (left + width, top + height), (left, top + height)]


def with_outline(base: Selection, before: Sequence[Point], after: Sequence[Point], shape: tuple[int, ...]) -> Selection:
    """Return a region after its outline was changed from the polygon `before` to the polygon `after`.

    Only the pixels in which the polygons differ are added or removed, so that details along unchanged edges and holes
    stay exact. shape: of the image, (H, W, ...).
    """
    rect = base.rect
    for points in (before, after):
        rect = rect.united(polygon_rect(points, shape))
    rect = rect.clipped(shape[1], shape[0])
    if rect.empty:
        return EMPTY
    old, new = (polygon_inside(np.asarray(points, np.float64), rect) for points in (before, after))
    return Selection(rect, (base.within(rect) | (new & ~old)) & ~(old & ~new)).trimmed()
