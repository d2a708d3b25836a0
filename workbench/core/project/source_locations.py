"""Locations of a project's image folders: report, and change after a folder was moved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.core.problems import FolderMissing, NotInProject, SourceMismatch
from workbench.core.project.project import Project
from workbench.core.project.sources import Source, relative_path, walk


@dataclass(frozen=True)
class SourceReport:
    """One source of a project. name: "" for the project's own images. hidden: number of ignore patterns."""

    name: str
    path: Path
    relative: str
    missing: bool
    images: int
    hidden: int


def source_reports(project: Project) -> list[SourceReport]:
    """Return the sources of a project with the numbers of their images. Lists folders."""
    root = project.root
    return [
        SourceReport(
            source.name,
            source.folder(root),
            source.relative,
            source.missing(root),
            len(source.images(root)),
            len(source.ignore),
        )
        for source in project.file.sources
    ]


def find_source(project: Project, name: str) -> Source:
    """Return the external source with a name. Raises NotInProject."""
    for source in project.file.sources:
        if source.name == name and name:
            return source
    raise NotInProject(name=name)


def forget_source(project: Project, name: str) -> None:
    """Remove a source whose images have no labels. Raises NotInProject and errors of writing."""
    project.refresh()
    project.file.sources.remove(find_source(project, name))
    project.save()


def locate_source(project: Project, name: str, folder: Path | str, *, check: bool = True) -> Source:
    """Set the folder of a source, after it was moved or renamed. Keys and labels stay as they are.

    check: refuse a folder that contains none of the labeled images. Raises NotInProject, FolderMissing, SourceMismatch
    and errors of writing.
    """
    project.refresh()
    source, path = find_source(project, name), Path(folder).resolve()
    if not path.is_dir():
        raise FolderMissing(path=str(folder))
    if check and not holds_labeled_images(project, name, path):
        raise SourceMismatch(name=name, path=str(path))
    source.path, source.relative = str(path), relative_path(path, project.root)
    project.save()
    return source


def holds_labeled_images(project: Project, name: str, folder: Path) -> bool:
    """Return True if a folder contains labeled images of a source, or if the source has none."""
    labeled = _labeled_images(project, name)
    return not labeled or any(folder.joinpath(*PurePosixPath(relative).parts).exists() for relative in labeled)


def _labeled_images(project: Project, name: str) -> set[str]:
    """Return the paths, in a source, of the images that have a mask or a note."""
    found = set()
    for folder in ("masks", "notes"):
        root = project.root / folder / f"@{name}"
        found |= {os.path.splitext(relative)[0] for relative, _ in walk(root)}
    return found
