"""Metrics of an evaluation: defects found by class and size, Dice with its confidence interval, false alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.core.evaluation.confidence import digits_supported, rate_interval, wilson
from workbench.core.evaluation.metrics import DefectCount, ImageCounts, dice, dice_interval, iou, size_edges

Alert = Literal["only_background", "everything", "every_good_picture", "one_class"]
_MIN_PARTS = 3  # least number of parts for an interval of events per image
_MIN_GOOD_IMAGES = 5  # least number of good images for "every_good_picture"; with fewer it may be chance


@dataclass(frozen=True)
class Proportion:
    """Proportion hits / total. `digit`: total is large enough to show one number, not only the interval."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> list[float] | None:
        """Wilson interval, 95 %."""
        return wilson(self.hits, self.total)

    @property
    def digit(self) -> bool:
        return digits_supported(self.total)


@dataclass(frozen=True)
class RatePerImage:
    """`count` events on `images` images. interval: 95 % interval of events per image; None if unknown."""

    count: int
    images: int
    interval: list[float] | None

    @property
    def value(self) -> float | None:
        return self.count / self.images if self.images else None


@dataclass(frozen=True)
class ClassSummary:
    """Metrics of one class. false: false alarms of this class; None if they were not counted by class."""

    class_id: int
    found: Proportion
    false: RatePerImage | None
    dice: float | None
    iou: float | None


@dataclass(frozen=True)
class SizeSummary:
    """Detection rate of defects with `least` <= size < `below` pixels. below: None for no upper limit."""

    least: int
    below: int | None
    found: Proportion


@dataclass(frozen=True)
class EvaluationSummary:
    """Metrics of an evaluation.

    groups: number of parts in the images. alerts: problems of the model as a whole that make the metrics meaningless.
    """

    images: int
    good: int
    groups: int
    found: Proportion
    false: RatePerImage
    false_on_good: RatePerImage
    dice: float | None
    dice_interval: list[float] | None
    iou: float | None
    classes: tuple[ClassSummary, ...]
    sizes: tuple[SizeSummary, ...]
    alerts: tuple[Alert, ...]


def summarize(
    counts: Sequence[ImageCounts],
    groups: Sequence[str],
    classes: Sequence[int],
    *,
    alarms: Mapping[int, Sequence[int]] | None = None,
    marked: float = 0.0,
) -> EvaluationSummary:
    """Compute the metrics.

    counts: one per image. groups: part shown in each image. classes: ids of the model. alarms: class id -> false alarms
    per image. marked: share of all pixels that is marked.
    """
    defects = [defect for image in counts for defect in image.defects]
    good = [index for index, image in enumerate(counts) if image.is_good]
    false_counts = [image.false for image in counts]
    false = {id: _rate(values, groups) for id, values in (alarms or {}).items()}
    rows = tuple(_summarize_class(counts, defects, id, false.get(id)) for id in classes)
    return EvaluationSummary(
        images=len(counts),
        good=len(good),
        groups=len(set(groups)),
        found=_detected(defects),
        false=_rate(false_counts, groups),
        false_on_good=_rate([false_counts[index] for index in good], [groups[index] for index in good]),
        dice=dice(counts),
        dice_interval=dice_interval(counts),
        iou=iou(counts),
        classes=rows,
        sizes=summarize_sizes(defects),
        alerts=_alerts(counts, good, rows, marked),
    )


def summarize_sizes(defects: Sequence[DefectCount]) -> tuple[SizeSummary, ...]:
    """Split defects into three sizes of about equal count. Return () if there are too few defects."""
    edges = size_edges([defect.area for defect in defects])
    if not edges:
        return ()
    size_of = np.digitize([defect.area for defect in defects], edges)
    ends = [0, *edges, None]
    return tuple(
        SizeSummary(
            ends[size] or 0,
            ends[size + 1],
            _detected([entry for entry, size_index in zip(defects, size_of) if size_index == size]),
        )
        for size in range(3)
    )


def _rate(counts: Sequence[int], groups: Sequence[str]) -> RatePerImage:
    parts = len(set(groups))  # of two parts, Student's distribution would make the interval meaninglessly wide
    return RatePerImage(sum(counts), len(counts), rate_interval(counts, groups) if parts >= _MIN_PARTS else None)


def _detected(defects: Sequence[DefectCount]) -> Proportion:
    return Proportion(sum(defect.found for defect in defects), len(defects))


def _summarize_class(
    counts: Sequence[ImageCounts], defects: Sequence[DefectCount], id: int, false: RatePerImage | None
) -> ClassSummary:
    detected = _detected([defect for defect in defects if defect.class_id == id])
    return ClassSummary(id, detected, false, dice(counts, id), iou(counts, id))


def _alerts(
    counts: Sequence[ImageCounts], good: Sequence[int], classes: Sequence[ClassSummary], marked: float
) -> tuple[Alert, ...]:
    """Return problems that make all metrics meaningless, such as a prediction that does not depend on the image."""
    alerts: list[Alert] = []
    if any(image.defects for image in counts) and not any(image.regions for image in counts):
        alerts.append("only_background")
    if marked > 0.5:
        alerts.append("everything")
    if len(good) >= _MIN_GOOD_IMAGES and all(counts[index].false for index in good):
        alerts.append("every_good_picture")
    labeled = [row.class_id for row in classes if row.found.total]
    predicted = [row.class_id for row in classes if any(sum(image.pixels[row.class_id][:2]) for image in counts)]
    if len(labeled) > 1 and len(predicted) == 1:
        alerts.append("one_class")
    return tuple(alerts)
