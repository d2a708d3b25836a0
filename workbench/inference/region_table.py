"""Regions of an image as a table, and limits on the number of those of one kind, as on a drawing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from .components import Components, feret_diameters
from .inspection_area import NO_MAPS, AreaMaps
from .io.json_io import require

REJECT, REWORK, UNSURE = "reject", "rework", "unsure"
OUTCOMES = (REJECT, REWORK, UNSURE)  # of an exceeded limit, worst first
ANY_CLASS, ANY_NAME = 0, "any"
# Conditions of a limit: words of a sentence, and the power of a length that the value is; 0: a probability, None: a
# name.
CONDITIONS: dict[str, tuple[str, int | None]] = {
    "area": ("of area from", 2),
    "area_below": ("smaller than", 2),
    "length": ("of length from", 1),
    "length_below": ("shorter than", 1),
    "width": ("of width from", 1),
    "width_below": ("narrower than", 1),
    "probability": ("of probability from", 0),
    "edge": ("nearer to the edge than", 1),
    "inner": ("farther from the edge than", 1),
    "apart": ("nearer to another than", 1),
    "zone": ("in zone", None),
}
_LARGEST = 2.0**53
_CLOSE = 1e-6  # pixels, so that 0.5 mm of a rule are the 10 pixels of 0.05 mm


def _nothing() -> np.ndarray:
    return np.zeros(0)


@dataclass(frozen=True)
class RegionTable:
    """Measurements of all regions of an image, one entry per region.

    class_id, area (pixels): int64 (n,). peak: greatest probability, 0..1; mass: sum of the probabilities of its pixels
    to the power of `ModelSettings.anomaly_exponent`, in pixels, times the share of its pixels beyond the ignored border
    to the power of `ModelSettings.border_exponent`; float64 (n,). box: int64 (n, 4), left, top, width and
    height in pixels. edge: distance in pixels from the edge of the inspected part, 0 at it; float64 (n,). zones: names
    of the zones in which a region has a pixel, a frozenset each, object (n,). runs: of the
    pixels of all regions in turn, also of those in the ignored border, as of `components.pixel_runs`; run_ends: index
    after the last run of each region, int64 (n,). The last four are empty if only the verdict by score is needed.
    """

    class_id: np.ndarray
    area: np.ndarray
    peak: np.ndarray
    mass: np.ndarray
    box: np.ndarray
    edge: np.ndarray = field(default_factory=_nothing)
    zones: np.ndarray = field(default_factory=lambda: np.zeros(0, object))
    runs: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    run_ends: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(
        cls,
        measured: Mapping[int, Components],
        offset: tuple[int, int] = (0, 0),
        *,
        border_exponent: int = 0,
        shape: tuple[int, int] | None = None,
        maps: AreaMaps = NO_MAPS,
    ) -> RegionTable:
        """Build the table from the regions of each class id.

        offset: left and top of the measured part of the image. shape: height and width of the image; None: the table
        needs no edges, zones and runs. maps: of the inspection area of the image.
        """
        parts = []
        for class_id, of_class in measured.items():
            if not len(of_class.area):
                continue
            left, top, right, bottom = (
                side + offset[axis]
                for side, axis in ((of_class.left, 0), (of_class.top, 1), (of_class.right, 0), (of_class.bottom, 1))
            )
            part = cls(
                np.full(len(of_class.area), class_id, np.int64),
                of_class.area,
                of_class.peak / 255,
                of_class.weight * of_class.share**border_exponent,
                np.column_stack((left, top, right - left, bottom - top)),
            )
            if shape is not None and of_class.runs is not None and of_class.run_ends is not None:
                runs = of_class.runs + np.array([offset[1], offset[0], offset[0]], np.int32)
                edge = np.min([left, top, shape[1] - right, shape[0] - bottom], axis=0).astype(np.float64)
                if maps.depth is not None:
                    edge = np.minimum(edge, _over_pixels(np.minimum, maps.depth, runs, of_class.run_ends))
                zones = [_over_pixels(np.maximum, zone, runs, of_class.run_ends) for zone in maps.zones.values()]
                rows = np.array(zones, bool).reshape(len(zones), -1).T if zones else [()] * len(edge)
                names = np.empty(len(edge), object)
                names[:] = [frozenset(name for name, found in zip(maps.zones, row) if found) for row in rows]
                place = {"edge": edge, "zones": names, "runs": runs, "run_ends": of_class.run_ends}
                part = replace(part, **place)
            parts.append(part)
        return cls.join(parts)

    @classmethod
    def join(cls, parts: Sequence[RegionTable]) -> RegionTable:
        """Return the regions of several parts of an image, which share no region."""
        if not parts:
            whole, real = np.zeros(0, np.int64), np.zeros(0)
            return cls(whole, whole, real, real, np.zeros((0, 4), np.int64))
        columns = {entry.name: np.concatenate([getattr(part, entry.name) for part in parts]) for entry in fields(cls)}
        before = np.cumsum([0] + [len(part.runs) for part in parts])
        columns["run_ends"] = np.concatenate([part.run_ends + first for part, first in zip(parts, before)])
        return cls(**columns)

    @cached_property
    def anomaly_score(self) -> float:
        """Mass of all regions in pixels, see `ModelSettings.anomaly_exponent`; 0 without regions."""
        return round_mass(math.fsum(self.mass.tolist()))

    @cached_property
    def feret(self) -> np.ndarray:
        """Greatest and least Feret diameter of each region in pixels, as of `Region`, float64 (n, 2)."""
        return np.array([feret_diameters(self.runs_of(number)) for number in range(len(self.area))]).reshape(-1, 2)

    def runs_of(self, number: int) -> np.ndarray:
        """Return the runs of a region."""
        return self.runs[self.run_ends[number - 1] if number else 0 : self.run_ends[number]]

    def close(self, chosen: np.ndarray, distance: float) -> np.ndarray:
        """Return True for the chosen regions of which another chosen one is nearer than `distance` pixels."""
        numbers, close = np.flatnonzero(chosen), np.zeros(len(self.area), bool)
        corners = np.array([self._extent(number) for number in numbers.tolist()]).reshape(-1, 4)
        order = np.argsort(corners[:, 0], kind="stable")
        numbers, corners = numbers[order], corners[order]
        ends = np.searchsorted(corners[:, 0], corners[:, 2] + distance)  # of those that begin near enough below
        for place, (number, end) in enumerate(zip(numbers.tolist(), ends.tolist())):
            rest, (left, right) = corners[place + 1 : end], corners[place, [1, 3]]
            near = np.maximum(left - rest[:, 3], rest[:, 1] - right) < distance
            for other in numbers[place + 1 : end][near].tolist():
                if _distance(self.runs_of(number), self.runs_of(other)) < distance - _CLOSE:
                    close[[number, other]] = True
        return close

    def _extent(self, number: int) -> tuple[int, int, int, int]:
        runs = self.runs_of(number)
        return int(runs[0, 0]), int(runs[:, 1].min()), int(runs[:, 0].max()), int(runs[:, 2].max()) - 1


def _over_pixels(operation: np.ufunc, values: np.ndarray, runs: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the least or greatest value (H, W) at the pixels of each region."""
    sizes = runs[:, 2] - runs[:, 1]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.arange(starts[-1]) - np.repeat(starts[:-1] - runs[:, 1], sizes)
    chosen = values[np.repeat(runs[:, 0], sizes), columns]
    return operation.reduceat(chosen, starts[np.concatenate([[0], ends[:-1]])])


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    """Return the distance of the nearest pixels of two regions in pixels; neighbors are 1 apart. one, other: runs."""
    least = math.inf
    for row, first, end in one.tolist():
        across = np.maximum(0, np.maximum(other[:, 1] - end + 1, first - other[:, 2] + 1)).astype(np.float64)
        least = min(least, float((across**2 + (other[:, 0] - row) ** 2).min()))
    return math.sqrt(least)


@dataclass(frozen=True)
class RegionLimit:
    """Limit of a rule: an image may have `most` regions of this kind, or else it has the outcome.

    class_id: `ANY_CLASS` for all. area (from, pixels), probability (from, at one pixel): one of the two suffices.
    area_below, length, length_below, width, width_below: greatest (length) and least (width) Feret diameter, from or
    below. edge, inner: distance from the edge of the inspected part, below or from. apart: another region of this kind
    is nearer. In pixels. zone: name of a zone in which the region has a pixel. None: no such condition; all others
    that are given must hold.
    outcome: "reject", "rework" or "unsure".

    Raises ValueError with the problem, as a part of a sentence.
    """

    class_id: int
    area: float | None = None
    probability: float | None = None
    most: int = 0
    area_below: float | None = None
    length: float | None = None
    length_below: float | None = None
    width: float | None = None
    width_below: float | None = None
    edge: float | None = None
    inner: float | None = None
    apart: float | None = None
    zone: str | None = None
    outcome: str = REJECT

    def __post_init__(self) -> None:
        for name in ("class_id", "most"):
            value = getattr(self, name)
            valid = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
            require(valid, f"{name} of a limit must be a whole number from 0, not {value!r}")
        for name, value in self.conditions.items():
            if CONDITIONS[name][1] is None:
                require(isinstance(value, str) and value, f"{name} of a limit must be a name, not {value!r}")
                continue
            valid = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LARGEST
            valid = valid and (name != "probability" or 0 < value <= 1)
            require(valid, f"{name} of a limit must not be {value!r}")
        require(self.outcome in OUTCOMES, f"the outcome {self.outcome!r} is not known")

    @property
    def conditions(self) -> dict[str, Any]:
        """Conditions that are given, by name, in the order of `CONDITIONS`."""
        return {name: value for name in CONDITIONS if (value := getattr(self, name)) is not None}

    @property
    def is_plain(self) -> bool:
        """True if no region may reach an area or a probability, or else the image is rejected."""
        return not self.most and self.outcome == REJECT and self.conditions.keys() <= {"area", "probability"}

    def matches(self, table: RegionTable) -> np.ndarray:
        """Return True for each region of this kind."""
        found = np.full(len(table.area), True) if self.class_id == ANY_CLASS else table.class_id == self.class_id
        if self.area is not None or self.probability is not None:
            large = np.zeros(len(found), bool) if self.area is None else table.area >= self.area - _CLOSE
            found &= large if self.probability is None else large | (table.peak >= self.probability - 1e-9)
        given = self.conditions
        if not found.any():
            return found
        for name, least in (("area_below", False), ("edge", False), ("inner", True)):
            if name in given:
                values = table.area if name == "area_below" else table.edge
                found = found & ((values >= given[name] - _CLOSE) == least)
        for column, name in enumerate(("length", "width")):
            if name in given:
                found = found & (table.feret[:, column] >= given[name] - _CLOSE)
            if f"{name}_below" in given:
                found = found & (table.feret[:, column] < given[f"{name}_below"] - _CLOSE)
        if self.zone is not None:
            found = found & np.array([self.zone in names for names in table.zones], bool)
        return found if self.apart is None else table.close(found, self.apart)

    @classmethod
    def from_json(cls, content: Any) -> RegionLimit:
        """Return a limit from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        known = {entry.name for entry in fields(cls)}
        valid = isinstance(content, dict) and "class_id" in content and content.keys() <= known
        require(valid, f"a limit needs class_id, and may have {', '.join(sorted(known))}")
        return cls(**content)

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object: class, area and probability always, the rest where it differs from the default."""
        kept = {"class_id", "area", "probability"}
        values = {entry.name: (getattr(self, entry.name), entry.default) for entry in fields(self)}
        return {name: value for name, (value, usual) in values.items() if name in kept or value != usual}


def limit_text(limit: RegionLimit, names: Mapping[int, str], um: float | None) -> str:
    """Return a limit as an English sentence. names: class id to name. um: µm per pixel, None if unknown."""
    name = names.get(limit.class_id, "") if limit.class_id != ANY_CLASS else f"{ANY_NAME} region"
    texts = [
        f"{CONDITIONS[key][0]} {size_text(value, CONDITIONS[key][1], um)}" for key, value in limit.conditions.items()
    ]
    if None not in (limit.area, limit.probability):
        area, probability = list(limit.conditions).index("area"), list(limit.conditions).index("probability")
        texts[area] += f" or {texts.pop(probability)}"
    return f"{' '.join([f'at most {limit.most} {name}', *texts])}, otherwise {limit.outcome}"


def size_text(value: Any, power: int | None, um: float | None) -> str:
    """Return the value of a condition with its unit. power: see `CONDITIONS`. um: µm per pixel, None if unknown."""
    if not power:
        return str(value) if power is None else f"{value:g}"
    unit, factor = size_unit(power, um)
    return f"{value * factor:.6g} {unit}"


def size_unit(power: int, um: float | None) -> tuple[str, float]:
    """Return the unit of a length or an area, and the size of a pixel in it."""
    return (f"px{'²' * (power == 2)}", 1.0) if um is None else (f"mm{'²' * (power == 2)}", (um / 1000) ** power)


def round_mass(mass: float) -> float:
    """Round to three decimals, or to four significant digits, whichever keeps more of a small value.

    Uncertain regions have tiny masses, which rank images nevertheless. Sums of the same values in another order are
    equal after rounding.
    """
    return round(mass, 3) if mass >= 0.1 else float(f"{mass:.4g}")
