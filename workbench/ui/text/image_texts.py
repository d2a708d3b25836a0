"""Texts about one image: its prediction, and reasons for labeling it next or for checking its label.

Prediction: regions, verdict, state of a model in training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from workbench.core.messages import Message
from workbench.core.runs.events import Preview
from workbench.core.text_patterns import fill
from workbench.inference.model_settings import UNSURE
from workbench.ui.text import formatting
from workbench.ui.text.formatting import translate_message

if TYPE_CHECKING:
    from workbench.core.evaluation.prediction_maps import Maturity
    from workbench.core.instant_learner import InstantPrediction
    from workbench.core.label_next.label_advice import LabelIssueList, LabelNextList
    from workbench.core.label_next.label_issues import LabelIssue
    from workbench.core.label_next.label_ranking import RankReason
    from workbench.inference.predictor import Prediction
    from workbench.inference.verdict_rule import ResultsSummary


_IMMATURE = {
    "everything": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks almost everything"),
    "too_much": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks far too much"),
    "scattered": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks many small regions"),
    "nothing": QT_TRANSLATE_NOOP("PredictionOverlay", "the model still marks almost nothing"),
    "uncertain": QT_TRANSLATE_NOOP("PredictionOverlay", "the model is still uncertain"),
    "wrong": QT_TRANSLATE_NOOP("PredictionOverlay", "the model does not match the labels yet"),
    "unmeasured": QT_TRANSLATE_NOOP("PredictionOverlay", "the model is not measured yet"),
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


def shown_verdict(verdict: str) -> str:
    """Return a verdict as a person reads it: "unsure", which is a name in files, in the language of the window."""
    return translate_message(Message("limit.unsure")) if verdict == UNSURE else verdict


def summary_text(summary: ResultsSummary) -> str:
    """Return the summary of a folder, such as "NG 7 of 10, largest 4.2 mm², rust"."""
    pattern = QCoreApplication.translate("PredictionOverlay", "{verdict} {n} of {total}")
    texts = [
        pattern.format(verdict=shown_verdict(name), n=formatting.number(count), total=formatting.number(summary.images))
        for name, count in summary.verdicts.items()
    ]
    if summary.largest is not None:
        text = QCoreApplication.translate("PredictionOverlay", "largest {area}, {name}")
        area = formatting.region_area(summary.largest["area"], summary.largest["area_um2"])
        texts.append(text.format(area=area, name=summary.largest["class_name"]))
    text = formatting.listed(texts)
    basis = QCoreApplication.translate(
        "PredictionOverlay", "{text} (without a verdict rule, an image with a region is NG)"
    )
    return text if summary.ruled else basis.format(text=text)


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


def instant_text(prediction: InstantPrediction, trained_dice: float | None) -> str:
    """Return what the instant overlay was made from, and its Dice. trained_dice: of the trained model, if known."""
    if prediction.dice is None:
        if prediction.images == 1:
            return QCoreApplication.translate("PredictionOverlay", "Instant overlay: 1 labeled image")
        text = QCoreApplication.translate("PredictionOverlay", "Instant overlay: {n} labeled images")
        return text.format(n=formatting.number(prediction.images))
    dice = f"{prediction.dice:.2f}"
    if trained_dice is None:
        return QCoreApplication.translate("PredictionOverlay", "Instant overlay: Dice {dice}").format(dice=dice)
    text = QCoreApplication.translate("PredictionOverlay", "Instant overlay: Dice {dice} (trained model {trained})")
    return text.format(dice=dice, trained=f"{trained_dice:.2f}")


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
    text = QCoreApplication.translate("PredictionOverlay", "Prediction: {n} defects")
    return text.format(n=formatting.number(count))


def regions_text(result: Prediction) -> str:
    """Return the number of predicted defects, with the verdict if the model has a rule for it."""
    text = _defects_text(len(result.regions) + result.left_out)
    if result.verdict is None:
        return text
    pattern = QCoreApplication.translate("PredictionOverlay", "{prediction}; verdict: {verdict}")
    return pattern.format(prediction=text, verdict=result.verdict)


def with_input(text: str, result: Prediction) -> str:
    """Return the text of a result with the reasons why the image is unlike the training images, if it is."""
    if result.input is None or result.input.ok:
        return text
    pattern = QCoreApplication.translate("PredictionOverlay", "{prediction}. Unlike the training images: {why}")
    return pattern.format(prediction=text, why=formatting.clauses(*map(translate_message, result.input.why)))


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


# --- label queues ---------------------------------------------------------------------------------


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
