"""Labels of other tools: one module a format. `find` reads what lies under a path, `write` writes a project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.core.formats import folders, labelme, png
from workbench.core.formats.foreign import Batch, Options, Tree
from workbench.core.project import Project


@dataclass(frozen=True)
class Format:
    """weigh: how many labels a tree seems to hold, from names alone. own_files: its labels are files beside pictures.

    write: puts the labels of the given pictures into a folder and returns sentences on what the format cannot hold.
    """

    name: str
    weigh: Callable[[Tree], int]
    find: Callable[[Tree, Options, dict[int, str]], Batch]
    write: Callable[[Project, Path, list[str]], list[str]] | None = None
    own_files: bool = True


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format("labelme", labelme.weigh, labelme.find, labelme.write),
        Format("png", png.weigh, png.find, png.write),
        Format("folders", folders.weigh, folders.find, own_files=False),
    )
}


def recognise(tree: Tree) -> Format | None:
    """The format that explains most of a tree. Label files count before folder names; None if nothing is known."""
    weights = {format.name: format.weigh(tree) for format in FORMATS.values()}
    for own in (True, False):
        found = [f for f in FORMATS.values() if f.own_files is own and weights[f.name]]
        if found:
            return max(found, key=lambda format: weights[format.name])
        if own and png.holds_masks(tree):
            return FORMATS["png"]
    return None
