"""labelme's JSON (4.x to 5.x, and compatible tools): one file per image with shapes, flags, embedded image."""

from __future__ import annotations

import base64
import binascii
import io
import math
import os
from collections import Counter
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.geometry.drawing import NOTHING, Paint, Rect, draw_region, draw_segment
from workbench.core.geometry.polygons import draw_polygon
from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    UnreadableLabel,
    reason,
    without_suffix,
)
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID, NOT_LABELED, Project
from workbench.core.project.storage import write_json
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.json_io import JsonError, parse_json, read_file
from workbench.inference.io.opencv import cv2

IGNORE, BACKGROUND = "__ignore__", "_background_"
LINE_RADIUS = 1.5  # a line has no width of its own: drawn three pixels wide
POINT_RADIUS = 2.5
MAX_BYTES = 1 << 30  # bytes of a label file, which may embed its image
_POLYGONS = ("polygon", "rotation", "oriented_rectangle")


def recognition_score(tree: FileTree) -> int:
    count = 0
    for name in tree.with_suffix(".json"):
        try:
            count += b'"shapes"' in read_file(tree.path(name), limit=MAX_BYTES)
        except (FileNotFoundError, JsonError):
            continue
    return count


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since shapes carry names."""
    batch = ImportedLabels()
    images = {name: tree.path(name) for name in tree.images}
    by_stem: dict[str, list[str]] = {}
    for name in images:
        by_stem.setdefault(PurePosixPath(name).stem.casefold(), []).append(name)
    for name in tree.with_suffix(".json"):
        try:
            content = _load(tree.path(name))
            if isinstance(content.get("shapes"), list):  # otherwise some other JSON file
                batch.entries.append(_entry(tree, name, content, options, by_stem))
        except FAULTS as error:
            batch.skipped.append((str(tree.path(name)), reason(error)))
    labeled = {entry.image for entry in batch.entries}
    batch.unlabeled = [(path, name) for name, path in images.items() if path not in labeled] if batch.entries else []
    return batch


def _entry(
    tree: FileTree, name: str, content: dict[str, Any], options: ImportOptions, by_stem: dict[str, list[str]]
) -> ImportedEntry:
    image_name = _image_name(content)
    image, key = _find_image(tree, name, image_name, by_stem)
    # The file is read again later, since the embedded images of a whole dataset may not fit in memory.
    read = partial(_read, tree.path(name), options)
    embedded = partial(_embedded, tree.path(name)) if content.get("imageData") else None
    stem = PurePosixPath(image_name).stem or PurePosixPath(name).stem
    aliases = tuple(dict.fromkeys((without_suffix(name), str(PurePosixPath(name).parent / stem))))
    if image is None and _is_outside(name, image_name):
        missing = Message("import.image_outside", path=image_name[:200])
        return ImportedEntry(tree.path(name), image, key, read, aliases, embedded, missing)
    return ImportedEntry(tree.path(name), image, key, read, aliases, embedded)


def _load(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_file(path, limit=MAX_BYTES))
    except (FileNotFoundError, JsonError) as error:
        raise UnreadableLabel(str(error)) from None
    return content if isinstance(content, dict) else {}


def _image_name(content: dict[str, Any]) -> str:
    """Return imagePath with forward slashes; "" if it is absent."""
    name = content.get("imagePath")
    return PureWindowsPath(name).as_posix() if isinstance(name, str) else ""


def _is_outside(label: str, image_name: str) -> bool:
    """Return True if imagePath, relative to the label's folder, leads out of the imported folder."""
    if image_name.startswith("/") or PureWindowsPath(image_name).drive:
        return True
    return os.path.normpath(PurePosixPath(label).parent / image_name).split(os.sep)[0] == ".."


def _find_image(tree: FileTree, label: str, image_name: str, by_stem: dict[str, list[str]]) -> tuple[Path | None, str]:
    """Return the image's file and key. Paths in label files are only followed inside the imported folder."""
    folder = PurePosixPath(label).parent
    if image_name and not _is_outside(label, image_name) and PurePosixPath(image_name).suffix.lower() in IMAGE_SUFFIXES:
        inside = os.path.normpath(folder / image_name).replace(os.sep, "/")
        path = tree.path(inside)
        if os.path.isfile(path):  # False for a name that is too long, where Path.is_file raises
            return path, inside
    for stem in dict.fromkeys((PurePosixPath(label).stem, PurePosixPath(image_name).stem)):
        names = by_stem.get(stem.casefold(), [])
        matches = [name for name in names if PurePosixPath(name).parent == folder] or names
        if len(matches) == 1:
            return tree.path(matches[0]), matches[0]
    suffix = PurePosixPath(image_name).suffix.lower()
    return None, without_suffix(label) + (suffix if suffix in IMAGE_SUFFIXES else ".png")


def _embedded(path: Path) -> bytes:
    try:
        return base64.b64decode(_load(path)["imageData"])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableLabel(Message("import.embedded_damaged", why=error)) from None


def _read(path: Path, options: ImportOptions, width: int, height: int) -> ImportedLabel:
    content = _load(path)
    declared_size = content.get("imageWidth"), content.get("imageHeight")
    if all(isinstance(value, int) and value > 0 for value in declared_size) and declared_size != (width, height):
        raise UnreadableLabel(
            Message("import.drawn_size", w=declared_size[0], h=declared_size[1], width=width, height=height)
        )
    mask = np.zeros((height, width), np.uint8)
    names: dict[int, str] = {}
    left_out: Counter[str] = Counter()
    for shape in content["shapes"]:
        if not isinstance(shape, dict) or not isinstance(shape.get("label"), str):
            raise UnreadableLabel(Message("import.no_label"))
        try:
            drawn = _draw(mask, shape, _id_of(shape["label"], names, options))
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            raise UnreadableLabel(Message("import.shape_damaged", name=f"{shape['label']!r}", why=error)) from None
        if not drawn:
            left_out[str(shape.get("shape_type"))] += 1
    flags = content.get("flags")
    set_flags = [name for name, on in flags.items() if on is True] if isinstance(flags, dict) else []
    notes = [f"{count} shapes of the kind {kind} were left out." for kind, count in left_out.items()]
    present = set(annotation.ids_in(mask))
    names = {id: name for id, name in names.items() if id in present}
    return ImportedLabel(mask, names, set_flags[0] if len(set_flags) == 1 else None, notes)


def _id_of(label: str, names: dict[int, str], options: ImportOptions) -> int:
    """Return an id, local to this file, for a shape's label; the project's id is found by name later."""
    if label == IGNORE:
        return DONT_CARE
    if label == BACKGROUND:
        return 0
    name = options.class_name or label.strip() or "unnamed"
    for id, known in names.items():
        if known == name:
            return id
    if len(names) == MAX_CLASS_ID:
        raise UnreadableLabel(Message("import.too_many_labels", n=MAX_CLASS_ID))
    names[len(names) + 1] = name
    return len(names)


def _draw(mask: np.ndarray, shape: dict[str, Any], id: int) -> bool:
    """Draw one shape on the mask; return False if its kind is unknown."""
    kind = shape.get("shape_type") or "polygon"
    points = [(float(x), float(y)) for x, y in shape.get("points") or []]
    if not all(math.isfinite(value) and abs(value) < 1e7 for point in points for value in point):
        raise ValueError(Message("import.coordinate"))
    paint = Paint(id)
    if kind == "mask":
        _draw_mask(mask, shape.get("mask"), points, paint)
    elif not points:
        raise ValueError(Message("import.no_points"))
    elif kind == "rectangle":
        (x0, y0), (x1, y1) = points[0], points[len(points) // 2]  # two corners, or all four of them
        _fill_box(mask, min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1), paint)
    elif kind == "circle":
        radius = math.dist(points[0], points[1])
        draw_segment(mask, points[0], points[0], radius, paint)
    elif kind in ("line", "linestrip"):
        for start, end in zip(points, points[1:] or points):
            draw_segment(mask, start, end, LINE_RADIUS, paint)
    elif kind in ("point", "points"):
        for point in points:
            draw_segment(mask, point, point, POINT_RADIUS, paint)
    elif kind in _POLYGONS:
        if len(points) < 3:
            raise ValueError(Message("import.polygon"))
        draw_polygon(mask, points, paint)
    else:
        return False
    return True


def _fill_box(mask: np.ndarray, left: float, top: float, right: float, bottom: float, paint: Paint) -> None:
    """Fill all pixels whose center lies in the box."""
    x, y = math.ceil(left - 0.5), math.ceil(top - 0.5)
    rect = Rect(x, y, math.ceil(right - 0.5) - x, math.ceil(bottom - 0.5) - y).clipped(mask.shape[1], mask.shape[0])
    if not rect.empty and rect != NOTHING:
        paint.apply(mask, rect, np.ones((rect.height, rect.width), bool))


def _draw_mask(mask: np.ndarray, encoded: Any, points: list[tuple[float, float]], paint: Paint) -> None:
    """Draw a base64 PNG with its first pixel at the first point."""
    if not isinstance(encoded, str) or not points:
        raise ValueError(Message("import.no_mask"))
    try:
        with Image.open(io.BytesIO(base64.b64decode(encoded))) as file:
            region = np.array(file.convert("L")) > 0
    except (OSError, SyntaxError, EOFError, binascii.Error) as error:
        raise ValueError(str(error)) from None
    draw_region(mask, region, (int(points[0][0]), int(points[0][1])), paint)


# --- writing ----------------------------------------------------------------------------------------


def write(project: Project, out: Path, keys: list[str]) -> list[str]:
    """Write one JSON per image under its key, with every region a "mask" shape to preserve holes and single pixels.

    Returns sentences on what the format cannot hold.
    """
    names = {info.id: info.name for info in project.classes} | {DONT_CARE: IGNORE}
    open_areas = 0
    for key in keys:
        path = project.image_path(key)
        size = image_size(path)
        mask = annotation.load_mask(project, key, size)
        note = annotation.load_note(project, key)
        if mask is None and note.verdict is None:
            continue
        shapes: list[dict[str, Any]] = []
        if mask is not None:
            open_areas += bool((mask == NOT_LABELED).any())
            for id in annotation.ids_in(mask):
                if id in names:
                    shapes += _regions(mask == id, names[id])
        target = out / PurePosixPath(without_suffix(key.lstrip("@")) + ".json")
        content = {
            "version": "5.3.0",
            "flags": {name: name == note.verdict for name in project.file.verdicts} if note.verdict else {},
            "shapes": shapes,
            "imagePath": _relative_path(path, target.parent),
            "imageData": None,
            "imageHeight": size[1],
            "imageWidth": size[0],
        }
        write_json(target, content)
    if open_areas:
        return [f"{open_areas} masks hold areas that are not labelled yet: labelme has no mark for them."]
    return []


def _relative_path(path: Path, folder: Path) -> str:
    """Return the relative path from the label's folder to the image; its name if there is none (another drive)."""
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:
        return path.name


def _regions(mask: np.ndarray, label: str) -> list[dict[str, Any]]:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    shapes = []
    for number in range(1, count):
        x, y, width, height, _ = (int(value) for value in stats[number])
        region = labels[y : y + height, x : x + width] == number
        buffer = io.BytesIO()
        Image.fromarray(region.astype(np.uint8) * 255).save(buffer, "PNG")
        shapes.append(
            {
                "label": label,
                "points": [[float(x), float(y)], [float(x + width - 1), float(y + height - 1)]],
                "group_id": None,
                "description": "",
                "shape_type": "mask",
                "flags": {},
                "mask": base64.b64encode(buffer.getvalue()).decode(),
            }
        )
    return shapes
