"""Number of parts that prove a bound on missed parts and on false alarms, and what the present ones prove.

Parts, not images, are independent trials, so exact binomial limits hold for them (Clopper and Pearson 1934). A part is
missed if one of its images with defects is, and a part has a false alarm if one of its good images has: as counted in
the figures, or by the verdict rule if there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from workbench.core.evaluation.confidence import binomial_cdf, upper_limit
from workbench.core.evaluation.figures import ANY, METRICS
from workbench.core.evaluation.intervals import sum_by_part
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.label_next.label_advice import is_open, rank_images
from workbench.core.label_next.label_ranking import RankedImage
from workbench.core.messages import Message
from workbench.core.project.formats.base import is_good
from workbench.core.project.grouping import groups_by_name
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import Project
from workbench.inference.model_settings import UNSURE
from workbench.inference.region_table import REJECT, REWORK
from workbench.inference.verdict_rule import outcome_of

Error = Literal["missed", "alarms"]
BOUNDS: Mapping[Error, float] = {"missed": 1.0, "alarms": 2.0}  # %, unless the user wants others
CONFIDENCE = 95.0  # %
MOST_PARTS = 10_000  # no larger number is stated
LISTED = 50  # images to label next
_TEXTS: Mapping[Error, tuple[str, str, str]] = {  # nothing is measured; what is proven; parts needed
    "missed": ("parts.no_missed", "parts.missed", "parts.needed_missed"),
    "alarms": ("parts.no_alarms", "parts.alarms", "parts.needed_alarms"),
}


@dataclass(frozen=True)
class PartCount:
    """Parts with an error of one kind among all parts that can have it, and the wanted bound and confidence, in %."""

    error: Error
    hits: int
    total: int
    bound: float
    confidence: float = CONFIDENCE

    @cached_property
    def limit(self) -> float | None:
        """Upper limit of the share of such parts in %; None without parts."""
        return 100 * upper_limit(self.hits, self.total, self.confidence / 100) if self.total else None

    @property
    def stated_limit(self) -> float:
        """Upper limit in two significant digits, never below the proven one; 100 without parts."""
        percent = self.limit or 100.0
        scale = 10.0 ** (1 - math.floor(math.log10(percent)))
        return min(100.0, math.ceil(percent * scale - 1e-9) / scale)

    @property
    def reached(self) -> bool:
        """True if the parts prove the bound."""
        return self.limit is not None and self.limit <= self.bound

    @cached_property
    def without_errors(self) -> int | None:
        """Number of parts that prove the bound if none has an error; None if it exceeds MOST_PARTS."""
        return self._needed(0)

    @cached_property
    def at_rate(self) -> int | None:
        """Number of parts that prove the bound if errors stay as frequent as they are; None if none or too many do."""
        if not self.hits:
            return self.without_errors
        if 100 * self.hits >= self.bound * self.total:
            return None
        low, high = 0, MOST_PARTS  # errors: what they need grows slower than the parts on which they are expected
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_enough(middle) else (middle, high)
        return self._needed(high)

    def _needed(self, errors: int) -> int | None:
        return parts_needed(errors, self.bound / 100, self.confidence / 100)

    def _is_enough(self, errors: int) -> bool:
        """Return True if so many errors, or more, are expected only on more parts than prove the bound with them."""
        needed = self._needed(errors)
        return needed is None or needed * self.hits <= errors * self.total

    def lines(self) -> list[str]:
        """Return what the parts prove and how many are needed, as sentences."""
        counts = {"hits": self.hits, "total": self.total}
        limits = {"bound": f"{self.bound:g}", "confidence": f"{self.confidence:g}"}
        not_measured, proven, needed = _TEXTS[self.error]
        lines: list[str]
        if self.limit is None:
            lines = [Message(not_measured)]
        elif self.limit == 100:
            lines = [Message("parts.nothing", **counts)]
        else:
            lines = [Message(proven, **counts, limit=f"{self.stated_limit:g}", **limits)]
            if self.reached:
                return [*lines, Message("parts.reached", **limits)]
        if self.without_errors is None:
            return [*lines, Message("parts.too_many", most=MOST_PARTS, **limits)]
        lines.append(Message(needed, n=self.without_errors, **limits))
        if not self.hits:
            return [*lines, Message("parts.more", n=self.without_errors - self.total)] if self.total else lines
        if self.at_rate is not None:
            return [*lines, Message("parts.at_rate", n=self.at_rate, **counts)]
        if 100 * self.hits >= self.bound * self.total:
            return [*lines, Message("parts.impossible")]
        return [*lines, Message("parts.rate_too_many", most=MOST_PARTS)]

    def to_json(self) -> dict[str, Any]:
        return {
            "bound": self.bound,
            "errors": self.hits,
            "parts": self.total,
            "upper_limit": self.limit,
            "reached": self.reached,
            "needed_without_errors": self.without_errors,
            "needed_at_rate": self.at_rate,
            "text": " ".join(map(str, self.lines())),
        }


def parts_needed(errors: int, bound: float, confidence: float) -> int | None:
    """Return the smallest number of parts of which `errors` prove that at most the share `bound` has an error.

    None if it exceeds MOST_PARTS. With 0 errors, 1 % and 95 % it is 299.
    """
    low, high = errors, MOST_PARTS
    if binomial_cdf(errors, high, bound) > 1 - confidence:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_cdf(errors, middle, bound) <= 1 - confidence else (middle, high)
    return high


# --- present parts ----------------------------------------------------------------------------------


def good_verdicts(evaluation: SplitEvaluation, chosen: str) -> list[str]:
    """Return the verdicts of a ResNet, first the one that its name tells to be that of good parts; [] for a UNet.

    chosen: verdict that is first if no name tells it (`ProjectFile.good_verdict`).
    """
    if isinstance(evaluation, MaskEvaluation):
        return []
    return sorted(evaluation.verdicts.names, key=lambda name: (not is_good(name), name != chosen))


def definition(evaluation: SplitEvaluation) -> str:
    """Return when a part counts as missed or as a false alarm, as sentences."""
    if isinstance(evaluation, VerdictSplitEvaluation):
        return Message("parts.definition_verdicts")
    return Message("parts.definition" if evaluation.rule is None else "parts.definition_rule")


def count_errors(evaluation: SplitEvaluation, good: str = "") -> dict[Error, tuple[int, int]]:
    """Return (parts with an error, parts that can have it) by kind of error. good: verdict of good parts, of a ResNet.

    A verdict below the reject probability is that of a person, who looks at the part: neither missed nor accepted.
    """
    if isinstance(evaluation, MaskEvaluation):
        parts = [prediction.part for prediction in evaluation.images.predictions]
        sums = _mask_errors(evaluation)
    else:
        parts = [image.part or image.key for image in evaluation.verdicts.images]
        sums = []
        for image in evaluation.verdicts.images:
            unsure = image.probability < evaluation.settings.unsure
            verdict = UNSURE if unsure else evaluation.verdicts.names[image.predicted]
            defective = image.truth != good
            sums.append((defective and verdict == good, defective, not defective and verdict != good, not defective))
    by_part = sum_by_part(np.array(sums, float).reshape(-1, 4), parts) > 0
    missed, defective, alarms, fine = (int(count) for count in by_part.sum(axis=0))
    return {"missed": (missed, defective), "alarms": (alarms, fine)}


def _mask_errors(evaluation: MaskEvaluation) -> list[tuple[float, ...]]:
    """Return for each image: missed, has defects; has a false alarm, is good."""
    sums = []
    for result, image in zip(evaluation.images.evaluations, evaluation.images.images):
        counts, rule = result.counts, evaluation.rule
        missed, _ = METRICS["missed_images"].sums(counts, ANY)
        alarm, _ = METRICS["false_alarm_images"].sums(counts, ANY)
        if rule is not None:
            outcome = outcome_of(rule, image.regions)
            alarm, missed = outcome in (REJECT, REWORK), outcome is None
        good = counts.is_good
        sums.append((missed and not good, not good, alarm and good, good))
    return sums


# --- parts to label next ----------------------------------------------------------------------------


@dataclass(frozen=True)
class NextParts:
    """Images of parts of which none is labeled, one of each, in the order in which to label them.

    parts: number of such parts in the project.
    """

    entries: tuple[RankedImage, ...]
    parts: int


def next_parts(
    project: Project,
    rows: Mapping[str, ImageRow],
    *,
    count: int = LISTED,
    most: int,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> NextParts:
    """Return the images to label next, by the ranking of *Label next* without a model.

    A model would choose parts whose defects it detects, so that too few would be found missed. Arguments as of
    `rank_images`.
    """
    names = {key: row.group for key, row in rows.items() if row.group}
    groups = groups_by_name(list(rows), project.file.grouping, names)
    used = {groups[key] for key, row in rows.items() if row.labeled}
    new = [key for key, row in rows.items() if is_open(row, project) and groups[key] not in used]
    waiting = {key: row for key, row in rows.items() if key in set(new) or not is_open(row, project)}
    work = {"most": most, "progress": progress, "cancelled": cancelled}
    ranking = rank_images(project, waiting, None, count=5 * count, **work)
    first: dict[str, RankedImage] = {}
    for entry in ranking.entries:
        first.setdefault(groups[entry.key], entry)
    return NextParts(tuple(first.values())[:count], len({groups[key] for key in new}))
