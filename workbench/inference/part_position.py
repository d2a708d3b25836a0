"""Position of a part in an image, compared with a reference image: translation and rotation, or the reason why not.

Both images are reduced and replaced by the strength of their edges, which the light changes little. A search over
rotations and translations is refined by maximizing the correlation (ECC, Evangelidis and Psarakis 2008).
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from .io.json_io import require
from .io.opencv import cv2
from .io.tiff_regions import ImageArray

MOST_SHIFT, MOST_ANGLE = 0.4, 45.0  # of the limits of a reference: share of the longer side, degrees
_SIDE = 256  # pixels of the longer side of a reduced image
_MOST_TEXT = 400_000  # characters of a reference image
_STEP = 2.0  # degrees between the rotations that are tried
_MARGIN = 1.3  # factor of the greatest translation and rotation that are searched, so that a larger one is noticed
_LEAST_STRUCTURE = 0.01  # of the least determined direction, as a share of the best determined one
_LEAST_CORRELATION = 0.5  # of the edges at the position that was found
_OTHER_PLACE = 0.06  # share of the side from which another position is another place
_UNIQUE = 0.9  # correlation at another place, as a share of the greatest one
_LARGEST = 32_000  # pixels a side; limit of cv2.resize
_ITERATIONS, _PRECISION = 60, 1e-5


@dataclass(frozen=True)
class PartReference:
    """Reference image of an area that moves with the part.

    image: gray, reduced to a side of at most 256 pixels, as PNG in base64. most_shift: greatest translation as a share
    of the longer side. most_angle: greatest rotation in degrees; 0: the part does not rotate.

    Raises ValueError with the problem, as a part of a sentence.
    """

    image: str
    most_shift: float = 0.1
    most_angle: float = 10.0

    def __post_init__(self) -> None:
        for name, most in (("most_shift", MOST_SHIFT), ("most_angle", MOST_ANGLE)):
            value = getattr(self, name)
            valid = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
            require(valid, f"{name} must be a number from 0 to {most:g}, not {value!r}")
            object.__setattr__(self, name, float(value))
        require(isinstance(self.image, str) and len(self.image) <= _MOST_TEXT, "the reference image must be a text")
        self.pixels()

    @classmethod
    def of(cls, image: ImageArray, most_shift: float = 0.1, most_angle: float = 10.0) -> PartReference:
        """Return the reference of an image (H, W) or (H, W, 3). Raises ValueError if it has no structure."""
        gray = _reduced(image, None)
        low, high = np.percentile(gray, (0.2, 99.8))
        require(high > low, "the reference image shows nothing")
        stretched = np.clip((gray - low) * (255 / (high - low)), 0, 255)
        data = cv2.imencode(".png", np.rint(stretched).astype(np.uint8))[1].tobytes()
        return cls(base64.b64encode(data).decode("ascii"), most_shift, most_angle)

    @classmethod
    def from_json(cls, content: Any) -> PartReference:
        """Return a reference from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        valid = isinstance(content, dict) and {"image"} <= content.keys() <= {"image", "most_shift", "most_angle"}
        require(valid, "a reference holds image, most_shift and most_angle")
        return cls(**content)

    def pixels(self) -> np.ndarray:
        """Return the reduced reference image, uint8 (h, w). Raises ValueError."""
        try:
            data = np.frombuffer(base64.b64decode(self.image, validate=True), np.uint8)
        except (binascii.Error, ValueError):
            data = np.zeros(0, np.uint8)
        image = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if data.size else None
        valid = image is not None and image.ndim == 2 and image.dtype == np.uint8 and max(image.shape) <= _SIDE
        require(valid, "the reference image is no small gray PNG in base64")
        assert image is not None
        return image


@dataclass(frozen=True)
class Placement:
    """Movement of a part from its place in the reference image.

    dx, dy: of `center`, in the pixels of the reference image at full size; angle: in degrees, positive from the x axis
    to the y axis. center: (x, y) there. why: reason why the part was not found; the movement is then 0.
    """

    dx: float = 0.0
    dy: float = 0.0
    angle: float = 0.0
    center: tuple[float, float] = (0.0, 0.0)
    why: str = ""

    def moved(self, points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
        """Return the points (x, y) of the reference image where they are in the image."""
        (x, y), turn = self.center, math.radians(self.angle)
        cos, sin = math.cos(turn), math.sin(turn)
        return tuple(
            (x + self.dx + cos * (a - x) - sin * (b - y), y + self.dy + sin * (a - x) + cos * (b - y))
            for a, b in points
        )

    def moved_back(self, points: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
        """Return the points (x, y) of the image where they are in the reference image."""
        x, y = self.center
        back = replace(self, dx=-self.dx, dy=-self.dy, angle=-self.angle, center=(x + self.dx, y + self.dy))
        return back.moved(points)

    def to_json(self) -> dict[str, Any]:
        return {
            **{"found": not self.why, "dx": round(self.dx, 2), "dy": round(self.dy, 2)},
            **{"angle": round(self.angle, 3), "why": self.why},
        }


def is_lost(placement: Placement | None) -> bool:
    """Return True if the part was looked for and not found: the image then gets no verdict but "unsure"."""
    return placement is not None and bool(placement.why)


@dataclass(frozen=True)
class _Template:
    """Edges of the part in the reference image. box: left, top, right and bottom in the reduced image."""

    edges: np.ndarray
    box: tuple[int, int, int, int]
    shape: tuple[int, int]
    why: str = ""


def find_part(
    reference: PartReference, size: tuple[int, int], box: tuple[float, float, float, float], image: ImageArray
) -> Placement:
    """Return where the part of a reference image is in an image (H, W) or (H, W, 3) of the same proportions.

    size: width and height of the reference image. box: left, top, right and bottom of the part in it.
    """
    template = _template(reference, size, box)
    if template.why:
        return Placement(why=template.why)
    height, width = template.shape
    if max(image.shape[:2]) > _LARGEST:
        return Placement(why=f"the image has more than {_LARGEST} pixels a side")
    if abs(math.log(image.shape[1] / image.shape[0] / (size[0] / size[1]))) > 0.02:
        return Placement(why="the image has other proportions than the reference image")
    edges = _edges(_reduced(image, (width, height)))
    if not edges.any():
        return Placement(why="the image shows no structure")
    start = _search(reference, template, edges)
    if isinstance(start, str):
        return Placement(why=start)
    motion = cv2.MOTION_EUCLIDEAN if reference.most_angle else cv2.MOTION_TRANSLATION
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, _ITERATIONS, _PRECISION)
    everywhere = np.ones(edges.shape, np.uint8)
    try:
        correlation, matrix = cv2.findTransformECC(template.edges, edges, start, motion, criteria, everywhere, 5)
    except cv2.error:  # it does not converge
        return Placement(why="the part of the reference image was not found")
    if correlation < _LEAST_CORRELATION:
        return Placement(why=f"the part of the reference image was not found (correlation {correlation:.2f})")
    return _placement(reference, size, template, matrix.astype(np.float64))


def _placement(reference: PartReference, size: tuple[int, int], template: _Template, matrix: np.ndarray) -> Placement:
    left, top, right, bottom = template.box
    middle = np.array([(right - left - 1) / 2, (bottom - top - 1) / 2])
    scale = np.array(size) / template.shape[::-1]
    shift = (matrix[:, :2] @ middle + matrix[:, 2] - middle - (left, top)) * scale
    center = (middle + (left, top) + 0.5) * scale
    angle = math.degrees(math.atan2(matrix[1, 0], matrix[0, 0]))
    distance, most = math.hypot(*shift), reference.most_shift * max(size)
    if distance > most:
        return Placement(why=f"the part has moved by {distance:.0f} px, more than the limit of {most:.0f} px")
    if abs(angle) > reference.most_angle:
        return Placement(why=f"the part is rotated by {angle:.1f}°, more than the limit of {reference.most_angle:g}°")
    return Placement(float(shift[0]), float(shift[1]), angle, (float(center[0]), float(center[1])))


def _search(reference: PartReference, template: _Template, edges: np.ndarray) -> np.ndarray | str:
    """Return the best movement among rotations and translations, float32 (2, 3), or why there is none."""
    half = [cv2.resize(each, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA) for each in (template.edges, edges)]
    small, whole = half
    margin = math.ceil(_MARGIN * reference.most_shift * max(whole.shape)) + 2
    left, top = (side // 2 for side in template.box[:2])
    padded = np.pad(whole, margin)
    part = padded[top : top + small.shape[0] + 2 * margin, left : left + small.shape[1] + 2 * margin]
    most = math.ceil(_MARGIN * reference.most_angle / _STEP) if reference.most_angle else 0
    middle = ((small.shape[1] - 1) / 2, (small.shape[0] - 1) / 2)
    surfaces, turns = [], [_STEP * number for number in range(-most, most + 1)]
    for turn in turns:
        rotation = cv2.getRotationMatrix2D(middle, -turn, 1)  # OpenCV turns from the y axis to the x axis
        rotated = cv2.warpAffine(small, rotation, small.shape[::-1], flags=cv2.INTER_LINEAR)
        surfaces.append(np.nan_to_num(cv2.matchTemplate(part, rotated, cv2.TM_CCOEFF_NORMED)))
    found = np.stack(surfaces)
    number, row, column = np.unravel_index(int(found.argmax()), found.shape)
    greatest = float(found[number, row, column])
    if greatest <= 0:
        return "the part of the reference image was not found"
    rows, columns = np.ogrid[: found.shape[1], : found.shape[2]]
    elsewhere = np.hypot(rows - row, columns - column) > max(3.0, _OTHER_PLACE * max(whole.shape))
    if elsewhere.any() and float(found[:, elsewhere].max()) > _UNIQUE * greatest:
        return "the image fits the reference image at several positions"
    turn = math.radians(turns[int(number)])
    matrix = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    center = 2 * np.array(middle) + 0.5  # in the template at full resolution
    place = center + template.box[:2] + 2 * (np.array([column, row]) - margin)
    return np.column_stack([matrix, place - matrix @ center]).astype(np.float32)


@lru_cache(4)
def _template(reference: PartReference, size: tuple[int, int], box: tuple[float, float, float, float]) -> _Template:
    pixels = reference.pixels()
    height, width = pixels.shape
    edges = _edges(pixels.astype(np.float32))
    margin = 4  # the edges of the part belong to it
    x, y = width / size[0], height / size[1]
    left, top = max(0, math.floor(box[0] * x) - margin), max(0, math.floor(box[1] * y) - margin)
    right, bottom = min(width, math.ceil(box[2] * x) + margin), min(height, math.ceil(box[3] * y) + margin)
    left, top = left // 2 * 2, top // 2 * 2  # whole pixels at half the resolution
    part = np.ascontiguousarray(edges[top:bottom, left:right])
    why = ""
    if min(part.shape) < 16:
        why = "the inspection area is too small to be found"
    elif _structure(part, rotates=reference.most_angle > 0) < _LEAST_STRUCTURE:
        why = "the reference image looks alike at several positions or rotations"
    return _Template(part, (left, top, right, bottom), (height, width), why)


def _structure(edges: np.ndarray, *, rotates: bool) -> float:
    """Return how well the least determined movement is determined, as a share of the best determined one."""
    x, y = (cv2.Sobel(edges, cv2.CV_32F, *order) for order in ((1, 0), (0, 1)))
    changes = [x, y]
    if rotates:
        rows, columns = np.ogrid[: edges.shape[0], : edges.shape[1]]
        rows, columns = rows - (edges.shape[0] - 1) / 2, columns - (edges.shape[1] - 1) / 2
        changes.append((y * columns - x * rows) / (0.3 * max(edges.shape)))
    flat = np.stack([change.ravel() for change in changes]).astype(np.float64)
    values = np.linalg.eigvalsh(flat @ flat.T)
    return float(values[0] / values[-1]) if values[-1] > 0 else 0.0


def _reduced(image: ImageArray, size: tuple[int, int] | None) -> np.ndarray:
    """Return an image as gray values, float32 (h, w). size: width and height; None: at most 256 pixels a side."""
    pixels = np.asarray(image)
    height, width = pixels.shape[:2]
    if size is None:
        scale = min(1.0, _SIDE / max(height, width))
        size = max(1, round(width * scale)), max(1, round(height * scale))
    if pixels.dtype not in (np.uint8, np.uint16, np.float32):
        pixels = pixels.astype(np.float32)
    if (width, height) != size:
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    pixels = np.nan_to_num(pixels.astype(np.float32), posinf=0, neginf=0)
    return pixels if pixels.ndim == 2 else cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)


def _edges(gray: np.ndarray) -> np.ndarray:
    """Return the strength of the edges, float32 (h, w); its root, so that few strong ones do not outweigh the rest."""
    smooth = cv2.GaussianBlur(gray, (0, 0), 1.5)
    return np.sqrt(cv2.magnitude(cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)))
