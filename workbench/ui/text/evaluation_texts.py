"""Texts of evaluation metrics in the language of the window.

Texts about the prediction for one image: regions, verdict, state of a model in training.

Texts of the label queues: reasons for labeling an image next or for checking its label.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.core.evaluation import figure_texts
from workbench.core.evaluation.figures import Figure
from workbench.core.evaluation.image_ranking import GroupedProportion
from workbench.core.evaluation.operating_point import OperatingPoint
from workbench.core.evaluation.stored_predictions import ImageCounts
from workbench.core.messages import Message
from workbench.core.runs.events import Preview
from workbench.core.text_patterns import fill
from workbench.inference.model_settings import UNSURE
from workbench.ui.text import formatting
from workbench.ui.text.formatting import translate_message

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import Maturity
    from workbench.core.label_next.label_advice import LabelIssueList, LabelNextList
    from workbench.core.label_next.label_issues import LabelIssue
    from workbench.core.label_next.label_ranking import RankReason
    from workbench.inference.predictor import Prediction

_IMMATURE = {
    "everything": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks almost everything"),
    "too_much": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks far too much"),
    "scattered": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks many small regions"),
    "nothing": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks almost nothing"),
    "uncertain": QT_TRANSLATE_NOOP("PredictionOverlay", "the model is still uncertain"),
    "wrong": QT_TRANSLATE_NOOP("PredictionOverlay", "the model does not match the labels yet"),
}

_WEAK = {
    "everything": QT_TRANSLATE_NOOP("PredictionOverlay", "Prediction: almost everything"),
    "too_much": QT_TRANSLATE_NOOP("PredictionOverlay", "Prediction: far too much"),
    "scattered": QT_TRANSLATE_NOOP("PredictionOverlay", "Prediction: many small regions"),
    "uncertain": QT_TRANSLATE_NOOP("PredictionOverlay", "Prediction: uncertain"),
    "wrong": QT_TRANSLATE_NOOP("PredictionOverlay", "Prediction: does not match labels"),
}


def trained_text(result: Prediction, maturity: Maturity | None) -> str:
    """Return the number of predicted defects of a finished run, or why its regions are not shown."""
    if maturity is None or maturity.mature:
        return regions_text(result)
    return QCoreApplication.translate("PredictionOverlay", _WEAK[maturity.state])


def preview_text(step: int, maturity: Maturity | None) -> str:
    """Return the state of the model after a training step: its regions, or why they are not shown."""
    if maturity is None:
        return QCoreApplication.translate("PredictionOverlay", "After step {step}").format(step=formatting.number(step))
    count = maturity.facts.regions
    if not maturity.mature:
        result = QCoreApplication.translate("PredictionOverlay", _IMMATURE[maturity.state])
    elif count == 0:
        result = QCoreApplication.translate("PredictionOverlay", "no regions")
    elif count == 1:
        result = QCoreApplication.translate("PredictionOverlay", "1 region")
    else:
        result = QCoreApplication.translate("PredictionOverlay", "{n} regions").format(n=formatting.number(count))
    return after_step_text(step, result)


def after_step_text(step: int, result: str) -> str:
    """Return a result of a model in training with the number of training steps."""
    text = QCoreApplication.translate("PredictionOverlay", "After step {step}: {result}")
    return text.format(step=formatting.number(step), result=result)


def _defects_text(count: int) -> str:
    """Return the number of predicted defects."""
    if count == 0:
        return QCoreApplication.translate("PredictionOverlay", "Prediction: no defects")
    if count == 1:
        return QCoreApplication.translate("PredictionOverlay", "Prediction: 1 defect")
    return QCoreApplication.translate("PredictionOverlay", "Prediction: {n} defects").format(n=count)


def regions_text(result: Prediction) -> str:
    """Return the number of predicted defects, with the verdict if the model has a rule for it."""
    text = _defects_text(len(result.regions) + result.left_out)
    if result.verdict is None:
        return text
    pattern = QCoreApplication.translate("PredictionOverlay", "{prediction}; verdict: {verdict}")
    return pattern.format(prediction=text, verdict=result.verdict)


def verdict_text(prediction: Prediction | Preview) -> str:
    """Return the predicted verdict with its probability."""
    probabilities = prediction.probabilities or {}
    if prediction.verdict == UNSURE and UNSURE not in probabilities and probabilities:
        best = max(probabilities, key=probabilities.__getitem__)
        text = QCoreApplication.translate(
            "PredictionOverlay", "Prediction: unsure, most likely {verdict} ({probability})"
        )
        return text.format(verdict=best, probability=formatting.percent(probabilities[best]))
    share = probabilities.get(prediction.verdict or "")
    if share is None:
        return QCoreApplication.translate("PredictionOverlay", "Prediction: {verdict}").format(
            verdict=prediction.verdict or ""
        )
    text = QCoreApplication.translate("PredictionOverlay", "Prediction: {verdict} ({probability})")
    return text.format(verdict=prediction.verdict or "", probability=formatting.percent(share))


def reason_text(reason: RankReason) -> str:
    """Return one reason as text."""
    values = reason.fields.items()
    fields = {name: formatting.number(value) if isinstance(value, int) else value for name, value in values}
    return translate_message(Message(f"queue.{reason.kind}", **fields))


def issue_text(reasons: Sequence[RankReason]) -> str:
    """Return at most two reasons, one per line."""
    return "\n".join(reason_text(reason) for reason in reasons[:2])


def certainty_text(issue: LabelIssue) -> str:
    """Return the model's probability, as beside the region on the image, and whether it was trained on the image."""
    if issue.kind == "verdict":
        text = QCoreApplication.translate("queue", "Probability of this verdict: {share}")
    elif issue.kind == "extra":
        text = QCoreApplication.translate("queue", "Mean defect probability of this region: {share}")
    else:
        text = QCoreApplication.translate("queue", "Mean probability of this region: {share}")
    if issue.trained_on:
        split = QCoreApplication.translate("queue", "this is a training image")
    else:
        split = QCoreApplication.translate("queue", "this is not a training image")
    return formatting.clauses(text.format(share=formatting.percent(issue.probability)), split)


def label_next_text(entries: LabelNextList) -> str:
    """Return a text about the images and the model behind the label queue."""
    if not entries.total:
        return QCoreApplication.translate("queue", "All images are done.")
    if entries.model:
        text = QCoreApplication.translate(
            "queue", "The model has analyzed {looked} of {asked} unfinished {asked:image|images}."
        )
    else:
        text = QCoreApplication.translate(
            "queue", "No model yet. Images are ordered by diversity; {looked} of {asked} analyzed."
        )
    return fill(text, looked=formatting.number(entries.analyzed), asked=formatting.number(entries.total))


def label_issues_text(issues: LabelIssueList, listed: int) -> str:
    """Return a text about the images behind the list of label errors, and about how reliable the list is."""
    if not issues.total:
        return QCoreApplication.translate("queue", "There are no labels yet that the model can check.")
    text = QCoreApplication.translate("queue", "The model has checked {looked} of {asked} {asked:label|labels}.")
    texts = [fill(text, looked=formatting.number(issues.analyzed), asked=formatting.number(issues.total))]
    if issues.weak:
        texts.append(
            QCoreApplication.translate(
                "queue",
                "The model contradicts so many labels that the model itself is probably wrong. Train longer first.",
            )
        )
    elif issues.training_images:
        texts.append(QCoreApplication.translate("queue", "Training images are listed last."))
    if not listed:
        texts.append(QCoreApplication.translate("queue", "No label errors found."))
    return formatting.sentences(*texts)


NOTHING = "–"
_HEAD = 14  # characters in a line of the head of a column


def name(figure: Figure) -> str:
    """Return the full name of a figure."""
    return translate_message(figure_texts.name(figure))


def column(id: str) -> str:
    """Return the name of a metric for the head of a column, in several lines."""
    lines = translate_message(figure_texts.metric_name(id)).replace("，", "，\n").splitlines()
    return "\n".join(textwrap.fill(line, _HEAD, break_long_words=False) for line in lines)


def tip(id: str) -> str:
    """Return the definition of a metric."""
    return translate_message(figure_texts.definition(id))


def value(figure: Figure) -> str:
    return translate_message(figure_texts.value(figure))


def text(figure: Figure) -> str:
    """Return value, interval and counts of a figure in one line."""
    return translate_message(figure_texts.text(figure))


def detail(figure: Figure) -> str:
    """Return counts and interval of a figure, or the reason why there is none."""
    return translate_message(figure_texts.detail(figure))


def interval(figure: Figure) -> str:
    """Return the interval of a figure, or the reason why there is none."""
    return translate_message(figure_texts.interval(figure))


def errors(counts: ImageCounts) -> str:
    """Return the errors of an image, such as "1 missed defect, 2 false alarms"."""
    return translate_message(figure_texts.image_errors(counts))


def between(interval: Sequence[float]) -> str:
    """Return the interval of a share, such as "25–50%"."""
    low, high = (formatting.number(100 * edge) for edge in interval)
    return QCoreApplication.translate("review", "{low}–{high}%").format(low=low, high=high)


def images(proportion: GroupedProportion) -> str:
    """Return counts of images and interval, such as "20 of 55 (95% CI 25–50%)"."""
    text = QCoreApplication.translate("review", "{hits} of {total}").format(
        hits=formatting.number(proportion.hits), total=formatting.number(proportion.total)
    )
    if proportion.interval is None:
        return f"{text} ({translate_message(Message('figure.no_interval', why=proportion.why))})"
    interval_text = QCoreApplication.translate("review", "95% CI {range}").format(range=between(proportion.interval))
    return f"{text} ({interval_text})"


def score(value: float | None) -> str:
    """Return Dice or IoU with two digits."""
    return NOTHING if value is None else formatting.number(value, 2)


def size(limits: tuple[int, int | None], um_per_pixel: float | None) -> str:
    """Return a range of areas, such as "120 to 900 px²", or in µm² or mm² if the scale is known."""
    if um_per_pixel is None:
        unit = QCoreApplication.translate("review", "px²")
        low, high = (None if limit is None else formatting.number(float(f"{limit:.3g}")) for limit in limits)
    else:
        pixel = um_per_pixel**2
        unit, factor = formatting.metric_unit(max(filter(None, limits), default=0) * pixel, 2)
        low, high = (None if limit is None else formatting.significant(limit * pixel / factor) for limit in limits)
    if high is None:
        return QCoreApplication.translate("review", "{low} {unit} and more").format(low=low, unit=unit)
    if not limits[0]:
        return QCoreApplication.translate("review", "below {high} {unit}").format(high=high, unit=unit)
    return QCoreApplication.translate("review", "{low} to {high} {unit}").format(low=low, high=high, unit=unit)


def threshold(point: OperatingPoint, channels: list[int]) -> str:
    """Return the threshold of the given classes: "0.50", or "0.50–0.98" if they differ."""
    values = [point.thresholds[channel] for channel in channels]
    low, high = formatting.number(min(values), 2), formatting.number(max(values), 2)
    return low if low == high else f"{low}–{high}"


def least_area(point: OperatingPoint, channels: list[int], um_per_pixel: float | None) -> str:
    values = [point.min_area[channel] for channel in channels]
    if min(values) == max(values):
        return formatting.area(values[0], um_per_pixel).rpartition("  ·  ")[2] if values[0] else NOTHING
    return QCoreApplication.translate("review", "{low}–{high} px²").format(
        low=formatting.number(min(values)), high=formatting.number(max(values))
    )
