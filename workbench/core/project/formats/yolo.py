"""YOLO text files with one object per line: boxes or polygons in fractions of the image's width and height."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from workbench.core.messages import Message, first_line
from workbench.core.problems import NothingToImport
from workbench.core.project.formats.base import (
    NAME_FILES,
    FileTree,
    ImportedLabels,
    ImportOptions,
    UnreadableLabel,
    suffix_of,
    without_suffix,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import ExportedImage, LabelExport, polygon, regions
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.formats.text_files import decode_text
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.project.source_trust import need_trust, outside_places
from workbench.core.project.storage import write_text
from workbench.inference.io.json_io import JsonError, read_file

_NUMBER = r"[ \t]+-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_LINE = re.compile(rf"\d+(?:\.0+)?(?:{_NUMBER}){{4,}}\s*", re.I)
_NEARLY = re.compile(r"\d+(?:\.0+)?(?:[ \t]+(?:[-+]?[\d.]+(?:e[-+]?\d+)?|-?nan|-?inf)){2,}\s*", re.I)
_LARGEST = 64 << 20
_LARGEST_FRACTION = 2  # coordinates may lie a little outside of the image; larger ones are pixels
_LISTS = frozenset(("train", "val", "valid", "test", "readme", "requirements"))


def recognition_score(tree: FileTree) -> int:
    return sum(bool(_text_lines(tree, name)) for name in _label_files(tree))


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
    """Return text files with object lines, and empty ones beside an image, in a folder "labels" or beside labels.

    Files of numbers that are no objects, such as coordinates in pixels, are among them if an image has their name.
    """
    stems = {PurePosixPath(name).stem.casefold() for name in tree.images}
    files: dict[str, bool] = {}  # name: has objects
    for name in tree.with_suffix(".txt"):
        path = PurePosixPath(name)
        if path.name.casefold() not in NAME_FILES and path.stem.casefold() not in _LISTS:
            lines = _text_lines(tree, name)
            if lines is None:
                continue
            if _are_objects(lines):
                files[name] = bool(lines)
            elif path.stem.casefold() in stems and _NEARLY.fullmatch(lines[0]):
                files[name] = True
    folders = {PurePosixPath(name).parent for name, filled in files.items() if filled}
    return [
        name
        for name, filled in files.items()
        if filled
        or PurePosixPath(name).stem.casefold() in stems
        or PurePosixPath(name).parent in folders
        or "labels" in PurePosixPath(name.casefold()).parts[:-1]
    ]


def _text_lines(tree: FileTree, name: str) -> list[str] | None:
    """Return the lines of a text file that are not blank, or None if it cannot be read."""
    try:
        text = read_file(tree.path(name), limit=_LARGEST).decode("utf-8-sig")
    except (FileNotFoundError, JsonError, UnicodeDecodeError):
        return None
    return [line for line in text.splitlines() if line.strip()]


def _are_objects(lines: list[str]) -> bool:
    return all(map(_is_object, lines))


def _is_object(line: str) -> bool:
    return _LINE.fullmatch(line) is not None and all(
        abs(float(value)) <= _LARGEST_FRACTION for value in line.split()[1:]
    )


class _Reader:
    """Class names of the data sets in a tree, and the parser of their label files."""

    def __init__(self, tree: FileTree, known: dict[int, str]) -> None:
        loaded = {name: _load_yaml(tree.path(name)) for name in tree.with_suffix(".yaml", ".yml")}
        self._settings = {name: content for name, (content, _) in loaded.items()}
        self._refused = next((why for _, why in loaded.values() if why is not None), None)
        self._names = _NearestNames(tree, self._settings)
        # Numbers start at 0, the ids of a project at 1.
        self._known = {id - 1: name for id, name in known.items()}
        self._with_points = any(settings.get("kpt_shape") for settings in self._settings.values())

    def parse(self, tree: FileTree, name: str) -> Iterator[ShapedImage]:
        split = split_of(str(PurePosixPath(name).parent))
        shaped = ShapedImage(_image_name(name), split=split, lost=Counter())
        names = self._names.of(name)
        if not names and self._refused is not None:  # numbers without their names would become other classes
            raise UnreadableLabel(self._refused)
        names = names or self._known
        for number, line in enumerate(_text_lines(tree, name) or [], 1):
            if not _is_object(line):
                raise UnreadableLabel(Message("import.yolo_line", n=number))
            shaped.shapes.append(self._shape(line, names, shaped))
        yield shaped

    def _shape(self, line: str, names: dict[int, str], shaped: ShapedImage) -> Shape:
        first, *values = line.split()
        number = int(float(first))
        label = names.get(number, f"class_{number}")
        numbers = [float(value) for value in values]
        if self._with_points and len(numbers) > 5:
            shaped.lost[Message("lost.key_points")] += 1
            numbers = numbers[:4]
        if len(numbers) in (4, 5):  # the fifth is a probability
            x, y, width, height = numbers[:4]
            return Shape(
                label, "box", [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)], fractions=True
            )
        if len(numbers) % 2:
            raise UnreadableLabel(Message("import.odd_coordinates"))
        return Shape(label, "polygon", list(zip(numbers[::2], numbers[1::2])), fractions=True)


class _NearestNames:
    """Class names by the folder of their list. settings: content of the YAML files."""

    def __init__(self, tree: FileTree, settings: dict[str, dict[str, Any]]) -> None:
        self._by_folder: dict[PurePosixPath, dict[int, str]] = {}
        lists = {name: _names_of(content) for name, content in settings.items()}
        for file_name in NAME_FILES:
            for name in tree.files:
                if PurePosixPath(name).name.casefold() == file_name:
                    lists[name] = _listed_names(tree, name)
        for name in tree.with_suffix(".names"):  # of Darknet, by any name
            lists.setdefault(name, _listed_names(tree, name))
        for name, names in lists.items():
            if names:
                self._by_folder.setdefault(PurePosixPath(name).parent, names)

    def of(self, label: str) -> dict[int, str]:
        """Return number -> name for a label file: of the nearest folder above it, else of the first list of all."""
        for folder in PurePosixPath(label).parents:
            if folder in self._by_folder:
                return self._by_folder[folder]
        return next(iter(self._by_folder.values()), {})


def _image_name(label: str) -> str:
    """Return the path of the image without a suffix: the folder "labels" becomes "images"."""
    parts = list(PurePosixPath(without_suffix(label)).parts)
    for level in range(len(parts) - 2, -1, -1):
        if parts[level].casefold() == "labels":
            parts[level] = "images"
            break
    return parts[-1] if len(parts) == 1 else "/".join(parts)


def dataset_tree(file: Path, project: Project | None = None) -> FileTree:
    """Return the tree of a data set whose YAML file was chosen. It is the only YAML file of the tree.

    The data set is in the folder that the file names, if it exists: `path`, or above `train` and `val` if these lead
    out of the file's folder. It is in the file's folder otherwise, as `path` is often that of another computer.
    Raises NothingToImport for a file that cannot be read.
    """
    file = file.absolute()
    content, why = _load_yaml(file)
    if why is not None:
        raise NothingToImport(path=str(file), why=why)
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
    others = (name for name in tree.files if suffix_of(name) not in (".yaml", ".yml"))
    return FileTree(tree.root, (chosen, *others))


def need_dataset_trust(paths: Sequence[Path]) -> None:
    """Raise UntrustedPlaces if a chosen YAML file names folders outside of its own that the user has not allowed."""
    if len(paths) == 1 and suffix_of(paths[0].name) in (".yaml", ".yml"):
        content, _ = _load_yaml(paths[0])
        base = str(content.get("path") or "")
        named = [base, *(os.path.join(base, str(content.get(side) or "")) for side in ("train", "val"))]
        need_trust(paths[0], "", outside_places(paths[0].absolute().parent, named))


def _load_yaml(path: Path) -> tuple[dict[str, Any], str | None]:
    """Return the content of a YAML file and None, or {} and the reason why a list of names in it cannot be used."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):  # a few nested ones stand for more values than any memory holds
                raise UnreadableLabel(Message("import.yaml_alias"))
            return super().compose_node(parent, index)

    text = ""
    try:
        text = decode_text(read_file(path, limit=1 << 20))
        content = yaml.load(text, Loader)  # a SafeLoader
        if not isinstance(content, dict):
            content = {}
        names = content.get("names")
        names = list(names.values()) if isinstance(names, dict) else names if isinstance(names, list) else []
        if len(names) > MAX_CLASS_ID:
            raise UnreadableLabel(Message("import.too_many_labels", n=MAX_CLASS_ID))
        if not all(isinstance(name, (str, int, float)) and not isinstance(name, bool) for name in names):
            raise UnreadableLabel(Message("import.yaml_names"))
    except FileNotFoundError:
        return {}, None
    except (UnreadableLabel, ValueError, yaml.YAMLError, RecursionError) as error:
        # Other YAML files, such as those of a program beside the data, are none of a data set.
        is_list = not text or re.search(r"^\s*['\"]?names['\"]?\s*:", text, re.MULTILINE) is not None
        why = Message.of(error) if isinstance(error, UnreadableLabel) else first_line(error)
        return {}, Message("import.yaml", name=path.name, why=why) if is_list else None
    return content, None


def _names_of(settings: dict[str, Any]) -> dict[int, str]:
    names = settings.get("names")
    if isinstance(names, list):
        return {number: str(one) for number, one in enumerate(names)}
    if isinstance(names, dict):
        return {int(number): str(one) for number, one in names.items() if str(number).isdecimal()}
    return {}


def _listed_names(tree: FileTree, name: str) -> dict[int, str]:
    try:
        text = decode_text(read_file(tree.path(name), limit=1 << 20))
    except (FileNotFoundError, JsonError, ValueError):
        return {}
    return dict(enumerate(line.strip() for line in text.splitlines() if line.strip()))


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
        split = export.split_folder(image)
        self._splits.add(split)
        export.copy_image(image, PurePosixPath("images", split, export.image_name(image)))
        target = export.out / "labels" / PurePosixPath(split, f"{image.name}.txt")
        write_text(target, "".join(f"{line}\n" for line in lines))

    def finish(self) -> None:
        import yaml

        names = {number: info.name for number, info in enumerate(self._export.classes)}
        folders = {split: f"images/{split}" for split in ("train", "val", "test") if split in self._splits}
        all_images = folders.get("train", "images")
        folders = {"train": all_images, "val": all_images} | folders  # Ultralytics needs both entries
        text = yaml.safe_dump({"path": ".", **folders, "names": names}, allow_unicode=True, sort_keys=False)
        write_text(self._export.out / "data.yaml", text)


class YoloBoxWriter(YoloWriter):
    """Bounding boxes of the regions instead of polygons."""

    boxes = True
