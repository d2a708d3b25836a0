"""Label formats of other tools, one module per format. `find` reads labels under a path, `write` exports a project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.core.project.formats import class_folders, labelme, png_masks
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions
from workbench.core.project.project import Project


@dataclass(frozen=True)
class Format:
    """Label format of another tool.

    weigh: returns the likely number of labels in a tree, judged by names. own_files: the labels are files beside the
    images. write: writes the labels of the given images into a folder and returns sentences on what the format cannot
    hold.
    """

    name: str
    recognition_score: Callable[[FileTree], int]
    find: Callable[[FileTree, ImportOptions, dict[int, str]], ImportedLabels]
    write: Callable[[Project, Path, list[str]], list[str]] | None = None
    own_files: bool = True


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format("labelme", labelme.recognition_score, labelme.find, labelme.write),
        Format("png", png_masks.recognition_score, png_masks.find, png_masks.write),
        Format("folders", class_folders.recognition_score, class_folders.find, own_files=False),
    )
}


def detect_format(tree: FileTree) -> Format | None:
    """Return the format that fits most of a tree; label files take precedence over folder names. None if none fits."""
    weights = {format.name: format.recognition_score(tree) for format in FORMATS.values()}
    for own_files in (True, False):
        candidates = [f for f in FORMATS.values() if f.own_files is own_files and weights[f.name]]
        if candidates:
            return max(candidates, key=lambda format: weights[format.name])
        if own_files and png_masks.has_masks(tree):
            return FORMATS["png"]
    return None
