"""Stored network output per image, for evaluation at any operating point without repeated inference.

Probabilities are stored only where a class reaches the lowest threshold in use, cut into patches such that no region
crosses patches. Therefore all counts can be made per patch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.core.evaluation.metrics import ANY, DETECTED_SHARE, DefectCount, ImageCounts
from workbench.core.geometry.drawing import Rect
from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.components import measure
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.regions import drop_small_in_place
from workbench.inference.verdict_rule import RegionTable

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
class ImageEvaluation:
    """Result for one image at one operating point. counts.defects have the order of `StoredPrediction.defects`.

    regions: all predicted regions, as of a prediction at this point.
    """

    counts: ImageCounts
    alarms: tuple[FalseAlarm, ...]
    marked: int  # pixels
    regions: RegionTable


@dataclass(frozen=True)
class StoredPrediction:
    """Label and network output of one image.

    labeled_pixels: class id, or ANY, -> number. truths: label of each patch, uint8 (h, w). numbers: for each
    patch, int32 (h, w) with the 1-based index into `defects`, 0 elsewhere. label: hash of the label file.
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
            numbered += np.where(of_class, labels + len(regions), 0).astype(np.int32)
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
    return StoredPrediction(key, group, width, height, defects, labeled, tuple(patches), truths, tuple(numbers), label)


def evaluate_prediction(prediction: StoredPrediction, settings: ModelSettings) -> ImageEvaluation:
    """Count one image at an operating point, as `metrics.count_image` counts it."""
    ids = [entry.id for entry in settings.classes]
    hit, predicted = dict.fromkeys([ANY, *ids], 0), dict.fromkeys([ANY, *ids], 0)
    covered = np.zeros(len(prediction.defects) + 1, np.int64)
    alarms: list[FalseAlarm] = []
    tables: list[RegionTable] = []
    regions = marked = 0
    for patch, truth, numbers in zip(prediction.patches, prediction.truths, prediction.numbers):
        mask = patch.apply_operating_point(settings)
        if mask is None:
            continue
        marked_pixels = np.flatnonzero(mask)
        if not len(marked_pixels):
            continue
        predicted_ids, labeled_ids = mask.reshape(-1)[marked_pixels], truth.reshape(-1)[marked_pixels]
        counted = labeled_ids <= MAX_CLASS_ID
        of_all = np.bincount(predicted_ids, minlength=256)
        of_class = np.bincount(predicted_ids[counted], minlength=256)
        correct = np.bincount(predicted_ids[predicted_ids == labeled_ids], minlength=256)
        for id in ids:
            hit[id] += int(correct[id])
            predicted[id] += int(of_class[id])
        hit[ANY] += int(np.count_nonzero(counted & (labeled_ids > 0)))
        predicted[ANY] += int(np.count_nonzero(counted))
        marked += len(marked_pixels)
        covered += np.bincount(numbers.reshape(-1)[marked_pixels[counted]], minlength=len(covered))
        count, new_alarms = _find_false_alarms(patch, mask, marked_pixels, counted, labeled_ids)
        regions += count
        alarms += new_alarms
        present = [id for id in ids if of_all[id]]
        tables.append(_verdict_table(prediction, patch, mask, present, settings))
    pixels = {id: (hit[id], predicted[id] - hit[id], prediction.labeled_pixels[id] - hit[id]) for id in hit}
    detected = covered[1:] >= prediction.needed_pixels
    defects = tuple(
        DefectCount(defect.class_id, defect.area, bool(is_detected))
        for defect, is_detected in zip(prediction.defects, detected)
    )
    counts = ImageCounts(prediction.key, pixels, defects, regions, len(alarms))
    return ImageEvaluation(counts, tuple(alarms), marked, RegionTable.join(tables))


def _verdict_table(
    prediction: StoredPrediction, patch: ProbabilityPatch, mask: np.ndarray, ids: Sequence[int], settings: ModelSettings
) -> RegionTable:
    """Return the regions of these classes in a patch that count for the verdict, as of `regions.verdict_table`."""
    border, exponent = settings.verdict_border, settings.anomaly_exponent
    right, bottom = prediction.width - border - patch.left, prediction.height - border - patch.top
    inside = (border - patch.left, border - patch.top, right, bottom)
    measured = {id: measure(mask, id, patch.highest, exponent=exponent, inside=inside) for id in ids}
    return RegionTable.of(measured, (patch.left, patch.top), border_exponent=settings.border_exponent)


def _find_false_alarms(
    patch: ProbabilityPatch, mask: np.ndarray, marked: np.ndarray, counted: np.ndarray, labeled_ids: np.ndarray
) -> tuple[int, list[FalseAlarm]]:
    """Return the number of predicted regions and the false alarms among them; see `metrics.find_false_alarms`.

    marked: flat indices of the mask's pixels in the patch. counted, labeled_ids: at these, whether the label counts,
    and its class.
    """
    count, labels, stats, _ = cv2.connectedComponentsWithStats((mask > 0).view(np.uint8), connectivity=8)
    region = labels.reshape(-1)[marked]
    touching = np.bincount(region[counted & (labeled_ids > 0)], minlength=count)
    countable = np.bincount(region[counted], minlength=count)
    area = stats[:, cv2.CC_STAT_AREA]
    alarms = []
    for number in range(1, count):
        if touching[number] == 0 and countable[number] * 2 >= area[number]:
            x, y, width, height = (int(value) for value in stats[number, :4])
            part = (slice(y, y + height), slice(x, x + width))
            region_mask = labels[part] == number
            id = int(np.bincount(mask[part][region_mask]).argmax())
            peak = float(patch.highest[part][region_mask].max()) / 255
            alarms.append(FalseAlarm(id, int(area[number]), Rect(patch.left + x, patch.top + y, width, height), peak))
    return count - 1, alarms
