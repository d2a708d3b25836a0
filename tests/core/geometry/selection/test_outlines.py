"""Outlines of regions as polygons, and regions after corners were moved."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import Selection, outline_of, with_outline
from workbench.core.geometry.selection.region_operations import MAX_CORNERS

SHAPE = (120, 160)


def blob(seed: int) -> Selection:
    rng = np.random.default_rng(seed)
    rows, columns = np.ogrid[:60, :80]
    radius = 20 + 6 * np.sin(np.arctan2(rows - 30, columns - 40) * rng.integers(2, 6) + rng.random())
    return Selection(Rect(30, 20, 80, 60), np.hypot(rows - 30, columns - 40) < radius)


def full(selection: Selection) -> np.ndarray:
    return selection.within(Rect(0, 0, SHAPE[1], SHAPE[0]))


@pytest.mark.parametrize("seed", range(4))
def test_unchanged_outline_gives_the_same_pixels(seed):
    region = blob(seed)
    points = outline_of(region)
    assert 3 <= len(points) <= MAX_CORNERS
    assert np.array_equal(full(with_outline(region, points, points, SHAPE)), full(region))


def test_outline_is_close_to_the_region():
    region = blob(1)
    empty = Selection(Rect(0, 0, 1, 1), np.zeros((1, 1), bool))
    drawn = full(with_outline(empty, [(0, 0)] * 3, outline_of(region), SHAPE))
    assert np.count_nonzero(drawn ^ full(region)) < 0.12 * np.count_nonzero(full(region))


def test_rough_outline_has_a_limited_number_of_corners():
    rng = np.random.default_rng(0)
    inside = np.zeros((400, 400), bool)
    for column in range(400):
        inside[200 - rng.integers(20, 180) : 200 + rng.integers(20, 180), column] = True
    assert len(outline_of(Selection(Rect(0, 0, 400, 400), inside))) <= MAX_CORNERS


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2)])
def test_thin_regions_have_an_outline(size):
    region = Selection(Rect(5, 6, size[1], size[0]), np.ones(size, bool))
    points = outline_of(region)
    assert len(points) >= 3
    moved = [(x + (12 if i == 1 else 0), y) for i, (x, y) in enumerate(points)]
    assert np.count_nonzero(full(with_outline(region, points, moved, SHAPE))) > region.inside.sum() / 2


def test_outline_beyond_the_image_is_clipped():
    region = blob(0)
    points = outline_of(region)
    moved = [(x - 200, y) if i == 0 else (x, y) for i, (x, y) in enumerate(points)]
    result = with_outline(region, points, moved, SHAPE)
    assert result.rect.x >= 0 and result.rect.x + result.rect.width <= SHAPE[1]
