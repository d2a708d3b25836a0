"""Metrics of a model, per defect and per pixel: over all validation/test images, and per image by size of defect.

Pixel metrics are pooled over images and reported for foreground classes only. A class without labeled pixels has no
Dice and no IoU (None) and enters no mean: they would be 0 for a single wrong pixel; its false alarms count in those of
any defect. A correct empty prediction does not count either, so a model that predicts nothing never gets good metrics.
Ids >= 254 (don't care, not labeled) are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.core.evaluation.confidence import wilson
from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.io.opencv import cv2

# Share of a labeled defect that predictions must cover for the defect to count as found.
DETECTED_SHARE = 0.1
ANY = 0  # any class, in place of a class id
ENOUGH = 10  # images with defects required for a meaningful bootstrap interval
_RESAMPLES = 2000


@dataclass
class SegmentationMeter:
    """Accumulator of segmentation metrics over images; `report` returns them. `classes` maps id -> name."""

    classes: dict[int, str]
    counts: list[ImageCounts] = field(default_factory=list)

    def add(self, truth: np.ndarray, predicted: np.ndarray, key: str = "") -> ImageCounts:
        """Add one image: label and prediction, uint8 (H, W). Return its counts."""
        counts = count_image(key, truth, predicted, list(self.classes))
        self.counts.append(counts)
        return counts

    def report(self) -> dict[str, Any]:
        per_class = {name: self._class_report(id) for id, name in self.classes.items()}
        defects = [defect for image in self.counts for defect in image.defects]
        detected, false = sum(defect.found for defect in defects), [image.false for image in self.counts]
        false_on_good = [image.false for image in self.counts if image.is_good]
        hit, false_pixels, _ = sum_pixels(self.counts)
        return {
            "dice": _mean(row["dice"] for row in per_class.values()),
            "iou": _mean(row["iou"] for row in per_class.values()),
            "any_defect": _pixel_metrics(self.counts, ANY),
            "per_class": per_class,
            "regions": {
                "recall": detected / len(defects) if defects else None,
                "recall_interval": wilson(detected, len(defects)),
                "found": detected,
                "defects": len(defects),
                "false": sum(false),
                "false_per_picture": _mean(false),
                "false_per_good_picture": _mean(false_on_good),
            },
            "pictures": len(self.counts),
            "good_pictures": len(false_on_good),
            # a warning, not a metric: there were defects, and the model predicted none
            "only_background": bool(defects and not hit + false_pixels),
        }

    def _class_report(self, id: int) -> dict[str, Any]:
        found = [defect.found for image in self.counts for defect in image.defects if defect.class_id == id]
        return {
            **_pixel_metrics(self.counts, id),
            "defects": len(found),
            "recall_defects": sum(found) / len(found) if found else None,
            "recall_interval": wilson(sum(found), len(found)),
        }


@dataclass
class VerdictMeter:
    """Accumulator of verdict metrics; `names` in fixed order.

    Macro F1 is the mean over verdicts that occur in the labels.
    """

    names: tuple[str, ...]
    confusion: np.ndarray = field(init=False)  # int64 (V, V): row = label, column = prediction

    def __post_init__(self) -> None:
        self.confusion = np.zeros((len(self.names), len(self.names)), np.int64)

    def add(self, truth: str, predicted: str) -> None:
        self.confusion[self.names.index(truth), self.names.index(predicted)] += 1

    def report(self) -> dict[str, Any]:
        total = int(self.confusion.sum())
        correct = int(np.trace(self.confusion))
        per_class = {}
        for i, name in enumerate(self.names):
            hit = int(self.confusion[i, i])
            labeled, predicted = int(self.confusion[i].sum()), int(self.confusion[:, i].sum())
            f1 = 2 * hit / (labeled + predicted) if labeled else None
            per_class[name] = {
                "precision": hit / predicted if predicted else None,
                "recall": hit / labeled if labeled else None,
                "f1": f1,
                "pictures": labeled,
            }
        return {
            "accuracy": correct / total if total else None,
            "accuracy_interval": wilson(correct, total),
            "macro_f1": _mean(row["f1"] for row in per_class.values()),
            "per_class": per_class,
            "confusion": {"names": list(self.names), "rows": self.confusion.tolist()},
            "pictures": total,
        }


def match_defects(labeled: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the area in pixels of each labeled region, and True if it counts as found.

    labeled: bool (H, W), one class of the labels. predicted: bool (H, W), predictions of any class.
    """
    labels, count = _components(labeled)
    area = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    covered = np.bincount(labels[predicted], minlength=count + 1)[1:]
    return area, covered >= np.maximum(1, DETECTED_SHARE * area)


def find_false_alarms(regions: np.ndarray, labeled: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return True for each predicted region that touches no defect.

    regions: bool (H, W), predictions. labeled: bool (H, W), defects in the labels. predicted: bool (H, W), predictions
    where labels count. A region mainly on "don't care" is neither right nor wrong.
    """
    labels, count = _components(regions)
    area = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    touching = np.bincount(labels[labeled], minlength=count + 1)[1:]
    countable = np.bincount(labels[predicted], minlength=count + 1)[1:]
    return (touching == 0) & (countable * 2 >= area)


def _components(mask: np.ndarray) -> tuple[np.ndarray, int]:
    count, labels = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
    return labels, count - 1


@dataclass(frozen=True)
class DefectCount:
    """Labeled region. area: pixels. found: True if predictions cover enough of it."""

    class_id: int
    area: int
    found: bool


@dataclass(frozen=True)
class ImageCounts:
    """Counts of one image.

    pixels: class id, or ANY, to (hit, false, missed) pixels. regions: number of predicted regions. false: number of
    those that touch no defect.
    """

    key: str
    pixels: Mapping[int, tuple[int, int, int]]
    defects: tuple[DefectCount, ...]
    regions: int
    false: int

    @property
    def missed(self) -> int:
        return sum(not defect.found for defect in self.defects)

    @property
    def is_good(self) -> bool:
        """True if the label shows no defect."""
        hit, _, missed = self.pixels[ANY]
        return not hit + missed


def count_image(key: str, truth: np.ndarray, predicted: np.ndarray, classes: Sequence[int]) -> ImageCounts:
    """Compare a label with a prediction, both uint8 (H, W). classes: ids of the classes to count."""
    counted = truth <= MAX_CLASS_ID
    labeled, marked = (truth > 0) & counted, (predicted > 0) & counted
    pixels = {ANY: _pixels(labeled, marked)}
    defects = []
    for id in classes:
        pixels[id] = _pixels(truth == id, (predicted == id) & counted)
        areas, detected = match_defects(truth == id, marked)
        defects += [DefectCount(id, int(area), bool(is_detected)) for area, is_detected in zip(areas, detected)]
    false = find_false_alarms(predicted > 0, labeled, marked)
    return ImageCounts(key, pixels, tuple(defects), len(false), int(false.sum()))


def _pixels(labeled: np.ndarray, predicted: np.ndarray) -> tuple[int, int, int]:
    hit = int(np.count_nonzero(labeled & predicted))
    return hit, int(np.count_nonzero(predicted)) - hit, int(np.count_nonzero(labeled)) - hit


def sum_pixels(counts: Sequence[ImageCounts], id: int = ANY) -> tuple[int, int, int]:
    """Return the hit, false and missed pixels of all images together."""
    hit, false, missed = (sum(image.pixels[id][index] for image in counts) for index in range(3))
    return hit, false, missed


def dice(counts: Sequence[ImageCounts], id: int = ANY) -> float | None:
    """Return the Dice of all images together; None if neither labels nor predictions have any pixels.

    None as well for a class without labeled pixels.
    """
    hit, false, missed = sum_pixels(counts, id)
    counted = hit + missed if id != ANY else hit + false + missed
    return 2 * hit / (2 * hit + false + missed) if counted else None


def iou(counts: Sequence[ImageCounts], id: int = ANY) -> float | None:
    """Return the intersection over union of all images together; None where `dice` returns None."""
    value = dice(counts, id)
    return None if value is None else value / (2 - value)


def _pixel_metrics(counts: Sequence[ImageCounts], id: int) -> dict[str, float | None]:
    hit, false, missed = sum_pixels(counts, id)
    return {
        "dice": dice(counts, id),
        "iou": iou(counts, id),
        "precision": hit / (hit + false) if hit + false else None,
        "recall": hit / (hit + missed) if hit + missed else None,
    }


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def dice_interval(counts: Sequence[ImageCounts], id: int = ANY) -> list[float] | None:
    """Return the 95 % interval by Efron's percentile bootstrap over images; None below ENOUGH images with defects.

    Whole images are drawn, since the pixels of one image are not independent. The result is deterministic.
    """
    informative = sum(image.pixels[id][0] + image.pixels[id][2] > 0 for image in counts)
    if informative < ENOUGH:
        return None
    values = np.array([image.pixels[id] for image in counts], float)
    resamples = np.random.default_rng(0).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), _RESAMPLES)
    hit, false, missed = (resamples @ values).T
    denominator = 2 * hit + false + missed
    values_of_dice = 2 * hit[denominator > 0] / denominator[denominator > 0]
    return [float(edge) for edge in np.percentile(values_of_dice, (2.5, 97.5))]


def size_edges(areas: Sequence[int]) -> list[int]:
    """Return areas in pixels that divide defects into three about equally full size ranges; [] if there are too few."""
    if len(areas) < 9:
        return []
    edges = [_round(float(edge)) for edge in np.quantile(areas, (1 / 3, 2 / 3))]
    sizes = [np.count_nonzero(np.digitize(areas, edges) == index) for index in range(3)]
    return edges if edges[0] < edges[1] and min(sizes) >= 2 else []


def _round(value: float) -> int:
    """Round to two significant digits."""
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value, -digits))
