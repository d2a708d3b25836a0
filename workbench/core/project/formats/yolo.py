"""YOLO text files: one line per object with a class number and a box or polygon in fractions of the image size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import yaml

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedLabels,
    ImportOptions,
    UnreadableLabel,
    decode_text,
    without_suffix,
)
from workbench.core.project.formats.label_export import labeled_images, lost_sentences, outlines, regions
from workbench.core.project.formats.shape_labels import Shape, ShapedImage, find_shapes, split_of
from workbench.core.project.project import Project
from workbench.core.project.storage import write_text
from workbench.inference.io.json_io import JsonError, read_file

_LINE = re.compile(r"\d+( +-?\d*\.?\d+(e-?\d+)?){4,}\s*", re.I)
_LARGEST = 64 << 20
_NAME_FILES = ("obj.names", "classes.txt", "predefined_classes.txt", "labels.txt", "names.txt")
_LISTS = frozenset(("train", "val", "valid", "test", "readme", "requirements"))


def recognition_score(tree: FileTree) -> int:
    return sum(bool(_lines(tree, name)) for name in _label_files(tree))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` names the classes if the data set has no list of names."""
    return find_shapes(tree, _label_files(tree), _Reader(tree, known).parse, options)


def _label_files(tree: FileTree) -> list[str]:
    """Return text files with object lines, and empty ones beside an image, in a folder "labels" or beside labels."""
    stems = {PurePosixPath(name).stem.casefold() for name in tree.images}
    files: dict[str, bool] = {}  # name: has objects
    for name in tree.with_suffix(".txt"):
        path = PurePosixPath(name)
        if path.name.casefold() not in _NAME_FILES and path.stem.casefold() not in _LISTS:
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
    return lines if all(_LINE.fullmatch(line) for line in lines) else None


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


def _yaml_names(tree: FileTree) -> dict[int, str]:
    for name in tree.with_suffix(".yaml", ".yml"):
        try:
            content = yaml.safe_load(decode_text(read_file(tree.path(name), limit=1 << 20)))
        except (FileNotFoundError, ValueError, yaml.YAMLError, RecursionError):
            continue
        names = content.get("names") if isinstance(content, dict) else None
        if isinstance(names, list):
            return {number: str(one) for number, one in enumerate(names)}
        if isinstance(names, dict):
            return {int(number): str(one) for number, one in names.items() if str(number).isdecimal()}
    return {}


def _listed_names(tree: FileTree) -> dict[int, str]:
    for file_name in _NAME_FILES:
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


def write(project: Project, out: Path, keys: list[str]) -> list[str]:
    """Write labels/[SPLIT/]<image>.txt with one polygon per connected region, and data.yaml.

    Polygons follow the pixel edges. Return sentences about content that YOLO files cannot hold.
    """
    lost: Counter[str] = Counter()
    ids = [info.id for info in project.classes]
    splits: set[str] = set()
    for image in labeled_images(project, keys, lost):
        lost["verdicts"] += image.verdict is not None
        if image.mask is None:
            continue
        lines = []
        for region in regions(image.mask, ids):
            polygons, holes = outlines(region)
            lost["holes of regions"] += len(holes)
            for polygon in polygons:
                numbers = (polygon / (image.width, image.height)).ravel()
                lines.append(" ".join([str(ids.index(region.class_id)), *(f"{value:.7g}" for value in numbers)]))
        splits.add(image.split)
        write_text(out / "labels" / PurePosixPath(image.split, f"{image.name}.txt"), "".join(f"{x}\n" for x in lines))
    names = {number: info.name for number, info in enumerate(project.classes)}
    content: dict[str, object] = {split: f"images/{split}" for split in ("train", "val", "test") if split in splits}
    text = yaml.safe_dump({"path": ".", **content, "names": names}, allow_unicode=True, sort_keys=False)
    write_text(out / "data.yaml", text)
    return lost_sentences(lost, "YOLO")
