"""Proposals: predicted regions that a person may accept as labels, reject, or change before. Nothing here paints.

Which regions are proposals: those that the model marks (its thresholds and least areas have been applied), whose class
the project has, that no person has decided on yet, and that the labels do not answer already: half of a region or more
painted in its class, or said to be nobody's guess, or painted as background where only what is painted counts.

Decisions lie in the picture's note (`Note.decided`): they are a person's work, and go where the labels go. Which model
saw the region belongs to a decision: another model may be right where this one was wrong. A region is known again by
its class, its box and its area, about: another threshold moves its outline a little.

`workbench predict … --as-proposals` writes proposals/<key>.json below the project folder, one file a picture:
{"format": 1, "model": the run's name, "fingerprint": of the model's files, "when", "width", "height": of the picture,
"regions": [{"class_id", "x", "y", "width", "height", "score": 0..1, "pixels"}]}; `pixels` are the box's pixels row
after row, one bit each (numpy.packbits), packed by zlib, as base64. An empty list says that the picture was looked at
and nothing is open. The file is written whole or not at all, belongs to the model, and may be deleted at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from workbench.core.annotation import Decided
from workbench.core.drawing import Rect
from workbench.core.project import BACKGROUND, DONT_CARE, ClassInfo
from workbench.core.selection import Selection
from workbench.inference.cv import cv2
from workbench.inference.regions import Region

ANSWERED = 0.5  # the share of a region that the labels cover from which on it is not proposed
LIKE = 0.5  # how far two boxes and areas may differ (intersection over union) and still be one region
LARGEST = 64 << 20  # pixels of a region's box: a larger one would be painted at once, and nobody could check it
_AT_ONCE = 200  # regions that are compared with all others at a time
MOST = 1_000  # regions of one picture, the most certain ones: a model that marks more has learned nothing yet


@dataclass(frozen=True, eq=False)
class Proposal:
    """A region that may become a label. origin: as the model gave it, whatever was changed since."""

    selection: Selection
    class_id: int
    score: float  # 0..1
    model: str
    origin: Decided
    shaped: bool = False  # its pixels are not the model's any more

    @property
    def edited(self) -> bool:
        return self.shaped or self.class_id != self.origin.class_id

    @cached_property
    def area(self) -> int:
        """Its pixels."""
        return cv2.countNonZero(self.selection.inside.view(np.uint8))

    def with_class(self, id: int) -> Proposal:
        return replace(self, class_id=id)

    def reshaped(self, selection: Selection) -> Proposal:
        """With other pixels; they are what would be painted."""
        found = selection.trimmed()
        return replace(self, selection=Selection(found.rect, np.ascontiguousarray(found.inside)), shaped=True)


@dataclass(frozen=True)
class Found:
    """What a model proposes in a picture. left_out: regions beyond MOST, and those that are too large. beyond:
    those that nobody has listed yet."""

    proposals: tuple[Proposal, ...] = ()
    left_out: int = 0
    beyond: int = 0


def class_table(classes: Sequence[ClassInfo], regions: Iterable[Region], *, own: bool) -> dict[int, int]:
    """Which class of the project each class of a model is; what the project does not have is left out.

    own: the model was trained in this project, whose ids it then speaks; others are known by their classes' names.
    """
    ids, by_name = {info.id for info in classes}, {info.name: info.id for info in classes}
    table = {}
    for region in regions:
        into = region.class_id if own else by_name.get(region.class_name)
        if into in ids:
            table[region.class_id] = into
    return table


def propose(
    mask: np.ndarray, regions: Sequence[Region], table: Mapping[int, int], model: str, *, beyond: int = 0
) -> Found:
    """The regions of a prediction as proposals, the most certain first.

    mask: uint8 (H, W), the model's ids. table: from `class_table`. beyond: regions that nobody has listed. Work goes by
    the regions' boxes.
    """
    wanted = [region for region in regions if region.class_id in table]
    fit = [region for region in wanted if region.width * region.height <= LARGEST]
    fit.sort(key=lambda region: (-region.score, -region.area, region.y, region.x))
    found = []
    for region in fit[:MOST]:
        where = _pixels_of(mask, region)
        if where is not None:
            rect, id = Rect(region.x, region.y, region.width, region.height), table[region.class_id]
            found.append(of_region(Selection(rect, where), id, region.score, model, region.area))
    return Found(tuple(found), len(wanted) - len(found) + beyond, beyond)


def without(mask: np.ndarray, proposals: Iterable[Proposal]) -> np.ndarray:
    """A copy of a mask, uint8 (H, W), without the regions of some proposals that `propose` has made of it."""
    rest = mask.copy()
    for one in proposals:
        rest[one.selection.rect.slices][one.selection.inside] = 0
    return rest


def open_ones(
    proposals: Iterable[Proposal], labels: np.ndarray | None, decided: Sequence[Decided], *, painted_only: bool = False
) -> list[Proposal]:
    """Those that are still to be decided.

    labels: uint8 (H, W), or None where nothing is labelled. decided: of the picture's note. painted_only: what is
    unpainted is not labelled, so painted background is an answer too.
    """
    proposals = list(proposals)
    done = _alike([one.origin for one in proposals], decided, one_model=True)
    return [
        proposal for proposal, answered in zip(proposals, done.tolist(), strict=True)
        if not answered and (labels is None or _answered(proposal, labels, painted_only) < ANSWERED)
    ]  # fmt: skip


def first_like(proposals: Sequence[Proposal], origin: Decided) -> Proposal | None:
    """The one among proposals that is the same region, whichever model saw it."""
    same = np.flatnonzero(_alike([one.origin for one in proposals], [origin]))
    return proposals[int(same[0])] if same.size else None


def _alike(ones: Sequence[Decided], others: Sequence[Decided], *, one_model: bool = False) -> np.ndarray:
    """bool (len(ones),): whether any of `others` is the same region. one_model: and was seen by the same model."""
    found = np.zeros(len(ones), bool)
    if not others:
        return found
    models = {name: number for number, name in enumerate(sorted({one.model for one in (*ones, *others)}))}
    a, b = (
        np.array(
            [
                (one.class_id, one.x, one.y, one.x + one.width, one.y + one.height, one.area, models[one.model])
                for one in some
            ],
            np.float64,
        ).reshape(-1, 7, 1)
        for some in (ones, others)
    )  # fmt: skip
    theirs = b[:, :, 0].T
    space = (theirs[3] - theirs[1]) * (theirs[4] - theirs[2])
    for start in range(0, len(ones), _AT_ONCE):
        mine = a[start : start + _AT_ONCE].transpose(1, 0, 2)
        same = (mine[0] == theirs[0]) & (np.minimum(mine[5], theirs[5]) >= LIKE * np.maximum(mine[5], theirs[5]))
        width = np.minimum(mine[3], theirs[3]) - np.maximum(mine[1], theirs[1])
        height = np.minimum(mine[4], theirs[4]) - np.maximum(mine[2], theirs[2])
        common = np.maximum(width, 0) * np.maximum(height, 0)
        same &= common >= LIKE * ((mine[3] - mine[1]) * (mine[4] - mine[2]) + space - common)
        if one_model:
            same &= mine[6] == theirs[6]
        found[start : start + _AT_ONCE] = same.any(axis=1)
    return found


def merged(newer: Sequence[Proposal], older: Iterable[Proposal]) -> list[Proposal]:
    """`newer`, and those of `older` that none of them is like."""
    older = list(older)
    known = _alike([one.origin for one in older], [one.origin for one in newer])
    return [*newer, *(one for one, same in zip(older, known.tolist(), strict=True) if not same)]


def in_box(proposals: Iterable[Proposal], box: Rect) -> list[Proposal]:
    """Those with the greater part of their pixels inside a box."""
    found = []
    for proposal in proposals:
        rect = proposal.selection.rect
        part = box.common(rect)
        if not part.empty:
            y, x = part.y - rect.y, part.x - rect.x
            inside = np.ascontiguousarray(proposal.selection.inside[y : y + part.height, x : x + part.width])
            if 2 * cv2.countNonZero(inside.view(np.uint8)) > proposal.area:
                found.append(proposal)
    return found


def of_region(selection: Selection, id: int, score: float, model: str, area: int) -> Proposal:
    """A proposal as a model makes it."""
    rect = selection.rect
    origin = Decided(
        what="rejected", model=model, class_id=id, x=rect.x, y=rect.y, width=rect.width, height=rect.height, area=area
    )
    return Proposal(selection, id, score, model, origin)


def _pixels_of(mask: np.ndarray, region: Region) -> np.ndarray | None:
    """bool (height, width): the region's pixels in its box; None if the mask does not hold it."""
    box = mask[region.y : region.y + region.height, region.x : region.x + region.width]
    if box.shape != (region.height, region.width):
        return None
    table = np.zeros(256, np.uint8)  # compared with a number, a box of 4 x 1 would be taken for a colour
    table[region.class_id] = 1
    of_class = cv2.LUT(np.ascontiguousarray(box), table)
    if cv2.countNonZero(of_class) == region.area:
        return of_class > 0
    _, labels, stats, _ = cv2.connectedComponentsWithStats(of_class, connectivity=8, ltype=cv2.CV_32S)
    # Others reach into the box; but only one piece can reach all four sides of it.
    whole = (stats[:, cv2.CC_STAT_WIDTH] == region.width) & (stats[:, cv2.CC_STAT_HEIGHT] == region.height)
    number = np.flatnonzero(whole & (stats[:, cv2.CC_STAT_AREA] == region.area) & (np.arange(len(stats)) > 0))
    return labels == int(number[0]) if number.size else None


def _answered(proposal: Proposal, labels: np.ndarray, painted_only: bool) -> float:
    """The share of a proposal that the labels have answered. A proposal beyond the labels is none at all: 1."""
    rect = proposal.selection.rect
    view = labels[rect.slices]
    if view.shape != proposal.selection.inside.shape:
        return 1.0
    answers = {proposal.class_id, proposal.origin.class_id, DONT_CARE} | ({BACKGROUND} if painted_only else set())
    table = np.zeros(256, np.uint8)
    table[list(answers)] = 1
    covered = cv2.LUT(np.ascontiguousarray(view), table) & proposal.selection.inside.view(np.uint8)
    return cv2.countNonZero(covered) / max(1, proposal.area)
