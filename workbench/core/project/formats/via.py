"""VGG Image Annotator (VIA 2): one JSON file or project with regions per image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape


def recognition_score(tree: FileTree) -> int:
    return sum(data.count(b'"filename"') for _, data in json_files(tree, b'"shape_attributes"', b'"filename"'))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since regions have names."""
    files = [name for name, _ in json_files(tree, b'"shape_attributes"', b'"filename"')]
    return find_shapes(tree, files, _parse, options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree.path(name))
    images = content.get("_via_img_metadata", content)
    for image in images.values():
        shaped = ShapedImage(str(image["filename"]), split=split_of(name), lost=Counter())
        regions = image.get("regions") or []
        for region in regions.values() if isinstance(regions, dict) else regions:
            shape = _shape(region["shape_attributes"], _label(region.get("region_attributes")))
            if shape is None:
                shaped.lost[f"shapes of the kind {region['shape_attributes'].get('name')}"] += 1
            else:
                shaped.shapes.append(shape)
        yield shaped


def _label(attributes: Any) -> str:
    """Return the value of the first attribute; of a group of check boxes, the first that is checked."""
    for value in (attributes or {}).values():
        if isinstance(value, dict):
            value = next((key for key, on in value.items() if on), "")
        if value:
            return str(value)
    return "defect"


def _shape(shape: dict[str, Any], label: str) -> Shape | None:
    kind = shape.get("name")
    if kind in ("polygon", "polyline"):
        points = list(zip(shape["all_points_x"], shape["all_points_y"]))
        return Shape(label, "polygon" if kind == "polygon" else "line", points)
    if kind == "rect":
        x, y = shape["x"], shape["y"]
        return Shape(label, "box", [(x, y), (x + shape["width"], y + shape["height"])])
    if kind in ("circle", "ellipse"):
        radii = (shape["r"], shape["r"]) if kind == "circle" else (shape["rx"], shape["ry"])
        return Shape(label, "ellipse", [(shape["cx"], shape["cy"]), radii])
    if kind == "point":
        return Shape(label, "point", [(shape["cx"], shape["cy"])])
    return None
