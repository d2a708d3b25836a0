"""Choice of the verdict rule of a segmentation run on labeled images, and its evaluation.

A rule by mass has a threshold that is chosen for a budget of false alarms, for the least cost, or directly. The budget
uses good images only: a quantile of their anomaly scores that holds for images of new parts on average (split conformal
prediction, Vovk et al. 2005; for images in groups Lee, Barber and Willett 2023).

A rule is evaluated on images that it was not chosen on: with enough images chosen on one half, measured on the other,
and reverse (cross-fitting), with fewer ones on all parts but the one that it is measured on. The rule in use is the one
chosen on all images.

Images are ranked by their anomaly score: ROC curve, area under it, defective images detected at few false alarms.
"""

from __future__ import annotations

import dataclasses
import math
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.core.evaluation.confidence import Z, upper_limit
from workbench.core.evaluation.intervals import MIN_PARTS, Interval, limits, share_interval, sum_by_part
from workbench.core.evaluation.stored_predictions import ANY, ImageEvaluation, StoredPrediction
from workbench.core.messages import Message
from workbench.inference.region_table import REJECT, REWORK, UNSURE, RegionLimit, RegionTable, round_mass
from workbench.inference.verdict_rule import BAD, GOOD, VerdictRule, outcome_of

FALSE_SHARES = (0.01, 0.05, 0.10)  # shares of rejected good images at which the recall is reported


@dataclass(frozen=True)
class ScoredImage:
    """Labeled image with its predicted regions. group: part that it shows. defective: a defect is labeled."""

    key: str
    group: str
    defective: bool
    regions: RegionTable

    @property
    def score(self) -> float:
        return self.regions.anomaly_score


@dataclass(frozen=True)
class GroupedProportion:
    """Proportion of images. stated: its interval with the part as the unit, or the reason why there is none."""

    hits: int
    total: int
    stated: Interval | Message

    @property
    def value(self) -> float | None:
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> list[float] | None:
        return limits(self.stated)

    @property
    def why(self) -> str:
        """Reason why there is no interval, "" with one."""
        return "" if isinstance(self.stated, Interval) else self.stated

    @classmethod
    def of(cls, hits: Sequence[bool], groups: Sequence[str]) -> GroupedProportion:
        sums = sum_by_part(np.array([(hit, 1) for hit in hits], float).reshape(-1, 2), groups)
        return cls(sum(map(bool, hits)), len(hits), share_interval(sums[:, 0], sums[:, 1]))


@dataclass(frozen=True)
class RocCurve:
    """ROC curve over the thresholds, float64 (n,), from none rejected to all: an image above a threshold is rejected.

    false: share of rejected good images. recall: share of rejected defective images.
    """

    thresholds: np.ndarray
    false: np.ndarray
    recall: np.ndarray


def scored_images(predictions: Sequence[StoredPrediction], evaluations: Sequence[ImageEvaluation]) -> list[ScoredImage]:
    """Return the images of an evaluation at one operating point."""
    return [
        ScoredImage(prediction.key, prediction.part, prediction.labeled_pixels[ANY] > 0, evaluation.regions)
        for prediction, evaluation in zip(predictions, evaluations, strict=True)
    ]


def roc_curve(images: Sequence[ScoredImage]) -> RocCurve | None:
    """Return the curve, None without good or without defective images."""
    scores, defective = _arrays(images)
    if not defective.any() or defective.all():
        return None
    thresholds = np.concatenate([np.unique(scores)[::-1], [-1.0]])
    good, bad = np.sort(scores[~defective]), np.sort(scores[defective])
    false, recall = (1 - np.searchsorted(values, thresholds, "right") / len(values) for values in (good, bad))
    return RocCurve(thresholds, false, recall)


def image_auroc(images: Sequence[ScoredImage]) -> float | None:
    """Return the area under the ROC curve: the probability that a defective image has a greater score than a good one.

    Equal scores count half. None without good or without defective images.
    """
    curve = roc_curve(images)
    return None if curve is None else float(np.trapezoid([0.0, *curve.recall], [0.0, *curve.false]))


def auroc_interval(images: Sequence[ScoredImage]) -> Interval | Message:
    """Return the 95 % score interval of the AUROC (Newcombe 2006, method 5), or the reason why there is none.

    Parts are counted instead of images, and those with defective and with good images separately.
    """
    value = image_auroc(images)
    bad, good = (len({image.group for image in images if image.defective == kind}) for kind in (True, False))
    if value is None or min(bad, good) < MIN_PARTS:
        return Message("interval.ranked_parts", n=bad, k=good, m=MIN_PARTS)
    return Interval(_solve(value, 0.0, bad, good), _solve(value, 1.0, bad, good), "auroc")


def _solve(value: float, end: float, bad: int, good: int) -> float:
    """Return the area between `value` and `end` whose distance to `value` is Z standard errors, by bisection."""

    def deviates(area: float) -> bool:
        mean = (bad + good) / 2 - 1
        spread = 1 + mean * ((1 - area) / (2 - area) + area / (1 + area))
        return abs(area - value) >= Z * math.sqrt(max(0.0, area * (1 - area) * spread / (bad * good)))

    near, far = value, end
    for _ in range(50):
        middle = (near + far) / 2
        near, far = (near, middle) if deviates(middle) else (middle, far)
    return (near + far) / 2


def recall_at(images: Sequence[ScoredImage], false_share: float) -> tuple[GroupedProportion | None, str]:
    """Return the defective images detected while at most `false_share` of the good ones is rejected, and "".

    None and the reason if there are no defective images, or too few good ones for the share to mean one of them.
    """
    scores, defective = _arrays(images)
    good = np.sort(scores[~defective])
    needed = math.ceil(1 / false_share - 1e-9)
    if len(good) < needed:
        return None, Message("verdict.few_good", n=len(good), m=needed)
    if not defective.any():
        return None, Message("verdict.no_defective")
    threshold = good[len(good) - 1 - math.floor(false_share * len(good) + 1e-9)]
    groups = [image.group for image in images if image.defective]
    return GroupedProportion.of((scores[defective] > threshold).tolist(), groups), ""


def _arrays(images: Sequence[ScoredImage]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([image.score for image in images]), np.array([image.defective for image in images], bool)


MIN_CROSS_FIT = 60  # images from which a rule is evaluated by cross-fitting
BUDGET = 5.0  # false alarms in 100 good images, unless the user chooses another budget
_ABOVE_GREATEST = 1.1  # factor above the greatest score if there are too few good images for the budget

By = Literal["budget", "cost", "mass", "region"]
# cross_fitted: each image by the rule chosen on the other half. leave_one_out: by the one chosen on all other parts.
# same: chosen on these images. other: on other ones.
Method = Literal["cross_fitted", "leave_one_out", "same", "other"]


@dataclass(frozen=True)
class RuleChoice:
    """Request for a rule.

    by: "budget": at most `value` false alarms in 100 good images; "cost": least cost, if a missed defective image costs
        `value` false alarms; "mass": threshold `value` in pixels; "region": `limits`.
    good, bad: verdicts, as in `VerdictRule`. unsure: as there; it has no effect from the threshold of a rule by mass.

    Raises ValueError with the problem, as a part of a sentence.
    """

    by: By = "budget"
    value: float = BUDGET
    limits: tuple[RegionLimit, ...] = ()
    good: str = GOOD
    bad: str = BAD
    unsure: float | None = None

    def __post_init__(self) -> None:
        ranges = {"budget": (0.0, 100.0), "cost": (0.0, 1e9), "mass": (-1.0, 1e15), "region": (-1.0, 1e15)}
        if self.by not in ranges:
            raise ValueError(f"the kind {self.by!r} is not known")
        low, high = ranges[self.by]
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not low < self.value < high:
            raise ValueError(f"{self.by} must not be {self.value!r}")
        self.rule(ranges["mass"][1])

    def rule(self, mass: float) -> VerdictRule:
        """Return the rule; mass: threshold, unless the rule is by region."""
        if self.by == "region":
            return VerdictRule("region", limits=self.limits, good=self.good, bad=self.bad, unsure=self.unsure)
        unsure = self.unsure if self.unsure is not None and self.unsure < mass else None
        return VerdictRule("mass", mass, good=self.good, bad=self.bad, unsure=unsure)

    @property
    def measured(self) -> bool:
        """True if the rule depends on images."""
        return self.by in ("budget", "cost")

    @classmethod
    def of(cls, rule: VerdictRule) -> RuleChoice:
        """Return the request for exactly this rule."""
        by: By = "region" if rule.kind == "region" else "mass"
        return cls(by, rule.mass, rule.limits, rule.good, rule.bad, rule.unsure)

    def to_json(self) -> dict[str, Any]:
        values = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        return {**values, "limits": [limit.to_json() for limit in self.limits]}

    @classmethod
    def from_json(cls, content: Any) -> RuleChoice:
        """Return a request from decoded JSON. Raises ValueError."""
        try:
            read: dict[str, Any] = {**content, "limits": tuple(map(RegionLimit.from_json, content["limits"]))}
            return cls(**read)
        except (TypeError, KeyError) as error:
            raise ValueError(f"it is no choice of a rule: {error}") from None


def choose_rule(choice: RuleChoice, images: Sequence[ScoredImage]) -> VerdictRule:
    """Return the rule that `choice` makes on these images; without images of the kind needed, any region rejects."""
    if choice.by == "budget":
        return choice.rule(_within_budget([image for image in images if not image.defective], choice.value / 100))
    if choice.by == "cost":
        return choice.rule(_of_least_cost(images, choice.value))
    return choice.rule(choice.value)


def rule_note(choice: RuleChoice, images: Sequence[ScoredImage], method: Method) -> Message:
    """Return a sentence on how far the result of a rule on these images holds for new parts."""
    apart = {"cross_fitted": "verdict.cross_fitted", "leave_one_out": "verdict.leave_one_out"}.get(method)
    measured = None if apart is None else Message(apart, n=MIN_CROSS_FIT)
    few: Message | None = None
    if choice.by == "budget":
        good, parts = sum(not image.defective for image in images), _good_parts(images)
        fields = {"needed": math.ceil(100 / choice.value - 1e-9) - 1, "budget": f"{choice.value:g}"}
        if not good:
            return Message("verdict.no_good")
        if not _enough(good, choice.value / 100):
            few = Message("verdict.few_good_for_budget", n=good, **fields)
        elif not _enough(parts, choice.value / 100):
            few = Message("verdict.few_parts_for_budget", n=parts, **fields)
    if few is not None:
        return few if measured is None else Message("list.sentences", first=few, rest=measured)
    if not choice.measured:
        return Message("verdict.entered")
    return measured or Message("verdict.same_images" if method == "same" else "verdict.other_images")


def _enough(count: int, share: float) -> bool:
    """Return True if a quantile of `count` scores exists that at most `share` of new ones exceed on average."""
    return (count + 1) * share >= 1 - 1e-9


def _within_budget(good: Sequence[ScoredImage], share: float) -> float:
    """Return the mass threshold that at most `share` of new good images exceed on average, see `conformal_limit`."""
    if not good:
        return 0.0
    scores = np.array([image.score for image in good])
    limit = conformal_limit(scores, [image.group for image in good], share)
    return round_mass(limit) if limit > scores.max() else _above(scores, limit)


def conformal_limit(scores: np.ndarray, names: Sequence[str], share: float) -> float:
    """Return the score that at most `share` of new images exceed on average.

    Each part has the same weight, and the part to come has one more, above all scores. With one image per part this is
    the ceil((n + 1)(1 - share))-th smallest score. With too few parts each image counts as a part, so that the budget
    holds for images of these parts only; with too few images the limit is a tenth above the greatest score.

    scores: float64 (n,), of images. names: of their parts.
    """
    if not _enough(len(scores), share):
        return _ABOVE_GREATEST * float(scores.max())
    if not _enough(len(set(names)), share):
        names = [str(number) for number in range(len(scores))]
    sizes = Counter(names)
    order = np.argsort(scores, kind="stable")
    weights = np.cumsum(np.array([1 / sizes[name] for name in names])[order])
    enough = np.flatnonzero(weights >= (len(sizes) + 1) * (1 - share) - 1e-9)
    return float(scores[order[enough[0]]])


def _of_least_cost(images: Sequence[ScoredImage], ratio: float) -> float:
    """Return the mass threshold of least cost: missed defective images times `ratio` plus false alarms."""
    scores = np.array([image.score for image in images])
    defective = np.array([image.defective for image in images], bool)
    if not defective.any() or defective.all():
        return 0.0  # the cost of one side is unknown
    candidates = np.unique([0.0, *scores])
    missed = np.searchsorted(np.sort(scores[defective]), candidates, "right")
    false = np.count_nonzero(~defective) - np.searchsorted(np.sort(scores[~defective]), candidates, "right")
    cost = ratio * missed + false
    return _above(scores, float(candidates[len(cost) - 1 - int(np.argmin(cost[::-1]))]))


def _above(scores: np.ndarray, score: float) -> float:
    """Return a threshold just above `score` and below the next one, so that rounding in an engine changes no verdict.

    0 stays 0: any region rejects.
    """
    if score <= 0:
        return 0.0
    following = scores[scores > score]
    margin = 0.02 * score + 1
    return round_mass(score + (min(margin, float(following.min() - score) / 2) if len(following) else margin))


@dataclass(frozen=True)
class RuleEvaluation:
    """Result of a rule on labeled images.

    caught: rejected defective images, also those to be reworked. missed: defective images that are neither rejected nor
    unsure. false: rejected good images. good_parts: number of parts with good images.
    false_limit: 95 % upper limit of the share of good images of new parts that are rejected, from `good_parts`;
    least_limit: the least one that so many parts can show, without any false alarm.
    """

    rule: VerdictRule
    method: Method
    caught: GroupedProportion
    missed: GroupedProportion
    false: GroupedProportion
    good_parts: int
    false_limit: float
    least_limit: float
    outcomes: tuple[str | None, ...]  # per image, see `outcome_of`

    @property
    def rejected(self) -> tuple[bool, ...]:
        """True for each image that is rejected, or to be reworked."""
        return tuple(outcome in (REJECT, REWORK) for outcome in self.outcomes)

    def to_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule.to_json(),
            "method": self.method,
            "caught": self.caught.hits,
            "defective": self.caught.total,
            "recall": self.caught.value,
            "recall_interval": self.caught.interval,
            "recall_interval_why": self.caught.why,
            "false_alarms": self.false.hits,
            "good": self.false.total,
            "false_alarm_rate": self.false.value,
            "false_alarm_interval": self.false.interval,
            "false_alarm_interval_why": self.false.why,
            "false_alarm_limit": self.false_limit,
            "good_parts": self.good_parts,
            "least_limit": self.least_limit,
            **({"missed": self.missed.hits} if UNSURE in self.rule.others else {}),
            **{name: self.outcomes.count(name) for name in self.rule.others},
        }


def evaluate_rule(
    choice: RuleChoice, images: Sequence[ScoredImage], *, rule: VerdictRule | None = None, fixed: bool = False
) -> RuleEvaluation:
    """Evaluate the rule of `choice`, or `rule`, on labeled images.

    rule: rule in use; None: the one chosen on these images. fixed: `rule` was chosen on other images.
    """
    used = rule if rule is not None else choose_rule(choice, images)
    rules = [used] * len(images)
    method: Method = "other" if fixed else "same"
    if not fixed and choice.measured:
        apart: Method = "cross_fitted" if len(images) >= MIN_CROSS_FIT else "leave_one_out"
        places = split_in_half(images) if apart == "cross_fitted" else [image.group for image in images]
        others = {
            place: [image for image, own in zip(images, places) if own != place] for place in dict.fromkeys(places)
        }
        if all(any(image.defective == kind for image in rest) for rest in others.values() for kind in (False, True)):
            chosen = {place: choose_rule(choice, rest) for place, rest in others.items()}
            rules, method = [chosen[place] for place in places], apart
    outcomes = tuple(outcome_of(own, image.regions) for own, image in zip(rules, images))
    rejected, passed = ([outcome in kinds for outcome in outcomes] for kinds in ((REJECT, REWORK), (None,)))
    caught, missed = (_share(images, hits, True) for hits in (rejected, passed))
    false = _share(images, rejected, False)
    parts = _good_parts(images)
    alarmed: dict[str, list[bool]] = defaultdict(list)
    for image, hit in zip(images, rejected):
        if not image.defective:
            alarmed[image.group].append(hit)
    hits = int(np.ceil(sum(np.mean(values) for values in alarmed.values()) - 1e-9))
    limits = upper_limit(hits, parts), upper_limit(0, parts)
    return RuleEvaluation(used, method, caught, missed, false, parts, *limits, outcomes)


def unsure_without_missed(images: Sequence[ScoredImage]) -> float | None:
    """Return the greatest `unsure` with which no defective image of these is good; None without defective ones."""
    scores = [image.score for image in images if image.defective]
    return max(0.0, round_mass(0.98 * min(scores))) if scores else None


def split_in_half(images: Sequence[ScoredImage]) -> list[bool]:
    """Return False or True for each image: two halves with about as many defective and good images, of other parts."""
    groups: dict[str, list[ScoredImage]] = defaultdict(list)
    for image in images:
        groups[image.group].append(image)
    counts: Mapping[bool, list[int]] = {True: [0, 0], False: [0, 0]}
    side: dict[str, bool] = {}
    order = sorted(groups, key=lambda name: (-len(groups[name]), zlib.crc32(name.encode("utf-8", "surrogatepass"))))
    for name in order:
        kind = any(image.defective for image in groups[name])
        side[name] = counts[kind][1] < counts[kind][0]
        counts[kind][side[name]] += len(groups[name])
    return [side[image.group] for image in images]


def _share(images: Sequence[ScoredImage], hits: Sequence[bool], defective: bool) -> GroupedProportion:
    chosen = [(hit, image.group) for hit, image in zip(hits, images) if image.defective == defective]
    return GroupedProportion.of([hit for hit, _ in chosen], [group for _, group in chosen])


def _good_parts(images: Sequence[ScoredImage]) -> int:
    return len({image.group for image in images if not image.defective})
