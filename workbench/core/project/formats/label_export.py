"""Common parts of writers of label formats: names that a format can hold, options, lost content, regions, outlines."""

from __future__ import annotations

import io
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.images.image_files import copy_upright
from workbench.core.problems import CannotWrite, ImageBroken
from workbench.core.project import annotation
from workbench.core.project.formats.base import comparable, is_good, suffix_of, without_suffix
from workbench.core.project.formats.mask_values import parse_text
from workbench.core.project.formats.original_names import FILE, ExportedFile, ExportRecord
from workbench.core.project.formats.shape_labels import BACKGROUND, IGNORE
from workbench.core.project.project import DONT_CARE, NOT_LABELED, Project
from workbench.core.project.storage import write_json, write_text
from workbench.core.text_patterns import is_text, numbered_names
from workbench.inference.io.file_access import name_problem
from workbench.inference.io.image_io import ReadError
from workbench.inference.io.opencv import cv2

Accepts = Callable[[str], bool]

_TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")
_LONGEST = 150  # bytes of a file name made here
_LONGEST_FILE = 200  # bytes, so that "_mask.png" can follow


def is_one_line(name: str) -> bool:
    """Return True for a name that XML and lists with one name per line can hold."""
    return _TEXT.fullmatch(name) is not None


def is_label(name: str) -> bool:
    """Return True for the name of a class that label files hold: labelme gives two names another meaning."""
    return is_one_line(name) and name == name.strip() and name not in (IGNORE, BACKGROUND)


def is_cell(name: str) -> bool:
    return is_one_line(name) and name == name.strip()


def is_path_cell(name: str) -> bool:
    return is_path(name) and is_cell(name)


def is_path(name: str) -> bool:
    return is_one_line(name) and "\\" not in name


def is_path_without_blanks(name: str) -> bool:
    return is_path_cell(name) and len(name.split()) == 1


def is_file_name(name: str) -> bool:
    """Return True for the name of a file or folder on every system."""
    return (
        is_one_line(name)
        and not name_problem(name)
        and name == name.strip().strip(".")
        and len(name.encode()) <= _LONGEST_FILE
    )


def is_defect_folder(name: str) -> bool:
    """Return True for the name of a folder of images with one class of defects."""
    return is_file_name(name) and not is_good(name) and name.casefold() != "combined"


def listed_as(list_of_one: str, *, unlike: str = "(?!)") -> Accepts:
    """Return the test of names for a list that is read as written. list_of_one: the list with {name} as class 1.

    unlike: regular expression of names that other programs read otherwise.
    """

    def accepts(name: str) -> bool:
        found = parse_text("labels.txt", list_of_one.replace("{name}", name))
        return is_one_line(name) and re.match(unlike, name) is None and found is not None and found.names == {1: name}

    return accepts


class ExportedNames:
    """Names in an export by name in the project, all different.

    folded: form of a name by which they must differ. originals: name in the export -> that in the project, if it is
    another.
    """

    def __init__(self, accepts: Accepts, folded: Callable[[str], str] = str) -> None:
        self._accepts, self._folded = accepts, folded
        self._names: dict[str, str] = {}
        self.originals: dict[str, str] = {}
        self._used: set[str] = set()

    def add(self, names: Iterable[str]) -> None:
        """Add names. Those that the format can hold stay as they are."""
        for name in sorted(names, key=lambda name: not self._accepts(name)):
            self[name]

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            self._names[name] = exported = self.unused(name)
            if exported != name:
                self.originals[exported] = name
        return self._names[name]

    def unused(self, stem: str, suffix: str = "") -> str:
        """Return a name that is not used, `stem` followed by `suffix` if the format can hold it."""
        plain = _plain(stem, folders=self._accepts("a/b"))
        for name in chain((stem + suffix,), numbered_names(plain, suffix)):
            if self._accepts(name) and self._folded(name) not in self._used:
                self._used.add(self._folded(name))
                return name
        raise AssertionError("numbered names never end")

    @property
    def exported(self) -> list[str]:
        return list(self._names.values())


def _plain(name: str, *, folders: bool) -> str:
    """Return a name of letters, digits and a few signs. folders: it is a path."""
    name = unicodedata.normalize("NFC", name)
    plain = re.sub(r"[^\w./-]+" if folders else r"[^\w.-]+", "_", name).strip(".") or "_"
    if not folders:
        plain = plain.encode()[:_LONGEST].decode(errors="ignore")
    return "/".join(f"_{part}" if name_problem(part) else part for part in plain.split("/"))


def image_names(keys: Sequence[str], accepts: Accepts, *, flat: bool, stems: bool) -> dict[str, str]:
    """Return the path of each image in the export, without its suffix.

    flat: all images are in one folder. stems: the paths must differ without their suffixes, by which labels are named.
    """
    plain = {key: plain_name(key, flat=flat) for key in keys}
    suffixes: dict[str, set[str]] = defaultdict(set)
    for key, name in plain.items() if stems else ():
        suffixes[comparable(name)].add(suffix_of(key))
    twins = {key for key, name in plain.items() if len(suffixes[comparable(name)]) > 1}
    names, result = ExportedNames(accepts, comparable), dict[str, str]()
    for key in sorted(keys, key=lambda key: key in twins or not accepts(plain[key])):
        stem, suffix = plain[key], os.path.splitext(key)[1]
        if key in twins:
            stem = f"{stem}_{suffix[1:]}"
        result[key] = names.unused(stem) if stems else without_suffix(names.unused(stem, suffix))
    return result


def plain_name(key: str, *, flat: bool) -> str:
    """Return the path of an image in an export, unless the format needs another one."""
    name = without_suffix(key.lstrip("@"))
    return name.replace("/", "_") if flat else name


VOID = 255  # value of pixels without a class in the masks of other tools
_INSET = 0.49  # pixels


@dataclass(frozen=True)
class LabelExportOptions:
    """Options of a label export.

    images: copy the images into the export. shapes: how regions are stored, for formats with a choice: "polygon", or
    "mask" (bitmaps or run lengths); None for the format's default. split: keep the data split. contiguous: number the
    classes 1, 2, 3, ... instead of by their ids in the project.
    """

    images: bool = False
    shapes: Literal["polygon", "mask"] | None = None
    split: bool = True
    contiguous: bool = True


class LabelExport:
    """Running export: target folder, classes with their numbers, copies of images, and lost content.

    classes: with their names in the export. class_names, verdicts: these names. numbers: class id -> number in the
    export. table: value of each id in exported masks, uint8 (256,). losses: content that the format cannot hold, image
    key -> kind -> count. has_splits: some images are assigned to a split.
    """

    def __init__(
        self,
        project: Project,
        out: Path,
        options: LabelExportOptions,
        has_splits: bool,
        class_names: ExportedNames,
        verdicts: ExportedNames,
    ) -> None:
        self.project, self.out, self.options, self.has_splits = project, out, options, has_splits
        self.class_names, self.verdicts = class_names, verdicts
        self.classes = [info.model_copy(update={"name": class_names[info.name]}) for info in project.classes]
        self._record = ExportRecord()
        order = enumerate((info.id for info in self.classes), 1)
        self.numbers = {id: number if options.contiguous else id for number, id in order}
        self.names = {self.numbers[info.id]: info.name for info in self.classes}
        self.table = np.full(256, VOID, np.uint8)
        self.table[0] = 0
        for id, number in self.numbers.items():
            self.table[id] = number
        self.losses: dict[str, Counter[str]] = defaultdict(Counter)
        self.copied = 0

    def lose(self, image: ExportedImage, kind: str, count: int = 1) -> None:
        """Count content of an image that the format cannot hold."""
        if count:
            self.losses[image.key][kind] += count

    def lose_areas(self, image: ExportedImage, *, ignored: bool) -> None:
        """Count unlabeled areas of a mask, and ignored ones for a format without a mark for them."""
        if image.mask is not None:
            self.lose(image, "masks with ignored areas", int(ignored and bool((image.mask == DONT_CARE).any())))
            self.lose(image, "masks with unlabeled areas", int((image.mask == NOT_LABELED).any()))

    def numbered_mask(self, image: ExportedImage) -> bytes:
        """Return the mask of an image as a palette PNG of the class numbers in the export."""
        assert image.mask is not None
        return encode_numbers(self.table[image.mask], palette(self))

    def split_folder(self, image: ExportedImage) -> str:
        """Return the split of an image: "train" if only others are assigned to one, "" if none is."""
        return image.split or ("train" if self.has_splits else "")

    def image_name(self, image: ExportedImage) -> str:
        """Return the path of the image in the export, with its suffix."""
        return image.name + PurePosixPath(image.key).suffix

    def copy_image(
        self,
        image: ExportedImage,
        relative: PurePosixPath,
        *,
        label: PurePosixPath | None = None,
        always: bool = False,
        class_name: str = "",
        verdict: str | None = None,
    ) -> None:
        """Record an image, and copy its file if images are exported or `always`. Raises CannotWrite, ImageBroken.

        The copy of an image with an EXIF orientation is upright, so that the label fits its pixels. label: its label
        file, if it has one of its own. class_name, verdict: see `ExportedFile`, as in the export.
        """
        copied = self.options.images or always
        if is_text(image.key):  # the record is JSON
            self._record.images.append(
                ExportedFile(
                    key=image.key,
                    name=self.image_name(image),
                    image=str(relative) if copied else "",
                    label="" if label is None else str(label),
                    class_name=self.class_names.originals.get(class_name, class_name),
                    verdict=None if verdict is None else self.verdicts.originals.get(verdict, verdict),
                )
            )
        if copied:
            target = self.out / relative
            try:
                copy_upright(self.project.image_path(image.key), target)
            except ReadError as error:
                raise ImageBroken(path=image.key, why=error.why) from error
            except OSError as error:
                raise CannotWrite.of(target, error) from error
            self.copied += 1

    def write_record(self, reader: str) -> None:
        """Write the file by which an import restores names and finds the image of each label. Raises CannotWrite."""
        self._record.reader = reader
        self._record.classes, self._record.verdicts = self.class_names.originals, self.verdicts.originals
        write_json(self.out / FILE, {"format": 1} | self._record.model_dump(mode="json", exclude_defaults=True))


class LabelWriter:
    """Base class of the writers, one for each format.

    holds: what the labels of the format are. Images without it are left out, those in folders by the writer itself.
    marks_ignored: the format has a mark for ignored areas.
    """

    holds: Literal["masks", "verdicts", "both", "folders"] = "masks"
    marks_ignored = False

    def __init__(self, export: LabelExport) -> None:
        self.export = export

    def add(self, image: ExportedImage) -> None:
        """Write an image with its label, and count what the format cannot hold of it."""
        lose, mask, verdict = self.export.lose, image.mask, image.verdict
        if self.holds in ("masks", "both"):
            self.export.lose_areas(image, ignored=not self.marks_ignored)
        if self.holds == "masks":
            lose(image, "verdicts", int(verdict is not None))
        elif self.holds == "verdicts":
            lose(image, "masks", int(mask is not None))
            lose(image, "images without a verdict", int(verdict is None))
        elif self.holds == "both" and mask is not None and not mask.any():  # a verdict alone does not label the pixels
            lose(image, "empty masks beside a verdict", int(verdict is not None))
        if not (self.holds == "masks" and mask is None) and not (self.holds == "verdicts" and verdict is None):
            self.write(image)

    def write(self, image: ExportedImage) -> None:
        """Write an image and the part of its label that the format holds."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write the files about all images."""


def write_lines(path: Path, lines: Iterable[object]) -> None:
    """Write a text file. Raises CannotWrite."""
    write_text(path, "".join(f"{line}\n" for line in lines))


@dataclass(frozen=True)
class ExportedImage:
    """Image with its label. mask: uint8 (height, width) of the project's ids, None for a verdict without a mask.

    name: path without suffix, unique in the export. split: "train", "val", "test", or "" if the image has none.
    """

    key: str
    name: str
    width: int
    height: int
    mask: np.ndarray | None
    verdict: str | None
    split: str


@dataclass(frozen=True)
class LabelRegion:
    """Connected pixels of one class (8-neighborhood). inside: bool (rect.height, rect.width)."""

    class_id: int
    rect: Rect
    inside: np.ndarray


def regions(mask: np.ndarray | None, ids: Container[int]) -> list[LabelRegion]:
    """Return the connected regions of the classes `ids`, large before small: one inside another follows it."""
    if mask is None:
        return []
    found: list[LabelRegion] = []
    for id in annotation.ids_in(mask):
        if id in ids:
            _, labels, stats, _ = cv2.connectedComponentsWithStats((mask == id).astype(np.uint8), connectivity=8)
            for number, (*sides, _) in enumerate(stats[1:].tolist(), 1):
                found.append(LabelRegion(id, rect := Rect(*sides), labels[rect.slices] == number))
    return sorted(found, key=lambda region: -region.rect.width * region.rect.height)


def outlines(region: LabelRegion) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the outer outlines and the outlines of the holes of a region, each float (N, 2) in image coordinates.

    Outlines follow the pixel edges. Filling the outer ones by the even-odd rule and removing the holes gives the
    region exactly. Pixels that touch at a corner are inside the same outline.
    """
    doubled = np.kron(region.inside, np.ones((2, 2), bool)).astype(np.uint8)
    loops, tree = cv2.findContours(doubled, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    outer: list[np.ndarray] = []
    holes: list[np.ndarray] = []
    for loop, (*_, parent) in zip(loops, tree[0]):
        points = (loop[::-1, 0] + 1) // 2  # the centers of the doubled pixels move to the edges
        points = points[(points != np.roll(points, 1, axis=0)).any(axis=1)]
        turns = points - np.roll(points, 1, axis=0) != np.roll(points, -1, axis=0) - points
        corners = points[turns.any(axis=1)].astype(np.float64) + (region.rect.x, region.rect.y)
        (outer if parent < 0 else holes).append(corners)
    return outer, holes


def palette(export: LabelExport) -> np.ndarray:
    """Return the colors of the classes by their numbers in the export, all different, uint8 (256, 3)."""
    colors = np.zeros((256, 3), np.uint8)
    colors[VOID] = (224, 224, 192)
    used = {0x000000, 0xE0E0C0, 0xFFFFFF}  # readers take black for background, and black and white for a single class
    for info in export.classes:
        own = int(info.color[1:], 16)
        code = next(own ^ change for change in range(len(used) + 1) if own ^ change not in used)
        used.add(code)
        colors[export.numbers[info.id]] = code >> 16, code >> 8 & 255, code & 255
    return colors


def encode_numbers(mask: np.ndarray, colors: np.ndarray) -> bytes:
    """Return a mask, uint8 (H, W), as a palette PNG with `colors`, uint8 (256, 3)."""
    from workbench.core.images.pillow import Image

    image = Image.fromarray(np.ascontiguousarray(mask))
    image.putpalette(colors.tobytes())
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def polygon(region: LabelRegion) -> np.ndarray:
    """Return one polygon of a region, float (N, 2) in image coordinates, along the pixel edges.

    Holes are joined to the outer outline by cuts without width along pixel edges. Filling the polygon by the even-odd
    or the nonzero rule gives the region exactly.
    """
    outer, holes = outlines(region)
    joined = outer[0]
    for hole in holes:
        distances = np.abs(joined[:, None] - hole[None]).sum(axis=2)
        a, b = np.unravel_index(int(distances.argmin()), distances.shape)
        corner = [(hole[b][0], joined[a][1])]  # first along a row, then along a column
        loop = np.concatenate((hole[b:], hole[: b + 1]))
        joined = np.concatenate((joined[: a + 1], corner, loop, corner, joined[a:]))
    return joined


def inset_polygon(region: LabelRegion) -> np.ndarray:
    """Return `polygon` with each corner moved into its pixel by almost half a pixel.

    Tools whose polygons include the pixels under the outline then draw the region itself, not a wider one.
    """
    points = polygon(region)
    inside = np.pad(region.inside, 1)
    before, after = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    steps = np.sign(before) + np.sign(after)
    inward = np.stack((-steps[:, 1], steps[:, 0]), axis=1)
    corner = points.astype(int) - (region.rect.x, region.rect.y) + 1
    moved = points.copy()
    for index, (x, y) in enumerate(corner.tolist()):
        dx, dy = inward[index].tolist()
        choices = ((dx, dy, _INSET), (-1, -1, 0.01), (1, 1, 0.01), (1, -1, 0.01), (-1, 1, 0.01))
        for sx, sy, size in choices:
            if abs(sx) == abs(sy) == 1 and inside[y - (sy < 0), x - (sx < 0)]:
                moved[index] += (sx * size, sy * size)
                break
    return moved


@dataclass(frozen=True)
class ExportFormat:
    """Format of a label export.

    title: name of the format in the language of its tool. shapes: how it can store regions, the default first; empty
    without a choice. always_images: the images are part of the format.
    classes, verdicts, images: return True for a name that it can hold, or that it does not store. flat: all images are
    in one folder. stems: labels are files with the names of images. reader: format of the import, if it is another.
    """

    name: str
    title: str
    writer: Callable[[LabelExport], LabelWriter]
    shapes: tuple[str, ...] = ()
    always_images: bool = False
    classes: Accepts = is_label
    verdicts: Accepts = bool
    images: Accepts = is_path
    flat: bool = False
    stems: bool = True
    reader: str = ""
