"""Verdict of an image from the regions of a segmentation: anomaly score, rule and reason.

The detection threshold decides what is drawn. The rule decides, from what is drawn, whether the image is rejected:
a second threshold, which is usually higher. Between a lower score and the rule, images can be left to a person.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .components import Components

GOOD, BAD = "OK", "NG"
UNSURE = "unsure"  # verdict of an image that a person has to decide
_MAX_NAME = 200  # characters


@dataclass(frozen=True)
class RegionTable:
    """Measurements of all regions of an image, one entry per region.

    class_id, area (pixels): int64 (n,). peak: greatest probability, 0..1; mass: sum of the probabilities of its pixels
    to the power of `ModelSettings.anomaly_exponent`, in pixels, times the share of its pixels beyond the ignored border
    to the power of `ModelSettings.border_exponent`; float64 (n,). box: int64 (n, 4), left, top, width and
    height in pixels.
    """

    class_id: np.ndarray
    area: np.ndarray
    peak: np.ndarray
    mass: np.ndarray
    box: np.ndarray

    @classmethod
    def of(
        cls, measured: Mapping[int, Components], offset: tuple[int, int] = (0, 0), *, border_exponent: int = 0
    ) -> RegionTable:
        """Build the table from the regions of each class id. offset: left and top of the measured part of the image."""
        parts = [
            cls(
                np.full(len(of_class.area), class_id, np.int64),
                of_class.area,
                of_class.peak / 255,
                of_class.weight * of_class.share**border_exponent,
                np.column_stack(
                    (
                        of_class.left + offset[0],
                        of_class.top + offset[1],
                        of_class.right - of_class.left,
                        of_class.bottom - of_class.top,
                    )
                ),
            )
            for class_id, of_class in measured.items()
            if len(of_class.area)
        ]
        return cls.join(parts)

    @classmethod
    def join(cls, parts: Sequence[RegionTable]) -> RegionTable:
        """Return the regions of several parts of an image, which share no region."""
        if not parts:
            whole, real = np.zeros(0, np.int64), np.zeros(0)
            return cls(whole, whole, real, real, np.zeros((0, 4), np.int64))
        return cls(*(np.concatenate([getattr(part, entry.name) for part in parts]) for entry in fields(cls)))

    @cached_property
    def anomaly_score(self) -> float:
        """Mass of all regions in pixels, see `ModelSettings.anomaly_exponent`; 0 without regions."""
        return round_mass(math.fsum(self.mass.tolist()))


@dataclass(frozen=True)
class RegionLimit:
    """Limit of one class: an area in pixels, a probability above 0 to 1, or both; None: none of that kind."""

    class_id: int
    area: int | None = None
    probability: float | None = None

    def reached(self, table: RegionTable) -> np.ndarray:
        """Return True for each region of the class with at least the area or, at one pixel, the probability."""
        large = np.zeros(len(table.area), bool) if self.area is None else table.area >= self.area
        certain = large if self.probability is None else table.peak >= self.probability - 1e-9
        return (table.class_id == self.class_id) & (large | certain)


@dataclass(frozen=True)
class VerdictRule:
    """Rule of the verdict.

    kind: "mass" rejects images whose anomaly score is above `mass`, in pixels; with 0, images with any region.
        "region" rejects images with a region that reaches the limit of its class; classes without a limit are ignored.
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
        _require(self.kind in ("region", "mass"), f"the kind {self.kind!r} is not known")
        _require(_is_number(self.mass) and self.mass >= 0, f"mass must be a number from 0, not {self.mass!r}")
        for name in (self.good, self.bad):
            _require(isinstance(name, str) and len(name) <= _MAX_NAME, "verdicts must be names")
        _require(bool(self.good.strip()) and self.good != self.bad, "the two verdicts must be different names")
        _require((self.kind == "region") == bool(self.limits), "a rule by region needs limits, and no other rule does")
        ids = [limit.class_id for limit in self.limits]
        _require(len(set(ids)) == len(ids), "a class has two limits")
        for limit in self.limits:
            _check_limit(limit)
        object.__setattr__(self, "mass", float(self.mass))
        if self.unsure is not None:
            valid = _is_number(self.unsure) and self.unsure >= 0 and (self.kind == "region" or self.unsure < self.mass)
            _require(valid, f"unsure must be a number from 0, below mass, not {self.unsure!r}")
            _require(UNSURE not in (self.good, self.bad), f"a verdict is named {UNSURE!r} itself")
            object.__setattr__(self, "unsure", float(self.unsure))

    @classmethod
    def from_json(cls, content: Any) -> VerdictRule:
        """Return a rule from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        _require(isinstance(content, dict) and "kind" in content, "it must hold a kind")
        unknown = sorted(set(content) - {entry.name for entry in fields(cls)})
        _require(not unknown, f"it has entries that are not known: {', '.join(map(str, unknown))}")
        limits = content.get("limits", [])
        known = {entry.name for entry in fields(RegionLimit)}
        valid = isinstance(limits, list | tuple) and all(
            isinstance(limit, dict) and "class_id" in limit and set(limit) <= known for limit in limits
        )
        _require(valid, "each limit needs class_id, area and probability")
        return cls(**{**content, "limits": tuple(RegionLimit(**limit) for limit in limits)})


@dataclass(frozen=True)
class ImageVerdict:
    """Verdict of one image. rejected: it is bad, neither good nor unsure. reason: JSON object, see `apply_rule`."""

    name: str
    rejected: bool
    reason: dict[str, Any]


def rejects(rule: VerdictRule, table: RegionTable) -> bool:
    """Return True if an image with these regions is rejected."""
    if rule.kind == "mass":
        return table.anomaly_score > rule.mass if rule.mass else len(table.area) > 0
    return bool(_reached(rule, table).any())


def is_unsure(rule: VerdictRule, table: RegionTable) -> bool:
    """Return True if an image with these regions is neither good nor rejected."""
    if rule.unsure is None or rejects(rule, table):
        return False
    return table.anomaly_score > rule.unsure if rule.unsure else len(table.area) > 0


def _reached(rule: VerdictRule, table: RegionTable) -> np.ndarray:
    return np.any([limit.reached(table) for limit in rule.limits], axis=0)


def apply_rule(rule: VerdictRule, table: RegionTable, names: Mapping[int, str]) -> ImageVerdict:
    """Return the verdict of an image. names: class id to name.

    The reason is a JSON object: "rule", the kind; "anomaly_score" and, by mass, "threshold" in pixels; of an unsure
    image "unsure", the score above which it is; "region", the heaviest one, by region of those that reach their limit,
    null without one: {"class_id", "class_name", "x", "y", "width", "height", "area", "peak", "mass"}; by region
    "limit", {"area", "probability"} of its class.
    """
    rejected = rejects(rule, table)
    deciding = np.arange(len(table.area)) if rule.kind == "mass" else np.flatnonzero(_reached(rule, table))
    reason: dict[str, Any] = {"rule": rule.kind, "anomaly_score": table.anomaly_score}
    heaviest = _heaviest(table, deciding)
    region = None if heaviest is None else _region(table, heaviest, names)
    limit = next((entry for entry in rule.limits if region and entry.class_id == region["class_id"]), None)
    reason["threshold"] = round_mass(rule.mass) if rule.kind == "mass" else None
    unsure = is_unsure(rule, table)
    if unsure:
        reason["unsure"] = rule.unsure
    reason["region"] = region
    reason["limit"] = limit and {"area": limit.area, "probability": limit.probability}
    bad = rule.bad or names.get(_heaviest_class(table, deciding), BAD)
    return ImageVerdict(bad if rejected else UNSURE if unsure else rule.good, rejected, reason)


def reason_text(reason: Mapping[str, Any] | None) -> str:
    """Return a reason as English text, for tables and the terminal; "" for None."""
    if not reason:
        return ""
    region, unsure = reason["region"], reason.get("unsure")
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
    return "no region reaches its limit" if region is None else f"{where}, probability up to {region['peak']:.2f}"


def round_mass(mass: float) -> float:
    """Round to three decimals, or to four significant digits, whichever keeps more of a small value.

    Uncertain regions have tiny masses, which rank images nevertheless. Sums of the same values in another order are
    equal after rounding.
    """
    return round(mass, 3) if mass >= 0.1 else float(f"{mass:.4g}")


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


def _check_limit(limit: RegionLimit) -> None:
    _require(_is_integer(limit.class_id), "the class of a limit must be a whole number")
    area, probability = limit.area, limit.probability
    _require(area is None or (_is_integer(area) and 0 <= area <= 2**53), f"an area must not be {area!r}")
    valid = probability is None or (_is_number(probability) and 0 < probability <= 1)
    _require(valid, f"a probability must be above 0 and at most 1, not {probability!r}")
    _require(area is not None or probability is not None, "a limit needs an area or a probability")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _require(condition: object, problem: str) -> None:
    if not condition:
        raise ValueError(problem)
