"""Undo and redo by patches: before a stroke touches a 64-pixel tile, the tile is copied; afterwards both are packed.

Memory is bounded by bytes, not by a count of steps; the oldest steps go first. Patches name their picture, so the
history runs across pictures.
"""

from __future__ import annotations

import zlib
from collections import deque
from dataclasses import dataclass

import numpy as np

from workbench.core.drawing import NOTHING, Rect

TILE = 64


@dataclass(frozen=True)
class Patch:
    """What one operation changed in one picture's mask: packed tiles as they were before and after."""

    key: str
    what: str
    tiles: tuple[tuple[int, int, int, int, bytes, bytes], ...]  # x, y, width, height, before, after

    @property
    def nbytes(self) -> int:
        return sum(len(before) + len(after) + 64 for *_, before, after in self.tiles)

    @property
    def rect(self) -> Rect:
        rect = NOTHING
        for x, y, width, height, _, _ in self.tiles:
            rect = rect.united(Rect(x, y, width, height))
        return rect

    def revert(self, mask: np.ndarray) -> Rect:
        return self._put(mask, 4)

    def apply(self, mask: np.ndarray) -> Rect:
        return self._put(mask, 5)

    def _put(self, mask: np.ndarray, side: int) -> Rect:
        for tile in self.tiles:
            x, y, width, height = tile[:4]
            pixels = np.frombuffer(zlib.decompress(tile[side]), np.uint8)
            mask[y : y + height, x : x + width] = pixels.reshape(height, width)
        return self.rect


class Recording:
    """One operation under way on one mask: call `touch` before pixels of a rectangle change, then `finish`."""

    def __init__(self, key: str, what: str, mask: np.ndarray) -> None:
        self.key, self.what, self.mask = key, what, mask
        self._before: dict[tuple[int, int], np.ndarray] = {}

    def touch(self, rect: Rect) -> None:
        if rect.empty:
            return
        for row in range(rect.y // TILE, (rect.y + rect.height - 1) // TILE + 1):
            for column in range(rect.x // TILE, (rect.x + rect.width - 1) // TILE + 1):
                if (row, column) not in self._before:
                    self._before[row, column] = self._tile(row, column).copy()

    def cancel(self) -> Rect:
        """Put back what was there; returns the rectangle to repaint."""
        rect = NOTHING
        for (row, column), before in self._before.items():
            self._tile(row, column)[...] = before
            rect = rect.united(Rect(column * TILE, row * TILE, before.shape[1], before.shape[0]))
        self._before.clear()
        return rect

    def finish(self) -> Patch | None:
        """The patch of what really changed; None if nothing did."""
        tiles = []
        for (row, column), before in self._before.items():
            after = self._tile(row, column)
            if not np.array_equal(before, after):
                height, width = before.shape
                packed = zlib.compress(before.tobytes(), 1), zlib.compress(after.tobytes(), 1)
                tiles.append((column * TILE, row * TILE, width, height, *packed))
        return Patch(self.key, self.what, tuple(tiles)) if tiles else None

    def _tile(self, row: int, column: int) -> np.ndarray:
        return self.mask[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]


class History:
    """Done and undone patches of all pictures, newest last."""

    def __init__(self, limit: int = 256 << 20) -> None:
        self.limit = limit
        self._done: deque[Patch] = deque()
        self._undone: list[Patch] = []
        self._bytes = 0

    def add(self, patch: Patch) -> None:
        self._undone.clear()
        self._done.append(patch)
        self._bytes += patch.nbytes
        while self._bytes > self.limit and len(self._done) > 1:
            self._bytes -= self._done.popleft().nbytes

    @property
    def next_undo(self) -> Patch | None:
        return self._done[-1] if self._done else None

    @property
    def next_redo(self) -> Patch | None:
        return self._undone[-1] if self._undone else None

    def undo(self, mask: np.ndarray) -> Rect:
        """Revert `next_undo` in its picture's mask; returns the rectangle to repaint."""
        patch = self._done.pop()
        self._bytes -= patch.nbytes
        self._undone.append(patch)
        return patch.revert(mask)

    def redo(self, mask: np.ndarray) -> Rect:
        patch = self._undone.pop()
        self._done.append(patch)
        self._bytes += patch.nbytes
        return patch.apply(mask)

    def forget(self, key: str) -> None:
        """Drop the patches of a picture that cannot be opened any more, so that older steps can be reached."""
        self._done = deque(patch for patch in self._done if patch.key != key)
        self._undone = [patch for patch in self._undone if patch.key != key]
        self._bytes = sum(patch.nbytes for patch in self._done)

    def clear(self) -> None:
        self._done.clear()
        self._undone.clear()
        self._bytes = 0
