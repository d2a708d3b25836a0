"""VGG Image Annotator: annotation files and projects of VIA 1 and 2 (JSON), projects of VIA 3, and its CSV files."""

from __future__ import annotations

import contextlib
import csv
import io
import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
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
    parsers |= {name: partial(_parse_table, rows=rows) for name, rows in _tables(tree).items()}
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


def _parse_table(tree: FileTree, name: str, rows: list[dict[str, str]]) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a CSV file, which has a row for each region and one for each image without regions."""
    images: dict[str, ShapedImage] = {}
    named = any((row["region_attributes"] or "{}").strip() != "{}" for row in rows)
    for number, row in enumerate(rows, 2):
        file = row["filename"]
        if not file:
            yield Refusal(tree.path(name), Message("import.key_missing", key="filename"), entry_name("row", number))
            continue
        shaped = images.setdefault(file, ShapedImage(file, split=split_of(name), lost=Counter()))
        with shaped.entry("row", number):
            shape = parse_json((row["region_shape_attributes"] or "{}").encode())
            if shape:
                _add(shape, parse_json((row["region_attributes"] or "{}").encode()), shaped, named=named)
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


def _add(shape: dict[str, Any], attributes: Any, shaped: ShapedImage, *, named: bool) -> None:
    """Add a shape. named: other regions of the file have names, so that this one must have one too."""
    if named and not attributes:
        raise UnreadableLabel(Message("import.no_label"))
    shaped.shapes.append(_shape(shape, _label(attributes)))


def _label(attributes: Any) -> str:
    """Return the value of the first attribute; of a group of check boxes, the one that is checked.

    Raises UnreadableLabel if all attributes are empty, or several boxes are checked.
    """
    for value in attributes.values():
        if isinstance(value, dict):
            checked = [key for key, on in value.items() if on]
            _refuse_several(checked)
            value = "".join(checked)
        if value:
            return str(value)
    if attributes:
        raise UnreadableLabel(Message("import.no_label"))
    return "defect"


def _refuse_several(names: list[str]) -> None:
    if len(names) > 1:
        raise UnreadableLabel(Message("import.several_names", names=", ".join(names[:5])))


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
    named = any(map(_has_value, content["metadata"].values()))
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
                if named and not label:
                    raise UnreadableLabel(Message("import.no_label"))
                shaped.shapes.append(_project_shape(entry["xy"], label or "defect"))
            elif label:
                set_verdict(shaped, label)
            else:
                shaped.lost[Message("lost.image_tags")] += 1
    yield from images.values()


def _has_value(entry: Any) -> bool:
    """Return True if a region of a project of VIA 3 has an attribute, which is its name."""
    values = entry.get("av") if isinstance(entry, dict) and entry.get("xy") else None
    return isinstance(values, dict) and any(value not in ("", None) for value in values.values())


def _project_label(values: Any, attributes: dict[str, Any]) -> str:
    """Return the first value: the name of the chosen option, or a text. Raises UnreadableLabel if several are."""
    for number, value in (values or {}).items():
        options = (attributes.get(number) or {}).get("options") or {}
        if value not in ("", None):
            if options:
                _refuse_several([str(options.get(one, one)) for one in str(value).split(",")])
            return str(options.get(str(value), value))
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
