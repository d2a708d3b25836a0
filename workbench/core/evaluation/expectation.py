"""Metric that is expected of a model on other parts and under changed lighting.

A range on parts that are neither training nor validation/test images is forecast from the held-out images. A network
may also have learned the exposure of the training images instead of the defects. On further images of the same
exposure such a model looks excellent; copies of the held-out images with another brightness, contrast and sharpness
show the fault without new images.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.confidence import student_quantile
from workbench.core.evaluation.intervals import sum_by_part
from workbench.core.messages import Message, catalog, join, recognize
from workbench.core.runs.run import Run
from workbench.core.runs.run_history import run_line
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings

MAX_SECONDS = 20.0  # of the test after a training
MAX_IMAGES = 150


def _blur(values: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(values, (0, 0), 0.8)


def _uneven(values: np.ndarray) -> np.ndarray:
    """Brighten toward the right and darken toward the left by a tenth of the range."""
    plane = np.linspace(-0.1, 0.1, values.shape[1], dtype=np.float32)
    return values + (plane if values.ndim == 2 else plane[:, None])


def _contrast(factor: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: (values - values.mean()) * np.float32(factor) + values.mean()


def _gamma(exponent: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: np.clip(values, 0, 1) ** np.float32(exponent)


# Changes of values of which 0 to 1 is the range of the training images, float32 (H, W) or (H, W, 3).
CHANGES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "brighter": lambda values: values + np.float32(0.12),
    "darker": lambda values: values - np.float32(0.12),
    "gamma_low": _gamma(0.7),
    "gamma_high": _gamma(1.4),
    "more_contrast": _contrast(1.5),
    "less_contrast": _contrast(0.67),
    "blurred": _blur,
    "uneven": _uneven,
    "noisy": lambda values: values + np.random.default_rng(0).normal(0, 0.02, values.shape).astype(np.float32),
}


def change_lighting(image: np.ndarray, change: str, settings: ModelSettings) -> np.ndarray:
    """Return an image, of any shape and dtype that `normalize` accepts, with one of CHANGES; the dtype is kept.

    The range of the change is that of the training images, low to high of `settings`, so that images of few bits in a
    16-bit file are changed as visibly as others.
    """
    largest = float(np.iinfo(image.dtype).max) if image.dtype.kind == "u" else 1.0
    low, high = (value / settings.full_scale for value in (settings.low, settings.high))
    values = (image.astype(np.float32) / np.float32(largest) - np.float32(low)) / np.float32(max(1e-9, high - low))
    changed = CHANGES[change](values) * np.float32(high - low) + np.float32(low)
    changed = np.clip(changed, 0, 1) * np.float32(largest)
    return (np.rint(changed) if image.dtype.kind == "u" else changed).astype(image.dtype)


def lighting_table(
    measure: Callable[[str | None, int], float | None], images: int, *, seconds: float = MAX_SECONDS
) -> dict[str, Any] | None:
    """Return {"pictures", "unchanged", "changes": {change: metric}, "worst": {"change", "value"}}; None without images.

    measure: returns the metric, 0 to 1, of the first n images with a change, or of the unchanged ones for None; None if
    they have no metric. The first call determines how many images can be measured in `seconds`.
    """
    count = min(images, MAX_IMAGES)
    if not count:
        return None
    started = time.perf_counter()
    unchanged = measure(None, count)
    each = (time.perf_counter() - started) / count
    fitting = int(seconds / max(1e-9, each * (len(CHANGES) + 1)))
    if fitting < count:
        count = max(min(count, 8), fitting)
        unchanged = measure(None, count)
    if unchanged is None:
        return None
    changes = {name: value for name in CHANGES if (value := measure(name, count)) is not None}
    worst = min(changes, key=lambda name: changes[name], default=None)
    return {
        "pictures": count,
        "unchanged": unchanged,
        "changes": changes,
        "worst": None if worst is None else {"change": worst, "value": changes[worst]},
    }


MIN_GROUPS = 3  # parts, also effective ones, below which nothing is forecast
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
    Student's distribution. If few parts have most of the denominator, such as large stains in a Dice, floor and
    quantile are those of the effective number of parts (Kish 1965). The worst change of lighting lowers the lower limit
    by the amount that it costs.
    """
    sums = sum_by_part(np.reshape(counts, (-1, 2)), groups)
    informative = sums[sums[:, 1] > 0]
    total = informative.sum(axis=0)
    if len(informative) < MIN_GROUPS or total[1] <= 0:
        return Forecast(None, None, (Message("forecast.few_parts", n=len(informative), m=MIN_GROUPS),))
    value = float(total[0] / total[1])
    number = len(informative)
    effective = float(total[1] ** 2 / (informative[:, 1] ** 2).sum())
    if effective < MIN_GROUPS - 1e-6:
        below = math.floor(10 * effective) / 10  # rounded down, so that it differs from the number required
        uneven = Message("forecast.uneven_parts", n=number, effective=f"{below:.1f}", m=MIN_GROUPS)
        return Forecast(None, None, (uneven,))
    residuals = informative[:, 0] - value * informative[:, 1]
    between = math.sqrt(number / (number - 1) * float((residuals**2).sum())) / float(total[1])
    shrunk = (value * effective + 2) / (effective + 4)
    binomial = math.sqrt(shrunk * (1 - shrunk) / (effective + 4)) / 2
    margin = student_quantile(round(effective) - 1) * max(between, binomial) * _NEIGHBORS
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
    """Metric with one of `CHANGES`. difference: from the metric of the unchanged images, negative if worse."""

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
        return points_text(self.difference)


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
        """Change with the lowest metric; None if none lowers it."""
        return self.changes[0] if self.changes and self.changes[0].difference < 0 else None

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

    def table(self) -> list[list[str]]:
        """Return the rows of the table of changed lighting, its head and the unchanged images first; [] without one."""
        if self.unchanged is None:
            return []
        metric = figure_texts.full_name(self.metric, "any")
        head = [Message("expectation.change"), metric, Message("expectation.difference")]
        rows = [head, [Message("expectation.unchanged"), self.number(self.unchanged), figure_texts.NOTHING]]
        for change in self.changes:
            name = Message("expectation.is_worst", change=change.text) if change is self.worst else change.text
            rows.append([name, self.number(change.value), signed(100 * change.difference, 1)])
        return rows

    def lines(self) -> list[str]:
        """Return the range with its reason, and the worst change of lighting."""
        sentences = [text for text in (self.range_text, self.reason) if text]
        return [text for text in (join("list.sentences", sentences), self.worst_text) if text]


def signed(value: float, digits: int) -> str:
    """Return a number with its sign, "0" without one; the minus sign is as wide as the plus sign."""
    text = f"{value:+.{digits}f}"
    return text[1:] if not float(text) else text.replace("-", "−")


def points_text(difference: float) -> str:
    """Return a difference of two shares in percentage points, such as "−3 points"."""
    id = "expectation.point" if abs(round(100 * difference)) == 1 else "expectation.points"
    return Message(id, n=signed(100 * difference, 0))


def expectation_of(run: Run) -> Expectation | None:
    """Return the expectation stored with a run; None for a run without one. Reads its events."""
    line = run_line(run)
    return Expectation.of_result(line.expectation, line.model)
