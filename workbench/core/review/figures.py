"""Evaluation figures: defects found by class and size, metrics with confidence intervals, false alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workbench.core.defects import ANY, Defect, PictureFacts, dice, dice_interval, size_edges
from workbench.core.intervals import rate_interval, tells_a_digit, wilson

Alert = Literal["only_background", "everything", "every_good_picture", "one_class"]
_GOOD_TO_TELL = 5  # least number of good images for "every_good_picture"; with fewer it may be chance


@dataclass(frozen=True)
class Share:
    """Proportion hits / total. `digit`: total is large enough to show one number, not only the interval."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> list[float] | None:
        """Wilson interval, 95 %."""
        return wilson(self.hits, self.total)

    @property
    def digit(self) -> bool:
        return tells_a_digit(self.total)


@dataclass(frozen=True)
class Rate:
    """`count` events on `pictures` images. interval: 95 % interval of events per image; None if unknown."""

    count: int
    pictures: int
    interval: list[float] | None

    @property
    def value(self) -> float | None:
        return self.count / self.pictures if self.pictures else None


@dataclass(frozen=True)
class OfClass:
    """Figures of one class. false: false alarms of this class; None if they were not counted by class."""

    class_id: int
    found: Share
    false: Rate | None
    dice: float | None
    iou: float | None


@dataclass(frozen=True)
class OfSize:
    """Detection rate of defects with `least` <= size < `below` pixels. below: None for no upper limit."""

    least: int
    below: int | None
    found: Share


@dataclass(frozen=True)
class Figures:
    """Figures of an evaluation.

    groups: number of parts in the images. alerts: problems of the model as a whole that make the figures meaningless.
    """

    pictures: int
    good: int
    groups: int
    found: Share
    false: Rate
    false_on_good: Rate
    dice: float | None
    dice_interval: list[float] | None
    iou: float | None
    classes: tuple[OfClass, ...]
    sizes: tuple[OfSize, ...]
    alerts: tuple[Alert, ...]


def figures(
    facts: Sequence[PictureFacts], groups: Sequence[str], classes: Sequence[int], *,
    alarms: Mapping[int, Sequence[int]] | None = None, marked: float = 0.0,
) -> Figures:  # fmt: skip
    """Compute the figures.

    facts: one per image. groups: part shown in each image. classes: ids of the model. alarms: class id -> false alarms
    per image. marked: share of all pixels that is marked.
    """
    defects = [defect for each in facts for defect in each.defects]
    good = [at for at, each in enumerate(facts) if not _real(each)]
    counts = [each.false for each in facts]
    false = {id: _rate(own, groups) for id, own in (alarms or {}).items()}
    rows = tuple(_of_class(facts, defects, id, false.get(id)) for id in classes)
    return Figures(
        pictures=len(facts), good=len(good), groups=len(set(groups)), found=_found(defects),
        false=_rate(counts, groups),
        false_on_good=_rate([counts[at] for at in good], [groups[at] for at in good]),
        dice=dice(facts), dice_interval=dice_interval(facts), iou=_iou(facts, ANY), classes=rows,
        sizes=of_sizes(defects), alerts=_alerts(facts, good, rows, marked),
    )  # fmt: skip


def of_sizes(defects: Sequence[Defect]) -> tuple[OfSize, ...]:
    """Split defects into three sizes of about equal count. Return () if there are too few defects."""
    edges = size_edges([defect.area for defect in defects])
    if not edges:
        return ()
    at = np.digitize([defect.area for defect in defects], edges)
    ends = [0, *edges, None]
    return tuple(
        OfSize(ends[size] or 0, ends[size + 1], _found([each for each, own in zip(defects, at) if own == size]))
        for size in range(3)
    )


def _rate(counts: Sequence[int], groups: Sequence[str]) -> Rate:
    return Rate(sum(counts), len(counts), rate_interval(counts, groups) if counts else None)


def _found(defects: Sequence[Defect]) -> Share:
    return Share(sum(defect.found for defect in defects), len(defects))


def _of_class(facts: Sequence[PictureFacts], defects: Sequence[Defect], id: int, false: Rate | None) -> OfClass:
    found = _found([defect for defect in defects if defect.class_id == id])
    return OfClass(id, found, false, dice(facts, id), _iou(facts, id))


def _iou(facts: Sequence[PictureFacts], id: int) -> float | None:
    hit, false, missed = (sum(each.pixels[id][at] for each in facts) for at in range(3))
    return hit / (hit + false + missed) if hit + false + missed else None


def _real(facts: PictureFacts) -> int:
    hit, _, missed = facts.pixels[ANY]
    return hit + missed


def _alerts(
    facts: Sequence[PictureFacts], good: Sequence[int], classes: Sequence[OfClass], marked: float
) -> tuple[Alert, ...]:
    """Return problems that make all figures meaningless, such as a prediction that does not depend on the image."""
    found: list[Alert] = []
    if any(each.defects for each in facts) and not any(each.regions for each in facts):
        found.append("only_background")
    if marked > 0.5:
        found.append("everything")
    if len(good) >= _GOOD_TO_TELL and all(facts[at].false for at in good):
        found.append("every_good_picture")
    shown = [row.class_id for row in classes if row.found.total]
    said = [row.class_id for row in classes if any(sum(each.pixels[row.class_id][:2]) for each in facts)]
    if len(shown) > 1 and len(said) == 1:
        found.append("one_class")
    return tuple(found)
