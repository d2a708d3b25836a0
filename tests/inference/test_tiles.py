"""Tiles cover the image, and their merged results equal those of the whole image."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tests.inference.conftest import gray_settings
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.tiles import blend_window, cut, normalize, plan_grid, resize_bands, resize_for_network, stitch

SIZES = [(1, 1), (1, 2000), (2000, 1), (7, 3), (31, 33), (64, 64), (65, 64), (127, 131), (97, 401), (200, 63)]


def whole(bands) -> np.ndarray:
    """Join bands, after checking that they are consecutive."""
    parts, at = [], 0
    for y, band in bands:
        assert y == at
        at += band.shape[1]
        parts.append(band)
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("tile", "overlap", "multiple"), [(64, 16, 16), (64, 0, 32), (32, 31, 1), (48, 30, 16)])
def test_tiles_are_equal_and_cover_everything(size, tile, overlap, multiple):
    grid = plan_grid(*size, tile=tile, overlap=overlap, multiple=multiple)
    assert grid.tile_height % multiple == 0 and grid.tile_width % multiple == 0
    assert grid.tile_height <= tile and grid.tile_width <= tile
    assert len(set(grid)) == len(grid) == len(list(grid))
    covered = np.zeros(size, int)
    for y, x in grid:
        assert y >= 0 and x >= 0
        covered[y : y + grid.tile_height, x : x + grid.tile_width] += 1
    assert covered.min() >= 1
    for starts, length, side in ((grid.rows, size[0], grid.tile_height), (grid.columns, size[1], grid.tile_width)):
        assert all(later - earlier <= side - overlap for earlier, later in zip(starts, starts[1:]))
        end = -(-length // multiple) * multiple
        assert starts == (0,) if length <= tile else starts[-1] + side == end
        if -(-overlap // multiple) * multiple < tile:  # an overlap on the grid of the network fits
            assert all(start % multiple == 0 for start in starts)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("channels", [0, 3])
def test_a_tile_is_filled_with_the_mirrored_image(size, channels):
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (*size, channels) if channels else size).astype(np.uint8)
    grid = plan_grid(*size, tile=64, overlap=16, multiple=16)
    for y, x in grid:
        tile = cut(image, grid, y, x)
        assert tile.shape[:2] == (grid.tile_height, grid.tile_width)
        inside = image[y : y + 64, x : x + 64]
        np.testing.assert_array_equal(tile[: inside.shape[0], : inside.shape[1]], inside)
        assert set(np.unique(tile)) <= set(np.unique(inside))
    if 1 < size[0] < 64 and size[0] % 16:  # the row beyond the border is the one before it
        below = cut(image, grid, 0, 0)[size[0]]
        width = min(64, size[1])
        expected = image[size[0] - 2] if grid.tile_height - size[0] < size[0] else image[size[0] - 1]
        np.testing.assert_array_equal(below[:width], expected[:width])


@pytest.mark.parametrize(("length", "overlap"), [(64, 0), (64, 16), (64, 63), (256, 96), (5, 4), (1, 0)])
def test_the_weights_are_smooth_and_zero_at_the_border(length, overlap):
    window = blend_window(length, overlap)
    assert window.shape == (length,) and window.min() >= 0 and window.max() <= 1
    np.testing.assert_allclose(window, window[::-1])
    alone = blend_window(length, overlap, first=True, last=True)
    assert (alone == 1).all()
    np.testing.assert_array_equal(blend_window(length, overlap, first=True)[length // 2 :], window[length // 2 :])
    if overlap in (16, 96):
        assert np.abs(np.diff(window)).max() < 0.2 and (window[overlap:-overlap] == 1).all()
        # weights of overlapping tiles add up to one
        np.testing.assert_allclose(window[:overlap] + window[-overlap:], 1)
    if overlap == 96:
        assert not window[:32].any() and window[32:-32].all()  # both tiles contribute to the middle 32 pixels


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("tile", "overlap"), [(64, 16), (64, 0), (32, 24)])
def test_blending_tiles_of_one_image_gives_the_image(size, tile, overlap):
    image = np.random.default_rng(1).random((3, *size), np.float32)
    grid = plan_grid(*size, tile=tile, overlap=overlap, multiple=8)
    answers = (np.moveaxis(cut(np.moveaxis(image, 0, -1), grid, y, x), -1, 0) for y, x in grid)
    np.testing.assert_allclose(whole(stitch(grid, answers)), image, atol=1e-5)


@pytest.mark.parametrize("size", [(97, 401), (127, 131), (200, 63), (30, 30)])
@pytest.mark.parametrize("overlap", [0, 16, 50])
def test_blending_by_bands_equals_blending_of_the_whole(size, overlap):
    """Tiles differ from each other, so that every weight matters; the reference is computed on the whole image."""
    rng = np.random.default_rng(2)
    grid = plan_grid(*size, tile=64, overlap=overlap, multiple=16)
    answers = [rng.random((2, grid.tile_height, grid.tile_width), np.float32) for _ in grid]
    room = (size[0] + 64, size[1] + 64)
    total, weight = np.zeros((2, *room)), np.zeros(room)
    for (y, x), answer in zip(grid, answers):
        down = blend_window(grid.tile_height, overlap, first=y == 0, last=y == grid.rows[-1])
        across = blend_window(grid.tile_width, overlap, first=x == 0, last=x == grid.columns[-1])
        window = np.outer(down, across)
        total[:, y : y + grid.tile_height, x : x + grid.tile_width] += answer * window
        weight[y : y + grid.tile_height, x : x + grid.tile_width] += window
    expected = (total / np.maximum(weight, 1e-12))[:, : size[0], : size[1]]
    np.testing.assert_allclose(whole(stitch(grid, answers)), expected, atol=1e-5)


def test_memory_does_not_grow_with_the_height_of_the_image():
    def peak(height: int) -> int:
        grid = plan_grid(height, 256, tile=64, overlap=16, multiple=16)
        tracemalloc.start()
        for _ in stitch(grid, (np.zeros((2, 64, 64), np.float32) for _ in grid)):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(8000) < 1.5 * peak(800)


@pytest.mark.parametrize("source", [(1, 1), (50, 70), (3, 200), (64, 64)])
@pytest.mark.parametrize("target", [(1, 1), (91, 123), (20, 33), (150, 7), (64, 64)])
@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
def test_resizing_bands_equals_resizing_the_whole(source, target, rows):
    image = np.random.default_rng(3).random((2, *source), np.float32)
    bands = [(y, image[:, y : y + rows]) for y in range(0, source[0], rows)]
    found = whole(resize_bands(bands, source, target))
    expected = np.stack([cv2.resize(p, target[::-1], interpolation=cv2.INTER_LINEAR) for p in image])
    np.testing.assert_allclose(found, expected, atol=1e-5)


RNG = np.random.default_rng(4)


def test_values_follow_the_formula():
    image = RNG.integers(0, 256, (9, 11)).astype(np.uint8)
    settings = gray_settings(low=20.0, high=180.0, mean=(0.4,), std=(0.3,))
    expected = (np.clip((image.astype(float) - 20) / 160, -0.5, 1.5) - 0.4) / 0.3
    found = normalize(image, settings)
    assert found.shape == (1, 9, 11) and found.dtype == np.float32 and found.flags.c_contiguous
    np.testing.assert_allclose(found[0], expected, atol=1e-6)


@pytest.mark.parametrize("full_scale", [255.0, 65535.0, 1.0])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("shape", [(8, 9), (8, 9, 3)])
def test_eight_and_sixteen_bits_and_float_of_one_image_agree(full_scale, channels, shape):
    settings = gray_settings(
        full_scale=full_scale,
        low=0.1 * full_scale,
        high=0.8 * full_scale,
        channels=channels,
        mean=(0.5, 0.4, 0.3)[:channels],
        std=(0.2, 0.3, 0.4)[:channels],
    )
    eight = RNG.integers(0, 256, shape).astype(np.uint8)
    found = normalize(eight, settings)
    np.testing.assert_array_equal(normalize(eight.astype(np.uint16) * 257, settings), found)
    np.testing.assert_allclose(normalize((eight / 255).astype(np.float32), settings), found, atol=1e-5)


def test_sixteen_bits_trained_on_twelve_keep_their_fine_steps():
    settings = gray_settings(full_scale=65535.0, low=90.0, high=1709.0)
    image = np.arange(90, 1710, dtype=np.uint16).reshape(2, -1)
    found = normalize(image, settings)
    assert len(np.unique(found)) == image.size
    np.testing.assert_allclose((found.min(), found.max()), (-1, 1), atol=1e-6)


def test_channels_are_in_the_order_red_green_blue():
    settings = gray_settings(channels=3, mean=(0.1, 0.2, 0.3), std=(1.0, 1.0, 1.0))
    image = np.zeros((2, 2, 3), np.uint8)
    image[..., 0] = 255
    np.testing.assert_allclose(normalize(image, settings)[:, 0, 0], (0.9, -0.2, -0.3), atol=1e-6)


def test_color_for_a_gray_network_is_luma_and_gray_for_a_color_network_is_repeated():
    color = RNG.integers(0, 256, (6, 7, 3)).astype(np.uint8)
    plain = gray_settings(mean=(0.0,), std=(1.0,))
    expected = (color / 255) @ (0.299, 0.587, 0.114)
    np.testing.assert_allclose(normalize(color, plain)[0], expected, atol=1e-6)
    gray = color[:, :, 0]
    np.testing.assert_allclose(normalize(np.dstack([gray] * 3), plain), normalize(gray, plain), atol=1e-6)
    three = normalize(gray, gray_settings(channels=3, mean=(0.0,) * 3, std=(1.0,) * 3))
    assert three.shape == (3, 6, 7)
    np.testing.assert_array_equal(three, np.broadcast_to(three[:1], three.shape))


def test_nan_and_infinity_become_finite():
    image = np.array([[np.nan, np.inf, -np.inf, 1e30, 0.5]], np.float32)
    found = normalize(image, gray_settings(full_scale=1.0, low=0.0, high=1.0, mean=(0.0,), std=(1.0,)))[0, 0]
    np.testing.assert_allclose(found, (0, 1.5, -0.5, 1.5, 0.5))


def test_other_arrays_are_refused():
    for wrong in (np.zeros((2, 2), np.int32), np.zeros((2, 2, 4), np.uint8), np.zeros(4, np.uint8)):
        with pytest.raises(ValueError):
            normalize(wrong, gray_settings())


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_resizing_keeps_the_type_and_averages_if_it_reduces(dtype):
    image = np.tile(np.array([[0, 200], [200, 0]], dtype), (20, 30))
    small = resize_for_network(image, gray_settings(scale=0.5))
    assert small.shape == (20, 30) and small.dtype == dtype
    assert (small == 100).all()
    assert resize_for_network(image, gray_settings()) is image
    square = ModelSettings(task="classification", name="x", verdicts=("a", "b"), input_size=16)
    assert resize_for_network(image, square).shape == (16, 16)
    assert resize_for_network(image[:1, :1], gray_settings(scale=0.1)).shape == (1, 1)


def test_images_of_models_with_other_limits_in_turn():
    image = RNG.integers(0, 256, (9, 11)).astype(np.uint8)
    first, second = gray_settings(low=20.0, high=180.0), gray_settings(low=40.0, high=180.0)
    expected = [normalize(image.astype(np.uint16) * 257, settings) for settings in (first, second)]
    for settings, values in zip((first, second, first), (*expected, expected[0])):
        np.testing.assert_array_equal(normalize(image, settings), values)


@pytest.mark.parametrize("mean", [(0.4, 0.4, 0.4), (0.4, 0.4, 0.3)])
def test_gray_values_are_repeated_for_three_channels(mean):
    image = RNG.integers(0, 256, (9, 11)).astype(np.uint8)
    found = normalize(image, gray_settings(channels=3, mean=mean, std=(0.25,) * 3))
    for channel in range(3):
        single = gray_settings(mean=mean[channel : channel + 1], std=(0.25,))
        np.testing.assert_array_equal(found[channel], normalize(image, single)[0])
