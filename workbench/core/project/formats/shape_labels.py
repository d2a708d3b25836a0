"""Labels made of shapes: polygons, boxes, ellipses, lines, points and bitmaps, as most annotation tools store them.

A reader parses its files into `ShapedImage`; this module finds the images and rasterizes the shapes.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath

import numpy as np

from workbench.core.geometry.drawing import Paint, Rect
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
from workbench.core.project.formats.image_finder import ImageFinder, is_outside
from workbench.core.project.formats.shapes import Shape, box_rect, checked, draw_shape
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.opencv import cv2

IGNORE, BACKGROUND = "__ignore__", "_background_"  # labels of labelme


@dataclass
class ShapedImage:
    """Shapes of one image. name: path of the image as stored in the label file. size: (width, height), if stored.

    split: "train", "val" or "test", if the file assigns one. verdict: label of the whole image. embedded: returns the
    bytes of the image if the file contains them. notes: sentences on content that was not imported. problem: reason
    why the label of this image cannot be imported.
    """

    name: str
    size: tuple[int, int] | None = None
    shapes: list[Shape] = field(default_factory=list)
    verdict: str | None = None
    split: str | None = None
    lost: Counter[str] = field(
        default_factory=Counter
    )  # content that a class map cannot hold: kind, a message -> count
    embedded: Callable[[], bytes] | None = None
    notes: list[str] = field(default_factory=list)
    problem: str | None = None


_MARGIN = 4  # pixels around the points of a shape that may be painted
_MOST_SEARCHED = 1 << 26  # pixels of a mask in which merged objects are counted, which needs four bytes per pixel

Parser = Callable[[FileTree, str], Iterable[ShapedImage]]


def find_shapes(tree: FileTree, files: Sequence[str], parse: Parser, options: ImportOptions) -> ImportedLabels:
    """Return the labels in `files`, paths below the tree, each parsed by `parse`."""
    batch, images = ImportedLabels(), ImageFinder(tree)
    lost: Counter[str] = Counter()
    empty = 0
    for name in files:
        try:
            found = list(parse(tree, name))
            for shaped in found:
                # A file of one image is parsed again later, so that the memory needed does not grow with their number.
                read = partial(_parse_again, parse, tree, name, options) if len(found) == 1 else None
                lost += shaped.lost
                if shaped.problem is not None:
                    batch.skipped.append((shaped.name if len(found) > 1 else str(tree.path(name)), shaped.problem))
                    continue
                batch.entries.append(_entry(tree, name, shaped, images, options, read))
                empty += not shaped.shapes and shaped.verdict is None
        except FAULTS as error:
            batch.skipped.append((str(tree.path(name)), reason(error)))
    if batch.entries:
        used = {entry.image for entry in batch.entries}
        batch.unlabeled = images.without(used)
        used |= {path for path, _ in batch.unlabeled}
        batch.other_masks = [path for name in tree.images if (path := tree.path(name)) not in used]
    if 0 < empty < len(batch.entries):
        batch.notes.append(Message("import.empty_labels", n=empty))
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
    drive, outside = PureWindowsPath(name).drive, is_outside(name, label)
    name = name.removeprefix(drive).lstrip("/")
    found = images.find(name, label, shaped.split)
    if found is None and read is not None:  # the only image of a file may have the file's name
        found = images.find(PurePosixPath(label).stem, label)
    if found is None and outside:
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
    objects: Counter[int] = Counter()
    overlap = 0
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
                overlap += _draw_over(mask, shape, id)
                objects[id] += 1
        except (TypeError, ValueError, OverflowError, IndexError) as error:
            raise UnreadableLabel(Message("import.shape_damaged", name=repr(shape.label), why=str(error))) from None
    boxes = [(id, rect) for id, rect in boxes if not rect.empty]
    used = set(annotation.ids_in(mask)) | {id for id, _ in boxes}
    names = {id: name for id, name in ids.names.items() if id in used}
    merged = sum(max(0, count - _region_count(mask, id)) for id, count in objects.items() if id in used and count > 1)
    if shaped.shapes or shaped.verdict is None:
        lost = Counter({"import.overlap": overlap, "import.merged": merged})
        return ImportedLabel(mask, names, shaped.verdict, shaped.notes, boxes, lost)
    # A label of the whole image does not label its pixels.
    return ImportedLabel(None, {}, shaped.verdict, shaped.notes)


def _draw_over(mask: np.ndarray, shape: Shape, id: int) -> int:
    """Paint a shape; return the number of pixels of other classes that it covers."""
    height, width = mask.shape
    rect = Rect(0, 0, width, height)
    if shape.kind in ("polygon", "line", "point"):
        points = np.array(checked(shape.points)).reshape(-1, 2)
        if len(points):
            x, y = np.floor(points.min(axis=0)).astype(int) - _MARGIN
            right, bottom = np.ceil(points.max(axis=0)).astype(int) + _MARGIN
            rect = Rect(int(x), int(y), int(right - x), int(bottom - y)).clipped(width, height)
    view = mask[rect.slices]
    before = view.copy()
    draw_shape(mask, shape, Paint(id))
    if not 0 < id <= MAX_CLASS_ID:
        return 0
    return int(np.count_nonzero((before != view) & (before > 0) & (before <= MAX_CLASS_ID)))


def _region_count(mask: np.ndarray, id: int) -> int:
    """Return the number of connected regions of a class; more than any count for a mask that is too large to search."""
    if mask.size > _MOST_SEARCHED:
        return mask.size
    return cv2.connectedComponents((mask == id).astype(np.uint8), connectivity=8)[0] - 1


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
