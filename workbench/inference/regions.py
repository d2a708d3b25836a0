"""One defect after another: the connected pieces of a mask, measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from . import pieces
from .settings import ModelSettings

_NONE: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True)  # there may be tens of thousands
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
    return surest_regions(mask, scores, settings, None)[0]


def surest_regions(
    mask: np.ndarray, scores: np.ndarray, settings: ModelSettings, most: int | None, *, least: Mapping[int, int] = _NONE
) -> tuple[list[Region], int]:
    """The same of at most so many regions, the most certain ones (then the largest), and how many were left out.

    A network that has learned for seconds marks tens of thousands of specks, and each region takes memory. least: class
    id to pixels; smaller regions are set to 0 in `mask` itself first, as by `drop_small_in_place`.
    """
    um = settings.um_per_pixel
    measured = [pieces.measure(mask, entry.id, scores, least.get(entry.id, 0)) for entry in settings.classes]
    total = sum(len(of_class.area) for of_class in measured)
    wanted = [np.arange(len(of_class.area)) for of_class in measured]
    if most is not None and total > most:
        score, area = (np.concatenate([getattr(each, name) for each in measured]) for name in ("score", "area"))
        kept = np.zeros(total, bool)
        kept[np.lexsort((-area, -score))[:most]] = True
        ends = np.cumsum([len(numbers) for numbers in wanted])[:-1]
        wanted = [np.flatnonzero(part) for part in np.split(kept, ends)]
    found = []
    for entry, of_class, numbers in zip(settings.classes, measured, wanted):
        for number in numbers.tolist():
            area = int(of_class.area[number])
            left, top = int(of_class.left[number]), int(of_class.top[number])
            width, height = int(of_class.right[number]) - left, int(of_class.bottom[number]) - top
            found.append(
                Region(
                    class_id=entry.id,
                    class_name=entry.name,
                    x=left,
                    y=top,
                    width=width,
                    height=height,
                    area=area,
                    width_um=None if um is None else round(width * um, 3),
                    height_um=None if um is None else round(height * um, 3),
                    area_um2=None if um is None else round(area * um**2, 3),
                    centroid=(round(float(of_class.x[number]), 3), round(float(of_class.y[number]), 3)),
                    score=round(float(of_class.score[number]) / 255, 4),
                    peak=round(float(of_class.peak[number]) / 255, 4),
                )
            )
    found.sort(key=lambda region: (-region.area, region.y, region.x, region.class_id, region.centroid))
    return found, total - len(found)


def drop_small(mask: np.ndarray, min_area_by_class: Mapping[int, int]) -> np.ndarray:
    """The mask without the regions that have fewer pixels than their class asks for: they become 0.

    mask: uint8 (H,W), left as it is. min_area_by_class: class id to pixels of the mask.
    """
    kept = mask.copy()
    drop_small_in_place(kept, min_area_by_class)
    return kept


def drop_small_in_place(mask: np.ndarray, min_area_by_class: Mapping[int, int]) -> None:
    """The same without a copy: of a large picture that is hundreds of megabytes."""
    for class_id, least in min_area_by_class.items():
        if least > 1:
            pieces.drop_small(mask, class_id, least)
