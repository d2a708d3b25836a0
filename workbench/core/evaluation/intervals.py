"""95 % intervals of the metrics of a model, with the part as the unit.

Images and regions of one part resemble each other, so they say less about other parts than the same number of different
parts. Every interval here is calculated from sums over each part, and none is stated for fewer than MIN_PARTS of them.
tests/benchmarks/intervals.py simulates how often the intervals contain the true value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.evaluation.confidence import rate_interval as _garwood_by_part
from workbench.core.evaluation.confidence import student_quantile, wilson
from workbench.core.messages import Message

MIN_PARTS = 5  # with fewer parts, their spread is too little known

# Function of sums, shape (..., sums), to a metric, shape (...); nan where there is nothing to count.
Statistic = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Interval:
    """95 % interval of a metric.

    method: "share", "ratio" or "rate", as the function that calculated it.
    parts: number of parts with something to count; of a mean of classes, that of the class with the fewest.
    """

    low: float
    high: float
    method: str
    parts: int


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

    sums: of each part, shape (parts, sums); for a mean of classes (parts, classes, sums). statistic: metric of such sums.
    A class without anything to count enters no mean.
    """
    sums = np.asarray(sums, np.float64)
    sums = sums[:, None] if sums.ndim == 2 else sums
    totals = sums.sum(axis=0)
    counted = ~np.isnan(statistic(totals))
    sums, totals = sums[:, counted], totals[counted]
    parts = int(np.min(np.count_nonzero(~np.isnan(statistic(sums)), axis=0), initial=len(sums))) if counted.any() else 0
    if parts < MIN_PARTS:
        return Message("interval.parts", n=parts)
    value = float(np.mean(statistic(totals)))
    without = np.nanmean(statistic(totals - sums), axis=-1)  # each part left out
    spread = float(np.sum((without - without.mean()) ** 2)) * (len(sums) - 1) / len(sums)
    effective = parts if spread == 0 or value in (0, 1) else value * (1 - value) / spread
    z = student_quantile(parts - 1)
    interval = wilson(value * effective, effective, z)
    assert interval is not None and not math.isnan(value)
    return Interval(*interval, method="ratio", parts=parts)


def rate_interval(events: np.ndarray | Sequence, images: np.ndarray | Sequence) -> Interval | Message:
    """Return the interval of the events per image, such as false alarms, or the reason why there is none.

    events, images: numbers of each part, shape (parts,).
    """
    raise NotImplementedError


# --- differences ----------------------------------------------------------------------------------


def difference_interval(first: np.ndarray, second: np.ndarray, statistic: Statistic) -> Interval | Message:
    """Return the interval of the metric of `second` minus that of `first`, or the reason why there is none.

    first, second: sums of the same parts, as in `ratio_interval`, of two models on the same images.
    """
    raise NotImplementedError


def difference_error(first: np.ndarray, second: np.ndarray, statistic: Statistic) -> float | None:
    """Return the standard error of the difference of the metric on the same parts; None for a single part."""
    raise NotImplementedError


# --- one new part ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewPart:
    """Statement on a single new part: its metric is at least (rates: at most) `limit` with `probability`."""

    limit: float
    probability: float
    parts: int


def new_part(
    sums: np.ndarray, statistic: Statistic, *, probability: float = 0.9, upper: bool = False
) -> NewPart | Message:
    """Return the limit of the metric of one new part, or how many parts such a statement needs.

    sums, statistic: as in `ratio_interval`. upper: state the highest value, of a metric that should be low.
    """
    raise NotImplementedError
