"""Where a network looked before it gave a verdict: what each place of the picture adds to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cv import cv2
from .normalise import normalise, resize_for_network
from .settings import ModelSettings

_FINE = 8  # places along a side that are worth having; where the network has fewer cells, it looks more often
_MOST = 2  # places to a cell
_LONGEST = 32_000  # pixels; longer ones OpenCV does not resize to


def look(picture: np.ndarray, settings: ModelSettings, engine: Any, verdict: int) -> np.ndarray | None:
    """uint8 (H,W), 255 where most speaks for a verdict (its number) against the others; None if `engine` cannot tell.

    Class activation maps (Zhou et al. 2016), less the mean of all verdicts, because only differences of logits count.
    `engine.maps` gives them: float32 (N,V,h,w), whose cell (i,j) looks around the pixel (i H/h, j W/w), as convolutions
    with a stride do.
    """
    maps = getattr(engine, "maps", None)
    if maps is None or max(picture.shape[:2]) > _LONGEST:
        return None
    ready = normalise(resize_for_network(picture, settings), settings)
    found = maps(ready[None])
    if found is None:
        return None
    fine = _from_the_middle(maps, ready, found.shape[2:])
    told = np.maximum(fine[verdict] - fine.mean(axis=0), 0)
    height, width = picture.shape[:2]
    # Smoothly to a size at which bytes are fine enough, then in bytes: the picture may be very large.
    told = cv2.resize(told.astype(np.float32), (min(width, 512), min(height, 512)), interpolation=cv2.INTER_LINEAR)
    told *= 255 / max(float(told.max()), 1e-12)
    return cv2.resize(np.rint(told).astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)


def _from_the_middle(maps: Any, ready: np.ndarray, cells: tuple[int, int]) -> np.ndarray:
    """float32 (V, rows, columns) of a normalised picture, float32 (C,h,w): each place seen by a cell well inside.

    The last layer has few cells, and those at the border look half into the padding. So the picture, mirrored beyond
    its borders, is shown moved by parts of a cell, and the answers of the inner cells are put beside one another
    (shift and stitch, as in Sermanet et al. 2014).
    """
    rows, columns = (_Side(count, length) for count, length in zip(cells, ready.shape[1:]))
    wide = np.pad(ready, ((0, 0), (rows.reach,) * 2, (columns.reach,) * 2), mode="symmetric")
    fine: np.ndarray | None = None
    for top, seen, down in rows.looks():
        lefts, across = zip(*[(left, (inner, places)) for left, inner, places in columns.looks()])
        batch = np.stack([wide[:, top : top + rows.length, left : left + columns.length] for left in lefts])
        for told, (inner, places) in zip(maps(batch), across):
            if fine is None:
                fine = np.zeros((told.shape[0], rows.places, columns.places), np.float32)
            fine[:, down, places] = told[:, seen, inner]
    assert fine is not None
    return fine


class _Side:
    """How to move a picture along one side. places: how many there are in the end. reach: of the padding."""

    def __init__(self, cells: int, length: int) -> None:
        self._cells, self.length = cells, length
        self._each = int(np.clip(-(-_FINE // cells), 1, _MOST))
        self._edge = max(1, cells // 4) if cells > 2 else 0  # cells left out at either border
        self._inner = max(1, cells - 2 * self._edge + (self._edge > 0))
        self.places = cells * self._each
        self.reach = length

    def looks(self) -> list[tuple[int, slice, slice]]:
        """Where the padded picture is cut, which cells of the answer count, and which places those are."""
        found = []
        step = self.length / self._cells
        for first in range(0, self._cells, self._inner):
            count = min(self._inner, self._cells - first)
            for part in range(self._each):
                at = (first - self._edge + (part + 0.5) / self._each) * step
                inner = slice(self._edge, self._edge + count)
                places = slice(first * self._each + part, (first + count) * self._each, self._each)
                found.append((self.reach + round(at), inner, places))
        return found
