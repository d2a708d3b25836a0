"""Removal of images and sources from a project, into `journal/trash`, from where they can be restored.

A removal is a folder with `plan.json` and the moved files below their paths in the project. Images of an external
source are never moved: they are hidden by ignore patterns. `recover` reverts interrupted removals and restorations.
"""

from __future__ import annotations

import errno
import glob
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict

from workbench.core.json_files import load_versioned
from workbench.core.messages import Message
from workbench.core.names import free_path
from workbench.core.problems import CannotWrite, NotInProject, Problem, ProjectBroken
from workbench.core.project.project import Project
from workbench.core.project.sources import Source, walk
from workbench.core.project.storage import LABEL_FILES, check_links, inside, unused_backup_path, write_json
from workbench.core.stored_model import StoredModel
from workbench.inference.io.atomic_write import make_folder, replace_path

Progress = Callable[[int, int], None]
FORMAT = 1
_FOLDERS = frozenset({"pictures", *(folder for folder, _ in LABEL_FILES)})


class Removal(StoredModel):
    """Content of a removal's plan.json.

    keys: removed images. files: paths of the moved files in the project. ignored: ignore patterns added, by source.
    source: the removed source, at `position` in the list.
    """

    model_config = ConfigDict(extra="ignore")
    format: Literal[1] = FORMAT
    name: str = ""  # of the folder
    when: str = ""
    state: Literal["doing", "done", "undoing"] = "doing"
    keys: list[str] = []
    files: list[str] = []
    ignored: dict[str, list[str]] = {}
    source: Source | None = None
    position: int = 0


def trash_folder(project: Project) -> Path:
    return project.root / "journal" / "trash"


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
    return _remove(project, Removal(files=list(files)), lambda done, total: None)


def restore(project: Project, name: str, progress: Progress = lambda done, total: None) -> list[Path]:
    """Restore a removal, by the name of its folder.

    A file whose place is taken by now goes to `journal/kept`; these copies are returned. Raises NotInProject,
    CannotWrite, ProjectReadOnly.
    """
    project.need_write(Message("what.removal"))
    folder = inside(trash_folder(project), name)
    try:
        plan = load_versioned(folder / "plan.json", Removal, FORMAT, ProjectBroken)
    except FileNotFoundError:
        raise NotInProject(name=name) from None
    _write(project, folder, plan.model_copy(update={"state": "undoing"}))
    kept: list[Path] = []
    try:
        for number, file in enumerate(plan.files, 1):
            copy, target = _paths(project, folder, file)
            if os.path.lexists(copy):
                if os.path.lexists(target):
                    target = unused_backup_path(project.root, Path(file).stem, target.suffix)
                    kept.append(target)
                move_file(copy, target)
            progress(number, len(plan.files))
    except OSError as error:
        raise CannotWrite.of(folder, error) from error
    _restore_sources(project, plan)
    project.save()
    delete_permanently(project, name)
    return kept


def delete_permanently(project: Project, name: str) -> None:
    """Delete a removal with its files. Raises CannotWrite, ProjectReadOnly."""
    project.need_write(Message("what.removal"))
    folder = inside(trash_folder(project), name)
    try:
        check_links(project.root, folder / "plan.json")
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise CannotWrite.of(folder, error) from error


def recover(project: Project) -> list[Removal]:
    """Restore removals that were interrupted by the end of the process, and return them."""
    interrupted = [plan for plan in removals(project) if plan.state != "done"]
    for plan in interrupted:
        restore(project, plan.name)
    return interrupted


def _remove(project: Project, plan: Removal, progress: Progress) -> Removal:
    """Carry out a plan; on failure restore everything and raise the problem."""
    project.need_write(Message("what.removal"))
    folder = free_path(trash_folder(project), time.strftime("%Y%m%d-%H%M%S"))
    plan.name, plan.when = folder.name, time.strftime("%Y-%m-%dT%H:%M:%S")
    _write(project, folder, plan)
    try:
        moved = list(_moves(project, folder, plan.files, progress))
        _hide(project, plan)
        project.save()
        plan.files, plan.state = moved, "done"
        _write(project, folder, plan)
    except (OSError, Problem) as error:
        _restore_sources(project, plan)
        restore(project, plan.name)
        if isinstance(error, OSError):
            raise CannotWrite.of(folder, error) from error
        raise
    return plan


def _moves(project: Project, folder: Path, files: Iterable[str], progress: Progress) -> Iterator[str]:
    """Move files to the trash and yield those that exist."""
    files = list(files)
    for number, file in enumerate(files, 1):
        copy, path = _paths(project, folder, file)
        if os.path.lexists(path):
            move_file(path, copy)
            yield file
        progress(number, len(files))


def _hide(project: Project, plan: Removal) -> None:
    """Add the ignore patterns of a plan, and take its source from the list."""
    project.refresh()
    for source in project.file.sources:
        new = [pattern for pattern in plan.ignored.get(source.name, []) if pattern not in source.ignore]
        source.ignore = [*source.ignore, *new]
    if plan.source is not None:
        project.file.sources = [source for source in project.file.sources if source.name != plan.source.name]


def _restore_sources(project: Project, plan: Removal) -> None:
    project.refresh()
    for source in project.file.sources:
        patterns = set(plan.ignored.get(source.name, ()))
        source.ignore = [pattern for pattern in source.ignore if pattern not in patterns]
    if plan.source is not None and plan.source.name not in {source.name for source in project.file.sources}:
        project.file.sources.insert(plan.position, plan.source)


def _paths(project: Project, folder: Path, file: str) -> tuple[Path, Path]:
    """Return the path of a file in the trash, and in the project. Raises ProjectBroken for a path elsewhere."""
    if file.partition("/")[0] not in _FOLDERS:
        raise ProjectBroken(path=str(folder / "plan.json"), why=Message("file.leaves_project", path=repr(file)))
    copy, path = inside(folder, file), inside(project.root, file)
    for target in (copy, path):
        check_links(project.root, target)
    return copy, path


def move_file(path: Path, target: Path) -> None:
    """Move a file into a folder that is created if needed. Raises OSError."""
    make_folder(target.parent)
    try:
        replace_path(path, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.move(path, target)


def _write(project: Project, folder: Path, plan: Removal) -> None:
    write_json(folder / "plan.json", plan.model_dump(mode="json"), root=project.root)
