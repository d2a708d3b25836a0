"""Copies of labeled images in other folders of the same data set, such as `JPEGImages` beside the original images."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import numpy as np

from workbench.core.images.image_files import image_size, thumbnail
from workbench.core.problems import Problem
from workbench.core.project.formats.base import IMAGE_FOLDERS, MASK_FOLDERS, normalized_name, suffix_of
from workbench.core.project.import_images import same_content
from workbench.inference.io.opencv import cv2

_EDGE = 256  # pixels, longer side of the images that are compared
_MAX_DIFFERENCE = 4.0  # gray levels, mean over the reduced images
_LABEL_SUFFIXES = (".json", ".xml")
_MIN_CORRELATION = 0.95  # of the details that remain after subtraction of the blurred image


class ImageCopies:
    """Labeled images by name, to recognize their copies.

    A copy has the name and the size of a labeled image. It has the same content, or one of both was encoded again
    and lies in a folder of images beside other labels, as the data sets that exporters write.
    """

    def __init__(self) -> None:
        self._originals: dict[str, list[Path]] = defaultdict(list)
        self._exported: dict[Path, bool] = {}  # by folder

    def add(self, original: Path) -> None:
        """Add a labeled image."""
        self._originals[original.stem.casefold()].append(original)

    def is_copy(self, path: Path) -> bool:
        """Return True if a file is a copy of a labeled image."""
        return any(self._are_equal(original, path) for original in self._originals.get(path.stem.casefold(), []))

    def _are_equal(self, original: Path, path: Path) -> bool:
        try:
            if original.parent == path.parent or image_size(original) != image_size(path):
                return False
            exported = self._in_exported(path.parent) or self._in_exported(original.parent)
            return same_content(original, path) or (exported and _are_similar(original, path))
        except (OSError, Problem):
            return False

    def _in_exported(self, folder: Path) -> bool:
        if folder not in self._exported:
            self._exported[folder] = _is_exported(folder)
        return self._exported[folder]


def _is_exported(folder: Path) -> bool:
    """Return True for a folder of images beside a folder of labels or a label file."""
    if normalized_name(folder.name) not in IMAGE_FOLDERS:
        return False
    with os.scandir(folder.parent) as entries:
        return any(
            normalized_name(entry.name) in MASK_FOLDERS if entry.is_dir() else suffix_of(entry.name) in _LABEL_SUFFIXES
            for entry in entries
        )


def _are_similar(path: Path, other: Path) -> bool:
    """Return True if two images of one size differ as little as the same image in two encodings."""
    first, second = (_gray(thumbnail(file, _EDGE)) for file in (path, other))
    if np.abs(first - second).mean() > _MAX_DIFFERENCE:
        return False
    a, b = (image - cv2.GaussianBlur(image, (0, 0), 2) for image in (first, second))
    energy = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return energy > 0 and float((a * b).sum()) / energy >= _MIN_CORRELATION


def _gray(image: np.ndarray) -> np.ndarray:
    return (image if image.ndim == 2 else image.mean(axis=2)).astype(np.float32)
