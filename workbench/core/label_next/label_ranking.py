"""Label queue: images that a model would learn most from, with reasons, and few similar ones.

While few images of a class are labeled, the value of an image depends on the defects that the model finds in it: on a
production line most surfaces are good, and finding more defects comes before resolving uncertainty (Attenberg and
Provost, 2010). Spots that stand out in the same way as labeled defects increase the value (`saliency_match`). With more
labels, the uncertainty of the model gains weight (Settles, 2009). Contradictions between model and label always count.
Images similar to a chosen one, or of the same part, count less (maximal marginal relevance: Carbonell and Goldstein,
1998). Before any defect is labeled, the next image is the one furthest from all chosen or labeled ones (k-center:
Gonzalez, 1985; Sener and Savarese, 2018) and representative of most others (Nemhauser et al., 1978).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.core.label_next import label_issues
from workbench.core.label_next.image_features import saliency_match
from workbench.core.messages import Message

SIMILAR = 0.90  # similarity above which an image represents another one
_REFERENCE_COUNT = 600  # sample of images used to estimate how many images one represents
_DETECTION_WEIGHT = 3.0  # weight of findings of a class that is not labeled yet
_PRODUCT_OFFSET = 0.3  # offset: a spot missed by the model or by salience may still be a defect
_LOW_VALUE = 0.1  # below this value from the model, an image is in the queue for its appearance
_RARE_COUNT = 10  # number of labeled images up to which a class is rare


@dataclass(frozen=True)
class _Weights:
    """Weights of appearance and of repetition.

    represented, distance: weights of the number of represented images and of the distance to all chosen and labeled
    ones. similarity_limit: similarity above which an image counts less after a chosen one. repetition: factor per image
    of the same part.
    """

    represented: float
    distance: float
    similarity_limit: float
    repetition: float


_WITHOUT_MODEL = _Weights(represented=1.0, distance=0.5, similarity_limit=0.90, repetition=0.8)
# If model or salience values exist, appearance only decides between images of equal value. Two exposures of a part can
# be 0.98 similar, and a defect found on the second is still worth a label.
_WITH_MODEL = _Weights(represented=0.02, distance=0.02, similarity_limit=0.99, repetition=0.95)


@dataclass(frozen=True)
class RankReason:
    """Reason for a queue entry. kind: id of its message after "queue."; fields: its values."""

    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return Message(f"queue.{self.kind}", **self.fields)


@dataclass(frozen=True)
class Candidate:
    """Image that may be labeled next. feature: see `describe`. group: part shown, "" if unknown.

    regions, probabilities: output of the model, None if not predicted. issues: contradictions to the label. salience:
    see `saliency_features`, None if unknown. unlike: unlike score of the model, above its limit 1 for an image that is
    unlike the training images.
    """

    key: str
    feature: np.ndarray
    group: str = ""
    regions: tuple[label_issues.RegionCertainty, ...] | None = None
    probabilities: Mapping[str, float] | None = None
    issues: tuple[label_issues.LabelIssue, ...] = ()
    started: bool = False  # something is labeled, so an empty label means a good image
    salience: np.ndarray | None = None
    unlike: float = 0.0


@dataclass(frozen=True)
class LabeledImage:
    """Existing labels.

    features: float32 (n, D). groups: images per part. counts: images per class id or verdict. names: of the classes.
    defective, good: salience of some images with and without a defect.
    """

    features: np.ndarray
    groups: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[Any, int] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    defective: Sequence[np.ndarray] = ()
    good: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class RankedImage:
    """Entry of the queue. value: the greater, the earlier; reasons: most important first."""

    key: str
    value: float
    reasons: tuple[RankReason, ...]


def rank(candidates: Sequence[Candidate], labeled: LabeledImage, count: int) -> list[RankedImage]:
    """Return the next `count` images to label, in order. Time and memory are proportional to the candidates."""
    if not candidates or count < 1:
        return []
    features = np.stack([candidate.feature for candidate in candidates]).astype(np.float32)
    matches = _salience_matches(candidates, labeled)
    priorities = np.array([priority(candidate, labeled, match) for candidate, match in zip(candidates, matches)])
    known = _nearest(features, labeled.features)
    references = features[np.unique(np.linspace(0, len(features) - 1, _REFERENCE_COUNT).round().astype(int))]
    similarity = np.maximum(features @ references.T, 0)
    covered = np.maximum(_nearest(references, labeled.features), 0)
    has_prediction = matches[0] is not None or any(
        candidate.regions is not None or candidate.probabilities for candidate in candidates
    )
    weights = _WITH_MODEL if has_prediction else _WITHOUT_MODEL
    distance_scale = max(1e-6, float(np.quantile(1 - known, 0.9)))
    group_counts = Counter({group: 1 for group in labeled.groups if group})
    groups = np.array([candidate.group for candidate in candidates])
    repetition = np.array([weights.repetition ** group_counts[candidate.group] for candidate in candidates])
    max_similarity = known.copy()
    unlike_limit = _unlike_limit(known) if len(labeled.features) else -1.0
    remaining = np.ones(len(candidates), bool)
    max_gain = 1e-9
    queue: list[RankedImage] = []
    for _ in range(min(count, len(candidates))):
        gains = np.maximum(similarity - covered, 0).sum(axis=1)
        max_gain = max(max_gain, float(gains[remaining].max()))
        novelty = np.clip((1 - max_similarity) / (1 - weights.similarity_limit), 0.02, 1)
        variety = weights.represented * gains / max_gain + weights.distance * np.clip(
            (1 - max_similarity) / distance_scale, 0, 1
        )
        value = (priorities + variety) * novelty * repetition
        best = int(np.argmax(np.where(remaining, value, -1)))
        represented = int(round(float((similarity[best] > np.maximum(covered, SIMILAR)).mean()) * len(candidates)))
        varied = bool(queue) and bool(priorities[best] < _LOW_VALUE)
        reasons = _reasons(
            candidates[best],
            labeled,
            salient=(matches[best] or 0) >= 0.5,
            unlike=bool(known[best] < unlike_limit),
            represented=represented,
            varied=varied,
        )
        queue.append(RankedImage(candidates[best].key, round(float(value[best]), 6), reasons))
        remaining[best] = False
        covered = np.maximum(covered, similarity[best])
        max_similarity = np.maximum(max_similarity, features @ features[best])
        if candidates[best].group:
            repetition[groups == candidates[best].group] *= weights.repetition
    return queue


def _salience_matches(candidates: Sequence[Candidate], labeled: LabeledImage) -> Sequence[float | None]:
    """Return how much the spots of each candidate stand out in the same way as labeled defects, 0..1.

    None for all if this cannot be determined, and for candidates with verdict probabilities, which do not concern
    spots.
    """
    salience = [candidate.salience for candidate in candidates if candidate.salience is not None]
    if not labeled.defective or not labeled.good or len(salience) < len(candidates):
        return [None] * len(candidates)
    stacks = (salience, labeled.defective, labeled.good)
    matches = saliency_match(*(np.stack(rows) for rows in stacks)).tolist()
    return [None if candidate.probabilities else match for candidate, match in zip(candidates, matches)]


def priority(candidate: Candidate, labeled: LabeledImage, match: float | None = None) -> float:
    """Return the value of labeling an image: contradiction 0..1 + findings 0.._DETECTION_WEIGHT + uncertainty 0..1.

    An image unlike the training images, of which the model knows nothing, counts as a contradiction.
    match: value of `_salience_matches`, 0..1, or None. It is independent of the model's findings, so the two are
    multiplied like probabilities.
    """
    contradiction = max((issue.certainty for issue in candidate.issues), default=float(candidate.unlike > 1))
    if candidate.probabilities:
        scarcity = {name: _scarcity(name, labeled) for name in candidate.probabilities}
        min_scarcity = min(scarcity.values())  # one of the verdicts is always found
        detection = max(share * (scarcity[name] - min_scarcity) for name, share in candidate.probabilities.items())
        return _verdict_uncertainty(candidate.probabilities) + contradiction + _DETECTION_WEIGHT * detection
    regions = candidate.regions or ()
    if regions:
        strongest = max(regions, key=lambda region: region.strength)
        class_scarcity, detection = (
            _scarcity(strongest.class_id, labeled),
            strongest.strength * label_issues.certain_share(regions),
        )
    else:
        class_scarcity, detection = _scarcity_of_count(len(labeled.defective)), 0.0
    if match is not None:
        detection = match if candidate.regions is None else _soft_product(detection, match)
    return (
        contradiction
        + _DETECTION_WEIGHT * class_scarcity**2 * detection
        + (1 - class_scarcity) ** 2 * label_issues.image_uncertainty(regions)
    )


def _soft_product(first: float, second: float) -> float:
    """Return the product of two independent values, 0..1, with an offset so that neither can force the result to 0."""
    minimum, maximum = _PRODUCT_OFFSET**2, (_PRODUCT_OFFSET + 1) ** 2
    return ((_PRODUCT_OFFSET + first) * (_PRODUCT_OFFSET + second) - minimum) / (maximum - minimum)


def _scarcity(name: Any, labeled: LabeledImage) -> float:
    return _scarcity_of_count(labeled.counts.get(name, 0))


def _scarcity_of_count(count: int) -> float:
    """Return 1 for a class or verdict without labels, falling to 0.2 for one with many images."""
    return 0.2 + 0.8 / (1 + count / _RARE_COUNT)


def _verdict_uncertainty(probabilities: Mapping[str, float]) -> float:
    """Return the uncertainty between the two most probable verdicts, 0..1 (margin, Scheffer et al., 2001)."""
    first, second = (sorted(probabilities.values(), reverse=True) + [0.0])[:2]
    return 1 - (first - second)


def _nearest(features: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return float32 (n,): greatest similarity to any of `others`, 0 if there are none. Computed in blocks."""
    best = np.zeros(len(features), np.float32)
    for first in range(0, len(others), 500):
        np.maximum(best, (features @ others[first : first + 500].T).max(axis=1), out=best)
    return best


def _unlike_limit(known: np.ndarray) -> float:
    """Return the similarity below which an image is unlike all labeled ones: the 10 % quantile, at most 0.85."""
    return float(min(0.85, np.quantile(known, 0.1)))


def _reasons(
    candidate: Candidate, labeled: LabeledImage, *, salient: bool, unlike: bool, represented: int, varied: bool
) -> tuple[RankReason, ...]:
    """Return the reasons for a candidate.

    salient: a spot stands out. varied: it was chosen for its appearance rather than for the output of the model.
    """
    reasons = [_contradiction(issue, candidate, labeled) for issue in label_issues.worst_first(candidate.issues)[:1]]
    if candidate.unlike > 1:
        reasons.append(RankReason("unlike_training", {"n": f"{candidate.unlike:.2g}"}))
    appearance = [RankReason("spot")] if salient else []
    appearance += [RankReason("unlike")] if unlike else []
    if represented >= 2:
        appearance.append(RankReason("stands", {"n": represented}))
    elif varied and not appearance:
        appearance.append(RankReason("variety"))
    from_model = _model_reasons(candidate, labeled)
    reasons += appearance + from_model if varied else from_model + appearance
    if not reasons:
        reasons = [RankReason("quiet" if candidate.regions == () else "other")]
    return tuple(reasons)


def _contradiction(issue: label_issues.LabelIssue, candidate: Candidate, labeled: LabeledImage) -> RankReason:
    return issue_reason(issue, labeled.names, good=candidate.started and issue.kind == "missing")


def issue_reason(issue: label_issues.LabelIssue, names: Mapping[int, str], *, good: bool = False) -> RankReason:
    """Return a label issue as a reason. good: nothing at all is labeled on the image."""
    if issue.kind == "verdict":
        return RankReason("verdict", {"said": issue.predicted_verdict, "labelled": issue.verdict})
    name = names.get(issue.class_id, str(issue.class_id))
    if issue.kind == "class":
        return RankReason("class", {"said": name, "labelled": names.get(issue.labeled_id, str(issue.labeled_id))})
    return RankReason("missing_good" if good and issue.kind == "missing" else issue.kind, {"name": name})


def _model_reasons(candidate: Candidate, labeled: LabeledImage) -> list[RankReason]:
    if candidate.probabilities:
        probabilities = candidate.probabilities
        order = sorted(probabilities, key=lambda name: -probabilities[name])
        if len(order) > 1 and _verdict_uncertainty(probabilities) >= 0.4:
            return [RankReason("between", {"said": order[0], "other": order[1]})]
        return [RankReason("found", {"name": order[0]})]
    reasons, regions = [], candidate.regions or ()
    uncertain = label_issues.uncertain_regions(regions)
    ambiguous = next((region for region in uncertain if region.rival and len(uncertain) == 1), None)
    if ambiguous is not None:
        names = [labeled.names.get(id, str(id)) for id in (ambiguous.class_id, ambiguous.rival)]
        reasons.append(RankReason("between", {"said": names[0], "other": names[1]}))
    elif uncertain:
        reasons.append(RankReason("unsure", {"n": len(uncertain)}) if len(uncertain) > 1 else RankReason("unsure_one"))
    clear = [region for region in regions if region.strength >= 0.5]
    if clear:
        rarest = min(clear, key=lambda region: (labeled.counts.get(region.class_id, 0), -region.strength))
        name, known = labeled.names.get(rarest.class_id, str(rarest.class_id)), labeled.counts.get(rarest.class_id, 0)
        if known <= _RARE_COUNT and len(labeled.names) > 1:
            reasons.append(RankReason("rare", {"name": name, "n": known}))
        elif any(region.strength >= label_issues.CERTAIN for region in clear):
            reasons.append(RankReason("found", {"name": name}))
    return reasons
