"""Regions predicted by a model, their uncertainty, and label errors: places where a model is certain of something that
contradicts the label.

Regions are rated rather than pixels, because in a mean over pixels an uncertain scratch would vanish among a million
certain background pixels.

Label errors are found after the idea of confident learning (Northcutt, Jiang and Chuang, 2021): only contradictions
with high certainty count. A model trained on a wrong label agrees with the label, so predictions on images the model
was not trained on weigh more.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.project.annotation import ConfirmedLabel
from workbench.core.project.project import MAX_CLASS_ID
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings

HALF = 128  # certainty at the class threshold, where the model begins to mark a defect
FAINT = 64  # certainty; lower values are background
CERTAIN = 0.8  # strength from which on a region counts as certain
UNCERTAIN = 0.2  # uncertainty from which on a region counts as uncertain
MAX_REGIONS = 100  # regions kept per image


@dataclass(frozen=True)
class RegionCertainty:
    """Connected region predicted by a model, faint or clear.

    class_id: the most likely class; rival: the next likely one, 0 if none. strength: 0..1, with 0.5 at the model's
    threshold. uncertainty: 0..0.5, the model's estimate that it is wrong here, from the distance to the threshold or to
    the rival class. area: pixels.
    """

    class_id: int
    rival: int
    strength: float
    uncertainty: float
    rect: Rect
    area: int


def certainty_tables(settings: ModelSettings) -> np.ndarray:
    """Return tables of uint8 (n_classes, 256) from 255 times the probability of a class to its certainty.

    The middle of the certainty, HALF, is the threshold of the class, so that classes with different thresholds, such as
    0.3 and 0.98, are comparable.
    """
    value = np.arange(256, dtype=np.float64)
    tables = []
    for threshold in settings.thresholds:
        edge = min(max(255 * threshold, 1.0), 254.0)
        low, high = HALF * value / edge, HALF + (255 - HALF) * (value - edge) / (255 - edge)
        tables.append(np.rint(np.where(value < edge, low, high)))
    return np.array(tables).astype(np.uint8)


def certainties(class_scores: np.ndarray, settings: ModelSettings) -> tuple[np.ndarray, np.ndarray]:
    """Return the greatest certainty per pixel and the index of its class in the settings, both uint8 (H, W).

    class_scores: uint8 (n_classes, H, W), as of `Prediction`.
    """
    tables = certainty_tables(settings)
    best = cv2.LUT(class_scores[0], tables[0])
    class_index = np.zeros_like(best)
    for index in range(1, len(class_scores)):
        level = cv2.LUT(class_scores[index], tables[index])
        class_index[level > best] = index
        np.maximum(best, level, out=best)
    return best, class_index


def region_certainties(
    class_scores: np.ndarray, settings: ModelSettings, corner: tuple[int, int] = (0, 0)
) -> list[RegionCertainty]:
    """Return the regions in an image, or in a part of it that begins at `corner` (x, y), most doubtful first.

    Regions of less than half the minimum area of their class are skipped, as they would never be marked.
    """
    best, class_index = certainties(class_scores, settings)
    count, labels, stats, _ = cv2.connectedComponentsWithStats((best >= FAINT).astype(np.uint8), connectivity=8)
    if count < 2:
        return []
    pixels = np.flatnonzero(labels)
    number = labels.ravel()[pixels].astype(np.intp)
    peak = np.zeros(count, np.uint8)
    np.maximum.at(peak, number, cv2.blur(best, (3, 3)).ravel()[pixels])  # smoothed, as a single pixel is not reliable
    classes = len(class_scores)
    votes = np.bincount(number * classes + class_index.ravel()[pixels], best.ravel()[pixels], count * classes).reshape(
        count, classes
    )
    tables = certainty_tables(settings)
    regions = []
    for n in range(1, count):
        index = int(votes[n].argmax())
        left, top, width, height, area = (int(value) for value in stats[n])
        if area < max(3, settings.min_area[index] / 2):
            continue
        window = (slice(top, top + height), slice(left, left + width))
        inside = labels[window] == n
        sums = [float(table[plane[window][inside]].sum()) for table, plane in zip(tables, class_scores)]
        rect = Rect(corner[0] + left, corner[1] + top, width, height)
        regions.append(_region_certainty(index, float(peak[n]) / 255, sums, settings, rect, area))
    regions.sort(key=lambda region: (-region.uncertainty, -region.area, region.rect.y, region.rect.x))
    return regions[:MAX_REGIONS]


def _region_certainty(
    index: int, strength: float, sums: list[float], settings: ModelSettings, rect: Rect, area: int
) -> RegionCertainty:
    """Return the rated region. sums: certainty of each class summed over the region's pixels."""
    others = [(total, n) for n, total in enumerate(sums) if n != index]
    rival_sum, rival = max(others, default=(0.0, -1))
    ambiguity = 0.0
    if strength >= 0.5 and rival_sum > 0:
        ambiguity = min(0.5, rival_sum / (rival_sum + sums[index]))
    rival_id = settings.classes[rival].id if ambiguity >= UNCERTAIN else 0
    uncertainty = max(min(strength, 1 - strength), ambiguity)
    return RegionCertainty(settings.classes[index].id, rival_id, round(strength, 4), round(uncertainty, 4), rect, area)


def uncertain_regions(regions: list[RegionCertainty] | tuple[RegionCertainty, ...]) -> list[RegionCertainty]:
    """Return the regions that the user should check."""
    return [region for region in regions if region.uncertainty >= UNCERTAIN]


def image_uncertainty(regions: list[RegionCertainty] | tuple[RegionCertainty, ...]) -> float:
    """Return the probability, 0..1, that the model is wrong about at least one of its uncertain regions."""
    return 1 - float(np.prod([1 - region.uncertainty for region in uncertain_regions(regions)]))


def certain_share(regions: list[RegionCertainty] | tuple[RegionCertainty, ...]) -> float:
    """Return the share, 0..1, of the model's predicted area that is certain.

    A defect contrasts with its surface. If a model predicts a little everywhere, the surface is unknown to the model.
    """
    certain_area = sum(region.strength * region.area for region in regions if region.strength >= CERTAIN)
    return certain_area / (1 + sum(region.area for region in regions))


# --- label errors ---------------------------------------------------------------------------------


MAX_CERTAIN_BACKGROUND = 0.15  # greatest probability of any defect in a labeled region that is not predicted
NEAR = 3  # pixels around a label within which differences are ignored
SLIGHT = 0.1  # share of a region by which prediction and label may touch and still contradict each other
TRAINED_FACTOR = 0.5  # weight of findings on images that the model was trained on
MAX_ISSUES = 30  # findings per image

Kind = Literal["missing", "extra", "class", "verdict"]
# Keys in JSON that differ from the names of the attributes.
_JSON_KEYS = {"labeled_id": "labelled_id", "predicted_verdict": "said", "trained_on": "learned"}


@dataclass(frozen=True)
class LabelIssue:
    """Place where a label may be wrong.

    kind: "missing", a certain predicted region that is not labeled; "extra", a labeled region that is background
    according to the model; "class", a region of another class; "verdict", another verdict of the image. class_id: of
    the model, of an extra region as labeled. labeled_id: of the label, 0 if none. certainty: of the model, 0..1, at the
    most certain pixel. probability: mean over the region of the defect probability, as of a predicted region; of a
    verdict that of the predicted one.
    rect, area: of the region, pixels; bits: mask of the pixels in rect, packed, see `selection`. verdict: of the label;
    predicted_verdict: of the model.
    """

    kind: Kind
    class_id: int = 0
    labeled_id: int = 0
    certainty: float = 0.0
    rect: Rect = Rect(0, 0, 0, 0)
    area: int = 0
    bits: bytes = b""
    verdict: str = ""
    predicted_verdict: str = ""
    trained_on: bool = False  # the model was trained on this image
    probability: float = 0.0

    @property
    def weight(self) -> float:
        """Sort key of the list: certainty, reduced for small regions, which are more likely due to chance."""
        size = 1.0 if self.kind == "verdict" else 0.7 + 0.3 * min(1.0, self.area / 400)
        return self.certainty * size * (TRAINED_FACTOR if self.trained_on else 1.0)

    @property
    def selection(self) -> Selection:
        """Pixels of the region."""
        count = self.rect.width * self.rect.height
        bits = np.frombuffer(zlib.decompress(self.bits), np.uint8) if self.bits else np.zeros(0, np.uint8)
        inside = np.unpackbits(bits, count=count).astype(bool) if bits.size * 8 >= count else np.zeros(count, bool)
        return Selection(self.rect, inside.reshape(self.rect.height, self.rect.width))


def issue_to_json(issue: LabelIssue) -> dict[str, Any]:
    """Return the fields of an issue by their keys in JSON; `bits` stays bytes and `rect` a dictionary."""
    return {_JSON_KEYS.get(name, name): value for name, value in asdict(issue).items()}


def issue_from_json(content: Mapping[str, Any]) -> LabelIssue:
    """Return the issue of `issue_to_json`. Raises KeyError or TypeError for other content."""
    names = {key: name for name, key in _JSON_KEYS.items()}
    fields = {names.get(key, key): value for key, value in content.items()}
    fields["rect"] = Rect(**content["rect"])
    return LabelIssue(**fields)


def pack_bits(inside: np.ndarray) -> bytes:
    """Pack bool (h, w) as the bits of a `LabelIssue`."""
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
    certainty, _ = certainties(class_scores, settings)
    scores = class_scores.max(axis=0)
    greatest = cv2.blur(scores, (3, 3))
    issues = _prediction_issues(certainty, greatest, scores, predicted, label, settings)
    extra, labeled = _label_issues(certainty, greatest, scores, label, settings)
    shifted = [
        replace(
            issue, rect=Rect(issue.rect.x + corner[0], issue.rect.y + corner[1], issue.rect.width, issue.rect.height)
        )
        for issue in issues + extra
    ]
    return worst_first(shifted)[:MAX_ISSUES], labeled


def _prediction_issues(
    certainties_map: np.ndarray,
    greatest: np.ndarray,
    scores: np.ndarray,
    predicted: np.ndarray,
    label: np.ndarray,
    settings: ModelSettings,
) -> list[LabelIssue]:
    painted = ((label > 0) & (label <= MAX_CLASS_ID)).astype(np.uint8)
    near = cv2.dilate(painted, np.ones((2 * NEAR + 1, 2 * NEAR + 1), np.uint8)) > 0
    issues = []
    for entry in settings.classes:
        for rect, inside in _connected_regions(predicted == entry.id):
            window, area = rect.slices, int(inside.sum())
            strength, certainty = certainties_map[window][inside].max() / 255, greatest[window][inside].max() / 255
            if strength < CERTAIN or certainty < CERTAIN:
                continue
            found = LabelIssue(
                "missing", entry.id, 0, float(certainty), rect, area, probability=_mean(scores[window][inside])
            )
            labels_below = label[window][inside]
            if np.count_nonzero(labels_below > MAX_CLASS_ID) * 2 > area:
                continue  # mostly not labeled
            beside = inside & ~near[window]
            touches = area - int(beside.sum())
            if not touches or (touches < SLIGHT * area and _is_certain(greatest[window][beside])):
                issues.append(replace(found, area=area - touches, bits=pack_bits(beside)))
            elif len(settings.classes) > 1:  # a model of one class does not distinguish classes
                issues += _other_class(found, labels_below, inside, label)
    return issues


def _is_certain(greatest: np.ndarray) -> bool:
    """Return whether most pixels of a region, not only its middle, are certain. greatest: 255 times the probability."""
    return bool(np.median(greatest) >= 255 * CERTAIN)


def _other_class(
    found: LabelIssue, labels_below: np.ndarray, inside: np.ndarray, label: np.ndarray
) -> list[LabelIssue]:
    """Return a finding for a predicted region that is mostly labeled as one other class. found: with its pixels."""
    counts = np.bincount(labels_below, minlength=256)
    counts[0] = counts[MAX_CLASS_ID + 1 :] = 0
    other = int(counts.argmax())
    if other == found.class_id or counts[other] * 2 <= labels_below.size or counts[found.class_id]:
        return []
    inside = inside & (label[found.rect.slices] == other)
    return [replace(found, kind="class", labeled_id=other, area=int(inside.sum()), bits=pack_bits(inside))]


def _label_issues(
    certainty: np.ndarray, greatest: np.ndarray, scores: np.ndarray, label: np.ndarray, settings: ModelSettings
) -> tuple[list[LabelIssue], int]:
    issues, count = [], 0
    for entry in settings.classes:
        for rect, inside in _connected_regions(label == entry.id):
            count += 1
            window, area = rect.slices, int(inside.sum())
            # A prediction may touch the region: a label that is wrong as a whole often lies beside the defect.
            if area < 3 or _all_but_slight(certainty[window][inside]) >= FAINT:
                continue
            highest = _all_but_slight(greatest[window][inside]) / 255
            if highest <= MAX_CERTAIN_BACKGROUND:
                mean, bits = _mean(scores[window][inside]), pack_bits(inside)
                certain = float(1 - highest)
                issues.append(LabelIssue("extra", entry.id, entry.id, certain, rect, area, bits, probability=mean))
    return issues, count


def _all_but_slight(values: np.ndarray) -> int:
    """Return the greatest value, but for the share SLIGHT of the pixels. values: uint8 (pixels)."""
    kept = len(values) - int(SLIGHT * len(values))
    return int(np.partition(values, kept - 1)[kept - 1])


def _mean(scores: np.ndarray) -> float:
    """Return the mean probability, rounded as that of a region. scores: uint8, 255 times the probability."""
    return round(float(scores.mean()) / 255, 4)


def _connected_regions(mask: np.ndarray) -> list[tuple[Rect, np.ndarray]]:
    """Return the connected regions (8 neighbors) of bool (H, W), each as its rectangle and the pixels in it."""
    if not mask.any():
        return []
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    rects = [Rect(*(int(value) for value in stats[n, :4])) for n in range(1, count)]
    return [(rect, labels[rect.slices] == n) for n, rect in enumerate(rects, 1)]


def verdict_issue(probabilities: Mapping[str, float], verdict: str | None) -> LabelIssue | None:
    """Return a finding if a model is certain of another verdict than the label's. probabilities: by name."""
    if not verdict or not probabilities or verdict not in probabilities:
        return None
    predicted = max(probabilities, key=lambda name: probabilities[name])
    if predicted == verdict or probabilities[predicted] < CERTAIN or probabilities[verdict] > MAX_CERTAIN_BACKGROUND:
        return None
    certainty = float(probabilities[predicted])
    return LabelIssue(
        "verdict", certainty=certainty, probability=certainty, verdict=verdict, predicted_verdict=predicted
    )


def is_current(issue: LabelIssue, label: np.ndarray | None, verdict: str | None = None) -> bool:
    """Return True if a finding is still valid, not corrected since. label: uint8 (H, W), the current one."""
    if issue.kind == "verdict":
        return verdict == issue.verdict
    rect = issue.rect
    if label is None or rect.x + rect.width > label.shape[1] or rect.y + rect.height > label.shape[0]:
        return False
    labels_below = label[issue.rect.slices][issue.selection.inside]
    if issue.kind == "missing":
        return np.count_nonzero((labels_below > 0) & (labels_below <= MAX_CLASS_ID)) * 10 < labels_below.size
    return np.count_nonzero(labels_below == issue.labeled_id) * 2 > labels_below.size


def is_same_issue(first: LabelIssue, second: LabelIssue) -> bool:
    """Return True if two findings, possibly of different models, concern the same place."""
    if (first.kind, first.labeled_id, first.verdict) != (second.kind, second.labeled_id, second.verdict):
        return False
    if first.kind == "verdict":
        return first.predicted_verdict == second.predicted_verdict
    if first.kind != "extra" and first.class_id != second.class_id:
        return False
    a, b = first.rect, second.rect
    overlap_x = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    overlap_y = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    common = max(0, overlap_x) * max(0, overlap_y)
    return common * 10 >= 3 * (a.width * a.height + b.width * b.height - common)


def confirmation(issue: LabelIssue) -> ConfirmedLabel:
    """Return the note entry for a finding whose label the user confirms."""
    rect = issue.rect
    return ConfirmedLabel(
        kind=issue.kind,
        class_id=issue.class_id,
        labelled_id=issue.labeled_id,
        x=rect.x,
        y=rect.y,
        width=rect.width,
        height=rect.height,
        verdict=issue.verdict,
        said=issue.predicted_verdict,
    )


def is_confirmed(issue: LabelIssue, confirmed: Sequence[ConfirmedLabel]) -> bool:
    """Return True if the user has already confirmed the label here."""
    return any(
        is_same_issue(
            issue,
            LabelIssue(
                entry.kind,
                entry.class_id,
                entry.labelled_id,
                rect=Rect(entry.x, entry.y, entry.width, entry.height),
                verdict=entry.verdict,
                predicted_verdict=entry.said,
            ),
        )
        for entry in confirmed
    )


def worst_first(issues: Iterable[LabelIssue]) -> list[LabelIssue]:
    return sorted(issues, key=lambda issue: (-issue.weight, -issue.area, issue.rect.y, issue.rect.x))
