"""Shapes of label files: polygons, boxes, ellipses, lines, points and bitmaps, and their rasterization."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.core.geometry.drawing import Paint, Rect, draw_polygon, draw_region, draw_segment, polygon_rect
from workbench.core.messages import Message
from workbench.core.project.formats.base import UnreadableLabel
from workbench.inference.io import image_io
from workbench.inference.io.opencv import cv2

LINE_RADIUS = 1.5  # pixels; a line has no width of its own and is drawn three pixels wide
POINT_RADIUS = 2.5
_LARGEST_COORDINATE = 1e7
_MOST_PIXELS = 1 << 30  # of a decoded run-length mask

Points = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Shape:
    """Labeled shape in pixel coordinates, with the origin at the outer corner of the first pixel.

    kind: "polygon", "box" (two corners), "ellipse" (center, radii), "circle" (center, point of the rim), "line",
    "point", "bitmap", or "runs" (first pixel, from 1, and length, column by column). points: (N, 2). holes: polygons
    cut out of a polygon. bitmap: returns bool (h, w), whose first pixel is at the first point. fractions: coordinates
    are fractions of the image's width and height.
    outline: the pixels under the outline of a polygon belong to it, as of polygons that connect the outermost pixels of
    a region. entry: kind and id of the entry in its label file.
    """

    label: str
    kind: str
    points: Points = ()
    holes: tuple[Points, ...] = ()
    bitmap: Callable[[], np.ndarray] | None = None
    fractions: bool = False
    outline: bool = False
    entry: tuple[str, object] | None = None


def box(
    label: str, x: Any, y: Any, width: Any, height: Any, *, centered: bool = False, fractions: bool = False
) -> Shape:
    """Return a box by its left upper corner, or by its center if it is `centered`. Numbers may be texts."""
    left, top, across, down = float(x), float(y), float(width), float(height)
    if centered:
        left, top = left - across / 2, top - down / 2
    return Shape(label, "box", [(left, top), (left + across, top + down)], fractions=fractions)


def checked(points: Iterable[Any]) -> list[tuple[float, float]]:
    """Return points as pairs of floats. Raises ValueError for coordinates that no image has."""
    pairs = [(float(x), float(y)) for x, y in points]
    if not all(math.isfinite(v) and abs(v) < _LARGEST_COORDINATE for pair in pairs for v in pair):
        raise ValueError(Message("import.coordinate"))
    return pairs


def pairs(flat: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (x, y) of a flat list x0, y0, x1, y1, ... Raises ValueError if its length is odd."""
    if len(flat) % 2:
        raise ValueError(Message("import.odd_coordinates"))
    return zip(flat[::2], flat[1::2])


def rotated(shape: Shape, degrees: float) -> Shape:
    """Return a box or an ellipse, rotated clockwise about its center, as a polygon; any other shape unchanged."""
    if not degrees % 360 or shape.kind not in ("box", "ellipse"):
        return shape
    if shape.kind == "box":
        (left, top), (right, bottom) = checked(shape.points)
        x, y, width, height = (left + right) / 2, (top + bottom) / 2, (right - left) / 2, (bottom - top) / 2
        outline = np.array([(-width, -height), (width, -height), (width, height), (-width, height)])
    else:
        (x, y), (width, height) = checked(shape.points)
        turns = np.linspace(0, 2 * math.pi, 4 * max(8, math.ceil(max(width, height))), endpoint=False)
        outline = np.stack((width * np.cos(turns), height * np.sin(turns)), axis=1)
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    points = outline @ np.array([(cos, sin), (-sin, cos)]) + (x, y)
    return replace(shape, kind="polygon", points=points.tolist())


def box_rect(points: Points, width: int, height: int) -> Rect:
    """Return the pixels whose centers lie in the box of the points, clipped to the image."""
    corners = checked(points)
    if not corners:
        raise ValueError(Message("import.no_points"))
    left, top = min(x for x, _ in corners), min(y for _, y in corners)
    right, bottom = max(x for x, _ in corners), max(y for _, y in corners)
    x, y = math.ceil(left - 0.5), math.ceil(top - 0.5)
    return Rect(x, y, math.ceil(right - 0.5) - x, math.ceil(bottom - 0.5) - y).clipped(width, height)


def filled_runs(lengths: Any, size: int) -> np.ndarray:
    """Return the pixels of runs that alternate between background and object, bool (size,).

    Raises UnreadableLabel if they do not fill them exactly.
    """
    runs = np.asarray(lengths, np.int64)
    if not 0 < size <= _MOST_PIXELS or runs.ndim != 1 or (runs < 0).any() or runs.sum() != size:
        raise UnreadableLabel(Message("import.run_lengths"))
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs)


def run_lengths(pixels: np.ndarray) -> list[int]:
    """Return the lengths of runs of pixels, bool (N,), that alternate between background and object."""
    lengths = np.diff(np.flatnonzero(pixels[1:] != pixels[:-1]) + 1, prepend=0, append=len(pixels)).tolist()
    return [0, *lengths] if pixels[0] else lengths


def decoded_image(data: bytes, mode: str) -> np.ndarray:
    """Return the pixels of an image inside a label file in a mode of Pillow. Raises UnreadableLabel."""
    from workbench.core.images.pillow import Image

    try:
        with Image.open(io.BytesIO(data)) as file:
            too_large = image_io.size_problem(file.width, file.height, file.width * file.height)
            if too_large:
                raise UnreadableLabel(too_large)
            return np.array(file.convert(mode))
    except (OSError, SyntaxError, EOFError):
        raise UnreadableLabel(Message("import.damaged_mask")) from None


def draw_shape(mask: np.ndarray, shape: Shape, paint: Paint) -> None:
    """Paint one shape into `mask`, uint8 (H, W). Raises ValueError for damaged shapes."""
    points = checked(shape.points)
    if not points:
        raise ValueError(Message("import.no_points"))
    if shape.kind == "circle":
        draw_segment(mask, points[0], points[0], math.dist(points[0], points[1]), paint)
    elif shape.kind == "bitmap":
        if shape.bitmap is None:
            raise ValueError(Message("import.no_mask"))
        draw_region(mask, shape.bitmap(), (int(points[0][0]), int(points[0][1])), paint)
    elif shape.kind == "box":
        rect = box_rect(points, mask.shape[1], mask.shape[0])
        if not rect.empty:
            paint.apply(mask, rect, np.ones((rect.height, rect.width), bool))
    elif shape.kind == "runs":
        draw_region(mask, _run_pixels(points, mask.shape[1], mask.shape[0]), (0, 0), paint)
    elif shape.kind == "ellipse":
        (x, y), (rx, ry) = points
        turns = np.linspace(0, 2 * math.pi, 4 * max(8, math.ceil(max(rx, ry))), endpoint=False)
        draw_polygon(mask, np.stack((x + rx * np.cos(turns), y + ry * np.sin(turns)), axis=1), paint, vertices=False)  # ty: ignore[invalid-argument-type]
    elif shape.kind == "line":
        for start, end in zip(points, points[1:] or points):
            draw_segment(mask, start, end, LINE_RADIUS, paint)
    elif shape.kind == "point":
        for point in points:
            draw_segment(mask, point, point, POINT_RADIUS, paint)
    elif shape.kind == "polygon":
        _draw_polygon(mask, shape, points, paint)
    else:
        raise ValueError(Message("import.shape_kind", kind=shape.kind))


def _run_pixels(runs: list[tuple[float, float]], width: int, height: int) -> np.ndarray:
    """Return the pixels of runs, bool (height, width). Raises ValueError for runs that leave the image."""
    inside = np.zeros(width * height, bool)
    for first, count in runs:
        if first < 1 or first - 1 + count > inside.size:
            raise ValueError(Message("import.run_lengths"))
        inside[int(first) - 1 : int(first - 1 + count)] = True
    return inside.reshape(width, height).T


def _draw_polygon(mask: np.ndarray, shape: Shape, points: list[tuple[float, float]], paint: Paint) -> None:
    if len(points) < 3:
        raise ValueError(Message("import.polygon"))
    if shape.outline:
        _draw_outlined(mask, points, paint)
        return
    if not shape.holes:
        draw_polygon(mask, points, paint, vertices=False)
        return
    filled = np.zeros(mask.shape, np.uint8)
    draw_polygon(filled, points, Paint(1), vertices=False)
    for hole in shape.holes:
        draw_polygon(filled, checked(hole), Paint(0), vertices=False)
    draw_region(mask, filled.astype(bool), (0, 0), paint)


def _draw_outlined(mask: np.ndarray, points: Sequence[tuple[float, float]], paint: Paint) -> None:
    """Paint a polygon with the pixels under its outline."""
    rect = polygon_rect(points, mask.shape)
    if not rect.empty:
        inside = np.zeros((rect.height, rect.width), np.uint8)
        cv2.fillPoly(inside, [np.floor(points).astype(np.int32) - (rect.x, rect.y)], 1)
        draw_region(mask, inside.astype(bool), (rect.x, rect.y), paint)
