"""Content of the shift report: what has moved, rates by shift and hour with a chart, classes, images not OK."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from workbench import __version__
from workbench.core.documents import document
from workbench.core.evaluation.confidence import MIN_OBSERVATIONS
from workbench.core.evaluation.line_results import Change, LineResults, Period, rate_name, sentence, time_text
from workbench.core.messages import Message

MOST = 48  # listed hours
_LINES = 4  # of the chart


def shift_report(results: LineResults, reference: Sequence[Period], zone: str) -> document.Document:
    """Return the report. reference: hours. zone: name of the time zone."""
    hours, shifts = results.hours, results.shifts
    by_hour, by_shift = results.compare(hours, reference), results.compare(shifts, reference)
    total = results.total()
    headlines = [document.Headline(Message("drift.images"), f"{results.images}")]
    headlines += [document.Headline(rate_name(rate), f"{total.share(rate):.1%}") for rate in results.rates()[:3]]
    sections = [
        document.Section(Message("drift.shifts"), _period_blocks(results, shifts, by_shift, reference, "shift")),
        document.Section(Message("drift.over_time"), [chart(results, hours)] if len(hours) > 1 else []),
        document.Section(Message("drift.hours"), _period_blocks(results, hours, by_hour, reference, "hour")),
        document.Section(Message("drift.classes"), [document.Table(*pareto(results))]),
        document.Section(Message("drift.last"), [document.Table(*last_images(results))]),
        document.Section(
            Message("drift.notes"),
            [document.Points([*results.notes(), Message("drift.mark"), Message("drift.method", n=MIN_OBSERVATIONS)])],
        ),
    ]
    subtitle = Message("drift.lead", n=results.images, zone=zone, version=__version__)
    return document.Document(Message("drift.title"), subtitle, headlines, [each for each in sections if each.blocks])


def _period_blocks(
    results: LineResults,
    periods: Sequence[Period],
    changes: Sequence[Sequence[Change]],
    reference: Sequence[Period],
    unit: str,
) -> list[document.Block]:
    blocks: list[document.Block] = [document.Paragraph(sentence(periods, changes, reference, unit))]
    if len(periods) > MOST:
        blocks.append(document.Paragraph(Message("drift.more_hours", n=MOST, m=len(periods))))
    head, rows = table(results, periods, changes)
    return [*blocks, document.Table(head, rows[-MOST:])]


def table(
    results: LineResults, periods: Sequence[Period], changes: Sequence[Sequence[Change]]
) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: start, number of images, and each rate in percent, with * if it has moved."""
    rates = results.rates()
    head = [Message("drift.from"), Message("drift.images"), *map(rate_name, rates)]
    rows = []
    for period, found in zip(periods, changes):
        moved = {each.rate for each in found if each.moved}
        shares = ((rate, period.share(rate)) for rate in rates)
        cells = ("–" if share is None else f"{share:.1%}" + "*" * (rate in moved) for rate, share in shares)
        rows.append([time_text(period.start), f"{period.images}", *cells])
    return head, rows


def chart(results: LineResults, hours: Sequence[Period]) -> document.Chart:
    """Return the most frequent rates over time. hours: at least two."""
    rates, first, last = results.rates(), hours[0].start, hours[-1].start
    width = (last - first).total_seconds()
    lines = {rate: [period.share(rate) for period in hours] for rate in rates[:_LINES]}
    top = max((share for share in chain(*lines.values()) if share is not None), default=0.0) or 1.0
    series = [
        document.Series(rate_name(rate), [
            ((period.start - first).total_seconds() / width, share / top)
            for period, share in zip(hours, shares)
            if share is not None
        ])
        for rate, shares in lines.items()
    ]  # fmt: skip
    ends = [(0.0, f"{first:%m-%d %H:%M}"), (1.0, f"{last:%m-%d %H:%M}")]
    shares = [(place, f"{place * top:.1%}") for place in (0.0, 0.5, 1.0)]
    names = Message("drift.over_time"), Message("drift.axis_time"), Message("drift.axis_share")
    return document.Chart(*names, series, x_ticks=ends, y_ticks=shares)


def pareto(results: LineResults) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: classes, the most frequent first."""
    total = results.total()
    rows = [[name, f"{n}", f"{n / total.images:.1%}"] for name, n in total.classes.most_common()]
    return [Message("drift.class"), Message("drift.images"), Message("drift.share")], rows


def last_images(results: LineResults) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the last images that are not OK, the newest first."""
    return [Message("drift.axis_time"), Message("drift.name"), Message("drift.verdict"), Message("drift.classes")], [
        [time_text(image.time), image.name, image.verdict or image.outcome, ", ".join(image.classes)]
        for image in results.last
    ]
