"""A picture cut into equal tiles, and the network's answers blended together again.

Memory is bounded by picture width times what the rows of tiles do not share: finished rows leave as bands while
later tiles are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .cv import cv2

_BAND_ROWS = 64
RAMP = 32  # pixels in which neighbours pass over to one another


@dataclass(frozen=True)
class Grid:
    """Where the tiles lie.

    height, width: of the picture. tile_height, tile_width: of every tile. rows, columns: where each row of
    tiles begins, and each column of tiles. overlap: what neighbours share at least, those above one another and those
    side by side. All in pixels.
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


def plan_grid(height: int, width: int, *, tile: int, overlap: int, multiple: int, high: int | None = None) -> Grid:
    """Equal tiles that cover a picture; the last of a row or column is shifted inwards. high: where they are lower
    than `tile`; those above one another then share no more than a quarter of that.

    All begin at multiples of `multiple`, the last one so that it ends at the first multiple beyond the picture: a
    network that halves its picture again and again sees every pixel at the same place of its grid as it would in the
    whole picture, and so gives it the same. Neighbours share `overlap` rounded up to that, where a tile has room.
    Along a side shorter than `tile` there is one tile, as long as the next multiple of `multiple`. All in
    pixels; tile must be a multiple of `multiple`, and overlap less than tile.
    """
    rounded = -(-overlap // multiple) * multiple
    overlap = rounded if rounded < tile else overlap
    below = overlap if high is None else min(overlap, high // 4 // multiple * multiple)
    tile_height, rows = _along(height, high or tile, below, multiple)
    tile_width, columns = _along(width, tile, overlap, multiple)
    return Grid(height, width, tile_height, tile_width, rows, columns, (below, overlap))


def _along(length: int, tile: int, overlap: int, multiple: int) -> tuple[int, tuple[int, ...]]:
    end = -(-length // multiple) * multiple
    if length <= tile:
        return end, (0,)
    return tile, (*range(0, end - tile, tile - overlap), end - tile)


def cut(picture: np.ndarray, grid: Grid, y: int, x: int) -> np.ndarray:
    """One tile of a picture (H,W) or (H,W,C); beyond the lower and right border the picture is mirrored."""
    part = picture[y : y + grid.tile_height, x : x + grid.tile_width]
    below, beside = grid.tile_height - part.shape[0], grid.tile_width - part.shape[1]
    for axis, missing in ((0, below), (1, beside)):
        if missing:
            widths = [(0, missing if index == axis else 0) for index in range(part.ndim)]
            # Mirroring without repeating the border pixel reaches only as far as the picture is long.
            part = np.pad(part, widths, "reflect" if missing < part.shape[axis] else "symmetric")
    return part


def blend_window(length: int, overlap: int, *, first: bool = False, last: bool = False) -> np.ndarray:
    """Weight of each pixel along one side of a tile: 1 inside, a raised-cosine ramp in the overlap, 0 beyond it.

    Returns float64 (length,). At a tile's rim the network has not seen the surroundings, so it does not count there:
    only in the 32 pixels in the middle of the overlap both neighbours are heard. first, last: the tile lies at the
    beginning or the end of the picture, where there is no neighbour.
    """
    window = np.ones(length)
    shared = min(overlap, length // 2)
    if shared:
        ramp = min(shared, RAMP)
        rim = (shared - ramp) // 2
        rise = np.ones(shared)
        rise[:rim] = 0
        rise[rim : rim + ramp] = np.sin(np.pi / 2 * (np.arange(ramp) + 0.5) / ramp) ** 2
        if not first:
            window[:shared] = rise
        if not last:
            window[-shared:] = rise[::-1]
    return window


@dataclass(frozen=True)
class _Share:
    """What of a tile counts along one side: its pixels from `first`, in pixels of the picture, by these weights."""

    first: int
    weights: np.ndarray

    @property
    def end(self) -> int:
        return self.first + len(self.weights)


def _shares(starts: tuple[int, ...], tile: int, overlap: int, length: int) -> list[_Share]:
    """Per tile along one side, each pixel's share of the blend. The shares of a pixel sum to 1."""
    windows = [blend_window(tile, overlap, first=start == 0, last=start == starts[-1]) for start in starts]
    total = np.zeros(max(length, starts[-1] + tile))
    for start, window in zip(starts, windows):
        total[start : start + tile] += window
    shares = []
    for start, window in zip(starts, windows):
        counts = np.flatnonzero(window[: length - start])
        first, end = int(counts[0]), int(counts[-1]) + 1
        weights = window[first:end] / total[start + first : start + end]
        shares.append(_Share(start + first, weights.astype(np.float32)))
    return shares


def stitch(grid: Grid, answers: Iterable[np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """Blend the answers of all tiles into bands of whole picture rows, top to bottom.

    answers: float32 (K, tile_height, tile_width) each, in the grid's order. Yields (first row, float32 (K,
    rows, width)), to be read only; the bands follow on one another and cover the picture exactly.
    """
    if len(grid) == 1:  # nothing to blend; adding up costs as much as a small network
        yield 0, next(iter(answers))[:, : grid.height, : grid.width]
        return
    down = _shares(grid.rows, grid.tile_height, grid.overlap[0], grid.height)
    across = _shares(grid.columns, grid.tile_width, grid.overlap[1], grid.width)
    answers = iter(answers)
    pending: np.ndarray | None = None  # of the picture's rows from the first one on that is not finished
    for row, (y, high) in enumerate(zip(grid.rows, down)):
        for x, wide in zip(grid.columns, across):
            answer = next(answers)
            if pending is None:
                most = max(len(share.weights) for share in down)
                pending = np.zeros((len(answer), most, grid.width), np.float32)
            counts = answer[:, high.first - y : high.end - y, wide.first - x : wide.end - x]
            pending[:, : len(high.weights), wide.first : wide.end] += counts * (high.weights[:, None] * wide.weights)
        following = down[row + 1].first if row + 1 < len(down) else grid.height
        finished = following - high.first
        assert pending is not None
        # In thin bands: who takes them works on a copy, and of a wide picture with many classes that is much.
        for top in range(0, finished, _BAND_ROWS):
            yield high.first + top, pending[:, top : min(top + _BAND_ROWS, finished)].copy()
        kept = high.end - following
        pending[:, :kept] = pending[:, finished : finished + kept]
        pending[:, kept:] = 0


def resize_bands(
    bands: Iterable[tuple[int, np.ndarray]], source: tuple[int, int], target: tuple[int, int]
) -> Iterator[tuple[int, np.ndarray]]:
    """Resize a picture that comes as bands, linearly, to a picture that leaves as bands.

    source, target: (height, width) of the whole. The result is what resizing the whole at once would give.
    """
    if source == target:
        yield from bands
        return
    height, width = target
    # Pixel centres are mapped onto pixel centres, as OpenCV does.
    at = np.clip((np.arange(height) + 0.5) * source[0] / height - 0.5, 0, source[0] - 1)
    upper = np.floor(at).astype(np.int64)
    lower = np.minimum(upper + 1, source[0] - 1)
    share = (at - upper).astype(np.float32)
    held: np.ndarray | None = None
    held_from = done = 0
    for y, band in bands:
        wide = np.stack([_resize_rows(plane, width) for plane in band])
        held = wide if held is None else np.concatenate([held, wide], axis=1)
        ready = int(np.searchsorted(lower, y + band.shape[1]))  # rows whose lower neighbour has come
        if ready > done:
            above = held[:, upper[done:ready] - held_from]
            below = held[:, lower[done:ready] - held_from]
            above += (below - above) * share[None, done:ready, None]
            yield done, above
            done = ready
        keep_from = int(upper[done]) if done < height else held_from + held.shape[1]
        first = max(held_from, min(keep_from, held_from + held.shape[1]))
        held = held[:, first - held_from :].copy()
        held_from = first


def _resize_rows(plane: np.ndarray, width: int) -> np.ndarray:
    return cv2.resize(plane, (width, plane.shape[0]), interpolation=cv2.INTER_LINEAR)
