"""Removal of classes from a project: in every mask their pixels become another class (merge) or background (delete).

The change keeps a copy of the original of each rewritten mask. An interrupted one can be finished or undone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from workbench.core.messages import Message
from workbench.core.problems import BadClass, MaskBroken, MaskHeld, NoteBroken, OriginalKept
from workbench.core.project import annotation
from workbench.core.project.file_transaction import (
    FileTransaction,
    State,
    Stopped,
    TransactionPlan,
    Unchanged,
    changes,
    new_name,
)
from workbench.core.project.image_row import indexed_masks, masks_with_classes, walk_stamps
from workbench.core.project.project import BACKGROUND, MAX_CLASS_ID, NOT_LABELED, ClassInfo, Project, ProjectFile
from workbench.core.project.storage import check_links, copy_file, file_stamp, move_file
from workbench.inference.io.file_access import remove_file
from workbench.inference.io.opencv import cv2


class ClassMergePlan(TransactionPlan):
    """Plan and state of a class change. into: target class id, or 0 for background. before: all classes."""

    state: State = "doing"
    removed: list[Annotated[int, Field(ge=1, le=MAX_CLASS_ID)]] = Field(min_length=1)
    into: int = Field(ge=0, le=MAX_CLASS_ID)
    before: list[ClassInfo]

    @property
    def names(self) -> list[str]:
        """Names of the removed classes."""
        return [info.name for info in self.before if info.id in self.removed]

    @property
    def target(self) -> str:
        """Name of the target class, "" for background."""
        return next((info.name for info in self.before if info.id == self.into), "")


class ClassMerge(FileTransaction[ClassMergePlan, str]):
    """Change of classes. Both classes stay in the project until all masks are rewritten: each mask is always valid."""

    kind, plan_type, what = "classes", ClassMergePlan, "what.classes"

    @classmethod
    def prepare(cls, project: Project, removed: list[int], into: int) -> ClassMerge:
        """Return a new change. Raises BadClass and errors of a project that cannot be written."""
        project.need_write(Message(cls.what))
        known = {info.id for info in project.classes}
        bad = [id for id in removed if id not in known or id == into]
        bad += [into] if into != BACKGROUND and into not in known else []
        if bad:
            raise BadClass(name=str(bad[0]), why=Message("class.no_such_id"))
        return cls(
            project,
            ClassMergePlan(
                name=new_name(project), state="preparing", removed=removed, into=into, before=project.classes
            ),
        )

    # --- files ------------------------------------------------------------------------------------

    def parts(self, stopped: Stopped) -> Sequence[str]:
        """Return the keys of the images, also of missing ones."""
        originals = self.originals()
        if self.plan.state == "undoing":
            return originals
        return sorted({*masks_with_classes(self.project, set(self.plan.removed), stopped), *originals})

    def place(self, part: str) -> int:
        """Rewrite a mask. One that is damaged stays as it is. Raises MaskHeld: the class may not be removed then."""
        project, path, original = self.project, self.project.mask_path(part), self.original(part)
        resumed = original.exists()  # from an interrupted pass: it may be the only intact copy
        try:
            if not resumed:
                copy_file(path, original, root=project.root)
            mask = annotation.read_mask(path)  # the original, or after an interruption the mask with later changes
        except (MaskBroken, FileNotFoundError) as error:
            if not resumed:
                remove_file(original, missing_ok=True)
            if isinstance(error, MaskHeld):
                raise
            raise Unchanged(error if isinstance(error, MaskBroken) else part) from error
        changed = self.rewritten(part, mask)
        if not np.array_equal(mask, changed):
            annotation.save_mask(project, part, changed)
        return original.stat().st_size

    def restore(self, part: str) -> int:
        """Restore the original of a mask, with the pixels painted since. One that cannot be moves to `journal/kept`."""
        project, path, original = self.project, self.project.mask_path(part), self.original(part)
        try:
            before = annotation.read_mask(original)
            changed = self.rewritten(part, before)
            mask = annotation.read_mask(path) if path.exists() else changed
            if mask.shape != before.shape:
                raise MaskBroken(path=str(path), why=Message("mask.size_changed"))
        except MaskHeld:
            raise  # the undo can be repeated
        except MaskBroken as problem:
            kept = str(self._keep(part))
            raise Unchanged(OriginalKept(path=str(path), why=problem.fields["why"], kept=kept)) from problem
        if np.array_equal(mask, changed):
            move_file(original, path, root=project.root)
        elif not np.array_equal(mask, before):
            annotation.save_mask(project, part, np.where(mask == changed, before, mask))
        return 0

    def rewritten(self, key: str, mask: np.ndarray) -> np.ndarray:
        return rewritten(mask, self.plan, _background_id(self.project, key))

    # --- project.json -----------------------------------------------------------------------------

    def after_do(self, file: ProjectFile) -> None:
        """Remove the classes; their ids are never reused."""
        file.classes = [info for info in file.classes if info.id not in self.plan.removed]
        file.retired_ids = sorted({*file.retired_ids, *self.plan.removed})

    def before_undo(self, file: ProjectFile) -> None:
        """Restore the removed classes at their positions. Classes added or changed since then are kept."""
        known, names = {info.id for info in file.classes}, {info.name for info in file.classes}
        classes = list(file.classes)
        for position, info in enumerate(self.plan.before):
            if info.id in self.plan.removed and info.id not in known:
                candidates = (info.name if i == 1 else f"{info.name} {i}" for i in range(1, 1000))
                free = next(name for name in candidates if name not in names)
                classes.insert(position, info.model_copy(update={"name": free}))
        file.classes = classes
        file.retired_ids = [id for id in file.retired_ids if id not in self.plan.removed]

    # --- originals --------------------------------------------------------------------------------

    def originals(self) -> list[str]:
        """Return the keys of the images whose original masks are kept."""
        names = walk_stamps(self.folder / "old" / "masks")
        return sorted(name.removesuffix(".png") for name in names if name.endswith(".png"))

    def original(self, key: str) -> Path:
        return self.old(f"masks/{key}.png")

    def delete(self) -> None:
        """Delete the change. An original goes to `journal/kept` if its mask is unreadable, gone or of another size."""
        check_links(self.project.root, self.folder / "plan.json")
        for key in self._unreplaced():
            self._keep(key)
        super().delete()

    def _unreplaced(self) -> Iterator[str]:
        keys = self.originals()
        indexed = indexed_masks(self.project) if keys else {}
        for key in keys:
            path = self.project.mask_path(key)
            if indexed.get(key, ("",))[0] == file_stamp(path):
                continue  # already read as a mask of its image's size, and not written since
            with contextlib.suppress(MaskBroken, FileNotFoundError):
                if annotation.read_mask(path).shape == annotation.read_mask(self.original(key)).shape:
                    continue
            yield key

    def _keep(self, key: str) -> Path:
        """Move an original to `journal/kept` and return its new path. Raises CannotWrite."""
        path = annotation.unused_backup_path(self.project, key, ".png")
        move_file(self.original(key), path, root=self.project.root)
        return path


# --- in a project ---------------------------------------------------------------------------------


def newest_merge(project: Project) -> ClassMerge | None:
    """Return the class change that is interrupted, or else the newest change if it is one. Raises ProjectBroken."""
    begun = (change for change in changes(project) if change.plan.state not in ("preparing", "undone"))
    for number, change in enumerate(begun):
        if isinstance(change, ClassMerge) and (number == 0 or change.plan.state != "done"):
            return change
    return None


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
