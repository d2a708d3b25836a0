"""XML label files: Pascal VOC boxes, LabelMe (web) polygons, and CVAT for images and video, which is also written."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, ParseError, SubElement, indent, tostring

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, Refusal, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, LabelRegion, polygon, regions
from workbench.core.project.formats.mask_files import read_raw
from workbench.core.project.formats.mask_pairing import is_in_mask_folder
from workbench.core.project.formats.shape_labels import (
    ShapedImage,
    each_image,
    find_shapes,
    label_text,
    set_verdict,
)
from workbench.core.project.formats.shapes import Shape, rotated
from workbench.core.project.formats.text_files import read_text
from workbench.core.project.storage import write_text
from workbench.inference.io.natural_order import natural_key

_LARGEST = 256 << 20  # bytes of an XML file
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
CVAT_KINDS = {"polygon": "polygon", "polyline": "line", "points": "point", "mask": "bitmap"}
SUBSETS = {"train": "train", "validation": "val", "val": "val", "test": "test"}


def voc_score(tree: FileTree) -> int:
    return len(_files(tree, "<annotation", "<object", without="<annotations"))


def find_voc(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels of Pascal VOC and LabelMe (web) files: one file per image, boxes or polygons."""
    files = _files(tree, "<annotation", "<filename", without="<annotations")
    return find_shapes(tree, files, _parse_voc, options)


def cvat_score(tree: FileTree) -> int:
    files = _files(tree, "<annotations", "<image ") + _files(tree, "<annotations", "<track ")
    return sum(max(1, read_text(tree, tree.path(name), limit=_LARGEST).count("<image ")) for name in files)


def find_cvat(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels of "CVAT for images" and "CVAT for video" files: one file with all images or frames."""
    files = _files(tree, "<annotations", "<image ") + _files(tree, "<annotations", "<track ")
    return find_shapes(tree, list(dict.fromkeys(files)), _parse_cvat, options)


def _files(tree: FileTree, *marks: str, without: str | None = None) -> list[str]:
    files = []
    for name in tree.with_suffix(".xml"):
        try:
            text = read_text(tree, tree.path(name), limit=_LARGEST)
        except (FileNotFoundError, ValueError, UnreadableLabel):
            continue
        if all(mark in text for mark in marks) and (without is None or without not in text):
            files.append(name)
    return files


def _root(tree: FileTree, name: str) -> Element:
    """Return the root element. Entities are not expanded. Raises UnreadableLabel."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        text = read_text(tree, tree.path(name), limit=_LARGEST)
        return fromstring(_DECLARATION.sub("", text, count=1))  # the parser supports few encodings
    except ParseError as error:
        raise UnreadableLabel(Message("import.no_xml_line", n=error.position[0])) from None
    except DefusedXmlException:
        raise UnreadableLabel(Message("import.no_xml")) from None


def _size(width: str | None, height: str | None) -> tuple[int, int] | None:
    try:
        size = int(float(width or 0)), int(float(height or 0))
    except ValueError:
        return None
    return size if min(size) > 0 else None


def _parse_voc(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    root = _root(tree, name)
    filename = (root.findtext("filename") or "").strip() or name
    size = root.find("size")
    if size is None:
        size = root.find("imagesize")
    stored = (
        None
        if size is None
        else _size(size.findtext("width") or size.findtext("ncols"), size.findtext("height") or size.findtext("nrows"))
    )
    shaped = ShapedImage(filename, stored, split=split_of(name), lost=Counter())
    for number, entry in enumerate(root.findall("object"), 1):
        if (entry.findtext("deleted") or "0").strip() != "1":
            with shaped.entry("object", number):
                shaped.shapes.append(_object_shape(tree, name, entry))
                shaped.lost[Message("lost.difficult")] += (entry.findtext("difficult") or "0").strip() == "1"
    yield shaped


def _object_shape(tree: FileTree, name: str, entry: Element) -> Shape:
    label = (entry.findtext("name") or "").strip()
    polygon, box, turned = entry.find("polygon"), entry.find("bndbox"), entry.find("robndbox")
    mask = entry.findtext("segm/mask")
    if polygon is not None:
        return Shape(label, "polygon", _polygon(polygon))
    if box is not None:
        x0, y0, x1, y1 = (float(box.findtext(key) or "nan") for key in ("xmin", "ymin", "xmax", "ymax"))
        return Shape(label, "box", [(x0, y0), (x1, y1)])
    if turned is not None:
        return _turned_box(turned, label)
    if mask and (found := _mask_file(tree, name, mask.strip())) is not None:
        return Shape(label, "bitmap", [(0, 0)], bitmap=partial(_mask_pixels, tree.path(found)))
    raise UnreadableLabel(Message("import.no_shape"))


def _turned_box(box: Element, label: str) -> Shape:
    """Return the shape of a box with a center and an angle in radians, as roLabelImg writes it."""
    x, y, width, height, angle = (float(box.findtext(key) or "nan") for key in ("cx", "cy", "w", "h", "angle"))
    corners = [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)]
    return rotated(Shape(label, "box", corners), math.degrees(angle))


def _mask_file(tree: FileTree, name: str, mask: str) -> str | None:
    """Return the mask of an object in a folder "Masks" beside the file (LabelMe on the web, CVAT's export of it)."""
    folder = PurePosixPath(name).parent
    places = (str(folder / sub / mask) for sub in ("Masks", "masks", "."))
    return next((place for place in places if place in tree.names), None)


def _mask_pixels(path: Path) -> np.ndarray:
    return read_raw(path).values > 0


def _polygon(polygon: Element) -> list[tuple[float, float]]:
    """Return the points of LabelMe's <pt><x/><y/></pt> or of numbered tags <x1/><y1/>."""
    points = [(float(p.findtext("x") or "nan"), float(p.findtext("y") or "nan")) for p in polygon.findall("pt")]
    if points:
        return points
    number = 1
    while (x := polygon.findtext(f"x{number}")) is not None:
        points.append((float(x), float(polygon.findtext(f"y{number}") or "nan")))
        number += 1
    return points


def _parse_cvat(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    root = _root(tree, name)

    def parse(image: Element) -> ShapedImage:
        if not image.get("name"):
            raise UnreadableLabel(Message("import.key_missing", key="name"))
        shaped = ShapedImage(image.get("name") or "", _size(image.get("width"), image.get("height")), lost=Counter())
        shaped.split = SUBSETS.get((image.get("subset") or "").casefold()) or split_of(name)
        for number, entry in sorted(enumerate(image, 1), key=lambda one: _layer(one[1])):
            with shaped.entry("shape", number):
                label = label_text(entry.attrib, "label")
                if entry.tag == "tag":
                    set_verdict(shaped, label)
                else:
                    _add_cvat(entry, shaped, label)
        return shaped

    yield from each_image(tree, name, "image", root.findall("image"), parse)
    yield from _frames(root, _frame_names(tree, root))


def _layer(entry: Element) -> int:
    try:
        return int(entry.get("z_order") or 0)
    except ValueError:
        return 0


def _frame_names(tree: FileTree, root: Element) -> list[str]:
    """Return the images of a task of single images in the order of their frames; [] for a video.

    The images of a video are named frame_000000; others are in natural order, which is that of the frames if there are
    as many images as frames.
    """
    count = root.findtext("meta/task/size") or root.findtext("meta/job/size")
    images = [name for name in tree.images if not is_in_mask_folder(name)]
    if any(PurePosixPath(name).stem == "frame_000000" for name in images) or str(len(images)) != count:
        return []
    return sorted(images, key=natural_key)


def _frames(root: Element, names: Sequence[str]) -> Iterator[ShapedImage]:
    """Yield the frames of a video that show objects. The tracks, which join objects of several frames, are counted."""
    frames: dict[int, ShapedImage] = defaultdict(lambda: ShapedImage("", lost=Counter()))
    lost: Counter[str] = Counter()
    original = root.find("meta/task/original_size")
    if original is None:
        original = root.find("meta/original_size")
    size = None if original is None else _size(original.findtext("width"), original.findtext("height"))
    for track in root.findall("track"):
        lost[Message("lost.tracks")] += 1
        for entry in track:
            lost[Message("lost.key_frames")] += entry.get("keyframe") == "1"
            if entry.get("outside") != "1" and (entry.get("frame") or "").isdecimal():
                number = int(entry.get("frame") or 0)
                frames[number].name = names[number] if number < len(names) else f"frame_{number:06d}"
                frames[number].size = size
                with frames[number].entry("track", track.get("id") or ""):
                    _add_cvat(entry, frames[number], label_text(track.attrib, "label"))
    for number in sorted(frames):
        frames[number].lost += lost
        lost.clear()  # the losses of the whole file are counted with its first frame
        yield frames[number]


def _add_cvat(entry: Element, shaped: ShapedImage, label: str) -> None:
    kind, bitmap = entry.tag, None
    if kind == "box":
        points = [_numbers(entry, "xtl", "ytl"), _numbers(entry, "xbr", "ybr")]
    elif kind in ("polygon", "polyline", "points"):
        pairs = (entry.get("points") or "").split(";")
        points = [tuple(float(value) for value in pair.split(",")) for pair in pairs if pair.strip()]
    elif kind == "ellipse":
        points = [_numbers(entry, "cx", "cy"), _numbers(entry, "rx", "ry")]
    elif kind == "mask":
        width, height = (int(value) for value in _numbers(entry, "width", "height"))
        points = [_numbers(entry, "left", "top")]
        runs = [int(value) for value in (entry.get("rle") or "").split(",") if value.strip()]
        bitmap = partial(cvat_mask, runs, height, width)
    else:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    shape = Shape(label, CVAT_KINDS.get(kind, kind), points, bitmap=bitmap)
    shaped.shapes.append(rotated(shape, float(entry.get("rotation") or 0)))
    if entry.find("attribute") is not None:
        shaped.lost[Message("lost.attributes")] += 1


def _numbers(entry: Element, *keys: str) -> tuple[float, ...]:
    return tuple(float(entry.get(key) or "nan") for key in keys)


def cvat_mask(lengths: Sequence[int], height: int, width: int) -> np.ndarray:
    """Return a mask, bool (height, width), of CVAT's run lengths: row by row, background first."""
    runs: Any = np.array(lengths, np.int64)
    if not 0 < height * width <= 1 << 30 or (runs < 0).any() or runs.sum() != height * width:
        raise UnreadableLabel(Message("import.run_lengths"))
    return np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(height, width)


class CvatWriter:
    """annotations.xml and images/. Regions are masks (the default) or polygons; a verdict is a tag of the image."""

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._polygons = export.options.shapes == "polygon"
        self._root = Element("annotations")
        SubElement(self._root, "version").text = "1.1"
        labels = SubElement(SubElement(SubElement(self._root, "meta"), "task"), "labels")
        names = [(info.name, info.color) for info in export.classes]
        names += [(verdict, "#808080") for verdict in export.verdicts.exported]
        for name, color in dict(names).items():
            label = SubElement(labels, "label")
            SubElement(label, "name").text = name
            SubElement(label, "color").text = color
            SubElement(label, "attributes")
        self._number = 0

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose_areas(image)
        export.lose_background(image)
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        entry = SubElement(self._root, "image", id=str(self._number), name=export.image_name(image))
        if image.split:
            entry.set("subset", {"train": "Train", "val": "Validation", "test": "Test"}[image.split])
        entry.set("width", str(image.width))
        entry.set("height", str(image.height))
        self._number += 1
        if image.verdict is not None:
            SubElement(entry, "tag", label=image.verdict, source="manual")
        for order, region in enumerate(regions(image.mask, tuple(export.numbers)) if image.mask is not None else ()):
            self._add_region(entry, region, order)

    def _add_region(self, entry: Element, region: LabelRegion, order: int) -> None:
        name = self._export.names[self._export.numbers[region.class_id]]
        common = {"label": name, "source": "manual", "occluded": "0"}
        if self._polygons:
            points = ";".join(f"{x:.2f},{y:.2f}" for x, y in polygon(region).tolist())
            SubElement(entry, "polygon", common | {"points": points, "z_order": str(order)})
            return
        rect = region.rect
        position = {"left": rect.x, "top": rect.y, "width": rect.width, "height": rect.height}
        attributes = {"rle": run_lengths(region.inside)} | {key: str(value) for key, value in position.items()}
        SubElement(entry, "mask", common | attributes | {"z_order": str(order)})

    def finish(self) -> None:
        indent(self._root)
        text = tostring(self._root, encoding="unicode")
        path = self._export.out / "annotations.xml"
        write_text(path, f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


def run_lengths(inside: np.ndarray) -> str:
    """Return CVAT's run lengths of a mask, bool (H, W): row by row, background first."""
    flat = inside.ravel()
    counts = np.diff(np.flatnonzero(flat[1:] != flat[:-1]) + 1, prepend=0, append=len(flat)).tolist()
    return ", ".join(map(str, [0, *counts] if flat[0] else counts))
