"""COCO JSON: images, annotations with polygons, run lengths or boxes, and categories in one file per data split.

Of COCO panoptic files, an annotation holds the segments of an image with a category each, whose pixels are in a color
image beside the file. The number of a pixel's segment is R + 256 G + 65536 B; 0 is no segment. Source: Kirillov et al.,
Panoptic Segmentation (2019), and the format description of COCO.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.problems import Problem
from workbench.core.project.formats.base import (
    FAULTS,
    FileTree,
    ImportedLabels,
    ImportOptions,
    Refusal,
    UnreadableLabel,
    entry_name,
    reason,
)
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.label_export import (
    ExportedImage,
    LabelExport,
    LabelRegion,
    LabelWriter,
    polygon,
    regions,
)
from workbench.core.project.formats.mask_files import read_raw
from workbench.core.project.formats.mask_names import is_in_mask_folder
from workbench.core.project.formats.mask_values import BACKGROUND_NAMES
from workbench.core.project.formats.shape_labels import (
    BACKGROUND,
    IGNORE,
    NoImage,
    ShapedImage,
    ShapeReader,
    each_entry,
    find_shapes,
    label_text,
    listed,
    stored_size,
)
from workbench.core.project.formats.shapes import Points, Shape, box, filled_runs, pairs, run_lengths
from workbench.core.project.formats.text_files import json_counts, load
from workbench.core.project.storage import json_bytes, write_bytes

_LISTS = ("images", "annotations")
_WHOLE = re.compile(r"[+-]?\d{1,18}(?:\.0*)?")


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    content = load(tree, name)
    images = ListedImages(tree, name, content)
    categories = named_categories(content)

    def read(entry: dict[str, Any], image: ShapedImage) -> list[Shape]:
        label = category_name(categories, entry.get("category_id"))
        shapes = list(_shapes(entry, label, image))
        if not shapes:
            if entry.get("category_id") is None or {"caption", "bbox", "segmentation"} & entry.keys():
                raise UnreadableLabel(Message("import.no_shape"))
            image.set_verdict(label)
        image.lose(Message("lost.crowd"), entry.get("iscrowd"))
        image.lose(Message("lost.key_points"), entry.get("keypoints"))
        return shapes

    yield from each_entry(tree.path(name), "annotation", images.annotations, images.of, read)
    yield from images.images
    yield from images.refused


COCO = ShapeReader(json_counts(b'"images"', b'"annotations"', count=b'"image_id"', without=b'"segments_info"'), _parse)


class ListedImages:
    """Images of a COCO file, which its annotations name by an id. Raises UnreadableLabel.

    Some programs write ids as numbers in one place and as texts in another, with zeros in front or as decimals; others
    name the file instead. refused: images without a name.
    """

    def __init__(self, tree: FileTree, name: str, content: Any) -> None:
        images, annotations = (content.get(key) if isinstance(content, dict) else None for key in _LISTS)
        if not isinstance(images, list) or not isinstance(annotations, list):
            raise UnreadableLabel(Message("import.no_coco"))
        self.annotations: list[Any] = annotations
        self.refused: list[Refusal] = []
        self._nameless: set[object] = set()
        self._by_name: dict[str, ShapedImage] = {}
        self._by_id: dict[object, list[ShapedImage]] = defaultdict(list)
        for number, one in enumerate(images, 1):
            try:
                image = _listed_image(one, split_of(name))
            except FAULTS as error:
                self._nameless.add(number_key(one.get("id") if isinstance(one, dict) else None))
                self.refused.append(Refusal(tree.path(name), reason(error), entry_name("image", number), ()))
                continue
            known = self._by_name.setdefault(image.name, image)  # listed twice, as in files that were joined
            if None not in (known.size, image.size) and known.size != image.size:
                known.refuse(Message("import.sizes_of_one_name"))
            image = known
            same_id = self._by_id[number_key(one.get("id"))]
            if not any(other is image for other in same_id):
                same_id.append(image)
        self._stems = {PurePosixPath(image.name).stem: image for image in self._by_name.values()}

    @property
    def images(self) -> Iterable[ShapedImage]:
        return self._by_name.values()

    def of(self, entry: dict[str, Any]) -> ShapedImage:
        """Return the image of an annotation. Raises NoImage, and AttributeError for an entry of another kind."""
        id = entry.get("image_id")
        found = self._by_id.get(number_key(id), [])
        if not found and isinstance(id, str):
            named = self._by_name.get(id) or self._stems.get(PurePosixPath(id).stem)
            found = [] if named is None else [named]
        shown, names = str(id)[:80], tuple(image.name for image in found)
        if len(found) > 1:
            raise NoImage(Message("import.id_of_several", id=shown, names=", ".join(names[:5])), names)
        if not found and number_key(id) in self._nameless:
            raise NoImage(Message("import.nameless_image", id=shown), images=())
        if not found:
            raise NoImage(Message("import.unlisted_image", id=shown))
        return found[0]


def number_key(id: Any) -> object:
    """Return an id for comparison: 1, 1.0, "1" and "0001" are equal. None is equal to no id."""
    if isinstance(id, bool) or id is None:
        return object()
    if isinstance(id, str):
        text = id.strip()
        return int(text.partition(".")[0]) if _WHOLE.fullmatch(text) else text
    return int(id) if isinstance(id, (int, float)) and math.isfinite(id) and id == int(id) else str(id)


def named_categories(content: dict[str, Any]) -> dict[object, set[str]]:
    """Return the names of each category by its id, see `number_key`: several if the id occurs more than once."""
    names: dict[object, set[str]] = defaultdict(set)
    for one in content.get("categories") or []:
        if isinstance(one, dict) and "id" in one and isinstance(one.get("name"), (str, int, float)):
            names[number_key(one["id"])].add(str(one["name"]))
    return names


def category_name(categories: dict[object, set[str]], id: Any) -> str:
    """Return the name of a category. Raises UnreadableLabel if its id has several names, or none beside others."""
    names = categories.get(number_key(id), set())
    if id is None:
        raise UnreadableLabel(Message("import.key_missing", key="category_id"))
    if not names and categories:
        raise UnreadableLabel(Message("import.unlisted_category", id=str(id)[:80]))
    if len(names) > 1:
        raise UnreadableLabel(Message("import.category_of_several", id=str(id)[:80], names=", ".join(sorted(names))))
    return next(iter(names), f"class_{id}")


def _listed_image(image: dict[str, Any], split: str | None) -> ShapedImage:
    """Return an image of the list `images`, without shapes."""
    name = image["file_name"]
    if not isinstance(name, str) or not name.strip():
        raise UnreadableLabel(Message("import.key_missing", key="file_name"))
    return ShapedImage(name, stored_size(image.get("width"), image.get("height")), split=split)


def _shapes(entry: dict[str, Any], label: str, image: ShapedImage) -> Iterator[Shape]:
    segmentation, drawn, short = entry.get("segmentation"), False, 0
    if isinstance(segmentation, dict):
        yield Shape(label, "bitmap", [(0, 0)], bitmap=whole_bitmap(segmentation, image))
        return
    for points in _polygons(segmentation):
        if len(points) >= 3:
            drawn = True
            yield Shape(label, "polygon", points)
        elif points:
            short += 1
    if not drawn and entry.get("bbox"):
        yield box(label, *entry["bbox"])
    elif short and not drawn:
        raise UnreadableLabel(Message("import.polygon"))
    image.lost[Message("lost.short_polygons")] += short


def _polygons(segmentation: Any) -> list[Points]:
    """Return the polygons of a segmentation: lists of coordinates, or as some programs write it, one such list alone.

    A list of pairs is one polygon too.
    """
    if not isinstance(segmentation, list) or not segmentation:
        return []
    first = segmentation[0]
    if isinstance(first, (int, float)):
        return [list(pairs(segmentation))]
    if len(segmentation) > 2 and all(isinstance(one, list) and len(one) == 2 for one in segmentation):
        return [segmentation]
    return [one if one and isinstance(one[0], list) else list(pairs(one)) for one in segmentation]


def whole_bitmap(rle: dict[str, Any], image: ShapedImage) -> Callable[[], np.ndarray]:
    """Return the function that decodes run lengths of a whole image, whose size must be that of the run lengths."""
    height, width = (int(value) for value in rle["size"])
    if image.size is None:
        image.size = width, height
    size = image.size

    def decode() -> np.ndarray:
        if size != (width, height):
            raise UnreadableLabel(Message("import.run_lengths"))
        return decode_rle(rle)

    return decode


def decode_rle(rle: dict[str, Any]) -> np.ndarray:
    """Return the mask, bool (H, W), of COCO run lengths: {"size": [H, W], "counts": list or compressed string}.

    Runs alternate between background and object, column by column. Raises UnreadableLabel if they do not fill the
    image exactly. Source: Lin et al., Microsoft COCO (2014), maskApi.c.
    """
    height, width = (int(value) for value in rle["size"])
    counts = rle["counts"]
    runs = _uncompressed(counts) if isinstance(counts, str) else counts
    return filled_runs(runs, height * width).reshape(width, height).T


def _uncompressed(text: str) -> list[int]:
    """Return the run lengths of COCO's compressed string: 5 bits per character, differences to the run before last."""
    counts: list[int] = []
    position = 0
    while position < len(text):
        value, shift, more = 0, 0, True
        while more:
            if position >= len(text) or shift > 60:
                raise UnreadableLabel(Message("import.run_lengths"))
            bits = ord(text[position]) - 48
            value |= (bits & 0x1F) << shift
            more = bool(bits & 0x20)
            position, shift = position + 1, shift + 5
            if not more and bits & 0x10:
                value |= -1 << shift
        if len(counts) > 2:
            value += counts[-2]
        counts.append(value)
    return counts


# --- panoptic -------------------------------------------------------------------------------------

Read = Callable[[tuple[int, ...]], np.ndarray]
_PANOPTIC_FOLDER = "panoptic"  # part of the names of folders with segment images


_panoptic_files = json_counts(b'"images"', b'"annotations"', b'"segments_info"', count=b'"segments_info"')


def panoptic_score(tree: FileTree) -> int:
    return sum(_panoptic_files(tree).values())


def find_panoptic(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels of panoptic files. `known` is not used, since categories have names."""
    files = list(_panoptic_files(tree))
    masks = _SegmentImages(tree)
    parsed: dict[str, list[ShapedImage | Refusal] | Exception] = {}
    for name in files:
        try:
            parsed[name] = list(_parse_panoptic(masks, name))
        except (*FAULTS, Problem) as error:
            parsed[name] = error

    def parse(_: FileTree, name: str) -> list[ShapedImage | Refusal]:
        found = parsed[name]
        if isinstance(found, Exception):
            raise UnreadableLabel(reason(found))
        return found

    others = FileTree(tree.root, tuple(name for name in tree.files if name not in masks.used), tree.chosen)
    batch = find_shapes(others, files, parse, options)
    batch.mask_files = [tree.path(name) for name in sorted(masks.used)]
    return batch


class _SegmentImages:
    """Search of the images with segments. used: those that were found, as paths below the tree."""

    def __init__(self, tree: FileTree) -> None:
        self.tree, self.used = tree, set[str]()
        self.read = lru_cache(maxsize=1)(_read)  # the segments of an image are read one after the other
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for name in tree.images:
            self._by_name[PurePosixPath(name).name.casefold()].append(name)

    def find(self, label: str, name: str, image: str) -> Path | None:
        """Return the segments stored as `name` in the file `label`, or None. image: name of the labeled image.

        They are in a folder with the name of the label file, in one named after panoptic segments, or in one of masks;
        anywhere in the tree only if they cannot be the labeled image itself.
        """
        path = PureWindowsPath(name).as_posix()
        known = self._by_name.get(PurePosixPath(path).name.casefold(), [])
        beside = str(PurePosixPath(label).with_suffix("") / path).casefold()
        in_folder = [one for one in known if _PANOPTIC_FOLDER in str(PurePosixPath(one).parent).casefold()]
        other_name = PurePosixPath(path).name.casefold() != PureWindowsPath(image).name.casefold()
        for candidates in (
            [one for one in known if one.casefold() == beside],
            [one for one in in_folder if split_of(PurePosixPath(one).parent) == split_of(label)],
            in_folder,
            [one for one in known if is_in_mask_folder(one)],
            known if other_name else [],
        ):
            if len(candidates) == 1:
                self.used.add(candidates[0])
                return self.tree.path(candidates[0])
        return None


def _parse_panoptic(masks: _SegmentImages, name: str) -> Iterator[ShapedImage | Refusal]:
    content = load(masks.tree, name)
    images = ListedImages(masks.tree, name, content)
    names = named_categories(content)
    stuff = {number_key(one["id"]) for one in content.get("categories") or [] if one.get("isthing") == 0}

    def read(entry: dict[str, Any], image: ShapedImage) -> list[Shape]:
        """Read the segments of an image. Pixels without one are ignored if the background has segments of its own."""
        file = label_text(entry, "file_name")
        mask = masks.find(name, file, image.name)
        if mask is None:
            raise UnreadableLabel(Message("import.panoptic_mask", path=file[:200]))
        image.size = image.size or image_size(mask)
        segments = listed(entry["segments_info"])
        numbers = tuple(int(one["id"]) for one in segments)
        pixels = partial(_pixels, partial(masks.read, mask, image.size), numbers)
        background = False

        def read_segment(segment: dict[str, Any], image: ShapedImage) -> Shape:
            nonlocal background
            label = category_name(names, segment.get("category_id"))
            background |= number_key(segment.get("category_id")) in stuff
            image.lose(Message("lost.crowd"), segment.get("iscrowd"))
            label = BACKGROUND if label.casefold() in BACKGROUND_NAMES else label
            return Shape(label, "bitmap", [(0, 0)], bitmap=partial(pixels, int(segment["id"])))

        image.read("segment", segments, read_segment)
        return [Shape(IGNORE, "bitmap", [(0, 0)], bitmap=partial(pixels, 0))] if background else []

    yield from each_entry(masks.tree.path(name), "annotation", images.annotations, images.of, read)
    yield from images.images
    yield from images.refused


def _pixels(read: Read, numbers: tuple[int, ...], number: int) -> np.ndarray:
    return read(numbers) == number


def _read(path: Path, size: tuple[int, int], numbers: tuple[int, ...]) -> np.ndarray:
    """Return the number of each pixel's segment, int32 (H, W). numbers: listed segments. Raises UnreadableLabel."""
    raw = read_raw(path, size)
    values = raw.values.astype(np.int32)
    if raw.palette is not None:
        values = raw.palette.astype(np.int32)[values]
    if values.ndim == 3:
        values = values[..., 0] + (values[..., 1] << 8) + (values[..., 2] << 16)
    unlisted = set(np.unique(values).tolist()) - {0, *numbers}
    if unlisted and values.max() < 256:  # three equal channels
        values = values * 0x010101
        unlisted = set(np.unique(values).tolist()) - {0, *numbers}
    if unlisted:
        raise UnreadableLabel(Message("import.panoptic_ids", n=len(unlisted)))
    return values


# --- writing ----------------------------------------------------------------------------------------


class CocoWriter(LabelWriter):
    """annotations/instances_SPLIT.json with one annotation per connected region, and images/SPLIT/.

    SPLIT is train, val or test for images assigned to a split, otherwise default. Run lengths (the default) and
    polygons both hold holes and single pixels.
    """

    def __init__(self, export: LabelExport) -> None:
        super().__init__(export)
        self._polygons = export.options.shapes == "polygon"
        self._files: dict[str, dict[str, list[Any]]] = defaultdict(lambda: {"images": [], "annotations": []})

    def write(self, image: ExportedImage) -> None:
        export, content = self.export, self._files[image.split or "default"]
        export.copy_image(image, PurePosixPath("images", image.split, export.image_name(image)))
        number = len(content["images"]) + 1
        content["images"].append(
            {"id": number, "file_name": export.image_name(image), "width": image.width, "height": image.height}
        )
        for region in regions(image.mask, export.numbers):
            rect = region.rect
            content["annotations"].append(
                {
                    "id": len(content["annotations"]) + 1,
                    "image_id": number,
                    "category_id": export.numbers[region.class_id],
                    "segmentation": self._segmentation(image, region),
                    "area": int(region.inside.sum()),
                    "bbox": [rect.x, rect.y, rect.width, rect.height],
                    "iscrowd": 0,
                }
            )

    def _segmentation(self, image: ExportedImage, region: LabelRegion) -> Any:
        if self._polygons:
            return [polygon(region).ravel().tolist()]
        whole = np.zeros((image.height, image.width), bool)
        whole[region.rect.slices] = region.inside
        return encode_rle(whole)

    def finish(self) -> None:
        categories = [{"id": id, "name": name, "supercategory": ""} for id, name in self.export.names.items()]
        for split, content in self._files.items():
            path = self.export.out / "annotations" / f"instances_{split}.json"
            # The reference reader opens it in the encoding of the system.
            write_bytes(path, json_bytes({"info": {}, "categories": categories, **content}, ascii=True))


def encode_rle(mask: np.ndarray) -> dict[str, Any]:
    """Return COCO's compressed run lengths of a mask, bool (H, W): {"size": [H, W], "counts": text}."""
    counts = run_lengths(np.asarray(mask, bool).ravel(order="F"))
    text: list[str] = []
    for index, count in enumerate(counts):
        value = count - counts[index - 2] if index > 2 else count
        more = True
        while more:
            bits = value & 0x1F
            value >>= 5
            more = value != (-1 if bits & 0x10 else 0)
            text.append(chr(bits + (0x20 if more else 0) + 48))
    return {"size": [int(side) for side in mask.shape], "counts": "".join(text)}
