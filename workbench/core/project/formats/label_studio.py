"""Label Studio: JSON, JSON-MIN and CSV exports, and its brush masks as image files, one per class and annotation."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FAULTS,
    TABLE_SUFFIXES,
    FileTree,
    Refusal,
    UnreadableLabel,
    entry_name,
    suffix_of,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.image_finder import ImageFinder
from workbench.core.project.formats.shape_labels import (
    ShapedImage,
    ShapeReader,
    each_image,
    label_text,
    listed,
    one_name,
    stored_size,
)
from workbench.core.project.formats.shapes import Shape, box, rotated
from workbench.core.project.formats.text_files import (
    LARGEST_SET,
    json_counts,
    json_files,
    load,
    read_text,
    table_rows,
    texts,
)
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.json_io import parse_json

_SHAPES = ("polygon", "rectangle", "ellipse", "brush", "keypoint")
_OF_REGIONS = ("choices", "textarea", "rating", "number", "taxonomy")  # beside a shape of the same id
_NO_LABELS = frozenset("id annotator annotation_id created_at updated_at lead_time agreement".split())
_COLUMNS = ("annotation_id", "annotator")  # of JSON-MIN and of tables
_files = json_counts(b'"annotations"', b'"from_name"', b'"result"', count=b'"result"')
_flat_files = json_counts(*(f'"{key}"'.encode() for key in _COLUMNS), count=b'"annotation_id"', without=b'"result"')


def _counts(tree: FileTree) -> dict[str, int]:
    tables = {
        name: len(table_rows(text))
        for name, text in texts(tree, *TABLE_SUFFIXES)
        if all(column in text[:2000] for column in _COLUMNS)
    }
    return _files(tree) | _flat_files(tree) | tables


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    is_table = suffix_of(name) != ".json"
    content = table_rows(read_text(tree, tree.path(name), limit=LARGEST_SET)) if is_table else load(tree, name)

    def parse(task: dict[str, Any]) -> ShapedImage | None:
        if is_table:  # some cells hold JSON
            task = {k: parse_json(cell.encode()) if cell and cell[0] in "[{" else cell for k, cell in task.items()}
        if not isinstance(task.get("annotations"), list):
            task = _task_of(task)
        names = image_names(task)
        if not names[-1]:
            raise UnreadableLabel(Message("import.nameless_image", id=str(task.get("id"))))
        known = (one for one in names if PurePosixPath(one).stem in tree.image_stems)
        shaped = ShapedImage(next(known, names[-1]), split=split_of(name))
        annotations = [one for one in listed(task["annotations"]) if not one.get("was_cancelled")]
        results = listed(annotations[-1]["result"]) if annotations else []
        for number, other in enumerate(annotations[:-1], 1):
            if _content(other) != _content(annotations[-1]):
                why = Message("import.further_annotation")
                shaped.entries += 1
                shaped.refused.append((entry_name("annotation", other.get("id", number)), why))
        skipped = any(one.get("was_cancelled") and one.get("result") for one in task["annotations"])
        if (task.get("predictions") or task.get("drafts") or skipped) and not annotations:
            shaped.refuse(Message("import.predictions_only"))
        of_regions = [one for one in results if isinstance(one, dict) and one.get("id") is not None]
        labels: dict[Any, list[Any]] = defaultdict(list)
        for one in of_regions:
            if one.get("type") == "labels":
                labels[one["id"]] += _list_of((one.get("value") or {}).get("labels"))
        drawn = {one["id"] for one in of_regions if str(one.get("type")).removesuffix("labels") in _SHAPES}
        shaped.read("region", results, partial(_region, labels, drawn))
        return shaped if annotations or shaped.refused else None

    tasks = content if isinstance(content, list) else [content]
    return each_image(tree, name, "row" if is_table else "task", tasks, parse)


READER = ShapeReader(_counts, _parse)


def _content(annotation: dict[str, Any]) -> Counter[str]:
    """Return what an annotation says of the image, for comparison with another one of the same image."""
    results = annotation.get("result")
    if not isinstance(results, list):
        return Counter([repr(results)])
    return Counter(repr((one.get("type"), one.get("value"))) if isinstance(one, dict) else "" for one in results)


def _task_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return a task as in the export JSON for an object of JSON-MIN or a row of a table: one value for each control."""
    data: dict[str, Any] = {}
    results: list[dict[str, Any]] = []
    for key, value in row.items():
        regions = value if isinstance(value, list) else [value]
        if all(isinstance(one, dict) for one in regions):
            for one in regions:
                kinds = (name for name in one if name == "choices" or name.endswith("labels"))
                results.append({**one, "value": one, "type": next(kinds, "")})
        elif isinstance(value, str) and _is_image(value):
            data[key] = value
        elif key not in _NO_LABELS and value and all(isinstance(one, str) for one in regions):
            results.append({"type": "choices", "value": {"choices": regions}})
    return {"data": data, "annotations": [{"result": results}]}


def _is_image(address: str) -> bool:
    return PurePosixPath(_path_of(address)).suffix.lower() in IMAGE_SUFFIXES


def _path_of(address: str) -> str:
    """Return the path of a web address, an address in a store, or a local file ("?d=folder/a.jpg")."""
    return unquote(urlsplit(address).query.partition("d=")[2] or urlsplit(address).path)


def image_names(task: dict[str, Any]) -> list[str]:
    """Return possible file names of a task. Uploads have a random prefix of eight signs and a hyphen, or lose it."""
    values = [str(value) for value in (task.get("data") or {}).values() if isinstance(value, str)]
    address = next(filter(_is_image, values), next((value for value in values if "/" in value), ""))
    path = _path_of(address).lstrip("/")
    name = PurePosixPath(path).name
    prefix, hyphen, rest = name.partition("-")
    if hyphen and len(prefix) == 8 and rest:
        return [path, name, rest]
    return [path if address and name else str(task.get("file_upload") or "")]


def _region(labels: dict[Any, list[Any]], drawn: set[Any], result: dict[str, Any], image: ShapedImage) -> Shape | None:
    """Return the shape of a result; None for one without. labels: names of regions, by id. drawn: ids of regions."""
    value, kind = result.get("value") or {}, str(result.get("type"))
    if kind in _OF_REGIONS and result.get("id") in drawn:
        image.lose(Message("lost.attributes"))
        return None
    if kind == "choices":
        choices = _list_of(value.get("choices"))
        if len(choices) != 1:
            raise UnreadableLabel(Message("import.several_flags", names=", ".join(map(str, choices[:5]))))
        image.set_verdict(str(choices[0]))
        return None
    form = kind.removesuffix("labels")
    if kind == "labels" and result.get("id") is not None:
        return None  # the label of a region of the same id
    if form not in _SHAPES:
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    names = [*_list_of(value.get(kind) or value.get("labels")), *labels.get(result.get("id"), [])]
    if not names and form == kind:
        names = ["defect"]  # a control without names
    one_name(list(dict.fromkeys(map(str, names))))
    return _shape(form, value, result, label_text(names, 0), image)


def _list_of(names: Any) -> list[Any]:
    if names and not isinstance(names, list):
        raise UnreadableLabel(Message("import.no_label"))
    return names or []


def _shape(form: str, value: dict[str, Any], result: dict[str, Any], label: str, shaped: ShapedImage) -> Shape:
    width, height = stored_size(result.get("original_width"), result.get("original_height")) or (0, 0)
    if form == "brush":
        shaped.size = width, height
        return Shape(label, "bitmap", [(0, 0)], bitmap=partial(decode_brush, value["rle"], height, width))
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
        return box(label, x, y, value["width"] / 100, value["height"] / 100, fractions=True)
    if form == "ellipse":
        return Shape(label, "ellipse", [(x, y), (value["radiusX"] / 100, value["radiusY"] / 100)], fractions=True)
    return Shape(label, "point", [(x, y)], fractions=True)


def _rotated(form: str, value: dict[str, Any], label: str, degrees: float, width: int, height: int) -> Shape:
    """Return a rotated box or ellipse as a polygon. A box turns clockwise about its left upper corner."""
    x, y = value["x"] / 100 * width, value["y"] / 100 * height
    if form == "ellipse":
        shape = Shape(label, "ellipse", [(x, y), (value["radiusX"] / 100 * width, value["radiusY"] / 100 * height)])
    else:
        across, down = value["width"] / 100 * width, value["height"] / 100 * height
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        center = x + (across * cos - down * sin) / 2, y + (across * sin + down * cos) / 2
        shape = box(label, *center, across, down, centered=True)
    points = [(px / width, py / height) for px, py in rotated(shape, degrees).points]
    return Shape(label, "polygon", points, fractions=True)


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


# --- masks as image files ------------------------------------------------------------------------

_MASK_NAME = re.compile(r"task-(?P<task>\d+)-annotation-(?P<annotation>\d+)-by-.*?-tag-(?P<label>.+)-\d+", re.DOTALL)


@dataclass(frozen=True)
class TaskMasks:
    """Masks of one task. masks: path -> class name. image: path of its image, None if it is not in the tree.

    unused: masks of earlier annotations of the same image.
    """

    task: int
    masks: dict[str, str]
    image: str | None
    unused: tuple[str, ...] = ()

    @property
    def aliases(self) -> tuple[str, ...]:
        """Names that the image may have in the project."""
        return f"task-{self.task}", str(self.task)


def count_task_masks(tree: FileTree) -> int:
    """Return the number of masks in a tree whose names are those of Label Studio."""
    return sum(1 for file in tree.with_suffix(".png") if _MASK_NAME.fullmatch(PurePosixPath(file).stem))


def task_masks(tree: FileTree) -> list[TaskMasks]:
    """Return the masks in a tree by task; of several annotations of a task, the last one.

    The image of a task has the name in a JSON export beside the masks, or the number of the task.
    """
    found: dict[int, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for file in tree.with_suffix(".png"):
        match = _MASK_NAME.fullmatch(PurePosixPath(file).stem)
        if match is not None:
            found[int(match["task"])][int(match["annotation"])][file] = match["label"]
    if not found:
        return []
    images = _task_images(tree)
    tasks = []
    for task, by_annotation in found.items():
        masks = by_annotation[max(by_annotation)]
        unused = tuple(mask for earlier in by_annotation.values() if earlier is not masks for mask in earlier)
        tasks.append(TaskMasks(task, masks, images.get(task), unused))
    return tasks


def _task_images(tree: FileTree) -> dict[int, str]:
    """Return task number -> path of the image."""
    finder = ImageFinder(tree)
    stems = Counter(PurePosixPath(name).stem for name in finder.names)
    by_stem = {PurePosixPath(name).stem: name for name in finder.names}
    images = {}
    for stem, name in by_stem.items():
        number = stem.removeprefix("task-")
        if number.isdecimal() and stems[stem] == 1:
            images[int(number)] = name
    for file, _ in json_files(tree, b'"id"'):
        try:
            content = load(tree, file)
        except FAULTS:
            continue
        for task in content if isinstance(content, list) else [content]:
            if isinstance(task, dict) and isinstance(task.get("id"), int):
                name = image_names(task if isinstance(task.get("data"), dict) else {"data": task})[-1]
                found = finder.find(name, file) if name else None
                if found is not None:
                    images[task["id"]] = found
    return images
