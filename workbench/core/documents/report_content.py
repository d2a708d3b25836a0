"""Content of an evaluation report: data, metrics with intervals, curves, largest errors, and what is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from workbench import __version__
from workbench.core.documents import metric_tables
from workbench.core.documents.document import (
    Block,
    Chart,
    Document,
    Gallery,
    Paragraph,
    Points,
    Section,
    Series,
)
from workbench.core.documents.gauge_section import gauge_sections
from workbench.core.documents.report_images import ReportImages
from workbench.core.documents.run_blocks import (
    data_blocks,
    expectation_sections,
    known_limits,
    operating_point_blocks,
    point_origin_blocks,
    settings_blocks,
)
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.confidence import MIN_OBSERVATIONS
from workbench.core.evaluation.intervals import limits
from workbench.core.evaluation.operating_point import OperatingPointOrigin
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation
from workbench.core.messages import Message, recognize
from workbench.core.project.project import Project
from workbench.inference.model_settings import UNSURE

FEW_PARTS = 10
_SETTINGS = ("encoder", "widths", "depth", "weights", "start_from", "patch", "input_size", "scale", "batch", "rate",
             "augment", "precision")  # fmt: skip


def evaluation_report(project: Project, evaluation: SplitEvaluation, images: ReportImages, when: datetime) -> Document:
    """Return the report of an evaluation at its operating point. when: time of the report. Reads images."""
    sections = [
        Section(Message("report.data"), list(_data(evaluation))),
        Section(Message("report.metrics"), metric_tables.tables(evaluation)),
        *expectation_sections(evaluation.run),
        Section(Message("card.operating_point"), list(_operating_point(evaluation))),
        *_curves(evaluation),
        *_galleries(evaluation, images),
        *gauge_sections(evaluation.run, evaluation.settings),
        Section(Message("card.training_settings"), settings_blocks(evaluation.run, only=_SETTINGS)),
        Section(Message("report.not_shown"), [Points(list(_caveats(evaluation)))]),
    ]
    return Document(
        title=Message("report.title", run=evaluation.run.name),
        subtitle=subtitle(project, when),
        headlines=metric_tables.headlines(evaluation.figures),
        sections=sections,
    )


def subtitle(project: Project, when: datetime) -> str:
    return Message("report.lead", project=project.file.name, date=f"{when:%Y-%m-%d %H:%M}", version=__version__)


# --- data -----------------------------------------------------------------------------------------


def _data(evaluation: SplitEvaluation) -> Iterator[Block]:
    figures, split = evaluation.figures, metric_tables.split_name(evaluation.split)
    yield Paragraph(Message("report.measured", n=figures.images, m=figures.parts, split=split))
    if evaluation.split == "all":
        yield Paragraph(Message("report.training_included"), warns=True)
    elif not evaluation.run.adopted:
        yield Paragraph(Message("report.held_out"))
    if "val" in evaluation.split:
        used = "report.validation_used" if isinstance(evaluation, MaskEvaluation) else "report.validation_weights"
        yield Paragraph(Message(used), warns=True)
    if evaluation.leaks:
        first = evaluation.leaks[0].held_out_key
        yield Paragraph(Message("report.leaks", n=len(evaluation.leaks), first=first), warns=True)
    if evaluation.skipped:
        yield Paragraph(Message("card.unreadable", n=len(evaluation.skipped)))
    if evaluation.changed:
        yield Paragraph(Message("card.changed", n=evaluation.changed), warns=True)
    if evaluation.dataset.held_out_note:
        yield Paragraph(recognize(evaluation.dataset.held_out_note), warns=True)
    yield from data_blocks(evaluation.dataset)


# --- operating point and curves -------------------------------------------------------------------


def _operating_point(evaluation: SplitEvaluation) -> Iterator[Block]:
    if isinstance(evaluation, MaskEvaluation):
        yield from operating_point_blocks(evaluation.evaluated_settings)
        if not evaluation.in_use:
            yield Paragraph(Message("report.point_not_stored"), warns=True)
            return
    else:
        yield from operating_point_blocks(evaluation.settings)
    if evaluation.stored.chosen_on:
        yield from point_origin_blocks(OperatingPointOrigin("review", evaluation.stored.chosen_on))


def _curves(evaluation: SplitEvaluation) -> list[Section]:
    if isinstance(evaluation, MaskEvaluation):
        charts = list(_threshold_charts(evaluation))
        return [Section(Message("report.curves"), charts)] if charts else []
    verdicts = evaluation.verdicts
    bins = verdicts.reliability()
    chart = Chart(
        Message("report.calibration"),
        Message("report.predicted_probability"),
        Message("report.correct_share"),
        [
            Series(
                Message("report.share_with_interval"),
                [(entry.mean_probability, entry.share) for entry in bins],
                dots=True,
                intervals=[limits(entry.interval) for entry in bins],
            )
        ],
        mark=(evaluation.settings.unsure, UNSURE) if evaluation.settings.unsure else None,
        diagonal=True,
    )
    error = Message("report.calibration_error", n=f"{100 * (verdicts.calibration_error() or 0.0):.1f}")
    return [Section(Message("report.calibration"), [Paragraph(error), chart])]


def _threshold_charts(evaluation: MaskEvaluation) -> Iterator[Block]:
    if evaluation.sweep is None:
        return
    point = evaluation.images.point
    curve = evaluation.sweep.curve(point)
    thresholds = [float(value) for value in curve.thresholds]
    recall, precision = curve.recall.tolist(), curve.precision.tolist()
    names = figure_texts.metric_name("recall"), figure_texts.metric_name("region_precision")
    mark = (point.thresholds[0], Message("report.in_use")) if len(set(point.thresholds)) == 1 else None
    yield Paragraph(Message("report.curves_text" if mark else "report.curves_text_common"))
    yield Chart(
        Message("report.over_threshold"),
        Message("card.threshold"),
        Message("card.share_head"),
        [
            Series(names[0], list(zip(thresholds, recall))),
            Series(names[1], list(zip(thresholds, precision))),
        ],
        mark,
    )
    place = evaluation.images.place
    line = sorted([*zip(thresholds, recall, precision), *([(mark[0], *place)] if mark else [])])
    series = [Series(Message("card.scope_any"), [(x, y) for _, x, y in line])]  # the line passes through the point
    series.append(Series(Message("card.operating_point"), [place], dots=True))
    yield Chart(Message("report.over_recall"), *names, series)


# --- errors and caveats ---------------------------------------------------------------------------


def _galleries(evaluation: SplitEvaluation, images: ReportImages) -> Iterator[Section]:
    if isinstance(evaluation, MaskEvaluation):
        galleries: list[tuple[str, Gallery | None]] = [
            (Message("report.missed"), images.missed(evaluation)),
            (Message("report.false_alarms"), images.false_alarms(evaluation)),
            (Message("report.worst_images"), images.worst_images(evaluation)),
        ]
    else:
        galleries = [(Message("report.wrong_verdicts"), images.wrong_verdicts(evaluation))]
    for title, gallery in galleries:
        yield Section(title, [gallery if gallery is not None else Paragraph(Message("report.none"))])


def _caveats(evaluation: SplitEvaluation) -> Iterator[str]:
    n, parts = evaluation.figures.images, evaluation.figures.parts
    if n < MIN_OBSERVATIONS:
        yield Message("report.few_images", n=n)
    if parts < n:
        yield Message("report.same_parts", n=n, m=parts)
    if parts < FEW_PARTS:
        yield Message("report.few_parts", m=parts)
    if set(evaluation.stored.chosen_on) & set(evaluation.split.split("+")):
        yield Message("report.point_chosen_here")
    defects = int(evaluation.figures.get("recall").total) if isinstance(evaluation, MaskEvaluation) else 0
    if 0 < defects < MIN_OBSERVATIONS:
        yield Message("report.few_defects", n=defects)
    yield from known_limits(evaluation.dataset, evaluation.settings, evaluation.split)
