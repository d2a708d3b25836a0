"""Figures of an evaluation: the only place where a metric of a model is calculated.

Each figure is a ratio of two sums over images, or the mean of such ratios over classes; `MASK_METRICS` and
`VERDICT_METRICS` list them. Sums are pooled over images, and intervals have the part as their unit. Everything that
shows a metric renders these rows: the command line, the evaluation page, reports, model cards, comparisons, events.

A figure without anything to count has no value, nor has one of a class without labels: it would be 0 for a single wrong
pixel. A correct empty prediction does not count either, so that a model that predicts nothing never gets good figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from workbench.core.evaluation import intervals
from workbench.core.evaluation.confidence import digits_supported
from workbench.core.evaluation.intervals import Interval, Statistic, dice, f1, iou, kappa, ratio
from workbench.core.evaluation.stored_predictions import ANY, ImageCounts
from workbench.core.messages import Message

# any: all images and classes. class, verdict: of one. mean: of the classes or verdicts that occur in the labels. good:
# images without a defect. size: defects of a range of areas. pair: verdicts of the model or of inspectors.
Scope = Literal["any", "class", "mean", "good", "size", "verdict", "pair"]
Unit = Literal["share", "ratio", "rate"]  # of things that are right or wrong; of pixels; events per image
Alert = Literal["only_background", "everything", "every_good_picture", "one_class", "wrong_class"]
Sums = tuple[float, ...]  # of one image, in the columns of the statistic of a metric

_MIN_GOOD_IMAGES = 5  # least number of good images for "every_good_picture"; with fewer it may be chance
_MIN_DETECTED = 3  # least number of detected defects for "wrong_class"
_MIN_RIGHT = 2 / 3  # least share of the detected defects with the right class, without that alert


@dataclass(frozen=True)
class Metric:
    """Definition of a figure, with its texts in messages.txt: "figure." with its id, and with "_definition".

    statistic: value of sums over images. sums: of one image and a class id, a verdict, or ANY. counts: what the sums
    count, "" for pixels. good: a high value is desirable. shown: in tables of classes. plain: the name says by itself
    what is counted in the first scope.
    """

    id: str
    unit: Unit
    scopes: tuple[Scope, ...]
    statistic: Statistic
    sums: Callable[[Any, Any], Sums]
    counts: Literal["defects", "regions", "images", "parts", ""] = ""
    good: bool = True
    shown: bool = True
    plain: bool = False

    @property
    def json_key(self) -> str:
        """Key of the value in its first scope, where all figures of an evaluation are in one JSON object."""
        return self.id if self.plain and "good" not in self.scopes[1:] else f"{self.id}_{self.scopes[0]}"


def _found(image: ImageCounts, id: int) -> Sums:
    defects = image.of_class(id)
    return sum(defect.found for defect in defects), len(defects)


def _found_right(image: ImageCounts, id: int) -> Sums:
    defects = image.of_class(id)
    return sum(defect.predicted == defect.class_id for defect in defects), len(defects)


def _touching(image: ImageCounts, id: int) -> Sums:
    return image.predicted[id].regions - image.predicted[id].false, image.predicted[id].regions


def _right_regions(image: ImageCounts, id: int) -> Sums:
    return image.predicted[id].right, image.predicted[id].regions


def _alarms(image: ImageCounts, id: int) -> Sums:
    return image.predicted[id].false, 1


def _pixels(image: ImageCounts, id: int) -> Sums:
    return image.pixels[id]


def _edges(image: ImageCounts, id: int) -> Sums:
    return image.edges[id]


def _pixel_precision(image: ImageCounts, id: int) -> Sums:
    hit, false, _ = image.pixels[id]
    return hit, hit + false


def _pixel_recall(image: ImageCounts, id: int) -> Sums:
    hit, _, missed = image.pixels[id]
    return hit, hit + missed


def _all_missed(image: ImageCounts, id: int) -> Sums:
    defects = len(image.defects)
    return defects > 0 and image.missed == defects, defects > 0


def _alarmed(image: ImageCounts, id: int) -> Sums:
    return image.false > 0, 1


MASK_METRICS = (
    Metric("recall", "share", ("any", "class", "size"), ratio, _found, "defects"),
    Metric("recall_right_class", "share", ("any", "class"), ratio, _found_right, "defects", plain=True),
    Metric("region_precision", "share", ("any", "class"), ratio, _touching, "regions", shown=False),
    Metric("region_precision_right_class", "share", ("any", "class"), ratio, _right_regions, "regions", plain=True),
    Metric("false_alarms", "rate", ("any", "good", "class"), ratio, _alarms, "images", good=False, plain=True),
    Metric("dice", "ratio", ("any", "mean", "class"), dice, _pixels),
    Metric("iou", "ratio", ("any", "mean", "class"), iou, _pixels, shown=False),
    Metric("boundary_iou", "ratio", ("any", "mean", "class"), iou, _edges),
    Metric("pixel_precision", "ratio", ("any", "class"), ratio, _pixel_precision, shown=False),
    Metric("pixel_recall", "ratio", ("any", "class"), ratio, _pixel_recall, shown=False),
    Metric("missed_images", "share", ("any",), ratio, _all_missed, "images", good=False, plain=True),
    Metric("false_alarm_images", "share", ("good",), ratio, _alarmed, "images", good=False, plain=True),
)


@dataclass(frozen=True)
class VerdictCount:
    """Labeled and predicted verdict of one image."""

    truth: str
    predicted: str


def _right(image: VerdictCount, name: Any) -> Sums:
    return image.truth == image.predicted, 1


def _verdict_recall(image: VerdictCount, name: str) -> Sums:
    return image.truth == image.predicted == name, image.truth == name


def _verdict_precision(image: VerdictCount, name: str) -> Sums:
    return image.truth == image.predicted == name, image.predicted == name


def _verdict_f1(image: VerdictCount, name: str) -> Sums:
    return image.truth == image.predicted == name, image.predicted == name, image.truth == name


VERDICT_METRICS = (
    Metric("accuracy", "share", ("any",), ratio, _right, "images", plain=True),
    Metric("verdict_recall", "share", ("verdict",), ratio, _verdict_recall, "images"),
    Metric("verdict_precision", "share", ("verdict",), ratio, _verdict_precision, "images"),
    Metric("f1", "ratio", ("verdict", "mean"), f1, _verdict_f1, "images"),
)


def _counted(part: Sums, pair: Any) -> Sums:
    return part


# Of a gauge study, from the verdicts on each part.
PAIR_METRICS = (
    Metric("same_verdict", "share", ("pair",), ratio, _counted, "parts"),
    Metric("kappa", "ratio", ("pair",), kappa, _counted, "parts"),
)
METRICS = {metric.id: metric for metric in (*VERDICT_METRICS, *MASK_METRICS, *PAIR_METRICS)}


@dataclass(frozen=True)
class Figure:
    """One figure.

    of: class id, verdict, or range of areas (least, below) of the scope. name: of that class or verdict.
    hits, total: the sums of which the value is the ratio; of a mean of classes the value and the number of classes.
    interval: 95 %, or the reason why there is none.
    images, parts: number of those that have something to count; 0 without a value.
    missing: the reason why it is not measured; "" if it is.
    """

    id: str
    scope: Scope
    of: Any
    name: str
    value: float | None
    hits: float
    total: float
    interval: Interval | Message
    images: int
    parts: int
    missing: str = ""

    @property
    def metric(self) -> Metric:
        return METRICS[self.id]

    @property
    def edges(self) -> list[float] | None:
        """Limits of the interval; None without one."""
        return intervals.limits(self.interval)

    @property
    def digit(self) -> bool:
        """True if enough was counted to show one number: pixels and images always are."""
        return self.metric.unit != "share" or digits_supported(int(self.total))

    def to_json(self) -> dict[str, Any]:
        known = self.interval if isinstance(self.interval, Interval) else None
        counted: dict[str, float] = {"images": self.images, "parts": self.parts}
        if self.scope != "mean" and self.metric.counts != "images":
            counted[self.metric.counts or "pixels"] = self.total
        return {
            "id": self.id,
            "scope": self.scope,
            "of": list(self.of) if isinstance(self.of, tuple) else self.name or None,
            "value": self.value,
            "unit": self.metric.unit,
            "interval": self.edges,
            "method": known and known.method,
            "why": None if known else str(self.missing or self.interval),
            "counted": counted,
        }


@dataclass(frozen=True)
class Figures:
    """All figures of an evaluation.

    classes: ids and names of classes, or verdicts. confusion: number of labeled regions by (class, predicted class or
    ANY if missed), and of false alarms by (ANY, predicted class); of images by (labeled, predicted) verdict. images,
    good, parts: number of evaluated images, of those without a defect, and of parts.
    alerts: problems of the model as a whole that make figures meaningless.
    """

    rows: tuple[Figure, ...]
    classes: Mapping[Any, str]
    confusion: Mapping[tuple[Any, Any], int]
    images: int
    good: int
    parts: int
    alerts: tuple[Alert, ...] = ()

    def get(self, id: str, scope: Scope = "any", of: Any = ANY) -> Figure:
        """Return one figure. Raises KeyError."""
        try:
            return next(row for row in self.rows if (row.id, row.scope, row.of) == (id, scope, of))
        except StopIteration:
            raise KeyError(id) from None

    def all(self, id: str, scope: Scope) -> list[Figure]:
        return [row for row in self.rows if row.id == id and row.scope == scope]


def mask_figures(images: Sequence[ImageCounts], parts: Sequence[str], classes: Mapping[int, str]) -> Figures:
    """Return the figures of a segmentation. parts: part shown by each image. classes: ids and names of the model."""
    rows = _rows(MASK_METRICS, images, parts, classes, "class")
    good = [image.is_good for image in images]
    confusion = Counter((defect.class_id, defect.predicted) for image in images for defect in image.defects)
    for id in classes:
        confusion[ANY, id] = sum(image.predicted[id].false for image in images)
    figures = Figures(tuple(rows), classes, confusion, len(images), sum(good), len(set(parts)))
    return replace(figures, alerts=_alerts(images, figures))


def verdict_figures(images: Sequence[VerdictCount], parts: Sequence[str], names: Sequence[str]) -> Figures:
    """Return the figures of verdicts. parts: part shown by each image. names: verdicts of the model."""
    verdicts = {name: name for name in names}
    rows = _rows(VERDICT_METRICS, images, parts, verdicts, "verdict")
    confusion = Counter((image.truth, image.predicted) for image in images)
    return Figures(tuple(rows), verdicts, confusion, len(images), 0, len(set(parts)))


def _rows(
    metrics: Sequence[Metric], images: Sequence[Any], parts: Sequence[str], classes: Mapping[Any, str], each: Scope
) -> list[Figure]:
    table = _Table(images, parts)
    rows = []
    for metric in metrics:
        for scope in metric.scopes:
            if scope == each:
                rows += [table.figure(metric, scope, id, name, (id,)) for id, name in classes.items()]
            elif scope == "size":
                rows += table.sizes(metric)
            else:
                counted = list(classes) if scope == "mean" else [ANY]
                rows.append(table.figure(metric, scope, ANY, "", counted))
    return rows


@dataclass
class _Table:
    images: Sequence[Any]
    parts: Sequence[str]

    @cached_property
    def good(self) -> bool:
        """True if an image is known to have no defect."""
        return any(image.is_good for image in self.images)

    def figure(
        self,
        metric: Metric,
        scope: Scope,
        of: Any,
        name: str,
        counted: Sequence[Any],
        sums: Callable[[Any, Any], Sums] | None = None,
    ) -> Figure:
        """Return a figure. counted: classes, of which the mean is taken if there are several."""
        chosen = [number for number, image in enumerate(self.images) if scope != "good" or image.is_good]
        values = metric_sums(metric, [self.images[number] for number in chosen], counted, sums)
        by_part = intervals.sum_by_part(values, [self.parts[number] for number in chosen])
        totals = by_part.sum(axis=0)
        by_class = metric.statistic(totals)
        value = None if np.isnan(by_class).all() else float(np.nanmean(by_class))
        if value is None and scope == "any" and totals.any():
            value = 0.0  # only false pixels
        hits, total = float(totals[0, 0]), float(totals[0, 1] if totals.shape[1] == 2 else totals[0].sum())
        if scope == "mean":
            hits, total = value or 0.0, float(np.count_nonzero(~np.isnan(by_class)))
        # Also with false pixels alone: they lower a Dice.
        images, parts = (
            0 if value is None else int(np.count_nonzero(each.any(axis=(1, 2)))) for each in (values, by_part)
        )
        missing = ""
        if (scope == "good" or metric.unit == "rate") and not self.good:
            missing = Message("interval.no_good_images")  # other images show few false alarms
        elif value is None:
            missing = Message("interval.no_predictions" if "precision" in metric.id else "interval.no_labels")
        interval = _interval(metric, by_part)
        return Figure(metric.id, scope, of, name, value, hits, total, interval, images, parts, missing)

    def sizes(self, metric: Metric) -> list[Figure]:
        """Return the figure for three ranges of areas of defects with about equal counts; [] with too few defects."""
        edges = size_edges([defect.area for image in self.images for defect in image.defects])
        rows = []
        for least, below in zip([0, *edges], [*edges, None]) if edges else ():

            def of_size(image: ImageCounts, id: int, least: int = least, below: int | None = below) -> Sums:
                inside = [d for d in image.defects if least <= d.area and (below is None or d.area < below)]
                return sum(defect.found for defect in inside), len(inside)

            rows.append(self.figure(metric, "size", (least, below), "", (ANY,), of_size))
        return rows


def metric_sums(
    metric: Metric, images: Sequence[Any], counted: Sequence[Any], sums: Callable[[Any, Any], Sums] | None = None
) -> np.ndarray:
    """Return the sums of each image and class, float64 (images, classes, columns of the statistic).

    counted: classes or verdicts, or ANY. sums: instead of those of the metric.
    """
    columns = 2 if metric.statistic is ratio else 3
    rows = [[(sums or metric.sums)(image, id) for id in counted] for image in images]
    return np.array(rows, np.float64).reshape(len(images), len(counted), columns)


def _interval(metric: Metric, sums: np.ndarray) -> Interval | Message:
    """Return the interval of a figure. sums: of each part and class, float64 (parts, classes, columns)."""
    if metric.unit == "rate":
        return intervals.rate_interval(sums[:, 0, 0], sums[:, 0, 1])
    return intervals.ratio_interval(sums, metric.statistic)


def difference_interval(
    figure: Figure, first: Sequence[Any], second: Sequence[Any], parts: Sequence[str]
) -> Interval | Message:
    """Return the interval of a figure of the images of `second` minus that of `first`, or why there is none.

    figure: names the metric and its class or verdict. first, second: counts of the same images. parts: of each image.
    """
    metric = figure.metric
    old, new = (metric_sums(metric, images, [figure.of])[:, 0] for images in (first, second))
    old, new = (intervals.sum_by_part(sums, parts) for sums in (old, new))
    return intervals.difference_interval(old, new, metric.statistic)


def _alerts(images: Sequence[ImageCounts], figures: Figures) -> tuple[Alert, ...]:
    """Return problems that make all figures meaningless, such as a prediction that does not depend on the image."""
    alerts: list[Alert] = []
    if any(image.defects for image in images) and not any(image.regions for image in images):
        alerts.append("only_background")
    if sum(image.marked for image in images) > 0.5 * sum(image.size for image in images):
        alerts.append("everything")
    if figures.good >= _MIN_GOOD_IMAGES and all(image.false for image in images if image.is_good):
        alerts.append("every_good_picture")
    predicted = [id for id in figures.classes if any(sum(image.pixels[id][:2]) for image in images)]
    labeled = [row for row in figures.all("recall", "class") if row.total]
    if len(labeled) > 1 and len(predicted) == 1:
        alerts.append("one_class")
    found, right = figures.get("recall").hits, figures.get("recall_right_class").hits
    if found >= _MIN_DETECTED and right < _MIN_RIGHT * found and "one_class" not in alerts:
        alerts.append("wrong_class")
    return tuple(alerts)


def size_edges(areas: Sequence[int]) -> list[int]:
    """Return areas in pixels that divide defects into three about equally full size ranges; [] if there are too few."""
    if len(areas) < 9:
        return []
    edges = [_round(float(edge)) for edge in np.quantile(areas, (1 / 3, 2 / 3))]
    sizes = [np.count_nonzero(np.digitize(areas, edges) == index) for index in range(3)]
    return edges if edges[0] < edges[1] and min(sizes) >= 2 else []


def _round(value: float) -> int:
    """Round to two significant digits."""
    digits = max(0, len(str(int(value))) - 2)
    return int(round(value, -digits))
