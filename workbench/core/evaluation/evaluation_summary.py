"""Evaluation figures: defects found by class and size, metrics with confidence intervals, false alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.core.evaluation.confidence import digits_supported, rate_interval, wilson
from workbench.core.evaluation.image_counts import ANY, DefectCount, ImageCounts, dice, dice_interval, size_edges

Alert = Literal["only_background", "everything", "every_good_picture", "one_class"]
_GOOD_TO_TELL = 5  # least number of good images for "every_good_picture"; with fewer it may be chance


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
    """`count` events on `pictures` images. interval: 95 % interval of events per image; None if unknown."""

    count: int
    images: int
    interval: list[float] | None

    @property
    def value(self) -> float | None:
        return self.count / self.images if self.images else None


@dataclass(frozen=True)
class ClassSummary:
    """Figures of one class. false: false alarms of this class; None if they were not counted by class."""

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
    """Figures of an evaluation.

    groups: number of parts in the images. alerts: problems of the model as a whole that make the figures meaningless.
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
    facts: Sequence[ImageCounts],
    groups: Sequence[str],
    classes: Sequence[int],
    *,
    alarms: Mapping[int, Sequence[int]] | None = None,
    marked: float = 0.0,
) -> EvaluationSummary:
    """Compute the figures.

    facts: one per image. groups: part shown in each image. classes: ids of the model. alarms: class id -> false alarms
    per image. marked: share of all pixels that is marked.
    """
    defects = [defect for each in facts for defect in each.defects]
    good = [at for at, each in enumerate(facts) if not _real(each)]
    counts = [each.false for each in facts]
    false = {id: _rate(own, groups) for id, own in (alarms or {}).items()}
    rows = tuple(_of_class(facts, defects, id, false.get(id)) for id in classes)
    return EvaluationSummary(
        images=len(facts),
        good=len(good),
        groups=len(set(groups)),
        found=_found(defects),
        false=_rate(counts, groups),
        false_on_good=_rate([counts[at] for at in good], [groups[at] for at in good]),
        dice=dice(facts),
        dice_interval=dice_interval(facts),
        iou=_iou(facts, ANY),
        classes=rows,
        sizes=of_sizes(defects),
        alerts=_alerts(facts, good, rows, marked),
    )


def of_sizes(defects: Sequence[DefectCount]) -> tuple[SizeSummary, ...]:
    """Split defects into three sizes of about equal count. Return () if there are too few defects."""
    edges = size_edges([defect.area for defect in defects])
    if not edges:
        return ()
    at = np.digitize([defect.area for defect in defects], edges)
    ends = [0, *edges, None]
    return tuple(
        SizeSummary(ends[size] or 0, ends[size + 1], _found([each for each, own in zip(defects, at) if own == size]))
        for size in range(3)
    )


def _rate(counts: Sequence[int], groups: Sequence[str]) -> RatePerImage:
    return RatePerImage(sum(counts), len(counts), rate_interval(counts, groups) if counts else None)


def _found(defects: Sequence[DefectCount]) -> Proportion:
    return Proportion(sum(defect.found for defect in defects), len(defects))


def _of_class(
    facts: Sequence[ImageCounts], defects: Sequence[DefectCount], id: int, false: RatePerImage | None
) -> ClassSummary:
    found = _found([defect for defect in defects if defect.class_id == id])
    return ClassSummary(id, found, false, dice(facts, id), _iou(facts, id))


def _iou(facts: Sequence[ImageCounts], id: int) -> float | None:
    hit, false, missed = (sum(each.pixels[id][at] for each in facts) for at in range(3))
    return hit / (hit + false + missed) if hit + false + missed else None


def _real(facts: ImageCounts) -> int:
    hit, _, missed = facts.pixels[ANY]
    return hit + missed


def _alerts(
    facts: Sequence[ImageCounts], good: Sequence[int], classes: Sequence[ClassSummary], marked: float
) -> tuple[Alert, ...]:
    """Return problems that make all figures meaningless, such as a prediction that does not depend on the image."""
    found: list[Alert] = []
    if any(each.defects for each in facts) and not any(each.regions for each in facts):
        found.append("only_background")
    if marked > 0.5:
        found.append("everything")
    if len(good) >= _GOOD_TO_TELL and all(facts[at].false for at in good):
        found.append("every_good_picture")
    shown = [row.class_id for row in classes if row.found.total]
    said = [row.class_id for row in classes if any(sum(each.pixels[row.class_id][:2]) for each in facts)]
    if len(shown) > 1 and len(said) == 1:
        found.append("one_class")
    return tuple(found)
