"""Label formats of other tools, one module per format. `find` reads labels under a path, `write` exports a project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.core.formats import folders, labelme, png
from workbench.core.formats.foreign import Batch, Options, Tree
from workbench.core.project import Project


@dataclass(frozen=True)
class Format:
    """Label format of another tool.

    weigh: returns the likely number of labels in a tree, judged by names. own_files: the labels are files beside the
    images. write: writes the labels of the given images into a folder and returns sentences on what the format cannot
    hold.
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
    """Return the format that fits most of a tree; label files take precedence over folder names. None if none fits."""
    weights = {format.name: format.weigh(tree) for format in FORMATS.values()}
    for own in (True, False):
        found = [f for f in FORMATS.values() if f.own_files is own and weights[f.name]]
        if found:
            return max(found, key=lambda format: weights[format.name])
        if own and png.holds_masks(tree):
            return FORMATS["png"]
    return None
