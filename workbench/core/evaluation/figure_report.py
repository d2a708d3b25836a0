"""Figures as a JSON object: in the events of a training and the output of the command `evaluate`.

Keys are added, never renamed. `dice` and `iou` of the whole model are means of the classes, `any_defect` counts all
classes as one. In `per_class`, `precision` and `recall` are those of pixels, and `recall_defects` is that of defects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.evaluation.figures import ANY, Figure, Figures, Scope
from workbench.core.evaluation.intervals import Interval
from workbench.core.messages import Message, recognize

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
        report |= _entries(row.id if row.id.endswith(("right_class", "images")) else f"{row.id}_any", row)
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
