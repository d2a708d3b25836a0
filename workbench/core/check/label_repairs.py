"""Tiny regions and holes of a mask, which are more likely mistakes of a stroke than defects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.core.project import annotation
from workbench.core.project.project import BACKGROUND, DONT_CARE, NOT_LABELED
from workbench.inference.io.opencv import cv2

TINY = 6  # pixels; a smaller region or hole is reported


@dataclass(frozen=True)
class Component:
    """Connected pixels of a mask. inside: bool (h, w), its first pixel at `corner` (x, y).

    id: class of a region; for a hole, the class that surrounds it.
    """

    id: int
    inside: np.ndarray
    corner: tuple[int, int]


def specks(mask: np.ndarray) -> Iterator[Component]:
    """Yield the regions (8 neighbors) of a class with fewer than `TINY` pixels in a mask, uint8 (H, W)."""
    for id in annotation.ids_in(mask):
        if 0 < id < DONT_CARE:
            for inside, corner in _small_components(mask == id, 8):
                yield Component(id, inside, corner)


def tiny_holes(mask: np.ndarray) -> Iterator[Component]:
    """Yield the holes (4 neighbors) with fewer than `TINY` unpainted pixels that one class or several surround."""
    empty = (mask == BACKGROUND) | (mask == NOT_LABELED)
    if empty.all():
        return
    height, width = mask.shape
    for inside, (x, y) in _small_components(empty, 4):
        h, w = inside.shape
        if x == 0 or y == 0 or x + w == width or y + h == height:
            continue
        area = mask[y - 1 : y + h + 1, x - 1 : x + w + 1]
        grown = cv2.dilate(np.pad(inside, 1).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        counts = np.bincount(area[grown & ~np.pad(inside, 1)], minlength=256)[:DONT_CARE]
        counts[BACKGROUND] = 0
        if counts.any():
            yield Component(int(counts.argmax()), inside, (x, y))


def _small_components(plane: np.ndarray, connectivity: int) -> Iterator[tuple[np.ndarray, tuple[int, int]]]:
    """Yield the components of bool (H, W) with fewer than `TINY` pixels, cropped, with their first pixel (x, y)."""
    pixels = plane.astype(np.uint8)  # OpenCV takes a mask of one pixel for a number
    _, labels, stats, _ = cv2.connectedComponentsWithStats(pixels, connectivity=connectivity)
    for number in np.flatnonzero(stats[:, cv2.CC_STAT_AREA] < TINY).tolist():
        if number == 0:
            continue
        x, y, w, h = stats[number, :4].tolist()
        yield labels[y : y + h, x : x + w] == number, (x, y)
