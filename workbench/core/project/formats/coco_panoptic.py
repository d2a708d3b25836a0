"""COCO panoptic JSON: segments with a category each, whose pixels are in a color image beside the file.

The number of a pixel's segment is R + 256 G + 65536 B; 0 is no segment. Source: Kirillov et al., Panoptic Segmentation
(2019), and the format description of COCO.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
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
    reason,
)
from workbench.core.project.formats.coco import ListedImages, category_name, named_categories, number_key
from workbench.core.project.formats.data_split import split_of
from workbench.core.project.formats.mask_files import read_raw
from workbench.core.project.formats.mask_pairing import is_in_mask_folder
from workbench.core.project.formats.shape_labels import IGNORE, ShapedImage, find_shapes, label_text, listed
from workbench.core.project.formats.shapes import Shape
from workbench.core.project.formats.text_files import json_files, load

_KEYS = (b'"images"', b'"annotations"', b'"segments_info"')
Read = Callable[[tuple[int, ...]], np.ndarray]
_FOLDER = "panoptic"  # part of the names of folders with segment images


def recognition_score(tree: FileTree) -> int:
    return sum(data.count(b'"segments_info"') for _, data in json_files(tree, *_KEYS))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since categories have names."""
    files = [name for name, _ in json_files(tree, *_KEYS)]
    masks = _SegmentImages(tree)
    parsed: dict[str, list[ShapedImage | Refusal] | Exception] = {}
    for name in files:
        try:
            parsed[name] = list(_parse(masks, name))
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
        in_folder = [one for one in known if _FOLDER in str(PurePosixPath(one).parent).casefold()]
        other_name = PurePosixPath(path).name.casefold() != PureWindowsPath(image).name.casefold()
        for candidates in (
            [one for one in known if one.casefold() == beside],
            [one for one in in_folder if _common_split(one, label)],
            in_folder,
            [one for one in known if is_in_mask_folder(one)],
            known if other_name else [],
        ):
            if len(candidates) == 1:
                self.used.add(candidates[0])
                return self.tree.path(candidates[0])
        return None


def _common_split(mask: str, label: str) -> bool:
    return split_of(PurePosixPath(mask).parent) == split_of(label)


def _parse(masks: _SegmentImages, name: str) -> Iterator[ShapedImage | Refusal]:
    content = load(masks.tree, name)
    listed_images = ListedImages(masks.tree, name, content)
    names = named_categories(content)
    stuff = {number_key(one["id"]) for one in content.get("categories") or [] if one.get("isthing") == 0}
    for number, entry in enumerate(listed_images.annotations, 1):
        image = listed_images.image_of(entry, number)
        if image is None:
            continue
        with image.entry("annotation", number):
            file = label_text(entry, "file_name")
            mask = masks.find(name, file, image.name)
            if mask is None:
                raise UnreadableLabel(Message("import.panoptic_mask", path=file[:200]))
            image.size = image.size or image_size(mask)
            segments = listed(entry["segments_info"])
            read = partial(masks.read, mask, image.size)
        if not image.refused:
            _add_segments(segments, names, stuff, read, image)
    yield from listed_images.images
    yield from listed_images.refused


def _add_segments(
    segments: list[Any], names: dict[object, set[str]], stuff: set[object], read: Read, image: ShapedImage
) -> None:
    """Add the segments of an image. Pixels without a segment are ignored if the background has segments of its own.

    names: of the categories by id. stuff: ids of the categories of background.
    """
    numbers = tuple(int(one["id"]) for one in segments)
    background = False
    for number, one in zip(numbers, segments):
        with image.entry("segment", number):
            label = category_name(names, one.get("category_id"))
            image.shapes.append(Shape(label, "bitmap", [(0, 0)], bitmap=partial(_pixels, read, numbers, number)))
            image.lost[Message("lost.crowd")] += bool(one.get("iscrowd"))
            background |= number_key(one.get("category_id")) in stuff
    if background:
        image.shapes.append(Shape(IGNORE, "bitmap", [(0, 0)], bitmap=partial(_pixels, read, numbers, 0)))


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
