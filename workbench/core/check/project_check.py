"""Project check for labeling mistakes, leaks between splits and unusable files. It changes nothing."""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from workbench.core import problems
from workbench.core.check.findings import KINDS, Finding, Kind, check_image
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.grouping import check_pattern, near_duplicates
from workbench.core.project.plausibility import Plausibility
from workbench.core.project.project import Project
from workbench.core.runs.dataset import Dataset, LabelKind, collect
from workbench.inference.io.natural_order import natural_key
from workbench.inference.io.regular_files import open_regular


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
    usable: list[str] = []
    plausibility = Plausibility()
    for number, key in enumerate(keys, 1):
        if stopped():
            return findings
        ids, found = check_image(project, key, plausibility)
        painted |= ids
        findings += found
        if not any(finding.kind == "broken_picture" for finding in found):
            usable.append(key)
        if progress is not None:
            progress(number, len(keys))
    unreadable = tuple(fault.fields["prefix"] for fault in faults)
    findings += _orphan_files(project, set(keys), unreadable) + _grouping(project, keys)
    findings += _classes(project, painted)
    findings += [
        Finding(concern.kind, concern.class_name or concern.image, concern.text, concern.image, name=concern.class_name)
        for concern in plausibility.concerns()
    ]
    splits = _splits(project)
    if not stopped():
        findings += _duplicates(project, usable, splits)
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
        root = project.root / folder
        for path in sorted(root.rglob("*" + suffix), key=natural_key):
            relative = path.relative_to(root).as_posix()
            key = relative[: -len(suffix)]
            if path.name.startswith(".") or key in keys or (missing and key.startswith(missing)):
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


def _splits(project: Project) -> list[Dataset]:
    """Return the split of the labeled images for each model that can currently be trained."""
    found = []
    for model in get_args(LabelKind):
        try:
            found.append(collect(project, model))
        except problems.Problem:
            continue
    return found


def _duplicates(project: Project, keys: list[str], splits: list[Dataset]) -> list[Finding]:
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
    return (_hash(path) if os.path.isfile(path) else "", verdict)  # also False for a name that is too long


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
