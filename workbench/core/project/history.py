"""Patches for undo and redo: the changed tiles of one edit of a mask before and after, compressed."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.inference.io.opencv import cv2

TILE = 64
_MIXED = -1  # in place of an area's id: its pixels are in the packed data

Content = int | np.ndarray  # of an area: its single id, or its pixels, uint8 (h, w)


@dataclass(frozen=True)
class Patch:
    """Changes of one operation in the mask of one image.

    areas: int32 rows (x, y, width, height, before, after), each a tile, or a row of tiles with a single id, which then
    replaces the pixels. The pixels of other areas are concatenated in `before` and `after`, packed. explicit: the
    note's `explicit_background` after a step that changed it; None if it did not.
    """

    key: str
    what: str
    areas: bytes
    before: bytes
    after: bytes
    explicit: bool | None = None
    when: float = field(default_factory=time.time)  # seconds since 1970

    @property
    def nbytes(self) -> int:
        return len(self.areas) + len(self.before) + len(self.after) + 400  # approximate overhead of the Python objects

    @property
    def empty(self) -> bool:
        """True for a step without pixels."""
        return not self.areas

    @property
    def rows(self) -> np.ndarray:
        return np.frombuffer(self.areas, np.int32).reshape(-1, 6)

    @property
    def rects(self) -> list[Rect]:
        return [Rect(*row) for row in self.rows[:, :4].tolist()]

    @property
    def bands(self) -> list[Rect]:
        """Bounding rectangle of the areas in each row of tiles: few, even for thousands of areas."""
        rows = self.rows
        tops, band_of_row = np.unique(rows[:, 1], return_inverse=True)
        left, right, height = np.full(tops.size, 2**31 - 1, np.int32), np.zeros_like(tops), np.zeros_like(tops)
        np.minimum.at(left, band_of_row, rows[:, 0])
        np.maximum.at(right, band_of_row, rows[:, 0] + rows[:, 2])
        np.maximum.at(height, band_of_row, rows[:, 3])
        return [Rect(*band) for band in np.stack([left, tops, right - left, height], axis=1).tolist()]

    @property
    def rect(self) -> Rect:
        if not self.areas:
            return NOTHING
        x, y, width, height = self.rows[:, :4].T
        left, top = int(x.min()), int(y.min())
        return Rect(left, top, int((x + width).max()) - left, int((y + height).max()) - top)

    def inverse(self) -> Patch:
        """Return the patch that reverts this one."""
        areas = np.ascontiguousarray(self.rows[:, [0, 1, 2, 3, 5, 4]]).tobytes()
        explicit = None if self.explicit is None else not self.explicit
        return replace(self, areas=areas, before=self.after, after=self.before, explicit=explicit, when=time.time())

    def revert(self, mask: np.ndarray) -> Rect:
        return self._write(mask, 0)

    def apply(self, mask: np.ndarray) -> Rect:
        return self._write(mask, 1)

    def contents(self, side: int) -> Iterator[tuple[Rect, Content]]:
        """Yield the areas with their content before (side 0) or after (1) the step."""
        pixels = unpacked(self.after if side else self.before)
        start = 0
        for x, y, width, height, *ids in self.rows.tolist():
            content: Content = ids[side]
            if content == _MIXED:
                content = pixels[start : start + width * height].reshape(height, width)
                start += width * height
            yield Rect(x, y, width, height), content

    def _write(self, mask: np.ndarray, side: int) -> Rect:
        for rect, content in self.contents(side):
            mask[rect.slices] = content
        return self.rect

    def fits(self, mask: np.ndarray) -> bool:
        rect = self.rect
        return rect.x + rect.width <= mask.shape[1] and rect.y + rect.height <= mask.shape[0]

    def check(self, size: tuple[int, int]) -> None:
        """Raise ValueError unless this patch, read from a file, fits a mask of `size` (width, height)."""
        if len(self.areas) % 24:
            raise ValueError("areas cut off")
        rows = self.rows.astype(np.int64)
        x, y, width, height = rows[:, :4].T
        if (rows[:, :2] < 0).any() or (rows[:, 2:4] < 1).any() or (height > TILE).any() or (rows[:, 4:] > 255).any():
            raise ValueError("no areas")
        if (x + width > size[0]).any() or (y + height > size[1]).any() or (rows[:, 4:] < _MIXED).any():
            raise ValueError("an area outside of its mask")
        for side, ids in ((self.before, rows[:, 4]), (self.after, rows[:, 5])):
            expected = int((width * height)[ids == _MIXED].sum())
            if len(unpacked(side, expected)) != expected:
                raise ValueError("areas of another size")


class StepRecording:
    """Recorder of one operation on one mask: call `touch` before pixels of a rectangle change, then `finish`."""

    def __init__(self, key: str, what: str, mask: np.ndarray) -> None:
        self.key, self.what, self.mask = key, what, mask
        self.explicit: bool | None = None
        self._before: dict[int, dict[int, Content]] = {}  # row of tiles, column of tiles

    def touch(self, rect: Rect) -> None:
        rect = rect.clipped(self.mask.shape[1], self.mask.shape[0])
        if rect.empty:
            return
        columns = range(rect.x // TILE, (rect.x + rect.width - 1) // TILE + 1)
        for row in range(rect.y // TILE, (rect.y + rect.height - 1) // TILE + 1):
            tiles = self._before.setdefault(row, {})
            for first, stop in _runs(column for column in columns if column not in tiles):
                contents = self._snapshot_tiles(row, first, stop)
                if isinstance(contents, int):
                    tiles.update(dict.fromkeys(range(first, stop), contents))
                    continue
                for column, content in enumerate(contents, first):
                    tiles[column] = content if isinstance(content, int) else content.copy()

    def replace_id(self, old: int, new: int) -> None:
        """Replace one id by another in the whole mask."""
        self.touch(Rect(0, 0, self.mask.shape[1], self.mask.shape[0]))
        table = np.arange(256, dtype=np.uint8)
        table[old] = new
        cv2.LUT(self.mask, table, self.mask)

    def replay(self, patches: Iterable[Patch]) -> Rect:
        """Apply patches as part of this operation; return the rectangle that they change."""
        united = NOTHING
        for patch in patches:
            for band in patch.bands:
                self.touch(band)
            united = united.united(patch.apply(self.mask))
            self.explicit = self.explicit if patch.explicit is None else patch.explicit
        return united

    @property
    def touched(self) -> list[Rect]:
        """Areas where pixels may have changed: whole rows of tiles."""
        return [Rect(0, row * TILE, self.mask.shape[1], TILE) for row in self._before]

    def cancel(self) -> Rect:
        """Restore the previous content; return the rectangle to repaint."""
        united = NOTHING
        for row, tiles in self._before.items():
            for column, before in tiles.items():
                rect = self._rect(row, column)
                self.mask[rect.slices] = before
                united = united.united(rect)
        return united

    def finish(self) -> Patch | None:
        """Return the patch of the actual changes; None if there are none."""
        areas: list[list[int]] = []
        mixed: tuple[list[bytes], list[bytes]] = ([], [])
        last: list[Any] = [0] * 6
        full_height, full_width = self.mask.shape
        for row in sorted(self._before):
            tiles, y = self._before[row], row * TILE
            height = min(TILE, full_height - y)
            for first, stop in _runs(sorted(tiles)):
                # Avoid unneeded objects: a change of the whole image has thousands of tiles.
                contents, old = self._snapshot_tiles(row, first, stop), [tiles[column] for column in range(first, stop)]
                if isinstance(contents, int):
                    before_all = old[0]
                    if isinstance(before_all, int) and all(type(c) is int and c == before_all for c in old):
                        if before_all != contents:
                            x = first * TILE
                            areas.append([x, y, min(stop * TILE, full_width) - x, height, before_all, contents])
                        continue
                    contents = [contents] * (stop - first)
                for column, after in enumerate(contents, first):
                    sides = [c if isinstance(c, int) else c.tobytes() for c in (tiles[column], after)]
                    if sides[0] == sides[1]:
                        continue
                    x = column * TILE
                    width = min(TILE, full_width - x)
                    if last[4:] == sides and last[1] == y and last[0] + last[2] == x:
                        last[2] += width
                        continue
                    for side, content in enumerate(sides):
                        if type(content) is bytes:
                            mixed[side].append(content)
                            sides[side] = _MIXED
                    last = [x, y, width, height, *sides]
                    areas.append(last)
        if not areas:
            return None
        before, after = map(packed, mixed)
        return Patch(self.key, self.what, np.array(areas, np.int32).tobytes(), before, after, self.explicit)

    def _snapshot_tiles(self, row: int, first: int, stop: int) -> int | list[Content]:
        """Return the content of a row's tiles from column `first` up to `stop`.

        This is the single id of all, or a list with the id or the pixels (a view of the mask) of each tile.
        """
        band = self.mask[row * TILE : (row + 1) * TILE, first * TILE : stop * TILE]
        minimum, maximum, _, _ = cv2.minMaxLoc(band)
        if minimum == maximum:
            return int(minimum)
        starts = np.arange(0, band.shape[1], TILE)
        minima = np.minimum.reduceat(band.min(axis=0), starts).tolist()
        maxima = np.maximum.reduceat(band.max(axis=0), starts).tolist()
        return [a if a == b else band[:, x : x + TILE] for a, b, x in zip(minima, maxima, starts.tolist())]

    def _rect(self, row: int, column: int) -> Rect:
        height, width = self.mask.shape
        return Rect(column * TILE, row * TILE, TILE, TILE).clipped(width, height)


def _runs(columns: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges (first, stop) of consecutive ascending numbers."""
    first = stop = -1
    for column in columns:
        if column != stop:
            if first >= 0:
                yield first, stop
            first = column
        stop = column + 1
    if first >= 0:
        yield first, stop


_PIXELS, _RUNS = b"P", b"R"  # kinds of packed data


def packed(contents: list[bytes]) -> bytes:
    """Pack the pixels of some areas: as runs of one id if these are short, as for nearly all labels.

    Runs are found several times faster than zlib processes the pixels, and are then compressed by zlib.
    """
    if not contents:
        return b""
    pixels = np.frombuffer(b"".join(contents), np.uint8)
    ends = np.append(np.flatnonzero(pixels[1:] != pixels[:-1]), pixels.size - 1)
    if 10 * ends.size > pixels.size:
        return _PIXELS + zlib.compress(pixels.data, 1)
    lengths = np.diff(ends, prepend=-1).astype("<u4")
    return _RUNS + zlib.compress(pixels[ends].tobytes() + lengths.tobytes(), 1)


def unpacked(data: bytes, limit: int | None = None) -> np.ndarray:
    """Return the pixels, uint8. Raises ValueError or zlib.error for invalid data, or more than `limit` pixels."""
    if not data:
        return np.zeros(0, np.uint8)
    kind, max_length = data[:1], 0 if limit is None else limit * 5 + 1
    plain = np.frombuffer(zlib.decompressobj().decompress(data[1:], max_length), np.uint8)
    if kind == _PIXELS:
        return plain
    if kind != _RUNS or plain.size % 5:
        raise ValueError("areas packed in another way")
    ids, lengths = plain[: plain.size // 5], plain[plain.size // 5 :].view("<u4")
    if limit is not None and int(lengths.sum(dtype=np.int64)) != limit:
        raise ValueError("areas of another size")
    return np.repeat(ids, lengths)
