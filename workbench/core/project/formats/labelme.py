"""labelme's JSON (4.x to 5.x, and X-AnyLabeling's dialect): one file per image with shapes, flags, embedded image."""

from __future__ import annotations

import base64
import binascii
import io
import os
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, UnreadableLabel
from workbench.core.project.formats.label_export import (
    ExportedImage,
    LabelExport,
    LabelRegion,
    LabelWriter,
    inset_polygon,
    regions,
    write_lines,
)
from workbench.core.project.formats.shape_labels import IGNORE, ShapedImage, ShapeReader, label_text, stored_size
from workbench.core.project.formats.shapes import Shape, checked, decoded_image
from workbench.core.project.formats.text_files import LARGEST, json_files, load
from workbench.core.project.project import DONT_CARE
from workbench.core.project.storage import write_json
from workbench.core.text_patterns import as_text, is_text
from workbench.inference.io.opencv import cv2

_KINDS = {
    "polygon": "polygon",
    "rotation": "polygon",
    "oriented_rectangle": "polygon",
    "quadrilateral": "polygon",
    "rectangle": "box",
    "circle": "circle",
    "line": "line",
    "linestrip": "line",
    "point": "point",
    "points": "point",
    "mask": "bitmap",
}
# Keys of X-AnyLabeling's shapes that a class map cannot hold, counted where they are set.
_ATTRIBUTES = {
    "group_id": Message("lost.groups"),
    "difficult": Message("lost.difficult"),
    "description": Message("lost.descriptions"),
    "score": Message("lost.scores"),
    "attributes": Message("lost.attributes"),
    "kie_linking": Message("lost.links"),
}
_OTHER_FILES = ("mask_grayscale_map.json", "mask_color_map.json")


def _files(tree: FileTree) -> dict[str, int]:
    """Return all JSON files, which may be damaged ones, with 0 for those that hold no shapes or are backups of CVAT."""
    found = {name: int(b'"tracks"' not in data) for name, data in json_files(tree, b'"shapes"')}
    others = (name for name in tree.with_suffix(".json") if PurePosixPath(name).name not in _OTHER_FILES)
    return dict.fromkeys(others, 0) | found


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree, name, limit=LARGEST)
    if not isinstance(content, dict) or not isinstance(content.get("shapes"), list):
        return  # some other JSON file
    image_name = content.get("imagePath")
    if not isinstance(image_name, str) or not image_name:
        image_name = PurePosixPath(name).stem
    shaped = ShapedImage(image_name, stored_size(content.get("imageWidth"), content.get("imageHeight")))
    if content.get("imageData"):
        shaped.embedded = partial(_embedded, tree, name)
    shaped.read("shape", content["shapes"], _read)
    shaped.set_flags(_flags(content))
    flags = Counter(flag for entry in content["shapes"] for flag in _flags(entry))
    if flags:
        names = ", ".join(f"{flag} ({count})" if count > 1 else flag for flag, count in flags.items())
        shaped.notes.append(Message("import.shape_flags", names=names))
    shaped.lose(Message("lost.descriptions"), content.get("description"))
    yield shaped


READER = ShapeReader(_files, _parse)


def _flags(entry: Any) -> list[str]:
    """Return the flags of an image or a shape that are set."""
    flags = entry.get("flags") if isinstance(entry, dict) else None
    return [flag for flag, on in flags.items() if on is True] if isinstance(flags, dict) else []


def _embedded(tree: FileTree, name: str) -> bytes:
    try:
        return base64.b64decode(load(tree, name, limit=LARGEST)["imageData"])
    except (KeyError, TypeError, ValueError):
        raise UnreadableLabel(Message("import.embedded_damaged")) from None


def _read(entry: Any, image: ShapedImage) -> Shape:
    label, kind = label_text(entry, "label"), entry.get("shape_type") or "polygon"
    points = entry.get("points") or []
    for key, lost in _ATTRIBUTES.items():
        image.lose(lost, entry.get(key) not in (None, "", False, [], {}))
    if kind == "cuboid":
        image.lose(Message("lost.depths"))
        hull = cv2.convexHull(np.array(checked(points), np.float32))
        kind, points = "polygon", hull.reshape(-1, 2).tolist()
    if kind == "rectangle" and len(points) > 2:
        points = [points[0], points[len(points) // 2]]  # all four corners
    if kind not in _KINDS:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    bitmap = partial(_bitmap, entry.get("mask")) if kind == "mask" else None
    return Shape(label, _KINDS[kind], points, bitmap=bitmap)


def _bitmap(encoded: Any) -> np.ndarray:
    """Return the mask of a base64 PNG, bool (h, w)."""
    if not isinstance(encoded, str):
        raise UnreadableLabel(Message("import.no_mask"))
    try:
        data = base64.b64decode(encoded)
    except binascii.Error:
        raise UnreadableLabel(Message("import.damaged_mask")) from None
    return decoded_image(data, "L") > 0


# --- writing ----------------------------------------------------------------------------------------


class LabelmeWriter(LabelWriter):
    """One JSON per image. With copied images, they lie beside it, where X-AnyLabeling expects them.

    Regions are polygons, which X-AnyLabeling and PaddleX read, or labelme's mask shapes. PaddleX needs the lists
    train_anno_list.txt and val_anno_list.txt as well.
    """

    holds, marks_ignored = "both", True

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._names = {info.id: info.name for info in export.classes} | {DONT_CARE: IGNORE}
        self._as_masks = export.options.shapes == "mask"
        self._lists: dict[str, list[str]] = {"train": [], "val": []}

    def write(self, image: ExportedImage) -> None:
        export = self.export
        label = PurePosixPath(image.split, f"{image.name}.json")
        target = export.out / label
        shapes: list[dict[str, Any]] = []
        for region in regions(image.mask, self._names):
            name = self._names[region.class_id]
            if self._as_masks:
                shapes.append(_mask_shape(name, region))
            else:
                shapes.append(_shape(name, "polygon", np.round(inset_polygon(region), 2).tolist()))
        export.copy_image(image, PurePosixPath(image.split, export.image_name(image)), label=label)
        source = export.project.image_path(image.key)
        stored = f"{target.stem}{source.suffix}" if export.options.images else _relative(source, target.parent)
        content = {
            "version": "5.3.0",
            "flags": dict.fromkeys(export.verdicts.exported, False) | {image.verdict: True} if image.verdict else {},
            "shapes": shapes,
            "imagePath": stored if is_text(stored) else as_text(source.name),
            "imageData": None,
            "imageHeight": image.height,
            "imageWidth": image.width,
        }
        write_json(target, content)
        self._lists.setdefault(image.split or "train", []).append(str(label))

    def finish(self) -> None:
        for split, rows in self._lists.items():
            write_lines(self.export.out / f"{split}_anno_list.txt", rows)


def _relative(path: Path, folder: Path) -> str:
    """Return the relative path from the label's folder to the image; its name if there is none (another drive)."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:
        return path.name


def _mask_shape(label: str, region: LabelRegion) -> dict[str, Any]:
    from workbench.core.images.pillow import Image

    buffer = io.BytesIO()
    Image.fromarray(region.inside.astype(np.uint8) * 255).save(buffer, "PNG")
    rect = region.rect
    corners = [[rect.x, rect.y], [rect.x + rect.width - 1, rect.y + rect.height - 1]]
    points = [[float(x), float(y)] for x, y in corners]
    return _shape(label, "mask", points) | {"mask": base64.b64encode(buffer.getvalue()).decode()}


def _shape(label: str, kind: str, points: list[list[float]]) -> dict[str, Any]:
    return {"label": label, "points": points, "group_id": None, "description": "", "shape_type": kind, "flags": {}}
