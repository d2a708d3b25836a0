"""Ranking of images by their anomaly score: ROC curve, area under it, defective images detected at few false alarms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.evaluation.confidence import Z
from workbench.core.evaluation.intervals import MIN_PARTS, Interval, limits, share_interval, sum_by_part
from workbench.core.evaluation.stored_predictions import ANY, ImageEvaluation, StoredPrediction
from workbench.core.messages import Message
from workbench.inference.region_table import RegionTable

FALSE_SHARES = (0.01, 0.05, 0.10)  # shares of rejected good images at which the recall is reported


@dataclass(frozen=True)
class ScoredImage:
    """Labeled image with its predicted regions. group: part that it shows. defective: a defect is labeled."""

    key: str
    group: str
    defective: bool
    regions: RegionTable

    @property
    def score(self) -> float:
        return self.regions.anomaly_score


@dataclass(frozen=True)
class GroupedProportion:
    """Proportion of images. stated: its interval with the part as the unit, or the reason why there is none."""

    hits: int
    total: int
    stated: Interval | Message

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> list[float] | None:
        return limits(self.stated)

    @property
    def why(self) -> str:
        """Reason why there is no interval, "" with one."""
        return "" if isinstance(self.stated, Interval) else self.stated

    @classmethod
    def of(cls, hits: Sequence[bool], groups: Sequence[str]) -> GroupedProportion:
        sums = sum_by_part(np.array([(hit, 1) for hit in hits], float).reshape(-1, 2), groups)
        return cls(sum(map(bool, hits)), len(hits), share_interval(sums[:, 0], sums[:, 1]))


@dataclass(frozen=True)
class RocCurve:
    """ROC curve over the thresholds, float64 (n,), from none rejected to all: an image above a threshold is rejected.

    false: share of rejected good images. recall: share of rejected defective images.
    """

    thresholds: np.ndarray
    false: np.ndarray
    recall: np.ndarray


def scored_images(predictions: Sequence[StoredPrediction], evaluations: Sequence[ImageEvaluation]) -> list[ScoredImage]:
    """Return the images of an evaluation at one operating point."""
    return [
        ScoredImage(prediction.key, prediction.part, prediction.labeled_pixels[ANY] > 0, evaluation.regions)
        for prediction, evaluation in zip(predictions, evaluations, strict=True)
    ]


def roc_curve(images: Sequence[ScoredImage]) -> RocCurve | None:
    """Return the curve, None without good or without defective images."""
    scores, defective = _arrays(images)
    if not defective.any() or defective.all():
        return None
    thresholds = np.concatenate([np.unique(scores)[::-1], [-1.0]])
    good, bad = np.sort(scores[~defective]), np.sort(scores[defective])
    false, recall = (1 - np.searchsorted(values, thresholds, "right") / len(values) for values in (good, bad))
    return RocCurve(thresholds, false, recall)


def image_auroc(images: Sequence[ScoredImage]) -> float | None:
    """Return the area under the ROC curve: the probability that a defective image has a greater score than a good one.

    Equal scores count half. None without good or without defective images.
    """
    curve = roc_curve(images)
    return None if curve is None else float(np.trapezoid([0.0, *curve.recall], [0.0, *curve.false]))


def auroc_interval(images: Sequence[ScoredImage]) -> Interval | Message:
    """Return the 95 % score interval of the AUROC (Newcombe 2006, method 5), or the reason why there is none.

    Parts are counted instead of images, and those with defective and with good images separately.
    """
    value = image_auroc(images)
    bad, good = (len({image.group for image in images if image.defective == kind}) for kind in (True, False))
    if value is None or min(bad, good) < MIN_PARTS:
        return Message("interval.ranked_parts", n=bad, k=good, m=MIN_PARTS)
    return Interval(_solve(value, 0.0, bad, good), _solve(value, 1.0, bad, good), "auroc")


def _solve(value: float, end: float, bad: int, good: int) -> float:
    """Return the area between `value` and `end` whose distance to `value` is Z standard errors, by bisection."""

    def deviates(area: float) -> bool:
        mean = (bad + good) / 2 - 1
        spread = 1 + mean * ((1 - area) / (2 - area) + area / (1 + area))
        return abs(area - value) >= Z * math.sqrt(max(0.0, area * (1 - area) * spread / (bad * good)))

    near, far = value, end
    for _ in range(50):
        middle = (near + far) / 2
        near, far = (near, middle) if deviates(middle) else (middle, far)
    return (near + far) / 2


def recall_at(images: Sequence[ScoredImage], false_share: float) -> tuple[GroupedProportion | None, str]:
    """Return the defective images detected while at most `false_share` of the good ones is rejected, and "".

    None and the reason if there are no defective images, or too few good ones for the share to mean one of them.
    """
    scores, defective = _arrays(images)
    good = np.sort(scores[~defective])
    needed = math.ceil(1 / false_share - 1e-9)
    if len(good) < needed:
        return None, Message("verdict.few_good", n=len(good), m=needed)
    if not defective.any():
        return None, Message("verdict.no_defective")
    threshold = good[len(good) - 1 - math.floor(false_share * len(good) + 1e-9)]
    groups = [image.group for image in images if image.defective]
    return GroupedProportion.of((scores[defective] > threshold).tolist(), groups), ""


def _arrays(images: Sequence[ScoredImage]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([image.score for image in images]), np.array([image.defective for image in images], bool)
