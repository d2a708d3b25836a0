"""Common parts of writers of foreign label formats: labeled images of a project, regions, outlines, lost content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.geometry.drawing import Rect
from workbench.core.images.image_files import image_size
from workbench.core.messages import Message
from workbench.core.project import annotation
from workbench.core.project.formats.base import without_suffix
from workbench.core.project.project import DONT_CARE, NOT_LABELED, Project
from workbench.inference.io.opencv import cv2


@dataclass(frozen=True)
class ExportedImage:
    """Image with its label. mask: uint8 (height, width) of class ids, None for a verdict without a mask.

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


def labeled_images(project: Project, keys: Sequence[str], lost: Counter[str]) -> Iterator[ExportedImage]:
    """Yield the images of `keys` with their labels; count ignored and unlabeled areas in `lost`."""
    names: set[str] = set()
    for key in keys:
        width, height = image_size(project.image_path(key))
        mask = annotation.load_mask(project, key, (width, height))
        note = annotation.load_note(project, key)
        name = without_suffix(key.lstrip("@"))
        if name.casefold() in names:
            name = key.lstrip("@")  # two images differ in their suffix only
        names.add(name.casefold())
        if mask is not None:
            lost["masks with ignored areas"] += bool((mask == DONT_CARE).any())
            lost["masks with unlabeled areas"] += bool((mask == NOT_LABELED).any())
        yield ExportedImage(key, name, width, height, mask, note.verdict, note.pin or "")


def regions(mask: np.ndarray, ids: Sequence[int]) -> Iterator[LabelRegion]:
    """Yield the connected regions of the classes `ids`."""
    for id in annotation.ids_in(mask):
        if id not in ids:
            continue
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


def lost_sentences(lost: Counter[str], format: str) -> list[str]:
    """Return sentences about content that a format cannot hold."""
    return [
        Message("export_labels.lost", n=count, name=kind, format=format)
        for kind, count in sorted(lost.items())
        if count
    ]
