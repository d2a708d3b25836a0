"""Regions compared with a simple flood fill."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

from workbench.inference import components
from workbench.inference.regions import drop_small, find_regions, measure_classes, table_of, verdict_table

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
        measured = [components.measure(mask, entry.id, scores, exponent=8, inside=inside) for entry in settings.classes]
        expected = table_of(measured, settings)
        for entry in fields(expected):
            np.testing.assert_array_equal(getattr(found, entry.name), getattr(expected, entry.name))


def test_a_region_away_from_the_ignored_border_is_measured_once(monkeypatch):
    mask, scores = np.zeros((40, 50), np.uint8), np.full((40, 50), 200, np.uint8)
    mask[10:20, 15:30] = BRIGHT.id
    settings = gray_settings(verdict_border=4)
    measured = measure_classes(mask, scores, settings)
    monkeypatch.setattr(components, "measure", None)
    assert verdict_table(mask, scores, measured, settings).area.tolist() == [150]
