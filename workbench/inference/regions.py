"""One defect after another: the connected pieces of a mask, measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .cv import cv2
from .settings import ModelSettings

_LEFT, _TOP, _WIDTH, _HEIGHT, _AREA = range(5)  # columns of OpenCV's statistics


@dataclass(frozen=True)
class Region:
    """A connected piece of a mask (8 neighbours), in pixels of the picture.

    x, y, width, height: the box around it. area: its pixels. centroid: (x, y), the centre of pixel (0, 0)
    being (0.0, 0.0). score, peak: mean and greatest probability over its pixels, 0..1. width_um, height_um,
    area_um2: in micrometres and square micrometres, where the scale is known.
    """

    class_id: int
    class_name: str
    x: int
    y: int
    width: int
    height: int
    area: int
    area_um2: float | None
    centroid: tuple[float, float]
    score: float
    peak: float
    width_um: float | None = None
    height_um: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "centroid": list(self.centroid)}


def find_regions(mask: np.ndarray, scores: np.ndarray, settings: ModelSettings) -> list[Region]:
    """The regions of every class, the largest first (then by top, left, class).

    mask: uint8 (H,W) class ids; other ids than those of the settings are passed over. scores: uint8 (H,W),
    255 times the probability. Numbers are rounded (centroid 3, scores 4, micrometres 3 digits), so
    that they are equal wherever they are equal in print.
    """
    um = settings.um_per_pixel
    found = []
    for entry in settings.classes:
        for left, top, labels, stats, centres in _pieces(mask, entry.id):
            means, peaks = _scores_of(
                labels, scores[top : top + labels.shape[0], left : left + labels.shape[1]], len(stats)
            )
            for label in range(1, len(stats)):
                area = int(stats[label, _AREA])
                found.append(
                    Region(
                        class_id=entry.id,
                        class_name=entry.name,
                        x=left + int(stats[label, _LEFT]),
                        y=top + int(stats[label, _TOP]),
                        width=int(stats[label, _WIDTH]),
                        height=int(stats[label, _HEIGHT]),
                        area=area,
                        width_um=None if um is None else round(int(stats[label, _WIDTH]) * um, 3),
                        height_um=None if um is None else round(int(stats[label, _HEIGHT]) * um, 3),
                        area_um2=None if um is None else round(area * um**2, 3),
                        centroid=(
                            round(left + float(centres[label, 0]), 3),
                            round(top + float(centres[label, 1]), 3),
                        ),
                        score=round(float(means[label]), 4),
                        peak=round(float(peaks[label]), 4),
                    )
                )
    found.sort(key=lambda region: (-region.area, region.y, region.x, region.class_id, region.centroid))
    return found


def drop_small(mask: np.ndarray, min_area_by_class: Mapping[int, int]) -> np.ndarray:
    """The mask without the regions that have fewer pixels than their class asks for: they become 0.

    mask: uint8 (H,W), left as it is. min_area_by_class: class id to pixels of the mask.
    """
    kept = mask
    for class_id, least in min_area_by_class.items():
        if least <= 1:
            continue
        for left, top, labels, stats, _ in _pieces(mask, class_id):
            small = stats[:, _AREA] < least
            small[0] = False
            if small.any():
                kept = kept.copy() if kept is mask else kept
                kept[top : top + labels.shape[0], left : left + labels.shape[1]][small[labels]] = 0
    return kept


def _pieces(mask: np.ndarray, class_id: int) -> Iterator[tuple[int, int, np.ndarray, np.ndarray, np.ndarray]]:
    """Left, top, labels, statistics and centres of one class; nothing where the mask has none of it.

    Only the box around the class is labelled: labels take four bytes a pixel, and defects are rare.
    """
    of_class = mask == class_id
    rows = np.flatnonzero(of_class.any(axis=1))
    if not rows.size:
        return
    columns = np.flatnonzero(of_class.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    box = np.ascontiguousarray(of_class[top : rows[-1] + 1, left : columns[-1] + 1]).view(np.uint8)
    _, labels, stats, centres = cv2.connectedComponentsWithStats(box, connectivity=8, ltype=cv2.CV_32S)
    yield left, top, labels, stats, centres


def _scores_of(labels: np.ndarray, scores: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and greatest score of every label, 0..1."""
    inside = labels > 0
    label, score = labels[inside], scores[inside]
    sums = np.bincount(label, weights=score, minlength=count)
    sizes = np.bincount(label, minlength=count)
    peaks = np.zeros(count, np.uint8)
    np.maximum.at(peaks, label, score)
    return sums / np.maximum(sizes, 1) / 255, peaks / 255
