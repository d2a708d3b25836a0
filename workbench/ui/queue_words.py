"""Texts of the label queues: reasons for labeling an image next or for checking its label."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from workbench.core.advice import Doubts, Suggestions
from workbench.core.label_errors import Slip
from workbench.core.queue import Why
from workbench.ui import words


def why_words(why: Why) -> str:
    """Return one reason as text. `patterns` corresponds to the queue's own table."""
    fields = {name: words.number(value) if isinstance(value, int) else value for name, value in why.fields.items()}
    return patterns()[why.kind].format(**fields)


def reason_words(whys: Sequence[Why]) -> str:
    """Return at most two reasons, one per line."""
    return "\n".join(why_words(why) for why in whys[:2])


def patterns() -> dict[str, str]:
    """Return the translated pattern of each kind of reason."""
    return {
        "missing": QCoreApplication.translate("queue", "{name} found, nothing labelled"),
        "missing_good": QCoreApplication.translate("queue", "{name} found, label says good"),
        "extra": QCoreApplication.translate("queue", "{name} labelled, nothing found"),
        "class": QCoreApplication.translate("queue", "{said} found, {labelled} labelled"),
        "verdict": QCoreApplication.translate("queue", "{said} found, verdict is {labelled}"),
        "unsure_one": QCoreApplication.translate("queue", "Unsure about 1 region"),
        "unsure": QCoreApplication.translate("queue", "Unsure about {n} regions"),
        "between": QCoreApplication.translate("queue", "Unsure whether {said} or {other}"),
        "rare": QCoreApplication.translate("queue", "Perhaps {name}, of which {n} pictures are labelled"),
        "found": QCoreApplication.translate("queue", "Probably {name}"),
        "unlike": QCoreApplication.translate("queue", "Unlike anything labelled"),
        "stands": QCoreApplication.translate("queue", "Stands for about {n} pictures like it"),
        "variety": QCoreApplication.translate("queue", "Different from those above it"),
        "spot": QCoreApplication.translate("queue", "Spot as on defects"),
        "quiet": QCoreApplication.translate("queue", "Model sees nothing here"),
        "other": QCoreApplication.translate("queue", "Like what is labelled already"),
    }


def certainty_words(slip: Slip) -> str:
    """Return the model's confidence, and whether the model was trained on this image."""
    if slip.learned:
        text = QCoreApplication.translate("queue", "The model is {share} sure; it has learned from this picture")
    else:
        text = QCoreApplication.translate("queue", "The model is {share} sure; it did not learn from this picture")
    return text.format(share=words.percent(slip.certainty))


def suggestions_words(found: Suggestions) -> str:
    """Return a text about the images and the model behind the label queue."""
    if not found.asked:
        return QCoreApplication.translate("queue", "Every picture is done.")
    if found.model:
        text = QCoreApplication.translate("queue", "The newest model has looked at {looked} of {asked} open pictures.")
    else:
        text = QCoreApplication.translate(
            "queue", "There is no model yet: ordered by how different they are. {looked} of {asked} looked at."
        )
    return text.format(looked=words.number(found.looked), asked=words.number(found.asked))


def doubts_words(found: Doubts, listed: int) -> str:
    """Return a text about the images behind the list of label errors, and about how reliable the list is."""
    if not found.asked:
        return QCoreApplication.translate("queue", "Nothing is labelled yet that the model could judge.")
    text = QCoreApplication.translate("queue", "The newest model has looked at {looked} of {asked} labels.")
    said = [text.format(looked=words.number(found.looked), asked=words.number(found.asked))]
    if found.weak:
        said.append(
            QCoreApplication.translate("queue", "It contradicts so many labels that it is more likely wrong itself.")
        )
    elif found.learned:
        said.append(QCoreApplication.translate("queue", "Pictures it has learned from come last."))
    if not listed:
        said.append(QCoreApplication.translate("queue", "No label is contradicted."))
    return " ".join(said)
