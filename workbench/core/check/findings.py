"""Findings of the project check: their kinds in the order of a report, the checks of one image, and tiny regions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Literal, get_args

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import is_good
from workbench.core.project.plausibility import Plausibility
from workbench.core.project.project import BACKGROUND, DONT_CARE, NOT_LABELED, Project
from workbench.inference.io.opencv import cv2
from workbench.inference.text_safety import csv_table

Kind = Literal[
    "missing_source",
    "unreadable_folder",
    "broken_picture",
    "broken_mask",
    "wrong_size",
    "unknown_ids",
    "broken_note",
    "stray_mask",
    "stray_note",
    "empty_defect",
    "painted_good",
    "folder_name",
    "island",
    "hole",
    "unused_class",
    "similar_classes",
    "duplicate",
    "leak",
    "bad_grouping",
    "inverted",
    "whole_image",
    "all_empty",
    "blank",
    "mixed_sets",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Finding:
    """Finding of the project check.

    key: key of the image, or the file, class or source concerned. detail: a `Message`, or part of an English sentence.
    image: key of the image to show, "" if the finding concerns none. place: (x, y) of the first pixel in it. other: the
    other image or class. name: verdict or class that the finding suggests.
    """

    kind: Kind
    key: str
    detail: str
    image: str = ""
    place: tuple[int, int] | None = None
    other: str = ""
    name: str = ""


@cache
def kind_texts() -> dict[Kind, tuple[Message, Message]]:
    """Return the title and the advice of each kind."""
    return {
        "missing_source": (Message("check.missing_source.title"), Message("check.missing_source.advice")),
        "unreadable_folder": (Message("check.unreadable_folder.title"), Message("check.unreadable_folder.advice")),
        "broken_picture": (Message("check.broken_picture.title"), Message("check.broken_picture.advice")),
        "broken_mask": (Message("check.broken_mask.title"), Message("check.broken_mask.advice")),
        "wrong_size": (Message("check.wrong_size.title"), Message("check.wrong_size.advice")),
        "unknown_ids": (Message("check.unknown_ids.title"), Message("check.unknown_ids.advice")),
        "broken_note": (Message("check.broken_note.title"), Message("check.broken_note.advice")),
        "stray_mask": (Message("check.stray_mask.title"), Message("check.stray_mask.advice")),
        "stray_note": (Message("check.stray_note.title"), Message("check.stray_note.advice")),
        "empty_defect": (Message("check.empty_defect.title"), Message("check.empty_defect.advice")),
        "painted_good": (Message("check.painted_good.title"), Message("check.painted_good.advice")),
        "folder_name": (Message("check.folder_name.title"), Message("check.folder_name.advice")),
        "island": (Message("check.island.title"), Message("check.island.advice")),
        "hole": (Message("check.hole.title"), Message("check.hole.advice")),
        "unused_class": (Message("check.unused_class.title"), Message("check.unused_class.advice")),
        "similar_classes": (Message("check.similar_classes.title"), Message("check.similar_classes.advice")),
        "duplicate": (Message("check.duplicate.title"), Message("check.duplicate.advice")),
        "leak": (Message("check.leak.title"), Message("check.leak.advice")),
        "bad_grouping": (Message("check.bad_grouping.title"), Message("check.bad_grouping.advice")),
        "inverted": (Message("check.inverted.title"), Message("check.inverted.advice")),
        "whole_image": (Message("check.whole_image.title"), Message("check.whole_image.advice")),
        "all_empty": (Message("check.all_empty.title"), Message("check.all_empty.advice")),
        "blank": (Message("check.blank.title"), Message("check.blank.advice")),
        "mixed_sets": (Message("check.mixed_sets.title"), Message("check.mixed_sets.advice")),
    }


def findings_csv(findings: Iterable[Finding], translate: Callable[[str], str] = str) -> bytes:
    """Return findings as CSV in UTF-8 with a byte order mark. translate: returns a message in another language."""
    rows = [("kind", "title", "key", "detail", "other", "advice")]
    for finding in findings:
        title, advice = map(translate, kind_texts()[finding.kind])
        rows.append((finding.kind, title, finding.key, translate(finding.detail), finding.other, advice))
    return csv_table(rows)


TINY = 6  # pixels; a smaller region or hole is reported


@dataclass(frozen=True)
class Component:
    """Connected pixels of a mask. inside: bool (h, w), its first pixel at `corner` (x, y).

    id: class of a region; for a hole, the class that surrounds it.
    """

    id: int
    inside: np.ndarray
    corner: tuple[int, int]


def specks(mask: np.ndarray) -> Iterator[Component]:
    """Yield the regions (8 neighbors) of a class with fewer than `TINY` pixels in a mask, uint8 (H, W)."""
    for id in annotation.ids_in(mask):
        if 0 < id < DONT_CARE:
            for inside, corner in _small_components(mask == id, 8):
                yield Component(id, inside, corner)


def tiny_holes(mask: np.ndarray) -> Iterator[Component]:
    """Yield the holes (4 neighbors) with fewer than `TINY` unpainted pixels that one class or several surround."""
    empty = (mask == BACKGROUND) | (mask == NOT_LABELED)
    if empty.all():
        return
    height, width = mask.shape
    for inside, (x, y) in _small_components(empty, 4):
        h, w = inside.shape
        if x == 0 or y == 0 or x + w == width or y + h == height:
            continue
        area = mask[y - 1 : y + h + 1, x - 1 : x + w + 1]
        grown = cv2.dilate(np.pad(inside, 1).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        counts = np.bincount(area[grown & ~np.pad(inside, 1)], minlength=256)[:DONT_CARE]
        counts[BACKGROUND] = 0
        if counts.any():
            yield Component(int(counts.argmax()), inside, (x, y))


def _small_components(plane: np.ndarray, connectivity: int) -> Iterator[tuple[np.ndarray, tuple[int, int]]]:
    """Yield the components of bool (H, W) with fewer than `TINY` pixels, cropped, with their first pixel (x, y)."""
    pixels = plane.astype(np.uint8)  # OpenCV takes a mask of one pixel for a number
    _, labels, stats, _ = cv2.connectedComponentsWithStats(pixels, connectivity=connectivity)
    for number in np.flatnonzero(stats[:, cv2.CC_STAT_AREA] < TINY).tolist():
        if number == 0:
            continue
        x, y, w, h = stats[number, :4].tolist()
        yield labels[y : y + h, x : x + w] == number, (x, y)


def check_image(project: Project, key: str, plausibility: Plausibility) -> tuple[set[int], list[Finding]]:
    """Return the class ids painted on an image, and its findings. Decodes the image and counts it in `plausibility`."""
    try:
        image = read(project.image_path(key))
    except problems.ImageBroken as problem:
        return set(), [Finding("broken_picture", key, problem.fields["why"], key)]
    size, channels = (image.shape[1], image.shape[0]), 1 if image.ndim == 2 else image.shape[2]
    plausibility.add_image(key, image)
    del image
    findings: list[Finding] = []
    note = annotation.Note()
    try:
        note = annotation.load_note(project, key)
    except problems.NoteBroken as problem:
        findings.append(Finding("broken_note", key, problem.fields["why"], key))
    findings += _folder_name(project, key, note)
    try:
        mask = annotation.load_mask(project, key, size)
    except problems.MaskBroken as problem:
        return set(), [*findings, Finding("broken_mask", key, problem.fields["why"], key)]
    except problems.MaskWrongSize as problem:
        fields = {name: problem.fields[name] for name in ("mask_width", "mask_height", "width", "height")}
        return set(), [*findings, Finding("wrong_size", key, Message("check.wrong_size", **fields), key)]
    except problems.MaskUnknownClass as problem:
        detail = Message("check.unknown_ids", ids=problem.fields["ids"])
        return set(), [*findings, Finding("unknown_ids", key, detail, key)]
    if mask is None:
        return set(), findings
    ids = {id for id in annotation.ids_in(mask) if 0 < id < DONT_CARE}
    names = {info.id: info.name for info in project.classes}
    if ids or note.status == "done":
        plausibility.add_mask(key, mask, names, channels)
    return ids, [*findings, *_verdict_mistakes(key, note, ids), *_tiny_parts(key, mask, names)]


def _verdict_mistakes(key: str, note: annotation.Note, ids: set[int]) -> Iterator[Finding]:
    verdict = note.verdict
    if verdict is not None and is_good(verdict) and ids:
        yield Finding("painted_good", key, Message("check.painted_good", verdict=verdict), key)
    elif verdict is not None and not is_good(verdict) and not ids and note.status == "done":
        yield Finding("empty_defect", key, Message("check.empty_defect", verdict=verdict), key)


def _folder_name(project: Project, key: str, note: annotation.Note) -> Iterator[Finding]:
    """Yield a finding if the image lies in a folder named after another verdict than its own."""
    verdicts = {name.strip().casefold(): name for name in project.file.verdicts}
    parts = PurePosixPath(key).parts[1 if key.startswith("@") else 0 : -1]
    name = next((verdicts[part.casefold()] for part in reversed(parts) if part.casefold() in verdicts), None)
    if name is None or name == note.verdict:
        return
    if note.verdict is None:
        detail = Message("check.folder_unset", name=name)
    else:
        detail = Message("check.folder_differs", name=name, verdict=note.verdict)
    yield Finding("folder_name", key, detail, key, name=name)


def _tiny_parts(key: str, mask: np.ndarray, names: dict[int, str]) -> Iterator[Finding]:
    found: dict[int, list[Component]] = {}
    for part in specks(mask):
        found.setdefault(part.id, []).append(part)
    for id, parts in sorted(found.items()):
        x, y = parts[0].corner
        detail = Message("check.islands", n=len(parts), name=names.get(id, str(id)), limit=TINY, x=x, y=y)
        yield Finding("island", key, detail, key, place=(x, y))
    holes = list(tiny_holes(mask))
    if holes:
        x, y = holes[0].corner
        detail = Message("check.holes", n=len(holes), limit=TINY, x=x, y=y)
        yield Finding("hole", key, detail, key, place=(x, y))
