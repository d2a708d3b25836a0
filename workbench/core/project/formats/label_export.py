"""Common parts of writers of foreign label formats: options, image copies, lost content, regions, outlines."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.images.image_files import copy_upright
from workbench.core.problems import CannotWrite, ImageBroken
from workbench.core.project import annotation
from workbench.core.project.formats.export_names import ExportedNames
from workbench.core.project.formats.original_names import FILE, ExportedFile, ExportRecord
from workbench.core.project.project import DONT_CARE, NOT_LABELED, Project
from workbench.core.project.storage import write_json
from workbench.core.text_patterns import is_text
from workbench.inference.io.image_io import ReadError
from workbench.inference.io.opencv import cv2

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

    def lose_areas(self, image: ExportedImage, *, ignored: bool = True) -> None:
        """Count ignored (if `ignored`) and unlabeled areas of a mask for a format without a mark for them."""
        if image.mask is not None:
            self.lose(image, "masks with ignored areas", int(ignored and bool((image.mask == DONT_CARE).any())))
            self.lose(image, "masks with unlabeled areas", int((image.mask == NOT_LABELED).any()))

    def lose_background(self, image: ExportedImage) -> None:
        """Count an empty mask beside a verdict, for formats where a verdict alone does not label the pixels."""
        empty = image.mask is not None and not image.mask.any()
        self.lose(image, "empty masks beside a verdict", int(empty and image.verdict is not None))

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


class LabelWriter(Protocol):
    """Writer of one format. `add` writes one image with its label; `finish` writes the files about all images."""

    def __init__(self, export: LabelExport) -> None: ...

    def add(self, image: ExportedImage) -> None: ...

    def finish(self) -> None: ...


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


def regions(mask: np.ndarray, ids: Sequence[int]) -> Iterator[LabelRegion]:
    """Yield the connected regions of the classes `ids`, large before small: one inside another follows it."""
    found = [region for id in annotation.ids_in(mask) if id in ids for region in _regions_of(mask, id)]
    yield from sorted(found, key=lambda region: -region.rect.width * region.rect.height)


def _regions_of(mask: np.ndarray, id: int) -> Iterator[LabelRegion]:
    count, labels, stats, _ = cv2.connectedComponentsWithStats((mask == id).astype(np.uint8), connectivity=8)
    for number in range(1, count):
        x, y, width, height, _ = (int(value) for value in stats[number])
        yield LabelRegion(id, Rect(x, y, width, height), labels[y : y + height, x : x + width] == number)


def outlines(region: LabelRegion) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the outer outlines and the outlines of the holes of a region, each float (N, 2) in image coordinates.

    Outlines follow the pixel edges. Filling the outer ones by the even-odd rule and removing the holes gives the
    region exactly. Pixels that touch at a corner are inside the same outline.
    """
    following = _edges(np.pad(region.inside, 1))
    outer: list[np.ndarray] = []
    holes: list[np.ndarray] = []
    while following:
        loop = _trace(following)
        points = np.array(loop, np.float64) - 1 + (region.rect.x, region.rect.y)
        after = np.roll(points, -1, axis=0)
        area = (points[:, 0] * after[:, 1] - after[:, 0] * points[:, 1]).sum()
        (outer if area > 0 else holes).append(points)
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


def _edges(inside: np.ndarray) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return the pixel edges between inside and outside, by start, clockwise around the inside: start -> ends."""
    following: dict[tuple[int, int], list[tuple[int, int]]] = {}
    outside = ~inside
    sides = (
        (np.roll(outside, 1, axis=0), (0, 0), (1, 0)),  # above
        (np.roll(outside, -1, axis=1), (1, 0), (1, 1)),  # right
        (np.roll(outside, -1, axis=0), (1, 1), (0, 1)),  # below
        (np.roll(outside, 1, axis=1), (0, 1), (0, 0)),  # left
    )
    for neighbor, start, end in sides:
        for y, x in np.argwhere(inside & neighbor).tolist():
            following.setdefault((x + start[0], y + start[1]), []).append((x + end[0], y + end[1]))
    return following


def _trace(following: dict[tuple[int, int], list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Remove one closed loop of edges and return its corners. Where two loops meet, the loop turns left."""
    start = point = next(iter(following))
    heading: tuple[int, int] | None = None
    first: tuple[int, int] | None = None
    corners: list[tuple[int, int]] = []
    while True:
        ends = following[point]
        chosen = ends[0]
        if len(ends) > 1 and heading is not None:
            left = (point[0] + heading[1], point[1] - heading[0])
            chosen = left if left in ends else ends[0]
        ends.remove(chosen)
        if not ends:
            del following[point]
        step = (chosen[0] - point[0], chosen[1] - point[1])
        if step != heading and heading is not None:
            corners.append(point)
        first, heading, point = first or step, step, chosen
        if point == start:
            break
    return [start, *corners] if heading != first else corners
