"""Range in which the metric of a model is expected on parts that are neither training nor validation/test images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.evaluation.confidence import student_quantile
from workbench.core.messages import Message, recognize

MIN_GROUPS = 3  # parts below which nothing is forecast
_NEIGHBORS = 1.5  # factor of the standard error: held-out parts are nearer to the training images than future ones


@dataclass(frozen=True)
class Forecast:
    """Expected metric on other parts. low, high: 0..1, None if too few parts were held out. why: one message each."""

    low: float | None
    high: float | None
    why: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "why": [str(reason) for reason in self.why]}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Forecast:
        return cls(raw["low"], raw["high"], tuple(map(recognize, raw["why"])))


def forecast(
    counts: Sequence[tuple[float, float]],
    groups: Sequence[str],
    lighting: Mapping[str, Any] | None = None,
    *,
    percent: bool = True,
) -> Forecast:
    """Return the forecast of a ratio, sum of numerators / sum of denominators over images.

    counts: numerator and denominator of each held-out image: (1 if correct, 1) for a verdict, (2 hit, 2 hit + false +
    missed) pixels for Dice. groups: part of each image. lighting: result of `lighting_table`. percent: state the ratio
    as a percentage.

    Parts, not images, are independent. The standard error is that of a ratio over groups (Cochran 1977) with a floor
    for few errors (the binomial one of Agresti and Coull 1998, one observation per part), at the 95 % quantile of
    Student's distribution. The worst change of lighting lowers the lower limit by the amount that it costs.
    """
    sums: dict[str, np.ndarray] = {}
    for pair, group in zip(counts, groups, strict=True):
        sums[group] = sums.get(group, np.zeros(2)) + np.array(pair, float)
    informative = np.array([pair for pair in sums.values() if pair[1] > 0]).reshape(-1, 2)
    total = informative.sum(axis=0)
    if len(informative) < MIN_GROUPS or total[1] <= 0:
        return Forecast(None, None, (Message("forecast.few_parts", n=len(informative), m=MIN_GROUPS),))
    value = float(total[0] / total[1])
    number = len(informative)
    residuals = informative[:, 0] - value * informative[:, 1]
    between = math.sqrt(number / (number - 1) * float((residuals**2).sum())) / float(total[1])
    shrunk = (value * number + 2) / (number + 4)
    binomial = math.sqrt(shrunk * (1 - shrunk) / (number + 4)) / 2
    margin = student_quantile(number - 1) * max(between, binomial) * _NEIGHBORS
    low, high = value - margin, value + margin / 2
    why = [Message("forecast.parts", n=number, value=f"{value:.1%}" if percent else f"{value:.2f}")]
    worst = (lighting or {}).get("worst")
    if lighting and worst and (drop := lighting["unchanged"] - worst["value"]) > 0.01:
        low -= drop
        why.append(
            Message("forecast.lighting", points=f"{100 * drop:.0f}", change=Message(f"lighting.{worst['change']}"))
        )
    return Forecast(max(0.0, low), min(1.0, high), tuple(why))
