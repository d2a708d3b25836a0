"""DeepPCB: text files with one box in pixels and a class number per line, for images X_test beside templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, UnreadableLabel
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.formats.text_files import read_text

_LINE = re.compile(r"(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+([1-6])\s*")
_LARGEST = 16 << 20  # bytes of a label file
_NAMES = ("open", "short", "mousebite", "spur", "copper", "pin-hole")  # of the numbers from 1


def recognition_score(tree: FileTree) -> int:
    return len(_files(tree))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since the numbers of classes are fixed."""
    return find_shapes(tree, _files(tree), _parse, options)


def _files(tree: FileTree) -> list[str]:
    stems = {PurePosixPath(name).stem for name in tree.images}
    names = [name for name in tree.with_suffix(".txt") if f"{PurePosixPath(name).stem}_test" in stems]
    return [name for name in names if _boxes(tree, name)]


def _boxes(tree: FileTree, name: str) -> list[tuple[int, ...]]:
    """Return (left, top, right, bottom, class number) of the boxes; [] for another kind of file."""
    try:
        lines = read_text(tree, tree.path(name), limit=_LARGEST).splitlines()
    except (FileNotFoundError, ValueError, UnreadableLabel):
        return []
    matches = [_LINE.fullmatch(line) for line in lines if line.strip()]
    return [tuple(map(int, match.groups())) for match in matches if match] if all(matches) else []


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    shaped = ShapedImage(f"{PurePosixPath(name).stem}_test")
    for left, top, right, bottom, number in _boxes(tree, name):
        shaped.shapes.append(Shape(_NAMES[number - 1], "box", [(left, top), (right, bottom)]))
    yield shaped
