"""Images for display: contrast stretch, tint and outline of regions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.conftest import gray_settings
from workbench.inference.batch.results_folder import stream_png
from workbench.inference.io.image_io import read_image
from workbench.inference.overlay_drawing import overlay, overlay_bands, to_display


def test_eight_bits_are_not_stretched():
    image = np.arange(256, dtype=np.uint8).reshape(16, 16)
    assert to_display(image) is image


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
@pytest.mark.parametrize("color", [False, True])
def test_a_range_that_fills_little_of_its_type_is_stretched(dtype, color):
    rng = np.random.default_rng(0)
    image = (90 + 1600 * rng.random((300, 200, 3) if color else (300, 200))).astype(dtype)
    image[0, 0] = 60_000  # one hot pixel must not darken the rest
    shown = to_display(image)
    assert shown.dtype == np.uint8 and shown.shape == image.shape
    assert shown.min() == 0 and shown.max() == 255
    assert 120 < shown.mean() < 135
    order = np.argsort(image, axis=None)
    assert (np.diff(shown.ravel()[order].astype(int)) >= 0).all()


def test_nan_infinity_and_uniform_images_are_shown():
    image = np.linspace(0, 1, 10_000, dtype=np.float32).reshape(100, 100)
    image[0, :3] = np.nan, np.inf, -np.inf
    shown = to_display(image)
    assert (shown[0, 0], shown[0, 1], shown[0, 2]) == (0, 255, 0)
    assert len(np.unique(to_display(np.full((5, 5), 3000, np.uint16)))) == 1
    assert to_display(np.full((5, 5), np.nan, np.float32)).shape == (5, 5)


@pytest.mark.parametrize("shape", [(40, 50), (40, 50, 3)])
def test_the_overlay_tints_regions_and_draws_their_outline(shape):
    image = np.full(shape, 100, np.uint8)
    mask = np.zeros((40, 50), np.uint8)
    mask[10:20, 10:20] = 3
    mask[10:20, 20:30] = 7
    mask[0:5, 0:5] = 200  # no class of this model
    before = image.copy()
    shown = overlay(image, mask, gray_settings(), opacity=0.5)
    assert shown.shape == (40, 50, 3) and shown.dtype == np.uint8
    assert tuple(shown[15, 15]) == (178, 50, 50)
    assert tuple(shown[15, 25]) == (50, 178, 114)
    for y, x in ((10, 15), (19, 15), (15, 10), (15, 19)):
        assert tuple(shown[y, x]) == (255, 0, 0)
    assert tuple(shown[15, 20]) == (0, 255, 128)
    outside = ~np.isin(mask, (3, 7))
    assert (shown[outside] == 100).all()
    np.testing.assert_array_equal(image, before)
    clear = overlay(image, mask, gray_settings(), opacity=0.0)
    assert tuple(clear[15, 15]) == (100, 100, 100)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("rows", [1, 7, 40])
def test_an_overlay_drawn_in_bands_equals_that_of_the_whole(dtype, rows):
    rng = np.random.default_rng(1)
    image = (rng.random((40, 50)) * (200 if dtype == np.uint8 else 1)).astype(dtype)
    mask = (rng.random((40, 50)) < 0.5).astype(np.uint8) * 3
    bands = list(overlay_bands(image, mask, gray_settings(), rows=rows))
    assert [len(band) for band in bands] == [rows] * (40 // rows) + [40 % rows] * bool(40 % rows)
    np.testing.assert_array_equal(np.concatenate(bands), overlay(image, mask, gray_settings()))


def test_an_image_written_in_bands_equals_the_whole(tmp_path):
    image = np.random.default_rng(2).integers(0, 256, (61, 37, 3), dtype=np.uint8)
    path = tmp_path / "ü 图" / "p.png"
    stream_png(path, 37, 61, (image[y : y + 8] for y in range(0, 61, 8)))
    np.testing.assert_array_equal(read_image(path), image)
    with pytest.raises(ValueError, match="56 rows"):
        stream_png(tmp_path / "short.png", 37, 61, (image[y : y + 8] for y in range(0, 56, 8)))
    with pytest.raises(ValueError, match="a band is"):
        stream_png(tmp_path / "grey.png", 37, 61, [image[:, :, 0]])
    assert [entry.name for entry in tmp_path.iterdir()] == ["ü 图"]
