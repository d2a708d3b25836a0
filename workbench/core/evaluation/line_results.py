"""Results of a line over time: a table with a row for each hour and each shift, from the JSON lines of any station.

These are logs of `--log-jsonl` and the `results.jsonl` of a results folder. Rates of a period are compared with the
hours of a reference. `/metrics` of a server counts images in the same way.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta, timezone, tzinfo
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.evaluation.confidence import MIN_OBSERVATIONS
from workbench.core.evaluation.intervals import MIN_PARTS, Interval, expected_share
from workbench.core.messages import Message
from workbench.core.problems import NoLineResults
from workbench.inference.io.json_io import parse_line, read_lines
from workbench.inference.region_table import REWORK, UNSURE
from workbench.inference.verdict_rule import good_verdict

OK, NG, ERROR = "OK", "NG", "ERROR"
OUTCOMES = (OK, NG, REWORK, UNSURE, ERROR)
UNLIKE = "unlike"
# Rate -> message with its name. Each class has a rate beside these.
RATES = {
    NG: "drift.rate_ng",
    REWORK: "drift.rate_rework",
    UNSURE: "drift.rate_unsure",
    ERROR: "drift.rate_error",
    UNLIKE: "drift.rate_unlike",
}
SHIFTS = (time(6), time(14), time(22))
_FORMAT = 1
_LAST, _FIRST_HOURS = 50, 24  # listed images, and hours of the usual reference


def outcome(record: Mapping[str, Any], good: str | None = None) -> str:
    """Return the one of OUTCOMES of an image. record: of a result output, or an entry of a results log.

    good: verdict that counts as OK in a results log, which has no results.
    """
    if "why" in record:
        return ERROR
    verdict = record.get("verdict")
    if verdict in (UNSURE, REWORK):
        return verdict
    result = record.get("result")
    if result in OUTCOMES:
        return result
    if verdict is None:
        return NG if record["regions"] else OK
    return OK if verdict == good or (good is None and good_verdict([verdict])) else NG


@dataclass(frozen=True)
class LastImage:
    """Image that was not OK. mask: of its regions. The files may not exist here."""

    time: datetime
    name: str
    outcome: str
    verdict: str
    classes: tuple[str, ...]
    path: Path | None
    mask: Path | None


@dataclass
class Period:
    """Row of the table. outcomes: number of images. checked: images compared with the training images.

    classes: images with a region of the class, or, of a model without regions, rejected with this verdict.
    """

    start: datetime
    outcomes: Counter[str] = field(default_factory=Counter)
    checked: int = 0
    unlike: int = 0
    classes: Counter[str] = field(default_factory=Counter)
    runs: set[str] = field(default_factory=set)

    @property
    def images(self) -> int:
        return self.outcomes.total()

    def counted(self, rate: str) -> tuple[int, int]:
        """Return how many images have a result, and among how many. rate: of RATES, or "class NAME"."""
        if rate == UNLIKE:
            return self.unlike, self.checked
        if rate.startswith("class "):
            return self.classes[rate.removeprefix("class ")], self.images
        return self.outcomes[rate], self.images

    def share(self, rate: str) -> float | None:
        events, images = self.counted(rate)
        return events / images if images else None


@dataclass(frozen=True)
class Change:
    """Share of a period beside that of the reference, by which it is expected in a range. why: there is no range."""

    rate: str
    share: float | None
    before: float | None
    expected: Interval | None
    why: Message | None = None

    @property
    def moved(self) -> bool:
        if self.expected is None or self.share is None:
            return False
        return not self.expected.low <= self.share <= self.expected.high


@dataclass
class Plan:
    """Request to read. zone: of the rows, None for that of this computer. shifts: their starts.

    station: the only one that counts, None for all. good: verdict that counts as OK in a results log.
    """

    zone: tzinfo | None = None
    shifts: Sequence[time] = SHIFTS
    station: str | None = None
    good: str | None = None


class LineResults:
    """Table of the results in some files.

    hours, shifts: periods with images, in order. stations, runs: number of images; "" for a station without a name.
    faults: number of lines that are damaged, of another format, repeated, without a time zone, older than the line
    before by an hour or more, and of images that were not checked. last: images that were not OK, the newest first.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._hours: dict[datetime, Period] = {}
        self._shifts: dict[datetime, Period] = {}
        self.stations: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self._last: list[tuple[datetime, int, LastImage]] = []
        self._number = count()
        self._seen: set[int] = set()

    @property
    def hours(self) -> list[Period]:
        return [self._hours[start] for start in sorted(self._hours)]

    @property
    def shifts(self) -> list[Period]:
        return [self._shifts[start] for start in sorted(self._shifts)]

    @property
    def last(self) -> list[LastImage]:
        return [image for _, _, image in sorted(self._last, reverse=True)]

    @property
    def images(self) -> int:
        return sum(period.images for period in self._hours.values())

    def read(self, path: Path) -> None:
        """Add the lines of a file. Raises OSError."""
        head: dict[str, Any] = {}
        before: datetime | None = None
        for _, line in read_lines(path):
            record = parse_line(line)
            if record is None or ("fingerprint" not in record and not _is_result(record)):
                self.faults["drift.damaged"] += 1
            elif record.get("format", head.get("format")) != _FORMAT:
                self.faults["drift.other_format"] += 1
            elif "fingerprint" in record and "at" not in record:  # first line of a results log
                head = record
            else:
                when = self._time(record)
                if when is None:
                    self.faults["drift.damaged"] += 1
                    continue
                self.faults["drift.older"] += before is not None and when < before - timedelta(hours=1)
                before = when
                self._add({**head, **record}, when, path.parent)

    def _time(self, record: dict[str, Any]) -> datetime | None:
        """Return when an image was predicted; of an earlier results log, when its file was written."""
        text = record.get("time")
        try:
            if text is None:
                return datetime.fromtimestamp(record["file"][1] / 1e9, timezone.utc)
            when = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
            self.faults["drift.no_zone"] += when.tzinfo is None
            return self._aware(when).astimezone(timezone.utc)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError, OSError):
            return None

    def _aware(self, when: datetime) -> datetime:
        """Return a time with a time zone: if it has none, that of the table."""
        return when if when.tzinfo is not None else when.replace(tzinfo=self.plan.zone).astimezone(self.plan.zone)

    def _add(self, record: dict[str, Any], when: datetime, folder: Path) -> None:
        station = str(record.get("station") or "")
        mark = hash(str(record.get("id") or (record.get("at"), record.get("file"))))
        if mark in self._seen:
            self.faults["drift.repeated"] += 1
            return
        self._seen.add(mark)
        self.stations[station] += 1
        if self.plan.station not in (None, station):
            return
        found = outcome(record, self.plan.good or record.get("good"))
        run, checked = str(record.get("run") or ""), record.get("input")
        classes = tuple(dict.fromkeys(str(region.get("class_name")) for region in record.get("regions") or ()))
        if not classes and found == NG and record.get("verdict"):
            classes = (str(record["verdict"]),)
        self.runs[run] += 1
        self.faults["drift.unchecked"] += not isinstance(checked, dict) and found != ERROR
        for period in self._periods(when):
            period.outcomes[found] += 1
            period.runs.add(run)
            period.classes.update(classes)
            if isinstance(checked, dict):
                period.checked += 1
                period.unlike += not checked.get("ok")
        if found != OK:
            path, mask = record.get("at") or record.get("path"), record.get("mask")
            image = LastImage(
                when.astimezone(self.plan.zone),
                str(record.get("name") or record.get("path") or ""),
                found,
                str(record.get("verdict") or ""),
                classes,
                Path(path) if isinstance(path, str) and Path(path).is_absolute() else None,
                folder / mask if isinstance(mask, str) and "at" in record else None,
            )
            keep = heapq.heappush if len(self._last) < _LAST else heapq.heappushpop
            keep(self._last, (when, next(self._number), image))

    def _periods(self, when: datetime) -> Iterator[Period]:
        local = when.astimezone(self.plan.zone)
        hour = local.replace(minute=0, second=0, microsecond=0)
        yield self._hours.setdefault(hour.astimezone(timezone.utc), Period(hour))
        starts = sorted(self.plan.shifts)
        day, begun = local.date(), [start for start in starts if start <= local.time()]
        start = datetime.combine(day if begun else day - timedelta(days=1), (begun or starts)[-1], local.tzinfo)
        yield self._shifts.setdefault(start.replace(tzinfo=None), Period(start))

    # --- comparison -----------------------------------------------------------------------------------

    def reference(self, hours: int | None = None, span: tuple[datetime, datetime] | None = None) -> list[Period]:
        """Return the hours with images with which the others are compared.

        hours: the first so many. span: those that start in it. By default the first half of all hours, up to 24.
        """
        table = self.hours
        if span is not None:
            first, end = map(self._aware, span)
            return [period for period in table if first <= period.start < end]
        return table[: min(_FIRST_HOURS, max(MIN_PARTS, len(table) // 2)) if hours is None else hours]

    def rates(self) -> list[str]:
        """Return the rates that are not 0 everywhere: RATES, then classes, the most frequent first."""
        total = self.total()
        classes = [f"class {name}" for name, _ in total.classes.most_common()]
        return [rate for rate in (*RATES, *classes) if total.counted(rate)[0]]

    def total(self) -> Period:
        """Return all hours together."""
        total = Period(datetime.min)
        for period in self._hours.values():
            total.outcomes += period.outcomes
            total.classes += period.classes
            total.checked += period.checked
            total.unlike += period.unlike
        return total

    def compare(self, periods: Sequence[Period], reference: Sequence[Period]) -> list[list[Change]]:
        """Return the changes of each period, of all `rates`; empty for one that shares time with the reference.

        periods: `hours` or `shifts`.
        """
        rates, own = self.rates(), {id(period) for period in reference}
        begin = [period.start for period in periods]
        for hour in reference:  # a shift that has a part of the reference
            inside = [period for period, start in zip(periods, begin) if start <= hour.start]
            own |= {id(inside[-1])} if inside else set()
        free = [period for period in periods if id(period) not in own]
        comparisons = sum(period.counted(rate)[1] >= MIN_OBSERVATIONS for period in free for rate in rates)
        sums = {rate: np.array([period.counted(rate) for period in reference]).reshape(-1, 2) for rate in rates}

        def change(period: Period, rate: str) -> Change:
            events, images = sums[rate].sum(axis=0)
            before = float(events / images) if images else None
            own = period.counted(rate)[1]
            found: Interval | Message = Message("drift.few_images", n=own, m=MIN_OBSERVATIONS)
            if own >= MIN_OBSERVATIONS:
                found = expected_share(sums[rate], own, comparisons)
            ranged = isinstance(found, Interval)
            return Change(rate, period.share(rate), before, found if ranged else None, None if ranged else found)

        return [[] if id(period) in own else [change(period, rate) for rate in rates] for period in periods]

    def notes(self) -> list[Message]:
        """Return sentences on what limits the table: damaged lines, several stations and models, and the like."""
        found = [Message(name, n=number) for name, number in self.faults.items() if number]
        if len(self.stations) > 1:
            names = ", ".join(f"{name or '–'} ({number})" for name, number in self.stations.most_common())
            found.append(Message("drift.stations", n=len(self.stations), names=names))
        if len(self.runs) > 1:
            names = ", ".join(f"{name or '–'} ({number})" for name, number in self.runs.most_common())
            found.append(Message("drift.models", n=len(self.runs), names=names))
        return found


def read_results(paths: Iterable[Path], plan: Plan) -> LineResults:
    """Read files, and the files *.jsonl of folders. Raises NoLineResults."""
    results, paths = LineResults(plan), list(paths)
    for path in paths:
        try:
            for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
                results.read(file)
        except OSError as error:
            raise NoLineResults(path=str(path), why=Message.of(error)) from error
    if not results.images:
        raise NoLineResults(path=", ".join(map(str, paths)), why=Message("drift.no_image"))
    return results


def time_text(when: datetime) -> str:
    """Return day, time and offset from UTC."""
    return f"{when:%Y-%m-%d %H:%M %z}"


def reference_text(reference: Sequence[Period]) -> Message:
    first, last = reference[0].start, reference[-1].start + timedelta(hours=1)
    images = sum(period.images for period in reference)
    return Message("drift.reference", n=len(reference), first=time_text(first), last=time_text(last), images=images)


def rate_name(rate: str) -> str:
    """Return the name of a rate; that of a class is its own."""
    return rate.removeprefix("class ") if rate.startswith("class ") else Message(RATES[rate])


def sentence(
    periods: Sequence[Period], changes: Sequence[Sequence[Change]], reference: Sequence[Period], unit: str
) -> Message:
    """Return one sentence on what has moved last, or why nothing can be said. unit: "hour" or "shift"."""
    usable = [(period, each) for period, found in zip(periods, changes) for each in found]
    reasons = [each.why for _, each in usable if each.why is not None]
    if not usable or len(reasons) == len(usable):
        return Message("drift.not_compared", why=reasons[-1] if reasons else Message("drift.only_reference"))
    moved = [(period, each) for period, each in usable if each.moved]
    about = reference_text(reference)
    if not moved:
        return Message("drift.none", reference=about)
    period, change = max(moved, key=lambda pair: (pair[0].start, _distance(pair[1])))
    assert change.expected is not None and change.share is not None
    runs = period.runs - set().union(*(each.runs for each in reference))
    model = Message("drift.other_model", run=", ".join(sorted(runs))) if runs else ""
    return Message(
        "drift.moved",
        rate=rate_name(change.rate),
        now=f"{change.share:.1%}",
        period=Message("drift.hour" if unit == "hour" else "drift.shift", time=time_text(period.start)),
        reference=about,
        low=f"{100 * change.expected.low:.1f}",
        high=f"{change.expected.high:.1%}",
        more=Message("drift.more", n=len(moved) - 1) if len(moved) > 1 else "",
        model=model,
    )


def _distance(change: Change) -> float:
    """Return how far a share is out of its expected range, in the width of the range."""
    assert change.expected is not None and change.share is not None
    low, high = change.expected.low, change.expected.high
    return max(low - change.share, change.share - high) / (high - low)


def _is_result(record: Mapping[str, Any]) -> bool:
    """Return True for a result of an image, with the right types."""
    regions = record.get("regions")
    valid = isinstance(regions, list) and all(isinstance(each, dict) for each in regions)
    return (valid or isinstance(record.get("why"), str)) and isinstance(record.get("verdict"), str | None)
