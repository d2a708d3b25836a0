"""Figures as texts. Every document, table and line that shows a figure takes its name and its number from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.core.evaluation.figures import Alert, Figure, Scope
from workbench.core.evaluation.stored_predictions import ANY, ImageCounts
from workbench.core.messages import Message, join

_FEW_PARTS = ("interval.parts", "interval.labeled_parts")
NOTHING = "–"
MIN_OVERLAP = 0.6  # Dice of an image; below it, a prediction that detects all defects is not without errors
_SIMILAR = 0.1  # difference of the areas, as a share, up to which only the overlap is stated
_ALERTS: Mapping[Alert, str] = {
    "only_background": "card.no_predictions",
    "everything": "report.everything_marked",
    "every_good_picture": "report.every_good_image",
    "one_class": "report.one_class",
    "wrong_class": "report.wrong_class",
}
_PLAIN = ("recall_right_class", "region_precision_right_class", "false_alarms", "accuracy", "missed_images")


def metric_name(id: str) -> str:
    """Return the name of a metric, such as "Dice"."""
    return Message(f"figure.{id}")


def name(figure: Figure) -> str:
    """Return the full name of a figure, such as "Dice, any defect"."""
    return full_name(figure.id, figure.scope, figure.name)


def full_name(id: str, scope: Scope, name: str = "") -> str:
    """Return the full name of a metric and a scope. name: of the class or verdict."""
    metric = metric_name(id)
    if scope in ("class", "verdict", "pair"):
        return Message("figure.of_class", metric=metric, name=name)
    if (scope == "any" and id in _PLAIN) or id == "false_alarm_images":
        return metric  # says by itself what it counts
    return Message("figure.of_mean_verdicts" if id == "f1" else f"figure.of_{scope}", metric=metric)


def definition(id: str) -> str:
    """Return what a metric counts, as a sentence."""
    return Message(f"figure.{id}_definition")


def number(figure: Figure, value: float | None, *, digits: int = 2) -> str:
    """Return a value in the unit of a figure. digits: of values that are no percentage."""
    if value is None:
        return NOTHING
    if figure.metric.unit == "share":
        return f"{100 * value:.0f}%"
    return f"{value:.{digits}f}".replace("-", "−")


def value(figure: Figure, *, digits: int = 2) -> str:
    """Return the value; only its counts where these are too small for one number and have no interval."""
    if figure.missing or figure.value is None:
        return NOTHING
    if figure.digit:
        return number(figure, figure.value, digits=digits)
    return counts(figure) if figure.edges is None else between(figure, figure.edges)


def headline(figure: Figure) -> str:
    """Return the value as one of few large numbers."""
    return Message("interval.not_measured") if figure.missing else value(figure)


def counts(figure: Figure) -> str:
    """Return what the value is a ratio of, such as "6 of 7"; the images of other ratios without an interval."""
    if figure.metric.unit == "ratio" and figure.edges is None and figure.images:
        id = "figure.images_of_parts" if figure.parts else "figure.images"
        return Message(id, n=figure.images, m=figure.parts)
    if figure.metric.unit == "ratio" or not figure.total:
        return ""
    if figure.metric.unit == "rate":
        return Message("figure.events", n=int(figure.hits), m=int(figure.total))
    return Message("figure.counts", n=int(figure.hits), m=int(figure.total))


def between(figure: Figure, edges: Sequence[float]) -> str:
    """Return an interval, such as "49–97%"."""
    low, high = (number(figure, edge) for edge in edges)
    return f"{low.removesuffix('%')}–{high}"


def interval(figure: Figure) -> str:
    """Return the interval, or the reason why there is none."""
    if figure.edges is not None:
        return Message("figure.interval", range=between(figure, figure.edges))
    return Message("figure.no_interval", why=figure.interval)


def detail(figure: Figure) -> str:
    """Return counts and interval, which explain the value, or why it is not measured."""
    if figure.missing:
        return figure.missing
    return join("list.semicolon", [text for text in (counts(figure), interval(figure)) if text])


def explanation(figure: Figure) -> str:
    """Return what explains `value`: its detail, without counts that are the value itself."""
    return interval(figure) if value(figure) == counts(figure) else detail(figure)


def text(figure: Figure, *, digits: int = 2) -> str:
    """Return value, interval and counts in one line, such as "86% (49–97%), 6 of 7"."""
    if figure.missing:
        return Message("card.in_brackets", first=NOTHING, rest=figure.missing)
    if figure.edges is None:
        shown = value(figure, digits=digits)
        texts = [Message("card.in_brackets", first=shown, rest=interval(figure))]
    else:
        shown = number(figure, figure.value, digits=digits)
        low, high = (number(figure, edge) for edge in figure.edges)
        texts = [Message("card.metric", n=shown, low=low.removesuffix("%"), high=high)]
    return join("list.comma", [*texts, *(text for text in [counts(figure)] if text and text != shown)])


def brief(text: str) -> str:
    """Return a text for a cell of a table beside which the reasons stand why a figure has no interval."""
    if not isinstance(text, Message):
        return text
    why = text.fields.get("why")
    if text.id == "figure.no_interval" and isinstance(why, Message) and why.id in _FEW_PARTS:
        return Message("interval.brief")
    return Message(text.id, **{name: brief(value) for name, value in text.fields.items()})


def alert(alert: Alert) -> str:
    """Return what is wrong with the model as a whole, and what to do."""
    return Message(_ALERTS[alert])


def image_errors(counts: ImageCounts) -> str:
    """Return the errors of an image, such as "1 missed defect, 2 false alarms".

    Without any, but with little overlap, it is how much too large or small the prediction is.
    """
    numbers = {
        "report.image_missed": counts.missed,
        "report.image_confused": counts.confused,
        "report.image_false_alarms": counts.false,
    }
    texts = [Message(id, n=number) for id, number in numbers.items() if number]
    return join("list.comma", texts) or _overlap(counts) or Message("report.no_errors")


def _overlap(counts: ImageCounts) -> str:
    """Return what is wrong with the area of detected defects; "" if prediction and label overlap well enough."""
    if counts.dice is None or counts.dice >= MIN_OVERLAP:
        return ""
    hit, false, missed = counts.pixels[ANY]
    ratio = (hit + false) / (hit + missed)
    if ratio >= 1 + _SIMILAR:
        return Message("report.too_large", n=f"{100 * (ratio - 1):.0f}")
    if ratio <= 1 - _SIMILAR:
        return Message("report.too_small", n=f"{100 * (1 - ratio):.0f}")
    return Message("report.little_overlap", n=f"{counts.dice:.2f}")
