"""Detection of label errors: places where a model is certain of something that contradicts the label.

After the idea of confident learning (Northcutt, Jiang and Chuang, 2021): only contradictions with high certainty count.
A model trained on a wrong label agrees with the label, so predictions on images the model was not trained on weigh
more.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.label_next.uncertainty import FAINT, SURE, certainties
from workbench.core.project.annotation import ConfirmedLabel
from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings

SURE_BACKGROUND = 0.15  # greatest probability of any defect in a labeled region that is not predicted
NEAR = 3  # pixels around a label within which differences are ignored
LEARNED = 0.5  # weight of findings on images that the model was trained on
MOST = 30  # findings per image

Kind = Literal["missing", "extra", "class", "verdict"]


@dataclass(frozen=True)
class LabelIssue:
    """Place where a label may be wrong.

    kind: missing: a certain predicted region that is not labeled; extra: a labeled region that is background according
    to the model; class: a region of another class; verdict: another verdict of the image. class_id: of the model, of an
    extra region as labeled. labelled_id: of the label, 0 if there is none. certainty: 0..1, the model's. rect, area: of
    the region, pixels; bits: mask of the pixels in rect, packed, see `selection`. verdict, said: of the label and of
    the model.
    """

    kind: Kind
    class_id: int = 0
    labelled_id: int = 0
    certainty: float = 0.0
    rect: Rect = Rect(0, 0, 0, 0)
    area: int = 0
    bits: bytes = b""
    verdict: str = ""
    said: str = ""
    learned: bool = False  # the model was trained on this image

    @property
    def weight(self) -> float:
        """Sort key of the list: certainty, reduced for small regions, which are more likely due to chance."""
        size = 1.0 if self.kind == "verdict" else 0.7 + 0.3 * min(1.0, self.area / 400)
        return self.certainty * size * (LEARNED if self.learned else 1.0)

    @property
    def selection(self) -> Selection:
        """Pixels of the region."""
        count = self.rect.width * self.rect.height
        bits = np.frombuffer(zlib.decompress(self.bits), np.uint8) if self.bits else np.zeros(0, np.uint8)
        inside = np.unpackbits(bits, count=count).astype(bool) if bits.size * 8 >= count else np.zeros(count, bool)
        return Selection(self.rect, inside.reshape(self.rect.height, self.rect.width))


def packed(inside: np.ndarray) -> bytes:
    """Pack bool (h, w) as the bits of a `Slip`."""
    return zlib.compress(np.packbits(inside).tobytes(), 6)


def find_issues(
    class_scores: np.ndarray,
    predicted: np.ndarray,
    label: np.ndarray,
    settings: ModelSettings,
    corner: tuple[int, int] = (0, 0),
) -> tuple[list[LabelIssue], int]:
    """Return possible errors in a label, or in a part of it that begins at `corner` (x, y), and a number of regions.

    The number counts the labeled regions of the model's classes. class_scores: uint8 (n_classes, H, W); predicted:
    uint8 (H, W), class ids of the prediction; label: uint8 (H, W).
    """
    sure, _ = certainties(class_scores, settings)
    greatest = cv2.blur(class_scores.max(axis=0), (3, 3))
    issues = _of_predictions(sure, greatest, predicted, label, settings)
    extra, labeled = _of_labels(sure, greatest, label, settings)
    found = [
        replace(
            issue, rect=Rect(issue.rect.x + corner[0], issue.rect.y + corner[1], issue.rect.width, issue.rect.height)
        )
        for issue in issues + extra
    ]
    return worst_first(found)[:MOST], labeled


def _of_predictions(
    sure: np.ndarray, greatest: np.ndarray, predicted: np.ndarray, label: np.ndarray, settings: ModelSettings
) -> list[LabelIssue]:
    painted = ((label > 0) & (label <= MAX_CLASS_ID)).astype(np.uint8)
    near = cv2.dilate(painted, np.ones((2 * NEAR + 1, 2 * NEAR + 1), np.uint8)) > 0
    issues = []
    for entry in settings.classes:
        for rect, inside in _pieces(predicted == entry.id):
            window, area = rect.slices, int(inside.sum())
            strength, certainty = sure[window][inside].max() / 255, greatest[window][inside].max() / 255
            if strength < SURE or certainty < SURE:
                continue
            beneath = label[window][inside]
            if np.count_nonzero(beneath > MAX_CLASS_ID) * 2 > area:
                continue  # mostly not labeled
            if not near[window][inside].any():
                issues.append(LabelIssue("missing", entry.id, 0, float(certainty), rect, area, packed(inside)))
            else:
                issues += _other_class(entry.id, beneath, float(certainty), rect, inside, label)
    return issues


def _other_class(
    said: int, beneath: np.ndarray, certainty: float, rect: Rect, inside: np.ndarray, label: np.ndarray
) -> list[LabelIssue]:
    """Return a finding for a predicted region that is mostly labeled as one other class."""
    counts = np.bincount(beneath, minlength=256)
    counts[0] = counts[MAX_CLASS_ID + 1 :] = 0
    other = int(counts.argmax())
    if other == said or counts[other] * 2 <= beneath.size or counts[said]:
        return []
    inside = inside & (label[rect.slices] == other)
    return [LabelIssue("class", said, other, certainty, rect, int(inside.sum()), packed(inside))]


def _of_labels(
    sure: np.ndarray, greatest: np.ndarray, label: np.ndarray, settings: ModelSettings
) -> tuple[list[LabelIssue], int]:
    issues, count = [], 0
    for entry in settings.classes:
        for rect, inside in _pieces(label == entry.id):
            count += 1
            window, area = rect.slices, int(inside.sum())
            if area < 3 or sure[window][inside].max() >= FAINT:
                continue
            highest = greatest[window][inside].max() / 255
            if highest <= SURE_BACKGROUND:
                issues.append(LabelIssue("extra", entry.id, entry.id, float(1 - highest), rect, area, packed(inside)))
    return issues, count


def _pieces(where: np.ndarray) -> list[tuple[Rect, np.ndarray]]:
    """Return the connected regions (8 neighbors) of bool (H, W), each as its rectangle and the pixels in it."""
    if not where.any():
        return []
    count, labels, stats, _ = cv2.connectedComponentsWithStats(where.astype(np.uint8), connectivity=8)
    rects = [Rect(*(int(value) for value in stats[n, :4])) for n in range(1, count)]
    return [(rect, labels[rect.slices] == n) for n, rect in enumerate(rects, 1)]


def verdict_issue(probabilities: Mapping[str, float], verdict: str | None) -> LabelIssue | None:
    """Return a finding if a model is certain of another verdict than the label's. probabilities: by name."""
    if not verdict or not probabilities or verdict not in probabilities:
        return None
    said = max(probabilities, key=lambda name: probabilities[name])
    if said == verdict or probabilities[said] < SURE or probabilities[verdict] > SURE_BACKGROUND:
        return None
    return LabelIssue("verdict", certainty=float(probabilities[said]), verdict=verdict, said=said)


def holds(issue: LabelIssue, label: np.ndarray | None, verdict: str | None = None) -> bool:
    """Return True if a finding is still valid, not corrected since. label: uint8 (H, W), the current one."""
    if issue.kind == "verdict":
        return verdict == issue.verdict
    rect = issue.rect
    if label is None or rect.x + rect.width > label.shape[1] or rect.y + rect.height > label.shape[0]:
        return False
    beneath = label[issue.rect.slices][issue.selection.inside]
    if issue.kind == "missing":
        return np.count_nonzero((beneath > 0) & (beneath <= MAX_CLASS_ID)) * 10 < beneath.size
    return np.count_nonzero(beneath == issue.labelled_id) * 2 > beneath.size


def same(one: LabelIssue, other: LabelIssue) -> bool:
    """Return True if two findings, possibly of different models, concern the same place."""
    if (one.kind, one.labelled_id, one.verdict) != (other.kind, other.labelled_id, other.verdict):
        return False
    if one.kind == "verdict":
        return one.said == other.said
    if one.kind != "extra" and one.class_id != other.class_id:
        return False
    a, b = one.rect, other.rect
    across = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    down = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    common = max(0, across) * max(0, down)
    return common * 10 >= 3 * (a.width * a.height + b.width * b.height - common)


def confirmation(issue: LabelIssue) -> ConfirmedLabel:
    """Return the note entry for a finding whose label the user confirms."""
    rect = issue.rect
    return ConfirmedLabel(
        kind=issue.kind,
        class_id=issue.class_id,
        labelled_id=issue.labelled_id,
        x=rect.x,
        y=rect.y,
        width=rect.width,
        height=rect.height,
        verdict=issue.verdict,
        said=issue.said,
    )


def is_confirmed(issue: LabelIssue, confirmed: Sequence[ConfirmedLabel]) -> bool:
    """Return True if the user has already confirmed the label here."""
    return any(
        same(
            issue,
            LabelIssue(
                each.kind,
                each.class_id,
                each.labelled_id,
                rect=Rect(each.x, each.y, each.width, each.height),
                verdict=each.verdict,
                said=each.said,
            ),
        )
        for each in confirmed
    )


def worst_first(issues: Sequence[LabelIssue]) -> list[LabelIssue]:
    return sorted(issues, key=lambda issue: (-issue.weight, -issue.area, issue.rect.y, issue.rect.x))
