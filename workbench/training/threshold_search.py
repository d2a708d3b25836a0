"""Choice of probability thresholds, minimum region areas, ignored border and anomaly score on validation images.

Also the temperature that calibrates the probabilities of verdicts (Guo et al. 2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.components import measure, weights
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.predictor import apply_thresholds
from workbench.inference.region_table import RegionTable

EXPONENTS = (32, 16, 8, 4, 2, 1)  # of the probability in the anomaly score
_LEVELS = np.arange(5, 99) / 100
_AREAS = (0, *(side**2 for side in (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100)))
TEMPERATURES = np.round(np.exp(np.linspace(np.log(0.05), np.log(10), 107)), 3)  # steps of 5 %
_MIN_VERDICTS = 20
_BORDERS = (0, 4, 8, 12, 16)  # pixels
_MIN_RANKED = 10  # good and defective images each
_MIN_GAIN, _GAIN_PER_PIXEL = 0.01, 0.0005  # of AUROC
_DEFAULT_BORDER = 8  # pixels
_TOLERATED_LOSS = 0.01  # of AUROC on the few validation images, for the default border
_PRIOR_IMAGES = 20  # weight, in images, of the curve of all classes relative to a class's own


def choose_segmentation(
    settings: ModelSettings,
    images: Callable[[], Iterable[tuple[np.ndarray, np.ndarray]]],
    min_area: int,
    max_areas: Mapping[int, int],
) -> ModelSettings:
    """Return settings with thresholds, minimum areas, ignored border and anomaly exponent chosen on validation images.

    images: returns for each image label, uint8 (H, W), and probabilities times 255, uint8 (classes, H, W). It is called
    several times, so that not all of them need to be kept in memory. min_area, max_areas: see `AreaSweep.best`.
    """
    ids = tuple(entry.id for entry in settings.classes)
    levels, areas, histograms = ThresholdSweep(ids), AreaSweep(ids), []
    for truth, class_scores in images():
        levels.add(truth, class_scores)
    raw = replace(settings, thresholds=tuple(levels.best()), min_area=(0,) * len(ids))
    for truth, class_scores in images():
        mask, scores = apply_thresholds(class_scores, raw)
        areas.add(truth, mask)
        if _is_labeled(truth).any():
            histograms.append(np.bincount(scores[mask > 0], minlength=256))
    least, exponent = tuple(areas.best(min_area, max_areas)), choose_anomaly_exponent(histograms)
    chosen = replace(raw, min_area=least, anomaly_exponent=exponent)
    borders = BorderSweep(exponent, chosen.border_exponent)
    for truth, class_scores in images():
        borders.add(truth, *apply_thresholds(class_scores, chosen))
    return replace(chosen, verdict_border=borders.best())


@dataclass
class ThresholdSweep:
    """Counter of pixels of the class and of other pixels, per class and probability (0..255)."""

    ids: tuple[int, ...]
    right: np.ndarray = field(init=False)  # int64 (classes, 256): pixels of the class, by their probability
    wrong: np.ndarray = field(init=False)
    missed: np.ndarray = field(init=False)  # pixels of the class where another class is more probable
    images: np.ndarray = field(init=False)  # int64 (classes,): images that show the class

    def __post_init__(self) -> None:
        self.right = np.zeros((len(self.ids), 256), np.int64)
        self.wrong = np.zeros((len(self.ids), 256), np.int64)
        self.missed = np.zeros(len(self.ids), np.int64)
        self.images = np.zeros(len(self.ids), np.int64)

    def add(self, truth: np.ndarray, class_scores: np.ndarray) -> None:
        """Add one image: uint8 (H, W) label, and uint8 (classes, H, W) probabilities times 255."""
        valid = truth <= MAX_CLASS_ID
        highest = class_scores.max(axis=0)
        for number, (id, plane) in enumerate(zip(self.ids, class_scores)):
            is_highest = (plane == highest) & valid
            labeled = truth == id
            self.right[number] += np.bincount(plane[is_highest & labeled], minlength=256)
            self.wrong[number] += np.bincount(plane[is_highest & ~labeled], minlength=256)
            self.missed[number] += np.count_nonzero(labeled & ~is_highest)
            self.images[number] += labeled.any()

    def best(self) -> list[float]:
        """Return per class the threshold of the greatest Dice; 0.5 for all if no image shows a defect.

        Curves of few images are ragged, with random peaks. So the curve of a class is mixed with that of all classes,
        more strongly the fewer images show it (shrinkage, Efron and Morris 1975), and a hundredth of Dice is given up
        for every half of the way back to 0.5.
        """
        if not self.images.any():
            return [0.5] * len(self.ids)
        levels = np.ceil(255 * _LEVELS - 1e-9).astype(int)
        hit, false = (counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, levels] for counts in (self.right, self.wrong))
        labeled = self.right.sum(axis=1) + self.missed
        dice = 2 * hit / np.maximum(1, hit + false + labeled[:, None])
        weights = self.images[:, None]
        shared = (weights * dice).sum(axis=0) / weights.sum()
        estimate = (weights * dice + _PRIOR_IMAGES * shared) / (weights + _PRIOR_IMAGES)
        return _LEVELS[np.argmax(estimate - 0.02 * np.abs(_LEVELS - 0.5), axis=1)].tolist()


@dataclass
class AreaSweep:
    """Counter of labeled regions, with the areas of the regions that found them and of false regions."""

    ids: tuple[int, ...]
    labeled_regions: dict[int, int] = field(default_factory=dict)  # id -> number of labeled regions
    detecting_areas: dict[int, list[int]] = field(
        default_factory=dict
    )  # id -> area of the largest region on each found one
    false_areas: dict[int, list[int]] = field(default_factory=dict)  # id -> areas of regions on no label

    def add(self, truth: np.ndarray, mask: np.ndarray) -> None:
        """Add one image: label and prediction before small regions are dropped, uint8 (H, W)."""
        valid = truth <= MAX_CLASS_ID
        for id in self.ids:
            true_areas, true_labels = _areas(truth == id)
            predicted_areas, predicted = _areas(mask == id)
            self.labeled_regions[id] = self.labeled_regions.get(id, 0) + len(true_areas)
            if not len(predicted_areas):
                continue
            overlap = (true_labels > 0) & (predicted > 0)
            largest = np.zeros(len(true_areas) + 1, np.int64)
            np.maximum.at(largest, true_labels[overlap], predicted_areas[predicted[overlap] - 1])
            self.detecting_areas.setdefault(id, []).extend(largest[largest > 0].tolist())
            touching = np.bincount(predicted[overlap], minlength=len(predicted_areas) + 1)[1:] > 0
            countable = np.bincount(predicted[valid], minlength=len(predicted_areas) + 1)[1:] * 2 >= predicted_areas
            self.false_areas.setdefault(id, []).extend(predicted_areas[~touching & countable].tolist())

    def best(self, min_area: int = 0, max_areas: Mapping[int, int] | None = None) -> list[int]:
        """Return per class the minimum area with the best balance of found defects and false regions.

        At least `min_area`, and otherwise not above that of the class in `max_areas`.

        The balance is F2 (van Rijsbergen 1979): a missed defect has the weight of four false regions. Of equal ones
        the smallest area is taken, so without false regions nothing is dropped.
        """
        chosen = []
        for id in self.ids:
            detecting, false = np.array(self.detecting_areas.get(id, [])), np.array(self.false_areas.get(id, []))
            count = self.labeled_regions.get(id, 0)
            limit = min(max(detecting, default=0), (max_areas or {}).get(id, max(_AREAS)))
            areas = [area for area in _AREAS if area <= limit] or [0]
            detected = np.array([(detecting >= area).sum() for area in areas])
            false_regions = np.array([(false >= area).sum() for area in areas])
            balance = 5 * detected / np.maximum(1, 5 * detected + 4 * (count - detected) + false_regions)
            chosen.append(max(min_area, areas[int(np.argmax(balance))]))
        return chosen


def choose_anomaly_exponent(histograms: Sequence[np.ndarray]) -> int:
    """Return the greatest exponent of `EXPONENTS` with which most defective images have an anomaly score of a pixel.

    With a great exponent only pixels count that are certain, which ranks small certain defects above large faint areas.
    A network after little training is certain nowhere, and all its scores would be 0.

    histograms: of each defective image, the number of its predicted defect pixels by their probability, int (256,).
    """
    for exponent in EXPONENTS:
        masses = np.array([histogram @ weights(exponent) for histogram in histograms if histogram.any()])
        if not len(masses) or np.median(masses) >= 1:
            return exponent
    return EXPONENTS[-1]


@dataclass
class BorderSweep:
    """Counter of the anomaly score of each image without strips of several widths along its border.

    exponent, border_exponent: see `ModelSettings.anomaly_exponent` and `ModelSettings.border_exponent`.
    """

    exponent: int = 1
    border_exponent: int = 0
    scores: list[list[float]] = field(default_factory=list)  # per image, for each of `_BORDERS`
    defective: list[bool] = field(default_factory=list)
    side: int = 1 << 20  # smallest of all images
    at_border: int = 0  # images most of whose labeled defects lie within the default border

    def add(self, truth: np.ndarray, mask: np.ndarray, scores: np.ndarray) -> None:
        """Add one image: label, prediction and its scores, uint8 (H, W)."""
        self.scores.append([self._anomaly_score(mask, scores, border) for border in _BORDERS])
        labeled = _is_labeled(truth)
        inside = labeled[_DEFAULT_BORDER:-_DEFAULT_BORDER, _DEFAULT_BORDER:-_DEFAULT_BORDER]
        self.at_border += 2 * np.count_nonzero(inside) < np.count_nonzero(labeled)
        self.defective.append(bool(labeled.any()))
        self.side = min(self.side, *truth.shape)

    def _anomaly_score(self, mask: np.ndarray, scores: np.ndarray, border: int) -> float:
        inside = (border, border, mask.shape[1] - border, mask.shape[0] - border)
        measured = {
            int(id): measure(mask, int(id), scores, exponent=self.exponent, inside=inside)
            for id in np.unique(mask[mask > 0])
        }
        return RegionTable.of(measured, border_exponent=self.border_exponent).anomaly_score

    def best(self) -> int:
        """Return the width, in pixels, of the strip without which defective images are ranked best above good ones.

        Most networks mark the border of good images, where the surroundings of a pixel are cut off, and more so on
        other parts than on those of the validation images. So a width is chosen if it gains a hundredth of AUROC, the
        smallest of nearly equal ones. Otherwise, and instead of a smaller one, the default is taken, unless it is worse
        by a hundredth or a quarter of the defective images have their defects within it. None is wider than a twelfth
        of the smallest side. 0 for fewer than ten good or defective images.
        """
        defective = np.array(self.defective, bool)
        if min(np.count_nonzero(defective), np.count_nonzero(~defective)) < _MIN_RANKED:
            return 0
        scores = np.array(self.scores)
        areas = np.array([_ranked_above(column[defective], column[~defective]) for column in scores.T])
        allowed = np.array(_BORDERS) * 12 <= self.side
        gains = np.where(allowed, areas - areas[0] - _GAIN_PER_PIXEL * np.array(_BORDERS), 0.0)
        best = int(np.argmax(gains))
        if areas[best] - areas[0] < _MIN_GAIN:
            best = 0
        default = _BORDERS.index(_DEFAULT_BORDER)
        is_harmless = areas[default] > areas[best] - _TOLERATED_LOSS and 4 * self.at_border < np.count_nonzero(
            defective
        )
        return _BORDERS[max(best, default) if allowed[default] and is_harmless else best]


def _ranked_above(bad: np.ndarray, good: np.ndarray) -> float:
    """Return the share of pairs in which the first value is greater; equal ones count half."""
    good = np.sort(good)
    return float(np.mean(np.searchsorted(good, bad, "left") + np.searchsorted(good, bad, "right")) / 2 / len(good))


def labeled_areas(masks: Iterable[np.ndarray], ids: Sequence[int]) -> dict[int, np.ndarray]:
    """Return the areas of all regions of these masks, uint8 (H, W), per class of `ids` that occurs."""
    areas: dict[int, list[np.ndarray]] = {id: [] for id in ids}
    for mask in masks:
        for id in areas:
            if (mask == id).any():
                areas[id].append(_areas(mask == id)[0])
    return {id: np.concatenate(arrays) for id, arrays in areas.items() if arrays}


def max_areas(labeled: Mapping[int, np.ndarray]) -> dict[int, int]:
    """Return per class half the area which four of five labeled regions exceed.

    The few parts in validation may show only large defects by chance; a minimum area chosen for them would drop defects
    of sizes known from other parts.
    """
    return {id: int(np.percentile(areas, 20) / 2) for id, areas in labeled.items()}


def choose_temperature(probabilities: Sequence[np.ndarray], truths: Sequence[int]) -> float:
    """Return the temperature of the greatest likelihood, one of `TEMPERATURES`; 1 if there are too few verdicts."""
    if len(truths) < _MIN_VERDICTS:
        return 1.0
    logs = np.log(np.maximum(np.stack(probabilities), 1e-12)).astype(np.float64)
    losses = []
    for temperature in TEMPERATURES:
        scaled = logs / temperature
        scaled -= scaled.max(axis=1, keepdims=True)
        normalizer = np.log(np.exp(scaled).sum(axis=1))
        losses.append(float((normalizer - scaled[np.arange(len(truths)), list(truths)]).mean()))
    return float(TEMPERATURES[int(np.argmin(losses))])


def _is_labeled(truth: np.ndarray) -> np.ndarray:
    """Return True for the pixels of a label, uint8 (H, W), that show a defect."""
    return (truth > 0) & (truth <= MAX_CLASS_ID)


def _areas(region: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the areas of the connected components, int (n,), and their labels, int32 (H, W)."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(region.astype(np.uint8), connectivity=8)
    return stats[1:count, cv2.CC_STAT_AREA], labels
