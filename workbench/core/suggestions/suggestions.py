"""Suggestions: predicted regions that the user can accept as labels, reject, or edit. This module changes no labels.

A region is a suggestion if the model marks it (thresholds and minimum sizes applied), the project has its class, the
user has not decided on it, and the labels do not cover it: less than half of it is labeled with its class, "don't
care", or, where only painted pixels count as labels, background.

Decisions are stored in the image's note (`Note.decided`), because they are the user's work and belong to the labels. A
decision includes the model: another model may be right where this one was wrong. A region is recognized by
approximately equal class, box and area, because another threshold shifts its outline slightly.

`workbench predict … --as-suggestions` writes proposals/<key>.json below the project folder, one file per image:
{"format": 1, "model": name of the run, "fingerprint": of the model's files, "when", "width", "height": of the image,
"regions": [{"class_id", "x", "y", "width", "height", "score": 0..1, "pixels"}]}; `pixels` are the pixels of the box in
row-major order, one bit each (numpy.packbits), compressed with zlib, as base64. An empty list means that the image was
processed and no suggestion is open. The file is written atomically, belongs to the model, and can be deleted at any
time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection
from workbench.core.project.annotation import SuggestionDecision
from workbench.core.project.project import BACKGROUND, DONT_CARE, ClassInfo
from workbench.inference.io.opencv import cv2
from workbench.inference.regions import Region

DECIDED_SHARE = 0.5  # labeled share of a region at and above which it is not suggested
MIN_OVERLAP = 0.5  # least intersection over union of two boxes, and ratio of two areas, of the same region
# Pixels of a region's box; larger regions cannot be checked by the user before they are painted.
MAX_REGION_PIXELS = 64 << 20
_BLOCK = 200  # regions compared with all others per block
MOST = 1_000  # most probable regions per image; a model that marks more is not trained well enough


@dataclass(frozen=True, eq=False)
class Suggestion:
    """Region that may become a label. origin: the region as predicted, before any edit."""

    selection: Selection
    class_id: int
    score: float  # 0..1
    model: str
    origin: SuggestionDecision
    reshaped_by_user: bool = False  # the pixels were edited

    @property
    def edited(self) -> bool:
        return self.reshaped_by_user or self.class_id != self.origin.class_id

    @cached_property
    def area(self) -> int:
        """Area in pixels."""
        return cv2.countNonZero(self.selection.inside.view(np.uint8))

    def with_class(self, id: int) -> Suggestion:
        return replace(self, class_id=id)

    def reshaped(self, selection: Selection) -> Suggestion:
        """Return a copy with the pixels of `selection`, which are the ones to be painted."""
        trimmed = selection.trimmed()
        return replace(
            self, selection=Selection(trimmed.rect, np.ascontiguousarray(trimmed.inside)), reshaped_by_user=True
        )


@dataclass(frozen=True)
class FoundRegions:
    """Suggestions for an image.

    beyond: regions that the predictor did not list. left_out: these, and regions that exceed `MOST` or
    `MAX_REGION_PIXELS`.
    """

    suggestions: tuple[Suggestion, ...] = ()
    left_out: int = 0
    beyond: int = 0


def class_table(classes: Sequence[ClassInfo], regions: Iterable[Region], *, own: bool) -> dict[int, int]:
    """Return model class id -> project class id. Classes that the project does not have are omitted.

    own: the model was trained in this project, so ids match; otherwise classes are matched by name.
    """
    ids, by_name = {info.id for info in classes}, {info.name: info.id for info in classes}
    table = {}
    for region in regions:
        target = region.class_id if own else by_name.get(region.class_name)
        if target in ids:
            table[region.class_id] = target
    return table


def suggest_regions(
    mask: np.ndarray, regions: Sequence[Region], table: Mapping[int, int], model: str, *, beyond: int = 0
) -> FoundRegions:
    """Return the regions of a prediction as suggestions, highest probability first.

    mask: uint8 (H, W), ids of the model. table: from `class_table`. beyond: number of regions not listed in `regions`.
    The time grows with the size of the regions' boxes.
    """
    known = [region for region in regions if region.class_id in table]
    candidates = [region for region in known if region.width * region.height <= MAX_REGION_PIXELS]
    candidates.sort(key=lambda region: (-region.score, -region.area, region.y, region.x))
    suggestions = []
    for region in candidates[:MOST]:
        pixels = _pixels_of(mask, region)
        if pixels is not None:
            rect, id = Rect(region.x, region.y, region.width, region.height), table[region.class_id]
            suggestions.append(suggestion_of_region(Selection(rect, pixels), id, region.score, model, region.area))
    return FoundRegions(tuple(suggestions), len(known) - len(suggestions) + beyond, beyond)


def without(mask: np.ndarray, suggestions: Iterable[Suggestion]) -> np.ndarray:
    """Return a copy of `mask`, uint8 (H, W), without the regions of suggestions that `suggest_regions` made from it."""
    remaining = mask.copy()
    for suggestion in suggestions:
        remaining[suggestion.selection.rect.slices][suggestion.selection.inside] = 0
    return remaining


def open_ones(
    suggestions: Iterable[Suggestion],
    labels: np.ndarray | None,
    decided: Sequence[SuggestionDecision],
    *,
    painted_only: bool = False,
) -> list[Suggestion]:
    """Return the suggestions that are not decided yet.

    labels: uint8 (H, W), or None if nothing is labeled. decided: decisions in the image's note. painted_only: unpainted
    pixels are unlabeled, so painted background is also a decision.
    """
    suggestions = list(suggestions)
    answered_mask = _matches([one.origin for one in suggestions], decided, one_model=True)
    return [
        suggestion
        for suggestion, answered in zip(suggestions, answered_mask.tolist(), strict=True)
        if not answered and (labels is None or _decided_share(suggestion, labels, painted_only) < DECIDED_SHARE)
    ]


def first_match(suggestions: Sequence[Suggestion], origin: SuggestionDecision) -> Suggestion | None:
    """Return the first suggestion that is the same region as `origin`, of any model, or None."""
    matches = np.flatnonzero(_matches([suggestion.origin for suggestion in suggestions], [origin]))
    return suggestions[int(matches[0])] if matches.size else None


def _matches(
    decisions: Sequence[SuggestionDecision], others: Sequence[SuggestionDecision], *, one_model: bool = False
) -> np.ndarray:
    """Return bool (len(ones),): True if any of `others` is the same region and, with `one_model`, of the same model."""
    matches = np.zeros(len(decisions), bool)
    if not others:
        return matches
    models = {
        name: number for number, name in enumerate(sorted({decision.model for decision in (*decisions, *others)}))
    }
    a, b = (
        np.array(
            [
                (
                    decision.class_id,
                    decision.x,
                    decision.y,
                    decision.x + decision.width,
                    decision.y + decision.height,
                    decision.area,
                    models[decision.model],
                )
                for decision in group
            ],
            np.float64,
        ).reshape(-1, 7, 1)
        for group in (decisions, others)
    )
    other = b[:, :, 0].T
    other_area = (other[3] - other[1]) * (other[4] - other[2])
    for start in range(0, len(decisions), _BLOCK):
        block = a[start : start + _BLOCK].transpose(1, 0, 2)
        same = (block[0] == other[0]) & (np.minimum(block[5], other[5]) >= MIN_OVERLAP * np.maximum(block[5], other[5]))
        width = np.minimum(block[3], other[3]) - np.maximum(block[1], other[1])
        height = np.minimum(block[4], other[4]) - np.maximum(block[2], other[2])
        intersection = np.maximum(width, 0) * np.maximum(height, 0)
        same &= intersection >= MIN_OVERLAP * (
            (block[3] - block[1]) * (block[4] - block[2]) + other_area - intersection
        )
        if one_model:
            same &= block[6] == other[6]
        matches[start : start + _BLOCK] = same.any(axis=1)
    return matches


def merged(newer: Sequence[Suggestion], older: Iterable[Suggestion]) -> list[Suggestion]:
    """Return `newer` and those of `older` that match none of them."""
    older = list(older)
    known = _matches([suggestion.origin for suggestion in older], [suggestion.origin for suggestion in newer])
    return [*newer, *(suggestion for suggestion, matched in zip(older, known.tolist(), strict=True) if not matched)]


def in_box(suggestions: Iterable[Suggestion], box: Rect) -> list[Suggestion]:
    """Return the suggestions with more than half of their pixels inside `box`."""
    selected = []
    for suggestion in suggestions:
        rect = suggestion.selection.rect
        part = box.common(rect)
        if not part.empty:
            y, x = part.y - rect.y, part.x - rect.x
            inside = np.ascontiguousarray(suggestion.selection.inside[y : y + part.height, x : x + part.width])
            if 2 * cv2.countNonZero(inside.view(np.uint8)) > suggestion.area:
                selected.append(suggestion)
    return selected


def suggestion_of_region(selection: Selection, id: int, score: float, model: str, area: int) -> Suggestion:
    """Return the suggestion for a predicted region."""
    rect = selection.rect
    origin = SuggestionDecision(
        what="rejected", model=model, class_id=id, x=rect.x, y=rect.y, width=rect.width, height=rect.height, area=area
    )
    return Suggestion(selection, id, score, model, origin)


def _pixels_of(mask: np.ndarray, region: Region) -> np.ndarray | None:
    """Return the region's pixels in its box, bool (height, width), or None if the mask does not contain the region."""
    box = mask[region.y : region.y + region.height, region.x : region.x + region.width]
    if box.shape != (region.height, region.width):
        return None
    table = np.zeros(256, np.uint8)  # LUT because OpenCV interprets a 4 x 1 array in a comparison as a scalar color
    table[region.class_id] = 1
    of_class = cv2.LUT(np.ascontiguousarray(box), table)
    if cv2.countNonZero(of_class) == region.area:
        return of_class > 0
    _, labels, stats, _ = cv2.connectedComponentsWithStats(of_class, connectivity=8, ltype=cv2.CV_32S)
    # Other regions may extend into the box, but only one component can touch all four sides.
    same_size = (stats[:, cv2.CC_STAT_WIDTH] == region.width) & (stats[:, cv2.CC_STAT_HEIGHT] == region.height)
    number = np.flatnonzero(same_size & (stats[:, cv2.CC_STAT_AREA] == region.area) & (np.arange(len(stats)) > 0))
    return labels == int(number[0]) if number.size else None


def _decided_share(suggestion: Suggestion, labels: np.ndarray, painted_only: bool) -> float:
    """Return the share of a suggestion that the labels cover, 1 for a suggestion outside the labels."""
    rect = suggestion.selection.rect
    view = labels[rect.slices]
    if view.shape != suggestion.selection.inside.shape:
        return 1.0
    decided_ids = {suggestion.class_id, suggestion.origin.class_id, DONT_CARE} | (
        {BACKGROUND} if painted_only else set()
    )
    table = np.zeros(256, np.uint8)
    table[list(decided_ids)] = 1
    decided = np.asarray(cv2.LUT(np.ascontiguousarray(view), table), np.uint8)
    covered = decided & suggestion.selection.inside.view(np.uint8)
    return cv2.countNonZero(covered) / max(1, suggestion.area)
