"""COCO JSON: images, annotations with polygons, run lengths or boxes, and categories in one file per data split."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from workbench.core.messages import Message
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
    polygon,
    regions,
)
from workbench.core.project.formats.shape_labels import ShapedImage, find_shapes
from workbench.core.project.formats.shapes import Points, Shape, pairs
from workbench.core.project.formats.text_files import json_files, load
from workbench.core.project.storage import write_json

_MOST_PIXELS = 1 << 30  # of a decoded run-length mask
_LISTS = ("images", "annotations")
_WHOLE = re.compile(r"[+-]?\d{1,18}(?:\.0*)?")


def recognition_score(tree: FileTree) -> int:
    return sum(data.count(b'"image_id"') or 1 for _, data in _files(tree))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since categories have names."""
    return find_shapes(tree, [name for name, _ in _files(tree)], _parse, options)


def _files(tree: FileTree) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files without panoptic segments, which `coco_panoptic` reads."""
    for name, data in json_files(tree, b'"images"', b'"annotations"'):
        if b'"segments_info"' not in data:
            yield name, data


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    content = load(tree, name)
    listed = ListedImages(tree, name, content)
    categories = named_categories(content)
    tags: dict[str, list[str]] = defaultdict(list)
    for number, entry in enumerate(listed.annotations, 1):
        image = listed.image_of(entry, number)
        if image is None:
            continue
        with image.entry("annotation", number):
            label = category_name(categories, entry.get("category_id"))
            shapes = list(_shapes(entry, label, image))
            image.shapes += shapes
            if not shapes:
                if entry.get("category_id") is None or {"caption", "bbox", "segmentation"} & entry.keys():
                    raise UnreadableLabel(Message("import.no_shape"))
                tags[image.name].append(label)
            image.lost[Message("lost.crowd")] += bool(entry.get("iscrowd"))
            image.lost[Message("lost.key_points")] += bool(entry.get("keypoints"))
    for image in listed.images:
        found = tags.get(image.name, [])
        if len(set(found)) == 1:
            image.verdict = found[0]
        elif found:
            image.refuse(Message("import.several_flags", names=", ".join(dict.fromkeys(found))))
        yield image
    yield from listed.refused


class ListedImages:
    """Images of a COCO file, with the images that its annotations name by an id. Raises UnreadableLabel.

    Some programs write ids as numbers in one place and as texts in another, with zeros in front or as decimals; others
    name the file instead. refused: images without a name, and annotations that belong to no image, or to several.
    """

    def __init__(self, tree: FileTree, name: str, content: Any) -> None:
        images, annotations = (content.get(key) if isinstance(content, dict) else None for key in _LISTS)
        if not isinstance(images, list) or not isinstance(annotations, list):
            raise UnreadableLabel(Message("import.no_coco"))
        self.annotations: list[Any] = annotations
        self._path, split = tree.path(name), split_of(name)
        self.refused: list[Refusal] = []
        self._nameless: set[object] = set()
        self._by_name: dict[str, ShapedImage] = {}
        self._by_id: dict[object, list[ShapedImage]] = defaultdict(list)
        for number, one in enumerate(images, 1):
            try:
                image = _listed_image(one, split)
            except FAULTS as error:
                self._nameless.add(number_key(one.get("id") if isinstance(one, dict) else None))
                self.refused.append(Refusal(self._path, reason(error), entry_name("image", number), ()))
                continue
            image = self._by_name.setdefault(image.name, image)  # listed twice, as in files that were joined
            same_id = self._by_id[number_key(one.get("id"))]
            if not any(known is image for known in same_id):
                same_id.append(image)
        self._stems = {PurePosixPath(image.name).stem: image for image in self._by_name.values()}

    @property
    def images(self) -> Iterable[ShapedImage]:
        return self._by_name.values()

    def image_of(self, entry: Any, number: int) -> ShapedImage | None:
        """Return the image of an annotation; None, which is recorded in `refused`, if it is unknown or ambiguous."""
        id = entry.get("image_id") if isinstance(entry, dict) else None
        found = self._by_id.get(number_key(id), [])
        if not found and isinstance(id, str):
            named = self._by_name.get(id) or self._stems.get(PurePosixPath(id).stem)
            found = [] if named is None else [named]
        if len(found) == 1:
            return found[0]
        shown, names, images = str(id)[:80], (), None
        if not isinstance(entry, dict):
            why = Message("import.unexpected_content")
        elif found:
            names = tuple(image.name for image in found)
            why = Message("import.id_of_several", id=shown, names=", ".join(names[:5]))
        elif number_key(id) in self._nameless:
            why, images = Message("import.nameless_image", id=shown), ()
        else:
            why = Message("import.unlisted_image", id=shown)
        place = entry_name("annotation", number)
        self.refused.append(Refusal(self._path, why, place, images, names))
        return None


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
    width, height = image.get("width"), image.get("height")
    size = (width, height) if isinstance(width, int) and isinstance(height, int) and width > 0 < height else None
    name = image["file_name"]
    if not isinstance(name, str) or not name.strip():
        raise UnreadableLabel(Message("import.key_missing", key="file_name"))
    return ShapedImage(name, size, split=split, lost=Counter())


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
        x, y, width, height = (float(value) for value in entry["bbox"])
        yield Shape(label, "box", [(x, y), (x + width, y + height)])
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
    if isinstance(counts, str):
        counts = _uncompressed(counts)
    runs = np.asarray(counts, np.int64)
    if not 0 < height * width <= _MOST_PIXELS or runs.ndim != 1 or (runs < 0).any() or runs.sum() != height * width:
        raise UnreadableLabel(Message("import.run_lengths"))
    values = np.arange(len(runs)) % 2 == 1
    return np.repeat(values, runs).reshape(width, height).T


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


# --- writing ----------------------------------------------------------------------------------------


class CocoWriter:
    """annotations/instances_SPLIT.json with one annotation per connected region, and images/SPLIT/.

    SPLIT is train, val or test for images assigned to a split, otherwise default. Run lengths (the default) and
    polygons both hold holes and single pixels.
    """

    def __init__(self, export: LabelExport) -> None:
        self._export = export
        self._polygons = export.options.shapes == "polygon"
        self._files: dict[str, dict[str, list[Any]]] = defaultdict(lambda: {"images": [], "annotations": []})

    def add(self, image: ExportedImage) -> None:
        export = self._export
        content = self._files[image.split or "default"]
        export.lose_areas(image)
        export.lose(image, "verdicts", int(image.verdict is not None))
        if image.mask is None:
            return  # an image without annotations is one without defects
        export.copy_image(image, PurePosixPath("images", image.split, export.image_name(image)))
        number = len(content["images"]) + 1
        content["images"].append(
            {"id": number, "file_name": export.image_name(image), "width": image.width, "height": image.height}
        )
        for region in regions(image.mask, tuple(export.numbers)):
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
        categories = [{"id": id, "name": name, "supercategory": ""} for id, name in self._export.names.items()]
        for split, content in self._files.items():
            path = self._export.out / "annotations" / f"instances_{split}.json"
            write_json(path, {"info": {}, "categories": categories, **content})


def encode_rle(mask: np.ndarray) -> dict[str, Any]:
    """Return COCO's compressed run lengths of a mask, bool (H, W): {"size": [H, W], "counts": text}."""
    flat = np.asarray(mask, bool).ravel(order="F")
    borders = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff(borders, prepend=0, append=len(flat)).tolist()
    if flat[0]:
        counts.insert(0, 0)
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
