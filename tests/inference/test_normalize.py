"""Normalization of images for the network: depths, channels, limits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.conftest import gray_settings
from workbench.inference.model_settings import ModelSettings
from workbench.inference.tiles import normalize, resize_for_network

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
