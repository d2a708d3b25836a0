"""Removal of images and sources from a project, into `journal/trash`, from where they can be restored.

Images of an external source are never moved: they are hidden by ignore patterns. `recover` reverts interrupted removals
and restorations.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.problems import NotInProject, Problem, ProjectBroken
from workbench.core.project.file_transaction import FORMAT, FileTransaction, Progress, Stopped, TransactionPlan
from workbench.core.project.project import Project, ProjectFile
from workbench.core.project.sources import Source, ignore_images, list_images, walk
from workbench.core.project.storage import LABEL_FILES, inside, move_file, unused_backup_path
from workbench.core.text_patterns import free_path

_FOLDERS = frozenset({"pictures", *(folder for folder, _ in LABEL_FILES)})


class Removal(TransactionPlan):
    """Content of a removal's plan.json.

    keys: removed images. files: paths of the moved files in the project. ignored: ignore patterns added, by source.
    source: the removed source, at `position` in the list.
    """

    when: str = ""
    keys: list[str] = []
    files: list[str] = []
    ignored: dict[str, list[str]] = {}
    source: Source | None = None
    position: int = 0


class _Removing(FileTransaction[Removal, str]):
    """Removal of files. kept: paths of the files that could not return to their places."""

    kind, plan_type, what, parent = "removal", Removal, "what.removal", ("journal", "trash")

    def __init__(self, project: Project, plan: Removal) -> None:
        super().__init__(project, plan)
        self.kept: list[Path] = []
        self._moved: list[str] = []

    def parts(self, stopped: Stopped) -> Sequence[str]:
        return self.plan.files

    def target(self, path: str) -> Path:
        if path.partition("/")[0] not in _FOLDERS:
            raise ProjectBroken(path=str(self.folder), why=Message("file.leaves_project", path=repr(path)))
        return super().target(path)

    def place(self, part: str) -> int:
        target = self.target(part)
        if os.path.lexists(target):
            move_file(target, self.old(part), root=self.project.root)
            self._moved.append(part)
        return 0

    def restore(self, part: str) -> int:
        target, old = self.target(part), self.old(part)
        if os.path.lexists(old):
            if os.path.lexists(target):
                target = unused_backup_path(self.project.root, Path(part).stem, target.suffix)
                self.kept.append(target)
            move_file(old, target, root=self.project.root)
        return 0

    def after_do(self, file: ProjectFile) -> None:
        self.plan.files = self._moved
        ignore_images(file.sources, self.plan.ignored)
        if self.plan.source is not None:
            file.sources = [source for source in file.sources if source.name != self.plan.source.name]

    def after_undo(self, file: ProjectFile) -> None:
        list_images(file.sources, self.plan.ignored)
        if self.plan.source is not None and self.plan.source.name not in {source.name for source in file.sources}:
            file.sources.insert(self.plan.position, self.plan.source)


def trash_folder(project: Project) -> Path:
    return project.root.joinpath(*_Removing.parent)


def removals(project: Project) -> list[Removal]:
    """Return the removals that can be restored, newest first. Unreadable ones are left out."""
    found = []
    for path in sorted(trash_folder(project).glob("*/plan.json"), reverse=True):
        try:
            plan = load_versioned(path, Removal, FORMAT, ProjectBroken)
        except (Problem, FileNotFoundError):
            continue
        found.append(plan.model_copy(update={"name": path.parent.name}))
    return found


def remove_images(project: Project, keys: Sequence[str], progress: Progress = lambda done, total: None) -> Removal:
    """Remove images with their masks, notes and suggestions. Raises CannotWrite, ProjectReadOnly; nothing is removed.

    Files in the project's own `pictures/` are moved to the trash; those of other sources stay where they are.
    """
    ignored: dict[str, list[str]] = {}
    files: list[str] = []
    for key in keys:
        source, _, relative = key[1:].partition("/") if key.startswith("@") else ("", "", key)
        if source:
            ignored.setdefault(source, []).append(glob.escape(relative))
        else:
            files.append(f"pictures/{key}")
        files += [f"{folder}/{key}{suffix}" for folder, suffix in LABEL_FILES]
    return _remove(project, Removal(keys=list(keys), files=files, ignored=ignored), progress)


def remove_source(project: Project, name: str, progress: Progress = lambda done, total: None) -> Removal:
    """Remove an external source and the masks, notes and suggestions of its images. Its folder is not changed.

    Raises NotInProject, CannotWrite, ProjectReadOnly.
    """
    names = [source.name for source in project.file.sources]
    if not name or name not in names:
        raise NotInProject(name=name)
    position = names.index(name)
    source = project.file.sources[position]
    files = [
        f"{folder}/@{name}/{relative}"
        for folder, _ in LABEL_FILES
        for relative, _ in walk(project.root / folder / f"@{name}")
    ]
    keys = [source.prefix + relative for relative in source.images(project.root)]
    return _remove(project, Removal(keys=keys, files=files, source=source, position=position), progress)


def strays_removed(project: Project, files: Sequence[str]) -> Removal:
    """Remove label files ("masks/a.png.png", "notes/…") whose image is not in the project, or that are unreadable."""
    return _remove(project, Removal(files=list(files)))


def restore(project: Project, name: str, progress: Progress = lambda done, total: None) -> list[Path]:
    """Restore a removal, by the name of its folder.

    A file whose place is taken by now goes to `journal/kept`; these copies are returned. Raises NotInProject,
    CannotWrite, ProjectReadOnly.
    """
    project.need_write(Message("what.removal"))
    try:
        plan = load_versioned(inside(trash_folder(project), name) / "plan.json", Removal, FORMAT, ProjectBroken)
    except FileNotFoundError:
        raise NotInProject(name=name) from None
    removing = _Removing(project, plan.model_copy(update={"name": name}))
    removing.revert(progress)
    removing.delete()
    return removing.kept


def delete_permanently(project: Project, name: str) -> None:
    """Delete a removal with its files. Raises CannotWrite, ProjectReadOnly."""
    project.need_write(Message("what.removal"))
    _Removing(project, Removal(name=name)).delete()


def recover(project: Project) -> list[Removal]:
    """Restore removals that were interrupted by the end of the process, and return them."""
    interrupted = [plan for plan in removals(project) if plan.state != "done"]
    for plan in interrupted:
        restore(project, plan.name)
    return interrupted


def _remove(project: Project, plan: Removal, progress: Progress = lambda done, total: None) -> Removal:
    """Carry out a plan; on failure restore everything and raise the problem."""
    plan.name = free_path(trash_folder(project), time.strftime("%Y%m%d-%H%M%S")).name
    plan.when = time.strftime("%Y-%m-%dT%H:%M:%S")
    _Removing(project, plan).execute(progress)
    return plan
