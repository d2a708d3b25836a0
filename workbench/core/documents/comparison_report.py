"""Content of the comparison of two runs: metrics with their differences, and images on which the runs differ."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from workbench.core.documents import run_blocks
from workbench.core.documents.document import Block, Document, ImagePairs, Paragraph, Points, Section, Table
from workbench.core.documents.report_content import MOST, ReportImages, subtitle
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.evaluation_comparison import (
    EvaluationComparison,
    FigureDifference,
    compare_masks,
    compare_verdicts,
)
from workbench.core.evaluation.expectation import Expectation, points_text, signed
from workbench.core.evaluation.figure_texts import NOTHING
from workbench.core.evaluation.intervals import MIN_PARTS
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.messages import Message
from workbench.core.problems import RunUnusable
from workbench.core.project.project import Project

_OUTCOMES = {
    "better": "compare.better",
    "worse": "compare.worse",
    "equal": "compare.equal",
    "unclear": "compare.unclear",
    "unknown": "compare.unknown",
}


def compare_evaluations(first: SplitEvaluation, second: SplitEvaluation) -> EvaluationComparison:
    """Compare two evaluations of the same kind of model. Raises RunUnusable if they have no image in common."""
    if isinstance(first, MaskEvaluation) and isinstance(second, MaskEvaluation):
        comparison = compare_masks(first, second)
    elif isinstance(first, VerdictSplitEvaluation) and isinstance(second, VerdictSplitEvaluation):
        comparison = compare_verdicts(first, second)
    else:
        raise RunUnusable(name=second.run.name, why=Message("compare.other_kind"))
    if not comparison.images:
        raise RunUnusable(name=second.run.name, why=Message("compare.nothing_in_common"))
    return comparison


def comparison_report(
    project: Project,
    first: SplitEvaluation,
    second: SplitEvaluation,
    comparison: EvaluationComparison,
    images: ReportImages,
    when: datetime,
) -> Document:
    """Return the comparison as a document. Reads images."""
    return Document(
        title=Message("compare.title", first=first.run.name, second=second.run.name),
        subtitle=subtitle(project, when),
        headlines=[],
        sections=[
            Section(Message("report.metrics"), list(metric_blocks(first, second, comparison))),
            Section(Message("compare.images"), list(_images(first, second, comparison, images))),
            Section(Message("report.not_shown"), [Points(list(_caveats(comparison)))]),
        ],
    )


def metric_blocks(first: SplitEvaluation, second: SplitEvaluation, comparison: EvaluationComparison) -> Iterator[Block]:
    """Yield the description of the data and the table of metrics."""
    split = run_blocks.split_name(first.split)
    yield Paragraph(Message("compare.measured", n=comparison.images, m=comparison.parts, split=split))
    if comparison.left_out:
        yield Paragraph(Message("compare.left_out", n=comparison.left_out), warns=True)
    head = [
        Message("compare.metric"),
        first.run.name,
        second.run.name,
        Message("compare.difference"),
        Message("compare.outcome"),
    ]
    yield Table(head, [cells for cells, _ in comparison_rows(comparison)])
    yield Paragraph(Message("compare.method", n=MIN_PARTS))
    if any(comparison.expectations):
        yield Paragraph(Message("compare.own_images"))


def comparison_rows(comparison: EvaluationComparison) -> list[tuple[list[str], str]]:
    """Return (texts, outcome) of each row of the table; the outcome is "" where runs are not compared.

    Metrics of all images come first, then other parts and changed lighting if known, then metrics of single classes.
    """
    metrics = [(metric_cells(metric), metric.outcome) for metric in comparison.metrics]
    whole = sum(not metric.figures[0].name for metric in comparison.metrics)  # these are first
    return [*metrics[:whole], *((cells, "") for cells in _expectation_cells(comparison)), *metrics[whole:]]


def _expectation_cells(comparison: EvaluationComparison) -> list[list[str]]:
    """Return the rows on other parts and changed lighting, with columns as of `metric_cells`.

    These have no outcome: each run was measured on its own validation/test images.
    """
    first, second = comparison.expectations
    rows: list[list[str]] = []
    if any(each is not None and each.forecast is not None for each in comparison.expectations):
        rows.append([Message("compare.expected"), _expected_range(first), _expected_range(second), NOTHING, ""])
    if any(each is not None and each.worst is not None for each in comparison.expectations):
        found = [each for each in comparison.expectations if each is not None and each.worst is not None]
        values = [each.worst.value for each in found if each.worst is not None]
        difference = NOTHING
        if len(values) == 2:
            share = found[0].metric == "accuracy"
            difference = points_text(values[1] - values[0]) if share else signed(values[1] - values[0], 2)
        name = Message("compare.worst_lighting")
        rows.append([name, _worst_lighting(first), _worst_lighting(second), difference, ""])
    return rows


def _expected_range(expectation: Expectation | None) -> str:
    if expectation is None or expectation.forecast is None:
        return NOTHING
    if expectation.limits is None:
        return Message("compare.unknown_range")
    low, high = map(expectation.number, expectation.limits)
    return Message("compare.range", low=low, high=high)


def _worst_lighting(expectation: Expectation | None) -> str:
    if expectation is None or expectation.worst is None:
        return NOTHING
    worst = expectation.worst
    return Message("compare.changed", change=worst.text, value=expectation.number(worst.value), points=worst.points)


def metric_cells(metric: FigureDifference) -> list[str]:
    """Return the texts of a row: name, both values, difference, outcome. Intervals are 95% CI."""
    values = [figure_texts.text(figure) for figure in metric.figures]
    outcome = Message(_OUTCOMES[metric.outcome])
    return [figure_texts.name(metric.figures[0]), *values, _difference(metric), outcome]


def _difference(metric: FigureDifference) -> str:
    """Return the difference of both values, with its interval or why it has none: of shares in percentage points."""
    value, share = metric.difference, metric.figures[0].metric.unit == "share"
    if value is None:
        return NOTHING
    text = points_text(value) if share else signed(value, 2)
    if metric.edges is None:
        return Message("card.in_brackets", first=text, rest=Message("figure.no_interval", why=metric.interval))
    low, high = (signed(100 * edge, 0) if share else signed(edge, 2) for edge in metric.edges)
    return Message("compare.value", n=text, low=low, high=high)


def _images(
    first: SplitEvaluation, second: SplitEvaluation, comparison: EvaluationComparison, images: ReportImages
) -> Iterator[Block]:
    if not comparison.pairs:
        yield Paragraph(Message("compare.no_differences"))
        return
    one_right = sum(pair.weight[0] for pair in comparison.pairs)
    yield Paragraph(Message("compare.differing", n=len(comparison.pairs), m=one_right, k=comparison.images))
    rendered = [(pair.key, images.pair(pair, first, second)) for pair in comparison.pairs[:MOST]]
    pairs = [(key, *sides) for key, sides in rendered if sides is not None]
    outlines = isinstance(first, MaskEvaluation)
    yield ImagePairs((first.run.name, second.run.name), pairs, outlines)


def _caveats(comparison: EvaluationComparison) -> Iterator[str]:
    if comparison.parts < MIN_PARTS:
        yield Message("compare.few_parts", m=comparison.parts)
    yield Message("compare.several")
    yield Message("compare.chance")
