"""Labels made of shapes: polygons, boxes, ellipses, lines, points and bitmaps, as most annotation tools store them.

A reader parses its files into `ShapedImage`; this module finds the images and rasterizes the shapes.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from workbench.core.geometry.drawing import NOTHING, Paint, Rect, draw_region, draw_segment
from workbench.core.geometry.polygons import draw_polygon
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    ImportedEntry,
    ImportedLabel,
    ImportedLabels,
    ImportOptions,
    UnreadableLabel,
    reason,
    without_suffix,
)
from workbench.core.project.formats.mask_pairing import is_in_mask_folder, masks_beside_images
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID
from workbench.inference.io.image_io import IMAGE_SUFFIXES

IGNORE, BACKGROUND = "__ignore__", "_background_"  # labels of labelme
LINE_RADIUS = 1.5  # pixels; a line has no width of its own and is drawn three pixels wide
POINT_RADIUS = 2.5
_LARGEST_COORDINATE = 1e7

Points = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Shape:
    """Labeled shape in pixel coordinates, with the origin at the outer corner of the first pixel.

    kind: "polygon", "box" (two corners), "ellipse" (center, radii), "circle" (center, point of the rim), "line",
    "point", or "bitmap". points: (N, 2). holes: polygons cut out of a polygon. bitmap: returns bool (h, w), whose first
    pixel is at the first point. fractions: coordinates are fractions of the image's width and height.
    corners: the pixels under the corners of a polygon belong to it.
    """

    label: str
    kind: str
    points: Points = ()
    holes: tuple[Points, ...] = ()
    bitmap: Callable[[], np.ndarray] | None = None
    fractions: bool = False
    corners: bool = False


@dataclass
class ShapedImage:
    """Shapes of one image. name: path of the image as stored in the label file. size: (width, height), if stored.

    split: "train", "val" or "test", if the file assigns one. verdict: label of the whole image. embedded: returns the
    bytes of the image if the file contains them. notes: sentences on content that was not imported.
    """

    name: str
    size: tuple[int, int] | None = None
    shapes: list[Shape] = field(default_factory=list)
    verdict: str | None = None
    split: str | None = None
    lost: Counter[str] = field(default_factory=Counter)  # content that a class map cannot hold: kind -> count
    embedded: Callable[[], bytes] | None = None
    notes: list[str] = field(default_factory=list)


Parser = Callable[[FileTree, str], Iterable[ShapedImage]]


def find_shapes(tree: FileTree, files: Sequence[str], parse: Parser, options: ImportOptions) -> ImportedLabels:
    """Return the labels in `files`, paths below the tree, each parsed by `parse`."""
    batch, images = ImportedLabels(), ImageFinder(tree)
    lost: Counter[str] = Counter()
    for name in files:
        try:
            found = list(parse(tree, name))
            for shaped in found:
                # A file of one image is parsed again later, so that the memory needed does not grow with their number.
                read = partial(_parse_again, parse, tree, name, options) if len(found) == 1 else None
                batch.entries.append(_entry(tree, name, shaped, images, options, read))
                lost += shaped.lost
        except FAULTS as error:
            batch.skipped.append((str(tree.path(name)), reason(error)))
    if batch.entries:
        batch.unlabeled = images.without({entry.image for entry in batch.entries})
    batch.notes += [Message("import.lost", n=count, name=kind) for kind, count in sorted(lost.items())]
    return batch


def _parse_again(
    parse: Parser, tree: FileTree, name: str, options: ImportOptions, width: int, height: int
) -> ImportedLabel:
    shaped = next(iter(parse(tree, name)))
    return rasterize(shaped, options, width, height)


def _entry(
    tree: FileTree,
    label: str,
    shaped: ShapedImage,
    images: ImageFinder,
    options: ImportOptions,
    read: Callable[[int, int], ImportedLabel] | None,
) -> ImportedEntry:
    name = PureWindowsPath(shaped.name).as_posix()
    drive, outside = PureWindowsPath(name).drive, _is_outside(name, label)
    name = name.removeprefix(drive).lstrip("/")
    found = images.find(name, label)
    if found is None and shaped.embedded is None and outside and ".." in PurePosixPath(name).parts:
        missing = Message("import.image_outside", path=name[:200])
    else:
        missing = Message("import.image_missing")
    if found is None:
        suffix = PurePosixPath(name).suffix.lower()
        key = str(PurePosixPath(label).parent / PurePosixPath(name).stem) + (
            suffix if suffix in IMAGE_SUFFIXES else ".png"
        )
    else:
        key = found
    return ImportedEntry(
        label=tree.path(label),
        image=None if found is None else tree.path(found),
        key=key,
        read=read or partial(rasterize, _compact(shaped), options),
        aliases=tuple(dict.fromkeys((without_suffix(name), without_suffix(key), PurePosixPath(name).stem))),
        split=shaped.split,
        size=shaped.size,
        embedded=shaped.embedded,
        missing=missing,
    )


def _compact(shaped: ShapedImage) -> ShapedImage:
    """Return an image whose points are in arrays, which need an eighth of the memory."""
    shapes = []
    for shape in shaped.shapes:
        with contextlib.suppress(TypeError, ValueError, OverflowError):  # damaged shapes are reported when drawn
            shape = replace(shape, points=np.array(shape.points, np.float64).reshape(len(shape.points), 2))
        shapes.append(shape)
    return replace(shaped, shapes=shapes)


def _is_outside(name: str, label: str) -> bool:
    """Return True if a name stored in `label` leads out of the imported folder."""
    if name.startswith("/") or PureWindowsPath(name).drive:
        return True
    return os.path.normpath(PurePosixPath(label).parent / name).split(os.sep)[0] == ".."


class ImageFinder:
    """Search of the images of a tree by the names that label files contain. Masks are left out."""

    def __init__(self, tree: FileTree) -> None:
        self._tree = tree
        self._masks = masks_beside_images(tree)
        self.names = [name for name in tree.images if name not in self._masks and not is_in_mask_folder(name)]
        self._known = {name.casefold(): name for name in self.names}
        # Images may lie beside their labels, in a folder "annotations".
        self._all = {name.casefold(): name for name in tree.images}
        self._by_stem: dict[str, list[str]] = {}
        for name in self.names:
            self._by_stem.setdefault(PurePosixPath(name).stem.casefold(), []).append(name)

    def find(self, name: str, label: str) -> str | None:
        """Return the image stored as `name` in the file `label`, or None. Only images inside the tree are found.

        Candidates in this order: relative to the label's folder, relative to the root, the image with the longest
        common end of its path, the only image with this stem, the image beside the label even if the folder's name is
        one of masks.
        """
        path = PurePosixPath(name)
        stem, suffix = (path.stem, path.suffix) if path.suffix.lower() in IMAGE_SUFFIXES else (path.name, "")
        for folder in (PurePosixPath(label).parent, PurePosixPath()):
            known = self._known.get(_normal(folder / name))
            if known is not None:
                return known
        candidates = self._by_stem.get(stem.casefold(), []) or self._by_stem.get(path.stem.casefold(), [])
        if suffix:
            file = PurePosixPath(name).name.casefold()
            candidates = [c for c in candidates if PurePosixPath(c).name.casefold() == file] or candidates
        if len(candidates) > 1:
            lengths = [_common_end(name, candidate) for candidate in candidates]
            best = [c for c, length in zip(candidates, lengths) if length == max(lengths)]
            near = [c for c in best if PurePosixPath(c).parent == PurePosixPath(label).parent]
            candidates = near or best
        if candidates:
            return candidates[0] if len(candidates) == 1 else None
        beside = PurePosixPath(label).parent / stem
        return next(
            (
                self._all[known]
                for end in (suffix, *sorted(IMAGE_SUFFIXES))
                if (known := f"{_normal(beside)}{end}".casefold()) in self._all
            ),
            None,
        )

    def without(self, used: Collection[Path | None]) -> list[tuple[Path, str]]:
        """Return (file, name) of the images that are not in `used`. A folder with a used image holds no masks."""
        names = {name: self._tree.path(name) for name in self._tree.images}
        folders = {PurePosixPath(name).parent for name, path in names.items() if path in used}
        known = set(self.names)
        return [
            (path, name)
            for name, path in names.items()
            if path not in used
            and (name in known or (PurePosixPath(name).parent in folders and name not in self._masks))
        ]


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts).casefold()


def _common_end(a: str, b: str) -> int:
    """Return the number of equal folders at the end of two paths, file names left out."""
    count = 0
    for x, y in zip(reversed(PurePosixPath(a).parts[:-1]), reversed(PurePosixPath(b).parts[:-1])):
        if x.casefold() != y.casefold():
            break
        count += 1
    return count


def rasterize(shaped: ShapedImage, options: ImportOptions, width: int, height: int) -> ImportedLabel:
    """Return the label of an image of `width` x `height` pixels. Raises UnreadableLabel if the stored size differs.

    Later shapes are painted over earlier ones. Boxes are returned unpainted in `ImportedLabel.boxes`, since they are
    regions only by the user's choice.
    """
    if shaped.size is not None and shaped.size != (width, height):
        stored = {"w": shaped.size[0], "h": shaped.size[1]}
        raise UnreadableLabel(Message("import.drawn_size", **stored, width=width, height=height))
    mask = np.zeros((height, width), np.uint8)
    ids = LocalIds(options)
    boxes: list[tuple[int, Rect]] = []
    for shape in shaped.shapes:
        id = ids.of(shape.label)
        if shape.fractions:
            shape = replace(
                shape, points=[(round(x * width, 4), round(y * height, 4)) for x, y in shape.points], fractions=False
            )
        try:
            if shape.kind == "box" and 0 < id <= MAX_CLASS_ID:
                boxes.append((id, box_rect(shape.points, width, height)))
            else:
                draw_shape(mask, shape, Paint(id))
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            raise UnreadableLabel(Message("import.shape_damaged", name=repr(shape.label), why=str(error))) from None
    boxes = [(id, rect) for id, rect in boxes if not rect.empty]
    used = set(annotation.ids_in(mask)) | {id for id, _ in boxes}
    names = {id: name for id, name in ids.names.items() if id in used}
    if shaped.shapes or shaped.verdict is None:
        return ImportedLabel(mask, names, shaped.verdict, shaped.notes, boxes)
    # A label of the whole image does not label its pixels.
    return ImportedLabel(None, {}, shaped.verdict, shaped.notes)


class LocalIds:
    """Ids of the classes of one label, by first use. The project's ids are assigned by name later."""

    def __init__(self, options: ImportOptions) -> None:
        self.names: dict[int, str] = {}
        self._ids: dict[str, int] = {}
        self._class_name = options.class_name

    def of(self, label: str) -> int:
        """Return the id of a shape's label. Raises UnreadableLabel if there are too many.

        labelme's `__ignore__` and `_background_` are no classes.
        """
        if label.strip() in (IGNORE, BACKGROUND):
            return DONT_CARE if label.strip() == IGNORE else 0
        name = self._class_name or label.strip() or "unnamed"
        if name not in self._ids:
            if len(self._ids) == MAX_CLASS_ID:
                raise UnreadableLabel(Message("import.too_many_labels", n=MAX_CLASS_ID))
            self._ids[name] = len(self._ids) + 1
            self.names[self._ids[name]] = name
        return self._ids[name]


def checked(points: Iterable[Any]) -> list[tuple[float, float]]:
    """Return points as pairs of floats. Raises ValueError for coordinates that no image has."""
    pairs = [(float(x), float(y)) for x, y in points]
    if not all(math.isfinite(v) and abs(v) < _LARGEST_COORDINATE for pair in pairs for v in pair):
        raise ValueError(Message("import.coordinate"))
    return pairs


def pairs(flat: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield (x, y) of a flat list x0, y0, x1, y1, ... Raises ValueError if its length is odd."""
    if len(flat) % 2:
        raise ValueError(Message("import.odd_coordinates"))
    return zip(flat[::2], flat[1::2])


def box_rect(points: Points, width: int, height: int) -> Rect:
    """Return the pixels whose centers lie in the box of the points, clipped to the image."""
    corners = checked(points)
    if not corners:
        raise ValueError(Message("import.no_points"))
    left, top = min(x for x, _ in corners), min(y for _, y in corners)
    right, bottom = max(x for x, _ in corners), max(y for _, y in corners)
    x, y = math.ceil(left - 0.5), math.ceil(top - 0.5)
    return Rect(x, y, math.ceil(right - 0.5) - x, math.ceil(bottom - 0.5) - y).clipped(width, height)


def fill_rect(mask: np.ndarray, rect: Rect, paint: Paint) -> None:
    if not rect.empty and rect != NOTHING:
        paint.apply(mask, rect, np.ones((rect.height, rect.width), bool))


def draw_shape(mask: np.ndarray, shape: Shape, paint: Paint) -> None:
    """Paint one shape into `mask`, uint8 (H, W). Raises ValueError for damaged shapes."""
    points = checked(shape.points)
    if not points:
        raise ValueError(Message("import.no_points"))
    if shape.kind == "circle":
        draw_segment(mask, points[0], points[0], math.dist(points[0], points[1]), paint)
    elif shape.kind == "bitmap":
        if shape.bitmap is None:
            raise ValueError(Message("import.no_mask"))
        draw_region(mask, shape.bitmap(), (int(points[0][0]), int(points[0][1])), paint)
    elif shape.kind == "box":
        fill_rect(mask, box_rect(points, mask.shape[1], mask.shape[0]), paint)
    elif shape.kind == "ellipse":
        (x, y), (rx, ry) = points
        turns = np.linspace(0, 2 * math.pi, 4 * max(8, math.ceil(max(rx, ry))), endpoint=False)
        draw_polygon(mask, np.stack((x + rx * np.cos(turns), y + ry * np.sin(turns)), axis=1), paint, vertices=False)  # type: ignore[arg-type]
    elif shape.kind == "line":
        for start, end in zip(points, points[1:] or points):
            draw_segment(mask, start, end, LINE_RADIUS, paint)
    elif shape.kind == "point":
        for point in points:
            draw_segment(mask, point, point, POINT_RADIUS, paint)
    elif shape.kind == "polygon":
        _draw_polygon(mask, shape, points, paint)
    else:
        raise ValueError(f"unknown kind {shape.kind}")


def _draw_polygon(mask: np.ndarray, shape: Shape, points: list[tuple[float, float]], paint: Paint) -> None:
    if len(points) < 3:
        raise ValueError(Message("import.polygon"))
    if not shape.holes:
        draw_polygon(mask, points, paint, vertices=shape.corners)
        return
    filled = np.zeros(mask.shape, np.uint8)
    draw_polygon(filled, points, Paint(1), vertices=False)
    for hole in shape.holes:
        draw_polygon(filled, checked(hole), Paint(0), vertices=False)
    draw_region(mask, filled.astype(bool), (0, 0), paint)
