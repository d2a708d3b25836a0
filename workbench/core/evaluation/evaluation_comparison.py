"""Comparison of two evaluated runs on the images that both kept out of training.

Every metric is a ratio of sums over images. The interval of a difference is found by a paired bootstrap: parts, the
groups of similar images, are drawn with replacement, and both runs are measured on the same draw (Efron and Tibshirani
1993, chapter 8). A difference whose interval contains 0 may be chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.core.evaluation.confidence import rate_interval, wilson
from workbench.core.evaluation.expectation import Expectation, expectation_of
from workbench.core.evaluation.metrics import ANY
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.evaluation.stored_predictions import ImageEvaluation, StoredPrediction
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict

FEWEST_PARTS = 5  # with fewer parts, the bootstrap is no estimate for other parts
_RESAMPLES = 2000

MetricKind = Literal["recall", "false_alarms", "dice", "accuracy"]
Ratios = Sequence[tuple[float, float]]  # numerator and denominator, one pair per image


@dataclass(frozen=True)
class MetricDifference:
    """One metric of both runs. scope: name of a class or verdict, "" for all.

    values, intervals: of the first and the second run; None if there is nothing to count, or too few parts.
    difference: second minus first. interval: 95% interval of the difference. good: True if a high value is desirable.
    """

    kind: MetricKind
    scope: str
    values: tuple[float | None, float | None]
    intervals: tuple[list[float] | None, list[float] | None]
    difference: float | None
    interval: list[float] | None

    @property
    def good(self) -> bool:
        return self.kind != "false_alarms"

    @property
    def outcome(self) -> Literal["better", "worse", "equal", "unclear", "unknown"]:
        """Judgment on the second run: "unclear" if the interval contains 0, "unknown" without an interval."""
        if self.difference == 0 and self.values[0] is not None:
            return "equal"
        if self.difference is None or self.interval is None:
            return "unknown"
        if self.interval[0] <= 0 <= self.interval[1]:
            return "unclear"
        return "better" if (self.difference > 0) == self.good else "worse"


@dataclass(frozen=True)
class ImagePair:
    """One image in both evaluations. errors: missed defects and false alarms, or wrong verdicts, of each run."""

    key: str
    errors: tuple[int, int]
    dice: tuple[float | None, float | None] = (None, None)
    predictions: tuple[StoredPrediction, StoredPrediction] | None = None
    verdicts: tuple[PredictedVerdict, PredictedVerdict] | None = None

    @property
    def weight(self) -> tuple[bool, int, float]:
        """Importance of the difference: one run right and the other wrong first."""
        first, second = self.errors
        dice = abs((self.dice[0] or 0.0) - (self.dice[1] or 0.0)) if None not in self.dice else 0.0
        return (first == 0) != (second == 0), abs(first - second), dice


@dataclass(frozen=True)
class EvaluationComparison:
    """Result. images: compared ones; left_out: images of the first evaluation that the second run was trained on, or
    did not evaluate. pairs: images that differ, the greatest difference first. expectations: stored with both runs.
    """

    images: int
    parts: int
    left_out: int
    metrics: tuple[MetricDifference, ...]
    pairs: tuple[ImagePair, ...]
    expectations: tuple[Expectation | None, Expectation | None] = (None, None)


def compare_masks(first: MaskEvaluation, second: MaskEvaluation) -> EvaluationComparison:
    """Compare two UNet runs; classes are matched by id."""
    evaluations = [dict(zip((entry.key for entry in each.passed.predictions), zip(each.passed.predictions,
                   each.images.evaluations))) for each in (first, second)]  # fmt: skip
    keys = _common(first, evaluations[0], evaluations[1], second)
    rows = [(evaluations[0][key], evaluations[1][key]) for key in keys]
    groups = [row[0][0].group or row[0][0].key for row in rows]
    names = {entry.id: entry.name for entry in first.settings.classes}
    shared = [id for id in names if id in {entry.id for entry in second.settings.classes}]
    metrics = [
        _difference("recall", "", *_both(rows, lambda image: _recall(image)), groups),
        _difference("false_alarms", "", *_both(rows, lambda image: (image.counts.false, 1)), groups),
        _difference("dice", "", *_both(rows, lambda image: _dice(image, ANY)), groups),
    ]
    for id in shared if len(names) > 1 else []:
        metrics += [
            _difference("recall", names[id], *_both(rows, lambda image, id=id: _recall(image, id)), groups),
            _difference("dice", names[id], *_both(rows, lambda image, id=id: _dice(image, id)), groups),
        ]
    pairs = [_mask_pair(*row) for row in rows]
    return _result(first, second, first.passed.predictions, keys, groups, metrics, pairs)


def compare_verdicts(first: VerdictSplitEvaluation, second: VerdictSplitEvaluation) -> EvaluationComparison:
    """Compare two ResNet runs; verdicts are matched by name."""
    evaluations = [{image.key: image for image in each.verdicts.images} for each in (first, second)]
    keys = _common(first, evaluations[0], evaluations[1], second)
    rows = [(evaluations[0][key], evaluations[1][key]) for key in keys]
    group_of = {item.key: item.group or item.key for item in first.dataset.items}
    groups = [group_of.get(key, key) for key in keys]
    names = (first.verdicts.names, second.verdicts.names)

    def ratios(scope: str) -> tuple[Ratios, Ratios]:
        return tuple(  # type: ignore[return-value]
            [(float(_right(row[n], names[n])), 1.0) if scope in ("", row[n].truth) else (0.0, 0.0) for row in rows]
            for n in (0, 1)
        )

    metrics = [_difference("accuracy", "", *ratios(""), groups)]
    metrics += [_difference("recall", name, *ratios(name), groups) for name in names[0] if name in names[1]]
    pairs = [
        ImagePair(row[0].key, (int(not _right(row[0], names[0])), int(not _right(row[1], names[1]))), verdicts=row)
        for row in rows
    ]
    return _result(first, second, first.verdicts.images, keys, groups, metrics, pairs)


def _result(
    first: SplitEvaluation,
    second: SplitEvaluation,
    shown: Sequence[object],
    keys: Sequence[str],
    groups: Sequence[str],
    metrics: Sequence[MetricDifference],
    pairs: Sequence[ImagePair],
) -> EvaluationComparison:
    differing = sorted((pair for pair in pairs if any(pair.weight)), key=lambda pair: pair.key)
    differing.sort(key=lambda pair: pair.weight, reverse=True)
    return EvaluationComparison(
        len(keys),
        len(set(groups)),
        len(shown) - len(keys),
        tuple(metrics),
        tuple(differing),
        (expectation_of(first.run), expectation_of(second.run)),
    )


def _common(
    first: SplitEvaluation,
    shown: Mapping[str, object],
    other: Mapping[str, object],
    second: SplitEvaluation,
) -> list[str]:
    """Return the keys evaluated by both runs that neither was trained on."""
    trained = {item.key for each in (first, second) for item in each.dataset.of("train")}
    return [key for key in shown if key in other and key not in trained]


# --- metrics --------------------------------------------------------------------------------------


def _both(rows, ratio) -> tuple[Ratios, Ratios]:
    return [ratio(row[0][1]) for row in rows], [ratio(row[1][1]) for row in rows]


def _recall(image: ImageEvaluation, id: int | None = None) -> tuple[float, float]:
    defects = [defect for defect in image.counts.defects if id in (None, defect.class_id)]
    return sum(defect.found for defect in defects), len(defects)


def _dice(image: ImageEvaluation, id: int) -> tuple[float, float]:
    hit, false, missed = image.counts.pixels[id]
    return 2 * hit, 2 * hit + false + missed


def _right(image: PredictedVerdict, names: Sequence[str]) -> bool:
    return names[image.predicted] == image.truth


def _difference(kind: MetricKind, scope: str, first: Ratios, second: Ratios, groups: Sequence[str]) -> MetricDifference:
    """Return one metric of both runs with intervals, by a paired bootstrap over groups. Deterministic."""
    order = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    sums = np.zeros((len(order), 2, 2))  # group, run, (numerator, denominator)
    for run, ratios in enumerate((first, second)):
        for group, ratio in zip(groups, ratios):
            sums[order[group], run] += ratio
    totals = sums.sum(axis=0)
    values = [float(above / below) if below else None for above, below in totals]
    difference = None if values[0] is None or values[1] is None else values[1] - values[0]
    informative = int(np.count_nonzero(sums[..., 1].any(axis=1)))
    if informative < FEWEST_PARTS:
        return MetricDifference(kind, scope, (values[0], values[1]), (None, None), difference, None)
    draws = np.random.default_rng(0).multinomial(len(order), np.full(len(order), 1 / len(order)), _RESAMPLES)
    drawn = np.einsum("ng,grv->nrv", draws, sums)
    drawn = drawn[(drawn[..., 1] > 0).all(axis=1)]  # draws with something to count
    ratios = drawn[..., 0] / drawn[..., 1]
    intervals = [_interval(kind, own, groups, ratios[:, run]) for run, own in enumerate((first, second))]
    interval = None if difference is None else _percentiles(ratios[:, 1] - ratios[:, 0])
    return MetricDifference(kind, scope, (values[0], values[1]), (intervals[0], intervals[1]), difference, interval)


def _interval(kind: MetricKind, ratios: Ratios, groups: Sequence[str], drawn: np.ndarray) -> list[float] | None:
    """Return the interval of one run's metric, by the same method as in its evaluation where that needs no draws."""
    if not any(below for _, below in ratios):
        return None
    if kind == "dice":
        return _percentiles(drawn)
    if kind == "false_alarms":
        return rate_interval([int(above) for above, _ in ratios], groups)
    return wilson(int(sum(above for above, _ in ratios)), int(sum(below for _, below in ratios)))


def _percentiles(values: np.ndarray) -> list[float] | None:
    return [float(edge) for edge in np.percentile(values, (2.5, 97.5))] if len(values) else None


def _mask_pair(
    first: tuple[StoredPrediction, ImageEvaluation], second: tuple[StoredPrediction, ImageEvaluation]
) -> ImagePair:
    errors = [image.counts.missed + image.counts.false for _, image in (first, second)]
    dice = []
    for _, image in (first, second):
        above, below = _dice(image, ANY)
        dice.append(above / below if below else None)
    return ImagePair(first[0].key, (errors[0], errors[1]), dice=(dice[0], dice[1]), predictions=(first[0], second[0]))
