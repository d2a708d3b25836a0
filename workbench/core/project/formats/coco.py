"""COCO JSON: images, annotations with polygons, run lengths or boxes, and categories in one file per data split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, UnreadableLabel
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import Shape, ShapedImage, find_shapes, pairs, split_of

_MOST_PIXELS = 1 << 30  # of a decoded run-length mask


def recognition_score(tree: FileTree) -> int:
    return sum(data.count(b'"image_id"') or 1 for _, data in json_files(tree, b'"images"', b'"annotations"'))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since categories have names."""
    files = [name for name, _ in json_files(tree, b'"images"', b'"annotations"')]
    return find_shapes(tree, files, _parse, options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree.path(name))
    images, annotations = content.get("images"), content.get("annotations")
    if not isinstance(images, list) or not isinstance(annotations, list):
        raise UnreadableLabel("it is not a COCO file of objects: images or annotations are missing")
    categories = {one["id"]: str(one["name"]) for one in content.get("categories") or []}
    split = split_of(name)
    shaped = {image["id"]: _image(image, split) for image in images}
    for entry in annotations:
        image = shaped.get(entry.get("image_id"))
        if image is None:
            continue
        category = entry.get("category_id")
        label = categories.get(category, f"class_{category}")
        image.shapes += _shapes(entry, label, image)
        if entry.get("iscrowd"):
            image.lost["crowd flags"] += 1
        if entry.get("keypoints"):
            image.lost["key point sets"] += 1
    yield from shaped.values()


def _image(image: dict[str, Any], split: str | None) -> ShapedImage:
    width, height = image.get("width"), image.get("height")
    size = (width, height) if isinstance(width, int) and isinstance(height, int) and width > 0 < height else None
    return ShapedImage(str(image["file_name"]), size, split=split, lost=Counter())


def _shapes(entry: dict[str, Any], label: str, image: ShapedImage) -> Iterator[Shape]:
    segmentation = entry.get("segmentation")
    if isinstance(segmentation, dict):
        yield Shape(label, "bitmap", [(0, 0)], bitmap=partial(decode_rle, segmentation))
    elif isinstance(segmentation, list) and segmentation:
        for polygon in segmentation:
            points = list(pairs(polygon))
            if len(points) >= 3:
                yield Shape(label, "polygon", points)
            else:
                image.lost["polygons with fewer than three points"] += 1
    elif entry.get("bbox"):
        x, y, width, height = (float(value) for value in entry["bbox"])
        yield Shape(label, "box", [(x, y), (x + width, y + height)])


def decode_rle(rle: dict[str, Any]) -> np.ndarray:
    """Return the mask, bool (H, W), of COCO run lengths: {"size": [H, W], "counts": list or compressed string}.

    Runs alternate between background and object, column by column. Raises UnreadableLabel if they do not fill the
    image exactly. Source: Lin et al., Microsoft COCO (2014), maskApi.c.
    """
    height, width = (int(value) for value in rle["size"])
    counts = rle["counts"]
    if isinstance(counts, str):
        counts = _uncompressed(counts)
    runs = np.asarray(counts, np.int64)
    if not 0 < height * width <= _MOST_PIXELS or runs.ndim != 1 or (runs < 0).any() or runs.sum() != height * width:
        raise UnreadableLabel("its run lengths do not fill the image")
    values = np.arange(len(runs)) % 2 == 1
    return np.repeat(values, runs).reshape(width, height).T


def _uncompressed(text: str) -> list[int]:
    """Return the run lengths of COCO's compressed string: 5 bits per character, differences to the run before last."""
    counts: list[int] = []
    position = 0
    while position < len(text):
        value, shift, more = 0, 0, True
        while more:
            if position >= len(text) or shift > 60:
                raise UnreadableLabel("its run lengths are damaged")
            bits = ord(text[position]) - 48
            value |= (bits & 0x1F) << shift
            more = bool(bits & 0x20)
            position, shift = position + 1, shift + 5
            if not more and bits & 0x10:
                value |= -1 << shift
        if len(counts) > 2:
            value += counts[-2]
        counts.append(value)
    return counts
