"""Result of a model on its validation or test images, as a document presents it."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.core.documents.document import DocumentImage
from workbench.core.evaluation.image_counts import ImageCounts


@dataclass(frozen=True)
class VerdictOutcome:
    """Result for one image. confidence: probability of the predicted verdict."""

    key: str
    truth: str
    predicted: str
    confidence: float


@dataclass
class HoldoutResult:
    """Result of the evaluation. split: "test", "val", or "" if there is neither. total: images of the split; those
    evaluated are in `counts` or `verdicts`. changed: labels changed since the training. unreadable: images or labels
    that are missing or broken.
    """

    split: str
    total: int = 0
    counts: list[ImageCounts] = field(default_factory=list)
    verdicts: list[VerdictOutcome] = field(default_factory=list)
    changed: int = 0
    unreadable: int = 0
    worst: list[DocumentImage] = field(default_factory=list)
