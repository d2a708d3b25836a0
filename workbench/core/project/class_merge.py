"""Removal of classes from a project: in every mask their pixels become another class (merge) or background (delete).

`journal/class-change/` holds the plan and a copy of the original of each rewritten mask. An interrupted change can be
finished or undone, and a finished one can be undone exactly until the next begins.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import ConfigDict, Field

from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.problems import BadClass, CannotWrite, MaskBroken, NoteBroken, OriginalKept, Problem, ProjectBroken
from workbench.core.project import annotation
from workbench.core.project.image_index import ImageIndex
from workbench.core.project.image_row import Numbers, walk_stamps
from workbench.core.project.project import BACKGROUND, MAX_CLASS_ID, NOT_LABELED, ClassInfo, Project
from workbench.core.project.storage import check_links, copy_file, file_stamp, inside, write_json
from workbench.core.stored_model import StoredModel
from workbench.inference.io.atomic_write import make_folder, replace_path
from workbench.inference.io.opencv import cv2

Progress = Callable[[int, int], None]
Stopped = Callable[[], bool]
FORMAT = 1


class ClassMergePlan(StoredModel):
    """Plan and state of a class change. into: target class id, or 0 for background."""

    model_config = ConfigDict(extra="ignore")
    format: Literal[1] = FORMAT
    removed: list[Annotated[int, Field(ge=1, le=MAX_CLASS_ID)]] = Field(min_length=1)
    into: int = Field(ge=0, le=MAX_CLASS_ID)
    state: Literal["doing", "done", "undoing"] = "doing"
    before: list[ClassInfo]

    @property
    def names(self) -> list[str]:
        """Names of the removed classes."""
        return [info.name for info in self.before if info.id in self.removed]

    @property
    def target(self) -> str:
        """Name of the target class, "" for background."""
        return next((info.name for info in self.before if info.id == self.into), "")


@dataclass(frozen=True)
class ClassMergeResult:
    """Result of a pass over the masks. complete: the pass was not stopped. nbytes: disk space of the originals."""

    masks: int
    complete: bool
    nbytes: int = 0
    problems: tuple[Problem, ...] = ()  # of masks that could not be read or restored and remain unchanged


def folder_of(project: Project) -> Path:
    return project.root / "journal" / "class-change"


def load_plan(project: Project) -> ClassMergePlan | None:
    """Return the class change that is in progress or can be undone; None if there is none. Raises ProjectBroken."""
    path = folder_of(project) / "plan.json"
    try:
        return load_versioned(path, ClassMergePlan, FORMAT, ProjectBroken)
    except FileNotFoundError:
        return None


def begin(project: Project, removed: list[int], into: int) -> ClassMergePlan:
    """Write a new plan and discard the originals of the previous change. Raises BadClass and errors of writing."""
    project.need_write(Message("what.classes"))
    known = {info.id for info in project.classes}
    bad = [id for id in removed if id not in known or id == into]
    bad += [into] if into != BACKGROUND and into not in known else []
    if bad:
        raise BadClass(name=str(bad[0]), why=Message("class.no_such_id"))
    delete_backup(project)
    plan = ClassMergePlan(removed=list(removed), into=into, before=list(project.classes))
    write_plan(project, plan)
    return plan


def write_plan(project: Project, plan: ClassMergePlan) -> None:
    write_json(folder_of(project) / "plan.json", plan.model_dump(mode="json"), root=project.root)


def delete_backup(project: Project) -> None:
    """Delete the plan and the originals; the plan first, so that a plan never exists without its originals.

    An original is moved to `journal/kept` if its mask is unreadable, missing or of another size.
    """
    folder = folder_of(project)
    check_links(project.root, folder / "plan.json")
    try:
        for key in _unreplaced(project):
            _back_up_original(project, key)
        (folder / "plan.json").unlink(missing_ok=True)
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise CannotWrite.of(folder, error) from error


def apply_plan(project: Project, plan: ClassMergePlan, progress: Progress, stopped: Stopped) -> ClassMergeResult:
    """Rewrite every mask that contains a removed class. The pass can be interrupted and repeated.

    Both classes stay in the project until `finalize`, so that each mask is valid at any time.
    """
    keys = sorted(set(masks_with_classes(project, set(plan.removed), stopped)) | set(_originals(project)))
    problems: list[Problem] = []
    nbytes = count = 0
    for i, key in enumerate(keys):
        if stopped():
            return ClassMergeResult(count, False, nbytes, tuple(problems))
        path, original = project.mask_path(key), _original(project, key)
        resumed = original.exists()  # from an interrupted pass: it may be the only intact copy
        try:
            check_links(project.root, path)
            check_links(project.root, original)
            if not resumed:
                copy_file(path, original)
            mask = annotation.read_mask(path)  # the original, or after an interruption the mask with later changes
            changed = rewritten(mask, plan, _background_id(project, key))
            if not np.array_equal(mask, changed):
                annotation.save_mask(project, key, changed)
            nbytes += original.stat().st_size
            count += 1
        except (MaskBroken, FileNotFoundError) as problem:
            if not resumed:
                original.unlink(missing_ok=True)
            if isinstance(problem, Problem):
                problems.append(problem)
        progress(i + 1, len(keys))
    return ClassMergeResult(count, not stopped(), nbytes, tuple(problems))


def undo(project: Project, plan: ClassMergePlan, progress: Progress, stopped: Stopped) -> ClassMergeResult:
    """Restore the originals. Pixels painted after the change are kept.

    An original that cannot be restored is moved to `journal/kept`. The pass can be interrupted and repeated: a restored
    original is no longer among the originals.
    """
    keys = list(_originals(project))
    problems: list[Problem] = []
    for i, key in enumerate(keys):
        if stopped():
            return ClassMergeResult(i, False, problems=tuple(problems))
        path, original = project.mask_path(key), _original(project, key)
        try:
            before = annotation.read_mask(original)
            changed = rewritten(before, plan, _background_id(project, key))
            mask = annotation.read_mask(path) if path.exists() else changed
            if mask.shape != before.shape:
                raise MaskBroken(path=str(path), why=Message("mask.size_changed"))
            if np.array_equal(mask, changed):
                check_links(project.root, path)
                check_links(project.root, original)
                make_folder(path.parent)
                replace_path(original, path)
            elif not np.array_equal(mask, before):
                annotation.save_mask(project, key, np.where(mask == changed, before, mask))
        except MaskBroken as problem:
            try:
                backup = _back_up_original(project, key)
            except OSError as error:
                raise CannotWrite.of(original, error) from error
            problems.append(OriginalKept(path=str(path), why=problem.fields["why"], kept=str(backup)))
        except OSError as error:
            raise CannotWrite.of(path, error) from error
        progress(i + 1, len(keys))
    return ClassMergeResult(len(keys), True, problems=tuple(problems))


def finalize(project: Project, plan: ClassMergePlan) -> None:
    """Remove the classes from project.json after all masks are rewritten; their ids are never reused."""
    file = project.file
    classes, retired = list(file.classes), list(file.retired_ids)
    file.classes = [info for info in classes if info.id not in plan.removed]
    file.retired_ids = sorted({*retired, *plan.removed})
    try:
        project.save()
        write_plan(project, plan.model_copy(update={"state": "done"}))
    except Problem:
        file.classes, file.retired_ids = classes, retired
        raise


def begin_undo(project: Project, plan: ClassMergePlan) -> ClassMergePlan:
    """Restore the removed classes at their positions before their masks are restored.

    Classes added or changed since then are kept. Returns the plan with the state "undoing".
    """
    project.need_write(Message("what.classes"))
    plan = plan.model_copy(update={"state": "undoing"})
    write_plan(project, plan)
    file = project.file
    known = {info.id for info in file.classes}
    names = {info.name for info in file.classes}
    classes = list(file.classes)
    for position, info in enumerate(plan.before):
        if info.id in plan.removed and info.id not in known:
            candidates = (info.name if i == 1 else f"{info.name} {i}" for i in range(1, 1000))
            free = next(name for name in candidates if name not in names)
            classes.insert(position, info.model_copy(update={"name": free}))
    file.classes = classes
    file.retired_ids = [id for id in file.retired_ids if id not in plan.removed]
    project.save()
    return plan


def rewritten(mask: np.ndarray, plan: ClassMergePlan, background: int) -> np.ndarray:
    """Return the mask, uint8 (H, W), with the removed ids replaced; `background` replaces deleted classes."""
    table = np.arange(256, dtype=np.uint8)
    table[plan.removed] = plan.into if plan.into != BACKGROUND else background
    return cv2.LUT(mask, table)


def _background_id(project: Project, key: str) -> int:
    try:
        explicit = annotation.load_note(project, key).explicit_background
    except NoteBroken:
        explicit = False
    return NOT_LABELED if explicit else BACKGROUND


def masks_with_classes(project: Project, classes: set[int], stopped: Stopped = lambda: False) -> dict[str, set[int]]:
    """Return the ids among `classes` of each mask that has one, also of missing images; from the index where it can."""
    indexed = _indexed_masks(project)
    found: dict[str, set[int]] = {}
    for name, stamp in walk_stamps(project.root / "masks").items():
        if stopped():
            break
        if not name.endswith(".png"):
            continue
        key = name.removesuffix(".png")
        indexed_stamp, counts = indexed.get(key, ("", ()))
        if indexed_stamp == stamp:
            ids = {id for id, _ in counts}
        else:
            try:
                ids = set(annotation.ids_in(annotation.read_mask(project.mask_path(key))))
            except (MaskBroken, FileNotFoundError):
                continue
        if ids & classes:
            found[key] = ids & classes
    return found


def _indexed_masks(project: Project) -> dict[str, tuple[str, Numbers]]:
    """Return the indexed stamp and pixel counts of each mask; empty if the index cannot be read."""
    with contextlib.suppress(sqlite3.Error, OSError), contextlib.closing(ImageIndex(project)) as index:
        return index.mask_stamps()
    return {}


def _originals(project: Project) -> list[str]:
    names = walk_stamps(folder_of(project) / "masks")
    return sorted(name.removesuffix(".png") for name in names if name.endswith(".png"))


def _original(project: Project, key: str) -> Path:
    return inside(folder_of(project) / "masks", key + ".png")


def _unreplaced(project: Project) -> Iterator[str]:
    """Yield the keys of originals whose mask is now unreadable, missing or of another size."""
    keys = _originals(project)
    if not keys:
        return
    indexed = _indexed_masks(project)
    for key in keys:
        path = project.mask_path(key)
        if indexed.get(key, ("",))[0] == file_stamp(path):
            continue  # already read as a mask of its image's size, and not written since
        with contextlib.suppress(MaskBroken, FileNotFoundError):
            if annotation.read_mask(path).shape == annotation.read_mask(_original(project, key)).shape:
                continue
        yield key


def _back_up_original(project: Project, key: str) -> Path:
    """Move an original to `journal/kept` and return its new path. Raises OSError."""
    path = annotation.unused_backup_path(project, key, ".png")
    check_links(project.root, path)
    check_links(project.root, _original(project, key))
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_path(_original(project, key), path)
    return path
