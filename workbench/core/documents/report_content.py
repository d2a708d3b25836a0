"""Content of an evaluation report: data, metrics with intervals, curves, largest errors, and what is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from workbench import __version__
from workbench.core.documents import metric_tables
from workbench.core.documents.document import (
    NOTHING,
    Block,
    Chart,
    Document,
    Gallery,
    Paragraph,
    Points,
    Section,
    Series,
    Table,
)
from workbench.core.documents.metric_tables import HoldoutResult, VerdictOutcome
from workbench.core.documents.report_images import ReportImages
from workbench.core.documents.run_blocks import (
    data_blocks,
    expectation_sections,
    limits,
    operating_point_blocks,
    point_origin_blocks,
    settings_blocks,
)
from workbench.core.evaluation.confidence import MIN_OBSERVATIONS
from workbench.core.evaluation.evaluation_summary import RatePerImage
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
    result = _result(evaluation)
    sections = [
        Section(Message("report.data"), list(_data(evaluation, result))),
        Section(Message("report.metrics"), [*_alerts(evaluation), *_metrics(evaluation, result)]),
        *expectation_sections(evaluation.run),
        Section(Message("card.operating_point"), list(_operating_point(evaluation))),
        *_curves(evaluation),
        *_galleries(evaluation, images),
        Section(Message("card.training_settings"), settings_blocks(evaluation.run, only=_SETTINGS)),
        Section(Message("report.not_shown"), [Points(list(_caveats(evaluation, result)))]),
    ]
    return Document(
        title=Message("report.title", run=evaluation.run.name),
        subtitle=subtitle(project, when),
        headlines=metric_tables.headlines(evaluation.settings, result),
        sections=sections,
    )


def subtitle(project: Project, when: datetime) -> str:
    return Message("report.lead", project=project.file.name, date=f"{when:%Y-%m-%d %H:%M}", version=__version__)


def _result(evaluation: SplitEvaluation) -> HoldoutResult:
    if isinstance(evaluation, MaskEvaluation):
        counts, passed = [image.counts for image in evaluation.images.evaluations], evaluation.passed
        total = len(counts) + len(passed.skipped)
        result = HoldoutResult(evaluation.split, total, counts, changed=passed.changed, unreadable=len(passed.skipped))
    else:
        verdicts, names = evaluation.verdicts, evaluation.verdicts.names
        outcomes = [
            VerdictOutcome(image.key, image.truth, names[image.predicted], image.probability)
            for image in verdicts.images
        ]
        lost = verdicts.unreadable + verdicts.other_labels
        result = HoldoutResult(evaluation.split, len(outcomes) + lost, verdicts=outcomes, unreadable=lost)
    return result


# --- data -----------------------------------------------------------------------------------------


def _data(evaluation: SplitEvaluation, result: HoldoutResult) -> Iterator[Block]:
    n, split = len(result.counts) or len(result.verdicts), metric_tables.split_name(evaluation.split)
    yield Paragraph(Message("report.measured", n=n, m=_parts(evaluation), split=split))
    if evaluation.split == "all":
        yield Paragraph(Message("report.training_included"), warns=True)
    elif not evaluation.run.adopted:
        yield Paragraph(Message("report.held_out"))
    if "val" in evaluation.split:
        yield Paragraph(Message("report.validation_used"), warns=True)
    if evaluation.leaks:
        first = evaluation.leaks[0].held_out_key
        yield Paragraph(Message("report.leaks", n=len(evaluation.leaks), first=first), warns=True)
    if result.unreadable:
        yield Paragraph(Message("card.unreadable", n=result.unreadable))
    if result.changed:
        yield Paragraph(Message("card.changed", n=result.changed), warns=True)
    if evaluation.dataset.held_out_note:
        yield Paragraph(recognize(evaluation.dataset.held_out_note), warns=True)
    yield from data_blocks(evaluation.dataset)


def _parts(evaluation: SplitEvaluation) -> int:
    """Return the number of different parts that the evaluated images show."""
    if isinstance(evaluation, MaskEvaluation):
        return evaluation.images.metrics.groups
    group_of = {item.key: item.group or item.key for item in evaluation.dataset.current}
    return len({group_of.get(image.key, image.key) for image in evaluation.verdicts.images})


# --- metrics --------------------------------------------------------------------------------------


def _alerts(evaluation: SplitEvaluation) -> Iterator[Paragraph]:
    if isinstance(evaluation, MaskEvaluation):
        texts = {
            "everything": "report.everything_marked",
            "every_good_picture": "report.every_good_image",
            "one_class": "report.one_class",
        }
        for alert in evaluation.images.metrics.alerts:
            if alert in texts:  # another one is part of the tables
                yield Paragraph(Message(texts[alert]), warns=True)


def _metrics(evaluation: SplitEvaluation, result: HoldoutResult) -> Iterator[Block]:
    yield from metric_tables.tables(evaluation.settings, result)
    if not isinstance(evaluation, MaskEvaluation):
        return
    metrics, names = evaluation.images.metrics, {entry.id: entry.name for entry in evaluation.settings.classes}
    rows: list[list[str]] = [[Message("card.all"), *_rate(metrics.false)]]
    if metrics.good:
        rows.append([Message("report.good_images"), *_rate(metrics.false_on_good)])
    if len(metrics.classes) > 1:
        rows += [
            [Message("report.of_class", name=names[row.class_id]), *_rate(row.false)]
            for row in metrics.classes
            if row.false is not None
        ]
    head = [Message("card.false_alarms"), Message("card.value"), Message("report.interval"), Message("report.counted")]
    yield Table(head, rows)


def _rate(rate: RatePerImage) -> list[str]:
    counted = Message("report.alarms_on", n=rate.count, m=rate.images)
    value = NOTHING if rate.value is None else f"{rate.value:.2f}"
    if rate.interval is None:
        return [value, NOTHING, counted]
    return [value, Message("card.range", low=f"{rate.interval[0]:.2f}", high=f"{rate.interval[1]:.2f}"), counted]


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
                intervals=[entry.interval for entry in bins],
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
    mark = (point.thresholds[0], Message("report.in_use")) if len(set(point.thresholds)) == 1 else None
    yield Paragraph(Message("report.curves_text" if mark else "report.curves_text_common"))
    yield Chart(
        Message("report.over_threshold"),
        Message("card.threshold"),
        Message("card.share_head"),
        [
            Series(Message("card.recall"), list(zip(thresholds, recall))),
            Series(Message("card.precision"), list(zip(thresholds, precision))),
        ],
        mark,
    )
    place = evaluation.images.place
    line = sorted([*zip(thresholds, recall, precision), *([(mark[0], *place)] if mark else [])])
    series = [Series(Message("card.all_classes"), [(x, y) for _, x, y in line])]  # the line passes through the point
    series.append(Series(Message("card.operating_point"), [place], dots=True))
    yield Chart(Message("report.over_recall"), Message("card.recall"), Message("card.precision"), series)


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


def _caveats(evaluation: SplitEvaluation, result: HoldoutResult) -> Iterator[str]:
    n, parts = len(result.counts) or len(result.verdicts), _parts(evaluation)
    if n < MIN_OBSERVATIONS:
        yield Message("report.few_images", n=n)
    if parts < n:
        yield Message("report.same_parts", n=n, m=parts)
    if parts < FEW_PARTS:
        yield Message("report.few_parts", m=parts)
    if set(evaluation.stored.chosen_on) & set(evaluation.split.split("+")):
        yield Message("report.point_chosen_here")
    defects = sum(len(image.defects) for image in result.counts)
    if result.counts and 0 < defects < MIN_OBSERVATIONS:
        yield Message("report.few_defects", n=defects)
    yield from limits(evaluation.dataset, evaluation.settings, evaluation.split)
