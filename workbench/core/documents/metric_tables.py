"""Result of a model on its validation or test images as a document presents it, and its tables: by class, by size of
defect, by image; or by verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from workbench.core.documents.document import NOTHING, Block, DocumentImage, Headline, Number, Paragraph, Share, Table
from workbench.core.evaluation.metrics import (
    ANY,
    ENOUGH,
    DefectCount,
    ImageCounts,
    dice,
    dice_interval,
    size_edges,
)
from workbench.core.messages import Message
from workbench.core.metric_units import metric_unit
from workbench.inference.model_settings import UNSURE, ModelSettings


@dataclass(frozen=True)
class VerdictOutcome:
    """Result for one image. confidence: probability of the predicted verdict."""

    key: str
    truth: str
    predicted: str
    confidence: float


@dataclass
class HoldoutResult:
    """Result of the evaluation. split: "test", "val", or "" if there is neither. total: images of the split; those
    evaluated are in `counts` or `verdicts`. changed: labels changed since the training. unreadable: images or labels
    that are missing or broken.
    """

    split: str
    total: int = 0
    counts: list[ImageCounts] = field(default_factory=list)
    verdicts: list[VerdictOutcome] = field(default_factory=list)
    changed: int = 0
    unreadable: int = 0
    worst: list[DocumentImage] = field(default_factory=list)


def tables(settings: ModelSettings, result: HoldoutResult) -> list[Block]:
    if result.verdicts:
        return list(_verdicts(settings, result.verdicts))
    return list(_masks(settings, result.counts)) if result.counts else []


def headlines(settings: ModelSettings, result: HoldoutResult) -> list[Headline]:
    if result.verdicts:
        right = _right(result.verdicts)
        detail = Message("card.percent_range_of", **_edges(right), n=right.total, split=split_name(result.split))
        return [Headline(Message("card.right_verdicts"), _percent(right), detail)]
    if not result.counts:
        return []
    defects = _found([defect for image in result.counts for defect in image.defects])
    metric, interval = dice(result.counts), dice_interval(result.counts)
    alarms = float(np.mean([image.false for image in result.counts]))
    detected = Message("card.no_defects")
    if defects.total:
        detected = Message("card.detected_of", hits=defects.hits, total=defects.total, **_edges(defects))
    images = Message("card.on_images", n=len(result.counts), split=split_name(result.split))
    between = Message("card.no_interval")
    if interval:
        between = Message("card.range", low=f"{interval[0]:.2f}", high=f"{interval[1]:.2f}")
    return [
        Headline(Message("card.defects_detected"), _percent(defects), detected),
        Headline(Message("card.false_alarms"), f"{alarms:.2f}", images),
        Headline(Message("card.dice_any"), NOTHING if metric is None else f"{metric:.2f}", between),
    ]


def split_name(split: str) -> str:
    names = {"test": "card.test", "val": "card.validation", "all": "report.all_splits"}
    return Message(names.get(split, "card.both_splits"))


def _percent(share: Share) -> str:
    return NOTHING if share.value is None else f"{100 * share.value:.0f}%"


def _edges(share: Share) -> dict[str, str]:
    """Return the interval of a share with a total above 0, in percent."""
    low, high = share.interval or (0.0, 1.0)
    return {"low": f"{100 * low:.0f}", "high": f"{100 * high:.0f}"}


def _found(defects: Sequence[DefectCount]) -> Share:
    return Share(sum(defect.found for defect in defects), len(defects))


# --- masks ------------------------------------------------------------------------------------------------


def _masks(settings: ModelSettings, counts: list[ImageCounts]) -> Iterator[Block]:
    defects = [defect for entry in counts for defect in entry.defects]
    rows = [
        [entry.name, _found([defect for defect in defects if defect.class_id == entry.id]), _dice(counts, entry.id)]
        for entry in settings.classes
    ]
    if len(rows) > 1:
        rows.append([Message("card.all_classes"), _found(defects), _dice(counts, ANY)])
    yield Table([Message("card.class"), Message("card.recall"), Message("card.dice")], rows)
    if defects and not any(entry.regions for entry in counts):
        yield Paragraph(Message("card.no_predictions"), warns=True)
    few = [entry.name for entry in settings.classes if 0 < _informative(counts, entry.id) < ENOUGH]
    none = [entry.name for entry in settings.classes if not _informative(counts, entry.id)]
    if few:
        yield Paragraph(Message("card.few_of_class", n=ENOUGH, names=", ".join(few)), warns=True)
    if none:
        yield Paragraph(Message("card.none_of_class", names=", ".join(none)), warns=True)
    yield Paragraph(Message("card.definitions"))
    yield from _sizes(defects, settings.um_per_pixel)
    yield _images(counts)


def _dice(counts: list[ImageCounts], id: int) -> Number:
    return Number(dice(counts, id), dice_interval(counts, id))


def _informative(counts: list[ImageCounts], id: int) -> int:
    return sum(entry.pixels[id][0] + entry.pixels[id][2] > 0 for entry in counts)


def _sizes(defects: list[DefectCount], um: float | None) -> Iterator[Block]:
    edges = size_edges([defect.area for defect in defects])
    if not edges:
        return
    rows = []
    for third, id in enumerate(("card.small", "card.medium", "card.large")):
        of_size = [defect for defect in defects if int(np.digitize(defect.area, edges)) == third]
        low, high = [0, *edges][third], [*edges, None][third]
        sizes = _range(low, high, 1, "px²")
        if um:
            unit, divisor = metric_unit((high or low) * um**2, 2)
            sizes = Message("card.in_brackets", first=sizes, rest=_range(low, high, um**2 / divisor, unit))
        rows.append([Message(id, range=sizes), _found(of_size)])
    yield Table([Message("card.defect_size"), Message("card.recall")], rows)


def rounded_area(area: float) -> str:
    """Return an area with at least four digits and separators between thousands, never with an exponent."""
    if area >= 1000:
        return f"{area:,.0f}"
    return np.format_float_positional(area, precision=4, fractional=False, trim="-")


def _range(low: int, high: int | None, factor: float, unit: str) -> str:
    smallest = rounded_area(low * factor)
    if high is None:
        return Message("card.size_from", low=smallest, unit=unit)
    largest = rounded_area(high * factor)
    if not low:
        return Message("card.size_below", high=largest, unit=unit)
    return Message("card.size_range", low=smallest, high=largest, unit=unit)


def _images(counts: list[ImageCounts]) -> Table:
    bad = [entry for entry in counts if entry.defects]
    good = [entry for entry in counts if not entry.defects]
    missed = Share(sum(_escapes(entry) for entry in bad), len(bad), good=False)
    alarmed = Share(sum(entry.regions > 0 for entry in good), len(good), good=False)
    false = Share(sum(entry.false for entry in counts), sum(entry.regions for entry in counts), good=False)
    rows = [
        [Message("card.missed_images"), missed],
        [Message("card.false_alarm_images"), alarmed],
        [Message("card.false_regions"), false],
    ]
    return Table([Message("card.by_image"), Message("card.share_head")], rows)


def _escapes(counts: ImageCounts) -> bool:
    return counts.missed == len(counts.defects)


# --- verdicts ---------------------------------------------------------------------------------------------


def _right(outcomes: list[VerdictOutcome]) -> Share:
    return Share(sum(entry.truth == entry.predicted for entry in outcomes), len(outcomes))


def _band(least: float, outcomes: list[VerdictOutcome]) -> str:
    """Return a sentence on the images whose verdict is uncertain."""
    decided = [entry for entry in outcomes if entry.confidence >= least]
    wrong = sum(entry.truth != entry.predicted for entry in decided)
    unsure = len(outcomes) - len(decided)
    return Message("card.unsure", n=unsure, m=len(outcomes), name=UNSURE, k=len(decided), p=wrong)


def _verdicts(settings: ModelSettings, outcomes: list[VerdictOutcome]) -> Iterator[Block]:
    rows = []
    for name in settings.verdicts:
        real = [entry for entry in outcomes if entry.truth == name]
        predicted = [entry for entry in outcomes if entry.predicted == name]
        rows.append([name, _right(real), _right(predicted)])
    rows.append([Message("card.all"), _right(outcomes), NOTHING])
    yield Table([Message("card.verdict"), Message("card.recall"), Message("card.precision")], rows)
    if settings.unsure:
        yield Paragraph(_band(settings.unsure, outcomes))
    few = [name for name in settings.verdicts if sum(entry.truth == name for entry in outcomes) < ENOUGH]
    if few:
        yield Paragraph(Message("card.few_of_verdict", n=ENOUGH, names=", ".join(few)), warns=True)
    count = Counter((entry.truth, entry.predicted) for entry in outcomes)
    confusion = [[name, *(f"{count[name, other]}" for other in settings.verdicts)] for name in settings.verdicts]
    yield Table([Message("card.confusion"), *settings.verdicts], confusion)
