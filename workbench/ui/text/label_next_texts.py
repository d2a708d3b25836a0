"""Texts of the label queues: reasons for labeling an image next or for checking its label."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from workbench.core.label_next.label_advice import LabelIssueList, LabelNextList
from workbench.core.label_next.label_issues import LabelIssue
from workbench.core.label_next.label_ranking import RankReason
from workbench.ui.text import formatting


def reason_text(reason: RankReason) -> str:
    """Return one reason as text. `patterns` corresponds to the queue's own table."""
    fields = {
        name: formatting.number(value) if isinstance(value, int) else value for name, value in reason.fields.items()
    }
    return patterns()[reason.kind].format(**fields)


def issue_text(reasons: Sequence[RankReason]) -> str:
    """Return at most two reasons, one per line."""
    return "\n".join(reason_text(reason) for reason in reasons[:2])


def patterns() -> dict[str, str]:
    """Return the translated pattern of each kind of reason."""
    return {
        "missing": QCoreApplication.translate("queue", "{name} predicted, nothing labeled"),
        "missing_good": QCoreApplication.translate("queue", "{name} predicted, labeled as good"),
        "extra": QCoreApplication.translate("queue", "{name} labeled, not predicted"),
        "class": QCoreApplication.translate("queue", "{said} predicted, {labelled} labeled"),
        "verdict": QCoreApplication.translate("queue", "{said} predicted, verdict {labelled}"),
        "unsure_one": QCoreApplication.translate("queue", "Unsure about 1 region"),
        "unsure": QCoreApplication.translate("queue", "Unsure about {n} regions"),
        "between": QCoreApplication.translate("queue", "Unsure whether {said} or {other}"),
        "rare": QCoreApplication.translate("queue", "Possibly {name}; only {n} images of it are labeled"),
        "found": QCoreApplication.translate("queue", "Probably {name}"),
        "unlike": QCoreApplication.translate("queue", "Unlike all labeled images"),
        "stands": QCoreApplication.translate("queue", "Representative of about {n} similar images"),
        "variety": QCoreApplication.translate("queue", "Different from those above it"),
        "spot": QCoreApplication.translate("queue", "Contains a spot similar to labeled defects"),
        "quiet": QCoreApplication.translate("queue", "No defects predicted"),
        "other": QCoreApplication.translate("queue", "Similar to labeled images"),
    }


def certainty_text(issue: LabelIssue) -> str:
    """Return the model's confidence, and whether the model was trained on this image."""
    if issue.learned:
        text = QCoreApplication.translate("queue", "Model probability {share}; this is a training image")
    else:
        text = QCoreApplication.translate("queue", "Model probability {share}; this is not a training image")
    return text.format(share=formatting.percent(issue.certainty))


def label_next_text(entries: LabelNextList) -> str:
    """Return a text about the images and the model behind the label queue."""
    if not entries.asked:
        return QCoreApplication.translate("queue", "All images are done.")
    if entries.model:
        text = QCoreApplication.translate(
            "queue", ("The latest model has analyzed {looked} of {asked} unfinished images.")
        )
    else:
        text = QCoreApplication.translate(
            "queue", "No model yet. Images are ordered by diversity; {looked} of {asked} analyzed."
        )
    return text.format(looked=formatting.number(entries.looked), asked=formatting.number(entries.asked))


def label_issues_text(issues: LabelIssueList, listed: int) -> str:
    """Return a text about the images behind the list of label errors, and about how reliable the list is."""
    if not issues.asked:
        return QCoreApplication.translate("queue", "There are no labels yet that the model can check.")
    text = QCoreApplication.translate("queue", "The latest model has checked {looked} of {asked} labels.")
    texts = [text.format(looked=formatting.number(issues.looked), asked=formatting.number(issues.asked))]
    if issues.weak:
        texts.append(
            QCoreApplication.translate(
                "queue",
                ("The model contradicts so many labels that the model itself is probably wrong. Train longer first."),
            )
        )
    elif issues.learned:
        texts.append(QCoreApplication.translate("queue", "Training images are listed last."))
    if not listed:
        texts.append(QCoreApplication.translate("queue", "No label errors found."))
    return " ".join(texts)
