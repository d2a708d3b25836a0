"""Label Studio JSON export: tasks with polygons, boxes, ellipses, brush masks and choices, in percent of the image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, ImportedLabels, ImportOptions, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.json_labels import json_files, load
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape

_KEYS = (b'"annotations"', b'"from_name"', b'"result"')
_KINDS = ("polygonlabels", "rectanglelabels", "ellipselabels", "brushlabels", "keypointlabels")


def recognition_score(tree: FileTree) -> int:
    return sum(data.count(b'"result"') for _, data in json_files(tree, *_KEYS))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since regions have names."""
    return find_shapes(tree, [name for name, _ in json_files(tree, *_KEYS)], _parse, options)


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    content = load(tree.path(name))
    for task in content if isinstance(content, list) else [content]:
        shaped = ShapedImage(image_name(task), split=split_of(name), lost=Counter())
        annotations = [one for one in task.get("annotations") or [] if not one.get("was_cancelled")]
        if len(annotations) > 1:
            shaped.lost["further annotations of the same image"] += len(annotations) - 1
        for result in annotations[-1]["result"] if annotations else []:
            _add(result, shaped)
        if annotations:
            yield shaped


def image_name(task: dict[str, Any]) -> str:
    """Return the file name of a task: uploads have a random prefix of eight signs and a hyphen."""
    data = task.get("data") or {}
    address = next((str(value) for value in data.values() if isinstance(value, str) and "/" in value), "")
    name = PurePosixPath(unquote(urlsplit(address).query.partition("d=")[2] or urlsplit(address).path)).name
    prefix, hyphen, rest = name.partition("-")
    return rest if hyphen and len(prefix) == 8 and rest else name or str(task.get("file_upload") or "")


def _add(result: dict[str, Any], shaped: ShapedImage) -> None:
    value, kind = result.get("value") or {}, result.get("type")
    if kind == "choices":
        choices = value.get("choices") or []
        shaped.verdict = str(choices[0]) if len(choices) == 1 else None
        return
    if kind not in _KINDS:
        shaped.lost[f"results of the kind {kind}"] += 1
        return
    labels = value.get(kind) or ["defect"]
    label = str(labels[0])
    shape = _shape(kind, value, result, label)
    if shape is None:
        shaped.lost["rotated boxes"] += 1
    else:
        shaped.shapes.append(shape)


def _shape(kind: str, value: dict[str, Any], result: dict[str, Any], label: str) -> Shape | None:
    if kind == "brushlabels":
        size = int(result["original_height"]), int(result["original_width"])
        return Shape(label, "bitmap", [(0, 0)], bitmap=partial(decode_brush, value["rle"], *size))
    if value.get("rotation"):
        return None
    x, y = float(value.get("x", 0)) / 100, float(value.get("y", 0)) / 100
    if kind == "polygonlabels":
        points = [(px / 100, py / 100) for px, py in value["points"]]
        return Shape(label, "polygon", points, fractions=True)
    if kind == "rectanglelabels":
        corners = [(x, y), (x + value["width"] / 100, y + value["height"] / 100)]
        return Shape(label, "box", corners, fractions=True)
    if kind == "ellipselabels":
        return Shape(label, "ellipse", [(x, y), (value["radiusX"] / 100, value["radiusY"] / 100)], fractions=True)
    return Shape(label, "point", [(x, y)], fractions=True)


def decode_brush(data: list[int], height: int, width: int) -> np.ndarray:
    """Return a brush mask, bool (height, width), of Label Studio's run lengths of RGBA bytes.

    Source: the format of `@thi.ng/rle-pack`: a bit stream of word and run sizes. Raises UnreadableLabel if damaged.
    """
    bits = np.unpackbits(np.asarray(data, np.uint8))
    if not 0 < height * width <= 1 << 28:
        raise UnreadableLabel(Message("import.run_lengths"))
    position = 0

    def number(count: int) -> int:
        nonlocal position
        if position + count > len(bits):
            raise UnreadableLabel(Message("import.run_lengths"))
        value = int("".join(map(str, bits[position : position + count])), 2)
        position += count
        return value

    length, word = number(32), number(5) + 1
    sizes = [number(4) + 1 for _ in range(4)]
    if length != height * width * 4 or word != 8:
        raise UnreadableLabel(Message("import.run_lengths"))
    out, filled = np.zeros(length, np.uint8), 0
    while filled < length:
        repeated, count = number(1), 0
        count = number(sizes[number(2)]) + 1
        end = min(length, filled + count)
        if repeated:
            out[filled:end] = number(word)
        else:
            for index in range(filled, end):
                out[index] = number(word)
        filled = end
    return out.reshape(height, width, 4)[..., 3] > 0
