"""JSON label files of Cityscapes, Create ML, Datumaro, EISeg, ISAT and Supervisely."""

from __future__ import annotations

import base64
import binascii
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, Refusal, UnreadableLabel
from workbench.core.project.formats.coco import whole_bitmap
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.shape_labels import (
    BACKGROUND,
    ShapedImage,
    each_image,
    find_shapes,
    in_layers,
    label_text,
    listed,
    set_verdict,
)
from workbench.core.project.formats.shapes import Shape, pairs, rotated
from workbench.core.project.formats.text_files import json_files, load

Parse = Callable[[FileTree, str], Iterator[ShapedImage | Refusal]]
_CITYSCAPES_ENDINGS = ("_polygons", "_gtFine", "_gtCoarse", "_gtBboxCityPersons")
_CITYSCAPES_IMAGE = "_leftImg8bit"
_CITYSCAPES_GROUP = "group"  # end of the label of several objects drawn as one: "cargroup"
_ISAT_BACKGROUND = "__background__"
_ISAT_KINDS = ("polygon", "line", "point")
_LARGEST_BITMAP = 64 << 20  # bytes of an uncompressed bitmap file


@dataclass(frozen=True)
class JsonFormat:
    """Format of JSON files that list shapes with the names of their classes.

    parse: yields the images of a file. keys: texts that its files contain. image_key: the one that occurs once for each
    image; None for files with one image. folder: name of the folder of its files, if all tools use it.
    """

    parse: Parse
    keys: tuple[bytes, ...]
    image_key: bytes | None = None
    folder: str | None = None

    def recognition_score(self, tree: FileTree) -> int:
        """Return the likely number of labels in a tree."""
        return sum(1 if self.image_key is None else data.count(self.image_key) for _, data in self._files(tree))

    def find(self, tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
        """Return the labels found. `known` is not used, since shapes have names."""
        return find_shapes(tree, [name for name, _ in self._files(tree)], self.parse, options)

    def _files(self, tree: FileTree) -> Iterator[tuple[str, bytes]]:
        for name, data in json_files(tree, *self.keys):
            if self.folder in (None, PurePosixPath(name).parent.name):
                yield name, data


def _parse_cityscapes(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file: polygons that are painted over one another in their order."""
    content = load(tree, name)
    objects = content.get("objects") if isinstance(content, dict) else None
    if not isinstance(objects, list):
        raise UnreadableLabel(Message("import.no_polygons"))
    shaped = ShapedImage(_cityscapes_image(name, tree), split=split_of(name), lost=Counter())
    width, height = content.get("imgWidth"), content.get("imgHeight")
    if isinstance(width, int) and isinstance(height, int) and width > 0 < height:
        shaped.size = width, height
    named = {str(one.get("label")) for one in objects if isinstance(one, dict)}
    for number, one in enumerate(objects, 1):
        with shaped.entry("object", number):
            label = label_text(one, "label")
            if one.get("deleted"):
                continue
            if label.endswith(_CITYSCAPES_GROUP) and label.removesuffix(_CITYSCAPES_GROUP) in named:
                shaped.lost[Message("lost.group_marks")] += 1
                label = label.removesuffix(_CITYSCAPES_GROUP)
            shaped.shapes.append(Shape(BACKGROUND if label == "unlabeled" else label, "polygon", one["polygon"]))
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

    def parse(image: dict[str, Any]) -> ShapedImage:
        shaped = ShapedImage(label_text(image, "image"), split=split_of(name))
        for number, entry in enumerate(listed(image.get("annotations", [])), 1):
            with shaped.entry("annotation", number):
                box = entry["coordinates"]
                x, y, width, height = (float(box[key]) for key in ("x", "y", "width", "height"))
                corners = [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)]
                shaped.shapes.append(Shape(label_text(entry, "label"), "box", corners))
        return shaped

    return each_image(tree, name, "image", listed(load(tree, name)), parse)


def _parse_datumaro(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    """Yield the images of a file: polygons, boxes, masks and labels; categories by index."""
    content = load(tree, name)
    labels = [str(one["name"]) for one in content["categories"].get("label", {}).get("labels", [])]

    def parse(item: dict[str, Any]) -> ShapedImage:
        image = item.get("image") or {}
        size = image.get("size")  # height, width
        stored = (int(size[1]), int(size[0])) if size else None
        path = image.get("path") or item["id"]
        shaped = ShapedImage(str(path), stored, split=split_of(name), lost=Counter())
        for number, entry in in_layers(item.get("annotations", []), "z_order"):
            with shaped.entry("annotation", number):
                _add_datumaro(entry, labels, shaped)
        return shaped

    return each_image(tree, name, "item", listed(content["items"]), parse)


def _add_datumaro(entry: dict[str, Any], labels: list[str], shaped: ShapedImage) -> None:
    number = entry.get("label_id")
    listed_label = isinstance(number, int) and 0 <= number < len(labels)
    if labels and not listed_label:
        raise UnreadableLabel(Message("import.unlisted_category", id=str(number)[:80]))
    label = labels[number] if isinstance(number, int) and listed_label else f"class_{number}"
    kind = entry.get("type")
    if kind in ("polygon", "polyline"):
        shaped.shapes.append(Shape(label, "polygon" if kind == "polygon" else "line", list(pairs(entry["points"]))))
    elif kind == "bbox":
        x, y, width, height = entry["bbox"]
        shaped.shapes.append(Shape(label, "box", [(x, y), (x + width, y + height)]))
    elif kind == "mask":
        shaped.shapes.append(Shape(label, "bitmap", [(0, 0)], bitmap=whole_bitmap(entry["rle"], shaped)))
    elif kind == "ellipse":
        x0, y0, x1, y1 = entry["points"]
        radii = (x1 - x0) / 2, (y1 - y0) / 2
        shaped.shapes.append(Shape(label, "ellipse", [((x0 + x1) / 2, (y0 + y1) / 2), radii]))
    elif kind == "points":
        shaped.shapes.append(Shape(label, "point", list(pairs(entry["points"]))))
    elif kind == "label":
        set_verdict(shaped, label)
    elif kind == "rotated_bbox":
        x, y, width, height, degrees = entry["points"]
        corners = [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)]
        shaped.shapes.append(rotated(Shape(label, "box", corners), degrees))
    else:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))


def _parse_eiseg(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file: a list of polygons with a label each."""
    content = load(tree, name)
    if not isinstance(content, list):
        raise UnreadableLabel(Message("import.no_polygons"))
    shaped = ShapedImage(name, split=split_of(name))
    for number, one in enumerate(content, 1):
        with shaped.entry("object", number):
            shaped.shapes.append(Shape(label_text(one, "name"), "polygon", one["points"]))
    yield shaped


def _parse_isat(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file: polygons in layers, the lowest first; polygons of one group are one object."""
    content = load(tree, name)
    info, objects = content.get("info"), content.get("objects")
    if not isinstance(info, dict) or not isinstance(objects, list):
        raise UnreadableLabel(Message("import.no_polygons"))
    image = PureWindowsPath(str(info.get("folder") or ""), str(info.get("name") or PurePosixPath(name).stem))
    shaped = ShapedImage(str(image), split=split_of(name), lost=Counter())
    width, height = info.get("width"), info.get("height")
    if isinstance(width, int) and isinstance(height, int) and width > 0 < height:
        shaped.size = width, height
    shaped.lost[Message("lost.notes")] += bool(info.get("note"))
    groups: Counter[tuple[str, str]] = Counter()
    for number, one in in_layers(objects, "layer"):
        with shaped.entry("object", number):
            label, kind = label_text(one, "category"), one.get("shape_type") or "polygon"
            points = one.get("segmentation") or []
            shaped.lost[Message("lost.notes")] += bool(one.get("note"))
            shaped.lost[Message("lost.crowd")] += one.get("iscrowd") not in (None, "", "false", "False", 0)
            if kind not in _ISAT_KINDS:
                raise UnreadableLabel(Message("import.shape_kind", kind=kind))
            background = label.strip() == _ISAT_BACKGROUND
            shaped.shapes.append(Shape(BACKGROUND if background else label, kind, points, outline=True))
            groups[label, str(one.get("group"))] += one.get("group") not in (None, "") and not background
    shaped.lost[Message("lost.several_polygons")] += sum(count > 1 for count in groups.values())
    yield shaped


def _parse_supervisely(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    """Yield the image of a file in a folder "ann": polygons, boxes and bitmaps."""
    content = load(tree, name)
    size = content.get("size") or {}
    stored = (size["width"], size["height"]) if size.get("width") and size.get("height") else None
    # "ann/part.jpg.json" belongs to "img/part.jpg".
    path = PurePosixPath(name)
    image = str(path.parent.parent / "img" / path.stem)
    shaped = ShapedImage(image, stored, split=split_of(name), lost=Counter())
    for number, entry in enumerate(listed(content["objects"]), 1):
        with shaped.entry("object", number):
            shaped.shapes.append(_supervisely_shape(entry))
    _add_supervisely_tags(content.get("tags") or [], shaped)
    yield shaped


def _add_supervisely_tags(tags: list[Any], shaped: ShapedImage) -> None:
    """Take over the tags of an image: its data split, and its verdict if there is one other tag without a value."""
    names = [str(tag.get("name") if isinstance(tag, dict) else tag) for tag in tags]
    shaped.split = next((split for name in names if (split := split_of(name))), shaped.split)
    others = [name for name in names if split_of(name) is None]
    values = [tag for tag in tags if isinstance(tag, dict) and tag.get("value") is not None]
    if len(others) == 1 and not values:
        shaped.verdict = others[0]
    elif others and not shaped.shapes:
        shaped.refuse(Message("import.several_flags", names=", ".join(others[:5])))
    elif others:
        shaped.lost[Message("lost.image_tags")] += len(others)


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
    from workbench.core.images.pillow import Image

    try:
        packed = zlib.decompressobj().decompress(base64.b64decode(data), _LARGEST_BITMAP)
        with Image.open(io.BytesIO(packed)) as file:
            if file.width * file.height > 1 << 28:
                raise UnreadableLabel(Message("import.run_lengths"))
            pixels = np.asarray(file.convert("RGBA"))
    except (zlib.error, binascii.Error, OSError, SyntaxError, EOFError):
        raise UnreadableLabel(Message("import.damaged_mask")) from None
    return (pixels[..., :3].any(axis=2)) & (pixels[..., 3] > 0)


CITYSCAPES = JsonFormat(_parse_cityscapes, (b'"imgHeight"', b'"objects"', b'"polygon"'))
CREATEML = JsonFormat(_parse_createml, (b'"image"', b'"annotations"', b'"coordinates"'), b'"image"')
DATUMARO = JsonFormat(_parse_datumaro, (b'"items"', b'"categories"', b'"annotations"'), b'"annotations"')
EISEG = JsonFormat(_parse_eiseg, (b'"labelIdx"', b'"points"'))
ISAT = JsonFormat(_parse_isat, (b'"info"', b'"objects"', b'"ISAT'))
SUPERVISELY = JsonFormat(_parse_supervisely, (b'"objects"', b'"size"'), folder="ann")
