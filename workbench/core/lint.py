"""Project check for labeling mistakes, leaks between splits and unusable files.

The check changes nothing. A finding has a kind, an image (or class, or file) and a detail; the user interface adds the
advice for each kind.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.core import problems
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.formats.base import is_good
from workbench.core.project.grouping import check_pattern, near_duplicates
from workbench.core.project.project import DONT_CARE, Project
from workbench.core.project.sources import natural_key
from workbench.core.runs.dataset import Dataset, collect
from workbench.inference.io.opencv import cv2
from workbench.inference.io.regular_files import open_regular

Kind = Literal[
    "broken_picture",
    "broken_mask",
    "wrong_size",
    "unknown_ids",
    "broken_note",
    "stray_mask",
    "stray_note",
    "empty_defect",
    "painted_good",
    "island",
    "unused_class",
    "similar_classes",
    "duplicate",
    "leak",
    "bad_grouping",
]

ISLAND = 6  # pixels; a smaller painted spot is more likely a mistake than a defect


@dataclass(frozen=True)
class LintFinding:
    """Finding of the project check.

    key: key of the image, or the file or class concerned. detail: an English sentence or part of one.
    """

    kind: Kind
    key: str
    detail: str


def check(project: Project, progress: Callable[[int, int], None] | None = None) -> list[LintFinding]:
    """Return all findings of a project, in the order of `Kind`.

    Decodes every image once and reads every mask and note.
    """
    keys = project.images()
    findings: list[LintFinding] = []
    painted: set[int] = set()
    usable: list[str] = []
    for number, key in enumerate(keys, 1):
        ids, found = _image(project, key)
        painted |= ids
        findings += found
        if not any(finding.kind == "broken_picture" for finding in found):
            usable.append(key)
        if progress is not None:
            progress(number, len(keys))
    findings += _orphan_files(project, set(keys)) + _grouping(project, keys)
    findings += _classes(project, painted)
    splits = _splits(project)
    same = _duplicates(project, usable, splits)
    findings += same + _leaks(project, splits)
    order = {kind: place for place, kind in enumerate(Kind.__args__)}  # type: ignore[attr-defined]
    return sorted(findings, key=lambda finding: order[finding.kind])


def _image(project: Project, key: str) -> tuple[set[int], list[LintFinding]]:
    """Return the class ids painted on an image, and its findings."""
    try:
        image = read(project.image_path(key))
    except problems.ImageBroken as problem:
        return set(), [LintFinding("broken_picture", key, problem.fields["why"])]
    size = (image.shape[1], image.shape[0])
    del image
    findings: list[LintFinding] = []
    note = annotation.Note()
    try:
        note = annotation.load_note(project, key)
    except problems.NoteBroken as problem:
        findings.append(LintFinding("broken_note", key, problem.fields["why"]))
    try:
        mask = annotation.load_mask(project, key, size)
    except problems.MaskBroken as problem:
        return set(), [*findings, LintFinding("broken_mask", key, problem.fields["why"])]
    except problems.MaskWrongSize as problem:
        detail = "the mask is {mask_width} x {mask_height}, the picture {width} x {height}".format(**problem.fields)
        return set(), [*findings, LintFinding("wrong_size", key, detail)]
    except problems.MaskUnknownClass as problem:
        return set(), [*findings, LintFinding("unknown_ids", key, f"ids {problem.fields['ids']}")]
    if mask is None:
        return set(), findings
    ids = {id for id in annotation.ids_in(mask) if 0 < id < DONT_CARE}
    return ids, findings + _label_findings(key, note, mask, ids)


def _label_findings(key: str, note: annotation.Note, mask: np.ndarray, ids: set[int]) -> list[LintFinding]:
    findings = []
    if note.verdict is not None:
        if is_good(note.verdict) and ids:
            findings.append(LintFinding("painted_good", key, f"the verdict is {note.verdict}, but a defect is painted"))
        elif not is_good(note.verdict) and not ids and note.status == "done":
            findings.append(LintFinding("empty_defect", key, f"the verdict is {note.verdict}, but nothing is painted"))
    for id in sorted(ids):
        _, _, stats, _ = cv2.connectedComponentsWithStats((mask == id).astype(np.uint8), connectivity=8)
        small = stats[1:][stats[1:, cv2.CC_STAT_AREA] < ISLAND]
        if len(small):
            x, y = small[0, cv2.CC_STAT_LEFT], small[0, cv2.CC_STAT_TOP]
            what = "spot" if len(small) == 1 else "spots"
            detail = f"{len(small)} {what} of class {id} with fewer than {ISLAND} pixels, the first at {x}, {y}"
            findings.append(LintFinding("island", key, detail))
    return findings


def _orphan_files(project: Project, keys: set[str]) -> list[LintFinding]:
    """Return masks and notes whose image is no longer listed: renamed, moved, ignored, or in an unavailable source."""
    findings: list[LintFinding] = []
    for folder, suffix in (("masks", ".png"), ("notes", ".json")):
        root = project.root / folder
        for path in sorted(root.rglob("*" + suffix), key=natural_key):
            relative = path.relative_to(root).as_posix()
            if path.name.startswith(".") or relative[: -len(suffix)] in keys:
                continue
            kind: Kind = "stray_mask" if folder == "masks" else "stray_note"
            findings.append(LintFinding(kind, f"{folder}/{relative}", "no picture of this name is in the project"))
    return findings


def _classes(project: Project, painted: set[int]) -> list[LintFinding]:
    findings = (
        [
            LintFinding("unused_class", info.name, f"id {info.id} is painted on no picture")
            for info in project.classes
            if info.id not in painted
        ]
        if painted
        else []
    )
    first_names: dict[str, str] = {}
    for info in project.classes:
        plain = "".join(sign for sign in info.name.casefold() if sign.isalnum())
        if plain and plain in first_names:
            findings.append(LintFinding("similar_classes", info.name, f"differs little from {first_names[plain]}"))
        first_names.setdefault(plain, info.name)
    return findings


def _grouping(project: Project, keys: list[str]) -> list[LintFinding]:
    try:
        check_pattern(project, keys)
    except problems.BadGrouping as problem:
        return [LintFinding("bad_grouping", "project.json", "the pattern {pattern}: {why}".format(**problem.fields))]
    return []


def _splits(project: Project) -> list[Dataset]:
    """Return the split of the labeled images for each model that can currently be trained."""
    found = []
    for model in ("unet", "resnet"):
        try:
            found.append(collect(project, model))  # type: ignore[arg-type]
        except problems.Problem:
            continue
    return found


def _duplicates(project: Project, keys: list[str], splits: list[Dataset]) -> list[LintFinding]:
    """Return files with identical bytes. The detail states if they are on different sides of a split, also a leak."""
    by_size: dict[int, list[str]] = defaultdict(list)
    for key in keys:
        by_size[project.image_path(key).stat().st_size].append(key)
    by_hash: dict[str, list[str]] = defaultdict(list)
    for members in by_size.values():
        for key in members if len(members) > 1 else ():
            by_hash[_hash(project.image_path(key))].append(key)
    sides = [{item.key: item.split for item in dataset.items} for dataset in splits]
    findings = []
    for members in by_hash.values():
        first = members[0]
        for key in members[1:]:
            detail = f"the same picture as {first}"
            if any(key in side and first in side and side[key] != side[first] for side in sides):
                detail += ", on the other side of the split"
            if _label(project, key) != _label(project, first):
                detail += ", labelled differently"
            findings.append(LintFinding("duplicate", key, detail))
    return findings


def _leaks(project: Project, splits: list[Dataset]) -> list[LintFinding]:
    """Return similar images of which one is used for training and the other for validation or test."""
    pairs: dict[tuple[str, str], str] = {}
    for dataset in splits:
        sides = {item.key: item.split for item in dataset.items}
        for a, b in near_duplicates(project, dataset.items):
            if sides[a] != sides[b] and "train" in (sides[a], sides[b]):
                held, train_key = (a, b) if sides[b] == "train" else (b, a)
                pairs.setdefault((held, train_key), sides[held])
    return [
        LintFinding("leak", held, f"looks like {learned}, which is learned from, but is held out ({split})")
        for (held, learned), split in pairs.items()
    ]


def _label(project: Project, key: str) -> tuple[str, str | None]:
    try:
        verdict = annotation.load_note(project, key).verdict
    except problems.NoteBroken:
        verdict = None
    path = project.mask_path(key)
    return (_hash(path) if path.is_file() else "", verdict)


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
