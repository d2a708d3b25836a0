"""Create ML JSON: a list of images with boxes given by their centers."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape

_KEYS = (b'"image"', b'"annotations"', b'"coordinates"')


def recognition_score(tree: FileTree) -> int:
    return sum(data.count(b'"image"') for _, data in json_files(tree, *_KEYS))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since boxes have names."""
    return find_shapes(tree, [name for name, _ in json_files(tree, *_KEYS)], _parse, options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    for image in load(tree.path(name)):
        shaped = ShapedImage(str(image["image"]), split=split_of(name))
        for entry in image.get("annotations") or []:
            box = entry["coordinates"]
            x, y, width, height = (float(box[key]) for key in ("x", "y", "width", "height"))
            corners = [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)]
            shaped.shapes.append(Shape(str(entry["label"]), "box", corners))
        yield shaped
