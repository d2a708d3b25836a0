"""Heat maps of a classification: contribution of each image location to a verdict."""

from __future__ import annotations

from typing import Any

import numpy as np

from .io.opencv import cv2
from .model_settings import ModelSettings
from .normalize import normalize, resize_for_network

_FINE = 8  # desired resolution per side; coarser networks are evaluated at several shifts
_MOST = 2  # maximum number of shifts per cell and side
_LONGEST = 32_000  # pixels; limit of cv2.resize


def compute(image: np.ndarray, settings: ModelSettings, engine: Any, verdict: int) -> np.ndarray | None:
    """Return uint8 (H,W), 255 where the evidence for verdict number `verdict` is greatest, or None if not supported.

    Class activation maps (Zhou et al. 2016) minus the mean over all verdicts, because only differences of logits
    matter. `engine.maps` returns float32 (N,V,h,w); cell (i,j) is centered at pixel (i H/h, j W/w), as in strided
    convolutions.
    """
    maps = getattr(engine, "maps", None)
    if maps is None or max(image.shape[:2]) > _LONGEST:
        return None
    ready = normalize(resize_for_network(image, settings), settings)
    found = maps(ready[None])
    if found is None:
        return None
    fine = _from_the_middle(maps, ready, found.shape[2:])
    told = np.maximum(fine[verdict] - fine.mean(axis=0), 0)
    height, width = image.shape[:2]
    # Resize in float up to 512 pixels, where 8 bits are precise enough, then in uint8, because the image may be very
    # large.
    told = cv2.resize(told.astype(np.float32), (min(width, 512), min(height, 512)), interpolation=cv2.INTER_LINEAR)
    told *= 255 / max(float(told.max()), 1e-12)
    return cv2.resize(np.rint(told).astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)


def _from_the_middle(maps: Any, ready: np.ndarray, cells: tuple[int, int]) -> np.ndarray:
    """Return float32 (V, rows, columns) for a normalized image, float32 (C,h,w), using only inner cells of the maps.

    The last layer has few cells, and the receptive field of border cells is half padding. The image, mirrored beyond
    its borders, is therefore evaluated at shifts of fractions of a cell, and the inner cells of the outputs are
    interleaved (shift and stitch, as in Sermanet et al. 2014).
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
    """Shifts of the image along one side. places: resolution of the result. reach: width of the padding."""

    def __init__(self, cells: int, length: int) -> None:
        self._cells, self.length = cells, length
        self._each = int(np.clip(-(-_FINE // cells), 1, _MOST))
        self._edge = max(1, cells // 4) if cells > 2 else 0  # cells discarded at each border
        self._inner = max(1, cells - 2 * self._edge + (self._edge > 0))
        self.places = cells * self._each
        self.reach = length

    def looks(self) -> list[tuple[int, slice, slice]]:
        """Return per shift: crop start in the padded image, inner cells of the output, their places in the result."""
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
