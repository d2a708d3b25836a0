"""Strokes and shapes compared with independent rasterizations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from workbench.core.geometry.drawing import (
    Paint,
    Runs,
    draw_polygon,
    draw_region,
    draw_segment,
    polygon_runs,
    segment_runs,
)

coordinate = st.floats(-30, 90, allow_nan=False)


def distance(x, y, a, b):
    """Return the distances of pixel centers to a segment by projection, independent of the tested algorithm."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    line = b - a
    square = float(line @ line)
    t = np.clip(((x - a[0]) * line[0] + (y - a[1]) * line[1]) / square, 0, 1) if square else np.zeros_like(x)
    return np.hypot(x - a[0] - t * line[0], y - a[1] - t * line[1])


@settings(max_examples=150, deadline=None)
@given(coordinate, coordinate, coordinate, coordinate, st.floats(0.3, 25))
def test_a_segment_covers_the_pixels_within_its_radius(ax, ay, bx, by, radius):
    mask = np.zeros((50, 60), np.uint8)
    rect = draw_segment(mask, (ax, ay), (bx, by), radius, Paint(3))
    rows, columns = np.mgrid[:50, :60] + 0.5
    away = distance(columns, rows, (ax, ay), (bx, by))
    assert (mask[away < radius - 1e-6] == 3).all()
    under = np.zeros_like(mask, bool)
    for x, y in ((ax, ay), (bx, by)):
        if 0 <= x < 60 and 0 <= y < 50:
            under[int(y), int(x)] = True
    assert not mask[(away > radius + 1e-6) & ~under].any()
    outside = mask.copy()
    outside[rect.slices] = 0
    assert not outside.any()


@pytest.mark.parametrize("shape", [(1, 1), (1, 200), (200, 1)])
def test_the_brush_works_on_very_narrow_images(shape):
    mask = np.zeros(shape, np.uint8)
    draw_segment(mask, (0, 0), (shape[1], shape[0]), 0.4, Paint(1))
    assert mask[0, 0] == 1
    draw_segment(mask, (-5, -5), (300, 300), 400, Paint(2))
    assert (mask == 2).all()


def test_other_classes_can_be_protected():
    mask = np.zeros((10, 10), np.uint8)
    mask[:, 5:] = 2
    draw_segment(mask, (5, 5), (5, 5), 4, Paint(1, frozenset({2})))
    assert mask[5, 2] == 1 and (mask[:, 5:] == 2).all()


def test_a_polygon_equals_the_winding_number_by_angles():
    corners = [(5.2, 3.1), (40.7, 9.9), (22.5, 21.0), (35.3, 44.8), (8.1, 30.4)]
    mask = np.zeros((50, 50), np.uint8)
    draw_polygon(mask, corners, Paint(1))
    x, y = np.meshgrid(np.arange(50) + 0.5, np.arange(50) + 0.5)
    winding = np.zeros((50, 50))
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
        winding += np.angle((bx - x + 1j * (by - y)) / (ax - x + 1j * (ay - y)))
    expected = np.abs(winding) > 3
    for cx, cy in corners:
        expected[int(cy), int(cx)] = True
    assert np.array_equal(mask > 0, expected)


def test_a_polygon_outside_changes_nothing():
    mask = np.zeros((10, 10), np.uint8)
    assert draw_polygon(mask, [(-9, -9), (-2, -9), (-2, -2)], Paint(1)).empty
    assert draw_polygon(mask, [], Paint(1)).empty
    assert not mask.any()


def test_a_region_is_clipped_at_the_border():
    mask = np.zeros((6, 6), np.uint8)
    draw_region(mask, np.ones((4, 4), bool), (-2, 4), Paint(1))
    assert mask.sum() == 4 and (mask[4:, :2] == 1).all()


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-300, 900), st.floats(-300, 900)), min_size=2, max_size=6),
    st.one_of(st.floats(0.2, 30), st.floats(200, 500)),
    st.sampled_from([frozenset(), frozenset({7})]),
)
def test_new_pixels_of_the_segments_unite_to_the_whole_stroke(points, radius, keep):
    rng = np.random.default_rng(3)
    start = np.where(rng.random((600, 700)) < 0.1, 7, 0).astype(np.uint8)
    whole, received = start.copy(), start.copy()
    paint = Paint(3, keep)
    for i, (a, b) in enumerate(zip(points[:1] + points, points)):
        draw_segment(whole, a, b, radius, paint)
        before = received.copy()
        runs = segment_runs(a, b, radius, received.shape, drawn=i > 0)
        runs.draw(received, paint)
        rest = received != before
        for rect in runs.rects:
            assert rect == rect.clipped(700, 600) and not rect.empty
            rest[rect.slices] = False
        assert not rest.any(), "changed outside of the reported rectangles"
    assert np.array_equal(whole, received)


def test_a_short_move_of_a_large_brush_changes_small_rectangles():
    mask = np.zeros((3000, 3000), np.uint8)
    segment_runs((1500, 1500), (1500, 1500), 1000, mask.shape).draw(mask, Paint(1))
    runs = segment_runs((1500, 1500), (1509, 1508), 1000, mask.shape, drawn=True)
    assert (runs.stop - runs.first).sum() < 40_000
    assert sum(rect.width * rect.height for rect in runs.rects) < 600_000


def test_a_polygon_over_hundreds_of_megapixels_takes_no_memory_of_that_size():
    import tracemalloc

    tracemalloc.start()
    try:
        runs = polygon_runs([(10, 10), (19_990, 3_000), (12_000, 19_950)], (20_000, 20_000))
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()
    assert abs(int((runs.stop - runs.first).sum()) - 181_275_550) < 30_000  # area by the shoelace formula


def test_shapes_are_drawn_on_array_views():
    whole, plain = np.zeros((60, 80), np.uint8), np.zeros((30, 40), np.uint8)
    for mask in (whole[10:40, 20:60], plain):
        draw_segment(mask, (5, 5), (30, 20), 3, Paint(1))
        draw_polygon(mask, [(2, 2), (38, 8), (20, 28)], Paint(2, frozenset({1})))
    assert np.array_equal(whole[10:40, 20:60], plain) and whole.sum() == plain.sum() > 0


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_long_runs_cover_exactly_their_pixels(seed, keep, steep):
    """Runs of any shape: one or several per row, overlapping with those of neighboring rows or not."""
    rng = np.random.default_rng(seed)
    height, width = 90, 700
    rows = np.sort(rng.choice(height, 60, replace=not steep))
    starts = rng.normal(100, 30, rows.size).clip(0, 300).astype(int)
    first = rng.integers(0, width - 1, rows.size) if steep else starts
    stop = np.minimum(width, first + rng.integers(1, 600, rows.size))
    mask = rng.integers(0, 4, (height, width)).astype(np.uint8)
    requested = mask.copy()
    paint = Paint(2, frozenset({3}) if keep else frozenset())
    for row, begin, end in zip(rows, first, stop):
        part = requested[row, begin:end]
        part[part != 3 if keep else ...] = 2
    Runs(rows, first, stop).draw(mask, paint)
    np.testing.assert_array_equal(mask, requested)
