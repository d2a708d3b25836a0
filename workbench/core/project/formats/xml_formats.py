"""XML label files: CVAT, Pascal VOC boxes, and polygons and masks of LabelMe (web).

CVAT's are "for images" and "for video", which are also written. A backup of its tasks or projects has a folder for each
task with task.json, annotations.json and the images in data/.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from workbench.core.images.image_files import VIDEO_SUFFIXES
from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, Refusal, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import (
    ExportedImage,
    LabelExport,
    LabelRegion,
    LabelWriter,
    polygon,
    regions,
)
from workbench.core.project.formats.mask_files import read_raw
from workbench.core.project.formats.mask_names import is_in_mask_folder
from workbench.core.project.formats.shape_labels import (
    ShapedImage,
    ShapeReader,
    each_entry,
    each_image,
    image_at,
    label_text,
    stored_size,
)
from workbench.core.project.formats.shapes import Shape, box, filled_runs, pairs, rotated, run_lengths
from workbench.core.project.formats.text_files import json_files, load, text_lines, texts, xml_root
from workbench.core.project.storage import write_text
from workbench.inference.io.json_io import parse_json
from workbench.inference.text_safety import natural_key

_KINDS = {"polygon": "polygon", "polyline": "line", "points": "point", "mask": "bitmap"}
_SUBSETS = {"train": "train", "validation": "val", "val": "val", "test": "test"}
_LARGEST_MANIFEST = 256 << 20  # bytes


def _xml_files(tree: FileTree) -> dict[str, int]:
    return {
        name: max(1, text.count("<image "))
        for name, text in texts(tree, ".xml")
        if "<annotations" in text and ("<image " in text or "<track " in text)
    }


def _parse_xml(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    root = xml_root(tree, name)

    def parse(image: Element) -> ShapedImage:
        if not image.get("name"):
            raise UnreadableLabel(Message("import.key_missing", key="name"))
        shaped = ShapedImage(image.get("name") or "", stored_size(image.get("width"), image.get("height")))
        shaped.split = _SUBSETS.get((image.get("subset") or "").casefold()) or split_of(name)
        shaped.read("shape", list(image), _read_element, "z_order")
        return shaped

    yield from each_image(tree, name, "image", root.findall("image"), parse)
    yield from _frames_of_video(tree.path(name), root, _frame_names(tree, root))


def _read_element(entry: Element, image: ShapedImage) -> Shape | None:
    label = label_text(entry.attrib, "label")
    if entry.tag == "tag":
        image.set_verdict(label)
        return None
    return _element_shape(entry, label, image)


CVAT = ShapeReader(_xml_files, _parse_xml)


def _frame_names(tree: FileTree, root: Element) -> list[str]:
    """Return the images of a task of single images in the order of their frames; [] for a video.

    The images of a video are named frame_000000, or it lies beside its labels; others are in natural order, which is
    that of the frames if there are as many images as frames.
    """
    count = root.findtext("meta/task/size") or root.findtext("meta/job/size")
    images = [name for name in tree.images if not is_in_mask_folder(name)]
    of_video = any(PurePosixPath(name).stem == "frame_000000" for name in images) or tree.with_suffix(*VIDEO_SUFFIXES)
    if of_video or str(len(images)) != count:
        return []
    return sorted(images, key=natural_key)


def _frames_of_video(path: Path, root: Element, names: Sequence[str]) -> Iterator[ShapedImage | Refusal]:
    """Yield the frames of a video that show objects. The tracks, which join objects of several frames, are counted."""
    frames: dict[int, ShapedImage] = {}
    lost: Counter[str] = Counter()
    original = root.find("meta/task/original_size")
    if original is None:
        original = root.find("meta/original_size")
    size = None if original is None else stored_size(original.findtext("width"), original.findtext("height"))

    def image_of(entry: Element) -> ShapedImage:
        number = int(entry.attrib["frame"])
        name = names[number] if number < len(names) else f"frame_{number:06d}"
        return frames.setdefault(number, ShapedImage(name, size))

    for track in root.findall("track"):

        def read(entry: Element, image: ShapedImage, track: Element = track) -> Shape:
            return _element_shape(entry, label_text(track.attrib, "label"), image)

        lost[Message("lost.tracks")] += 1
        lost[Message("lost.key_frames")] += sum(entry.get("keyframe") == "1" for entry in track)
        shown = [entry for entry in track if entry.get("outside") != "1"]
        yield from each_entry(path, "track", shown, image_of, read, id=track.get("id") or "")
    for number in sorted(frames):
        frames[number].lost += lost
        lost.clear()  # the losses of the whole file are counted with its first frame
        yield frames[number]


def _element_shape(entry: Element, label: str, image: ShapedImage) -> Shape:
    kind, bitmap = entry.tag, None
    if kind == "box":
        points = [_numbers(entry, "xtl", "ytl"), _numbers(entry, "xbr", "ybr")]
    elif kind in ("polygon", "polyline", "points"):
        texts_of = (entry.get("points") or "").split(";")
        points = [tuple(float(value) for value in pair.split(",")) for pair in texts_of if pair.strip()]
    elif kind == "ellipse":
        points = [_numbers(entry, "cx", "cy"), _numbers(entry, "rx", "ry")]
    elif kind == "mask":
        width, height = (int(value) for value in _numbers(entry, "width", "height"))
        points = [_numbers(entry, "left", "top")]
        runs = [int(value) for value in (entry.get("rle") or "").split(",") if value.strip()]
        bitmap = partial(_decoded_mask, runs, height, width)
    else:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    image.lose(Message("lost.attributes"), entry.find("attribute") is not None)
    shape = Shape(label, _KINDS.get(kind, kind), points, bitmap=bitmap)
    return rotated(shape, float(entry.get("rotation") or 0))


def _numbers(entry: Element, *keys: str) -> tuple[float, ...]:
    return tuple(float(entry.get(key) or "nan") for key in keys)


def _decoded_mask(lengths: Sequence[int], height: int, width: int) -> np.ndarray:
    """Return a mask, bool (height, width), of CVAT's run lengths: row by row, background first."""
    return filled_runs(lengths, height * width).reshape(height, width)


# --- backups ------------------------------------------------------------------------------------------


def _backups(tree: FileTree) -> dict[str, int]:
    found = [PurePosixPath(name) for name, _ in json_files(tree, b'"shapes"', b'"tracks"')]
    names = [
        str(one) for one in found if one.name == "annotations.json" and str(one.with_name("task.json")) in tree.names
    ]
    return {name: len(_frames(tree, name, _task(tree, name))) for name in names}


def _task(tree: FileTree, annotations: str) -> dict[str, Any]:
    try:
        task = load(tree, str(PurePosixPath(annotations).with_name("task.json")))
    except UnreadableLabel:
        return {}
    return task if isinstance(task, dict) else {}


def _frames(tree: FileTree, annotations: str, task: dict[str, Any]) -> dict[int, tuple[str, tuple[int, int] | None]]:
    """Return the images of a task: number of the frame -> (path below the task's data, size).

    The manifest lists them; without one, they are in the order of their names. Deleted frames are left out.
    """
    data = PurePosixPath(annotations).with_name("data")
    images = [name for name in tree.images if PurePosixPath(name).is_relative_to(data)]
    frames: list[tuple[str, tuple[int, int] | None]] = [
        (PurePosixPath(name).relative_to(data).as_posix(), None) for name in sorted(images, key=natural_key)
    ]
    if (manifest := str(data / "manifest.jsonl")) in tree.names:
        lines = text_lines(tree, manifest, limit=_LARGEST_MANIFEST)
        if lines is None:
            raise UnreadableLabel(Message("import.unreadable"))
        entries = [parse_json(line) for line in lines]
        named = [entry for entry in entries if isinstance(entry, dict) and "name" in entry and "extension" in entry]
        frames = [
            (f"{entry['name']}{entry['extension']}", stored_size(entry.get("width"), entry.get("height")))
            for entry in named
        ] or frames
    stored = task.get("data")
    settings: dict[str, Any] = stored if isinstance(stored, dict) else {}
    step = str(settings.get("frame_filter") or "").rpartition("=")[2]
    start, stop = (settings.get(key) for key in ("start_frame", "stop_frame"))
    first = start if isinstance(start, int) else 0
    last = stop + 1 if isinstance(stop, int) and stop > 0 else len(frames)
    chosen = frames[first : last : int(step) if step.isdecimal() and int(step) else 1]
    deleted = settings.get("deleted_frames") or ()
    return {number: image for number, image in enumerate(chosen) if number not in deleted}


def _parse_backup(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    content = load(tree, name)
    task, path = _task(tree, name), tree.path(name)
    split = _SUBSETS.get(str(task.get("subset") or "").casefold())
    frames = _frames(tree, name, task).items()
    images = {number: ShapedImage(file, size, split=split) for number, (file, size) in frames}
    tracked = False

    def image_of(entry: dict[str, Any]) -> ShapedImage:
        return image_at(images, entry.get("frame"))

    def read_shape(entry: dict[str, Any], image: ShapedImage) -> Shape | None:
        label = label_text(entry, "label")
        return _stored_shape(entry, label, image) if "type" in entry else image.set_verdict(label)

    for job in content if isinstance(content, list) else [content]:
        yield from each_entry(path, "shape", job.get("tags") or [], image_of, read_shape)
        yield from each_entry(path, "shape", job.get("shapes") or [], image_of, read_shape, layer="z_order")
        for number, track in enumerate(job.get("tracks") or (), 1):
            tracked = True

            def read(entry: dict[str, Any], image: ShapedImage, track: dict[str, Any] = track) -> Shape | None:
                image.lose(Message("lost.between_key_frames"))
                return None if entry.get("outside") else _stored_shape(entry, label_text(track, "label"), image)

            yield from each_entry(path, "track", track.get("shapes") or [], image_of, read, id=number)
    for image in images.values():
        if image.shapes or image.verdict is not None or not tracked:  # CVAT shows tracks between their key frames too
            yield image


def _stored_shape(entry: dict[str, Any], label: str, image: ShapedImage) -> Shape:
    kind, numbers, bitmap = str(entry.get("type")), entry.get("points") or [], None
    if kind not in ("mask", "ellipse", "rectangle", *_KINDS):
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    if kind == "mask":
        *runs, left, top, right, bottom = (int(value) for value in numbers)
        points, bitmap = [(left, top)], partial(_decoded_mask, runs, bottom - top + 1, right - left + 1)
    elif kind == "ellipse":
        x, y, right, top = numbers
        points = [(x, y), (right - x, y - top)]
    else:
        points = list(pairs(numbers))
    image.lose(Message("lost.attributes"), entry.get("attributes"))
    image.lose(Message("lost.groups"), entry.get("group"))
    shape = Shape(label, "box" if kind == "rectangle" else _KINDS.get(kind, kind), points, bitmap=bitmap)
    return rotated(shape, float(entry.get("rotation") or 0))


CVAT_BACKUP = ShapeReader(_backups, _parse_backup)


# --- writing ------------------------------------------------------------------------------------------


class CvatWriter(LabelWriter):
    """annotations.xml and images/. Regions are masks (the default) or polygons; a verdict is a tag of the image."""

    holds = "both"

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
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

    def write(self, image: ExportedImage) -> None:
        export = self.export
        export.copy_image(image, PurePosixPath("images", export.image_name(image)))
        entry = SubElement(self._root, "image", id=str(self._number), name=export.image_name(image))
        if image.split:
            entry.set("subset", {"train": "Train", "val": "Validation", "test": "Test"}[image.split])
        entry.set("width", str(image.width))
        entry.set("height", str(image.height))
        self._number += 1
        if image.verdict is not None:
            SubElement(entry, "tag", label=image.verdict, source="manual")
        for order, region in enumerate(regions(image.mask, export.numbers)):
            self._add_region(entry, region, order)

    def _add_region(self, entry: Element, region: LabelRegion, order: int) -> None:
        name = self.export.names[self.export.numbers[region.class_id]]
        common = {"label": name, "source": "manual", "occluded": "0"}
        if self._polygons:
            points = ";".join(f"{x:.2f},{y:.2f}" for x, y in polygon(region).tolist())
            SubElement(entry, "polygon", common | {"points": points, "z_order": str(order)})
            return
        rect = region.rect
        position = {"left": rect.x, "top": rect.y, "width": rect.width, "height": rect.height}
        attributes = {key: str(value) for key, value in position.items()} | {"z_order": str(order)}
        rle = ", ".join(map(str, run_lengths(region.inside.ravel())))  # row by row
        SubElement(entry, "mask", common | {"rle": rle} | attributes)

    def finish(self) -> None:
        indent(self._root)
        text = tostring(self._root, encoding="unicode")
        write_text(self.export.out / "annotations.xml", f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')


# --- Pascal VOC, LabelMe (web) --------------------------------------------------------------------


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


VOC = ShapeReader(_files, _parse)


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
