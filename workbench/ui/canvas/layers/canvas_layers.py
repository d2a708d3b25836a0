"""Layers of the canvas: the windowed image, and masks in the colors of their classes.

Each layer draws a device rectangle of the screen by a lookup of the source pixel of every device pixel. The results
are copied to the screen one to one.

Prediction layer: predicted mask as outlines or filled areas, or a map of the probability of every pixel. Outlines are
smoothed on the screen, at small scales by drawing them finer than its pixels; the mask itself is not changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from PySide6.QtGui import QImage

from workbench.core.geometry.drawing import Rect
from workbench.core.images.display import Display, Palette, ToneMapper
from workbench.core.project.project import DONT_CARE, NOT_LABELED
from workbench.inference.io.opencv import cv2
from workbench.ui.canvas.layers.image_pyramid import IDS, MaskPyramid, max_halvings
from workbench.ui.canvas.layers.outline_smoothing import NO_SMOOTHING, Smoothing, mean_colors, smooth_ids, smoothing
from workbench.ui.canvas.layers.view_state import Viewport

Request = tuple[int, Rect]  # level number, and the part of the level to be read


@dataclass(frozen=True)
class _CachedPart:
    """Cached device rectangle of the drawn image."""

    view: Viewport
    display: Display
    levels: list
    rect: Rect
    pixels: np.ndarray

    def contains(self, view: Viewport, display: Display, levels: list, rect: Rect) -> bool:
        same = self.levels is levels and self.view == view and self.display == display
        return same and self.rect.united(rect) == self.rect

    def part(self, rect: Rect) -> np.ndarray:
        y, x = rect.y - self.rect.y, rect.x - self.rect.x
        return self.pixels[y : y + rect.height, x : x + rect.width]


class ImageLayer:
    """Image layer: nearest neighbor above 100 %, linear between the cells of an averaged level below."""

    def __init__(self, levels: list[np.ndarray | None], shape: tuple[int, ...] | None = None) -> None:
        """levels: the image and its halvings, None for a missing one. shape: shape of level 0 if level 0 is missing."""
        self.levels = levels
        self.shape = shape or self.pixels.shape
        self.missing: set[Request] = set()  # parts shown coarsely until they are read
        self._read: set[Request] = set()
        self._tone_mapper: ToneMapper | None = None
        self._last: _CachedPart | None = None

    @property
    def pixels(self) -> np.ndarray:
        """Finest available level."""
        return next(level for level in self.levels if level is not None)

    def nearest_level(self, number: int) -> int:
        """Return the finest available level from `number` on, or else the coarsest."""
        number = min(max(0, number), len(self.levels) - 1)
        return next(i for i in range(number, len(self.levels)) if self.levels[i] is not None)

    def tone_mapper(self, display: Display) -> ToneMapper:
        """Return the converter of values to screen values under `display`; cached until the display changes."""
        if self._tone_mapper is None or self._tone_mapper.display != display:
            self._tone_mapper = ToneMapper(self.pixels, display, self.shape)
        return self._tone_mapper

    def image(self, view: Viewport, rect: Rect, display: Display) -> QImage:
        """Draw `rect`, which lies inside `view.shown`. The last result is cached, since strokes change masks only."""
        last = self._last
        if last is None or not last.contains(view, display, self.levels, rect):
            number = self.nearest_level(view.level - 1)
            available = self._decoded_level(number, view, rect)
            last = _CachedPart(view, display, self.levels, rect, self._render(view, rect, display, available))
            self._last = last if available == number else None
        return as_image(last.part(rect), display)

    def read(self, request: Request) -> None:
        """Decode a missing part; called in a thread."""
        number, box = request
        self.levels[number][box.slices]

    def mark_read(self, requests: Iterable[Request]) -> None:
        """Remove parts from `missing` after reading, even if the cache was too small to keep them."""
        self._read = set(requests)
        self.missing -= self._read

    def _decoded_level(self, number: int, view: Viewport, rect: Rect) -> int:
        """Return `number`, or a coarser level if `rect` is not decoded there; that part is then added to `missing`."""
        is_cached = getattr(self.levels[number], "is_cached", None)
        if is_cached is None:
            return number
        x0, y0 = view.to_image(rect.x, rect.y)
        x1, y1 = view.to_image(rect.x + rect.width, rect.y + rect.height)
        cell = 2**number
        left, top = math.floor(x0 / cell) - 1, math.floor(y0 / cell) - 1
        box = Rect(left, top, math.ceil(x1 / cell) + 1 - left, math.ceil(y1 / cell) + 1 - top)
        height, width = self.levels[number].shape[:2]
        request = number, box.clipped(width, height)
        if request in self._read or is_cached(top, left, top + box.height, left + box.width):
            return number
        self.missing.add(request)
        coarse = range(number + 1, len(self.levels))
        return next((n for n in coarse if isinstance(self.levels[n], np.ndarray)), number)

    def _render(self, view: Viewport, rect: Rect, display: Display, number: int) -> np.ndarray:
        """Return the screen values, uint8 (h, w) or (h, w, 3)."""
        # The halvings of a large image may not be computed yet.
        pending = number < view.level - 1 and self.levels[number].size > 1 << 20
        exact = number == 0 and (view.scale >= 1 or pending)
        values = self._nearest(view, rect) if exact else self._linear(view, rect, number)
        rows = columns = np.zeros(0)
        if display.needs_surroundings:
            rows = (np.arange(rect.y, rect.y + rect.height) + (0.5 - view.y)) / view.scale - 0.5
            columns = (np.arange(rect.x, rect.x + rect.width) + (0.5 - view.x)) / view.scale - 0.5
        return self.tone_mapper(display).map_region(values, rows, columns)

    def _nearest(self, view: Viewport, rect: Rect) -> np.ndarray:
        rows, columns = _sources(view, rect, view.scale, self.pixels.shape)
        return _sample(self.pixels, rows, columns)

    def _linear(self, view: Viewport, rect: Rect, number: int) -> np.ndarray:
        level = self.levels[number]
        cell = view.scale * 2**number
        # OpenCV weights in steps of 1/32. Rounding to these first makes the result independent of the drawn part.
        rows = _positions(rect.y, rect.height, view.y, cell, level.shape[0])
        columns = _positions(rect.x, rect.width, view.x, cell, level.shape[1])
        top, left = int(rows[0]), int(columns[0])
        part = level[top : int(rows[-1]) + 2, left : int(columns[-1]) + 2]
        map_x = np.broadcast_to((columns - left).astype(np.float32), (rect.height, rect.width))
        map_y = np.broadcast_to((rows - top).astype(np.float32)[:, None], (rect.height, rect.width))
        x, y = np.ascontiguousarray(map_x), np.ascontiguousarray(map_y)
        return cv2.remap(part, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def as_image(shown: np.ndarray, display: Display) -> QImage:
    """Convert uint8 (H, W) or (H, W, 3) to an image; gray values take the colors of the display's palette.

    The screen's format is used: Qt copies it row by row, but converts other formats in threads and blocks meanwhile.
    """
    height, width = shown.shape[:2]
    if shown.ndim == 3:
        pixels = cv2.cvtColor(shown, cv2.COLOR_RGB2BGRA)
    elif display.palette == "none":
        pixels = cv2.cvtColor(shown, cv2.COLOR_GRAY2BGRA)
    else:
        pixels = cv2.LUT(shown, palette_colors(display.palette))
    return QImage(pixels.data, width, height, pixels.strides[0], QImage.Format.Format_RGB32)


@lru_cache(8)
def palette_colors(palette: Palette) -> np.ndarray:
    """Return the color 0xAARRGGBB of each gray value, int32 (256,)."""
    kind = getattr(cv2, f"COLORMAP_{palette.upper()}")
    blue, green, red = cv2.applyColorMap(np.arange(256, dtype=np.uint8), kind).reshape(256, 3).astype(np.int32).T
    return red << 16 | green << 8 | blue


_TILE = 128  # device pixels: side of the tiles that are colored together


@dataclass
class MaskStyle:
    """Style of a mask. `thickness`: outline width in device pixels."""

    visible: bool = True
    opacity: float = 0.45
    filled: bool = True
    thickness: int = 1


class MaskLayer:
    """Mask in the colors of its classes: tinted, outlined, or both."""

    def __init__(self, pyramid: MaskPyramid) -> None:
        self.pyramid = pyramid
        self.style = MaskStyle()
        self._fill = self._line = np.zeros(256, np.int32)

    def color(self, colors: dict[int, str], hidden: frozenset[int] = frozenset()) -> None:
        """Set the colors, "#rrggbb" by class id; hidden classes are not drawn."""
        fill, line = np.zeros(256, np.int32), np.zeros(256, np.int32)
        opacity = self.style.opacity
        for id, color in colors.items():
            if id not in hidden:
                fill[id] = premultiplied(color, opacity if self.style.filled else 0.0)
                line[id] = premultiplied(color, 0.5 + 0.5 * opacity)
        if self.style.filled:
            fill[NOT_LABELED] = premultiplied("#000000", 0.35 * opacity)
            fill[DONT_CARE] = premultiplied("#c8c8c8", 0.6 * opacity)
        line[DONT_CARE] = premultiplied("#c8c8c8", 0.5 + 0.5 * opacity)
        line[NOT_LABELED] = premultiplied("#000000", 0.6 * opacity)
        self._fill, self._line = fill, line

    def image(self, view: Viewport, rect: Rect) -> QImage | None:
        """Draw `rect` in colors with transparency. Return None if it is empty."""
        how = self._smoothing(view)
        fineness, thickness = how.fineness, how.fineness * self.style.thickness
        values = self._ids(view, rect, how.reach + self.style.thickness, fineness)
        if not cv2.countNonZero(values):
            return None
        reach = fineness * how.reach
        side = fineness * _TILE + 2 * (reach + thickness)
        pixels = np.empty((rect.height, rect.width), np.int32)
        # Most tiles hold one id only and need no lookup per pixel.
        for top in range(0, rect.height, _TILE):
            for left in range(0, rect.width, _TILE):
                y, x = fineness * top, fineness * left
                tile = values[y : y + side, x : x + side]
                low, high, _, _ = cv2.minMaxLoc(tile)
                part = pixels[top : top + _TILE, left : left + _TILE]
                if low == high:
                    part[:] = self._fill[int(high)]
                    continue
                if reach:
                    tile = smooth_ids(tile, how)[reach:-reach, reach:-reach]
                part[:] = mean_colors(self._colored(tile, thickness), fineness)
        kind = QImage.Format.Format_ARGB32_Premultiplied
        return QImage(pixels.data, rect.width, rect.height, pixels.strides[0], kind)

    def _smoothing(self, view: Viewport) -> Smoothing:
        return NO_SMOOTHING

    def _level(self, view: Viewport) -> int:
        """Return the number of the drawn level."""
        return min(view.level, self.pyramid.depth) if self.pyramid.ready else 0

    def _ids(self, view: Viewport, rect: Rect, margin: int, fineness: int) -> np.ndarray:
        """Return the ids at `rect` plus `margin` device pixels on all sides, uint8; 0 outside the image."""
        number = self._level(view)
        cell = view.scale * 2**number
        values = _sample_with_margin(self.pyramid.level(number), view, rect, cell, margin, fineness)
        return cv2.LUT(values, IDS) if number > 0 else values

    def _colored(self, values: np.ndarray, margin: int) -> np.ndarray:
        """Return colors, int32, of ids, uint8. `margin`: cells on each side, used to find neighbors and cut off."""
        core = np.ascontiguousarray(values[margin:-margin, margin:-margin])
        pixels = cv2.LUT(core, self._fill)
        edge = core ^ values[: -2 * margin, margin:-margin]
        edge |= core ^ values[2 * margin :, margin:-margin]
        edge |= core ^ values[margin:-margin, : -2 * margin]
        edge |= core ^ values[margin:-margin, 2 * margin :]
        cv2.copyTo(cv2.LUT(core, self._line), edge, pixels)
        return pixels


class HeatLayer:
    """Difference of each pixel from the reference image: the larger, the more opaque the color."""

    color = "#ff3dd8"  # a color of no surface and no palette class

    def __init__(self, heat: np.ndarray) -> None:
        self.levels = max_halvings(heat)

    def image(self, view: Viewport, rect: Rect, opacity: float) -> QImage | None:
        """Draw `rect` in colors with transparency. Return None if nothing differs."""
        number = min(view.level, len(self.levels) - 1)
        rows, columns = _sources(view, rect, view.scale * 2**number, self.levels[number].shape)
        values = _sample(self.levels[number], rows, columns)
        if not cv2.countNonZero(np.ascontiguousarray(values)):
            return None
        pixels = cv2.LUT(np.ascontiguousarray(values), self.table(opacity))
        kind = QImage.Format.Format_ARGB32_Premultiplied
        return QImage(pixels.data, rect.width, rect.height, pixels.strides[0], kind)

    def table(self, opacity: float) -> np.ndarray:
        """Return the color of each value, int32 (256,)."""
        return np.array([premultiplied(self.color, opacity * i / 255) for i in range(256)], np.int32)


def premultiplied(color: str, opacity: float) -> int:
    """Convert "#rrggbb" to 0xAARRGGBB with premultiplied opacity, as a signed 32-bit number."""
    alpha = round(255 * min(max(opacity, 0.0), 1.0))
    red, green, blue = (int(color[i : i + 2], 16) * alpha // 255 for i in (1, 3, 5))
    return (alpha << 24 | red << 16 | green << 8 | blue) - (alpha >> 7 << 32)


def _sample_with_margin(
    level: np.ndarray, view: Viewport, rect: Rect, cell: float, margin: int, fineness: int
) -> np.ndarray:
    """Return the level's values at `rect` plus `margin` device pixels on all sides; 0 outside the image.

    fineness: values side by side in a device pixel.
    """
    padded = Rect(rect.x - margin, rect.y - margin, rect.width + 2 * margin, rect.height + 2 * margin)
    shown = view.shown
    inner = Rect(padded.x - shown.x, padded.y - shown.y, padded.width, padded.height).clipped(shown.width, shown.height)
    values = np.zeros((fineness * padded.height, fineness * padded.width), np.uint8)
    if not inner.empty:
        inner = Rect(inner.x + shown.x, inner.y + shown.y, inner.width, inner.height)
        rows, columns = _sources(view, inner, cell, level.shape, fineness)
        y, x = fineness * (inner.y - padded.y), fineness * (inner.x - padded.x)
        values[y : y + len(rows), x : x + len(columns)] = _sample(level, rows, columns)
    return values


def _sources(
    view: Viewport, rect: Rect, cell: float, shape: tuple[int, ...], fineness: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return source rows and columns of the rows and columns of `rect`. cell: device pixels per source pixel.

    fineness: positions side by side in a device pixel.
    """
    rows = _positions_in_cells(rect.y, rect.height, view.y, cell, fineness)
    columns = _positions_in_cells(rect.x, rect.width, view.x, cell, fineness)
    return _clip(rows, shape[0] - 1), _clip(columns, shape[1] - 1)


def _positions_in_cells(start: int, count: int, origin: int, cell: float, fineness: int) -> np.ndarray:
    positions = np.arange(fineness * start, fineness * (start + count)) + (0.5 - fineness * origin)
    return np.floor(positions / (fineness * cell)).astype(np.intp)


def _clip(indices: np.ndarray, last: int) -> np.ndarray:
    return indices if indices[0] >= 0 and indices[-1] <= last else np.clip(indices, 0, last)


def _positions(start: int, count: int, origin: int, cell: float, size: int) -> np.ndarray:
    """Return sampling positions of device pixels between cell centers, in whole 1/32 of a cell."""
    positions = (np.arange(start, start + count) + (0.5 - origin)) / cell - 0.5
    return np.clip(np.round(positions * 32) / 32, 0, size - 1)


def _sample(level: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    part = level[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if part.shape[:2] == (len(rows), len(columns)):
        return part  # scale one to one
    # `take` is avoided for the rows: of a view into another array it first copies the whole view.
    return part[rows - rows[0]].take(columns - columns[0], axis=1)


Mode = Literal["outline", "filled", "heat", "uncertainty"]
MODES: tuple[Mode, ...] = ("outline", "filled", "heat", "uncertainty")
Maps = Callable[[str], "np.ndarray | None"]  # "heat" or "uncertainty" to uint8 (H, W)

_UNCERTAINTY = "#38d6ff"
SOFT = 0.45  # opacity of the probabilities of an immature model, relative to that of a mature one
# Pixels: a smaller mask is prepared synchronously; a run in progress sends a mask every few seconds.
_SYNCHRONOUS = 1 << 19


class PredictionStyle:
    """Style of predictions; every mode has its own opacity.

    thickness: of outlines, device pixels. exact: outlines follow the pixels of the mask.
    """

    def __init__(self) -> None:
        self.visible, self.thickness, self.exact = True, 2, False
        self.mode: Mode = "outline"
        self._opacities: dict[str, float] = {"outline": 0.9, "filled": 0.45, "heat": 0.8, "uncertainty": 0.8}

    @property
    def opacity(self) -> float:
        return self._opacities[self.mode]

    @opacity.setter
    def opacity(self, value: float) -> None:
        self._opacities[self.mode] = value

    @property
    def soft_opacity(self) -> float:
        """Opacity of the probabilities of an immature model."""
        return SOFT * self._opacities["heat"]

    @property
    def filled(self) -> bool:
        return self.mode == "filled"


class PredictionLayer(MaskLayer):
    """Predicted mask. maps: called for probabilities or uncertainties only when they are to be shown.

    soft: the model is immature, so only its probabilities are drawn in every mode, smoothed and with reduced opacity.
    """

    def __init__(
        self, mask: np.ndarray, style: PredictionStyle, maps: Maps | None = None, *, soft: bool = False
    ) -> None:
        super().__init__(MaskPyramid(mask, synchronous=_SYNCHRONOUS))
        self.style: PredictionStyle = style  # type: ignore[assignment]
        self._maps = maps
        self.soft = soft and maps is not None
        self._map_layers: dict[str, _MapLayer | None] = {}

    @property
    def ready(self) -> bool:
        """True if the layer can be drawn in its style without delay."""
        prepared = self.pyramid.ready and (not self._shows_map or self.mode in self._map_layers)
        return prepared or self.pyramid.mask.size <= _SYNCHRONOUS

    def prepare(self) -> None:
        """Do the slow preparation of drawing; called in a worker thread."""
        if not self.pyramid.ready:
            self.pyramid.build()
            self.pyramid.ready = True
        if self._shows_map:
            self._compute_map(self.mode)

    @property
    def mode(self) -> Mode:
        """Mode in which the layer is drawn."""
        return "heat" if self.soft else self.style.mode

    @property
    def _shows_map(self) -> bool:
        return self.mode not in ("outline", "filled") and self._maps is not None

    def _compute_map(self, mode: Mode) -> None:
        values = None if mode in self._map_layers or self._maps is None else self._maps(mode)
        if values is not None and self.soft:
            values = _smoothed(values)
        self._map_layers.setdefault(mode, None if values is None else _MapLayer(values, mode))

    def _smoothing(self, view: Viewport) -> Smoothing:
        return NO_SMOOTHING if self.style.exact else smoothing(view.scale * 2 ** self._level(view))

    def image(self, view: Viewport, rect: Rect) -> QImage | None:
        if not self._shows_map:
            return super().image(view, rect)
        if self.ready:
            self._compute_map(self.mode)
        layer = self._map_layers.get(self.mode)
        opacity = self.style.soft_opacity if self.soft else self.style.opacity
        return None if layer is None else layer.image(view, rect, opacity)


class _MapLayer(HeatLayer):
    """Probabilities from dark red over orange to pale yellow; uncertainties in one bright color outside this ramp."""

    def __init__(self, values: np.ndarray, mode: str) -> None:
        super().__init__(values)
        self._mode = mode

    def table(self, opacity: float) -> np.ndarray:
        if self._mode == "uncertainty":
            return np.array([premultiplied(_UNCERTAINTY, opacity * i / 255) for i in range(256)], np.int32)
        return np.array([premultiplied(c, opacity * (i / 255) ** 0.6) for i, c in enumerate(_ramp())], np.int32)


def _smoothed(values: np.ndarray) -> np.ndarray:
    """Return a map without its finest details, which an immature model marks at random."""
    sigma = min(max(min(values.shape) / 120, 1.5), 8.0)
    return cv2.GaussianBlur(np.ascontiguousarray(values), (0, 0), sigma)


@lru_cache(1)
def _ramp() -> list[str]:
    """Return "#rrggbb" of each value: the upper part of Inferno, since its dark end resembles shadow."""
    steps = np.linspace(90, 250, 256).round().astype(np.uint8).reshape(1, -1)
    colors = cv2.applyColorMap(steps, cv2.COLORMAP_INFERNO).reshape(-1, 3)
    return [f"#{red:02x}{green:02x}{blue:02x}" for blue, green, red in colors.tolist()]
