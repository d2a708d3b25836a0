"""Text files with one object per line: boxes or polygons in fractions (YOLO), and boxes in pixels (DeepPCB)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import yaml

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    NAME_FILES,
    FileTree,
    ImportedLabels,
    ImportOptions,
    UnreadableLabel,
    decode_text,
    without_suffix,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, polygon, regions
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.inference.io.json_io import JsonError, read_file

_LINE = re.compile(r"\d+( +-?\d*\.?\d+(e-?\d+)?){4,}\s*", re.I)
_LARGEST = 64 << 20
_LARGEST_FRACTION = 2  # coordinates may lie a little outside of the image; larger ones are pixels
_LISTS = frozenset(("train", "val", "valid", "test", "readme", "requirements"))


def recognition_score(tree: FileTree) -> int:
    return sum(bool(_lines(tree, name)) for name in _label_files(tree))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` names the classes if the data set has no list of names."""
    return find_shapes(tree, _label_files(tree), _Reader(tree, known).parse, options)


def is_object_list(path: Path) -> bool:
    """Return True if the first line of a text file is an object. Only the begin of the file is read."""
    try:
        with path.open("rb") as file:
            first = file.read(4096).decode("ascii", "replace").lstrip().split("\n", 1)[0]
    except OSError:
        return False
    numbers = first[: first.rfind(" ")] if len(first) > 4000 else first  # the last number may be cut off
    return _LINE.fullmatch(numbers) is not None


def _label_files(tree: FileTree) -> list[str]:
    """Return text files with object lines, and empty ones beside an image, in a folder "labels" or beside labels."""
    stems = {PurePosixPath(name).stem.casefold() for name in tree.images}
    files: dict[str, bool] = {}  # name: has objects
    for name in tree.with_suffix(".txt"):
        path = PurePosixPath(name)
        if path.name.casefold() not in NAME_FILES and path.stem.casefold() not in _LISTS:
            lines = _lines(tree, name)
            if lines is not None:
                files[name] = bool(lines)
    folders = {PurePosixPath(name).parent for name, filled in files.items() if filled}
    return [
        name
        for name, filled in files.items()
        if filled
        or PurePosixPath(name).stem.casefold() in stems
        or PurePosixPath(name).parent in folders
        or "labels" in PurePosixPath(name.casefold()).parts[:-1]
    ]


def _lines(tree: FileTree, name: str) -> list[str] | None:
    """Return the object lines of a file, or None if it is not a YOLO label."""
    try:
        text = read_file(tree.path(name), limit=_LARGEST).decode("ascii")
    except (FileNotFoundError, JsonError, UnicodeDecodeError):
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    if not all(_LINE.fullmatch(line) for line in lines):
        return None
    return None if any(float(value) > _LARGEST_FRACTION for line in lines for value in line.split()[1:]) else lines


class _Reader:
    """Class names of a data set, and the parser of its label files."""

    def __init__(self, tree: FileTree, known: dict[int, str]) -> None:
        names = _yaml_names(tree)
        if not names:
            names = _listed_names(tree)
        # Numbers start at 0, the ids of a project at 1.
        self._names = names or {id - 1: name for id, name in known.items()}

    def parse(self, tree: FileTree, name: str) -> Iterator[ShapedImage]:
        shaped = ShapedImage(_image_name(name), split=split_of(str(PurePosixPath(name).parent)))
        for line in _lines(tree, name) or []:
            shaped.shapes.append(self._shape(line))
        yield shaped

    def _shape(self, line: str) -> Shape:
        number, *values = line.split()
        label = self._names.get(int(number), f"class_{number}")
        numbers = [float(value) for value in values]
        if len(numbers) in (4, 5):  # the fifth is a probability
            x, y, width, height = numbers[:4]
            return Shape(
                label, "box", [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)], fractions=True
            )
        if len(numbers) % 2:
            raise UnreadableLabel(Message("import.odd_coordinates"))
        return Shape(label, "polygon", list(zip(numbers[::2], numbers[1::2])), fractions=True)


def _image_name(label: str) -> str:
    """Return the path of the image without a suffix: the folder "labels" becomes "images"."""
    parts = list(PurePosixPath(without_suffix(label)).parts)
    for level in range(len(parts) - 2, -1, -1):
        if parts[level].casefold() == "labels":
            parts[level] = "images"
            break
    return parts[-1] if len(parts) == 1 else "/".join(parts)


def dataset_tree(file: Path, project: Project | None = None) -> FileTree:
    """Return the tree of a data set whose YAML file was chosen. That file is the first of the tree.

    The data set is in the folder that the file names, if it exists: `path`, or above `train` and `val` if these lead
    out of the file's folder. It is in the file's folder otherwise, as `path` is often that of another computer.
    """
    file = file.absolute()
    content = _load_yaml(file)
    stored = content.get("path")
    root = file.parent
    if isinstance(stored, str) and (root / stored).is_dir():
        root = root / stored
    for side in ("train", "val"):
        stored = content.get(side)
        if isinstance(stored, str) and (root / stored).is_dir():
            above = Path(os.path.commonpath((os.path.normpath(root), os.path.normpath(root / stored))))
            root = above if above in file.parents else root
    tree = FileTree.of(Path(os.path.normpath(root)), project)
    chosen = Path(os.path.relpath(file, tree.root)).as_posix()
    return FileTree(tree.root, (chosen, *(name for name in tree.files if name != chosen)))


def _load_yaml(path: Path) -> dict[str, Any]:
    """Return the content of a YAML file, {} if it cannot be read or is no mapping."""
    try:
        content = yaml.safe_load(decode_text(read_file(path, limit=1 << 20)))
    except (FileNotFoundError, ValueError, yaml.YAMLError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _yaml_names(tree: FileTree) -> dict[int, str]:
    for name in tree.with_suffix(".yaml", ".yml"):
        names = _load_yaml(tree.path(name)).get("names")
        if isinstance(names, list):
            return {number: str(one) for number, one in enumerate(names)}
        if isinstance(names, dict):
            return {int(number): str(one) for number, one in names.items() if str(number).isdecimal()}
    return {}


def _listed_names(tree: FileTree) -> dict[int, str]:
    for file_name in NAME_FILES:
        for name in tree.files:
            if PurePosixPath(name).name.casefold() == file_name:
                try:
                    text = decode_text(read_file(tree.path(name), limit=1 << 20))
                except (FileNotFoundError, JsonError, ValueError):
                    continue
                lines = [line.strip() for line in text.splitlines() if line.strip()]
                if lines:
                    return dict(enumerate(lines))
    return {}


# --- writing ----------------------------------------------------------------------------------------


class YoloWriter:
    """labels/[SPLIT/]<image>.txt with one polygon along the pixel edges per connected region, images/, data.yaml."""

    boxes = False

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._numbers = {info.id: number for number, info in enumerate(export.classes)}
        self._splits: set[str] = set()

    def add(self, image: ExportedImage) -> None:
        export = self._export
        export.lose_areas(image)
        export.lose(image, "verdicts", int(image.verdict is not None))
        if image.mask is None:
            return
        lines = []
        for region in regions(image.mask, tuple(self._numbers)):
            x, y, width, height = region.rect.x, region.rect.y, region.rect.width, region.rect.height
            points = np.array([(x + width / 2, y + height / 2), (width, height)]) if self.boxes else polygon(region)
            numbers = (points / (image.width, image.height)).ravel()
            lines.append(" ".join([str(self._numbers[region.class_id]), *(f"{value:.7g}" for value in numbers)]))
        if self.boxes:
            export.lose(image, "outlines of regions", len(lines))
        self._splits.add(image.split)
        export.copy_image(image, PurePosixPath("images", image.split, export.image_name(image)))
        target = export.out / "labels" / PurePosixPath(image.split, f"{image.name}.txt")
        write_text(target, "".join(f"{line}\n" for line in lines))

    def finish(self) -> None:
        names = {number: info.name for number, info in enumerate(self._export.classes)}
        folders = {split: f"images/{split}" for split in ("train", "val", "test") if split in self._splits}
        if "" in self._splits:  # Ultralytics needs both entries
            folders = {"train": "images", "val": "images"} | folders
        text = yaml.safe_dump({"path": ".", **folders, "names": names}, allow_unicode=True, sort_keys=False)
        write_text(self._export.out / "data.yaml", text)


class YoloBoxWriter(YoloWriter):
    """Bounding boxes of the regions instead of polygons."""

    boxes = True


_DEEPPCB_LINE = re.compile(r"(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+(\d+)[ ,]+([1-6])\s*")
_LARGEST_DEEPPCB = 16 << 20  # bytes of a label file
_DEEPPCB_NAMES = ("open", "short", "mousebite", "spur", "copper", "pin-hole")  # of the numbers from 1


def deeppcb_score(tree: FileTree) -> int:
    return len(_deeppcb_files(tree))


def find_deeppcb(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since the numbers of classes are fixed."""
    return find_shapes(tree, _deeppcb_files(tree), _parse_deeppcb, options)


def _deeppcb_files(tree: FileTree) -> list[str]:
    stems = {PurePosixPath(name).stem for name in tree.images}
    names = [name for name in tree.with_suffix(".txt") if f"{PurePosixPath(name).stem}_test" in stems]
    return [name for name in names if _deeppcb_boxes(tree, name)]


def _deeppcb_boxes(tree: FileTree, name: str) -> list[tuple[int, ...]]:
    """Return (left, top, right, bottom, class number) of the boxes; [] for another kind of file."""
    try:
        lines = decode_text(read_file(tree.path(name), limit=_LARGEST_DEEPPCB)).splitlines()
    except (FileNotFoundError, ValueError):
        return []
    matches = [_DEEPPCB_LINE.fullmatch(line) for line in lines if line.strip()]
    return [tuple(map(int, match.groups())) for match in matches if match] if all(matches) else []


def _parse_deeppcb(tree: FileTree, name: str) -> Iterator[ShapedImage]:
    shaped = ShapedImage(f"{PurePosixPath(name).stem}_test")
    for left, top, right, bottom, number in _deeppcb_boxes(tree, name):
        shaped.shapes.append(Shape(_DEEPPCB_NAMES[number - 1], "box", [(left, top), (right, bottom)]))
    yield shaped
