"""Texts of evaluation metrics in the language of the window."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication

from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figures import Alert, Figure
from workbench.core.evaluation.intervals import Interval
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.stored_predictions import ImageCounts
from workbench.core.evaluation.verdict_rules import GroupedProportion
from workbench.core.messages import Message
from workbench.ui.text import formatting
from workbench.ui.text.formatting import translate_message

NOTHING = "–"
_HEAD = 14  # characters in a line of the head of a column


def name(figure: Figure) -> str:
    """Return the full name of a figure."""
    return translate_message(figure_texts.name(figure))


def column(id: str, chars: int = _HEAD) -> str:
    """Return the name of a metric for the head of a column, in lines of at most `chars` characters."""
    lines = translate_message(figure_texts.metric_name(id)).replace("，", "，\n").splitlines()
    return "\n".join(textwrap.fill(line, chars, break_long_words=False) for line in lines)


def tip(id: str) -> str:
    """Return the definition of a metric."""
    return translate_message(figure_texts.definition(id))


def value(figure: Figure) -> str:
    return translate_message(figure_texts.value(figure))


def headline(figure: Figure) -> str:
    """Return the value as one of few large numbers."""
    return translate_message(figure_texts.headline(figure))


def text(figure: Figure) -> str:
    """Return value, interval and counts of a figure in one line."""
    return translate_message(figure_texts.text(figure))


def detail(figure: Figure) -> str:
    """Return counts and interval of a figure, or the reason why there is none."""
    return translate_message(figure_texts.detail(figure))


def explanation(figure: Figure) -> str:
    """Return what explains `value`, without repeating it."""
    return translate_message(figure_texts.explanation(figure))


def alert(alert: Alert) -> str:
    """Return what is wrong with the model as a whole, and what to do."""
    return translate_message(figure_texts.alert(alert))


def errors(counts: ImageCounts) -> str:
    """Return the errors of an image, such as "1 missed defect, 2 false alarms"."""
    return translate_message(figure_texts.image_errors(counts))


def between(interval: Sequence[float], digits: int = 0) -> str:
    """Return the interval of a share, such as "25–50%"."""
    low, high = (formatting.number(100 * edge, digits) for edge in interval)
    return QCoreApplication.translate("review", "{low}–{high}%").format(low=low, high=high)


def images(proportion: GroupedProportion) -> str:
    """Return counts of images and interval, such as "20 of 55 (95% CI 25–50%)"."""
    text = QCoreApplication.translate("review", "{hits} of {total}").format(
        hits=formatting.number(proportion.hits), total=formatting.number(proportion.total)
    )
    return formatting.with_note(text, stated(proportion.stated, between))


def stated(interval: Interval | Message, form: Callable[[Sequence[float]], str]) -> str:
    """Return an interval, such as "95% CI 25–50%", or the reason why there is none. form: text of the limits."""
    if isinstance(interval, Message):
        return translate_message(Message("figure.no_interval", why=interval))
    return translate_message(Message("figure.interval", range=form((interval.low, interval.high))))


def score(value: float | None) -> str:
    """Return Dice or IoU with two digits."""
    return NOTHING if value is None else formatting.number(value, 2)


def threshold(point: OperatingPoint, channels: list[int]) -> str:
    """Return the threshold of the given classes: "0.50", or "0.50–0.98" if they differ."""
    values = [point.thresholds[channel] for channel in channels]
    low, high = formatting.number(min(values), 2), formatting.number(max(values), 2)
    return low if low == high else f"{low}–{high}"


def least_area(point: OperatingPoint, channels: list[int], um_per_pixel: float | None) -> str:
    """Return the smallest area of a region, or that the given classes differ in it."""
    values = [point.min_area[channel] for channel in channels]
    if min(values) == max(values):
        return formatting.area(values[0], um_per_pixel).rpartition("  ·  ")[2] if values[0] else NOTHING
    return QCoreApplication.translate("review", "by class")
