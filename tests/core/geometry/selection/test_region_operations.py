"""Growing, filling, finding and measuring of regions compared with plain Python; outlines as polygons."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.core.geometry.selection.selections import everywhere, flooded
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import (
    Selection,
    ellipse,
    encircle,
    fill_holes,
    grow,
    measures,
    outline_of,
    region_at,
    shrink,
    smooth,
    with_outline,
)
from workbench.core.geometry.selection.region_operations import MAX_CORNERS, thinned


def selected(inside, x=0, y=0):
    inside = np.asarray(inside, bool)
    return Selection(Rect(x, y, inside.shape[1], inside.shape[0]), inside)


def blob(seed, height=18, width=22, share=0.5):
    rng = np.random.default_rng(seed)
    return cv2.GaussianBlur(rng.random((height, width)), (0, 0), 1.3) > np.quantile(rng.random(200), share)


def distances_to(pixels):
    """Return the distance of each pixel to the nearest True one, by comparing all."""
    rows, columns = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    there = np.argwhere(pixels)
    if not len(there):
        return np.full(pixels.shape, np.inf)
    squares = (rows[..., None] - there[:, 0]) ** 2 + (columns[..., None] - there[:, 1]) ** 2
    return np.sqrt(squares.min(axis=-1))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**16), st.sampled_from([0.5, 1, 1.5, 2, 3, 5]))
def test_growing_and_shrinking_use_the_euclidean_distance(seed, pixels):
    inside = blob(seed)
    part = selected(inside[2:15, 3:20], 3, 2)
    whole = everywhere(part, inside.shape)
    np.testing.assert_array_equal(
        everywhere(grow(part, pixels, inside.shape), inside.shape), distances_to(whole) <= pixels
    )
    kept = whole & (distances_to(~whole) > pixels)
    np.testing.assert_array_equal(everywhere(shrink(part, pixels, inside.shape), inside.shape), kept)


def test_shrinking_does_not_start_at_the_border_of_the_image():
    inside = np.zeros((20, 20), bool)
    inside[:, :8] = True
    found = everywhere(shrink(selected(inside), 3, inside.shape), inside.shape)
    np.testing.assert_array_equal(found, np.arange(20)[None].repeat(20, 0) < 5)
    assert everywhere(shrink(selected(np.ones((4, 5), bool)), 9, (4, 5)), (4, 5)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**16))
def test_holes_are_enclosed_areas(seed):
    inside = blob(seed, share=0.35)
    padded = np.pad(inside, 1)
    outside = flooded(~padded, (0, 0), 4)[1:-1, 1:-1]
    np.testing.assert_array_equal(fill_holes(selected(inside)).inside if inside.any() else ~outside, ~outside)


def test_holes_above_the_maximum_size_stay():
    inside = np.ones((20, 30), bool)
    inside[3:5, 3:5] = False  # 4 pixels
    inside[8:12, 10:16] = False  # 24 pixels
    inside[0, 20] = False  # no hole, as it is open to the outside
    found = fill_holes(selected(inside), largest=10).inside
    assert found[3:5, 3:5].all() and not found[8:12, 10:16].any() and not found[0, 20]


def test_smoothing_removes_thin_lines_and_keeps_straight_borders():
    inside = np.zeros((60, 60), bool)
    inside[10:40, 10:40] = True
    inside[25, 40:55] = True
    found = everywhere(smooth(selected(inside), 3, inside.shape), inside.shape)
    assert not found[25, 42:].any()
    np.testing.assert_array_equal(found[18:32, 5:38], inside[18:32, 5:38])
    ground = np.zeros((30, 30), bool)
    ground[:, :12] = True
    np.testing.assert_array_equal(everywhere(smooth(selected(ground), 4, ground.shape), ground.shape), ground)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**16), st.integers(0, 21), st.integers(0, 17), st.sampled_from([4, 8]))
def test_the_region_of_a_class_under_a_point(seed, x, y, connectivity):
    mask = np.random.default_rng(seed).integers(0, 3, (18, 22)).astype(np.uint8)
    found = region_at(mask, (x + 0.5, y + 0.5), connectivity=connectivity)
    np.testing.assert_array_equal(everywhere(found, mask.shape), flooded(mask == mask[y, x], (x, y), connectivity))


def test_a_region_larger_than_the_first_window_is_complete():
    mask = np.zeros((1000, 1400), np.uint8)
    cv2.line(mask, (20, 30), (1380, 970), 3, 5)
    cv2.line(mask, (20, 970), (300, 800), 3, 5)
    found = region_at(mask, (20.5, 30.5))
    mask[:, :][700:, :400] = 0
    np.testing.assert_array_equal(everywhere(found, mask.shape), mask == 3)
    assert not found.cut and region_at(mask, (20.5, 30.5), limit=1 << 18).cut
    assert region_at(mask, (-1, 3)).empty


def test_encircling_selects_the_loops_of_a_stroke_that_crosses_itself():
    turns = np.linspace(0, 4 * np.pi, 200)
    radius = 20 + 8 * np.cos(turns / 2)
    points = [(50 + r * np.cos(t), 50 + r * np.sin(t)) for r, t in zip(radius, turns)]
    found = everywhere(encircle(points, (100, 100)), (100, 100))
    rows, columns = np.mgrid[:100, :100] + 0.5
    angle = np.arctan2(rows - 50, columns - 50) % (2 * np.pi)
    outer = np.maximum(20 + 8 * np.cos(angle / 2), 20 + 8 * np.cos(angle / 2 + np.pi))
    away = np.hypot(rows - 50, columns - 50)
    assert found[away < outer - 1].all() and not found[away > outer + 1.5].any()


def test_encircling_contains_the_stroke_and_is_clipped_to_the_image():
    points = [(10.0, -20.0), (60.0, 30.0), (10.0, 60.0), (-15.0, 30.0)]
    thin = everywhere(encircle(points, (40, 40)), (40, 40))
    thick = everywhere(encircle(points, (40, 40), radius=4), (40, 40))
    assert thin[30, 10] and (thick | ~thin).all() and thick.sum() > thin.sum()
    assert encircle([], (10, 10)).empty
    assert everywhere(encircle([(5.5, 5.5)], (10, 10), radius=2), (10, 10)).sum() > 9


# --- measurements -------------------------------------------------------------------------------------------


def test_measurements_of_simple_shapes():
    one = measures(selected([[1]], 7, 8))
    assert (one.area, one.length, one.max_width, one.min_feret) == (1, 1, 1, pytest.approx(1))
    row = measures(selected(np.ones((1, 9))))
    assert row.max_width == 1 and row.length == pytest.approx(9, rel=0.03) and row.feret == pytest.approx(82**0.5)
    bar = measures(selected(np.pad(np.ones((4, 40)), 3)))
    assert bar.area == 160 and bar.max_width == 4 and bar.length == pytest.approx(40, abs=2)
    assert bar.min_feret == pytest.approx(4) and bar.feret == pytest.approx(np.hypot(4, 40))
    assert measures(selected(np.zeros((3, 3)))).area == 0


@pytest.mark.parametrize("radius", [3, 20, 90])
def test_measurements_of_a_disc(radius):
    rows, columns = np.mgrid[-100:101, -100:101]
    found = measures(selected(rows**2 + columns**2 <= (radius + 0.3) ** 2))
    across = 2 * radius + 1
    for value in (found.max_width, found.length):
        assert value == pytest.approx(across, abs=max(2, 0.06 * across))
    assert found.feret == pytest.approx(across, abs=1.5) and found.min_feret == pytest.approx(across, abs=1.5)


@pytest.mark.parametrize("angle", [0, 17, 45, 70, 90])
def test_measurements_of_a_line_at_any_angle(angle):
    line = np.zeros((400, 400), np.uint8)
    along = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    rows, columns = np.mgrid[:400, :400] + 0.5
    x, y = columns - 60, rows - 60
    t = x * along[0] + y * along[1]
    line[(np.abs(x * along[1] - y * along[0]) <= 3) & (t >= 0) & (t <= 250)] = 1
    found = measures(selected(line))
    assert found.length == pytest.approx(250, rel=0.04) and found.feret == pytest.approx(250, rel=0.03)
    assert found.max_width == pytest.approx(6, abs=1) and found.min_feret == pytest.approx(6, abs=1.5)


def test_measurements_of_a_large_region_are_those_of_a_reduced_one():
    ring = np.zeros((1200, 1500), np.uint8)
    cv2.ellipse(ring, (700, 600), (500, 400), 0, 0, 300, 1, 90)
    found = measures(selected(ring))
    sweep = np.radians(np.linspace(0, 300, 4000))
    points = np.stack([500 * np.cos(sweep), 400 * np.sin(sweep)], 1)
    length = np.hypot(*np.diff(points, axis=0).T).sum() + 90
    assert found.length == pytest.approx(length, rel=0.05) and found.max_width == pytest.approx(91, abs=3)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**16), st.floats(0.2, 0.8))
def test_thinning_keeps_the_number_of_components_and_holes(seed, share):
    inside = blob(seed, share=share) ^ (np.random.default_rng(seed).random((18, 22)) < 0.05)
    line = thinned(inside)
    assert not (line & ~inside).any()

    def counted(pixels, connectivity):
        return cv2.connectedComponents(pixels.astype(np.uint8), connectivity=connectivity)[0]

    assert counted(line, 8) == counted(inside, 8)
    assert counted(np.pad(1 - line, 1, constant_values=1), 4) == counted(np.pad(~inside, 1, constant_values=1), 4)
    smooth_line = thinned(blob(seed, share=share))
    assert cv2.erode(smooth_line, np.ones((2, 2), np.uint8), borderValue=0).sum() <= 0.02 * smooth_line.size


SHAPE = (120, 160)


def wavy_region(seed: int) -> Selection:
    rng = np.random.default_rng(seed)
    rows, columns = np.ogrid[:60, :80]
    radius = 20 + 6 * np.sin(np.arctan2(rows - 30, columns - 40) * rng.integers(2, 6) + rng.random())
    return Selection(Rect(30, 20, 80, 60), np.hypot(rows - 30, columns - 40) < radius)


def full(selection: Selection) -> np.ndarray:
    return selection.within(Rect(0, 0, SHAPE[1], SHAPE[0]))


@pytest.mark.parametrize("seed", range(4))
def test_unchanged_outline_gives_the_same_pixels(seed):
    region = wavy_region(seed)
    points = outline_of(region)
    assert 3 <= len(points) <= MAX_CORNERS
    assert np.array_equal(full(with_outline(region, points, points, SHAPE)), full(region))


def test_outline_is_close_to_the_region():
    region = wavy_region(1)
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
    region = wavy_region(0)
    points = outline_of(region)
    moved = [(x - 200, y) if i == 0 else (x, y) for i, (x, y) in enumerate(points)]
    result = with_outline(region, points, moved, SHAPE)
    assert result.rect.x >= 0 and result.rect.x + result.rect.width <= SHAPE[1]


place, length = st.integers(-20, 40), st.integers(1, 45)


@settings(max_examples=60, deadline=None)
@given(place, place, length, length)
def test_an_ellipse_equals_its_definition_clipped_at_the_border(x, y, width, height):
    rows, columns = np.mgrid[:30, :33] + 0.5
    across, up = (columns - x - width / 2) * 2 / width, (rows - y - height / 2) * 2 / height
    inside = across**2 + up**2 <= 1 + 1e-9
    if min(width, height) <= 2:
        inside = (np.abs(across) <= 1) & (np.abs(up) <= 1)
    found = ellipse(Rect(x, y, width, height), (30, 33)).within(Rect(0, 0, 33, 30))
    differs = found != inside
    assert not (differs & (np.abs(across**2 + up**2 - 1) > 1e-6)).any()
