"""Verdict of an image from the regions of a segmentation: anomaly score, rule and reason.

The detection threshold decides what is drawn. The rule decides, from what is drawn, whether the image is rejected:
a second threshold, which is usually higher. Between a lower score and the rule, images can be left to a person.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from .region_table import (
    OUTCOMES,
    REJECT,
    REWORK,
    UNSURE,  # also the verdict of an image that a person has to decide
    RegionLimit,
    RegionTable,
    limit_text,
    require,
    round_mass,
)

GOOD, BAD = "OK", "NG"
_GOOD_NAMES = ("ok", "good")  # verdicts that count as OK, in lower case
_MAX_NAME = 200  # characters


@dataclass(frozen=True)
class VerdictRule:
    """Rule of the verdict.

    kind: "mass" rejects images whose anomaly score is above `mass`, in pixels; with 0, images with any region.
        "region" gives images that exceed a limit the worst outcome of these limits, `bad` for "reject"; regions that
        no limit counts are ignored.
    good, bad: verdicts; an empty `bad` stands for the name of the class with the greatest mass.
    unsure: images that are not rejected are "unsure" with an anomaly score above it, in pixels, by mass below `mass`;
        with 0, those with any region. None: every image is good or rejected.

    Raises ValueError with the problem, as a part of a sentence.
    """

    kind: Literal["region", "mass"]
    mass: float = 0.0
    limits: tuple[RegionLimit, ...] = ()
    good: str = GOOD
    bad: str = BAD
    unsure: float | None = None

    def __post_init__(self) -> None:
        require(self.kind in ("region", "mass"), f"the kind {self.kind!r} is not known")
        require(_is_number(self.mass) and self.mass >= 0, f"mass must be a number from 0, not {self.mass!r}")
        for name in (self.good, self.bad):
            require(isinstance(name, str) and len(name) <= _MAX_NAME, "verdicts must be names")
        require(bool(self.good.strip()) and self.good != self.bad, "the two verdicts must be different names")
        require((self.kind == "region") == bool(self.limits), "a rule by region needs limits, and no other rule does")
        for name in self.others:
            require(name not in (self.good, self.bad), f"a verdict is named {name!r} itself")
        object.__setattr__(self, "mass", float(self.mass))
        if self.unsure is not None:
            valid = _is_number(self.unsure) and self.unsure >= 0 and (self.kind == "region" or self.unsure < self.mass)
            require(valid, f"unsure must be a number from 0, below mass, not {self.unsure!r}")
            object.__setattr__(self, "unsure", float(self.unsure))

    @property
    def others(self) -> list[str]:
        """Verdicts besides `good` and `bad` that the rule may give, see `OUTCOMES`."""
        given = {limit.outcome for limit in self.limits} | ({UNSURE} if self.unsure is not None else set())
        return [name for name in OUTCOMES[1:] if name in given]

    @property
    def by_edge(self) -> bool:
        """True if the rule depends on the distance from the edge of the inspected part."""
        return any({"edge", "inner"} & limit.conditions.keys() for limit in self.limits)

    @property
    def zones(self) -> tuple[str, ...]:
        """Names of the zones that the rule needs, in alphabetical order."""
        return tuple(sorted({limit.zone for limit in self.limits if limit.zone is not None}))

    @classmethod
    def from_json(cls, content: Any) -> VerdictRule:
        """Return a rule from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        require(isinstance(content, dict) and "kind" in content, "it must hold a kind")
        unknown = sorted(set(content) - {entry.name for entry in fields(cls)})
        require(not unknown, f"it has entries that are not known: {', '.join(map(str, unknown))}")
        limits = content.get("limits", [])
        require(isinstance(limits, list | tuple), "limits must be a list")
        read: dict[str, Any] = {**content, "limits": tuple(map(RegionLimit.from_json, limits))}
        return cls(**read)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of `from_json`."""
        content = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        content["limits"] = [limit.to_json() for limit in self.limits]
        return content


@dataclass(frozen=True)
class ImageVerdict:
    """Verdict of one image. rejected: it is bad, neither good nor unsure. reason: JSON object, see `apply_rule`."""

    name: str
    rejected: bool
    reason: dict[str, Any]


def outcome_of(rule: VerdictRule, table: RegionTable) -> str | None:
    """Return the outcome for an image with these regions: one of `OUTCOMES`; None: it is good."""
    if rule.kind == "mass":
        rejected = table.anomaly_score > rule.mass if rule.mass else len(table.area) > 0
        outcome = REJECT if rejected else None
    else:
        outcome = _exceeded(rule, table)[0]
    if outcome is None and rule.unsure is not None:
        above = table.anomaly_score > rule.unsure if rule.unsure else len(table.area) > 0
        return UNSURE if above else None
    return outcome


def good_verdict(verdicts: Iterable[str], rule: VerdictRule | None = None) -> str | None:
    """Return the verdict that counts as OK: that of the rule, or the first one with a name such as OK or good."""
    return rule.good if rule is not None else next((each for each in verdicts if each.lower() in _GOOD_NAMES), None)


def rejects(rule: VerdictRule, table: RegionTable) -> bool:
    """Return True if an image with these regions is rejected, or to be reworked."""
    return outcome_of(rule, table) in (REJECT, REWORK)


def _exceeded(rule: VerdictRule, table: RegionTable) -> tuple[str | None, list[tuple[RegionLimit, np.ndarray]]]:
    """Return the worst outcome of the exceeded limits, None without one, and those that have it.

    Each with its regions, bool (n,).
    """
    counted = [(limit, limit.matches(table)) for limit in rule.limits]
    exceeded = [(limit, found) for limit, found in counted if np.count_nonzero(found) > limit.most]
    worst = min((limit.outcome for limit, _ in exceeded), key=OUTCOMES.index, default=None)
    return worst, [(limit, found) for limit, found in exceeded if limit.outcome == worst]


def apply_rule(
    rule: VerdictRule, table: RegionTable, names: Mapping[int, str], um: float | None = None
) -> ImageVerdict:
    """Return the verdict of an image. names: class id to name. um: µm per pixel, None if unknown.

    The reason is a JSON object: "rule", the kind; "anomaly_score" and, by mass, "threshold" in pixels; of an image that
    is unsure by its score "unsure", the score above which it is; "region", the heaviest one, by region of those that an
    exceeded limit counts, null without one: {"class_id", "class_name", "x", "y", "width", "height", "area", "peak",
    "mass"}; by region "limit", the limit that counts it, see `RegionLimit.to_json`, without its class; unless that is
    an area or a probability alone, "found", the number of regions that it counts, and "sentence".
    """
    outcome, exceeded = outcome_of(rule, table), [] if rule.kind == "mass" else _exceeded(rule, table)[1]
    counted = np.any([found for _, found in exceeded], axis=0) if exceeded else np.zeros(len(table.area), bool)
    deciding = np.arange(len(table.area)) if rule.kind == "mass" else np.flatnonzero(counted)
    heaviest = _heaviest(table, deciding)
    reason: dict[str, Any] = {"rule": rule.kind, "anomaly_score": table.anomaly_score}
    reason["threshold"] = round_mass(rule.mass) if rule.kind == "mass" else None
    if outcome == UNSURE and not exceeded:
        reason["unsure"] = rule.unsure
    reason["region"] = None if heaviest is None else _region(table, heaviest, names)
    limit, found = next(((limit, found) for limit, found in exceeded if found[heaviest]), (None, counted))
    reason["limit"] = limit and {name: value for name, value in limit.to_json().items() if name != "class_id"}
    if limit is not None and not limit.is_plain:
        reason |= {"found": int(found.sum()), "sentence": limit_text(limit, names, um)}
    bad = rule.bad or names.get(_heaviest_class(table, deciding), BAD)
    name = rule.good if outcome is None else bad if outcome == REJECT else outcome
    return ImageVerdict(name, outcome in (REJECT, REWORK), reason)


def reason_text(reason: Mapping[str, Any] | None) -> str:
    """Return a reason as English text, for tables and the terminal; "" for None."""
    if not reason:
        return ""
    region, unsure, sentence = reason["region"], reason.get("unsure"), reason.get("sentence")
    if unsure is not None:
        return f"anomaly score {score_text(reason['anomaly_score'])} above {score_text(unsure)}, but not rejected"
    if region is None:
        where = ""
    else:
        where = f"{region['class_name']} at ({region['x']}, {region['y']}), {region['area']} px²"
    if reason["rule"] == "mass":
        score, threshold = reason["anomaly_score"], reason["threshold"]
        text = (
            f"anomaly score {score_text(score)} {'above' if score > threshold else 'not above'} {score_text(threshold)}"
        )
        return f"{text}; largest contribution: {where}" if where else text
    if sentence:
        return f"{reason['found']} found, {sentence}; for example {where}"
    return "no region reaches its limit" if region is None else f"{where}, probability up to {region['peak']:.2f}"


def score_text(value: float) -> str:
    """Return an anomaly score as text: one decimal, below 1 two significant digits."""
    return f"{value:.2g}" if 0 < value < 1 else f"{value:.1f}"


def result_text(result: Mapping[str, Any]) -> str:
    """Return the result of an image in one line of English text: verdict, number of regions, or both, and why not.

    result: from `Prediction.to_json`, or an entry of a results log, which may be of an earlier version.
    """
    verdict, regions, reason = result["verdict"], result["regions"], result.get("verdict_reason")
    count = "1 region" if len(regions) == 1 else f"{len(regions)} regions"
    text = count if verdict is None else verdict if reason is None else f"{verdict}, {count} ({reason_text(reason)})"
    unlike = unlike_text(result)
    return f"{text} ({unlike})" if unlike else text


def given_verdict(result: Mapping[str, Any]) -> str:
    """Return the verdict of a result; that of a model without a rule is "NG" for an image with a region."""
    return result["verdict"] if result["verdict"] is not None else BAD if result["regions"] else GOOD


@dataclass(frozen=True)
class ResultsSummary:
    """Summary of the results of several images.

    images: their number. verdicts: number of images by verdict, most frequent first; of a segmentation without the
    verdict of a good image, and "NG" first if there is no other. largest: region with the greatest area, as of
    `Region.to_json`; None without regions. ruled: the model gives the verdicts, see `given_verdict`.
    """

    images: int
    verdicts: Mapping[str, int]
    largest: Mapping[str, Any] | None
    ruled: bool = True

    @classmethod
    def of(cls, results: Iterable[Mapping[str, Any]], good: str | None) -> ResultsSummary:
        """Summarize results as of `result_text`. good: verdict of a good image; None for a classification."""
        counts: Counter[str] = Counter()
        largest: Mapping[str, Any] | None = None
        ruled = True
        for result in results:
            ruled = ruled and result["verdict"] is not None
            counts[given_verdict(result)] += 1
            for region in result["regions"][:1]:  # the regions are sorted by area
                largest = region if largest is None or region["area"] > largest["area"] else largest
        images = counts.total()
        if good is not None:
            del counts[good]
        return cls(images, dict(counts.most_common()) or {BAD: 0}, largest, ruled)

    def __str__(self) -> str:
        """English sentence, such as "NG 7 of 10, largest 4.2 mm², rust"."""
        texts = [f"{name} {count} of {self.images}" for name, count in self.verdicts.items()]
        if self.largest is not None:
            texts.append(f"largest {area_text(self.largest)}, {self.largest['class_name']}")
        basis = "" if self.ruled else f" (without a verdict rule, an image with a region is {BAD})"
        return ", ".join(texts) + basis


def area_text(region: Mapping[str, Any]) -> str:
    """Return the area of a region with a unit, metric if the scale is known. region: as of `Region.to_json`."""
    area = region["area_um2"]
    if area is None:
        return f"{region['area']} px²"
    return f"{area:.0f} µm²" if area < 1e6 else f"{area / 1e6:.3g} mm²"


def unlike_text(result: Mapping[str, Any]) -> str:
    """Return why an image is unlike the training images; "" if it is not. result: as of `result_text`."""
    found = result.get("input")
    return "" if not found or found["ok"] else "; ".join(found["why"])


def _heaviest(table: RegionTable, among: np.ndarray) -> int | None:
    """Return the region with the greatest mass, of equal ones the upper left one."""
    if not len(among):
        return None
    order = np.lexsort((table.box[among, 0], table.box[among, 1], -table.mass[among]))
    return int(among[order[0]])


def _heaviest_class(table: RegionTable, among: np.ndarray) -> int:
    """Return the id of the class with the greatest total mass, of equal ones the lowest id; 0 without regions."""
    ids, index = np.unique(table.class_id[among], return_inverse=True)
    return int(ids[np.argmax(np.bincount(index, table.mass[among]))]) if len(ids) else 0


def _region(table: RegionTable, number: int, names: Mapping[int, str]) -> dict[str, Any]:
    class_id = int(table.class_id[number])
    x, y, width, height = (int(value) for value in table.box[number])
    return {
        "class_id": class_id,
        "class_name": names.get(class_id, ""),
        "x": x,
        "y": y,
        "width": width,
        "height": height,
        "area": int(table.area[number]),
        "peak": round(float(table.peak[number]), 4),
        "mass": round_mass(float(table.mass[number])),
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
