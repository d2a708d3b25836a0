"""Verb `drift`: results of a line by hour and shift, compared with a reference."""

from __future__ import annotations

import argparse
import zoneinfo
from datetime import datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any

from workbench.cli.evaluate import check_suffix, write_report
from workbench.cli.verb_runner import Console, WrongUse
from workbench.core.documents.shift_report import MOST, shift_report, table
from workbench.core.evaluation.intervals import limits
from workbench.core.evaluation.line_results import (
    Change,
    LineResults,
    Period,
    Plan,
    read_results,
    reference_text,
    sentence,
    time_text,
)
from workbench.core.resources import LANGUAGES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS", help="files of --log-jsonl, results.jsonl, or their folders"
    )
    parser.add_argument(
        "--reference",
        metavar="N|FROM/TO",
        help="the first N hours with images, or those from one time to another, such as "
        "2026-11-28T06:00/2026-11-28T14:00 (the first half, up to 24 hours)",
    )
    parser.add_argument(
        "--shifts", default="06:00,14:00,22:00", metavar="TIMES", help="starts of the shifts (06:00,14:00,22:00)"
    )
    zone = "time zone, such as UTC or Europe/Berlin (that of this computer)"
    parser.add_argument("--zone", metavar="NAME", help=zone)
    parser.add_argument("--station", metavar="NAME", help="count only the results of this computer")
    good = "verdict that counts as OK in results.jsonl (that of the verdict rule, or OK, or good)"
    parser.add_argument("--ok-verdict", metavar="NAME", help=good)
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a shift report to FILE.html or FILE.pdf")
    parser.add_argument("--language", choices=list(LANGUAGES), help="language of the report (en)")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    check_suffix(options.report)
    try:
        shifts = [time.fromisoformat(text.strip()) for text in options.shifts.split(",")]
        zone: tzinfo | None = zoneinfo.ZoneInfo(options.zone) if options.zone else None
    except (ValueError, zoneinfo.ZoneInfoNotFoundError) as error:
        raise WrongUse(f"--shifts needs times such as 06:00,14:00, and --zone a known time zone: {error}") from error
    count, span = _reference(options.reference)
    plan = Plan(zone=zone, shifts=shifts, station=options.station, good=options.ok_verdict)
    results = read_results(options.results, plan)
    reference = results.reference(count, span)
    if not reference:
        raise WrongUse("no hour with images is in the reference")
    found: dict[str, Any] = {"reference": _describe(reference)}
    for unit, periods in (("shift", results.shifts), ("hour", results.hours)):
        changes = results.compare(periods, reference)
        text = sentence(periods, changes, reference, unit)
        found |= {f"{unit}s": [_row(period, each) for period, each in zip(periods, changes)], f"{unit}s_text": text}
        head, rows = table(results, periods, changes)
        widths = [max(map(len, column)) + 2 for column in zip(head, *rows)]
        for row in [head, *rows[-MOST:]]:
            console.line("".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip())
        console.line(text)
        console.line()
    notes = results.notes()
    for note in notes:
        console.note(note)
    if options.report is not None:
        document = shift_report(results, reference, options.zone or "this computer")
        write_report(document, options.report.absolute(), options.language or "en")
        found["report"] = options.report.absolute()
    return found | {"stations": results.stations, "runs": results.runs, "notes": notes, "last": _last(results)}


def _reference(text: str | None) -> tuple[int | None, tuple[datetime, datetime] | None]:
    try:
        if text is None:
            return None, None
        if text.isdecimal() and int(text):
            return int(text), None
        first, _, last = text.partition("/")
        return None, (datetime.fromisoformat(first), datetime.fromisoformat(last))
    except ValueError as error:
        raise WrongUse("--reference is a number of hours, or FROM/TO such as 2026-11-28T06/2026-11-28T14") from error


def _describe(reference: list[Period]) -> dict[str, Any]:
    return {
        "from": reference[0].start.isoformat(),
        "to": (reference[-1].start + timedelta(hours=1)).isoformat(),
        "hours": len(reference),
        "pictures": sum(period.images for period in reference),
        "text": reference_text(reference),
    }


def _row(period: Period, changes: list[Change]) -> dict[str, Any]:
    return {
        "from": period.start.isoformat(),
        "pictures": period.images,
        **period.outcomes,
        "unlike": period.unlike,
        "checked": period.checked,
        "classes": period.classes,
        "runs": sorted(period.runs),
        "changes": {
            each.rate: {
                "value": each.share,
                "before": each.before,
                "expected": each.expected and limits(each.expected),
                "why": each.why,
                "moved": each.moved,
            }
            for each in changes
        },
    }


def _last(results: LineResults) -> list[dict[str, Any]]:
    return [
        {"time": time_text(image.time), "name": image.name, "result": image.outcome, "verdict": image.verdict}
        | {"classes": image.classes, "path": image.path}
        for image in results.last
    ]
