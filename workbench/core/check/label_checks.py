"""Checks of one image: unreadable files, contradictions of label and verdict, tiny regions and holes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np

from workbench.core import problems
from workbench.core.check.findings import LintFinding
from workbench.core.check.label_repairs import TINY, Component, specks, tiny_holes
from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import is_good
from workbench.core.project.project import DONT_CARE, Project


def check_image(project: Project, key: str) -> tuple[set[int], list[LintFinding]]:
    """Return the class ids painted on an image, and its findings. Decodes the image."""
    try:
        image = read(project.image_path(key))
    except problems.ImageBroken as problem:
        return set(), [LintFinding("broken_picture", key, problem.fields["why"], key)]
    size = (image.shape[1], image.shape[0])
    del image
    findings: list[LintFinding] = []
    note = annotation.Note()
    try:
        note = annotation.load_note(project, key)
    except problems.NoteBroken as problem:
        findings.append(LintFinding("broken_note", key, problem.fields["why"], key))
    findings += _folder_name(project, key, note)
    try:
        mask = annotation.load_mask(project, key, size)
    except problems.MaskBroken as problem:
        return set(), [*findings, LintFinding("broken_mask", key, problem.fields["why"], key)]
    except problems.MaskWrongSize as problem:
        fields = {name: problem.fields[name] for name in ("mask_width", "mask_height", "width", "height")}
        return set(), [*findings, LintFinding("wrong_size", key, Message("check.wrong_size", **fields), key)]
    except problems.MaskUnknownClass as problem:
        detail = Message("check.unknown_ids", ids=problem.fields["ids"])
        return set(), [*findings, LintFinding("unknown_ids", key, detail, key)]
    if mask is None:
        return set(), findings
    ids = {id for id in annotation.ids_in(mask) if 0 < id < DONT_CARE}
    names = {info.id: info.name for info in project.classes}
    return ids, [*findings, *_verdict_mistakes(key, note, ids), *_tiny_parts(key, mask, names)]


def _verdict_mistakes(key: str, note: annotation.Note, ids: set[int]) -> Iterator[LintFinding]:
    verdict = note.verdict
    if verdict is not None and is_good(verdict) and ids:
        yield LintFinding("painted_good", key, Message("check.painted_good", verdict=verdict), key)
    elif verdict is not None and not is_good(verdict) and not ids and note.status == "done":
        yield LintFinding("empty_defect", key, Message("check.empty_defect", verdict=verdict), key)


def _folder_name(project: Project, key: str, note: annotation.Note) -> Iterator[LintFinding]:
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
    yield LintFinding("folder_name", key, detail, key, name=name)


def _tiny_parts(key: str, mask: np.ndarray, names: dict[int, str]) -> Iterator[LintFinding]:
    found: dict[int, list[Component]] = {}
    for part in specks(mask):
        found.setdefault(part.id, []).append(part)
    for id, parts in sorted(found.items()):
        x, y = parts[0].corner
        detail = Message("check.islands", n=len(parts), name=names.get(id, str(id)), limit=TINY, x=x, y=y)
        yield LintFinding("island", key, detail, key, place=(x, y))
    holes = list(tiny_holes(mask))
    if holes:
        x, y = holes[0].corner
        detail = Message("check.holes", n=len(holes), limit=TINY, x=x, y=y)
        yield LintFinding("hole", key, detail, key, place=(x, y))
