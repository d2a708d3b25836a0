"""Label Studio's brush masks as image files: one PNG per class, named by task and annotation."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from workbench.core.project.formats.base import FAULTS, FileTree
from workbench.core.project.formats.image_finder import ImageFinder
from workbench.core.project.formats.label_studio import image_names
from workbench.core.project.formats.text_files import json_files, load

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

    The image of a task has the name in a JSON export beside the masks, or the number of the task.
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
            content = load(tree, file)
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
    return image_names(task if isinstance(task.get("data"), dict) else {"data": task})[0]
