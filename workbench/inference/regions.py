"""Regions of a mask: thresholds, connected components with measurements, and the verdict that they give."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from . import components
from .inspection_area import NO_MAPS, AreaMaps
from .io.opencv import cv2
from .model_settings import ModelSettings
from .region_table import RegionTable
from .verdict_rule import ImageVerdict, apply_rule

_NO_MIN_AREAS: Mapping[int, int] = {}


@dataclass(frozen=True, slots=True)  # there may be tens of thousands of instances
class Region:
    """Connected component of a mask (8 neighbors), in image pixels.

    x, y, width, height: bounding box.
    area: number of pixels.
    centroid: (x, y); the center of pixel (0, 0) is (0.0, 0.0).
    score, peak: mean and maximum probability over the region, 0..1.
    width_um, height_um, area_um2: in micrometers and square micrometers; None if the scale is unknown.
    feret_max, feret_min: greatest and least Feret diameter, see
        `components.feret_diameters`; feret_max_mm, feret_min_mm: in millimeters.
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
    feret_max: float | None = None
    feret_min: float | None = None
    feret_max_mm: float | None = None
    feret_min_mm: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "centroid": list(self.centroid)}


def find_regions(mask: np.ndarray, scores: np.ndarray, settings: ModelSettings) -> list[Region]:
    """Return the regions of all classes, sorted by descending area, then top, left, class.

    mask: uint8 (H,W) class ids; ids not in the settings are ignored.
    scores: uint8 (H,W), 255 times the probability.

    Values are rounded (centroid to 3, scores to 4, micrometers to 3 decimals), so that regions with equal printed
    values compare equal.
    """
    return most_certain_regions(mask, scores, settings, None)[0]


def most_certain_regions(
    mask: np.ndarray,
    scores: np.ndarray,
    settings: ModelSettings,
    most: int | None,
    *,
    least: Mapping[int, int] = _NO_MIN_AREAS,
) -> tuple[list[Region], int]:
    """Return the `most` regions with the highest scores (ties: the largest), and the number of regions omitted.

    least: class id to minimum area in pixels; smaller regions are first set to 0 in `mask`, as by
        `drop_small_in_place`.

    The limit exists because a network after seconds of training marks tens of thousands of tiny regions, and each takes
    memory. Order and rounding are those of `find_regions`.
    """
    return select_regions(measure_classes(mask, scores, settings, least), settings, most)


def measure_classes(
    mask: np.ndarray, scores: np.ndarray, settings: ModelSettings, least: Mapping[int, int] = _NO_MIN_AREAS
) -> list[components.Components]:
    """Measure the regions of each class, in the order of the settings. Arguments: as of `most_certain_regions`."""
    exponent = settings.anomaly_exponent
    return [
        components.measure(mask, entry.id, scores, least.get(entry.id, 0), exponent=exponent, with_runs=True)
        for entry in settings.classes
    ]


def select_regions(
    measurements: Sequence[components.Components], settings: ModelSettings, most: int | None
) -> tuple[list[Region], int]:
    """Return the `most` regions with the highest scores, as `most_certain_regions`, from measurements per class."""
    um = settings.um_per_pixel
    total = sum(len(of_class.area) for of_class in measurements)
    selected = [np.arange(len(of_class.area)) for of_class in measurements]
    if most is not None and total > most:
        score, area = (
            np.concatenate([getattr(measurement, name) for measurement in measurements]) for name in ("score", "area")
        )
        chosen = np.zeros(total, bool)
        chosen[np.lexsort((-area, -score))[:most]] = True
        ends = np.cumsum([len(numbers) for numbers in selected])[:-1]
        selected = [np.flatnonzero(part) for part in np.split(chosen, ends)]
    regions = []
    for entry, of_class, numbers in zip(settings.classes, measurements, selected):
        for number in numbers.tolist():
            area = int(of_class.area[number])
            left, top = int(of_class.left[number]), int(of_class.top[number])
            width, height = int(of_class.right[number]) - left, int(of_class.bottom[number]) - top
            greatest, least = of_class.feret(number)
            regions.append(
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
                    feret_max=round(greatest, 3),
                    feret_min=round(least, 3),
                    feret_max_mm=None if um is None else round(greatest * um / 1000, 6),
                    feret_min_mm=None if um is None else round(least * um / 1000, 6),
                )
            )
    regions.sort(key=lambda region: (-region.area, region.y, region.x, region.class_id, region.centroid))
    return regions, total - len(regions)


def verdict_table(
    mask: np.ndarray,
    scores: np.ndarray,
    measurements: Sequence[components.Components],
    settings: ModelSettings,
    maps: AreaMaps = NO_MAPS,
) -> RegionTable:
    """Return the table of the regions that count for the verdict: what is left of them inside `verdict_border`.

    mask, scores: uint8 (H,W), without small regions. measurements: of all regions, in the order of the classes, with
    their runs. maps: of the inspection area.
    """
    border, exponent = settings.verdict_border, settings.anomaly_exponent
    inside = (border, border, mask.shape[1] - border, mask.shape[0] - border)
    measured = {
        entry.id: of_class
        if not border or of_class.are_inside(inside)
        else components.measure(mask, entry.id, scores, exponent=exponent, inside=inside, with_runs=True)
        for entry, of_class in zip(settings.classes, measurements)
    }
    return RegionTable.of(measured, border_exponent=settings.border_exponent, shape=mask.shape, maps=maps)


def image_verdict(table: RegionTable, settings: ModelSettings) -> ImageVerdict | None:
    """Return the verdict of an image with these regions, None if the settings have no rule."""
    names = {entry.id: entry.name for entry in settings.classes}
    rule = settings.verdict_rule
    return None if rule is None else apply_rule(rule, table, names, settings.um_per_pixel)


def decide_classes(class_scores: np.ndarray, settings: ModelSettings) -> tuple[np.ndarray, np.ndarray]:
    """Return mask and scores, both uint8 (H,W), before small regions are dropped; see `predictor.apply_thresholds`."""
    # Scores are integers, so the threshold 255 t is rounded up. The small offset corrects products such as 255 * 0.2,
    # which may come out just above 51.
    levels = [max(1, math.ceil(255 * threshold - 1e-9)) for threshold in settings.thresholds]
    ids = [entry.id for entry in settings.classes]
    scores = class_scores.max(axis=0)
    best = np.zeros_like(scores)  # highest score among the classes that reach their threshold
    mask = np.zeros_like(scores)
    for level, class_id, plane in zip(levels, ids, class_scores):
        reached = cv2.threshold(plane, level - 1, 0, cv2.THRESH_TOZERO)[1]
        np.copyto(mask, np.uint8(class_id), where=reached > best)
        np.maximum(best, reached, out=best)
    return mask, scores


def min_areas(settings: ModelSettings) -> dict[int, int]:
    """Return class id to minimum area in pixels."""
    return {entry.id: area for entry, area in zip(settings.classes, settings.min_area)}


def drop_small(mask: np.ndarray, min_area_by_class: Mapping[int, int]) -> np.ndarray:
    """Return a copy of the mask with regions below the minimum area of their class set to 0.

    mask: uint8 (H,W). min_area_by_class: class id to pixels.
    """
    result = mask.copy()
    drop_small_in_place(result, min_area_by_class)
    return result


def drop_small_in_place(mask: np.ndarray, min_area_by_class: Mapping[int, int]) -> None:
    """Set regions below the minimum area of their class to 0 in `mask` itself, which saves a copy of a large mask."""
    for class_id, min_area in min_area_by_class.items():
        if min_area > 1:
            components.drop_small(mask, class_id, min_area)
