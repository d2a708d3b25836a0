"""XML label files of single images: Pascal VOC boxes, and polygons and masks of LabelMe (web)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.mask_files import read_raw
from workbench.core.project.formats.shape_labels import ShapedImage, ShapeReader, stored_size
from workbench.core.project.formats.shapes import Shape, box, rotated
from workbench.core.project.formats.text_files import texts, xml_root


def _files(tree: FileTree) -> dict[str, int]:
    """Return the files, with 0 for those without an object."""
    return {
        name: int("<object" in text)
        for name, text in texts(tree, ".xml")
        if "<annotation" in text and "<annotations" not in text and ("<filename" in text or "<object" in text)
    }


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    root = xml_root(tree, name)
    size, of_web = root.find("size"), root.find("imagesize")
    stored = None
    if size is not None:
        stored = stored_size(size.findtext("width"), size.findtext("height"))
    elif of_web is not None:
        stored = stored_size(of_web.findtext("ncols"), of_web.findtext("nrows"))
    shaped = ShapedImage((root.findtext("filename") or "").strip() or name, stored, split=split_of(name))
    objects = [(number, entry) for number, entry in enumerate(root.findall("object"), 1)]
    kept = {n: entry for n, entry in objects if (entry.findtext("deleted") or "0").strip() != "1"}
    shaped.read("object", kept, partial(_object_shape, tree, name))
    yield shaped


READER = ShapeReader(_files, _parse)


def _object_shape(tree: FileTree, name: str, entry: Element, image: ShapedImage) -> Shape:
    image.lose(Message("lost.difficult"), (entry.findtext("difficult") or "0").strip() == "1")
    label = (entry.findtext("name") or "").strip()
    polygon, upright, turned = entry.find("polygon"), entry.find("bndbox"), entry.find("robndbox")
    mask = entry.findtext("segm/mask")
    if polygon is not None:
        return Shape(label, "polygon", _polygon(polygon))
    if upright is not None:
        x0, y0, x1, y1 = (float(upright.findtext(key) or "nan") for key in ("xmin", "ymin", "xmax", "ymax"))
        return Shape(label, "box", [(x0, y0), (x1, y1)])
    if turned is not None:  # of roLabelImg, in radians
        *center_and_size, angle = (float(turned.findtext(key) or "nan") for key in ("cx", "cy", "w", "h", "angle"))
        return rotated(box(label, *center_and_size, centered=True), math.degrees(angle))
    if mask and (found := _mask_file(tree, name, mask.strip())) is not None:
        return Shape(label, "bitmap", [(0, 0)], bitmap=lambda: read_raw(tree.path(found)).values > 0)
    raise UnreadableLabel(Message("import.no_shape"))


def _mask_file(tree: FileTree, name: str, mask: str) -> str | None:
    """Return the mask of an object in a folder "Masks" beside the file (LabelMe on the web, CVAT's export of it)."""
    folder = PurePosixPath(name).parent
    places = (str(folder / sub / mask) for sub in ("Masks", "masks", "."))
    return next((place for place in places if place in tree.names), None)


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
