"""Stored network output per image, for evaluation at any operating point without repeated inference.

Probabilities are stored only where a class reaches the lowest threshold in use, cut into patches such that no region
crosses patches. Therefore all counts can be made per patch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.components import measure
from workbench.inference.inspection_area import AreaMaps, InspectionArea, area_of
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.region_table import RegionTable
from workbench.inference.regions import drop_small_in_place

ANY = 0  # any class, in place of a class id
BOUNDARY = 2  # pixels: width of the edge of a region in the boundary IoU
DETECTED_SHARE = 0.1  # share of a labeled defect that predictions must cover for the defect to count as found
MIN_PROBABILITY = 0.05  # lowest threshold that can be evaluated
_CELL = 32  # pixels: side of the square cells along which patches are cut
MAX_UNCUT_PIXELS = 512 * 512  # pixels: a smaller image is one patch, which is faster than several


@dataclass(frozen=True)
class ProbabilityPatch:
    """Part of the network output.

    probabilities: uint8 (classes, h, w), 255 * probability; the first pixel is at (left, top) of the image.
    """

    top: int
    left: int
    probabilities: np.ndarray

    @property
    def slices(self) -> tuple[slice, slice]:
        height, width = self.probabilities.shape[1:]
        return slice(self.top, self.top + height), slice(self.left, self.left + width)

    @cached_property
    def strongest(self) -> np.ndarray:
        """Class index of the greatest probability, uint8 (h, w); the first one on ties."""
        return self.probabilities.argmax(axis=0).astype(np.uint8)

    @cached_property
    def highest(self) -> np.ndarray:
        """Greatest probability of any class, uint8 (h, w), 255 * probability."""
        return self.probabilities.max(axis=0)

    def apply_operating_point(self, settings: ModelSettings) -> np.ndarray | None:
        """Return class ids, uint8 (h, w), as `inference.predictor.apply_thresholds` does; None if nothing is marked.

        Several times faster, because the strongest class, which nearly always decides, is tested first.
        """
        levels = np.array([max(1, int(np.ceil(255 * threshold - 1e-9))) for threshold in settings.thresholds])
        ids = np.array([entry.id for entry in settings.classes], np.uint8)
        mask = np.where(self.highest >= levels.astype(np.uint8)[self.strongest], ids[self.strongest], np.uint8(0))
        if levels.min() < levels.max():
            # A weaker class may reach its own lower threshold where the strongest does not.
            undecided = np.flatnonzero((mask == 0) & (self.highest >= levels.min()))
            if undecided.size:
                scores = self.probabilities.reshape(len(ids), -1)[:, undecided]
                above_threshold = np.where(scores >= levels[:, None], scores, 0)
                mask.reshape(-1)[undecided] = np.where(
                    above_threshold.max(axis=0) > 0, ids[above_threshold.argmax(axis=0)], 0
                )
        if not mask.any():
            return None
        drop_small_in_place(mask, {entry.id: area for entry, area in zip(settings.classes, settings.min_area)})
        return mask


def cut_patches(class_scores: np.ndarray, min_probability: float = MIN_PROBABILITY) -> list[ProbabilityPatch]:
    """Cut network output into patches. class_scores: uint8 (classes, H, W). min_probability: lowest threshold."""
    visible = class_scores.max(axis=0) >= np.uint8(np.ceil(255 * min_probability - 1e-9))
    height, width = visible.shape
    if height * width <= MAX_UNCUT_PIXELS:
        return [_patch(class_scores, visible, np.ones_like(visible), 0, 0)] if visible.any() else []
    rows, columns = -(-height // _CELL), -(-width // _CELL)
    padded = np.zeros((rows * _CELL, columns * _CELL), np.uint8)
    padded[:height, :width] = visible
    cells = np.asarray(padded.reshape(rows, _CELL, columns, _CELL).max(axis=(1, 3)))
    # Touching pixels are in the same or touching cells, so a region stays within one group of cells.
    count, groups, boxes, _ = cv2.connectedComponentsWithStats(cells, connectivity=8)
    patches = []
    for number in range(1, count):
        x, y, cell_width, cell_height = (int(value) * _CELL for value in boxes[number, :4])
        part = (slice(y, min(y + cell_height, height)), slice(x, min(x + cell_width, width)))
        component = np.kron(
            groups[y // _CELL : (y + cell_height) // _CELL, x // _CELL : (x + cell_width) // _CELL] == number,
            np.ones((_CELL, _CELL), bool),
        )
        component = component[: part[0].stop - y, : part[1].stop - x]
        patches.append(_patch(class_scores[(slice(None), *part)], visible[part], component, y, x))
    return patches


def _patch(scores: np.ndarray, visible: np.ndarray, component: np.ndarray, top: int, left: int) -> ProbabilityPatch:
    """Return the patch cropped to the bounding box of `visible` within `component`."""
    visible = visible & component
    rows, columns = np.flatnonzero(visible.any(axis=1)), np.flatnonzero(visible.any(axis=0))
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    return ProbabilityPatch(top + int(rows[0]), left + int(columns[0]), scores[(slice(None), *part)] * visible[part])


@dataclass(frozen=True)
class LabeledDefect:
    """Labeled region. peak: greatest probability of any class on it, 0..1."""

    class_id: int
    area: int
    box: Rect
    peak: float


@dataclass(frozen=True)
class FalseAlarm:
    """Predicted region that touches no defect. peak: its greatest probability, 0..1."""

    class_id: int
    area: int
    box: Rect
    peak: float


@dataclass(frozen=True)
class DefectCount:
    """Labeled region.

    area: pixels. predicted: class of most of the predicted pixels on it; ANY if predictions cover too little of it.
    """

    class_id: int
    area: int
    predicted: int

    @property
    def found(self) -> bool:
        return self.predicted != ANY


@dataclass(frozen=True)
class RegionCount:
    """Predicted regions of a class, which is that of most of their pixels.

    false: those that touch no defect. right: those on which most labeled pixels have the same class.
    """

    regions: int = 0
    false: int = 0
    right: int = 0


@dataclass(frozen=True)
class ImageCounts:
    """Counts of one image at one operating point.

    pixels: class id, or ANY, to (hit, false, missed) pixels; edges: of these, those at the edge of label and of
    prediction. predicted: class id, or ANY, to predicted regions.
    marked, size: number of predicted pixels and of all pixels.
    """

    key: str
    pixels: Mapping[int, tuple[int, int, int]]
    edges: Mapping[int, tuple[int, int, int]]
    defects: tuple[DefectCount, ...]
    predicted: Mapping[int, RegionCount]
    marked: int = 0
    size: int = 0

    @property
    def missed(self) -> int:
        return sum(not defect.found for defect in self.defects)

    @property
    def confused(self) -> int:
        """Number of labeled regions that are detected as another class."""
        return sum(defect.found and defect.predicted != defect.class_id for defect in self.defects)

    @property
    def false(self) -> int:
        return self.predicted[ANY].false

    @property
    def errors(self) -> int:
        """Number of missed defects, defects detected as another class, and false alarms."""
        return self.missed + self.confused + self.false

    @property
    def regions(self) -> int:
        return self.predicted[ANY].regions

    @property
    def is_good(self) -> bool:
        """True if the label shows no defect."""
        hit, _, missed = self.pixels[ANY]
        return not hit + missed

    @property
    def dice(self) -> float | None:
        """Dice of any defect on this image; None if neither label nor prediction has any."""
        hit, false, missed = self.pixels[ANY]
        return 2 * hit / (2 * hit + false + missed) if hit + false + missed else None

    def of_class(self, id: int) -> list[DefectCount]:
        """Return the labeled regions of a class; of all classes for ANY."""
        return [defect for defect in self.defects if id in (ANY, defect.class_id)]


@dataclass(frozen=True)
class ImageEvaluation:
    """Result for one image at one operating point. counts.defects have the order of `StoredPrediction.defects`.

    regions: all predicted regions, as of a prediction at this point.
    """

    counts: ImageCounts
    alarms: tuple[FalseAlarm, ...]
    regions: RegionTable


@dataclass(frozen=True)
class StoredPrediction:
    """Label and network output of one image.

    labeled_pixels: class id, or ANY, -> number; labeled_edges: of these, those at an edge. edges: of the labels in each
    patch, as of `find_edges`. area: inspection area, where the part is; None: that of the settings. truths: label of
    each patch, uint8 (h, w). numbers: for each patch, int32 (h, w) with the 1-based index into `defects`, 0 elsewhere.
    label: hash of the label file. milliseconds: duration of the prediction; None if it was read from the cache.
    """

    key: str
    group: str
    width: int
    height: int
    defects: tuple[LabeledDefect, ...]
    labeled_pixels: Mapping[int, int]
    patches: tuple[ProbabilityPatch, ...]
    truths: tuple[np.ndarray, ...]
    numbers: tuple[np.ndarray, ...]
    label: str = ""
    milliseconds: float | None = None
    labeled_edges: Mapping[int, int] = field(default_factory=dict)
    edges: tuple[np.ndarray, ...] = ()
    area: InspectionArea | None = None

    @property
    def part(self) -> str:
        """Part that the image shows; an image without a group is a part of its own."""
        return self.group or self.key

    @property
    def needed_pixels(self) -> np.ndarray:
        """Pixels of each defect that must be covered to count as found, float64 (defects,)."""
        return np.maximum(1.0, DETECTED_SHARE * np.array([defect.area for defect in self.defects], float))


def collect_prediction(
    key: str,
    truth: np.ndarray,
    patches: Sequence[ProbabilityPatch],
    classes: Sequence[int],
    group: str = "",
    label: str = "",
    milliseconds: float | None = None,
) -> StoredPrediction:
    """Build the stored prediction of one image. truth: label, uint8 (H, W). classes: ids of the model."""
    height, width = truth.shape
    numbered = np.zeros(truth.shape, np.int32)
    regions: list[tuple[int, int, Rect]] = []
    labeled = {ANY: int(np.count_nonzero((truth > 0) & (truth <= MAX_CLASS_ID)))}
    for id in classes:
        of_class = truth == id
        labeled[id] = int(np.count_nonzero(of_class))
        if labeled[id]:
            count, labels, stats, _ = cv2.connectedComponentsWithStats(of_class.view(np.uint8), connectivity=8)
            np.copyto(numbered, labels + len(regions), where=of_class)
            regions += [
                (id, int(stats[i, cv2.CC_STAT_AREA]), Rect(*(int(value) for value in stats[i, :4])))
                for i in range(1, count)
            ]
    numbers = [np.ascontiguousarray(numbered[patch.slices]) for patch in patches]
    peaks = np.zeros(len(regions) + 1, np.uint8)
    for patch, number in zip(patches, numbers):
        marked = np.flatnonzero(number)
        np.maximum.at(peaks, number.reshape(-1)[marked], patch.highest.reshape(-1)[marked])
    defects = tuple(
        LabeledDefect(id, area, box, float(peak) / 255) for (id, area, box), peak in zip(regions, peaks[1:].tolist())
    )
    truths = tuple(np.ascontiguousarray(truth[patch.slices]) for patch in patches)
    planes = find_edges(truth, classes)
    edges = tuple(np.ascontiguousarray(planes[(slice(None), *patch.slices)]) for patch in patches)
    rest = tuple(patches), truths, tuple(numbers), label, milliseconds, _count_edges(planes, classes), edges
    return StoredPrediction(key, group, width, height, defects, labeled, *rest)


def find_edges(mask: np.ndarray, classes: Sequence[int]) -> np.ndarray:
    """Return the class ids of the pixels of a mask, uint8 (H, W), that are within BOUNDARY of an edge, uint8 (2, H, W).

    First plane: edges of the regions of each class. Second plane: edges of the regions of any class.
    """
    planes = np.zeros((2, *mask.shape), np.uint8)
    known = np.where(mask <= MAX_CLASS_ID, mask, 0).astype(np.uint8)
    for plane, ids in ((planes[0], classes), (planes[1], [ANY])):
        for id in ids:
            region = (known > 0 if id == ANY else known == id).astype(np.uint8)
            if region.any():
                inside = cv2.erode(region, np.ones((3, 3), np.uint8), iterations=BOUNDARY, borderValue=0)
                np.copyto(plane, known, where=region > inside)
    return planes


def _count_edges(planes: np.ndarray, classes: Sequence[int]) -> dict[int, int]:
    return {ANY: int(np.count_nonzero(planes[1])), **{id: int(np.count_nonzero(planes[0] == id)) for id in classes}}


def evaluate_prediction(prediction: StoredPrediction, settings: ModelSettings) -> ImageEvaluation:
    """Count one image at an operating point. All metrics of a segmentation are calculated from these counts."""
    ids = sorted(entry.id for entry in settings.classes)
    tally = _Tally(ids, len(prediction.defects))
    tables: list[RegionTable] = []
    parts = zip(prediction.patches, prediction.truths, prediction.numbers, prediction.edges)
    for patch, truth, numbers, edges in parts:
        mask = patch.apply_operating_point(settings)
        if mask is not None and mask.any():
            tally.add(patch, mask, truth, numbers)
            tally.add_edges(mask, truth, edges)
            present = np.bincount(mask.reshape(-1), minlength=256)
            tables.append(
                _verdict_table(
                    prediction,
                    patch,
                    mask,
                    [entry.id for entry in settings.classes if present[entry.id]],
                    settings,
                )
            )
    return ImageEvaluation(tally.counts(prediction), tuple(tally.alarms), RegionTable.join(tables))


def _verdict_table(
    prediction: StoredPrediction, patch: ProbabilityPatch, mask: np.ndarray, ids: Sequence[int], settings: ModelSettings
) -> RegionTable:
    """Return the regions of these classes in a patch that count for the verdict, as of `regions.verdict_table`."""
    border, exponent = settings.verdict_border, settings.anomaly_exponent
    right, bottom = prediction.width - border - patch.left, prediction.height - border - patch.top
    inside = (border - patch.left, border - patch.top, right, bottom)
    shape = prediction.height, prediction.width
    place = {
        "offset": (patch.left, patch.top),
        "shape": shape,
        "maps": AreaMaps.of(prediction.area or area_of(settings.areas, prediction.key), shape),
    }
    measured = {id: measure(mask, id, patch.highest, exponent=exponent, inside=inside, with_runs=True) for id in ids}
    return RegionTable.of(measured, border_exponent=settings.border_exponent, **place)


def _split(
    hit: Mapping[int, int], predicted: Mapping[int, int], labeled: Mapping[int, int]
) -> dict[int, tuple[int, int, int]]:
    """Return hit, false and missed pixels of each class."""
    return {id: (hit[id], predicted[id] - hit[id], labeled[id] - hit[id]) for id in hit}


def classify_regions(region: np.ndarray, labeled: np.ndarray, areas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which predicted regions touch a labeled defect, and which are false alarms, both bool (regions,).

    A region mainly on ignored pixels is neither. region: number of the region at each predicted pixel, int (pixels,).
    labeled: class ids in the label there, uint8 (pixels,). areas: of the regions, in pixels.
    """
    counted = labeled <= MAX_CLASS_ID
    touches = np.bincount(region[counted & (labeled > 0)], minlength=len(areas)) > 0
    return touches, ~touches & (np.bincount(region[counted], minlength=len(areas)) * 2 >= areas)


class _Tally:
    """Sum of the counts of all patches of one image. ids: classes of the model, in ascending order."""

    def __init__(self, ids: Sequence[int], defects: int) -> None:
        self._ids, self._other = ids, len(ids)
        self._channel = np.full(256, self._other)  # of a class id; classes that the model does not know share the last
        self._channel[list(ids)] = np.arange(len(ids))
        self._hit = dict.fromkeys([ANY, *ids], 0)
        self._predicted = dict.fromkeys([ANY, *ids], 0)
        self._covered = np.zeros((defects + 1, len(ids)), np.int64)  # pixels of each defect, by predicted class
        self._regions = np.zeros((len(ids), 3), int)  # as in RegionCount
        self._edge_hit = dict.fromkeys([ANY, *ids], 0)
        self._edge = dict.fromkeys([ANY, *ids], 0)
        self._marked = 0
        self.alarms: list[FalseAlarm] = []

    def add(self, patch: ProbabilityPatch, mask: np.ndarray, truth: np.ndarray, numbers: np.ndarray) -> None:
        """Add the prediction `mask`, uint8 (h, w), in one patch, with its label and the numbers of the defects."""
        marked = np.flatnonzero(mask)
        predicted, labeled = mask.reshape(-1)[marked], truth.reshape(-1)[marked]
        counted = labeled <= MAX_CLASS_ID
        of_class = np.bincount(predicted[counted], minlength=256)
        correct = np.bincount(predicted[predicted == labeled], minlength=256)
        for id in self._ids:
            self._hit[id] += int(correct[id])
            self._predicted[id] += int(of_class[id])
        self._hit[ANY] += int(np.count_nonzero(counted & (labeled > 0)))
        self._predicted[ANY] += int(np.count_nonzero(counted))
        self._marked += len(marked)
        defect = numbers.reshape(-1)[marked]
        on_defect = counted & (defect > 0)
        np.add.at(self._covered, (defect[on_defect], self._channel[predicted[on_defect]]), 1)
        self._add_regions(patch, mask, marked, labeled)

    def add_edges(self, mask: np.ndarray, truth: np.ndarray, labeled: np.ndarray) -> None:
        """Add the edges of the prediction in one patch. labeled: edges of the label, as of `find_edges`."""
        of_class, of_any = find_edges(mask, self._ids) * (truth <= MAX_CLASS_ID)
        correct = np.bincount(of_class[of_class == labeled[0]], minlength=256)
        for id, count in enumerate(np.bincount(of_class.reshape(-1), minlength=256)):
            if count and id != ANY:
                self._edge_hit[id] += int(correct[id])
                self._edge[id] += int(count)
        self._edge_hit[ANY] += int(np.count_nonzero((of_any > 0) & (labeled[1] > 0)))
        self._edge[ANY] += int(np.count_nonzero(of_any))

    def _add_regions(self, patch: ProbabilityPatch, mask: np.ndarray, marked: np.ndarray, labeled: np.ndarray) -> None:
        """Add the predicted regions of any class.

        marked: flat indices of the mask's pixels. labeled: class ids in the label at these.
        """
        count, labels, stats, _ = cv2.connectedComponentsWithStats((mask > 0).view(np.uint8), connectivity=8)
        region, width = labels.reshape(-1)[marked], self._other + 1
        touches, false = classify_regions(region, labeled, stats[:, cv2.CC_STAT_AREA])
        on_defect = (labeled > 0) & (labeled <= MAX_CLASS_ID)

        def by_class(regions: np.ndarray, ids: np.ndarray) -> np.ndarray:
            return np.bincount(regions * width + self._channel[ids], minlength=count * width).reshape(count, width)

        own = by_class(region, mask.reshape(-1)[marked]).argmax(axis=1)
        under = by_class(region[on_defect], labeled[on_defect])
        right = touches & (under.argmax(axis=1) == own)
        for column, which in enumerate((np.ones(count, bool), false, right)):
            self._regions[:, column] += np.bincount(own[1:][which[1:]], minlength=len(self._ids))
        for number in np.flatnonzero(false[1:]) + 1:
            x, y, w, h = (int(value) for value in stats[number, :4])
            part = (slice(y, y + h), slice(x, x + w))
            peak = float(patch.highest[part][labels[part] == number].max()) / 255
            box = Rect(patch.left + x, patch.top + y, w, h)
            self.alarms.append(FalseAlarm(self._ids[own[number]], int(stats[number, cv2.CC_STAT_AREA]), box, peak))

    def counts(self, prediction: StoredPrediction) -> ImageCounts:
        covered = self._covered[1:]
        found = covered.sum(axis=1) >= prediction.needed_pixels
        classes = covered.argmax(axis=1)
        regions = {id: RegionCount(*map(int, row)) for id, row in zip(self._ids, self._regions)}
        return ImageCounts(
            prediction.key,
            _split(self._hit, self._predicted, prediction.labeled_pixels),
            _split(self._edge_hit, self._edge, prediction.labeled_edges),
            tuple(
                DefectCount(defect.class_id, defect.area, self._ids[number] if is_found else ANY)
                for defect, number, is_found in zip(prediction.defects, classes, found)
            ),
            {ANY: RegionCount(*map(int, self._regions.sum(axis=0))), **regions},
            self._marked,
            prediction.width * prediction.height,
        )
