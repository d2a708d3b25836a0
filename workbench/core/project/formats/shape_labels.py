"""Labels made of shapes: polygons, boxes, ellipses, lines, points and bitmaps, as most annotation tools store them.

A reader parses its files into `ShapedImage`; this module finds the images and rasterizes the shapes.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

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
    Refusal,
    UnreadableLabel,
    entry_name,
    reason,
    without_suffix,
)
from workbench.core.project.formats.image_finder import ImageFinder, is_outside
from workbench.core.project.formats.shapes import Points, Shape, box_rect, checked, draw_shape
from workbench.core.project.project import DONT_CARE, MAX_CLASS_ID
from workbench.inference.io.image_io import IMAGE_SUFFIXES
from workbench.inference.io.opencv import cv2

IGNORE, BACKGROUND = "__ignore__", "_background_"  # labels of labelme


# Shapes of an entry of a label file; None or nothing for an entry that is not one of pixels.
Shapes = Shape | Iterable[Shape] | None


@dataclass
class ShapedImage:
    """Shapes of one image. name: path of the image as stored in the label file. size: (width, height), if stored.

    split: "train", "val" or "test", if the file assigns one. verdict: label of the whole image. embedded: returns the
    bytes of the image if the file contains them. notes: sentences on content that was not imported. refused: entries
    that are left out, with the reasons. entries: number of all entries.
    """

    name: str
    size: tuple[int, int] | None = None
    shapes: list[Shape] = field(default_factory=list)
    verdict: str | None = None
    split: str | None = None
    lost: Counter[str] = field(default_factory=Counter)  # content that no class map can hold, message -> count
    embedded: Callable[[], bytes] | None = None
    notes: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    entries: int = 0

    def read(self, kind: str, entries: Any, parse: Callable[[Any, ShapedImage], Shapes], layer: str = "") -> None:
        """Read a list of entries of the image, see `numbered`. parse: returns the shapes of one."""
        for number, entry in numbered(entries, layer):
            self.read_entry(kind, number, parse, entry)

    def read_entry(self, kind: str, id: object, parse: Callable[[Any, ShapedImage], Shapes], entry: Any = None) -> None:
        """Read one entry of the image: one that is faulty is refused by its kind and id, and the others are kept."""
        self.entries += 1
        try:
            found = parse(entry, self)
            shapes = [found] if isinstance(found, Shape) else list(found or ())
        except FAULTS as error:
            self.refused.append((entry_name(kind, id), reason(error)))
        else:
            self.shapes += [replace(shape, entry=(kind, id)) for shape in shapes]

    def lose(self, kind: str, present: object = True) -> None:
        """Count content that no class map can hold, if it is present. kind: message with its name."""
        self.lost[kind] += bool(present)

    def refuse(self, why: str) -> None:
        """Leave out the label of the whole image."""
        self.refused.append(("", why))

    def set_verdict(self, verdict: str) -> None:
        """Take over a label of the whole image. Raises UnreadableLabel if it has another one."""
        if self.verdict not in (None, verdict):
            raise UnreadableLabel(Message("import.several_flags", names=f"{self.verdict}, {verdict}"))
        self.verdict = verdict

    def set_flags(self, names: Sequence[str]) -> None:
        """Take over the only flag of the image as its verdict; several are an entry that is refused."""

        def read(names: Sequence[str], image: ShapedImage) -> None:
            if len(names) > 1:
                raise UnreadableLabel(Message("import.several_flags", names=", ".join(names[:5])))
            image.set_verdict(names[0])

        if names:
            self.read_entry("flag", ", ".join(names), read, names)


# Images of a label file, and entries of it that belong to no known image.
Parser = Callable[[FileTree, str], Iterable["ShapedImage | Refusal"]]


@dataclass(frozen=True)
class ShapeReader:
    """Reader of a kind of label files.

    files: returns the files of a tree with the likely number of their labels, which may be 0. parse: yields the images
    of a file.
    """

    files: Callable[[FileTree], dict[str, int]]
    parse: Parser

    def recognition_score(self, tree: FileTree) -> int:
        """Return the likely number of labels in a tree."""
        return sum(self.files(tree).values())

    def find(self, tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
        """Return the labels found. `known` is not used, since shapes have the names of their classes."""
        return find_shapes(tree, list(self.files(tree)), self.parse, options)


def each_image(
    tree: FileTree, name: str, kind: str, entries: Iterable[Any], parse: Callable[[Any], ShapedImage | None]
) -> Iterator[ShapedImage | Refusal]:
    """Yield the image of each entry of the file `name`. A faulty entry is refused by its number."""
    for number, entry in enumerate(entries, 1):
        try:
            shaped = parse(entry)
        except FAULTS as error:
            yield Refusal(tree.path(name), reason(error), entry_name(kind, number))
        else:
            if shaped is not None:
                yield shaped


class NoImage(UnreadableLabel):
    """Entry of a label file that belongs to no image of it, or to several. names, images: see `Refusal`."""

    def __init__(self, why: str, names: tuple[str, ...] = (), images: tuple[Path, ...] | None = None) -> None:
        super().__init__(why)
        self.names, self.images = names, images


def each_entry(
    path: Path,
    kind: str,
    entries: Any,
    image_of: Callable[[Any], ShapedImage],
    parse: Callable[[Any, ShapedImage], Shapes],
    *,
    layer: str = "",
    id: object = None,
) -> Iterator[Refusal]:
    """Read a list of entries of a file, see `numbered`, each of which names its image; yield those without one.

    image_of: returns the image of an entry. parse: returns the shapes of one, as for `ShapedImage.read`. id: of what
    the entries are parts of, by which they are named in place of their numbers.
    """
    for number, entry in numbered(entries, layer):
        number = number if id is None else id
        try:
            image = image_of(entry)
        except FAULTS as error:
            names, images = (error.names, error.images) if isinstance(error, NoImage) else ((), None)
            yield Refusal(path, reason(error), entry_name(kind, number), images, names)
        else:
            image.read_entry(kind, number, parse, entry)


def image_at(images: Mapping[Any, ShapedImage], key: Any) -> ShapedImage:
    """Return the image of a file with this number or id. Raises NoImage."""
    image = images.get(key) if isinstance(key, (str, int)) else None
    if image is None:
        raise NoImage(Message("import.unlisted_image", id=str(key)[:80]))
    return image


def numbered(entries: Any, layer: str = "") -> list[tuple[Any, Any]]:
    """Return (number or key, entry) of a list or an object of a label file. Raises UnreadableLabel for another value.

    layer: key of the layers, of which the lowest is first. Entries without one are in layer 0.
    """
    found = list(entries.items() if isinstance(entries, dict) else enumerate(listed(entries), 1))

    def layer_of(numbered_entry: tuple[Any, Any]) -> float:
        try:
            return float(numbered_entry[1].get(layer) or 0)
        except (TypeError, ValueError, AttributeError):
            return 0.0

    return sorted(found, key=layer_of) if layer else found


def listed(value: Any) -> list[Any]:
    """Return a list of a label file. Raises UnreadableLabel for another value."""
    if not isinstance(value, list):
        raise UnreadableLabel(Message("import.unexpected_content"))
    return value


def label_text(entry: Any, key: str | int) -> str:
    """Return the name of a class at a key or place; it may be a number. Raises LookupError, UnreadableLabel."""
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnreadableLabel(Message("import.no_label"))
    return str(value)


def one_name(names: Sequence[str]) -> str:
    """Return the only name of a region, "" if it has none. Raises UnreadableLabel if it has several."""
    if len(names) > 1:
        raise UnreadableLabel(Message("import.several_names", names=", ".join(map(str, names[:5]))))
    return "".join(map(str, names))


def stored_size(width: Any, height: Any) -> tuple[int, int] | None:
    """Return the size of an image as a label file states it, as numbers or texts; None if it is no size."""
    try:
        size = int(float(width)), int(float(height))
    except (TypeError, ValueError, OverflowError):
        return None
    return size if min(size) > 0 else None


_MARGIN = 4  # pixels around the points of a shape that may be painted
_MOST_SEARCHED = 1 << 26  # pixels of a mask in which merged objects are counted, which needs four bytes per pixel


def find_shapes(tree: FileTree, files: Sequence[str], parse: Parser, options: ImportOptions) -> ImportedLabels:
    """Return the labels in `files`, paths below the tree, each parsed by `parse`."""
    batch, images = ImportedLabels(), ImageFinder(tree)
    lost: Counter[str] = Counter()
    for name in files:
        found: list[ShapedImage] = []
        try:
            for one in parse(tree, name):
                if isinstance(one, Refusal):
                    paths = tuple(tree.path(image) for stored in one.names if (image := images.find(stored, name)))
                    batch.refused.append(replace(one, images=paths) if one.names else one)
                else:
                    found.append(one)
        except FAULTS as error:
            # A file of one image belongs to the image of its name.
            image = None if found else images.find(PurePosixPath(name).stem, name)
            paths = None if image is None else (tree.path(image),)
            batch.refused.append(Refusal(tree.path(name), reason(error), images=paths))
        for shaped in found:
            # A file of one image is parsed again later, so that the memory needed does not grow with their number.
            read = partial(_parse_again, parse, tree, name, options) if len(found) == 1 else None
            lost += shaped.lost
            batch.entries.append(_entry(tree, name, shaped, images, options, read))
    used = {entry.image for entry in batch.entries}
    batch.unlabeled = images.without(used)
    used |= {path for path, _ in batch.unlabeled}
    batch.other_masks = [path for name in tree.images if (path := tree.path(name)) not in used]
    batch.notes += [Message("import.lost", n=count, name=kind) for kind, count in sorted(lost.items())]
    return batch


def _parse_again(
    parse: Parser, tree: FileTree, name: str, options: ImportOptions, width: int, height: int
) -> ImportedLabel:
    shaped = next(one for one in parse(tree, name) if isinstance(one, ShapedImage))
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
    exported = tree.originals.of(tree.path(label), shaped.name) is not None
    name = shaped.name if exported else name.removeprefix(drive).lstrip("/")
    remark, doubtful = "", False
    missing = Message("import.image_outside", path=name[:200]) if outside else Message("import.image_missing")
    if read is not None:
        try:
            found, remark, doubtful = images.of_file(name, label, shaped.split)
        except UnreadableLabel as error:
            found, missing = None, reason(error)
    else:
        found = images.find(name, label, shaped.split)
    if found is None:
        rivals = images.named(PurePosixPath(name).stem)
        missing = Message("import.several_images", names=", ".join(rivals[:5])) if len(rivals) > 1 else missing
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
        aliases=tuple(dict.fromkeys((name, without_suffix(name), without_suffix(key), PurePosixPath(name).stem))),
        split=shaped.split,
        size=shaped.size,
        embedded=shaped.embedded,
        missing=missing,
        count=max(shaped.entries, len(shaped.shapes) + (shaped.verdict is not None), len(shaped.refused)),
        refused=tuple(shaped.refused),
        remark=remark,
        doubtful=doubtful,
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
    regions only by the user's choice. Shapes that cannot be drawn are in `ImportedLabel.refused`.
    """
    if shaped.size is not None and shaped.size != (width, height):
        stored = {"w": shaped.size[0], "h": shaped.size[1]}
        raise UnreadableLabel(Message("import.drawn_size", **stored, width=width, height=height))
    mask = np.zeros((height, width), np.uint8)
    ids: dict[str, int] = {}
    boxes: list[tuple[int, Rect]] = []
    objects: Counter[int] = Counter()
    refused: list[tuple[str, str]] = []
    overlap = outside = 0
    for number, shape in enumerate(shaped.shapes, 1):
        try:
            id = _local_id(shape.label, options.class_name, ids)
            if shape.fractions:
                points = [(round(x * width, 4), round(y * height, 4)) for x, y in checked(shape.points)]
                shape = replace(shape, points=points, fractions=False)
            elif shape.kind in _BY_POINTS and _are_fractions(shape.points, width, height):
                raise UnreadableLabel(Message("import.fractions"))
            outside += shape.kind in ("polygon", "box") and _is_outside(shape.points, width, height)
            if shape.kind == "box" and 0 < id <= MAX_CLASS_ID:
                rect = box_rect(shape.points, width, height)
                if rect.empty:
                    raise UnreadableLabel(Message("import.no_pixel"))
                boxes.append((id, rect))
            else:
                overlap += _draw_over(mask, shape, id)
                objects[id] += 1
        except FAULTS as error:
            refused.append((entry_name(*(shape.entry or ("shape", number))), reason(error)))
    used = set(annotation.ids_in(mask)) | {id for id, _ in boxes}
    names = {id: name for name, id in ids.items() if id in used}
    merged = sum(max(0, count - _region_count(mask, id)) for id, count in objects.items() if id in used and count > 1)
    if shaped.shapes or shaped.verdict is None:
        lost = Counter({"import.overlap": overlap, "import.merged": merged, "import.outside": outside})
        return ImportedLabel(mask, names, shaped.verdict, shaped.notes, boxes, lost, refused=refused)
    # A label of the whole image does not label its pixels.
    return ImportedLabel(None, {}, shaped.verdict, shaped.notes)


_BY_POINTS = ("polygon", "box", "line", "point")  # kinds of shapes


def _are_fractions(points: Points, width: int, height: int) -> bool:
    """Return True for coordinates in pixels that seem to be fractions: all are in the first pixel, but not it alone."""
    numbers = np.array(checked(points))
    if min(width, height) <= 2 or not numbers.size or numbers.min() < 0 or numbers.max() > 1:
        return False
    is_pixel = np.isin(numbers, (0, 1)).all() or (np.abs(numbers - 0.5) < 0.02).all()  # its edges, or its center
    return not is_pixel


def _is_outside(points: Points, width: int, height: int) -> bool:
    """Return True if more than half of the rectangle around some points is outside of the image."""
    corners = np.array(checked(points))
    inside = np.clip(corners, 0, (width, height))
    return len(corners) > 0 and bool(2 * np.prod(np.ptp(inside, axis=0)) < np.prod(np.ptp(corners, axis=0)))


def _draw_over(mask: np.ndarray, shape: Shape, id: int) -> int:
    """Paint a shape; return the number of pixels of other classes that it covers.

    Raises UnreadableLabel if a class covers no pixel, as a shape outside of the image does.
    """
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
    if not (view == id).any():
        raise UnreadableLabel(Message("import.no_pixel"))
    return int(np.count_nonzero((before != view) & (before > 0) & (before <= MAX_CLASS_ID)))


def _region_count(mask: np.ndarray, id: int) -> int:
    """Return the number of connected regions of a class; more than any count for a mask that is too large to search."""
    if mask.size > _MOST_SEARCHED:
        return mask.size
    return cv2.connectedComponents((mask == id).astype(np.uint8), connectivity=8)[0] - 1


def _local_id(label: str, class_name: str | None, ids: dict[str, int]) -> int:
    """Return the id of a shape's label in `ids`, by first use; the project's ids are assigned by name later.

    labelme's `__ignore__` and `_background_` are no classes. Raises UnreadableLabel if there are too many labels.
    """
    label = label.strip()
    if label in (IGNORE, BACKGROUND):
        return DONT_CARE if label == IGNORE else 0
    name = class_name or label or "unnamed"
    if name not in ids and len(ids) == MAX_CLASS_ID:
        raise UnreadableLabel(Message("import.too_many_labels", n=MAX_CLASS_ID))
    return ids.setdefault(name, len(ids) + 1)
