"""Texts of the label queues: reasons for labeling an image next or for checking its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from workbench.core.messages import Message
from workbench.core.text_patterns import fill
from workbench.ui.text import formatting
from workbench.ui.text.formatting import translate_message

if TYPE_CHECKING:
    from workbench.core.label_next.label_advice import LabelIssueList, LabelNextList
    from workbench.core.label_next.label_issues import LabelIssue
    from workbench.core.label_next.label_ranking import RankReason


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
