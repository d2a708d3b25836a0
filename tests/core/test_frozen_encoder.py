"""Features of the pretrained encoder by ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.core import lite0
from workbench.core.frozen_encoder import FrozenEncoder, input_settings

LEVELS = Path(__file__).parents[1] / "fixtures" / "lite0_levels.npz"  # of the published network, in single precision


@pytest.fixture(scope="module")
def encoder() -> FrozenEncoder:
    return FrozenEncoder(4)


def test_levels_equal_those_of_the_published_network_within_one_percent(encoder):
    recorded = np.load(LEVELS)
    for number, level in enumerate(encoder.levels(recorded["image"])):
        expected = recorded[f"level{number}"]
        assert abs(level - expected).max() <= 0.01 * abs(expected).max()


def test_image_of_any_size_and_type_has_levels_that_cover_it(encoder):
    gray = np.random.default_rng(0).integers(0, 256, (45, 70), np.uint8)
    levels = encoder.image_levels(gray, input_settings())
    assert [level.shape for level in levels] == [(16, 23, 35), (24, 12, 18), (40, 6, 9), (112, 3, 5)]
    assert [level.shape[0] for level in levels] == list(lite0.WIDTHS[:4])
    wide = encoder.image_levels(gray.astype(np.uint16) * 257, input_settings())
    color = encoder.image_levels(np.repeat(gray[:, :, None], 3, axis=2), input_settings())
    for level, of_wide, of_color in zip(levels, wide, color, strict=True):
        np.testing.assert_allclose(of_wide, level, atol=1e-4 * abs(level).max())
        np.testing.assert_allclose(of_color, level, atol=1e-4 * abs(level).max())
