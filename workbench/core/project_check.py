"""Project check for labeling mistakes, leaks between splits and unusable files. It changes nothing.

Findings of the project check: their kinds in the order of a report, the checks of one image, and tiny regions.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Literal, get_args

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import read_with_sum
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import is_good
from workbench.core.project.grouping import check_pattern, near_duplicates
from workbench.core.project.label_transaction import SaveRecords
from workbench.core.project.plausibility import Plausibility
from workbench.core.project.project import BACKGROUND, DONT_CARE, NOT_LABELED, Project
from workbench.core.project.sources import walk
from workbench.core.runs.dataset import Dataset, LabelKind, ReadLabels, collect
from workbench.inference.io.file_access import read_regular
from workbench.inference.io.opencv import cv2
from workbench.inference.text_safety import csv_table, natural_key

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

    def __str__(self) -> str:
        return f"{self.key}: {self.detail} ({kind_texts()[self.kind][0]})"


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


def check_image(
    project: Project,
    key: str,
    plausibility: Plausibility,
    labels: ReadLabels,
    saves: SaveRecords,
    sums: dict[str, str],
) -> tuple[set[int], list[Finding]]:
    """Return the class ids painted on an image, and its findings.

    Decodes the image, counts it in `plausibility`, and adds its label to `labels` and its checksum to `sums`. saves:
    see `annotation.load_note`.
    """
    try:
        image, sums[key] = read_with_sum(project.image_path(key))
    except problems.ImageBroken as problem:
        return set(), [Finding("broken_picture", key, problem.fields["why"], key)]
    size, channels = (image.shape[1], image.shape[0]), 1 if image.ndim == 2 else image.shape[2]
    plausibility.add_image(key, image)
    del image
    findings: list[Finding] = []
    note, note_read = annotation.Note(), False
    try:
        note, note_read = annotation.load_note(project, key, saves), True
    except problems.NoteBroken as problem:
        findings.append(Finding("broken_note", key, problem.fields["why"], key))
    findings += _folder_name(project, key, note)
    try:
        data = annotation.mask_content(project, key)
        mask = None if data is None else annotation.load_mask(project, key, size, data=data)
    except problems.MaskBroken as problem:
        return set(), [*findings, Finding("broken_mask", key, problem.fields["why"], key)]
    except problems.MaskWrongSize as problem:
        fields = {name: problem.fields[name] for name in ("mask_width", "mask_height", "width", "height")}
        return set(), [*findings, Finding("wrong_size", key, Message("check.wrong_size", **fields), key)]
    except problems.MaskUnknownClass as problem:
        detail = Message("check.unknown_ids", ids=problem.fields["ids"])
        return set(), [*findings, Finding("unknown_ids", key, detail, key)]
    if mask is None:
        if note_read:
            labels.add(project, key, note, size, None, None)
        return set(), findings
    ids = {id for id in annotation.ids_in(mask) if 0 < id < DONT_CARE}
    names = {info.id: info.name for info in project.classes}
    if ids or note.status == "done":
        plausibility.add_mask(key, mask, names, channels)
    findings += [*_verdict_mistakes(key, note, ids), *_tiny_parts(key, mask, names)]
    if note_read:
        labels.add(project, key, note, size, mask, data)
    return ids, findings


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


def check(
    project: Project,
    progress: Callable[[int, int], None] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> list[Finding]:
    """Return all findings of a project, in the order of `Kind`; those found so far if `stopped` returns True.

    Decodes every image once and reads every mask and note.
    """
    keys, faults = project.list_images()
    findings = _missing_sources(project)
    for fault in faults:
        detail = Message("check.unreadable_folder", why=fault.fields["why"])
        findings.append(Finding("unreadable_folder", fault.fields["path"], detail))
    painted: set[int] = set()
    plausibility, labels, saves = Plausibility(), ReadLabels(keys), SaveRecords(project.root)
    sums: dict[str, str] = {}  # of the files of images that can be read
    for number, key in enumerate(keys, 1):
        if stopped():
            return findings
        ids, found = check_image(project, key, plausibility, labels, saves, sums)
        painted |= ids
        findings += found
        if progress is not None:
            progress(number, len(keys))
    unreadable = tuple(fault.fields["prefix"] for fault in faults)
    findings += _orphan_files(project, set(keys), unreadable) + _grouping(project, keys)
    findings += _classes(project, painted)
    findings += [
        Finding(concern.kind, concern.class_name or concern.image, concern.text, concern.image, name=concern.class_name)
        for concern in plausibility.concerns()
    ]
    splits = _splits(project, labels)
    if not stopped():
        findings += _duplicates(project, sums, splits)
    if not stopped():
        findings += _leaks(project, splits)
    order = {kind: place for place, kind in enumerate(KINDS)}
    return sorted(findings, key=lambda finding: order[finding.kind])


def _missing_sources(project: Project) -> list[Finding]:
    return [
        Finding("missing_source", source.name, Message("check.missing_source", path=str(source.folder(project.root))))
        for source in project.missing_sources()
    ]


def _orphan_files(project: Project, keys: set[str], unreadable: tuple[str, ...]) -> list[Finding]:
    """Return masks and notes whose image is no longer listed: renamed, moved or ignored.

    unreadable: beginnings of the keys of images in folders that cannot be listed.
    """
    findings: list[Finding] = []
    missing = (*unreadable, *(source.prefix for source in project.missing_sources()))  # reported as such
    for folder, suffix in (("masks", ".png"), ("notes", ".json")):
        found = (relative for relative, _ in walk(project.root / folder) if relative.endswith(suffix))
        for relative in sorted(found, key=natural_key):
            key = relative[: -len(suffix)]
            if key in keys or (missing and key.startswith(missing)):
                continue
            kind: Kind = "stray_mask" if folder == "masks" else "stray_note"
            findings.append(Finding(kind, f"{folder}/{relative}", Message("check.stray")))
    return findings


def _classes(project: Project, painted: set[int]) -> list[Finding]:
    findings = (
        [
            Finding("unused_class", info.name, Message("check.unused_class", id=info.id), name=info.name)
            for info in project.classes
            if info.id not in painted
        ]
        if painted
        else []
    )
    spelled: dict[str, str] = {}
    for info in project.classes:
        plain = "".join(sign for sign in info.name.casefold() if sign.isalnum())
        if plain and plain in spelled:
            other = spelled[plain]
            detail = Message("check.similar_classes", name=other)
            findings.append(Finding("similar_classes", info.name, detail, other=other, name=info.name))
        spelled.setdefault(plain, info.name)
    return findings


def _grouping(project: Project, keys: list[str]) -> list[Finding]:
    try:
        check_pattern(project, keys)
    except problems.BadGrouping as problem:
        detail = Message("check.bad_grouping", pattern=problem.fields["pattern"], why=problem.fields["why"])
        return [Finding("bad_grouping", "project.json", detail)]
    return []


def _splits(project: Project, labels: ReadLabels) -> list[Dataset]:
    """Return the split of the labeled images for each model that can currently be trained."""
    found = []
    for model in get_args(LabelKind):
        try:
            found.append(collect(project, model, labels=labels))
        except problems.Problem:
            continue
    return found


def _duplicates(project: Project, sums: dict[str, str], splits: list[Dataset]) -> list[Finding]:
    """Return files with identical bytes, by their checksums.

    The detail states if they are on different sides of a split, also a leak.
    """
    by_hash: dict[str, list[str]] = defaultdict(list)
    for key, checksum in sums.items():
        by_hash[checksum].append(key)
    sides = [{item.key: item.split for item in dataset.items} for dataset in splits]
    findings = []
    for members in by_hash.values():
        first = members[0]
        for key in members[1:]:
            across = any(key in side and first in side and side[key] != side[first] for side in sides)
            differs = _label(project, key) != _label(project, first)
            if across and differs:
                detail = Message("check.duplicate_across_differs", name=first)
            elif across:
                detail = Message("check.duplicate_across", name=first)
            elif differs:
                detail = Message("check.duplicate_differs", name=first)
            else:
                detail = Message("check.duplicate", name=first)
            findings.append(Finding("duplicate", key, detail, key, other=first))
    return findings


def _leaks(project: Project, splits: list[Dataset]) -> list[Finding]:
    """Return similar images of which one is used for training and the other for validation or test."""
    pairs: dict[tuple[str, str], str] = {}
    for dataset in splits:
        sides = {item.key: item.split for item in dataset.items}
        for a, b in near_duplicates(project, dataset.items):
            if sides[a] != sides[b] and "train" in (sides[a], sides[b]):
                held, learned = (a, b) if sides[b] == "train" else (b, a)
                pairs.setdefault((held, learned), sides[held])
    details = {"val": "check.leak_validation", "test": "check.leak_test"}
    return [
        Finding("leak", held, Message(details[split], name=learned), held, other=learned)
        for (held, learned), split in pairs.items()
    ]


def _label(project: Project, key: str) -> tuple[str, str | None]:
    try:
        verdict = annotation.load_note(project, key).verdict
    except problems.NoteBroken:
        verdict = None
    path = project.mask_path(key)
    if not os.path.isfile(path):  # also False for a name that is too long
        return "", verdict
    return hashlib.sha256(read_regular(path)).hexdigest(), verdict
