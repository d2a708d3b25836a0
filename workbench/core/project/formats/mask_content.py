"""Content of mask files, which tells masks from photographs: number of values, flat areas, losses of a compression."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workbench.core.images.image_files import image_size
from workbench.core.problems import Problem
from workbench.core.project.formats.base import FileTree, UnreadableLabel, reason, suffix_of
from workbench.core.project.formats.mask_files import ARRAY_SUFFIXES, RawMask, codes_of, losses_of, read_raw
from workbench.inference.io.opencv import cv2

MANY_COLORS = 64  # a color mask with more colors is an ordinary image
GRAINY = 0.6  # of a photograph, fewer pixels equal their neighbor
MANY_GRAYS = 0.25  # of a photograph, more pixels are between black and white
_FEW_PIXELS = 1024  # too few to tell grain from the edges of regions
_ROWS = 512  # rows of an image that are compared with their neighbors
_BLOCKS = {"jpeg": {"block": 8}, "webp": {"block": 16, "spread": 1}}  # arguments of `is_black_and_white`


@dataclass(frozen=True)
class MaskContent:
    """Content of one file. values, counts: distinct gray values, palette indices or colors 0xRRGGBB, and their pixels.

    Of a file with more than `MANY_COLORS` colors, not all colors are listed. flat: share of the pixels that equal their
    neighbor. lossy: stored with losses, which change values. two_levels: see `is_black_and_white`; of gray values.
    areas: the colors that fill a square of 2 x 2 pixels somewhere; others may be those of edges.
    """

    kind: str
    size: tuple[int, int]
    values: np.ndarray
    counts: np.ndarray
    flat: float
    lossy: bool = False
    two_levels: bool = True
    areas: frozenset[int] = frozenset()

    @cached_property
    def grays(self) -> float:
        """Share of the pixels between black and white, which a mask of one class has few of."""
        white = 65535 if self.values.size and self.values[-1] > 255 else 255
        return float(self.counts[(self.values > white * 0.1) & (self.values < white * 0.9)].sum() / self.counts.sum())

    @property
    def is_photo(self) -> bool:
        """True for a photograph: hardly a pixel equals its neighbor, or most are between black and white."""
        if self.kind == "colour":
            return len(self.values) > MANY_COLORS and self.flat < GRAINY
        if self.kind != "grey" or len(self.values) <= 16:
            return False
        return self.flat < GRAINY or (self.lossy and not self.two_levels and self.grays > MANY_GRAYS)

    @property
    def is_mask(self) -> bool | None:
        """True for few values in large flat areas, False for a photograph, None if it may be either."""
        if self.is_photo:
            return False
        if self.lossy:
            return True if self.kind == "grey" and self.two_levels else None
        if self.counts.sum() <= _FEW_PIXELS and len(self.values) <= 16:
            return True
        if self.flat < 0.8:
            return None
        if self.kind != "grey":
            return True if len(self.values) <= 32 else None
        most = np.sort(self.counts)[::-1][:4].sum()
        few = most >= 0.97 * self.counts.sum() or (self.flat >= 0.95 and len(self.values) <= MANY_COLORS)
        return True if few else None


def content_of(tree: FileTree, file: str, size: tuple[int, int] | None = None) -> MaskContent | None:
    """Return the content of a file of a tree, which is read once; None if it is unreadable or not of `size`."""
    key = f"mask {file}"
    if key not in tree.memo:
        try:
            tree.memo[key] = describe(read_raw(tree.path(file), size), losses_of(tree.path(file)))
        except UnreadableLabel as error:
            if size is not None:
                return None  # it may be read with another size
            tree.memo[key], tree.memo[f"why {file}"] = None, reason(error)
    content = tree.memo[key]
    return None if content is None or (size is not None and content.size != size) else content


def why_unreadable(tree: FileTree, file: str) -> str | None:
    """Return the reason why `content_of` could not read a file; None if it could."""
    return tree.memo.get(f"why {file}")


def size_of(tree: FileTree, file: str) -> tuple[int, int] | None:
    """Return (width, height) of an image file of a tree; None if it is unknown."""
    if suffix_of(file) in ARRAY_SUFFIXES:
        return None
    key = f"size {file}"
    if key not in tree.memo:
        tree.memo[key] = None
        with suppress(Problem):
            tree.memo[key] = image_size(tree.path(file))
    return tree.memo[key]


def describe(raw: RawMask, losses: str) -> MaskContent:
    """Return the content of a mask. losses: see `losses_of`."""
    lossy = bool(losses)
    if raw.kind == "colour":
        codes = codes_of(raw.values)
        values, counts = np.unique(codes[:: max(1, len(codes) // 64)], return_counts=True)
        if len(values) <= MANY_COLORS:
            values, counts = np.unique(codes, return_counts=True)
        filled = codes[:-1, :-1]
        inner = (filled == codes[1:, :-1]) & (filled == codes[:-1, 1:]) & (filled == codes[1:, 1:])
        areas = frozenset(np.unique(filled[inner]).tolist()) if len(values) <= MANY_COLORS else frozenset[int]()
        return MaskContent(raw.kind, raw.size, values, counts, _flat(codes), lossy, areas=areas)
    values, counts = _counts(raw.values)
    content = MaskContent(raw.kind, raw.size, values, counts, _flat(raw.values), lossy)
    if lossy:
        two_levels = is_black_and_white(raw.values, **_BLOCKS.get(losses, _BLOCKS["webp"]))
    else:
        two_levels = content.kind != "grey" or content.grays == 0 or not _has_gray_areas(raw.values)
    return replace(content, two_levels=two_levels)


def _flat(values: np.ndarray) -> float:
    rows = values[:: max(1, len(values) // _ROWS)]
    return float((rows[:, 1:] == rows[:, :-1]).mean()) if values.shape[1] > 1 and values.size else 1.0


def _counts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct values, ascending, and their counts; counted by groups of rows, as they become 64 bits."""
    if values.dtype.itemsize > 2:
        return np.unique(values, return_counts=True)
    counts = np.zeros(1 << 8 * values.dtype.itemsize, np.int64)
    rows = max(1, (1 << 20) // max(1, values.shape[1]))
    for top in range(0, values.shape[0], rows):
        counts += np.bincount(values[top : top + rows].ravel(), minlength=counts.size)
    found = np.flatnonzero(counts)
    return found, counts[found]


def is_black_and_white(values: np.ndarray, *, block: int, spread: int = 0) -> bool:
    """Return True if gray values that losses have changed are clearly those of two levels with blurred edges.

    Areas without an edge are all as dark as the others, or nearly white; black may have become 1. Between the levels
    are edges only. block: pixels, side of the blocks that are compressed as one. spread: blocks beside that of an edge
    that the edge changes a little.
    """
    values = values.astype(np.float32) * (255 / _white(values))
    if not (values >= 192).any():
        rest = values[:, block if spread else 0 :]  # WebP may change the first block of an image without any edge
        return not rest.size or bool(values.max() <= 1 and rest.min() == rest.max())
    if ((values > 40) & (values < 215)).mean() > MANY_GRAYS or _has_gray_areas(values):
        return False
    height, width = (side // block * block for side in values.shape)
    blocks = values[:height, :width].reshape(height // block, block, width // block, block)
    constant = np.where(np.ptp(blocks, axis=(1, 3)) <= 2, np.rint(blocks.mean(axis=(1, 3))), -1).astype(np.float32)
    levels = np.unique(constant).tolist()
    if spread and constant.size:
        inner = cv2.erode(constant, np.ones((2 * spread + 1, 2 * spread + 1), np.uint8))
        levels = [level for level in levels if level > 3 or level in inner]
    bright = [level for level in levels if level >= 192]
    dark = [level for level in levels if 0 <= level < 192]
    return len(dark) <= 1 and (not bright or bright[-1] - bright[0] <= 16)


def _white(values: np.ndarray) -> float:
    return 65535.0 if values.dtype.itemsize > 1 and values.size and values.max() > 255 else 255.0


def _has_gray_areas(values: np.ndarray) -> bool:
    """Return True if there are areas between black and white, not only edges, in a sample of the rows."""
    step, scale = max(1, len(values) // _ROWS), np.float32(255 / _white(values))
    rows, below = (part[::step].astype(np.float32) * scale for part in (values[:-1], values[1:]))
    calm = (np.abs(np.diff(rows, axis=1)) <= 8) & (np.abs(rows - below)[:, :-1] <= 8)
    between = (rows[:, :-1] > 40) & (rows[:, :-1] < 215)
    return int((between & calm).sum()) > max(16, 0.05 * int((rows >= 192).sum()))
