"""95 % intervals of the metrics of a model, with the part as the unit.

Images and regions of one part resemble each other, so they contain less information about other parts than the same
number of images of different parts. Every interval here is calculated from sums over each part, and none is stated for
fewer than MIN_PARTS of them. tests/benchmarks/intervals.py simulates how often the intervals contain the true value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from workbench.core.evaluation.confidence import (
    Z,
    beta_below,
    falling_root,
    garwood_interval,
    student_quantile,
    student_tail,
)
from workbench.core.messages import Message

MIN_PARTS = 5  # with fewer parts, their spread is too little known

# Function of sums, shape (..., sums), to a metric, shape (...); nan where there is nothing to count.
Statistic = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Interval:
    """95 % interval of a metric. method: "share", "ratio", "rate", "kappa", "auroc" or "difference"."""

    low: float
    high: float
    method: str


def limits(interval: Interval | Message) -> list[float] | None:
    """Return the limits of an interval; None for the reason why there is none."""
    return [interval.low, interval.high] if isinstance(interval, Interval) else None


def _too_few(parts: int, statistic: Statistic | None = None) -> Message:
    """Return the reason for no interval. statistic: metric, of which only parts with labels count, or a ratio."""
    labeled = statistic in (dice, iou, f1)
    return Message("interval.labeled_parts" if labeled else "interval.parts", n=parts, m=MIN_PARTS)


def sum_by_part(values: np.ndarray | Sequence, parts: Sequence[Hashable]) -> np.ndarray:
    """Return the sums of the values over each part, float64 (parts, ...), in the order of first occurrence.

    values: one entry for each image, shape (images, ...). parts: part shown by each image.
    """
    rows = np.asarray(values, np.float64)
    order = {part: number for number, part in enumerate(dict.fromkeys(parts))}
    sums = np.zeros((len(order), *rows.shape[1:]))
    np.add.at(sums, [order[part] for part in parts], rows)
    return sums


# --- statistics -----------------------------------------------------------------------------------


def dice(sums: np.ndarray) -> np.ndarray:
    """Return the Dice of (hit, false, missed) pixels; nan without labeled pixels."""
    hit, false, missed = np.moveaxis(sums, -1, 0)
    return _divide(2 * hit, np.where(hit + missed > 0, 2 * hit + false + missed, 0))


def iou(sums: np.ndarray) -> np.ndarray:
    """Return the intersection over union of (hit, false, missed) pixels; nan without labeled pixels."""
    hit, false, missed = np.moveaxis(sums, -1, 0)
    return _divide(hit, np.where(hit + missed > 0, hit + false + missed, 0))


def f1(sums: np.ndarray) -> np.ndarray:
    """Return the F1 of (right, predicted, labeled) images; nan without labeled ones."""
    right, predicted, labeled = np.moveaxis(sums, -1, 0)
    return _divide(2 * right, np.where(labeled > 0, predicted + labeled, 0))


def ratio(sums: np.ndarray) -> np.ndarray:
    """Return the ratio of (numerator, denominator), such as precision; nan where the denominator is 0."""
    return _divide(sums[..., 0], sums[..., 1])


def kappa(tables: np.ndarray) -> np.ndarray:
    """Return Cohen's kappa (1960) of counts of verdicts, shape (..., verdicts, verdicts): first by second inspector.

    0 if all verdicts are the same, because then chance explains any agreement; nan without any.
    """
    tables = np.asarray(tables, np.float64)
    total = tables.sum(axis=(-2, -1))
    agreed = _divide(np.trace(tables, axis1=-2, axis2=-1), total)
    by_chance = chance_agreement(tables)
    return np.where(by_chance < 1 - 1e-9, _divide(agreed - by_chance, 1 - by_chance), np.where(total > 0, 0.0, np.nan))


def chance_agreement(tables: np.ndarray) -> np.ndarray:
    """Return the share of equal verdicts of two inspectors who decide independently of each other."""
    return _divide((tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1), tables.sum(axis=(-2, -1)) ** 2)


def mean_of_known(values: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis of the values that are not nan; nan without any."""
    known = ~np.isnan(values)
    return _divide(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))


def _divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(np.shape(below), np.nan), where=np.asarray(below) > 0)


# --- intervals ------------------------------------------------------------------------------------


def share_interval(successes: np.ndarray | Sequence, trials: np.ndarray | Sequence) -> Interval | Message:
    """Return the interval of the share of all trials that are successes, or the reason why there is none.

    successes, trials: numbers of each part, shape (parts,). Parts without trials do not count.
    """
    return ratio_interval(np.stack([np.asarray(successes), np.asarray(trials)], axis=-1), ratio)


def ratio_interval(sums: np.ndarray, statistic: Statistic) -> Interval | Message:
    """Return the interval of a metric from 0 to 1 of all parts together, or the reason why there is none.

    The variance is that of the metric with each part left out in turn (jackknife; Efron and Tibshirani 1993, chapter
    11). The interval is Jeffreys' for a share of as many independent trials as have this variance. The
    interval is widened by Student's distribution, whose degrees of freedom follow from the number of parts, fewer if
    some parts have most of the trials (Korn and Graubard 1998).

    sums: of each part, shape (parts, sums); for a mean of classes (parts, classes, sums).
    statistic: metric of such sums.
    A class without anything to count enters no mean.
    """
    sums, parts = _informative(sums, statistic)
    if parts < MIN_PARTS:
        return _too_few(parts, statistic)
    totals = sums.sum(axis=0)
    value, variance = float(_mean(totals, statistic)), _variance(_mean(totals - sums, statistic))
    column = _TRIALS.get(statistic)
    if column is None:  # pixels, of which every part has many
        degrees = _effective_parts(sums) - 1
        # The variance between few parts is underestimated, because parts with a low metric are rare.
        variance *= (degrees + 1) / max(degrees, 0.1)
        effective = value * (1 - value) / max(variance, 1e-12) if 0 < value < 1 else parts
    else:
        rarer = statistic(sums) < 1 if value > 0.5 else statistic(sums) > 0
        failing = int(np.count_nonzero(rarer.any(axis=1)))
        effective, degrees = _effective_trials(value, variance, sums[..., column], failing, _effective_parts(sums))
    effective *= (Z / student_quantile(degrees)) ** 2
    low, high = _jeffreys(value * effective, (1 - value) * effective)
    return Interval(low, high, "share" if statistic is ratio else "ratio")


# Column of the sums that counts trials, for metrics of a number of regions or images.
_TRIALS: dict[Statistic, int] = {ratio: 1, f1: 2}

# Assumed correlation of the trials of one part, and the number of parts that it weighs as much as. It replaces the
# spread of the parts if only few of them have failures.
_CORRELATION = 0.2
_CORRELATION_WEIGHT = 8


def _effective_trials(
    value: float, variance: float, trials: np.ndarray, failing: int, parts: float
) -> tuple[float, float]:
    """Return how many independent trials are as informative as these, and the degrees of freedom of that estimate.

    variance: of the metric. trials: numbers of each part, shape (parts, classes). failing: number of parts with the
    rarer outcome. parts: effective number.
    The design effect, variance over that of independent trials (Kish 1965), is at least 1.
    """
    total, assumed = _count_trials(trials)
    if assumed == 1:
        return total, 2 * (parts - 1)
    observed = variance * total / (value * (1 - value)) if 0 < value < 1 else 0.0
    # A single part shows that failures are correlated. Only several parts can show that they are independent.
    known = min(4 * min(value, 1 - value) * total if observed > assumed else 3 * failing, len(trials) - 1)
    effect = max(1.0, (known * observed + _CORRELATION_WEIGHT * assumed) / (known + _CORRELATION_WEIGHT))
    return total / effect, (parts - 1) * effect / (effect - 0.5)


def _count_trials(trials: np.ndarray) -> tuple[float, float]:
    """Return the number of trials, and the design effect of the assumed correlation.

    Of a mean of classes, the number is that of a single class whose metric varies as much.
    """
    by_class = trials.sum(axis=0)
    of_average_trial = float(np.sum(trials**2) / np.sum(trials))  # trials in its part
    return len(by_class) ** 2 / float(np.sum(1 / by_class)), 1 + (of_average_trial - 1) * _CORRELATION


def _informative(sums: np.ndarray, statistic: Statistic) -> tuple[np.ndarray, int]:
    """Return the sums as (parts, classes, sums) without empty classes and parts, and the number of parts."""
    sums = np.asarray(sums, np.float64)
    sums = sums[:, None] if sums.ndim == 2 else sums
    sums = sums[:, ~np.isnan(statistic(sums.sum(axis=0)))]
    sums = sums[sums.any(axis=(1, 2))]
    return sums, int(np.count_nonzero(~np.isnan(statistic(sums)).all(axis=1)))


def _mean(sums: np.ndarray, statistic: Statistic) -> np.ndarray:
    """Return the mean of the metric over classes.

    Without the only part of a class, it is the mean of the other classes. The spread between the parts of such a class
    is unknown; the difference between the class and the others is used instead.
    """
    return mean_of_known(statistic(sums))


def _variance(without: np.ndarray) -> float:
    return float(np.sum((without - without.mean()) ** 2)) * (len(without) - 1) / len(without)


def _effective_parts(sums: np.ndarray) -> float:
    """Return how many parts of equal size are as informative as these (Kish 1965)."""
    sizes = sums.sum(axis=-1)
    weights = np.mean(sizes / sizes.sum(axis=0), axis=-1)
    return 1 / float(np.sum(weights**2))


def _jeffreys(successes: float, failures: float) -> tuple[float, float]:
    """Return the equal-tailed 95 % interval of a share (Jeffreys' prior; Brown, Cai and DasGupta 2001).

    The density of angle = asin(sqrt(share)) has no poles and is integrated numerically.
    """
    center, reach = math.atan2(math.sqrt(successes), math.sqrt(failures)), 6 / math.sqrt(successes + failures + 1)
    edges = np.linspace(max(0.0, center - reach), min(math.pi / 2, center + reach), 1001)
    angles = (edges[1:] + edges[:-1]) / 2
    logs = 2 * successes * np.log(np.sin(angles)) + 2 * failures * np.log(np.cos(angles))
    below = np.concatenate([[0], np.cumsum(np.exp(logs - logs.max()))])
    low, high = np.sin(np.interp((0.025, 0.975), below / below[-1], edges)) ** 2
    return float(low) if successes else 0.0, float(high) if failures else 1.0


def rate_interval(events: np.ndarray | Sequence, images: np.ndarray | Sequence) -> Interval | Message:
    """Return the interval of the events per image, such as false alarms, or the reason why there is none.

    events, images: numbers of each part, shape (parts,). Garwood's interval (1936) of a Poisson rate for the effective
    number of images: the variance between the parts gives a design effect of at least 1.
    """
    exposures = np.asarray(images, np.float64)
    counts, exposures = np.asarray(events, np.float64)[exposures > 0], exposures[exposures > 0]
    parts, total = len(counts), float(exposures.sum())
    if parts < MIN_PARTS:
        return _too_few(parts)
    rate = float(counts.sum()) / total
    variance = parts / (parts - 1) * float(np.sum((counts - rate * exposures) ** 2)) / total**2
    effect = max(1.0, variance / (rate / total)) if rate else 1.0
    exposure = total / effect * (Z / student_quantile(parts - 1)) ** 2
    low, high = garwood_interval(rate * exposure, exposure)
    return Interval(low, high, "rate")


def kappa_interval(tables: np.ndarray) -> Interval | Message:
    """Return the interval of Cohen's kappa of all parts together, or the reason why there is none.

    (1 + kappa) / 2 is treated as a share. As many trials are effective as the jackknife variance over the parts allows,
    and no more than for the share of equal verdicts: that variance is too low if few parts have differing verdicts.
    Few parts with other verdicts than the most frequent one widen the interval by Student's distribution, up to nearly
    -1 to 1 if such a verdict is the usual one of a single part or none: kappa then depends on chance.

    tables: counts of each part, shape (parts, verdicts, verdicts).
    """
    tables = np.asarray(tables, np.float64)
    tables = tables[tables.any(axis=(1, 2))]
    if len(tables) < MIN_PARTS:
        return _too_few(len(tables))
    totals = tables.sum(axis=0)
    by_chance = float(chance_agreement(totals))
    if by_chance > 1 - 1e-9:
        return Message("interval.one_verdict")
    verdicts = tables.sum(axis=1) + tables.sum(axis=2)
    others = verdicts.sum(axis=1) - verdicts[:, verdicts.sum(axis=0).argmax()]
    mostly = int(np.count_nonzero(2 * others >= verdicts.sum(axis=1)))
    value, variance = (1 + float(kappa(totals))) / 2, _variance(kappa(totals - tables)) / 4
    equal = np.stack([np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))], axis=-1)[:, None]
    share, parts = float(ratio(equal.sum(axis=0))[0]), _effective_parts(equal)
    of_share = _variance(ratio(equal.sum(axis=0) - equal)[:, 0])
    differing = int(np.count_nonzero(ratio(equal) < 1 if share > 0.5 else ratio(equal) > 0))
    trials, _ = _effective_trials(share, of_share, equal[..., 1], differing, parts)
    effective = trials * 2 * (1 - by_chance)  # so that the failures of both shares are equal
    if 0 < value < 1 and variance > 0:
        effective = min(effective, value * (1 - value) / variance)
    # Effective number of parts with another verdict.
    rarer = float(others.sum() ** 2 / np.sum(others**2)) if mostly > 1 else 1.0
    effective *= (Z / student_quantile(min(parts - 1, rarer))) ** 2
    low, high = _jeffreys(value * effective, (1 - value) * effective)
    return Interval(2 * low - 1, 2 * high - 1, "kappa")


# --- differences ----------------------------------------------------------------------------------


def difference_interval(first: np.ndarray, second: np.ndarray, statistic: Statistic) -> Interval | Message:
    """Return the interval of the metric of `second` minus that of `first`, or the reason why there is none.

    first, second: sums of the same parts, as in `ratio_interval`, of two models on the same images.
    """
    pairs, difference = _paired(first, second, statistic)
    pairs, parts = _informative(pairs, difference)
    if parts < MIN_PARTS:
        return _too_few(parts, statistic)
    totals = pairs.sum(axis=0)
    middle, variance = float(_mean(totals, difference)), _variance(_mean(totals - pairs, difference))
    if (column := _TRIALS.get(statistic)) is not None:
        # One differing part is added, since the spread is too low if the models differ on few trials (Agresti and Min
        # 2005 add one differing trial).
        total, assumed = _count_trials(pairs[..., column])
        variance += (assumed / total) ** 2
    margin = student_quantile(_effective_parts(pairs) - 1) * math.sqrt(variance)
    return Interval(middle - margin, middle + margin, "difference")


def difference_error(first: np.ndarray, second: np.ndarray, statistic: Statistic) -> float | None:
    """Return the standard error of the difference of the metric on the same parts; None for a single part."""
    pairs, difference = _paired(first, second, statistic)
    pairs, parts = _informative(pairs, difference)
    return math.sqrt(_variance(_mean(pairs.sum(axis=0) - pairs, difference))) if parts > 1 else None


def _paired(first: np.ndarray, second: np.ndarray, statistic: Statistic) -> tuple[np.ndarray, Statistic]:
    """Return the sums of both side by side, and the difference of the metric as a statistic of them."""
    count = np.shape(first)[-1]
    return np.concatenate(
        [first, second], axis=-1
    ), lambda sums: statistic(sums[..., count:]) - statistic(sums[..., :count])


def expected_share(before: np.ndarray, images: int, comparisons: int = 1) -> Interval | Message:
    """Return the range in which the share of a period is expected by a reference, or the reason why there is none.

    The periods of a reference differ by more than chance: their Pearson chi-square over its degrees of freedom is the
    design effect, at least 1 (as in Laney's p' charts, 2002), increased as Student's distribution exceeds the normal
    one. With as many times fewer events, the range is that of the conditional test of two Poisson rates (Przyborowski
    and Wilenski 1940), of the rarer outcome. All `comparisons` ranges together contain their shares in 95 % of the
    cases without a change (Bonferroni).

    before: events and images of each period of the reference, shape (periods, 2). images: of the period.
    """
    before = np.asarray(before, np.float64)
    before = before[before[:, 1] > 0]
    degrees = len(before) - 1
    if len(before) < MIN_PARTS:
        return Message("drift.few_hours", n=len(before), m=MIN_PARTS)
    hits, total = before.sum(axis=0)
    share, effect, tail = hits / total, 1.0, 0.025 / comparisons
    if 0 < share < 1:
        spread = (before[:, 0] - share * before[:, 1]) ** 2 / (before[:, 1] * share * (1 - share))
        effect = max(1.0, float(spread.sum()) / degrees)
    effect *= (student_tail(tail, degrees) / NormalDist().inv_cdf(1 - tail)) ** 2
    events, part = min(hits, total - hits) / effect, images / (images + total)
    low = falling_root(lambda x: tail - 1 + beta_below(part, x + 1, events), images / effect) * effect / images
    high = falling_root(lambda x: beta_below(part, x, events + 1) - tail, images / effect) * effect / images
    return Interval(1 - high, 1 - low, "rate") if hits > total - hits else Interval(low, high, "rate")


# --- one new part ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewPart:
    """Statement on a single new part: its metric is at least `limit` with at least `probability`."""

    limit: float
    probability: float


_MIN_PROBABILITY = 0.9  # of the statement on a new part


def new_part(sums: np.ndarray, statistic: Statistic) -> NewPart | Message:
    """Return the lower limit of the metric of one new part, or how many parts such a statement needs.

    The rank of a new part among n others is equally likely to be any of n + 1 (conformal prediction, Vovk et al. 2005),
    so its metric is below the k-th lowest with a probability of at most k / (n + 1).

    sums, statistic: as in `ratio_interval`.
    """
    sums = np.asarray(sums, np.float64)
    values = statistic(sums[:, None] if sums.ndim == 2 else sums)
    values = mean_of_known(values)
    values = np.sort(values[~np.isnan(values)])
    rank = math.floor((len(values) + 1) * (1 - _MIN_PROBABILITY) + 1e-9)
    if not rank:
        needed = math.ceil(1 / (1 - _MIN_PROBABILITY) - 1e-9) - 1
        return Message("forecast.new_part_unknown", needed=needed, n=len(values))
    return NewPart(float(values[rank - 1]), 1 - rank / (len(values) + 1))
