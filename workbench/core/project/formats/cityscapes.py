"""Cityscapes JSON: one file per image, a list of polygons that are painted over one another in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import BACKGROUND, ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape

_KEYS = (b'"imgHeight"', b'"objects"', b'"polygon"')
_ENDINGS = ("_polygons", "_gtFine", "_gtCoarse", "_gtBboxCityPersons")
_IMAGE_ENDING = "_leftImg8bit"
_GROUP = "group"  # end of the label of several objects drawn as one: "cargroup"


def recognition_score(tree: FileTree) -> int:
    return sum(1 for _ in json_files(tree, *_KEYS))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since polygons have names."""
    stems = {PurePosixPath(image).stem for image in tree.images}
    return find_shapes(tree, [name for name, _ in json_files(tree, *_KEYS)], partial(_parse, stems), options)


def _parse(stems: set[str], tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree.path(name))
    objects = content.get("objects") if isinstance(content, dict) else None
    if not isinstance(objects, list):
        raise UnreadableLabel(Message("import.no_polygons"))
    shaped = ShapedImage(_image_name(name, stems), split=split_of(name), lost=Counter())
    width, height = content.get("imgWidth"), content.get("imgHeight")
    if isinstance(width, int) and isinstance(height, int) and width > 0 < height:
        shaped.size = width, height
    named = {str(one.get("label")) for one in objects}
    for one in objects:
        label = str(one["label"])
        if one.get("deleted"):
            continue
        if label.endswith(_GROUP) and label.removesuffix(_GROUP) in named:
            shaped.lost["marks of groups"] += 1
            label = label.removesuffix(_GROUP)
        shaped.shapes.append(Shape(BACKGROUND if label == "unlabeled" else label, "polygon", one["polygon"]))
    yield shaped


def _image_name(name: str, stems: set[str]) -> str:
    """Return the name of the image: "a_gtFine_polygons.json" belongs to "a_leftImg8bit.png"."""
    path = PurePosixPath(name)
    stem = path.stem
    for ending in _ENDINGS:
        stem = stem.removesuffix(ending)
    if stem + _IMAGE_ENDING in stems:
        stem += _IMAGE_ENDING
    return str(path.with_name(stem))
