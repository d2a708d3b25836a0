"""Connected components of a mask and their Feret diameters, in bands so that memory is bounded for any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from .io.opencv import cv2

MAX_BAND_PIXELS = 4_000_000  # labels take four bytes per pixel
_FEW_RUNS = 8  # in a region so small that many others have its shape
Box = tuple[int, int, int, int]  # left, top, right and bottom; right and bottom are exclusive

# Measurements of a part: box of its measured pixels, number of all pixels, and of the measured ones the sums of x, y
# and score, the highest score, the sum of the weights, and their number.
_PART = np.dtype([(name, float) for name in "left top right bottom whole x y score peak weight area".split()])


@dataclass(frozen=True)
class Components:
    """Measurements of connected components (8 neighbors): arrays with one entry per component, in pixels.

    left, top, right, bottom: bounding box; right and bottom are exclusive.
    area: number of pixels.
    x, y: centroid.
    score, peak: mean and maximum of the scores, 0..255.
    weight: sum of the weights of the pixels, see `weights`.
    share: number of measured pixels divided by the component's number of pixels; below 1 beside an ignored border.
    runs: horizontal runs of the pixels of all components in turn, as of `pixel_runs`; None if not asked for.
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
        return _measure_band(band, scores, by_score, inside)

    table, owner, count = _label(mask, class_id, measure_parts, min_area)
    if not count:
        return _NO_COMPONENTS

    def gather(name: str, function: np.ufunc = np.add, start: float = 0.0) -> np.ndarray:
        if count == len(table):  # each part is a component
            return table[name][selected]
        values = np.full(count, start)
        function.at(values, owner, table[name])
        return values[selected]

    selected = np.bincount(owner, table["whole"], count) >= min_area
    selected &= np.bincount(owner, table["area"], count) > 0
    area, score = gather("area"), gather("score")
    return Components(
        gather("left", np.minimum, np.inf).astype(np.int64),
        gather("top", np.minimum, np.inf).astype(np.int64),
        gather("right", np.maximum).astype(np.int64),
        gather("bottom", np.maximum).astype(np.int64),
        area.astype(np.int64),
        gather("x") / area,
        gather("y") / area,
        score / area,
        gather("peak", np.maximum),
        score / 255 if exponent == 1 else gather("weight"),
        area / gather("whole"),
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
    _label(mask, class_id, _areas_of_parts, min_area)


def _label(
    mask: np.ndarray, class_id: int, measure_band: Callable[[ComponentBand], np.ndarray], min_area: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Label the components of one class band by band and join the parts across bands.

    measure_band: returns the measurements of a band, one entry per part, with its number of pixels as "whole".

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
        return np.zeros(0, _PART), np.zeros(0, np.int64), 0
    table = np.concatenate(tables)
    owner, count = joiner.pieces(len(table))
    small = (np.bincount(owner, table["whole"], count) < min_area)[owner]
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


@dataclass(frozen=True)
class ComponentBand:
    """Components of one band. A part is a component within the band.

    labels: uint16 or int32, 0 or the number of a part; numbers in the whole mask begin after `first`.
    stats, centers: as returned by OpenCV, background first.
    """

    top: int
    left: int
    labels: np.ndarray
    stats: np.ndarray
    centers: np.ndarray
    first: int = 0

    def view(self, plane: np.ndarray) -> np.ndarray:
        """Return this band's box of another plane of the whole image."""
        height, width = self.labels.shape
        return plane[self.top : self.top + height, self.left : self.left + width]

    def without(self, parts: np.ndarray) -> ComponentBand:
        """Return the band without the parts set in `parts`, bool, one entry per label number including 0."""
        remaining = ~parts
        numbers = np.where(remaining, np.cumsum(remaining) - 1, 0).astype(self.labels.dtype)
        labels = np.take(numbers, self.labels)
        return ComponentBand(self.top, self.left, labels, self.stats[remaining], self.centers[remaining], self.first)


@cache
def weights(exponent: int) -> np.ndarray:
    """Return float64 (256,), read-only: weight of a pixel by its score, (score / 255) ** exponent."""
    by_score = (np.arange(256) / 255) ** exponent
    by_score.flags.writeable = False
    return by_score


def _areas_of_parts(band: ComponentBand) -> np.ndarray:
    """Return the number of pixels of each part as "whole"."""
    return band.stats[1:, cv2.CC_STAT_AREA].astype([("whole", float)])


def _measure_band(band: ComponentBand, scores: np.ndarray, by_score: np.ndarray, inside: Box | None) -> np.ndarray:
    """Return the measurements of the parts of a band, `_PART` (parts,).

    Without measured pixels left and top are infinite, and the others but the number of all pixels 0.

    by_score: weight of a pixel by its score.
    inside: measured part of the image; None: all of it.
    """
    labels = band.labels
    is_measured = labels > 0
    stats, count = band.stats[1:].astype(np.float64), len(band.stats)
    left, top = stats[:, cv2.CC_STAT_LEFT] + band.left, stats[:, cv2.CC_STAT_TOP] + band.top
    box = np.column_stack([left, top, left + stats[:, cv2.CC_STAT_WIDTH], top + stats[:, cv2.CC_STAT_HEIGHT]])
    area = whole = stats[:, cv2.CC_STAT_AREA]
    # Centroid times area is an integer, so rounding makes sums over bands exact.
    sums = np.rint(band.centers[1:] * area[:, None]) + area[:, None] * [band.left, band.top]
    if inside is not None:
        _clear_outside(is_measured, band, inside)
        is_cut = np.any(np.concatenate([box[:, :2] < inside[:2], box[:, 2:] > inside[2:]], axis=1), axis=1)
        if is_cut.any():
            area = area.copy()
            _measure_cut(band, is_measured & np.concatenate([[False], is_cut])[labels], is_cut, box, sums, area)
    label = labels[is_measured].astype(np.intp)  # the fastest index type for `ufunc.at`
    score = band.view(scores)[is_measured]
    peaks = np.zeros(count, np.uint8)
    np.maximum.at(peaks, label, score)
    score_sum, weight = (np.bincount(label, values, count)[1:] for values in (score, by_score[score]))
    table: np.ndarray = np.zeros(count - 1, _PART)
    columns = (*box.T, whole, *sums.T, score_sum, peaks[1:], weight, area)
    for name, values in zip(_PART.names or (), columns, strict=True):
        table[name] = values
    return table


def _clear_outside(plane: np.ndarray, band: ComponentBand, inside: Box) -> None:
    """Set the pixels of a band's plane, bool (h,w), that are outside of a box of the image to False, in place."""
    left, top, right, bottom = inside
    plane[: max(0, top - band.top)] = False
    plane[max(0, bottom - band.top) :] = False
    plane[:, : max(0, left - band.left)] = False
    plane[:, max(0, right - band.left) :] = False


def _measure_cut(
    band: ComponentBand, pixels: np.ndarray, is_cut: np.ndarray, box: np.ndarray, sums: np.ndarray, area: np.ndarray
) -> None:
    """Replace the boxes, sums of x and y, and areas of some parts by those of the given pixels, in place.

    pixels: bool (h,w), pixels of these parts. is_cut: bool (parts,). box: (parts, 4). sums: (parts, 2). area: (parts,).
    """
    y, x = np.nonzero(pixels)
    part, places = band.labels[y, x].astype(np.intp) - 1, np.stack([x + band.left, y + band.top], axis=1)
    box[is_cut] = [np.inf, np.inf, 0, 0]
    area[is_cut] = np.bincount(part, minlength=len(area))[is_cut]
    for axis in (0, 1):
        sums[is_cut, axis] = np.bincount(part, weights=places[:, axis], minlength=len(area))[is_cut]
        np.minimum.at(box[:, axis], part, places[:, axis])
        np.maximum.at(box[:, axis + 2], part, places[:, axis] + 1)


# --- Feret diameters ----------------------------------------------------------------------------------------


def pixel_runs(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the horizontal runs of equal labels, and the label of each, (runs,).

    labels: integers (H, W), 0 for none; different ones are not neighbors in a row.
    Runs: int32 (runs, 3), row, first column and the column after the last one.
    """
    padded = np.pad(labels, ((0, 0), (1, 1)))
    changes = padded[:, 1:] != padded[:, :-1]
    row, first = np.nonzero(changes & (padded[:, 1:] > 0))
    end = np.nonzero(changes & (padded[:, :-1] > 0))[1]
    return np.stack([row, first, end], axis=1).astype(np.int32), labels[row, first]


def feret_diameters(runs: np.ndarray) -> tuple[float, float]:
    """Return the greatest and the least distance between two parallel lines that enclose the pixels of runs.

    A pixel is a square of side 1, as for width and height of a bounding box: a single pixel measures 1.414 and 1.

    runs: int32 (runs, 3) as of `pixel_runs`, at least one.
    """
    if len(runs) > _FEW_RUNS:
        return _diameters(runs)
    origin = runs[:, :2].min(axis=0)
    return _small_diameters((runs - origin[[0, 1, 1]]).astype(np.int32).tobytes())


@lru_cache(1 << 14)
def _small_diameters(runs: bytes) -> tuple[float, float]:
    return _diameters(np.frombuffer(runs, np.int32).reshape(-1, 3))


def _diameters(runs: np.ndarray) -> tuple[float, float]:
    row, first, end = runs.T
    above = np.concatenate([np.stack([first, row], axis=1), np.stack([end, row], axis=1)]).astype(np.int32)
    hull = cv2.convexHull(np.concatenate([above, above + np.array([0, 1], np.int32)])).reshape(-1, 2)
    corners = hull.astype(np.float64)
    greatest = max(float(np.hypot(*(corners - corner).T).max()) for corner in corners)
    # The least diameter is perpendicular to a side of the convex hull.
    side = np.roll(corners, -1, axis=0) - corners
    normal = np.stack([-side[:, 1], side[:, 0]]) / np.hypot(side[:, 0], side[:, 1])
    return greatest, min(float(np.ptp(corners @ direction)) for direction in normal.T)
