"""YOLO text files with one object per line: boxes or polygons in fractions of the image's width and height."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from workbench.core.messages import Message
from workbench.core.problems import NothingToImport
from workbench.core.project.formats.base import (
    NAME_FILES,
    FileTree,
    ImportedLabels,
    ImportOptions,
    UnreadableLabel,
    comparable,
    is_generic_name,
    suffix_of,
    without_suffix,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import (
    ExportedImage,
    LabelExport,
    LabelWriter,
    polygon,
    regions,
    write_lines,
)
from workbench.core.project.formats.mask_values import BACKGROUND_NAMES
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Shape, box
from workbench.core.project.formats.text_files import decode_text, listed_names, text_lines
from workbench.core.project.project import MAX_CLASS_ID, Project
from workbench.core.project.sources import need_trust, outside_places
from workbench.core.project.storage import write_text
from workbench.inference.io.file_access import open_file
from workbench.inference.io.json_io import read_file

_NUMBER = r"[ \t]+-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_LINE = re.compile(rf"\d+(?:\.0+)?(?:{_NUMBER}){{4,}}\s*", re.I)
_NEARLY = re.compile(r"\d+(?:\.0+)?(?:[ \t,;]+(?:[-+]?[\d.,]+(?:e[-+]?\d+)?|-?nan|-?inf)){2,}\s*", re.I)
_LARGEST = 64 << 20
_LARGEST_FRACTION = 2  # coordinates may lie a little outside of the image; larger ones are pixels
_LISTS = frozenset(("train", "val", "valid", "test", "readme", "requirements"))
_VISIBLE = {0.0, 1.0, 2.0}  # third numbers of key points


def recognition_score(tree: FileTree) -> int:
    return sum(bool(lines) and _NEARLY.fullmatch(lines[0]) is not None for lines in _label_files(tree).values())


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` names the classes if the data set has no list of names."""
    files = _label_files(tree)
    reader = _Reader(tree, known, files)
    batch = find_shapes(tree, list(files), reader.parse, options)
    if reader.confidences:
        batch.notes.append(Message("import.yolo_confidences"))
    return batch


def is_object_list(path: Path) -> bool:
    """Return True if the first line of a text file is an object. Only the begin of the file is read."""
    try:
        with open_file(path) as file:
            first = file.read(4096).decode("ascii", "replace").lstrip().split("\n", 1)[0]
    except OSError:
        return False
    numbers = first[: first.rfind(" ")] if len(first) > 4000 else first  # the last number may be cut off
    return _LINE.fullmatch(numbers) is not None


def _label_files(tree: FileTree) -> dict[str, list[str] | None]:
    """Return the lines of the text files that label an image, None for those that cannot be read.

    These are files of objects, files with the name of an image, whatever they contain, and empty ones in a folder
    "labels" or beside labels.
    """
    stems = {comparable(PurePosixPath(name).stem) for name in tree.images}
    files: dict[str, list[str] | None] = {}
    for name in tree.with_suffix(".txt"):
        path = PurePosixPath(name)
        exported = tree.originals.of(tree.path(name)) is not None
        if exported or (path.name.casefold() not in NAME_FILES and path.stem.casefold() not in _LISTS):
            lines = text_lines(tree, name, limit=_LARGEST)
            of_image = exported or comparable(path.stem) in stems
            if of_image or (lines is not None and all(map(_is_object, lines))):
                files[name] = lines
    folders = {PurePosixPath(name).parent for name, lines in files.items() if lines}
    return {
        name: lines
        for name, lines in files.items()
        if lines
        or comparable(PurePosixPath(name).stem) in stems
        or PurePosixPath(name).parent in folders
        or "labels" in PurePosixPath(name.casefold()).parts[:-1]
    }


def _is_object(line: str) -> bool:
    """Return True for a number of a class and fractions, of which the last may be a track number."""
    return _LINE.fullmatch(line) is not None and all(
        abs(float(value)) <= _LARGEST_FRACTION for value in line.split()[1:-1]
    )


class _Reader:
    """Class names of the data sets in a tree, and the parser of their label files.

    files: lines of the label files. confidences: outlines are followed by a confidence, since the number of their
    coordinates is odd in all lines.
    """

    def __init__(self, tree: FileTree, known: dict[int, str], files: dict[str, list[str] | None]) -> None:
        loaded = {name: _load_yaml(tree.path(name)) for name in tree.with_suffix(".yaml", ".yml")}
        self._settings = {name: content for name, (content, _) in loaded.items()}
        self._refused = next((why for _, why in loaded.values() if why is not None), None)
        self._names = _NearestNames(tree, self._settings, files)
        # Numbers start at 0, the ids of a project at 1.
        self._known = {id - 1: name for id, name in known.items()}
        self._with_points = any(settings.get("kpt_shape") for settings in self._settings.values())
        numbers = [_fractions(line)[0] for lines in files.values() for line in lines or () if _is_object(line)]
        outlines = [found for found in numbers if len(found) > 6 and not _has_visibilities(found)]
        self.confidences = bool(outlines) and all(len(found) % 2 for found in outlines)
        self._maybe_points = len(outlines) > 2 and len(set(map(len, outlines))) == 1 and all(map(_in_box, outlines))

    def parse(self, tree: FileTree, name: str) -> Iterator[ShapedImage]:
        split = split_of(str(PurePosixPath(name).parent))
        shaped = ShapedImage(_image_name(name), split=split)
        names, contradiction = self._names.of(name)
        names = names or self._known
        lines = text_lines(tree, name, limit=_LARGEST)
        if names is self._known and self._refused is not None:  # their numbers would become other classes
            shaped.refuse(self._refused)
        elif contradiction is not None:
            shaped.refuse(contradiction)
        elif lines is None:
            shaped.refuse(Message("import.unreadable"))
        elif lines and not any(_LINE.fullmatch(line) for line in lines):
            shaped.refuse(Message("import.no_yolo"))
            shaped.entries += len(lines)
        else:
            shaped.read("line", lines, partial(self._shape, names))
        yield shaped

    def _shape(self, names: dict[int, str], line: str, image: ShapedImage) -> Shape:
        if not _is_object(line):
            raise UnreadableLabel(Message("import.yolo_line"))
        number = int(float(line.split()[0]))
        if names is not self._known and number not in names:
            raise UnreadableLabel(Message("import.unlisted_category", id=number))
        label = names.get(number, f"class_{number}")
        numbers, track = _fractions(line)
        count = len(numbers)
        if count > 5 and (self._with_points or _has_visibilities(numbers)):
            image.lose(Message("lost.key_points"))
            numbers = numbers[:4]
        elif count > 6 and self._maybe_points:
            raise UnreadableLabel(Message("import.yolo_points"))
        elif count == 6 and not track and line.split()[-1].isdecimal():
            raise UnreadableLabel(Message("import.yolo_six"))
        elif count > 6 and count % 2:
            if not (self.confidences and 0 <= numbers[-1] <= 1):
                raise UnreadableLabel(Message("import.odd_coordinates"))
            numbers = numbers[:-1]
        if count == 5 and not 0 <= numbers[4] <= 1:
            raise UnreadableLabel(Message("import.yolo_angle"))
        if len(numbers) in (4, 5):  # the fifth is a probability
            return box(label, *numbers[:4], centered=True, fractions=True)
        return Shape(label, "polygon", list(zip(numbers[::2], numbers[1::2])), fractions=True)


def _fractions(line: str) -> tuple[list[float], bool]:
    """Return (numbers of an object without its class and the number of its track, whether it has such a number)."""
    values = line.split()[1:]
    # A track follows the confidence of a box, or that of an outline.
    track = len(values) > 5 and len(values) % 2 == 0 and values[-1].isdecimal() and int(values[-1]) > 1
    numbers = [float(value) for value in (values[:-1] if track else values)]
    if track and _has_visibilities([*numbers, float(values[-1])]):
        return [*numbers, float(values[-1])], False
    return numbers, track


def _has_visibilities(numbers: list[float]) -> bool:
    """Return True for a box followed by key points of three numbers, of which the third is 0, 1 or 2."""
    visibilities = numbers[6::3]
    certain = len(visibilities) > 2 or 2.0 in visibilities
    return len(numbers) > 6 and (len(numbers) - 4) % 3 == 0 and certain and _VISIBLE.issuperset(visibilities)


def _in_box(numbers: list[float]) -> bool:
    """Return True if all later points are in the box of the first four numbers, as key points are."""
    x, y, width, height = numbers[:4]
    points = zip(numbers[4::2], numbers[5::2])
    return all(abs(px - x) <= width / 2 + 1e-6 and abs(py - y) <= height / 2 + 1e-6 for px, py in points)


class _NearestNames:
    """Class names by the folder of their list. settings: content of the YAML files. labels: the label files."""

    def __init__(self, tree: FileTree, settings: dict[str, dict[str, Any]], labels: Iterable[str]) -> None:
        self._by_folder: dict[PurePosixPath, tuple[dict[int, str], str]] = {}  # names, file
        self._refused: dict[PurePosixPath, str] = {}
        self._labeled = {folder for label in labels for folder in PurePosixPath(label).parents}
        lists = {name: _names_of(content) for name, content in settings.items()}
        for file_name in NAME_FILES:
            for name in tree.files:
                own = tree.originals.of(tree.path(name)) is not None  # label of an image "classes"
                if PurePosixPath(name).name.casefold() == file_name and not own:
                    lists[name] = listed_names(tree, [name])
        for name in tree.with_suffix(".names"):  # of Darknet, by any name
            lists.setdefault(name, listed_names(tree, [name]))
        for name, names in lists.items():
            folder = PurePosixPath(name).parent
            known, first = self._by_folder.setdefault(folder, (names, name)) if names else (names, name)
            if _differ(known, names):
                self._refused[folder] = Message("import.lists_differ", first=first, second=name)

    def of(self, label: str) -> tuple[dict[int, str], str | None]:
        """Return number -> name for a label file, and the reason if lists of one folder, or of those above, differ.

        The nearest folder above the file counts, else the first other one that is not that of another data set.
        """
        others = (folder for folder in self._by_folder if folder not in self._labeled or _is_part_of(folder, label))
        above = [folder for folder in PurePosixPath(label).parents if folder in self._by_folder]
        folder = next(iter(above), next(others, None))
        if folder is None:
            return {}, None
        names, first = self._by_folder[folder]
        rivals = (self._by_folder[one] for one in above if "predefined" not in self._by_folder[one][1])
        rival = next((file for known, file in rivals if _differ(known, names) and _differ(names, known)), None)
        differ = None if rival is None else Message("import.lists_differ", first=first, second=rival)
        return names, self._refused.get(folder, differ)


def _differ(names: Mapping[int, str], others: Mapping[int, str]) -> bool:
    """Return True if a number has different names in two lists; a list of masks numbers the background, too."""
    of_masks = not BACKGROUND_NAMES.isdisjoint(map(str.casefold, others.values()))
    return not of_masks and any(names.get(number, own) != own for number, own in others.items())


def _is_part_of(folder: PurePosixPath, label: str) -> bool:
    """Return True if a folder of another data split or kind of content may belong to the data set of a label file."""
    return all(part in PurePosixPath(label).parts for part in folder.parts if not is_generic_name(part))


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
    beside = PurePosixPath(chosen).parent if content.get("names") else None  # another list there is not needed
    others = (
        name
        for name in tree.files
        if suffix_of(name) not in (".yaml", ".yml")
        and not (PurePosixPath(name).parent == beside and PurePosixPath(name).name.casefold() in NAME_FILES)
    )
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

    class Loader(yaml.BaseLoader):
        """Loader of texts alone: a class "no" or "010" keeps its name."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):  # a few nested ones stand for more values than any memory holds
                raise UnreadableLabel(Message("import.yaml_alias"))
            return super().compose_node(parent, index)

    text = ""
    try:
        text = decode_text(read_file(path, limit=1 << 20))
        content = yaml.load(text, Loader)
        names = content.get("names") if isinstance(content, dict) else None
        names = names.values() if isinstance(names, dict) else names if isinstance(names, list) else ()
        if len(names) > MAX_CLASS_ID:
            raise UnreadableLabel(Message("import.too_many_labels", n=MAX_CLASS_ID))
        if not all(isinstance(name, str) for name in names):
            raise UnreadableLabel(Message("import.yaml_names"))
    except FileNotFoundError:
        return {}, None
    except (ValueError, UnreadableLabel, yaml.YAMLError, RecursionError) as error:
        # Other YAML files, such as those of a program beside the data, are none of a data set.
        is_list = not text or re.search(r"^\s*['\"]?names['\"]?\s*:", text, re.MULTILINE) is not None
        why = Message.of(error) if isinstance(error, UnreadableLabel) else Message("import.unreadable")
        return {}, Message("import.yaml", name=path.name, why=why) if is_list else None
    return content if isinstance(content, dict) else {}, None


def _names_of(settings: dict[str, Any]) -> dict[int, str]:
    names = settings.get("names")
    if isinstance(names, list):
        return {number: str(one) for number, one in enumerate(names)}
    if isinstance(names, dict):
        return {int(number): str(one) for number, one in names.items() if str(number).isdecimal()}
    return {}


# --- writing ----------------------------------------------------------------------------------------


class YoloWriter(LabelWriter):
    """labels/[SPLIT/]<image>.txt with one polygon along the pixel edges per connected region, images/, data.yaml."""

    boxes = False

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._numbers = {info.id: number for number, info in enumerate(export.classes)}
        self._splits: set[str] = set()

    def write(self, image: ExportedImage) -> None:
        export, lines = self.export, []
        for region in regions(image.mask, self._numbers):
            x, y, width, height = region.rect.x, region.rect.y, region.rect.width, region.rect.height
            points = np.array([(x + width / 2, y + height / 2), (width, height)]) if self.boxes else polygon(region)
            numbers = (points / (image.width, image.height)).ravel()
            lines.append(" ".join([str(self._numbers[region.class_id]), *(f"{value:.7g}" for value in numbers)]))
        if self.boxes:
            export.lose(image, "outlines of regions", len(lines))
        split = export.split_folder(image)
        self._splits.add(split)
        label = PurePosixPath("labels", split, f"{image.name}.txt")
        export.copy_image(image, PurePosixPath("images", split, export.image_name(image)), label=label)
        write_lines(export.out / label, lines)

    def finish(self) -> None:
        import yaml

        names = {number: info.name for number, info in enumerate(self.export.classes)}
        folders = {split: f"images/{split}" for split in ("train", "val", "test") if split in self._splits}
        all_images = folders.get("train", "images")
        folders = {"train": all_images, "val": all_images} | folders  # Ultralytics needs both entries
        text = yaml.safe_dump({"path": ".", **folders, "names": names}, allow_unicode=True, sort_keys=False)
        write_text(self.export.out / "data.yaml", text)


class YoloBoxWriter(YoloWriter):
    """Bounding boxes of the regions instead of polygons."""

    boxes = True
