"""Connected components of a mask, computed in bands so that memory is bounded for any image size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .component_bands import Box, ComponentBand, areas_of_parts, measure_band, weights
from .feret import feret_diameters, pixel_runs
from .io.opencv import cv2

MAX_BAND_PIXELS = 4_000_000  # labels take four bytes per pixel


@dataclass(frozen=True)
class Components:
    """Measurements of connected components (8 neighbors): arrays with one entry per component, in pixels.

    left, top, right, bottom: bounding box; right and bottom are exclusive.
    area: number of pixels.
    x, y: centroid.
    score, peak: mean and maximum of the scores, 0..255.
    weight: sum of the weights of the pixels, see `component_bands.weights`.
    share: number of measured pixels divided by the component's number of pixels; below 1 beside an ignored border.
    runs: horizontal runs of the pixels of all components in turn, as of `feret.pixel_runs`; None if not asked for.
    run_ends: index after the last run of each component.
    """

    left: np.ndarray
    top: np.ndarray
    right: np.ndarray
    bottom: np.ndarray
    area: np.ndarray
    x: np.ndarray
    y: np.ndarray
    score: np.ndarray
    peak: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    runs: np.ndarray | None = None
    run_ends: np.ndarray | None = None

    def feret(self, number: int) -> tuple[float, float]:
        """Return the greatest and the least Feret diameter of a component, which must have runs."""
        assert self.runs is not None and self.run_ends is not None
        first = self.run_ends[number - 1] if number else 0
        return feret_diameters(self.runs[first : self.run_ends[number]])

    def are_inside(self, box: Box) -> bool:
        """Return True if no component has a pixel outside of a box."""
        left, top, right, bottom = box
        begins = bool((self.left >= left).all() and (self.top >= top).all())
        return begins and bool((self.right <= right).all() and (self.bottom <= bottom).all())


_NO_COMPONENTS = Components(*(np.zeros(0, np.int64),) * 5, *(np.zeros(0),) * 6)


def measure(
    mask: np.ndarray,
    class_id: int,
    scores: np.ndarray,
    min_area: int = 0,
    *,
    exponent: int = 1,
    inside: Box | None = None,
    with_runs: bool = False,
) -> Components:
    """Measure the components of one class.

    mask, scores: uint8 (H,W). min_area: in pixels; smaller components are set to 0 in `mask`. exponent: of the weights.
    inside: part of the mask whose pixels are measured, by default all. Components without any are left out; one that is
        cut into several parts is still one component. with_runs: also return the runs of all pixels.
    """
    by_score = weights(exponent)
    runs: list[np.ndarray] = [np.zeros((0, 4), np.int32)]  # part number, row, first column, column after the last

    def measure_parts(band: ComponentBand) -> np.ndarray:
        if with_runs:
            rows, labels = pixel_runs(band.labels)
            rows += np.array([band.top, band.left, band.left], np.int32)
            runs.append(np.column_stack([labels.astype(np.int32) - 1 + band.first, rows]))
        return measure_band(band, scores, by_score, inside)

    table, owner, count = _label(mask, class_id, measure_parts, min_area)
    if not count:
        return _NO_COMPONENTS

    def gather(function: np.ufunc, column: int, start: float) -> np.ndarray:
        if count == len(table):  # each part is a component
            return table[selected, column]
        values = np.full(count, start)
        function.at(values, owner, table[:, column])
        return values[selected]

    selected = np.bincount(owner, table[:, 4], count) >= min_area
    selected &= np.bincount(owner, table[:, 10], count) > 0
    whole, sum_x, sum_y, sum_score, weight, area = (gather(np.add, column, 0.0) for column in (4, 5, 6, 7, 9, 10))
    left, top = (gather(np.minimum, column, np.inf).astype(np.int64) for column in (0, 1))
    right, bottom = (gather(np.maximum, column, 0.0).astype(np.int64) for column in (2, 3))
    return Components(
        left,
        top,
        right,
        bottom,
        area.astype(np.int64),
        sum_x / area,
        sum_y / area,
        sum_score / area,
        gather(np.maximum, 8, 0.0),
        sum_score / 255 if exponent == 1 else weight,
        area / whole,
        *(_runs_by_component(np.concatenate(runs), owner, selected) if with_runs else ()),
    )


def _runs_by_component(runs: np.ndarray, owner: np.ndarray, selected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the runs sorted by component, and the index after the last run of each selected one.

    runs: (runs, 4), with the part in column 0. owner: component of each part. selected: bool (components,).
    """
    component = owner[runs[:, 0]]
    kept = selected[component]
    number = (np.cumsum(selected) - 1)[component[kept]]
    order = np.argsort(number, kind="stable")
    return runs[kept, 1:][order], np.cumsum(np.bincount(number, minlength=np.count_nonzero(selected)))


def drop_small(mask: np.ndarray, class_id: int, min_area: int) -> None:
    """Set components of one class with fewer than `min_area` pixels to 0, in place."""
    _label(mask, class_id, areas_of_parts, min_area)


def _label(
    mask: np.ndarray, class_id: int, measure_band: Callable[[ComponentBand], np.ndarray], min_area: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Label the components of one class band by band and join the parts across bands.

    measure_band: returns the measurements of a band, one row per part, with the area in column 4.

    Returns the measurements of all parts, the component index of each part, and the number of components. Components
    with fewer than `min_area` pixels are cleared in the mask, most of them before measuring: a network after seconds of
    training marks millions of tiny regions on a very large image.
    """
    tables: list[np.ndarray] = []
    joiner = _BandJoiner(mask.shape[1])
    undecided: list[tuple[np.ndarray, ...]] = []  # pixels of small parts at a band border: part number, row, column
    first, rows = 0, _rows(mask)
    for top in range(0, mask.shape[0], rows):
        band = _label_band(mask, top, class_id, first)
        if band is None:
            continue
        small = band.stats[:, cv2.CC_STAT_AREA] < min_area
        small[0] = False
        if small.any():
            band, at_border = _filter_small(mask, band, small)
            undecided.append(at_border)
        if rows < mask.shape[0]:
            joiner.add(band)
        tables.append(measure_band(band))
        first += len(band.stats) - 1
    if not tables:
        return np.zeros((0, 11)), np.zeros(0, np.int64), 0
    table = np.concatenate(tables)
    owner, count = joiner.pieces(len(table))
    small = (np.bincount(owner, table[:, 4], count) < min_area)[owner]
    for part, row, column in undecided:
        of_small = small[part]
        mask[row[of_small], column[of_small]] = 0
    return table, owner, count


def _filter_small(
    mask: np.ndarray, band: ComponentBand, small: np.ndarray
) -> tuple[ComponentBand, tuple[np.ndarray, ...]]:
    """Remove the small parts of a band that cannot continue in a neighboring band, also from the mask.

    small: bool, one entry per label number including 0. Returns the band, and part number, row and column of the pixels
        of the small parts kept at the band borders.
    """
    tops = band.stats[:, cv2.CC_STAT_TOP] + band.top
    rows = _rows(mask)
    above = (tops % rows == 0) & (tops > 0)
    ends = tops + band.stats[:, cv2.CC_STAT_HEIGHT]
    below = (ends % rows == 0) & (ends < len(mask))
    removed = small & ~(above | below)
    filtered = band.without(removed) if removed.any() else band
    if filtered is not band:
        np.copyto(band.view(mask), 0, where=(band.labels > 0) & (filtered.labels == 0))
    remaining = small[~removed]
    row, column = np.nonzero(np.take(remaining, filtered.labels)) if remaining.any() else (np.zeros(0, np.intp),) * 2
    part = filtered.labels[row, column].astype(np.intp) - 1 + band.first
    return filtered, (part, row + band.top, column + band.left)


def _rows(mask: np.ndarray) -> int:
    """Return the number of rows per band."""
    return max(1, MAX_BAND_PIXELS // max(1, mask.shape[1]))


def _label_band(mask: np.ndarray, top: int, class_id: int, first: int) -> ComponentBand | None:
    """Return the parts of the class in the band from row `top`, in its bounding box there, None without any.

    first: number of parts above.
    """
    of_class = cv2.inRange(mask[top : top + _rows(mask)], class_id, class_id)
    left, upper, width, height = cv2.boundingRect(of_class)
    if not width:
        return None
    # 16-bit labels halve the time where they suffice: no two parts touch, even diagonally, which bounds their number.
    max_components = -(-height // 2) * -(-width // 2)
    _, labels, stats, centers = cv2.connectedComponentsWithStats(
        of_class[upper : upper + height, left : left + width],
        connectivity=8,
        ltype=cv2.CV_16U if max_components < 1 << 16 else cv2.CV_32S,
    )
    return ComponentBand(top + upper, left, labels, stats, centers, first)


class _BandJoiner:
    """Adjacency of parts across band borders, used to join them into components."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._row, self._labels = -2, np.zeros(0, np.int64)  # last labeled row
        self._pairs: set[tuple[int, int]] = set()

    def add(self, band: ComponentBand) -> None:
        if band.top == self._row + 1:
            above, below = np.pad(self._labels, 1), self._spread(band, 0)
            for shift in range(3):  # upper left, upper and upper right neighbor
                other = above[shift : shift + self._width]
                touching = (other > 0) & (below > 0)
                self._pairs.update(zip(other[touching].tolist(), below[touching].tolist()))
        self._row, self._labels = band.top + len(band.labels) - 1, self._spread(band, -1)

    def _spread(self, band: ComponentBand, row: int) -> np.ndarray:
        """Return one row of labels over the full width, numbered in the whole mask from 1."""
        labels = band.labels[row].astype(np.int64)
        row_labels = np.zeros(self._width, np.int64)
        row_labels[band.left : band.left + len(labels)] = np.where(labels > 0, labels + band.first, 0)
        return row_labels

    def pieces(self, parts: int) -> tuple[np.ndarray, int]:
        """Return the component index of each part, and the number of components."""
        if not self._pairs:
            return np.arange(parts), parts
        parent = list(range(parts))

        def root(part: int) -> int:
            while parent[part] != part:
                parent[part] = parent[parent[part]]
                part = parent[part]
            return part

        for above, below in self._pairs:
            parent[root(below - 1)] = root(above - 1)
        roots = np.array([root(part) for part in range(parts)], np.int64)
        unique, owner = np.unique(roots, return_inverse=True)
        return owner.reshape(-1), len(unique)
