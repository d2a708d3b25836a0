"""Division of an image into equal tiles, and blending of the network's outputs.

Memory is bounded by the image width times the rows not shared by consecutive tile rows: finished rows are yielded as
bands while later tiles are computed.

Conversion of image values to the network's input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .io.opencv import cv2
from .io.tiff_regions import ImageArray
from .model_settings import ModelSettings

# Luma of ITU-R BT.601, the weights that OpenCV and most cameras use.
LUMA = np.array([[0.299, 0.587, 0.114]], np.float32)

# Range beyond 0..1 that is kept: brighter lighting than in training must not give unbounded values.
MIN_VALUE, MAX_VALUE = -0.5, 1.5


class _Scaling(NamedTuple):
    """The part of `ModelSettings` on which the conversion depends; its hash takes no time."""

    channels: int
    full_scale: float
    low: float
    high: float
    mean: tuple[float, ...]
    std: tuple[float, ...]


def resize_for_network(image: ImageArray, settings: ModelSettings) -> ImageArray:
    """Return the image in the size of the network's input, with unchanged dtype.

    Segmentation: resized by settings.scale. Classification: a square of settings.input_size.
    """
    height, width = image.shape[:2]
    if settings.task == "classification":
        target = (settings.input_size, settings.input_size)
    else:
        target = (max(1, round(height * settings.scale)), max(1, round(width * settings.scale)))
    if target == (height, width):
        return image
    shrinks = target[0] * target[1] < height * width
    interpolation = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    # A TIFF that is read by region is loaded as a whole here.
    return cv2.resize(np.asarray(image), target[::-1], interpolation=interpolation)


def blank_outside(image: np.ndarray, inside: np.ndarray, settings: ModelSettings) -> np.ndarray:
    """Return an image (H,W) or (H,W,3) with the mean value of the training images outside of bool (H,W)."""
    mean = settings.mean if image.ndim == 3 and len(settings.mean) == 3 else (sum(settings.mean) / len(settings.mean),)
    full = float(np.iinfo(image.dtype).max) if image.dtype.kind == "u" else 1.0
    values = (np.array(mean) * (settings.high - settings.low) + settings.low) * full / settings.full_scale
    values = np.clip(np.rint(values), 0, full) if image.dtype.kind == "u" else values
    return np.where(inside if image.ndim == 2 else inside[..., None], image, values.astype(image.dtype))


def normalize(image: np.ndarray, settings: ModelSettings) -> np.ndarray:
    """Return the network's input for an image or a part of it, float32 (C,H,W), C-contiguous.

    image: (H,W) or (H,W,3) RGB, uint8, uint16 or float32 (full scale 1). Grayscale is repeated for networks with
        three channels, color is converted to luma for one channel. NaN counts as `low`. Raises ValueError for other
        arrays.
    """
    if image.ndim not in (2, 3) or image.ndim == 3 and image.shape[2] != 3:
        raise ValueError(f"an image is (H,W) or (H,W,3), not {image.shape}")
    scaling = _Scaling(settings.channels, settings.full_scale, settings.low, settings.high, settings.mean, settings.std)
    if image.dtype == np.uint8 and (image.ndim == 2 or settings.channels == 3):
        return _apply_table(image, scaling)
    return _compute(image, scaling)


def _apply_table(image: np.ndarray, scaling: _Scaling) -> np.ndarray:
    """Normalize 8-bit images by a table of 256 values; bit-identical to `_compute`."""
    tables = _byte_tables(scaling)
    result = np.empty((scaling.channels, *image.shape[:2]), np.float32)
    if image.ndim == 2 and (tables == tables[0]).all():
        result[:] = cv2.LUT(image, tables[0])
        return result
    for channel, table in enumerate(tables):
        result[channel] = cv2.LUT(image if image.ndim == 2 else image[:, :, channel], table)
    return result


@lru_cache(maxsize=8)
def _byte_tables(scaling: _Scaling) -> np.ndarray:
    """Return float32 (channels,1,256), read-only: the network's input for each 8-bit value."""
    tables = _compute(np.arange(256, dtype=np.uint8)[None], scaling)
    tables.setflags(write=False)
    return tables


def _compute(image: np.ndarray, scaling: _Scaling) -> np.ndarray:
    values = _to_full_scale(image, scaling)
    if scaling.channels == 1 and values.ndim == 3:
        # In float, not in the image's integer type, so that bit depths agree.
        values = cv2.transform(values, LUMA)
    values = values - np.float32(scaling.low)
    values *= np.float32(1.0 / (scaling.high - scaling.low))
    np.clip(values, MIN_VALUE, MAX_VALUE, out=values)
    result = np.empty((scaling.channels, *image.shape[:2]), np.float32)
    for channel in range(scaling.channels):
        plane = values if values.ndim == 2 else values[:, :, channel]
        np.subtract(plane, np.float32(scaling.mean[channel]), out=result[channel])
        result[channel] *= np.float32(1.0 / scaling.std[channel])
    return result


def _to_full_scale(image: np.ndarray, scaling: _Scaling) -> np.ndarray:
    if image.dtype == np.uint8 or image.dtype == np.uint16:
        return _table(image.dtype.name, float(scaling.full_scale))[image]
    if image.dtype != np.float32:
        raise ValueError(f"an image is uint8, uint16 or float32, not {image.dtype}")
    values = image * np.float32(scaling.full_scale)
    return np.nan_to_num(values, copy=False, nan=scaling.low, posinf=np.inf, neginf=-np.inf)


@lru_cache(maxsize=8)
def _table(dtype: str, full_scale: float) -> np.ndarray:
    # In double precision, so that equal values in 8 and 16 bits agree to the last bit.
    maximum = np.iinfo(dtype).max
    table = (np.arange(maximum + 1, dtype=np.float64) / maximum * full_scale).astype(np.float32)
    table.setflags(write=False)
    return table


_BAND_ROWS = 64
MAX_PENDING_BYTES = 256 << 20  # bytes of network output held until the tiles below are computed
RAMP = 32  # maximum width of the blending ramp between neighboring tiles, in pixels


@dataclass(frozen=True)
class Grid:
    """Positions of the tiles, in pixels.

    height, width: size of the image.
    tile_height, tile_width: size of every tile.
    rows, columns: first row of each tile row and first column of each tile column.
    overlap: minimum overlap of vertical and of horizontal neighbors.
    """

    height: int
    width: int
    tile_height: int
    tile_width: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    overlap: tuple[int, int]

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((y, x) for y in self.rows for x in self.columns)


def plan_grid(height: int, width: int, *, tile: int, overlap: int, multiple: int, tile_rows: int | None = None) -> Grid:
    """Return a grid of equal tiles covering an image; the last tile of a row or column is shifted inwards.

    tile_rows: tile height if less than `tile`; the vertical overlap is then at most a quarter of it.

    All sizes are in pixels; tile must be a multiple of `multiple`, overlap less than tile. All tiles begin at multiples
    of `multiple`, and the last ends at the first multiple beyond the image. A network that repeatedly halves its input
    thus has every pixel at the same place of its grid as in the whole image, and gives the same output. The overlap is
    rounded up to a multiple of `multiple` if the tile is large enough. Along a side shorter than `tile` there is one
    tile, as long as the next multiple of `multiple`.
    """
    rounded = -(-overlap // multiple) * multiple
    overlap = rounded if rounded < tile else overlap
    row_overlap = overlap if tile_rows is None else min(overlap, tile_rows // 4 // multiple * multiple)
    tile_height, rows = _tile_starts(height, tile_rows or tile, row_overlap, multiple)
    tile_width, columns = _tile_starts(width, tile, overlap, multiple)
    return Grid(height, width, tile_height, tile_width, rows, columns, (row_overlap, overlap))


def prediction_grid(height: int, width: int, settings: ModelSettings) -> Grid:
    """Return the tiles in which an image is predicted. height, width: of the resized image, in network pixels."""
    return plan_grid(
        height,
        width,
        tile=settings.tile,
        overlap=settings.overlap,
        multiple=settings.multiple,
        tile_rows=_tile_height(height, width, settings),
    )


def _tile_height(height: int, width: int, settings: ModelSettings) -> int | None:
    """Return a reduced tile height if rows of square tiles would need too much memory for blending, else None."""
    if max(height, width) <= settings.tile:
        return None
    max_height = MAX_PENDING_BYTES // (len(settings.classes) * width * 4) // settings.multiple * settings.multiple
    return None if max_height >= settings.tile else min(settings.tile, max(max_height, 4 * settings.multiple))


def _tile_starts(length: int, tile: int, overlap: int, multiple: int) -> tuple[int, tuple[int, ...]]:
    end = -(-length // multiple) * multiple
    if length <= tile:
        return end, (0,)
    return tile, (*range(0, end - tile, tile - overlap), end - tile)


def cut(image: ImageArray, grid: Grid, y: int, x: int) -> np.ndarray:
    """Return one tile of an image (H,W) or (H,W,3), mirrored beyond the lower and right border."""
    part = image[y : y + grid.tile_height, x : x + grid.tile_width]
    missing_rows, missing_columns = grid.tile_height - part.shape[0], grid.tile_width - part.shape[1]
    for axis, missing in ((0, missing_rows), (1, missing_columns)):
        if missing:
            # Reflection without repeating the border pixel requires padding shorter than the image.
            mode = cv2.BORDER_REFLECT_101 if missing < part.shape[axis] else cv2.BORDER_REFLECT
            below, beside = (missing, 0) if axis == 0 else (0, missing)
            part = cv2.copyMakeBorder(part, 0, below, 0, beside, mode)
    return part


def blend_window(length: int, overlap: int, *, first: bool = False, last: bool = False) -> np.ndarray:
    """Return float64 (length,), the weight of each pixel along one side of a tile.

    The weight is 1 inside, a raised-cosine ramp in the overlap, 0 beyond. Pixels at the rim of a tile lack context, so
    only the 32 pixels in the middle of the overlap combine both neighbors.

    first, last: the tile lies at the beginning or end of the image, without a neighbor there.
    """
    window = np.ones(length)
    overlapping = min(overlap, length // 2)
    if overlapping:
        ramp = min(overlapping, RAMP)
        border = (overlapping - ramp) // 2
        rise = np.ones(overlapping)
        rise[:border] = 0
        rise[border : border + ramp] = np.sin(np.pi / 2 * (np.arange(ramp) + 0.5) / ramp) ** 2
        if not first:
            window[:overlapping] = rise
        if not last:
            window[-overlapping:] = rise[::-1]
    return window


@dataclass(frozen=True)
class BlendWeights:
    """Blending weights of a tile along one side, for the pixels from `first` on, in image coordinates."""

    first: int
    weights: np.ndarray

    @property
    def end(self) -> int:
        return self.first + len(self.weights)


def blend_weights(starts: tuple[int, ...], tile: int, overlap: int, length: int) -> list[BlendWeights]:
    """Return the normalized blending weights of each tile along one side; the weights of a pixel sum to 1."""
    windows = [blend_window(tile, overlap, first=start == 0, last=start == starts[-1]) for start in starts]
    total = np.zeros(max(length, starts[-1] + tile))
    for start, window in zip(starts, windows):
        total[start : start + tile] += window
    result = []
    for start, window in zip(starts, windows):
        nonzero = np.flatnonzero(window[: length - start])
        first, end = int(nonzero[0]), int(nonzero[-1]) + 1
        weights = window[first:end] / total[start + first : start + end]
        result.append(BlendWeights(start + first, weights.astype(np.float32)))
    return result


def stitch(grid: Grid, outputs: Iterable[np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """Blend the outputs of all tiles into bands of whole image rows, top to bottom.

    outputs: float32 (K, tile_height, tile_width) each, in grid order.

    Yields (first row, float32 (K, rows, width)), to be treated as read-only; the bands are contiguous and cover the
    image exactly.
    """
    if len(grid) == 1:  # nothing to blend; the summation costs as much as a small network
        yield 0, next(iter(outputs))[:, : grid.height, : grid.width]
        return
    row_weights = blend_weights(grid.rows, grid.tile_height, grid.overlap[0], grid.height)
    column_weights = blend_weights(grid.columns, grid.tile_width, grid.overlap[1], grid.width)
    outputs = iter(outputs)
    pending: np.ndarray | None = None  # image rows from the first unfinished one on
    for row, (y, row_weight) in enumerate(zip(grid.rows, row_weights)):
        for x, column_weight in zip(grid.columns, column_weights):
            output = next(outputs)
            if pending is None:
                max_rows = max(len(share.weights) for share in row_weights)
                pending = np.zeros((len(output), max_rows, grid.width), np.float32)
            part = output[:, row_weight.first - y : row_weight.end - y, column_weight.first - x : column_weight.end - x]
            pending[:, : len(row_weight.weights), column_weight.first : column_weight.end] += part * (
                row_weight.weights[:, None] * column_weight.weights
            )
        next_first = row_weights[row + 1].first if row + 1 < len(row_weights) else grid.height
        finished = next_first - row_weight.first
        assert pending is not None
        # Thin bands, because callers copy them, which is large for a wide image with many classes.
        for top in range(0, finished, _BAND_ROWS):
            yield row_weight.first + top, pending[:, top : min(top + _BAND_ROWS, finished)].copy()
        carried = row_weight.end - next_first
        pending[:, :carried] = pending[:, finished : finished + carried]
        pending[:, carried:] = 0


def resize_bands(
    bands: Iterable[tuple[int, np.ndarray]], source: tuple[int, int], target: tuple[int, int]
) -> Iterator[tuple[int, np.ndarray]]:
    """Resize an image given as bands linearly, yielding bands of the result.

    source, target: (height, width) of the whole image. The result equals that of resizing the whole image at once.
    """
    if source == target:
        yield from bands
        return
    height, width = target
    # Pixel centers are mapped to pixel centers, as in OpenCV.
    positions = np.clip((np.arange(height) + 0.5) * source[0] / height - 0.5, 0, source[0] - 1)
    upper = np.floor(positions).astype(np.int64)
    lower = np.minimum(upper + 1, source[0] - 1)
    fraction = (positions - upper).astype(np.float32)
    buffered: np.ndarray | None = None
    buffer_start = done = 0
    for y, band in bands:
        widened = np.stack([_resize_rows(plane, width) for plane in band])
        buffered = widened if buffered is None else np.concatenate([buffered, widened], axis=1)
        end = int(np.searchsorted(lower, y + band.shape[1]))  # rows whose lower neighbor is available
        if end > done:
            above = buffered[:, upper[done:end] - buffer_start]
            below = buffered[:, lower[done:end] - buffer_start]
            above += (below - above) * fraction[None, done:end, None]
            yield done, above
            done = end
        keep_from = int(upper[done]) if done < height else buffer_start + buffered.shape[1]
        first = max(buffer_start, min(keep_from, buffer_start + buffered.shape[1]))
        buffered = buffered[:, first - buffer_start :].copy()
        buffer_start = first


def _resize_rows(plane: np.ndarray, width: int) -> np.ndarray:
    return cv2.resize(plane, (width, plane.shape[0]), interpolation=cv2.INTER_LINEAR)
