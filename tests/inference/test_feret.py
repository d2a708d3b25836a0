"""Feret diameters of regions beside a brute force over all corners and directions, and the tables that contain them."""

from __future__ import annotations

import itertools
import json
import math

import cv2
import numpy as np
import pytest

from tests.inference.conftest import DARK, gray_settings
from workbench.inference import components
from workbench.inference.components import measure
from workbench.inference.regions import find_regions
from workbench.inference.text_safety import csv_metadata


def brute_force(pixels: list[tuple[int, int]]) -> tuple[float, float]:
    """Return the diameters of (y, x) pixels, from every pair of corners."""
    corners = {(x + dx, y + dy) for y, x in pixels for dx in (0, 1) for dy in (0, 1)}
    pairs = list(itertools.combinations(corners, 2))
    greatest = max(math.dist(a, b) for a, b in pairs)
    least = math.inf
    for (ax, ay), (bx, by) in pairs:  # one of them is a side of the convex hull
        nx, ny = ay - by, bx - ax
        across = [x * nx + y * ny for x, y in corners]
        least = min(least, (max(across) - min(across)) / math.hypot(nx, ny))
    return greatest, least


def components_of(mask: np.ndarray) -> list[list[tuple[int, int]]]:
    """Return the pixels of each region, by flood fill."""
    left, found = set(zip(*(axis.tolist() for axis in np.nonzero(mask)))), []
    while left:
        waiting, region = [left.pop()], []
        while waiting:
            y, x = waiting.pop()
            region.append((y, x))
            for place in itertools.product((y - 1, y, y + 1), (x - 1, x, x + 1)):
                if place in left:
                    left.remove(place)
                    waiting.append(place)
        found.append(region)
    return found


@pytest.mark.parametrize("band", [4_000_000, 60])
def test_diameters_equal_those_of_a_brute_force(band, monkeypatch):
    """Speckle, touching corners, rings in rings and lines; also where a region extends over several bands."""
    monkeypatch.setattr(components, "MAX_BAND_PIXELS", band)
    rng = np.random.default_rng(0)
    for number in range(25):
        mask = (rng.random((14, 17)) < rng.choice([0.1, 0.25, 0.45])).astype(np.uint8)
        if number % 5 == 0:
            mask[:] = 0
            cv2.rectangle(mask, (1, 1), (15, 12), 1)
            cv2.line(mask, (4, 3), (12, 10), 1)
        expected = sorted((min(pixels), *brute_force(pixels)) for pixels in components_of(mask))
        found = measure(mask.copy(), 1, np.full_like(mask, 200), with_runs=True)
        assert found.runs is not None and len(found.runs) and len(found.area) == len(expected)
        first = [0, *found.run_ends.tolist()[:-1]]
        places = [tuple(found.runs[start, :2].tolist()) for start in first]
        rows = sorted((place, *found.feret(number)) for number, place in enumerate(places))
        for (place, *diameters), (first_pixel, *known) in zip(rows, expected):
            assert place == first_pixel and diameters == pytest.approx(known, abs=1e-9)


def test_small_regions_are_dropped_before_they_are_measured():
    mask = np.zeros((20, 20), np.uint8)
    mask[2, 2] = mask[10:12, 3:15] = 1
    found = measure(mask, 1, mask, 5, with_runs=True)
    assert found.feret(0) == (pytest.approx(math.hypot(12, 2)), 2) and len(found.area) == 1


def test_regions_have_diameters_in_pixels_and_millimeters():
    """An oblique scratch is longer than its bounding box."""
    mask = np.zeros((60, 60), np.uint8)
    cv2.line(mask, (5, 5), (50, 50), DARK.id, 1)
    settings = gray_settings()
    (region,) = find_regions(mask, np.full_like(mask, 255), settings)
    assert region.width == region.height == 46
    assert region.feret_max == pytest.approx(math.hypot(46, 46), abs=1e-3)
    assert region.feret_min == pytest.approx(math.sqrt(2), abs=1e-3)
    assert region.feret_max_mm == pytest.approx(math.hypot(46, 46) * settings.um_per_pixel / 1000, abs=1e-5)
    assert region.to_json()["feret_min_mm"] == region.feret_min_mm is not None


def test_a_file_beside_the_table_defines_its_columns():
    found = json.loads(csv_metadata("regions.csv", ["picture", "feret_max", "feret_min_mm", "area_median_px", "ok"]))
    columns = {entry["name"]: entry.get("dc:description", "") for entry in found["tableSchema"]["columns"]}
    assert found["url"] == "regions.csv" and columns["ok"] == ""
    assert columns["feret_max"].startswith("length: greatest distance")
    assert columns["feret_min_mm"].startswith("width: least distance") and columns["feret_min_mm"].endswith("in mm")
    assert columns["area_median_px"] == "median over the regions: number of pixels; in pixels"
