"""Figures as texts and as a JSON object.

Every document, table and line that shows a figure takes its name and its number from here. The JSON object is in the
events of a training and in the output of the command `evaluate`. Its keys are added, never renamed. `dice` and `iou` of
the whole model are means of the classes, `any_defect` counts all classes as one. In `per_class`, `precision` and
`recall` are those of pixels, and `recall_defects` is that of defects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core.evaluation.figures import METRICS, Alert, Figure, Figures, Scope
from workbench.core.evaluation.intervals import Interval
from workbench.core.evaluation.stored_predictions import ANY, ImageCounts
from workbench.core.messages import Message, join, recognize

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
    if METRICS[id].plain and scope == METRICS[id].scopes[0]:
        return metric
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


_PIXELS = {"pixel_precision": "precision", "pixel_recall": "recall"}  # keys in an object about pixels
_OF_CLASS = {**_PIXELS, "recall": "recall_defects"}
MISSED, BACKGROUND = "missed", "background"  # in a region confusion matrix


def mask_report(figures: Figures, um: float | None = None) -> dict[str, Any]:
    """Return the figures of a segmentation. um: micrometers per pixel; None if unknown."""
    recall, false, good = (figures.get("recall"), figures.get("false_alarms"), figures.get("false_alarms", "good"))
    means = {row.id: row for row in figures.rows if row.scope == "mean"}
    any_defect = {row.id: row for row in figures.rows if row.scope == "any"}
    report: dict[str, Any] = {}
    for id, row in means.items():
        report |= {id: row.value, f"{id}_interval": row.edges, f"{id}_mean": row.value}
    for row in [*any_defect.values(), figures.get("false_alarm_images", "good")]:
        report |= _entries(row.metric.json_key, row)
    return report | {
        "any_defect": {_PIXELS.get(id, id): row.value for id, row in any_defect.items() if row.metric.unit == "ratio"},
        "per_class": {name: _class_report(figures, id) for id, name in figures.classes.items()},
        "regions": {
            "recall": recall.value,
            "recall_interval": recall.edges,
            "enough": recall.digit,
            "found": int(recall.hits),
            "defects": int(recall.total),
            "false": int(false.hits),
            "false_per_picture": false.value,
            "false_interval": false.edges,
            "false_per_good_picture": good.value,
            "false_per_good_interval": good.edges,
        },
        "region_confusion": region_confusion(figures),
        "by_size": [_size_report(row, um) for row in figures.all("recall", "size")],
        "pictures": figures.images,
        "good_pictures": figures.good,
        "parts": figures.parts,
        # a warning, not a metric: there were defects, and the model predicted none
        "only_background": "only_background" in figures.alerts,
        "alerts": list(figures.alerts),
    }


def _entries(key: str, row: Figure) -> dict[str, Any]:
    entries = {key: row.value, f"{key}_interval": row.edges, f"{key}_counted": [row.images, row.parts]}
    return entries | ({} if row.edges and not row.missing else {f"{key}_why": str(row.missing or row.interval)})


def _class_report(figures: Figures, id: int) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for row in figures.rows:
        if row.scope == "class" and row.of == id:
            key = _OF_CLASS.get(row.id, row.id)
            report |= {key: row.value, f"{key}_interval": row.edges}
    recall = figures.get("recall", "class", id)
    report |= {"defects": int(recall.total), "enough": recall.digit}
    return report | {"recall_interval": recall.edges}  # of the defects, as before there was one of the pixels


def _size_report(row: Figure, um: float | None) -> dict[str, Any]:
    least, below = row.of
    return {
        "from_area": least,
        "below_area": below,
        "from_um2": None if um is None else least * um**2,
        "below_um2": None if um is None or below is None else below * um**2,
        "found": int(row.hits),
        "defects": int(row.total),
        "recall": row.value,
        "recall_interval": row.edges,
        "enough": row.digit,
    }


def region_confusion(figures: Figures) -> dict[str, Any]:
    """Return labeled regions by class (rows) and predicted class (columns); the last row counts false alarms."""
    ids, names = list(figures.classes), list(figures.classes.values())
    counts = figures.confusion
    rows = [[*(counts.get((label, id), 0) for id in ids), counts.get((label, ANY), 0)] for label in (*ids, ANY)]
    rows[-1][-1] = 0
    return {"labeled": [*names, BACKGROUND], "predicted": [*names, MISSED], "rows": rows}


def verdict_report(figures: Figures) -> dict[str, Any]:
    """Return the figures of verdicts."""
    accuracy, f1, names = figures.get("accuracy"), figures.get("f1", "mean"), list(figures.classes)
    per_class: dict[str, Any] = {}
    for name in names:
        rows = {row.id: row for row in figures.rows if row.scope == "verdict" and row.of == name}
        for id, row in rows.items():
            key = id.removeprefix("verdict_")
            per_class.setdefault(name, {}).update({key: row.value, f"{key}_interval": row.edges})
        per_class[name]["pictures"] = int(rows["verdict_recall"].total)
    return {
        **_entries("accuracy", accuracy),
        **_entries("macro_f1", f1),
        "per_class": per_class,
        "confusion": {
            "names": names,
            "rows": [[figures.confusion.get((label, name), 0) for name in names] for label in names],
        },
        "pictures": figures.images,
        "parts": figures.parts,
    }


def stored_figures(metrics: Mapping[str, Any]) -> list[Figure]:
    """Return the main figures in a report. Those that the report of an earlier version lacks are left out."""
    images = metrics.get("pictures", 0)
    if "accuracy" in metrics:
        right = round((metrics["accuracy"] or 0) * images)
        return [
            _stored(metrics, "accuracy", "accuracy", hits=right, total=images),
            _stored(metrics, "f1", "macro_f1", scope="mean"),
        ]
    regions, pixels = metrics.get("regions") or {}, metrics.get("any_defect") or metrics
    found, defects = regions.get("found", 0), regions.get("defects", 0)
    earlier = regions.get("recall"), regions.get("recall_interval")
    rows = [_stored(metrics, "recall", "recall_any", *earlier, hits=found, total=defects)]
    if len(metrics.get("per_class") or ()) > 1 and "recall_right_class" in metrics:
        right = round((metrics["recall_right_class"] or 0) * defects)
        rows.append(_stored(metrics, "recall_right_class", "recall_right_class", hits=right, total=defects))
    earlier = regions.get("false_per_picture"), regions.get("false_interval")
    alarms = regions.get("false", 0)
    rows.append(_stored(metrics, "false_alarms", "false_alarms_any", *earlier, hits=alarms, total=images))
    return rows + [_stored(metrics, id, f"{id}_any", pixels.get(id)) for id in ("dice", "iou")]


def _stored(
    metrics: Mapping[str, Any],
    id: str,
    key: str,
    value: float | None = None,
    edges: list[float] | None = None,
    *,
    scope: Scope = "any",
    hits: float = 0,
    total: float = 0,
) -> Figure:
    """Return a figure of a report. value, edges: of the report of an earlier version, which lacks the key."""
    value, edges = metrics.get(key, value), metrics.get(f"{key}_interval", edges)
    images, parts = metrics.get(f"{key}_counted", (0, 0))
    why = recognize(metrics.get(f"{key}_why", ""))
    why = why if isinstance(why, Message) else Message("interval.not_stored")
    missing = value is None or (id == "false_alarms" and not metrics.get("good_pictures", 1))
    interval = Interval(edges[0], edges[1], "") if edges else why
    return Figure(id, scope, ANY, "", value, hits, total, interval, images, parts, why if missing else "")
