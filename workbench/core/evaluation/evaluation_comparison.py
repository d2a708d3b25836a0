"""Comparison of two evaluated runs on the images that both kept out of training.

The figures of both runs are those of the common images. The interval of their difference is that of a paired comparison
by part. A difference whose interval contains 0 may be chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.expectation import Expectation, expectation_of
from workbench.core.evaluation.figures import (
    Figure,
    Figures,
    Scope,
    VerdictCount,
    difference_interval,
    mask_figures,
    verdict_figures,
)
from workbench.core.evaluation.intervals import Interval, limits
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.evaluation.stored_predictions import StoredPrediction
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict
from workbench.core.messages import Message

# Compared figures: of the whole model first, then of each class or verdict.
_OF_MASKS: Sequence[tuple[str, Scope]] = (
    ("recall", "any"), ("recall_right_class", "any"), ("false_alarms", "any"), ("dice", "any"),
    ("recall", "class"), ("recall_right_class", "class"), ("dice", "class"),
)  # fmt: skip
_OF_VERDICTS: Sequence[tuple[str, Scope]] = (("accuracy", "any"), ("verdict_recall", "verdict"))


@dataclass(frozen=True)
class FigureDifference:
    """One figure of both runs. interval: of the difference, or the reason why there is none."""

    figures: tuple[Figure, Figure]
    interval: Interval | Message

    @property
    def difference(self) -> float | None:
        """Value of the second run minus that of the first."""
        first, second = (figure.value for figure in self.figures)
        return None if first is None or second is None else second - first

    @property
    def edges(self) -> list[float] | None:
        """Limits of the interval of the difference; None without one."""
        return limits(self.interval)

    @property
    def outcome(self) -> Literal["better", "worse", "equal", "unclear", "unknown"]:
        """Judgment on the second run: "unclear" if the interval contains 0, "unknown" without an interval."""
        if self.difference == 0:
            return "equal"
        if self.difference is None or self.edges is None:
            return "unknown"
        if self.edges[0] <= 0 <= self.edges[1]:
            return "unclear"
        return "better" if (self.difference > 0) == self.figures[0].metric.good else "worse"


@dataclass(frozen=True)
class ImagePair:
    """One image in both evaluations. errors: number of each run, as of `ImageCounts.errors`, or of wrong verdicts."""

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


@dataclass(frozen=True, repr=False)
class EvaluationComparison:
    """Result. images: compared ones; left_out: images of the first evaluation that the second run was trained on, or
    did not evaluate. pairs: images that differ, the greatest difference first. expectations: stored with both runs.
    """

    images: int
    parts: int
    left_out: int
    metrics: tuple[FigureDifference, ...]
    pairs: tuple[ImagePair, ...]
    expectations: tuple[Expectation | None, Expectation | None] = (None, None)

    def __repr__(self) -> str:
        lines = [f"Comparison on {self.images} images of {self.parts} parts, {len(self.pairs)} with different errors"]
        for metric in self.metrics:
            first, second = (figure_texts.value(figure) for figure in metric.figures)
            lines.append(f"  {figure_texts.name(metric.figures[0])}: {first}, then {second}: {metric.outcome}")
        return "\n".join(lines)


def compare_masks(first: MaskEvaluation, second: MaskEvaluation) -> EvaluationComparison:
    """Compare two UNet runs; classes are matched by id."""
    evaluations = [dict(zip((entry.key for entry in each.passed.predictions), zip(each.passed.predictions,
                   each.images.evaluations))) for each in (first, second)]  # fmt: skip
    keys = _common(first, evaluations[0], evaluations[1], second)
    predictions = [[found[key][0] for key in keys] for found in evaluations]
    counts = [[found[key][1].counts for key in keys] for found in evaluations]
    shared = {entry.id for entry in second.settings.classes}
    names = {entry.id: entry.name for entry in first.settings.classes if entry.id in shared}
    parts = [prediction.part for prediction in predictions[0]]
    both = [mask_figures(images, parts, names) for images in counts]
    pairs = [
        ImagePair(
            old.key,
            (old.errors, new.errors),
            dice=(old.dice, new.dice),
            predictions=(old_prediction, new_prediction),
        )
        for old, new, old_prediction, new_prediction in zip(*counts, *predictions)
    ]
    several = len(first.settings.classes) > 1
    shown = [row for row in _OF_MASKS if several or row[1] == "any" and row[0] != "recall_right_class"]
    metrics = _differences(shown, both, counts, parts)
    return _result(first, second, first.passed.predictions, keys, parts, metrics, pairs)


def compare_verdicts(first: VerdictSplitEvaluation, second: VerdictSplitEvaluation) -> EvaluationComparison:
    """Compare two ResNet runs; verdicts are matched by name."""
    evaluations = [{image.key: image for image in each.verdicts.images} for each in (first, second)]
    keys = _common(first, evaluations[0], evaluations[1], second)
    rows = [(evaluations[0][key], evaluations[1][key]) for key in keys]
    parts = [row[0].part or row[0].key for row in rows]
    names = (first.verdicts.names, second.verdicts.names)
    counts = [[VerdictCount(row[n].truth, names[n][row[n].predicted]) for row in rows] for n in (0, 1)]
    shared = [name for name in names[0] if name in names[1]]
    both = [verdict_figures(images, parts, shared) for images in counts]
    pairs = [
        ImagePair(row[0].key, (int(old.truth != old.predicted), int(new.truth != new.predicted)), verdicts=row)
        for row, old, new in zip(rows, *counts)
    ]
    metrics = _differences(_OF_VERDICTS, both, counts, parts)
    return _result(first, second, first.verdicts.images, keys, parts, metrics, pairs)


def _differences(
    shown: Sequence[tuple[str, Scope]], both: Sequence[Figures], counts: Sequence[Sequence[Any]], parts: Sequence[str]
) -> list[FigureDifference]:
    pairs = [pair for id, scope in shown for pair in zip(both[0].all(id, scope), both[1].all(id, scope))]
    pairs.sort(key=lambda pair: list(both[0].classes).index(pair[0].of) if pair[0].name else -1)
    first, second = counts
    return [FigureDifference(pair, difference_interval(pair[0], first, second, parts)) for pair in pairs]


def _result(
    first: SplitEvaluation,
    second: SplitEvaluation,
    shown: Sequence[object],
    keys: Sequence[str],
    groups: Sequence[str],
    metrics: Sequence[FigureDifference],
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
