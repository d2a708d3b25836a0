"""VGG Image Annotator: annotation files and projects of VIA 1 and 2 (JSON), projects of VIA 3, and its CSV files."""

from __future__ import annotations

import contextlib
import csv
import io
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    ImportedLabels,
    ImportOptions,
    Refusal,
    UnreadableLabel,
    entry_name,
    reason,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_tables import LARGEST
from workbench.core.project.formats.shape_labels import (
    ShapedImage,
    each_image,
    find_shapes,
    label_text,
    listed,
    set_verdict,
)
from workbench.core.project.formats.shapes import Shape, pairs, rotated
from workbench.core.project.formats.text_files import json_files, load, read_text
from workbench.inference.io.json_io import parse_json

_KEYS = (b'"shape_attributes"', b'"filename"')
_PROJECT_KEYS = (b'"metadata"', b'"attribute"', b'"vid"', b'"xy"')  # of VIA 3
_COLUMNS = ("filename", "region_shape_attributes", "region_attributes")
_POINT, _RECT, _CIRCLE, _ELLIPSE, _LINE, _POLYLINE, _POLYGON = range(1, 8)  # kinds of shapes of VIA 3


def recognition_score(tree: FileTree) -> int:
    return (
        sum(data.count(b'"filename"') for _, data in json_files(tree, *_KEYS))
        + sum(data.count(b'"fname"') for _, data in json_files(tree, *_PROJECT_KEYS))
        + sum(len({row["filename"] for row in rows}) for rows in _tables(tree).values())
    )


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since regions have names."""
    parsers = {name: _parse for name, _ in json_files(tree, *_KEYS)}
    parsers |= {name: _parse_project for name, _ in json_files(tree, *_PROJECT_KEYS)}
    parsers |= dict.fromkeys(_tables(tree), _parse_table)
    return find_shapes(tree, list(parsers), lambda tree, name: parsers[name](tree, name), options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a file of VIA 1 or 2, with their regions."""
    content = load(tree, name)
    images = content.get("_via_img_metadata", content).values()
    named = any(_has_names(image) for image in images)

    def parse(image: dict[str, Any]) -> ShapedImage:
        shaped = ShapedImage(label_text(image, "filename"), split=split_of(name), lost=Counter())
        regions = image.get("regions", [])
        for number, region in enumerate(regions.values() if isinstance(regions, dict) else listed(regions), 1):
            with shaped.entry("region", number):
                _add(region["shape_attributes"], region["region_attributes"], shaped, named=named)
        return shaped

    return each_image(tree, name, "image", images, parse)


def _has_names(image: Any) -> bool:
    """Return True if a region of an image has an attribute, which is its name."""
    regions = image.get("regions") if isinstance(image, dict) else None
    entries = regions.values() if isinstance(regions, dict) else regions if isinstance(regions, list) else ()
    return any(isinstance(region, dict) and bool(region.get("region_attributes")) for region in entries)


def _parse_table(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a CSV file, which has a row for each region and one for each image without regions."""
    images: dict[str, ShapedImage] = {}
    for number, row in enumerate(_tables(tree)[name], 2):
        file = row["filename"]
        if not file:
            yield Refusal(tree.path(name), Message("import.key_missing", key="filename"), entry_name("row", number))
            continue
        shaped = images.setdefault(file, ShapedImage(file, split=split_of(name), lost=Counter()))
        with shaped.entry("row", number):
            shape = parse_json((row["region_shape_attributes"] or "{}").encode())
            if shape:
                _add(shape, parse_json((row["region_attributes"] or "{}").encode()), shaped)
    yield from images.values()


def _tables(tree: FileTree) -> dict[str, list[dict[str, str]]]:
    """Return the rows of the CSV files."""
    found = {}
    for name in tree.with_suffix(".csv"):
        try:
            text = read_text(tree, tree.path(name), limit=LARGEST)
            if all(column in text[:2000] for column in _COLUMNS):
                found[name] = list(csv.DictReader(io.StringIO(text.lstrip("#"))))
        except (FileNotFoundError, ValueError, UnreadableLabel, csv.Error):
            continue
    return found


def _add(shape: dict[str, Any], attributes: Any, shaped: ShapedImage, *, named: bool = False) -> None:
    """Add a shape. named: other regions of the file have names, so that this one must have one too."""
    if named and not attributes:
        raise UnreadableLabel(Message("import.no_label"))
    shaped.shapes.append(_shape(shape, _label(attributes)))


def _label(attributes: Any) -> str:
    """Return the value of the first attribute; of a group of check boxes, the first that is checked.

    Raises UnreadableLabel if all attributes are empty.
    """
    for value in attributes.values():
        if isinstance(value, dict):
            value = next((key for key, on in value.items() if on), "")
        if value:
            return str(value)
    if attributes:
        raise UnreadableLabel(Message("import.no_label"))
    return "defect"


def _shape(shape: dict[str, Any], label: str) -> Shape:
    kind = shape.get("name")
    if kind in ("polygon", "polyline"):
        points = list(zip(shape["all_points_x"], shape["all_points_y"]))
        return Shape(label, "polygon" if kind == "polygon" else "line", points)
    if kind == "rect":
        x, y = shape["x"], shape["y"]
        return Shape(label, "box", [(x, y), (x + shape["width"], y + shape["height"])])
    if kind in ("circle", "ellipse"):
        radii = (shape["r"], shape["r"]) if kind == "circle" else (shape["rx"], shape["ry"])
        ellipse = Shape(label, "ellipse", [(shape["cx"], shape["cy"]), radii])
        return rotated(ellipse, math.degrees(float(shape.get("theta") or 0)))
    if kind == "point":
        return Shape(label, "point", [(shape["cx"], shape["cy"])])
    raise UnreadableLabel(Message("import.shape_kind", kind=kind))


def _parse_project(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a project of VIA 3. A view shows one image; other files are videos and sounds."""
    content = load(tree, name)
    if not all(isinstance(content.get(key), dict) for key in ("file", "metadata", "attribute")):
        raise UnreadableLabel(Message("import.no_polygons"))
    views: dict[str, str] = {}
    for number, view in (content.get("view") or {}).items():
        with contextlib.suppress(*FAULTS):  # its regions are refused below
            views[number] = str(view["fid_list"][0])
    images: dict[str, ShapedImage] = {}
    for number, file in content["file"].items():
        try:
            path = PureWindowsPath(str(file.get("fname") or file.get("src") or "")).as_posix()
            images[str(number)] = ShapedImage(PurePosixPath(path).name, split=split_of(name), lost=Counter())
        except FAULTS as error:
            yield Refusal(tree.path(name), reason(error), entry_name("image", number), ())
    for number, entry in content["metadata"].items():
        view = str(entry["vid"]) if isinstance(entry, dict) and "vid" in entry else ""
        shaped = images.get(views.get(view, view))
        if shaped is None:
            why = Message("import.unlisted_image", id=view[:80])
            yield Refusal(tree.path(name), why, entry_name("region", number))
            continue
        with shaped.entry("region", number):
            label = _project_label(entry.get("av"), content["attribute"])
            if entry.get("xy"):
                shaped.shapes.append(_project_shape(entry["xy"], label or "defect"))
            elif label:
                set_verdict(shaped, label)
            else:
                shaped.lost[Message("lost.image_tags")] += 1
    yield from images.values()


def _project_label(values: Any, attributes: dict[str, Any]) -> str:
    """Return the first value: the name of a chosen option, or a text."""
    for number, value in (values or {}).items():
        options = (attributes.get(number) or {}).get("options") or {}
        if value not in ("", None):
            first = str(value).split(",", 1)[0] if options else str(value)
            return str(options.get(first, value))
    return ""


def _project_shape(numbers: list[Any], label: str) -> Shape:
    kind, *values = numbers
    if kind == _RECT:
        x, y, width, height = values
        return Shape(label, "box", [(x, y), (x + width, y + height)])
    if kind == _CIRCLE:
        return Shape(label, "ellipse", [values[:2], (values[2], values[2])])
    if kind == _ELLIPSE:
        return Shape(label, "ellipse", [values[:2], values[2:4]])
    names = {_POINT: "point", _LINE: "line", _POLYLINE: "line", _POLYGON: "polygon"}
    if kind not in names:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    return Shape(label, names[kind], list(pairs(values)))
