"""What to label next: the pictures from which a model would learn most, each with the reason, and few of one kind.

While few pictures of a class are labelled, a picture is worth what the model finds in it: on a line most surfaces are
good, a young model is unsure of its own mistakes on them, and more defects teach it most (Attenberg and Provost, 2010:
where a kind is rare, finding it comes before doubting it); what else stands out from its surface, in the way in which
the labelled defects do, makes that likelier (see `salience`). The more there are, the more counts what the model doubts
(Settles, 2009); where it contradicts the label counts always. As in maximal marginal relevance (Carbonell and
Goldstein, 1998), what is like a chosen picture, or of the same part, counts less. Before any defect is labelled only
the looks are left: the next picture is the one that is furthest from all that is chosen or labelled (k-centre:
Gonzalez, 1985; Sener and Savarese, 2018), since defects are what is odd on a surface, and stands for most others
(facility location: Nemhauser, Wolsey and Fisher, 1978).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.core.doubt import SURE, Seen, clearness, doubt_of, unsure
from workbench.core.label_errors import Slip, worst_first
from workbench.core.salience import standing_out

ALIKE = 0.90  # a likeness from which on a picture stands for another
_STANDING_FOR = 600  # pictures that stand for all others when it is asked what one stands for
_FOUND = 3.0  # the weight of what is found of a class that is not labelled yet
_UNSEEN = 0.3  # what a model does not find, or does not stand out, may be a defect all the same
_LITTLE = 0.1  # what a model says is worth less than this: it is for its looks that a picture is here
_RARE = 10  # labelled pictures of a class up to which it is rare

# Why a picture is in the queue, as English patterns, which are the message ids of the window.
SAYS = {
    "missing": "{name} found, nothing labelled",
    "missing_good": "{name} found, label says good",
    "extra": "{name} labelled, nothing found",
    "class": "{said} found, {labelled} labelled",
    "verdict": "{said} found, verdict is {labelled}",
    "unsure_one": "Unsure about 1 region",
    "unsure": "Unsure about {n} regions",
    "between": "Unsure whether {said} or {other}",
    "rare": "Perhaps {name}, of which {n} pictures are labelled",
    "found": "Probably {name}",
    "spot": "Spot as on defects",
    "unlike": "Unlike anything labelled",
    "stands": "Stands for about {n} pictures like it",
    "variety": "Different from those above it",
    "quiet": "Model sees nothing here",
    "other": "Like what is labelled already",
}


@dataclass(frozen=True)
class _Weights:
    """stands, far: of how many pictures one stands for, and of how far it is from all others. near: a likeness from
    which on the second of two pictures counts less. again: each picture of a part counts for so much of the one before.
    """

    stands: float
    far: float
    near: float
    again: float


_ALONE = _Weights(stands=1.0, far=0.5, near=0.90, again=0.8)
# Beside what says more, looks decide only between pictures of which it says the same. Two exposures of a part may well
# be 0.98 alike, and a defect that is found on the second is worth its label.
_BESIDE = _Weights(stands=0.02, far=0.02, near=0.99, again=0.95)


@dataclass(frozen=True)
class Why:
    """One reason. kind: a key of SAYS; fields: what its pattern names."""

    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return SAYS[self.kind].format(**self.fields)


@dataclass(frozen=True)
class Candidate:
    """A picture that may be labelled next. feature: of `descriptor`. group: the part that it shows, "" if unknown.

    seen, probabilities: what a model says, None where it was not asked. slips: where it contradicts the label.
    salience: of `salience`, None where that is not known.
    """

    key: str
    feature: np.ndarray
    group: str = ""
    seen: tuple[Seen, ...] | None = None
    probabilities: Mapping[str, float] | None = None
    slips: tuple[Slip, ...] = ()
    started: bool = False  # something is labelled, so an empty label means good
    salience: np.ndarray | None = None


@dataclass(frozen=True)
class Labelled:
    """What is labelled already. features: float32 (n, D). groups: how many pictures of each part. counts: of each
    class id, or verdict, the number of pictures. names: of the classes. defective, good: of some pictures with a defect
    and some without, what stands out of them.
    """

    features: np.ndarray
    groups: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[Any, int] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)
    defective: Sequence[np.ndarray] = ()
    good: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class Entry:
    """A picture of the queue. value: what made it come here, greater is better; whys: the most telling first."""

    key: str
    value: float
    whys: tuple[Why, ...]


def rank(candidates: Sequence[Candidate], labelled: Labelled, count: int) -> list[Entry]:
    """The `count` pictures to label next, in this order. Takes time and memory proportional to the candidates."""
    if not candidates or count < 1:
        return []
    features = np.stack([each.feature for each in candidates]).astype(np.float32)
    spots = _spots(candidates, labelled)
    worth = np.array([worth_of(each, labelled, spot) for each, spot in zip(candidates, spots)])
    known = _nearest(features, labelled.features)
    crowd = features[np.unique(np.linspace(0, len(features) - 1, _STANDING_FOR).round().astype(int))]
    like = np.maximum(features @ crowd.T, 0)
    covered = np.maximum(_nearest(crowd, labelled.features), 0)
    told = spots[0] is not None or any(each.seen is not None or each.probabilities for each in candidates)
    weights = _BESIDE if told else _ALONE
    widest = max(1e-6, float(np.quantile(1 - known, 0.9)))
    taken = Counter({group: 1 for group in labelled.groups if group})
    groups = np.array([each.group for each in candidates])
    share = np.array([weights.again ** taken[each.group] for each in candidates])
    likeness = known.copy()
    far = _far(known) if len(labelled.features) else -1.0
    left = np.ones(len(candidates), bool)
    most_gain = 1e-9
    queue: list[Entry] = []
    for _ in range(min(count, len(candidates))):
        gains = np.maximum(like - covered, 0).sum(axis=1)
        most_gain = max(most_gain, float(gains[left].max()))
        fresh = np.clip((1 - likeness) / (1 - weights.near), 0.02, 1)
        variety = weights.stands * gains / most_gain + weights.far * np.clip((1 - likeness) / widest, 0, 1)
        value = (worth + variety) * fresh * share
        best = int(np.argmax(np.where(left, value, -1)))
        stands = int(round(float((like[best] > np.maximum(covered, ALIKE)).mean()) * len(candidates)))
        varied = bool(queue) and bool(worth[best] < _LITTLE)
        whys = _whys(
            candidates[best], labelled, spot=(spots[best] or 0) >= 0.5, unlike=bool(known[best] < far), stands=stands,
            varied=varied,
        )  # fmt: skip
        queue.append(Entry(candidates[best].key, round(float(value[best]), 6), whys))
        left[best] = False
        covered = np.maximum(covered, like[best])
        likeness = np.maximum(likeness, features @ features[best])
        if candidates[best].group:
            share[groups == candidates[best].group] *= weights.again
    return queue


def _spots(candidates: Sequence[Candidate], labelled: Labelled) -> Sequence[float | None]:
    """How much stands out of each as of the labelled defects, 0..1; None for all where that cannot be told, and for
    those of which a model gives verdicts, which are not about spots.
    """
    if not labelled.defective or not labelled.good or any(each.salience is None for each in candidates):
        return [None] * len(candidates)
    three = ([each.salience for each in candidates], labelled.defective, labelled.good)
    spots = standing_out(*(np.stack(some) for some in three)).tolist()
    return [None if each.probabilities else spot for each, spot in zip(candidates, spots)]


def worth_of(candidate: Candidate, labelled: Labelled, spot: float | None = None) -> float:
    """What makes a picture worth its label: contradiction 0..1, what is found 0.._FOUND, doubt 0..1.

    spot: how much stands out as on labelled defects, 0..1, or None. It and what a model finds are two witnesses who
    know nothing of one another, so their chances multiply.
    """
    contradiction = max((slip.certainty for slip in candidate.slips), default=0.0)
    if candidate.probabilities:
        scarce = {name: _scarcity(name, labelled) for name in candidate.probabilities}
        least = min(scarce.values())  # one of the verdicts is always found
        found = max(share * (scarce[name] - least) for name, share in candidate.probabilities.items())
        return _doubt_of_verdict(candidate.probabilities) + contradiction + _FOUND * found
    seen = candidate.seen or ()
    if seen:
        clearest = max(seen, key=lambda each: each.strength)
        scarce_one, found = _scarcity(clearest.class_id, labelled), clearest.strength * clearness(seen)
    else:
        scarce_one, found = _scarce(len(labelled.defective)), 0.0
    if spot is not None:
        found = spot if candidate.seen is None else _both(found, spot)
    return contradiction + _FOUND * scarce_one**2 * found + (1 - scarce_one) ** 2 * doubt_of(seen)


def _both(one: float, other: float) -> float:
    """0..1: the product of what two witnesses say, neither of whom can rule a thing out."""
    nothing, all_there_is = _UNSEEN**2, (_UNSEEN + 1) ** 2
    return ((_UNSEEN + one) * (_UNSEEN + other) - nothing) / (all_there_is - nothing)


def _scarcity(kind: Any, labelled: Labelled) -> float:
    return _scarce(labelled.counts.get(kind, 0))


def _scarce(count: int) -> float:
    """1 for a class or verdict that is not labelled yet, 0.2 and above for one that has many pictures."""
    return 0.2 + 0.8 / (1 + count / _RARE)


def _doubt_of_verdict(probabilities: Mapping[str, float]) -> float:
    """How near the second verdict comes to the first, 0..1 (the margin, Scheffer et al., 2001)."""
    first, second = (sorted(probabilities.values(), reverse=True) + [0.0])[:2]
    return 1 - (first - second)


def _nearest(features: np.ndarray, others: np.ndarray) -> np.ndarray:
    """float32 (n,): the likeness of the most alike of `others`, 0 where there are none; some at a time."""
    best = np.zeros(len(features), np.float32)
    for first in range(0, len(others), 500):
        np.maximum(best, (features @ others[first : first + 500].T).max(axis=1), out=best)
    return best


def _far(known: np.ndarray) -> float:
    """The likeness below which a picture is unlike anything labelled: of the tenth that is furthest, if that is far."""
    return float(min(0.85, np.quantile(known, 0.1)))


def _whys(
    candidate: Candidate, labelled: Labelled, *, spot: bool, unlike: bool, stands: int, varied: bool
) -> tuple[Why, ...]:  # fmt: skip
    """spot: something stands out. varied: it is here for what it looks like rather than for what the model says."""
    whys = [_contradiction(slip, candidate, labelled) for slip in worst_first(candidate.slips)[:1]]
    looks = [Why("spot")] if spot else []
    looks += [Why("unlike")] if unlike else []
    if stands >= 2:
        looks.append(Why("stands", {"n": stands}))
    elif varied and not looks:
        looks.append(Why("variety"))
    told = _model_whys(candidate, labelled)
    whys += looks + told if varied else told + looks
    if not whys:
        whys = [Why("quiet" if candidate.seen == () else "other")]
    return tuple(whys)


def _contradiction(slip: Slip, candidate: Candidate, labelled: Labelled) -> Why:
    return slip_why(slip, labelled.names, good=candidate.started and slip.kind == "missing")


def slip_why(slip: Slip, names: Mapping[int, str], *, good: bool = False) -> Why:
    """A slip in words. good: nothing at all is labelled on the picture."""
    if slip.kind == "verdict":
        return Why("verdict", {"said": slip.said, "labelled": slip.verdict})
    name = names.get(slip.class_id, str(slip.class_id))
    if slip.kind == "class":
        return Why("class", {"said": name, "labelled": names.get(slip.labelled_id, str(slip.labelled_id))})
    return Why("missing_good" if good and slip.kind == "missing" else slip.kind, {"name": name})


def _model_whys(candidate: Candidate, labelled: Labelled) -> list[Why]:
    if candidate.probabilities:
        order = sorted(candidate.probabilities, key=lambda name: -candidate.probabilities[name])
        if len(order) > 1 and _doubt_of_verdict(candidate.probabilities) >= 0.4:
            return [Why("between", {"said": order[0], "other": order[1]})]
        return [Why("found", {"name": order[0]})]
    whys, seen = [], candidate.seen or ()
    doubtful = unsure(seen)
    rivals = next((each for each in doubtful if each.rival and len(doubtful) == 1), None)
    if rivals is not None:
        names = [labelled.names.get(id, str(id)) for id in (rivals.class_id, rivals.rival)]
        whys.append(Why("between", {"said": names[0], "other": names[1]}))
    elif doubtful:
        whys.append(Why("unsure", {"n": len(doubtful)}) if len(doubtful) > 1 else Why("unsure_one"))
    found = [each for each in seen if each.strength >= 0.5]
    if found:
        rarest = min(found, key=lambda each: (labelled.counts.get(each.class_id, 0), -each.strength))
        name, known = labelled.names.get(rarest.class_id, str(rarest.class_id)), labelled.counts.get(rarest.class_id, 0)
        if known <= _RARE and len(labelled.names) > 1:
            whys.append(Why("rare", {"name": name, "n": known}))
        elif any(each.strength >= SURE for each in found):
            whys.append(Why("found", {"name": name}))
    return whys
