"""VGG Image Annotator: annotation files and projects of VIA 1 and 2 (JSON), projects of VIA 3, and its CSV files."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from functools import partial
from pathlib import PureWindowsPath
from typing import Any

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    Refusal,
    UnreadableLabel,
    entry_name,
    reason,
    suffix_of,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.shape_labels import (
    ShapedImage,
    ShapeReader,
    each_entry,
    each_image,
    image_at,
    label_text,
    numbered,
    one_name,
)
from workbench.core.project.formats.shapes import Shape, box, pairs, rotated
from workbench.core.project.formats.text_files import LARGEST_SET, json_counts, load, read_text, table_rows, texts
from workbench.inference.io.json_io import parse_json

_OF_EACH = ("caption", "public_domain", "image_url")
_COLUMNS = ("filename", "region_shape_attributes", "region_attributes")
_POINT, _RECT, _CIRCLE, _ELLIPSE, _LINE, _POLYLINE, _POLYGON = range(1, 8)  # kinds of shapes of VIA 3
_files = json_counts(b'"shape_attributes"', b'"filename"', count=b'"filename"')
_projects = json_counts(b'"metadata"', b'"attribute"', b'"vid"', b'"xy"', count=b'"fname"')  # of VIA 3


def _counts(tree: FileTree) -> dict[str, int]:
    tables = {
        name: len({row.get("filename") for row in table_rows(text)})
        for name, text in texts(tree, ".csv")
        if all(column in text[:2000] for column in _COLUMNS)
    }
    return _files(tree) | _projects(tree) | tables


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    if suffix_of(name) == ".csv":
        return _parse_table(tree, name)
    content = load(tree, name)
    if all(isinstance(content.get(key), dict) for key in ("file", "metadata", "attribute")):
        return _parse_project(tree, name, content)
    images = content.get("_via_img_metadata", content).values()
    named = any(_has_names(image) for image in images)

    def parse(image: dict[str, Any]) -> ShapedImage:
        shaped = ShapedImage(label_text(image, "filename"), split=split_of(name))
        shaped.read("region", image.get("regions", []), partial(_region, named=named))
        shaped.lose(Message("lost.image_tags"), _has_tags(image.get("file_attributes")))
        return shaped

    return each_image(tree, name, "image", images, parse)


READER = ShapeReader(_counts, _parse)


def _has_tags(attributes: Any) -> bool:
    """Return True if an image has attributes besides those that VIA gives to each."""
    return isinstance(attributes, dict) and any(
        value not in ("", None, {}) for key, value in attributes.items() if key not in _OF_EACH
    )


def _has_names(image: Any) -> bool:
    """Return True if a region of an image has an attribute, which is its name."""
    with contextlib.suppress(*FAULTS):
        return any(bool(region.get("region_attributes")) for _, region in numbered(image.get("regions")))
    return False


def _parse_table(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a CSV file, which has a row for each region and one for each image without regions."""
    rows = table_rows(read_text(tree, tree.path(name), limit=LARGEST_SET))
    named = any((row["region_attributes"] or "{}").strip() != "{}" for row in rows)
    images: dict[str, ShapedImage] = {}

    def image_of(row: dict[str, str]) -> ShapedImage:
        if not row["filename"]:
            raise UnreadableLabel(Message("import.key_missing", key="filename"))
        return images.setdefault(row["filename"], ShapedImage(row["filename"], split=split_of(name)))

    def read(row: dict[str, str], image: ShapedImage) -> Shape | None:
        shape, attributes = (parse_json((row[key] or "{}").encode()) for key in _COLUMNS[1:])
        tags = parse_json((row.get("file_attributes") or "{}").encode())
        image.lost[Message("lost.image_tags")] |= _has_tags(tags)  # in each row of the image
        region = {"shape_attributes": shape, "region_attributes": attributes}
        return _region(region, image, named=named) if shape else None

    yield from each_entry(tree.path(name), "row", dict(enumerate(rows, 2)), image_of, read)
    yield from images.values()


def _region(region: dict[str, Any], image: ShapedImage, *, named: bool) -> Shape:
    """Return the shape of a region. named: other regions of the file have names, so that this one must have one too.

    Its name is the first attribute that is not empty; of a group of check boxes, the one that is checked.
    """
    attributes = region["region_attributes"]
    values = [
        one_name([key for key, on in value.items() if on]) if isinstance(value, dict) else str(value or "")
        for value in attributes.values()
    ]
    names = [value for value in values if value]
    if not names and (attributes or named):
        raise UnreadableLabel(Message("import.no_label"))
    image.lost[Message("lost.attributes")] += max(0, len(names) - 1)
    return _shape(region["shape_attributes"], names[0] if names else "defect")


def _shape(shape: dict[str, Any], label: str) -> Shape:
    kind = shape.get("name")
    if kind in ("polygon", "polyline"):
        points = list(zip(shape["all_points_x"], shape["all_points_y"]))
        return Shape(label, "polygon" if kind == "polygon" else "line", points)
    if kind == "rect":
        return box(label, shape["x"], shape["y"], shape["width"], shape["height"])
    if kind in ("circle", "ellipse"):
        radii = (shape["r"], shape["r"]) if kind == "circle" else (shape["rx"], shape["ry"])
        ellipse = Shape(label, "ellipse", [(shape["cx"], shape["cy"]), radii])
        return rotated(ellipse, math.degrees(float(shape.get("theta") or 0)))
    if kind == "point":
        return Shape(label, "point", [(shape["cx"], shape["cy"])])
    raise UnreadableLabel(Message("import.shape_kind", kind=kind))


def _parse_project(tree: FileTree, name: str, content: dict[str, Any]) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a project of VIA 3. A view shows one image; other files are videos and sounds."""
    views: dict[str, str] = {}
    for number, view in (content.get("view") or {}).items():
        with contextlib.suppress(*FAULTS):  # its regions are refused below
            views[number] = str(view["fid_list"][0])
    images: dict[str, ShapedImage] = {}
    for number, file in content["file"].items():
        try:
            path = PureWindowsPath(str(file.get("fname") or file.get("src") or ""))
            images[str(number)] = ShapedImage(path.name, split=split_of(name))
        except FAULTS as error:
            yield Refusal(tree.path(name), reason(error), entry_name("image", number), ())
    named = any(map(_has_value, content["metadata"].values()))

    def image_of(entry: dict[str, Any]) -> ShapedImage:
        view = str(entry["vid"])
        return image_at(images, views.get(view, view))

    def read(entry: dict[str, Any], image: ShapedImage) -> Shape | None:
        names = _project_names(entry.get("av"), content["attribute"])
        image.lost[Message("lost.attributes")] += max(0, len(names) - 1)
        if entry.get("xy"):
            if named and not names:
                raise UnreadableLabel(Message("import.no_label"))
            return _project_shape(entry["xy"], names[0] if names else "defect")
        if names:
            image.set_verdict(names[0])
        else:
            image.lose(Message("lost.image_tags"))
        return None

    yield from each_entry(tree.path(name), "region", content["metadata"], image_of, read)
    yield from images.values()


def _has_value(entry: Any) -> bool:
    """Return True if a region of a project of VIA 3 has an attribute, which is its name."""
    values = entry.get("av") if isinstance(entry, dict) and entry.get("xy") else None
    return isinstance(values, dict) and any(value not in ("", None) for value in values.values())


def _project_names(values: Any, attributes: dict[str, Any]) -> list[str]:
    """Return the values that are not empty: names of options, or texts. Raises UnreadableLabel for several options."""
    names = []
    for number, value in (values or {}).items():
        options = (attributes.get(number) or {}).get("options") or {}
        if value not in ("", None):
            chosen = str(value).split(",") if options else [str(value)]
            names.append(one_name([str(options.get(one, one)) for one in chosen]))
    return names


def _project_shape(numbers: list[Any], label: str) -> Shape:
    kind, *values = numbers
    if kind == _RECT:
        return box(label, *values)
    if kind == _CIRCLE:
        return Shape(label, "ellipse", [values[:2], (values[2], values[2])])
    if kind == _ELLIPSE:
        return Shape(label, "ellipse", [values[:2], values[2:4]])
    names = {_POINT: "point", _LINE: "line", _POLYLINE: "line", _POLYGON: "polygon"}
    if kind not in names:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    return Shape(label, names[kind], list(pairs(values)))
