"""JSON label files of Cityscapes, Create ML, Datumaro, EISeg, ISAT, Supervisely, and VGG Image Annotator.

VIA: annotation files and projects of versions 1 and 2, projects of version 3, and its CSV files.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

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
from workbench.core.project.formats.coco import whole_bitmap
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.shape_labels import (
    BACKGROUND,
    ShapedImage,
    ShapeReader,
    each_entry,
    each_image,
    image_at,
    label_text,
    listed,
    numbered,
    one_name,
    stored_size,
)
from workbench.core.project.formats.shapes import Shape, box, decoded_image, pairs, rotated
from workbench.core.project.formats.text_files import LARGEST_SET, json_counts, load, read_text, table_rows, texts
from workbench.inference.io.json_io import parse_json

_CITYSCAPES_ENDINGS = ("_polygons", "_gtFine", "_gtCoarse", "_gtBboxCityPersons")
_CITYSCAPES_IMAGE = "_leftImg8bit"
_CITYSCAPES_GROUP = "group"  # end of the label of several objects drawn as one: "cargroup"
_ISAT_BACKGROUND = "__background__"
_ISAT_KINDS = ("polygon", "line", "point")
_LARGEST_BITMAP = 64 << 20  # bytes of an uncompressed bitmap file


def _parse_cityscapes(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file: polygons that are painted over one another in their order."""
    content = load(tree, name)
    objects = listed(content["objects"])
    size = stored_size(content.get("imgWidth"), content.get("imgHeight"))
    shaped = ShapedImage(_cityscapes_image(name, tree), size, split=split_of(name))
    named = {str(one.get("label")) for one in objects if isinstance(one, dict)}

    def read(entry: dict[str, Any], image: ShapedImage) -> Shape | None:
        label = label_text(entry, "label")
        if entry.get("deleted"):
            return None
        if label.endswith(_CITYSCAPES_GROUP) and label.removesuffix(_CITYSCAPES_GROUP) in named:
            image.lose(Message("lost.group_marks"))
            label = label.removesuffix(_CITYSCAPES_GROUP)
        return Shape(BACKGROUND if label == "unlabeled" else label, "polygon", entry["polygon"])

    shaped.read("object", objects, read)
    yield shaped


def _cityscapes_image(name: str, tree: FileTree) -> str:
    """Return the name of the image: "a_gtFine_polygons.json" belongs to "a_leftImg8bit.png"."""
    path = PurePosixPath(name)
    stem = path.stem
    for ending in _CITYSCAPES_ENDINGS:
        stem = stem.removesuffix(ending)
    if stem + _CITYSCAPES_IMAGE in tree.image_stems:
        stem += _CITYSCAPES_IMAGE
    return str(path.with_name(stem))


def _parse_createml(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a file, with boxes given by their centers."""

    def read(entry: dict[str, Any], image: ShapedImage) -> Shape:
        stored = (entry["coordinates"][key] for key in ("x", "y", "width", "height"))
        return box(label_text(entry, "label"), *stored, centered=True)

    def parse(image: dict[str, Any]) -> ShapedImage:
        shaped = ShapedImage(label_text(image, "image"), split=split_of(name))
        shaped.read("annotation", image.get("annotations", []), read)
        return shaped

    return each_image(tree, name, "image", listed(load(tree, name)), parse)


def _parse_datumaro(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a file: polygons, boxes, masks and labels; categories by index."""
    content = load(tree, name)
    labels = [str(one["name"]) for one in content["categories"].get("label", {}).get("labels", [])]

    def parse(item: dict[str, Any]) -> ShapedImage:
        image = item.get("image") or {}
        height, width = image.get("size") or (None, None)
        path = image.get("path") or item["id"]
        shaped = ShapedImage(str(path), stored_size(width, height), split=split_of(name))
        shaped.read("annotation", item.get("annotations", []), partial(_datumaro_shape, labels), "z_order")
        return shaped

    return each_image(tree, name, "item", listed(content["items"]), parse)


def _datumaro_shape(labels: list[str], entry: dict[str, Any], image: ShapedImage) -> Shape | None:
    number = entry.get("label_id")
    listed_label = isinstance(number, int) and 0 <= number < len(labels)
    if labels and not listed_label:
        raise UnreadableLabel(Message("import.unlisted_category", id=str(number)[:80]))
    label = labels[number] if isinstance(number, int) and listed_label else f"class_{number}"
    kind = entry.get("type")
    if kind == "label":
        image.set_verdict(label)
        return None
    if kind == "mask":
        return Shape(label, "bitmap", [(0, 0)], bitmap=whole_bitmap(entry["rle"], image))
    if kind == "bbox":
        return box(label, *entry["bbox"])
    points = entry.get("points")
    if kind in ("polygon", "polyline", "points"):
        kinds = {"polygon": "polygon", "polyline": "line", "points": "point"}
        return Shape(label, kinds[kind], list(pairs(listed(points))))
    if kind == "ellipse":
        x0, y0, x1, y1 = listed(points)
        return Shape(label, "ellipse", [((x0 + x1) / 2, (y0 + y1) / 2), ((x1 - x0) / 2, (y1 - y0) / 2)])
    if kind == "rotated_bbox":
        x, y, width, height, degrees = listed(points)
        return rotated(box(label, x, y, width, height, centered=True), degrees)
    raise UnreadableLabel(Message("import.shape_kind", kind=kind))


def _parse_eiseg(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file: a list of polygons with a label each."""
    shaped = ShapedImage(name, split=split_of(name))
    shaped.read(
        "object", listed(load(tree, name)), lambda one, _: Shape(label_text(one, "name"), "polygon", one["points"])
    )
    yield shaped


def _parse_isat(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file: polygons in layers, the lowest first; polygons of one group are one object."""
    content = load(tree, name)
    info, objects = content["info"], listed(content["objects"])
    image = PureWindowsPath(str(info.get("folder") or ""), str(info.get("name") or PurePosixPath(name).stem))
    shaped = ShapedImage(str(image), stored_size(info.get("width"), info.get("height")), split=split_of(name))
    shaped.lose(Message("lost.notes"), info.get("note"))
    groups: Counter[tuple[str, str]] = Counter()

    def read(one: dict[str, Any], image: ShapedImage) -> Shape:
        label, kind = label_text(one, "category"), one.get("shape_type") or "polygon"
        image.lose(Message("lost.notes"), one.get("note"))
        image.lose(Message("lost.crowd"), one.get("iscrowd") not in (None, "", "false", "False", 0))
        if kind not in _ISAT_KINDS:
            raise UnreadableLabel(Message("import.shape_kind", kind=kind))
        background = label.strip() == _ISAT_BACKGROUND
        groups[label, str(one.get("group"))] += one.get("group") not in (None, "") and not background
        return Shape(BACKGROUND if background else label, kind, one.get("segmentation") or [], outline=True)

    shaped.read("object", objects, read, "layer")
    shaped.lost[Message("lost.several_polygons")] += sum(count > 1 for count in groups.values())
    yield shaped


def _parse_supervisely(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file in a folder "ann": polygons, boxes and bitmaps."""
    content = load(tree, name)
    size = content.get("size") or {}
    path = PurePosixPath(name)  # "ann/part.jpg.json" belongs to "img/part.jpg"
    image = str(path.parent.parent / "img" / path.stem)
    shaped = ShapedImage(image, stored_size(size.get("width"), size.get("height")), split=split_of(name))
    shaped.read("object", content["objects"], lambda entry, _: _supervisely_shape(entry))
    _add_supervisely_tags(content.get("tags") or [], shaped)
    yield shaped


def _add_supervisely_tags(tags: list[Any], shaped: ShapedImage) -> None:
    """Take over the tags of an image: its data split, and its verdict if there is one other tag without a value."""
    names = [str(tag.get("name") if isinstance(tag, dict) else tag) for tag in tags]
    shaped.split = next((split for name in names if (split := split_of(name))), shaped.split)
    others = [name for name in names if split_of(name) is None]
    values = [tag for tag in tags if isinstance(tag, dict) and tag.get("value") is not None]
    if values and shaped.shapes:
        shaped.lost[Message("lost.image_tags")] += len(others)
    elif values and others:
        shaped.refuse(Message("import.several_flags", names=", ".join(others[:5])))
    else:
        shaped.set_flags(others)


def _supervisely_shape(entry: dict[str, Any]) -> Shape:
    label, kind = label_text(entry, "classTitle"), entry.get("geometryType")
    if kind == "bitmap":
        bitmap = entry["bitmap"]
        return Shape(label, "bitmap", [bitmap["origin"]], bitmap=partial(_supervisely_bitmap, bitmap["data"]))
    points = (entry.get("points") or {}).get("exterior") or []
    if kind == "polygon":
        return Shape(label, "polygon", points, holes=tuple((entry["points"].get("interior")) or ()))
    if kind == "rectangle":
        return Shape(label, "box", points)
    if kind in ("line", "point"):
        return Shape(label, kind, points)
    raise UnreadableLabel(Message("import.shape_kind", kind=kind))


def _supervisely_bitmap(data: str) -> np.ndarray:
    """Return a bitmap, bool (h, w): a PNG compressed by zlib, in base64."""
    try:
        packed = zlib.decompressobj().decompress(base64.b64decode(data), _LARGEST_BITMAP)
    except (zlib.error, binascii.Error):
        raise UnreadableLabel(Message("import.damaged_mask")) from None
    pixels = decoded_image(packed, "RGBA")
    return (pixels[..., :3].any(axis=2)) & (pixels[..., 3] > 0)


CITYSCAPES = ShapeReader(json_counts(b'"imgHeight"', b'"objects"', b'"polygon"'), _parse_cityscapes)
CREATEML = ShapeReader(json_counts(b'"image"', b'"annotations"', b'"coordinates"', count=b'"image"'), _parse_createml)
DATUMARO = ShapeReader(
    json_counts(b'"items"', b'"categories"', b'"annotations"', count=b'"annotations"'), _parse_datumaro
)
EISEG = ShapeReader(json_counts(b'"labelIdx"', b'"points"'), _parse_eiseg)
ISAT = ShapeReader(json_counts(b'"info"', b'"objects"', b'"ISAT'), _parse_isat)
SUPERVISELY = ShapeReader(json_counts(b'"objects"', b'"size"', folder="ann"), _parse_supervisely)


# --- VGG Image Annotator --------------------------------------------------------------------------


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


VIA = ShapeReader(_counts, _parse)


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
