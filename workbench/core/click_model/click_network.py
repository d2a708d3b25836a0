"""Click segmentation with the network of the workbench, for which no files have to be chosen.

It receives a square part of the image around the clicks, reduced or enlarged to `SIDE` pixels, the mask before, the
clicks, and features of the pretrained encoder (`core.frozen_encoder`). For the first click, parts of several sizes are
tried, and that one is used whose mask is the most certain. packaging/click_network.py trains it on generated images.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from workbench.core import resources
from workbench.core.click_model.click_model import Cancelled, ClickCancelled, ClickMask, ImageFrame, Prompts
from workbench.core.frozen_encoder import FrozenEncoder
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import GrayLevels, Point, Selection, box_cut, levels_of
from workbench.core.runs.onnx_files import open_session
from workbench.inference.io.opencv import cv2
from workbench.inference.io.tiff_regions import ImageArray

FILE = "click/click.onnx"
INPUT, OUTPUT = "planes", "probabilities"
SIDE = 64  # pixels of the network
DEPTH = 4  # levels of the encoder
SMALLEST, LARGEST = 24, 4096  # pixels of the image: sides of the parts that are tried for the first click
LADDER = 2**0.5  # factor between the parts that are tried for the first click
AROUND = 2.0  # side of the part, in sides of the mask before
REACH = 3.0  # network pixels: width of the mark of a click
EDGE = 0.15  # share of the border of a part that the mask may touch

Click = tuple[Point, bool]  # position in the image, True to add
Forward = Callable[[np.ndarray], np.ndarray]  # planes (N, 6, SIDE, SIDE) to probabilities (N, SIDE, SIDE)


@dataclass(frozen=True)
class Part:
    """Square of the image, which may extend beyond it. x, y: corner. side: pixels."""

    x: int
    y: int
    side: int

    @classmethod
    def around(cls, x: float, y: float, side: float) -> Part:
        side = max(SMALLEST, round(side))
        return cls(round(x - side / 2), round(y - side / 2), side)

    def to_network(self, point: Point) -> tuple[float, float]:
        """Return the position of an image point, where the center of the first pixel is 0."""
        scale = SIDE / self.side
        return (point[0] - self.x) * scale - 0.5, (point[1] - self.y) * scale - 0.5


def cut(image: ImageArray, part: Part) -> np.ndarray:
    """Return a part of an image, float32 (SIDE, SIDE) or (SIDE, SIDE, 3); continued by the border of the image."""
    height, width = image.shape[:2]
    left, top = min(max(part.x, 0), width - 1), min(max(part.y, 0), height - 1)
    right, bottom = min(max(part.x + part.side, left + 1), width), min(max(part.y + part.side, top + 1), height)
    inside = np.ascontiguousarray(image[top:bottom, left:right])
    if inside.dtype not in (np.uint8, np.uint16):
        inside = inside.astype(np.float32)
    scale = SIDE / part.side
    rows, columns = max(1, round((bottom - top) * scale)), max(1, round((right - left) * scale))
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = cv2.resize(inside, (columns, rows), interpolation=method).astype(np.float32)
    above, before = min(max(0, round((top - part.y) * scale)), SIDE), min(max(0, round((left - part.x) * scale)), SIDE)
    small = small[: max(1, SIDE - above), : max(1, SIDE - before)]
    below, after = max(0, SIDE - above - small.shape[0]), max(0, SIDE - before - small.shape[1])
    return cv2.copyMakeBorder(small, above, below, before, after, cv2.BORDER_REPLICATE)[:SIDE, :SIDE]


def contrast_stretched(pixels: np.ndarray) -> np.ndarray:
    """Return the colors of a part, float32 (3, SIDE, SIDE) in -1..1. pixels: see `cut`; 0 to 255."""
    finite = np.nan_to_num(pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2))
    deviation = finite - finite.mean()
    return np.clip(deviation / (3 * deviation.std() + 1), -1, 1).transpose(2, 0, 1)


def marks(clicks: Sequence[Click], part: Part) -> np.ndarray:
    """Return the planes of the clicks that add and that remove, float32 (2, SIDE, SIDE): 1 at a click, falling to 0."""
    planes = np.zeros((2, SIDE, SIDE), np.float32)
    rows, columns = np.arange(SIDE, dtype=np.float32)[:, None], np.arange(SIDE, dtype=np.float32)[None, :]
    for point, adds in clicks:
        x, y = part.to_network(point)
        distance = (columns - x) ** 2 + (rows - y) ** 2
        plane = planes[0 if adds else 1]
        np.maximum(plane, np.exp(-distance / (2 * REACH * REACH)), out=plane)
    return planes


@dataclass(frozen=True, eq=False)
class PartMask:
    """Probabilities of the pixels of a part, float32 (SIDE, SIDE)."""

    part: Part
    probabilities: np.ndarray

    @classmethod
    def of(cls, selection: Selection, box: Rect) -> PartMask:
        """Return the mask of selected pixels in the part around a box."""
        part = _part_of(_corners(box))
        pixels = selection.within(Rect(part.x, part.y, part.side, part.side)).view(np.uint8) * np.uint8(255)
        small = cv2.resize(pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        return cls(part, small.astype(np.float32) / 255)

    @property
    def rect(self) -> Rect | None:
        """Smallest rectangle around the mask in the image, None if it is empty."""
        inside = self.probabilities > 0.5
        rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
        if not rows.size:
            return None
        scale = self.part.side / SIDE
        x, y = self.part.x + int(columns[0] * scale), self.part.y + int(rows[0] * scale)
        width, height = (int(np.ceil((v[-1] - v[0] + 1) * scale)) for v in (columns, rows))
        return Rect(x, y, width, height)

    @property
    def touching(self) -> float:
        """Share of the border of the part that is in the mask."""
        inside = self.probabilities > 0.5
        return float(np.mean([inside[0], inside[-1], inside[:, 0], inside[:, -1]]))

    @property
    def certainty(self) -> float:
        """Expected overlap (IoU) of the mask with the object, if the probabilities are right."""
        inside = self.probabilities > 0.5
        total = np.count_nonzero(inside) + float(self.probabilities[~inside].sum())
        return float(self.probabilities[inside].sum()) / max(total, 1e-6)

    def moved_to(self, part: Part) -> np.ndarray:
        """Return the probabilities in another part, float32 (SIDE, SIDE); 0 where they are unknown."""
        scale = part.side / self.part.side  # pixels of this part for each of the other
        x, y = ((b - a) * SIDE / self.part.side for a, b in ((self.part.x, part.x), (self.part.y, part.y)))
        matrix = np.array([[scale, 0, x + (scale - 1) / 2], [0, scale, y + (scale - 1) / 2]])
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return cv2.warpAffine(self.probabilities, matrix, (SIDE, SIDE), flags=flags)

    def selection(self, shape: tuple[int, ...]) -> Selection:
        """Return the pixels of the mask in an image of a shape."""
        part = self.part
        frame = ImageFrame(Rect(part.x, part.y, part.side, part.side), SIDE, SIDE, SIDE, SIDE)
        found = frame.selection(self.probabilities - 0.5)
        rect = found.rect.clipped(shape[1], shape[0])
        return found if rect == found.rect else Selection(rect, found.within(rect)).trimmed()


def planes(colors: np.ndarray, prior: np.ndarray | None, clicks: Sequence[Click], part: Part) -> np.ndarray:
    """Return the input of the network, float32 (6, SIDE, SIDE)."""
    before = np.zeros((1, SIDE, SIDE), np.float32) if prior is None else prior[None]
    return np.concatenate([colors, before, marks(clicks, part)])


class ClickNetwork:
    """Masks of an image for clicks. forward: the network."""

    def __init__(self, forward: Forward) -> None:
        self._forward = forward

    def segment(
        self,
        image: ImageArray,
        clicks: Sequence[Click],
        before: PartMask | None,
        levels: GrayLevels,
        *,
        box: Rect | None = None,
        longest: int | None = None,
    ) -> PartMask:
        """Return the mask for the clicks.

        image: (H, W) or (H, W, 3) RGB. before: mask of the clicks without the last, None for the first or after a
        change. levels: range of the gray values. box: rectangle around the object. longest: side of the largest part
        that is tried for the first click, in pixels; None: of the image.
        """
        points = [point for point, _ in clicks]
        if box is not None:
            points += _corners(box)
        if before is None and box is None:
            return self._first(image, clicks, levels, longest or max(image.shape[:2]))
        rect = None if before is None else before.rect
        if rect is not None:
            points += _corners(rect)
        part = _part_of(points)
        if before is not None and before.touching > EDGE:
            part = Part.around(part.x + part.side / 2, part.y + part.side / 2, max(part.side, before.part.side) * 1.5)
        return self._masks(image, [part], clicks, before, levels)[0]

    def _first(self, image: ImageArray, clicks: Sequence[Click], levels: GrayLevels, longest: int) -> PartMask:
        """Return the most certain mask of parts of several sizes that ends within its part."""
        sides = [float(_part_of([point for point, _ in clicks]).side)]
        while sides[-1] * LADDER < min(1.2 * longest, LARGEST):
            sides.append(sides[-1] * LADDER)
        xs, ys = zip(*(point for point, _ in clicks))
        center = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
        found = self._masks(image, [Part.around(*center, side) for side in sides], clicks, None, levels)
        usable = [mask for mask in found[:-1] if mask.touching <= EDGE] + found[-1:]
        return max(usable, key=lambda mask: mask.certainty)

    def _masks(
        self,
        image: ImageArray,
        parts: list[Part],
        clicks: Sequence[Click],
        before: PartMask | None,
        levels: GrayLevels,
    ) -> list[PartMask]:
        inputs = []
        for part in parts:
            pixels = (cut(image, part) - np.float32(levels.low)) * np.float32(255 / (levels.high - levels.low))
            prior = None if before is None else before.moved_to(part)
            inputs.append(planes(contrast_stretched(pixels), prior, clicks, part))
        return [PartMask(part, mask) for part, mask in zip(parts, self._forward(np.stack(inputs)))]


def _part_of(points: Sequence[Point]) -> Part:
    """Return the part around points, with room beside them."""
    xs, ys = zip(*points)
    side = max(max(xs) - min(xs), max(ys) - min(ys), SMALLEST / AROUND) * AROUND
    return Part.around((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2, side)


def _corners(rect: Rect) -> list[Point]:
    return [(rect.x, rect.y), (rect.x + rect.width, rect.y + rect.height)]


def stored_network(path: Path | None = None, threads: int = 1) -> Forward:
    """Return the trained network. path: of its file; None for that of the program. threads: of ONNX Runtime."""
    encoder, network = FrozenEncoder(DEPTH, threads), open_session(path or resources.path(FILE), threads)

    def forward(inputs: np.ndarray) -> np.ndarray:
        levels = encoder.levels(np.ascontiguousarray(inputs[:, :3]))
        feeds = {INPUT: inputs, **{f"level{number}": level for number, level in enumerate(levels)}}
        return np.asarray(network.run([OUTPUT], feeds)[0])

    return forward


@cache
def built_in() -> ClickNetwork:
    """Return the trained network, which is loaded once. Several threads may use it."""
    return ClickNetwork(stored_network())


def refined_box(image: ImageArray, box: Rect, clicks: Sequence[Click], levels: GrayLevels | None = None) -> Selection:
    """Return the pixels of the object in a box: those of `box_cut`, corrected by the network after each click."""
    levels = levels or levels_of(image)
    first = box_cut(image, box, levels=levels)
    mask = PartMask.of(first, box)
    for count in range(1, len(clicks) + 1):
        mask = built_in().segment(image, clicks[:count], mask, levels, box=box)
    return mask.selection(image.shape) if clicks else first


class BuiltInModel:
    """Click segmentation without files of the user; can take the place of a `ClickModel`."""

    def check_files(self) -> None:
        """Do nothing: the files of the program do not change."""

    def terminate(self) -> None:
        """Do nothing: a computation takes less than a second."""

    def encode(self, image: ImageArray, window: Rect, cancelled: Cancelled) -> None:
        """Do nothing: features are computed for the part around the clicks."""

    def segment(
        self, image: ImageArray, window: Rect, prompts: Prompts, prior: object, cancelled: Cancelled
    ) -> ClickMask:
        """Return the mask for the prompts. Arguments: as of `ClickModel.segment`. Raises ClickCancelled."""
        box, clicks = prompts.box, list(prompts.points)
        if box is not None:
            clicks.insert(0, ((box.x + box.width / 2, box.y + box.height / 2), True))
        before = prior if isinstance(prior, PartMask) else None
        longest = max(window.width, window.height)
        mask = built_in().segment(image, clicks, before, levels_of(image), box=box, longest=longest)
        if cancelled():
            raise ClickCancelled
        return ClickMask(mask.selection(image.shape), mask, mask.certainty)
