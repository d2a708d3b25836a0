"""Label Studio: tasks with shapes in percent of the image and choices, in the exports JSON, JSON-MIN and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedLabels,
    ImportOptions,
    Refusal,
    UnreadableLabel,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_tables import LARGEST
from workbench.core.project.formats.shape_labels import (
    ShapedImage,
    each_image,
    find_shapes,
    label_text,
    listed,
    set_verdict,
)
from workbench.core.project.formats.shapes import Shape, rotated
from workbench.core.project.formats.text_files import json_files, load, read_text
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.json_io import parse_json

_KEYS = (b'"annotations"', b'"from_name"', b'"result"')
_FLAT_KEYS = (b'"annotation_id"', b'"annotator"')  # of JSON-MIN
_SHAPES = ("polygon", "rectangle", "ellipse", "brush", "keypoint")
_NO_LABELS = frozenset("id annotator annotation_id created_at updated_at lead_time agreement".split())


def recognition_score(tree: FileTree) -> int:
    full = sum(data.count(b'"result"') for _, data in json_files(tree, *_KEYS))
    flat = sum(data.count(b'"annotation_id"') for _, data in _flat_files(tree))
    return full + flat + sum(map(len, _tables(tree).values()))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since regions have names."""
    found = [name for name, _ in json_files(tree, *_KEYS)]
    rows = _tables(tree)
    files = [*found, *(name for name, _ in _flat_files(tree)), *rows]
    return find_shapes(tree, files, lambda tree, name: _parse(tree, name, rows.get(name)), options)


def _flat_files(tree: FileTree) -> Iterator[tuple[str, bytes]]:
    for name, data in json_files(tree, *_FLAT_KEYS):
        if _KEYS[2] not in data:
            yield name, data


def _tables(tree: FileTree) -> dict[str, list[dict[str, str]]]:
    """Return the rows of the CSV files."""
    found = {}
    for name in tree.with_suffix(".csv", ".tsv"):
        try:
            text = read_text(tree, tree.path(name), limit=LARGEST)
            first = text[:2000]
            if "annotation_id" in first and "annotator" in first:
                separator = "\t" if "\t" in first.split("\n", 1)[0] else ","
                found[name] = list(csv.DictReader(io.StringIO(text), delimiter=separator))
        except (FileNotFoundError, ValueError, UnreadableLabel, csv.Error):
            continue
    return found


def _parse(tree: FileTree, name: str, rows: list[dict[str, str]] | None) -> Iterator[ShapedImage | Refusal]:
    content = load(tree, name) if rows is None else rows

    def parse(task: dict[str, Any]) -> ShapedImage | None:
        task = task if rows is None else _unpacked(task)
        if not isinstance(task.get("annotations"), list):
            task = _task_of(task)
        names = image_names(task)
        stems = [PurePosixPath(one).stem for one in names]
        file = next((one for one, stem in zip(names, stems) if stem in tree.image_stems), names[0])
        shaped = ShapedImage(file, split=split_of(name), lost=Counter())
        annotations = [one for one in listed(task["annotations"]) if not one.get("was_cancelled")]
        if len(annotations) > 1:
            shaped.lost[Message("lost.further_annotations")] += len(annotations) - 1
        results = listed(annotations[-1]["result"]) if annotations else []
        if not results and any(one.get("result") for one in annotations):
            shaped.refuse(Message("import.empty_repetition"))
        labels = {one.get("id"): one for one in results if isinstance(one, dict) and one.get("type") == "labels"}
        for number, result in enumerate(results, 1):
            with shaped.entry("region", number):
                _add(result, shaped, labels)
        return shaped if annotations else None

    tasks = content if isinstance(content, list) else [content]
    return each_image(tree, name, "task" if rows is None else "row", tasks, parse)


def _unpacked(row: dict[str, str]) -> dict[str, Any]:
    """Return a row of a table, with the values of its cells that hold JSON."""
    values: dict[str, Any] = {}
    for key, cell in row.items():
        values[key] = parse_json(cell.encode()) if cell and cell[0] in "[{" else cell
    return values


def _task_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return a task as in the export JSON for an object of JSON-MIN or a row of a table: one value for each control."""
    data: dict[str, Any] = {}
    results: list[dict[str, Any]] = []
    for key, value in row.items():
        regions = value if isinstance(value, list) else [value]
        if all(isinstance(one, dict) for one in regions):
            results += [{**one, "value": one, "type": _type_of(one)} for one in regions]
        elif isinstance(value, str) and _is_image(value):
            data[key] = value
        elif key not in _NO_LABELS and value and all(isinstance(one, str) for one in regions):
            results.append({"type": "choices", "value": {"choices": regions}})
    return {"data": data, "annotations": [{"result": results}]}


def _type_of(value: dict[str, Any]) -> str:
    return next((key for key in value if key == "choices" or key.endswith("labels")), "")


def _is_image(address: str) -> bool:
    return PurePosixPath(_path_of(address)).suffix.lower() in IMAGE_SUFFIXES


def _path_of(address: str) -> str:
    """Return the path of a web address, an address in a store, or a local file ("?d=folder/a.jpg")."""
    return unquote(urlsplit(address).query.partition("d=")[2] or urlsplit(address).path)


def image_names(task: dict[str, Any]) -> list[str]:
    """Return possible file names of a task: uploads have a random prefix of eight signs and a hyphen."""
    values = [str(value) for value in (task.get("data") or {}).values() if isinstance(value, str)]
    address = next(filter(_is_image, values), next((value for value in values if "/" in value), ""))
    path = _path_of(address).lstrip("/")
    name = PurePosixPath(path).name
    prefix, hyphen, rest = name.partition("-")
    if hyphen and len(prefix) == 8 and rest:
        return [rest, name]
    return [path if address and name else str(task.get("file_upload") or "")]


def _add(result: dict[str, Any], shaped: ShapedImage, labels: dict[Any, dict[str, Any]]) -> None:
    value, kind = result.get("value") or {}, str(result.get("type"))
    if kind == "choices":
        choices = _list_of(value.get("choices"))
        if len(choices) != 1:
            raise UnreadableLabel(Message("import.several_flags", names=", ".join(map(str, choices[:5]))))
        set_verdict(shaped, str(choices[0]))
        return
    form = kind.removesuffix("labels")
    if kind == "labels" and result.get("id") is not None:
        return  # the label of a region of the same id
    if form not in _SHAPES:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    named = labels.get(result.get("id"), {}).get("value") or {}
    names = _list_of(value.get(kind) or value.get("labels") or named.get("labels"))
    if not names and form == kind:
        names = ["defect"]  # a control without names
    if len(names) > 1:
        raise UnreadableLabel(Message("import.several_names", names=", ".join(map(str, names[:5]))))
    shaped.shapes.append(_shape(form, value, result, label_text(names, 0), shaped))


def _list_of(names: Any) -> list[Any]:
    if names and not isinstance(names, list):
        raise UnreadableLabel(Message("import.no_label"))
    return names or []


def _shape(form: str, value: dict[str, Any], result: dict[str, Any], label: str, shaped: ShapedImage) -> Shape:
    width, height = result.get("original_width") or 0, result.get("original_height") or 0
    if form == "brush":
        shaped.size = int(width), int(height)
        return Shape(label, "bitmap", [(0, 0)], bitmap=partial(decode_brush, value["rle"], int(height), int(width)))
    if form == "polygon":
        points = [(px / 100, py / 100) for px, py in value["points"]]
        return Shape(label, "polygon", points, fractions=True)
    x, y = float(value.get("x", 0)) / 100, float(value.get("y", 0)) / 100
    degrees = float(value.get("rotation") or 0)
    if degrees and form in ("rectangle", "ellipse"):
        if not width or not height:
            raise UnreadableLabel(Message("import.unknown_size"))
        return _rotated(form, value, label, degrees, width, height)
    if form == "rectangle":
        corners = [(x, y), (x + value["width"] / 100, y + value["height"] / 100)]
        return Shape(label, "box", corners, fractions=True)
    if form == "ellipse":
        return Shape(label, "ellipse", [(x, y), (value["radiusX"] / 100, value["radiusY"] / 100)], fractions=True)
    return Shape(label, "point", [(x, y)], fractions=True)


def _rotated(form: str, value: dict[str, Any], label: str, degrees: float, width: int, height: int) -> Shape:
    """Return a rotated box or ellipse as a polygon. A box turns clockwise about its left upper corner."""
    x, y = value["x"] / 100 * width, value["y"] / 100 * height
    if form == "ellipse":
        radii = value["radiusX"] / 100 * width, value["radiusY"] / 100 * height
        points = rotated(Shape(label, "ellipse", [(x, y), radii]), degrees).points
    else:
        across, down = value["width"] / 100 * width, value["height"] / 100 * height
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        corners = ((0, 0), (across, 0), (across, down), (0, down))
        points = [(x + u * cos - v * sin, y + u * sin + v * cos) for u, v in corners]
    return Shape(label, "polygon", [(px / width, py / height) for px, py in points], fractions=True)


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
