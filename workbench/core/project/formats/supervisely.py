"""Supervisely JSON: one file per image in a folder "ann", with polygons, boxes and bitmaps."""

from __future__ import annotations

import base64
import binascii
import io
import zlib
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from PIL import Image

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape

_KEYS = (b'"objects"', b'"classTitle"')
_LARGEST = 64 << 20  # bytes of an uncompressed bitmap file


def recognition_score(tree: FileTree) -> int:
    return sum(1 for _ in json_files(tree, *_KEYS))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since objects have names."""
    return find_shapes(tree, [name for name, _ in json_files(tree, *_KEYS)], _parse, options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree.path(name))
    size = content.get("size") or {}
    stored = (size["width"], size["height"]) if size.get("width") and size.get("height") else None
    # "ann/part.jpg.json" belongs to "img/part.jpg".
    path = PurePosixPath(name)
    image = str(path.parent.parent / "img" / path.stem)
    shaped = ShapedImage(image, stored, split=split_of(name), lost=Counter())
    for entry in content["objects"]:
        shape = _shape(entry)
        if shape is None:
            shaped.lost[f"shapes of the kind {entry.get('geometryType')}"] += 1
        else:
            shaped.shapes.append(shape)
    yield shaped


def _shape(entry: dict[str, Any]) -> Shape | None:
    label, kind = str(entry["classTitle"]), entry.get("geometryType")
    if kind == "bitmap":
        bitmap = entry["bitmap"]
        return Shape(label, "bitmap", [bitmap["origin"]], bitmap=partial(_bitmap, bitmap["data"]))
    points = (entry.get("points") or {}).get("exterior") or []
    if kind == "polygon":
        return Shape(label, "polygon", points, holes=tuple((entry["points"].get("interior")) or ()))
    if kind == "rectangle":
        return Shape(label, "box", points)
    if kind in ("line", "point"):
        return Shape(label, kind, points)
    return None


def _bitmap(data: str) -> np.ndarray:
    """Return a bitmap, bool (h, w): a PNG compressed by zlib, in base64."""
    try:
        packed = zlib.decompressobj().decompress(base64.b64decode(data), _LARGEST)
        with Image.open(io.BytesIO(packed)) as file:
            if file.width * file.height > 1 << 28:
                raise UnreadableLabel(Message("import.run_lengths"))
            pixels = np.asarray(file.convert("RGBA"))
    except (zlib.error, binascii.Error, OSError, SyntaxError, EOFError) as error:
        raise ValueError(str(error)) from None
    return (pixels[..., :3].any(axis=2)) & (pixels[..., 3] > 0)
