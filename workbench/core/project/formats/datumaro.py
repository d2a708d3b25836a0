"""Datumaro JSON: items with polygons, boxes, masks and labels; categories by index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions
from workbench.core.project.formats.coco import decode_rle
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape, pairs

_KEYS = (b'"items"', b'"categories"', b'"annotations"')


def recognition_score(tree: FileTree) -> int:
    return sum(data.count(b'"annotations"') for _, data in json_files(tree, *_KEYS))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since categories have names."""
    return find_shapes(tree, [name for name, _ in json_files(tree, *_KEYS)], _parse, options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree.path(name))
    labels = [str(one["name"]) for one in content["categories"].get("label", {}).get("labels", [])]
    for item in content["items"]:
        image = item.get("image") or {}
        size = image.get("size")  # height, width
        stored = (int(size[1]), int(size[0])) if size else None
        path = image.get("path") or item["id"]
        shaped = ShapedImage(str(path), stored, split=split_of(name), lost=Counter())
        for entry in sorted(item.get("annotations") or [], key=lambda one: one.get("z_order") or 0):
            _add(entry, labels, shaped)
        yield shaped


def _add(entry: dict[str, Any], labels: list[str], shaped: ShapedImage) -> None:
    number = entry.get("label_id")
    label = labels[number] if isinstance(number, int) and 0 <= number < len(labels) else f"class_{number}"
    kind = entry.get("type")
    if kind in ("polygon", "polyline"):
        shaped.shapes.append(Shape(label, "polygon" if kind == "polygon" else "line", list(pairs(entry["points"]))))
    elif kind == "bbox":
        x, y, width, height = entry["bbox"]
        shaped.shapes.append(Shape(label, "box", [(x, y), (x + width, y + height)]))
    elif kind == "mask":
        shaped.shapes.append(Shape(label, "bitmap", [(0, 0)], bitmap=partial(decode_rle, entry["rle"])))
    elif kind == "points":
        shaped.shapes.append(Shape(label, "point", list(pairs(entry["points"]))))
    elif kind == "label" and shaped.verdict is None:
        shaped.verdict = label
    else:
        shaped.lost[f"annotations of the kind {kind}"] += 1
