"""Range in which the metric of a model is expected on parts that are neither training nor validation/test images, and
the metric that it reached under changed lighting, as the result of its run states them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.core.evaluation.confidence import student_quantile
from workbench.core.messages import Message, catalog, join, recognize
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import run_line

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


@dataclass(frozen=True)
class LightingChange:
    """Metric with a change of `core.evaluation.lighting`. difference: from the unchanged images, negative if worse."""

    name: str
    value: float
    difference: float

    @property
    def text(self) -> str:
        """Name of the change; that of a later version as it is."""
        id = f"lighting.{self.name}"
        return Message(id) if id in catalog() else self.name

    @property
    def points(self) -> str:
        """Difference in percentage points, such as "−3 points"."""
        number = round(100 * self.difference)
        text = signed(100 * self.difference, 0)
        return Message("expectation.point", n=text) if abs(number) == 1 else Message("expectation.points", n=text)


@dataclass(frozen=True)
class Expectation:
    """Content of the keys `forecast` and `lighting` of a finished run; values are 0 to 1.

    metric: of the values. forecast: None if there is none. images: number of images tested under changed lighting.
    unchanged: metric of these images as they are, None if they were not tested. changes: the worst first.
    """

    metric: Literal["dice", "accuracy"]
    forecast: Forecast | None = None
    images: int = 0
    unchanged: float | None = None
    changes: tuple[LightingChange, ...] = ()

    @classmethod
    def of_result(cls, result: Mapping[str, Any], model: str) -> Expectation | None:
        """Return the expectation in a result decoded by `core.runs.events`; None for a run of an earlier version."""
        forecast, lighting = result.get("forecast"), result.get("lighting")
        if forecast is None and lighting is None:
            return None
        metric: Literal["dice", "accuracy"] = "accuracy" if model == "resnet" else "dice"
        found = Forecast.from_json(forecast) if forecast is not None else None
        if lighting is None:
            return cls(metric, found)
        unchanged = lighting["unchanged"]
        changes = [LightingChange(name, value, value - unchanged) for name, value in lighting["changes"].items()]
        changes.sort(key=lambda change: change.value)
        return cls(metric, found, lighting["pictures"], unchanged, tuple(changes))

    @property
    def worst(self) -> LightingChange | None:
        return self.changes[0] if self.changes else None

    @property
    def limits(self) -> tuple[float, float] | None:
        """Lower and upper limit of the expected range; None if it cannot be stated."""
        if self.forecast is None or self.forecast.low is None or self.forecast.high is None:
            return None
        return self.forecast.low, self.forecast.high

    # --- texts ------------------------------------------------------------------------------------

    def number(self, value: float) -> str:
        """Return a value as "0.91" for Dice, "91%" for the share of correct verdicts."""
        return f"{value:.2f}" if self.metric == "dice" else f"{100 * value:.0f}%"

    @property
    def range_text(self) -> str:
        """Sentence with the expected range, or that it cannot be stated; "" without a forecast."""
        if self.forecast is None:
            return ""
        if self.limits is None:
            return Message("expectation.unknown")
        low, high = map(self.number, self.limits)
        if self.metric == "dice":
            return Message("expectation.range_dice", low=low, high=high)
        return Message("expectation.range_accuracy", low=low, high=high)

    @property
    def reason(self) -> str:
        """Reason for the range as one or two sentences."""
        return join("list.sentences", self.forecast.why) if self.forecast is not None else ""

    @property
    def worst_text(self) -> str:
        """Worst change of lighting with its metric; "" if it was not tested."""
        if self.worst is None:
            return ""
        value = self.number(self.worst.value)
        return Message("expectation.worst", change=self.worst.text, value=value, points=self.worst.points)

    def lines(self) -> list[str]:
        """Return the range with its reason, and the worst change of lighting."""
        sentences = [text for text in (self.range_text, self.reason) if text]
        return [text for text in (join("list.sentences", sentences), self.worst_text) if text]


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, "0" without one; the minus sign is as wide as the plus sign."""
    text = f"{value:+.{digits}f}"
    return text[1:] if not float(text) else text.replace("-", "−")


def expectation_of(run: Run) -> Expectation | None:
    """Return the expectation stored with a run; None for a run without one. Reads its events."""
    line = run_line(run)
    return Expectation.of_result(line.expectation, line.model)
