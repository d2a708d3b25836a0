"""Content of an evaluation report: data, metrics with intervals, curves, largest errors, and what is not shown.

Section of an evaluation report on the gauge study of the run; its rows are shown in the window as well.

Images of an evaluation report: missed defects, false alarms, worst images, and pairs of two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import numpy as np

from workbench import __version__
from workbench.core.documents import run_blocks
from workbench.core.documents.document import (
    Block,
    Chart,
    Document,
    DocumentImage,
    Gallery,
    Paragraph,
    Points,
    Section,
    Series,
    Table,
)
from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.confidence import MIN_OBSERVATIONS
from workbench.core.evaluation.defect_crops import CropFrame, Cropper
from workbench.core.evaluation.evaluation_comparison import ImagePair
from workbench.core.evaluation.figures import PAIR_METRICS
from workbench.core.evaluation.gauge_study import GaugeStudy, cautions, load, rater_name
from workbench.core.evaluation.intervals import MIN_PARTS, limits
from workbench.core.evaluation.operating_point import OperatingPointOrigin
from workbench.core.evaluation.split_evaluation import MaskEvaluation, SplitEvaluation, VerdictSplitEvaluation
from workbench.core.evaluation.stored_predictions import ANY, ImageEvaluation, StoredPrediction
from workbench.core.evaluation.verdict_evaluation import PredictedVerdict
from workbench.core.geometry import drawing
from workbench.core.geometry.drawing import Rect
from workbench.core.images.image_files import read
from workbench.core.messages import Message, join, recognize
from workbench.core.problems import Problem
from workbench.core.project.project import Project
from workbench.core.runs.run import Run
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import UNSURE, ModelSettings
from workbench.inference.overlay_drawing import to_display

_LISTED = 20  # parts with different verdicts


def gauge_sections(run: Run, settings: ModelSettings) -> list[Section]:
    """Return the section on the study that is stored with a run, [] without one. Raises RunBroken.

    settings: of the run in use.
    """
    study = load(run)
    if study is None or not study.figures:
        return []
    warnings = [Paragraph(text, warns=True) for text in cautions(study, run, settings)]
    names = [Message("card.definition", name=name, text=text) for name, text in definitions().items()]
    differing, rows = study.differing(), study.differing()[:_LISTED]
    blocks: list[Block] = [Paragraph(scope_text(study)), *warnings, Table(head(), figure_rows(study))]
    if rows:
        blocks.append(Paragraph(Message("gauge.differing", n=len(differing), m=len(study.by_part))))
        blocks.append(Table([Message("gauge.part"), *map(rater_name, study.raters)], [[part, *r] for part, r in rows]))
        if len(differing) > len(rows):
            blocks.append(Paragraph(Message("gauge.more", n=len(differing) - len(rows))))
    else:
        blocks.append(Paragraph(Message("gauge.all_same")))
    blocks.append(Points(names))
    return [Section(Message("gauge.title"), blocks)]


def scope_text(study: GaugeStudy) -> str:
    """Return what was studied and where intervals are stated, as sentences."""
    studied = Message("gauge.lead", n=study.images, m=len(study.by_part), when=study.when)
    return join("list.sentences", [studied, Message("card.intervals", n=MIN_PARTS)])


def head() -> list[str]:
    return [Message("gauge.who"), *(figure_texts.metric_name(metric.id) for metric in PAIR_METRICS)]


def definitions() -> dict[str, str]:
    """Return the definition of each column by its name."""
    of_metrics = {figure_texts.metric_name(metric.id): figure_texts.definition(metric.id) for metric in PAIR_METRICS}
    return {Message("gauge.model"): Message("gauge.model_definition")} | of_metrics


def figure_rows(study: GaugeStudy) -> list[list[str]]:
    """Return a row for each pair of compared verdicts: its name, then the figures with intervals."""
    rows: dict[str, list[str]] = {}
    for figure in study.figures:
        rows.setdefault(figure.name, [figure.name]).append(figure_texts.brief(figure_texts.text(figure)))
    return list(rows.values())


MOST = 9  # images of each gallery
_WHOLE = 768  # pixels: a larger image is not shown as a whole
SIDE = 480  # greatest width and height of an image, in pixels
LABEL_COLOR, PREDICTION_COLOR = (47, 155, 255), (255, 140, 26)  # distinguishable with color blindness; as in the window

Tick = Callable[[], object]  # called after each image; may raise to stop


class ReportImages:
    """Renderer of the images of one project. Images that cannot be read are left out."""

    def __init__(self, project: Project, tick: Tick = lambda: None) -> None:
        self._project, self._tick = project, tick
        self._cropper = Cropper(project)

    def missed(self, evaluation: MaskEvaluation) -> Gallery | None:
        """Return the missed defects, largest first."""
        names = {entry.id: entry.name for entry in evaluation.settings.classes}
        found = evaluation.images.defects(ANY, ANY)
        images = [
            self._crop(
                prediction,
                evaluation.evaluated_settings,
                defect.box,
                Message("report.missed_caption", name=names[defect.class_id], n=defect.area, p=f"{defect.peak:.2f}"),
                missed=True,
            )
            for prediction, defect in found[:MOST]
        ]
        return self._gallery(images, len(found), "report.shown_missed")

    def false_alarms(self, evaluation: MaskEvaluation) -> Gallery | None:
        """Return the false alarms, highest probability first."""
        names = {entry.id: entry.name for entry in evaluation.settings.classes}
        found = evaluation.images.alarms(ANY)
        images = [
            self._crop(
                prediction,
                evaluation.evaluated_settings,
                alarm.box,
                Message("report.alarm_caption", name=names[alarm.class_id], n=alarm.area, p=f"{alarm.peak:.2f}"),
            )
            for prediction, alarm in found[:MOST]
        ]
        return self._gallery(images, len(found), "report.shown_alarms")

    def worst_images(self, evaluation: MaskEvaluation) -> Gallery | None:
        """Return the images with errors, in the order of `EvaluatedImages.worst_first`."""
        worst = evaluation.images.worst_first()
        found = [entry for entry in worst if entry[1].counts.errors]
        images = []
        for prediction, image in found[:MOST]:
            box = _largest_error(image, prediction)
            caption = figure_texts.image_errors(image.counts)
            if not box.empty:
                caption = join("list.semicolon", [caption, Message("card.part")])
            images.append(self._crop(prediction, evaluation.evaluated_settings, box, caption))
        return self._gallery(images, len(found), "report.shown_images")

    def wrong_verdicts(self, evaluation: VerdictSplitEvaluation) -> Gallery | None:
        """Return the images with a wrong verdict, highest probability first."""
        mistakes, names = evaluation.verdicts.mistakes(), evaluation.verdicts.names
        images = [self._whole(image.key, verdict_text(image, names)) for image in mistakes[:MOST]]
        return self._gallery(images, len(mistakes), "report.shown_verdicts", outlines=False)

    def pair(
        self, pair: ImagePair, first: SplitEvaluation, second: SplitEvaluation
    ) -> tuple[DocumentImage, DocumentImage] | None:
        """Return an image with the predictions of both runs; None if it cannot be read."""
        sides = []
        for number, evaluation in enumerate((first, second)):
            if isinstance(evaluation, MaskEvaluation) and pair.predictions is not None:
                caption = self._mask_caption(pair, number)
                image = self._crop(pair.predictions[number], evaluation.evaluated_settings, drawing.NOTHING, caption)
            elif isinstance(evaluation, VerdictSplitEvaluation) and pair.verdicts is not None:
                image = self._whole(pair.key, verdict_text(pair.verdicts[number], evaluation.verdicts.names))
            else:
                image = None
            if image is None:
                return None
            sides.append(image)
        return sides[0], sides[1]

    @staticmethod
    def _mask_caption(pair: ImagePair, number: int) -> str:
        n, dice = pair.errors[number], pair.dice[number]
        text = Message("report.no_errors") if not n else Message("report.errors", n=n)
        return text if dice is None else join("list.comma", [text, Message("card.caption_dice", n=f"{dice:.2f}")])

    def _crop(
        self, prediction: StoredPrediction, settings: ModelSettings, box: Rect, caption: str, *, missed: bool = False
    ) -> DocumentImage | None:
        frame = CropFrame(box, SIDE, SIDE * 3 // 4, LABEL_COLOR, PREDICTION_COLOR, missed=missed)
        try:
            pixels = self._cropper.crop(prediction, settings, frame)
        except Problem:
            return None
        return self._encoded(prediction.key, caption, pixels)

    def _whole(self, key: str, caption: str) -> DocumentImage | None:
        try:
            image = to_display(read(self._project.image_path(key)))
        except Problem:
            return None
        scale = min(1.0, SIDE / max(image.shape[:2]))
        size = (max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale)))
        resized = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
        return self._encoded(key, caption, cv2.cvtColor(resized, cv2.COLOR_GRAY2RGB) if resized.ndim == 2 else resized)

    def _encoded(self, key: str, caption: str, pixels: np.ndarray) -> DocumentImage:
        _, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 85])
        self._tick()
        return DocumentImage(key, caption, data.tobytes(), pixels.shape[1], pixels.shape[0])

    @staticmethod
    def _gallery(
        images: Sequence[DocumentImage | None], total: int, legend: str, *, outlines: bool = True
    ) -> Gallery | None:
        readable = [image for image in images if image is not None]
        if not readable:
            return None
        return Gallery(Message(legend, n=len(readable), m=total), readable, outlines)


def _largest_error(image: ImageEvaluation, prediction: StoredPrediction) -> Rect:
    """Return the largest error of a large image, see `ImageCounts.errors`; a small image is shown as a whole."""
    if max(prediction.width, prediction.height) <= _WHOLE:
        return drawing.NOTHING
    found = zip(prediction.defects, image.counts.defects)
    wrong = [defect for defect, count in found if count.predicted != defect.class_id]
    return max([*wrong, *image.alarms], key=lambda error: error.area).box


def verdict_text(image: PredictedVerdict, names: Sequence[str]) -> str:
    percent = f"{100 * image.probability:.0f}"
    return Message("card.caption_verdict", truth=image.truth, name=names[image.predicted], n=percent)


FEW_PARTS = 10
_SETTINGS = ("encoder", "widths", "depth", "weights", "start_from", "patch", "input_size", "scale", "batch", "rate",
             "augment", "precision")  # fmt: skip


def evaluation_report(project: Project, evaluation: SplitEvaluation, images: ReportImages, when: datetime) -> Document:
    """Return the report of an evaluation at its operating point. when: time of the report. Reads images."""
    sections = [
        Section(Message("report.data"), list(_data(evaluation))),
        Section(Message("report.metrics"), run_blocks.tables(evaluation)),
        *run_blocks.expectation_sections(evaluation.run),
        Section(Message("card.operating_point"), list(_operating_point(evaluation))),
        *_curves(evaluation),
        *_galleries(evaluation, images),
        *gauge_sections(evaluation.run, evaluation.settings),
        Section(Message("card.training_settings"), run_blocks.settings_blocks(evaluation.run, only=_SETTINGS)),
        Section(Message("report.not_shown"), [Points(list(_caveats(evaluation)))]),
    ]
    return Document(
        title=Message("report.title", run=evaluation.run.name),
        subtitle=subtitle(project, when),
        headlines=run_blocks.headlines(evaluation.figures),
        sections=sections,
    )


def subtitle(project: Project, when: datetime) -> str:
    return Message("report.lead", project=project.file.name, date=f"{when:%Y-%m-%d %H:%M}", version=__version__)


# --- data -----------------------------------------------------------------------------------------


def _data(evaluation: SplitEvaluation) -> Iterator[Block]:
    figures, split = evaluation.figures, run_blocks.split_name(evaluation.split)
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
    yield from run_blocks.data_blocks(evaluation.dataset)


# --- operating point and curves -------------------------------------------------------------------


def _operating_point(evaluation: SplitEvaluation) -> Iterator[Block]:
    if isinstance(evaluation, MaskEvaluation):
        yield from run_blocks.operating_point_blocks(evaluation.evaluated_settings)
        if not evaluation.in_use:
            yield Paragraph(Message("report.point_not_stored"), warns=True)
            return
    else:
        yield from run_blocks.operating_point_blocks(evaluation.settings)
    if evaluation.stored.chosen_on:
        yield from run_blocks.point_origin_blocks(OperatingPointOrigin("review", evaluation.stored.chosen_on))


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
    yield from run_blocks.known_limits(evaluation.dataset, evaluation.settings, evaluation.split)
