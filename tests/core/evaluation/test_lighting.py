"""Changed lighting keeps shape and dtype, acts alike in 8 and 16 bits, and the table names the worst change."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.evaluation.lighting import CHANGES, change_lighting, lighting_table
from workbench.inference.model_settings import ModelSettings


def settings(**changes) -> ModelSettings:
    values = {"channels": 1, "full_scale": 255.0, "low": 0.0, "high": 255.0, "mean": (0.5,), "std": (0.25,)} | changes
    return ModelSettings(task="classification", name="a", run="b", verdicts=("OK", "NG"), input_size=64, **values)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shape", [(20, 30), (20, 30, 3)])
def test_image_stays_usable(change, shape):
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    changed = change_lighting(image, change, settings())
    assert changed.shape == image.shape and changed.dtype == image.dtype and (changed != image).any()


def test_sixteen_bits_change_as_eight_bits():
    image = np.random.default_rng(0).integers(50, 200, (20, 30), np.uint8)
    dark = image.astype(np.uint16) * 16  # twelve bits in a file of sixteen
    twelve = settings(full_scale=65535.0, high=255.0 * 16)
    for change in ("brighter", "gamma_high", "more_contrast", "uneven"):
        eight = change_lighting(image, change, settings()).astype(float)
        np.testing.assert_allclose(change_lighting(dark, change, twelve) / 16, eight, atol=1)


def test_table_names_the_worst_change():
    table = lighting_table(lambda change, count: 0.5 if change == "darker" else 0.9, 7)
    assert table is not None
    assert table["pictures"] == 7 and table["unchanged"] == 0.9 and set(table["changes"]) == set(CHANGES)
    assert table["worst"] == {"change": "darker", "value": 0.5}
    assert lighting_table(lambda change, count: 0.9, 0) is None
    assert lighting_table(lambda change, count: None, 3) is None
