"""All selections on extreme images: one pixel, strips, NaN, 16 bit, 400 megapixels; box segmentation."""

from __future__ import annotations

import tracemalloc

import cv2
import numpy as np
import pytest

from tests.core.geometry.selection.selections import everywhere
from workbench.core.geometry.drawing import Rect
from workbench.core.geometry.selection import (
    LIVE,
    IntelligentScissors,
    box_cut,
    histogram,
    levels_of,
    magic_wand,
    region_at,
    select_band,
    suggest_tolerance,
    tone_band_at,
    trace_crack,
)
from workbench.inference.io.image_io import read_image


def use_all(picture, points, box):
    """Call every selection function at every point and return the selections."""
    found = [box_cut(picture, box)]
    for point, other in zip(points, points[1:]):
        tolerance = suggest_tolerance(picture, point)
        found.append(magic_wand(picture, point, tolerance, limit=LIVE))
        found.append(magic_wand(picture, point, 40, connectivity=8, smoothing=2, fill=True, limit=LIVE))
        band = tone_band_at(picture, point)
        if band is not None:
            found.append(select_band(picture, point, other, 4, band))
            counted = histogram(picture, point, other, 4, band)
            assert counted.counts.sum() >= found[-1].inside.sum()
        found.append(trace_crack(picture, point, other).selection)
        scissors = IntelligentScissors(picture)
        scissors.anchor(point)
        assert scissors.wire(other)[0] == point
        scissors.anchor(other)
        found.append(scissors.closed())
    return found


SHAPES = [(1, 1), (3, 2), (1, 20000), (20000, 1), (40, 50)]


KINDS = [
    *((kind, False) for kind in ("uint8", "uint16", "nan", "all nan", "flat", "infinite")),
    *((kind, True) for kind in ("uint8", "nan")),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("shape", "kind", "color"),
    [
        # All kinds of values at the smallest and at a usual size, and all sizes with and without missing values.
        *((shape, *kind) for shape in ((1, 1), (40, 50)) for kind in KINDS),
        *((shape, kind, False) for shape in SHAPES[1:-1] for kind in ("uint8", "nan")),
    ],
)
def test_every_tool_works_on_every_image(shape, kind, color):
    rng = np.random.default_rng(0)
    size = (*shape, 3) if color else shape
    noise = rng.random(size).astype(np.float32)
    picture = {
        "uint8": (noise * 255).astype(np.uint8),
        "uint16": (noise * 235).astype(np.uint16),
        "nan": np.where(rng.random(size) < 0.3, np.float32(np.nan), noise),
        "all nan": np.full(size, np.nan, np.float32),
        "flat": np.full(size, 7, np.uint16),
        "infinite": np.where(noise < 0.1, np.float32(np.inf), noise),
    }[kind]
    height, width = shape
    middle = width / 2, height / 2
    points = [(0.0, 0.0), (width - 0.01, height - 0.01), middle, (-3.0, 2.0), (width, height)]
    for selection in use_all(picture, points, Rect(-2, -2, max(4, width // 2), max(4, height // 2))):
        assert selection.inside.shape == (selection.rect.height, selection.rect.width)
        assert selection.inside.dtype == bool
        assert selection.rect.clipped(width, height) == selection.rect
    if kind == "all nan":
        assert magic_wand(picture, middle, 40).empty and tone_band_at(picture, middle) is None
        assert box_cut(picture, Rect(0, 0, width, height)).empty


def test_levels_of_16_bit_and_float_images_follow_their_values():
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 236, (500, 700)).astype(np.uint16)
    picture[3, 5] = 65535  # one hot pixel
    levels = levels_of(picture)
    assert -40 < levels.low < 5 and 230 < levels.high < 280
    assert (levels.to_value(0), levels.to_value(100)) == (levels.low, levels.high)
    assert levels_of(np.zeros((4, 4), np.uint8)).high == 255
    for flat in (np.full((9, 9), 40, np.uint16), np.zeros((9, 9), np.float32), np.full((9, 9), np.nan, np.float32)):
        found = levels_of(flat)
        assert found.high > found.low


def test_memory_is_bounded_for_an_image_of_400_megapixels():
    """Only pages that are read are allocated, so that the peak shows the size of the computed window."""
    picture = np.zeros((20000, 20000), np.uint16)
    patch = np.random.default_rng(0).normal(5000, 100, (600, 800))
    rows = (300 + 40 * np.sin(np.arange(800) / 50)).astype(int)
    for offset in (-1, 0, 1):
        patch[rows + offset, np.arange(800)] -= 2500
    picture[10000:10600, 9000:9800] = patch
    mask = np.zeros((20000, 20000), np.uint8)
    mask[10000:10600, 9000:9800][patch < 3500] = 2
    start, end = (9100.5, 10000.5 + rows[100]), (9700.5, 10000.5 + rows[700])
    tracemalloc.start()
    try:
        use_all(picture, [start, end], Rect(9100, 10250, 200, 100))
        crack = trace_crack(picture, start, end).selection
        region = region_at(mask, start, connectivity=8)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 << 20  # the image has 800 MB
    truth = patch[:, 100:700] < 3500
    inside = crack.within(Rect(9100, 10000, 600, 600))
    assert (inside & truth).sum() / (inside | truth).sum() > 0.6
    assert region.inside.sum() == (patch < 3500).sum()


# --- box segmentation --------------------------------------------------------------------------------------------


def spot(shape, centre, radius, *, contrast=-40, noise=8.0, tilt=0.05):
    rows, columns = np.mgrid[: shape[0], : shape[1]] + 0.5
    inside = np.hypot(columns - centre[0], rows - centre[1]) < radius
    picture = 130 + tilt * columns + np.random.default_rng(0).normal(0, noise, shape) + contrast * inside
    return np.clip(picture, 0, 255).astype(np.uint8), inside


def overlap(selection, truth):
    found = everywhere(selection, truth.shape)
    return (found & truth).sum() / max(1, (found | truth).sum())


@pytest.mark.parametrize("contrast", [-40, 40])
@pytest.mark.parametrize("kind", ["uint8", "uint16", "rgb"])
def test_a_box_is_segmented_into_its_object(contrast, kind):
    picture, truth = spot((200, 300), (140, 90), 30, contrast=contrast)
    if kind == "uint16":
        picture = picture.astype(np.uint16) * 3 + 1000
    if kind == "rgb":
        picture = np.stack([picture, np.full_like(picture, 120), 255 - picture], axis=2)
    box = Rect(100, 50, 80, 80)
    selection = box_cut(picture, box)
    assert overlap(selection, truth) > 0.9
    np.testing.assert_array_equal(everywhere(box_cut(picture, box), truth.shape), everywhere(selection, truth.shape))
    outside = ~np.isin(
        np.arange(truth.size).reshape(truth.shape), np.arange(truth.size).reshape(truth.shape)[box.slices]
    )
    assert not everywhere(selection, truth.shape)[outside].any()


def test_a_large_box_is_segmented_at_full_resolution():
    """It is segmented reduced first; the border is then refined at full resolution."""
    picture, truth = spot((1400, 1500), (700, 650), 400)
    selection = box_cut(picture, Rect(250, 200, 900, 900))
    assert overlap(selection, truth) > 0.998
    assert overlap(box_cut(picture, Rect(0, 0, 1500, 1400)), truth) > 0.99


def test_a_box_without_object_is_empty_and_a_huge_one_is_refused():
    flat = np.full((80, 80), 99, np.uint8)
    assert box_cut(flat, Rect(20, 20, 30, 30)).empty
    assert box_cut(flat, Rect(90, 90, 5, 5)).empty
    huge = box_cut(np.zeros((5000, 5000), np.uint8), Rect(0, 0, 5000, 5000))
    assert huge.empty and huge.cut


def test_a_box_segments_a_real_blowhole(shared_data):
    scores = []
    for path in sorted((shared_data / "magnetic-tile" / "MT_Blowhole" / "Imgs").glob("*.jpg"))[::3]:
        mask = cv2.imdecode(np.fromfile(path.with_suffix(".png"), np.uint8), cv2.IMREAD_GRAYSCALE) >= 128
        x, y, width, height = cv2.boundingRect(mask.astype(np.uint8))
        selection = box_cut(read_image(path), Rect(x - 3, y - 3, width + 6, height + 6))
        scores.append(overlap(selection, mask))
    assert len(scores) > 10 and (np.array(scores) >= 0.6).mean() > 0.7 and np.median(scores) > 0.75
