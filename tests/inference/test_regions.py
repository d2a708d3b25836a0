"""Regions compared with a simple flood fill."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import fields

import cv2
import numpy as np
import pytest

from workbench.inference import components
from workbench.inference.components import measure
from workbench.inference.region_table import RegionTable
from workbench.inference.regions import drop_small, find_regions, measure_classes, verdict_table
from workbench.inference.text_safety import csv_metadata

from .conftest import BRIGHT, DARK, gray_settings


def flood(mask: np.ndarray, class_id: int) -> list[list[tuple[int, int]]]:
    """Return the pixels (y, x) of each region of a class, by filling from a pixel to its eight neighbors."""
    left = {(int(y), int(x)) for y, x in np.argwhere(mask == class_id)}
    regions = []
    while left:
        open_pixels, region = [left.pop()], []
        while open_pixels:
            y, x = open_pixels.pop()
            region.append((y, x))
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near
            open_pixels += near
        regions.append(region)
    return regions


@pytest.mark.parametrize("seed", range(12))
def test_regions_equal_a_flood_fill(seed):
    rng = np.random.default_rng(seed)
    height, width = rng.integers(1, 40, 2)
    mask = rng.choice([0, 0, 0, DARK.id, BRIGHT.id, 200], (height, width)).astype(np.uint8)
    scores = rng.integers(0, 256, mask.shape).astype(np.uint8)
    found = find_regions(mask, scores, gray_settings())
    expected = []
    for entry in (DARK, BRIGHT):
        for pixels in flood(mask, entry.id):
            y, x = np.array(pixels).T
            values = scores[y, x]
            expected.append(
                {
                    "class_id": entry.id,
                    "class_name": entry.name,
                    "x": x.min(),
                    "y": y.min(),
                    "width": np.ptp(x) + 1,
                    "height": np.ptp(y) + 1,
                    "area": len(pixels),
                    "width_um": (np.ptp(x) + 1) * 2.5,
                    "height_um": (np.ptp(y) + 1) * 2.5,
                    "area_um2": len(pixels) * 6.25,
                    "centroid": pytest.approx([x.mean(), y.mean()], abs=6e-4),
                    "score": pytest.approx(values.mean() / 255, abs=6e-5),
                    "peak": pytest.approx(values.max() / 255, abs=6e-5),
                }
            )
    key = lambda region: (-region["area"], region["y"], region["x"], region["class_id"])  # noqa: E731
    plain = [{name: value for name, value in region.to_json().items() if "feret" not in name} for region in found]
    assert [key(region) for region in plain] == sorted(key(region) for region in expected)
    for region in plain:
        assert region in expected
    json.dumps(plain)


@pytest.mark.parametrize("seed", range(6))
def test_removal_of_small_regions_equals_a_flood_fill(seed):
    rng = np.random.default_rng(100 + seed)
    mask = rng.choice([0, 0, 0, 3, 7], (30, 41)).astype(np.uint8)
    before, least = mask.copy(), {3: 4, 7: 1}
    expected = mask.copy()
    for pixels in flood(mask, 3):
        if len(pixels) < 4:
            for y, x in pixels:
                expected[y, x] = 0
    np.testing.assert_array_equal(drop_small(mask, least), expected)
    np.testing.assert_array_equal(mask, before)
    assert min(region.area for region in find_regions(expected, mask, gray_settings()) if region.class_id == 3) >= 4


def test_an_empty_mask_has_no_regions():
    nothing = np.zeros((5, 6), np.uint8)
    assert find_regions(nothing, nothing, gray_settings()) == []
    assert not drop_small(nothing, {3: 10}).any()


def test_lengths_and_areas_are_given_if_the_scale_is_known():
    mask = np.zeros((9, 9), np.uint8)
    mask[2:4, 5:8] = 3
    scores = np.full((9, 9), 255, np.uint8)
    region = find_regions(mask, scores, gray_settings())[0]
    assert region.to_json() == {
        **{"class_id": 3, "class_name": "dark scratch", "x": 5, "y": 2, "width": 3, "height": 2, "area": 6},
        **{"width_um": 7.5, "height_um": 5.0, "area_um2": 37.5, "centroid": [6.0, 2.5], "score": 1.0, "peak": 1.0},
        **{"feret_max": 3.606, "feret_min": 2.0, "feret_max_mm": 0.009014, "feret_min_mm": 0.005},
    }
    region = find_regions(mask, scores, gray_settings(um_per_pixel=None))[0]
    assert (region.width_um, region.height_um, region.area_um2) == (None, None, None)


def test_regions_touching_the_border_of_the_image():
    mask = np.full((4, 5), 7, np.uint8)
    region = find_regions(mask, mask, gray_settings())[0]
    assert (region.x, region.y, region.width, region.height, region.area) == (0, 0, 5, 4, 20)


def test_verdict_table_is_that_of_a_measurement_inside_the_border():
    rng = np.random.default_rng(8)
    scores = rng.integers(130, 256, (60, 70)).astype(np.uint8)
    for boxes in ([(20, 30, 5, 6)], [(20, 30, 5, 6), (0, 10, 9, 4)], [(4, 4, 52, 62)], [(3, 4, 52, 62)], []):
        mask = np.zeros_like(scores)
        for y, x, height, width in boxes:
            mask[y : y + height, x : x + width] = BRIGHT.id
        settings = gray_settings(verdict_border=4, anomaly_exponent=8, border_exponent=2)
        found = verdict_table(mask, scores, measure_classes(mask, scores, settings), settings)
        inside = (4, 4, 66, 56)
        measured = {
            entry.id: components.measure(mask, entry.id, scores, exponent=8, inside=inside, with_runs=True)
            for entry in settings.classes
        }
        expected = RegionTable.of(measured, border_exponent=2, shape=mask.shape)
        for entry in fields(expected):
            np.testing.assert_array_equal(getattr(found, entry.name), getattr(expected, entry.name))


def test_a_region_away_from_the_ignored_border_is_measured_once(monkeypatch):
    mask, scores = np.zeros((40, 50), np.uint8), np.full((40, 50), 200, np.uint8)
    mask[10:20, 15:30] = BRIGHT.id
    settings = gray_settings(verdict_border=4)
    measured = measure_classes(mask, scores, settings)
    monkeypatch.setattr(components, "measure", None)
    assert verdict_table(mask, scores, measured, settings).area.tolist() == [150]


def brute_force(pixels: list[tuple[int, int]]) -> tuple[float, float]:
    """Return the diameters of (y, x) pixels, from every pair of corners."""
    corners = np.array(list({(x + dx, y + dy) for y, x in pixels for dx in (0, 1) for dy in (0, 1)}))
    first, second = np.triu_indices(len(corners), 1)
    sides = corners[second] - corners[first]  # one of them is a side of the convex hull
    lengths = np.hypot(*sides.T)
    across = np.ptp(corners @ np.array([-sides[:, 1], sides[:, 0]]), axis=0) / lengths
    return lengths.max(), across.min()


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


def test_diameters_equal_those_of_a_brute_force(monkeypatch):
    """Speckle, touching corners, rings in rings and lines; also where a region extends over several bands."""
    rng = np.random.default_rng(0)
    for number in range(25):
        mask = (rng.random((14, 17)) < rng.choice([0.1, 0.25, 0.45])).astype(np.uint8)
        if number % 5 == 0:
            mask[:] = 0
            cv2.rectangle(mask, (1, 1), (15, 12), 1)
            cv2.line(mask, (4, 3), (12, 10), 1)
        expected = sorted((min(pixels), *brute_force(pixels)) for pixels in components_of(mask))
        for band in (4_000_000, 60):
            monkeypatch.setattr(components, "MAX_BAND_PIXELS", band)
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
