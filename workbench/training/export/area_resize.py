"""Tables of OpenCV's area interpolation, with which an ONNX graph reduces integer images to identical pixels.

OpenCV averages rows, then columns, in 32-bit floating point and in a fixed order; integer factors are summed first and
divided once. A graph that multiplies and adds in the same order gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LEAST_SHARE = 1e-3  # of a source pixel that OpenCV considers


@dataclass(frozen=True)
class Taps:
    """Weighted source pixels of each target pixel along one side.

    indices: int64 (taps, target). weights: float32 (taps, target); 0 where a pixel has fewer taps.
    """

    indices: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class AreaResize:
    """Reduction of an image: the columns are combined, then the rows, and the sum is multiplied by `factor`.

    half_up: rounding of ties: up, as for factor 2 in both directions, otherwise to the even integer.
    """

    rows: Taps
    columns: Taps
    factor: float
    half_up: bool


def plan_resize(source: tuple[int, int], target: tuple[int, int]) -> AreaResize:
    """Return the reduction from `source` to `target`, (height, width) each. Raises ValueError if a side grows."""
    if any(small > large for small, large in zip(target, source)):
        raise ValueError(f"{source} cannot be reduced to {target}")
    factors = [large // small for small, large in zip(target, source)]
    if all(large % small == 0 for small, large in zip(target, source)):
        rows, columns = (_equal_taps(small, factor) for small, factor in zip(target, factors))
        return AreaResize(rows, columns, float(np.float32(1 / (factors[0] * factors[1]))), factors == [2, 2])
    rows, columns = (_area_taps(large, small) for small, large in zip(target, source))
    return AreaResize(rows, columns, 1.0, False)


def _equal_taps(target: int, factor: int) -> Taps:
    indices = np.arange(target * factor, dtype=np.int64).reshape(target, factor).T
    return Taps(np.ascontiguousarray(indices), np.ones((factor, target), np.float32))


def _area_taps(source: int, target: int) -> Taps:
    scale = source / target
    shares = [_shares(number * scale, scale, source) for number in range(target)]
    count = max(map(len, shares))
    indices, weights = np.zeros((count, target), np.int64), np.zeros((count, target), np.float32)
    for number, entries in enumerate(shares):
        for tap in range(count):
            pixel, weight = entries[tap] if tap < len(entries) else (entries[-1][0], 0.0)
            indices[tap, number], weights[tap, number] = pixel, weight
    return Taps(indices, weights)


def _shares(start: float, scale: float, source: int) -> list[tuple[int, float]]:
    """Return (source pixel, weight) of the target pixel that covers `scale` source pixels from `start` on."""
    end = start + scale
    cell = min(scale, source - start)
    last = min(int(np.floor(end)), source - 1)
    first = min(int(np.ceil(start)), last)
    entries = []
    if first - start > _LEAST_SHARE:
        entries.append((first - 1, (first - start) / cell))
    entries += [(pixel, 1 / cell) for pixel in range(first, last)]
    if end - last > _LEAST_SHARE:
        entries.append((last, min(end - last, 1.0, cell) / cell))
    return entries
