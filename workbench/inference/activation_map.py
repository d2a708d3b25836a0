"""Heat maps of a classification: contribution of each image location to a verdict."""

from __future__ import annotations

from typing import Any

import numpy as np

from .io.opencv import cv2
from .io.tiff_regions import ImageArray
from .model_settings import ModelSettings
from .normalize import normalize, resize_for_network

_MIN_RESOLUTION = 8  # desired resolution per side; coarser networks are evaluated at several shifts
_MAX_SHIFTS = 2  # maximum number of shifts per cell and side
_MAX_SIDE = 32_000  # pixels; limit of cv2.resize


def activation_map(image: ImageArray, settings: ModelSettings, engine: Any, verdict: int) -> np.ndarray | None:
    """Return uint8 (H,W), 255 where the evidence for verdict number `verdict` is greatest, or None if not supported.

    Class activation maps (Zhou et al. 2016) minus the mean over all verdicts, because only differences of logits
    matter. `engine.maps` returns float32 (N,V,h,w); cell (i,j) is centered at pixel (i H/h, j W/w), as in strided
    convolutions.
    """
    maps = getattr(engine, "maps", None)
    if maps is None or max(image.shape[:2]) > _MAX_SIDE:
        return None
    network_input = normalize(np.asarray(resize_for_network(image, settings)), settings)
    coarse = maps(network_input[None])
    if coarse is None:
        return None
    contributions = _shifted_maps(maps, network_input, coarse.shape[2:])
    heat = np.maximum(contributions[verdict] - contributions.mean(axis=0), 0)
    height, width = image.shape[:2]
    # Resize in float up to 512 pixels, where 8 bits are precise enough, then in uint8, because the image may be very
    # large.
    heat = cv2.resize(heat.astype(np.float32), (min(width, 512), min(height, 512)), interpolation=cv2.INTER_LINEAR)
    heat *= 255 / max(float(heat.max()), 1e-12)
    return cv2.resize(np.rint(heat).astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)


def _shifted_maps(maps: Any, network_input: np.ndarray, cells: tuple[int, int]) -> np.ndarray:
    """Return float32 (V, rows, columns) for a normalized image, float32 (C,h,w), using only inner cells of the maps.

    The last layer has few cells, and the receptive field of border cells is half padding. The image, mirrored beyond
    its borders, is therefore evaluated at shifts of fractions of a cell, and the inner cells of the outputs are
    interleaved (shift and stitch, as in Sermanet et al. 2014).
    """
    rows, columns = (_ShiftedAxis(count, length) for count, length in zip(cells, network_input.shape[1:]))
    padded = np.pad(network_input, ((0, 0), (rows.reach,) * 2, (columns.reach,) * 2), mode="symmetric")
    result: np.ndarray | None = None
    for top, inner_rows, row_places in rows.shifts():
        starts, column_places = zip(
            *[(left, (inner_columns, positions)) for left, inner_columns, positions in columns.shifts()]
        )
        batch = np.stack([padded[:, top : top + rows.length, left : left + columns.length] for left in starts])
        for output, (inner_columns, positions) in zip(maps(batch), column_places):
            if result is None:
                result = np.zeros((output.shape[0], rows.positions, columns.positions), np.float32)
            result[:, row_places, positions] = output[:, inner_rows, inner_columns]
    assert result is not None
    return result


class _ShiftedAxis:
    """Shifts of the image along one side. positions: resolution of the result. reach: width of the padding."""

    def __init__(self, cells: int, length: int) -> None:
        self._cells, self.length = cells, length
        self._shifts = int(np.clip(-(-_MIN_RESOLUTION // cells), 1, _MAX_SHIFTS))
        self._margin = max(1, cells // 4) if cells > 2 else 0  # cells discarded at each border
        self._inner = max(1, cells - 2 * self._margin + (self._margin > 0))
        self.positions = cells * self._shifts
        self.reach = length

    def shifts(self) -> list[tuple[int, slice, slice]]:
        """Return per shift: crop start in the padded image, inner cells of the output, their places in the result."""
        result = []
        step = self.length / self._cells
        for first in range(0, self._cells, self._inner):
            count = min(self._inner, self._cells - first)
            for shift in range(self._shifts):
                offset = (first - self._margin + (shift + 0.5) / self._shifts) * step
                inner = slice(self._margin, self._margin + count)
                positions = slice(first * self._shifts + shift, (first + count) * self._shifts, self._shifts)
                result.append((self.reach + round(offset), inner, positions))
        return result
