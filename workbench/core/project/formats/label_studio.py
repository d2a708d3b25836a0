"""Label Studio: JSON tasks with shapes in percent of the image and choices, and brush masks, one PNG per class."""

from __future__ import annotations

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
from workbench.core.project.formats.base import FAULTS, FileTree, ImportedLabels, ImportOptions, UnreadableLabel
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.image_finder import ImageFinder
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


_NAME = re.compile(r"task-(?P<task>\d+)-annotation-(?P<annotation>\d+)-by-.*?-tag-(?P<label>.+)-\d+", re.DOTALL)


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
    return sum(1 for file in tree.with_suffix(".png") if _NAME.fullmatch(PurePosixPath(file).stem))


def task_masks(tree: FileTree) -> list[TaskMasks]:
    """Return the masks in a tree by task; of several annotations of a task, the last one.

    The image of a task has the name that a JSON export beside the masks tells, or the number of the task.
    """
    found: dict[int, dict[int, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for file in tree.with_suffix(".png"):
        match = _NAME.fullmatch(PurePosixPath(file).stem)
        if match is not None:
            found[int(match["task"])][int(match["annotation"])][file] = match["label"]
    if not found:
        return []
    images = _images(tree)
    tasks = []
    for task, by_annotation in found.items():
        masks = by_annotation[max(by_annotation)]
        unused = tuple(mask for earlier in by_annotation.values() if earlier is not masks for mask in earlier)
        tasks.append(TaskMasks(task, masks, images.get(task), unused))
    return tasks


def _images(tree: FileTree) -> dict[int, str]:
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
            content = load(tree.path(file))
        except FAULTS:
            continue
        for task in content if isinstance(content, list) else [content]:
            if isinstance(task, dict) and isinstance(task.get("id"), int) and (name := _stored_name(task)):
                found = finder.find(name, file)
                if found is not None:
                    images[task["id"]] = found
    return images


def _stored_name(task: dict[str, Any]) -> str:
    """Return the file name in a task of the exports JSON and JSON-MIN, "" if there is none."""
    return image_name(task if isinstance(task.get("data"), dict) else {"data": task})
