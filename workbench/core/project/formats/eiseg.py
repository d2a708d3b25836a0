"""EISeg JSON: one file per image, a list of polygons with a label each."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape

_KEYS = (b'"labelIdx"', b'"points"')


def recognition_score(tree: FileTree) -> int:
    return sum(1 for _ in json_files(tree, *_KEYS))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since polygons have names."""
    return find_shapes(tree, [name for name, _ in json_files(tree, *_KEYS)], _parse, options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree.path(name))
    if not isinstance(content, list):
        raise UnreadableLabel(Message("import.no_polygons"))
    polygons = [Shape(str(one["name"]), "polygon", one["points"]) for one in content]
    yield ShapedImage(name, shapes=polygons, split=split_of(name))
