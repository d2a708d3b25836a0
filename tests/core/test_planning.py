"""What a run's settings become where nobody chose them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core import annotation
from workbench.core.planning import grain, reach
from workbench.core.recipe import request
from workbench.core.run import create_run
from workbench.inference.reading import write_png


def brushed(seed: int, *, turned: bool = False) -> np.ndarray:
    """A surface with grain from top to bottom, uint8 (160, 120)."""
    generator = np.random.default_rng(seed)
    lines = generator.normal(128, 30, (1, 120)) + generator.normal(0, 4, (160, 120))
    picture = np.clip(lines, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(np.rot90(picture)) if turned else picture


def noisy(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (300, 300), np.uint8)


def test_the_grain_of_a_surface_has_a_direction_and_noise_has_none():
    upright, lying = grain(brushed(0)), grain(brushed(0, turned=True))
    assert upright[0].real > 0.7 and lying[0].real < -0.7
    np.testing.assert_allclose(upright[0], -lying[0], atol=0.05)
    np.testing.assert_allclose(upright[1], lying[1], atol=0.05)
    assert upright[1].real > 0.5
    assert np.abs(grain(noisy(1))).max() < 0.05
    assert (grain(np.full((64, 64, 3), 7, np.uint16)) == 0).all()
    assert (grain(np.zeros((1, 1), np.float32)) == 0).all()


TURNS = {"brushed": set(), "mixed": {"rotate_90"}, "noisy": {"rotate_90", "rotate", "zoom"}}


@pytest.mark.parametrize("surface", TURNS)
def test_pictures_are_turned_only_where_no_direction_prevails(project, surface):
    for number in range(8):
        turned = surface == "mixed" and number % 2 == 1
        picture = noisy(number) if surface == "noisy" else brushed(number, turned=turned)
        write_png(project.picture_path(f"{number}.png"), picture)
        mask = np.zeros(picture.shape, np.uint8)
        mask[20:30, 20:30] = 1
        annotation.save_mask(project, f"{number}.png", mask)
    recipe = create_run(project, request("unet", epochs=1)).recipe()
    assert set(recipe.augment) & TURNS["noisy"] == TURNS[surface]
    assert "%" in recipe.reasons["augment"]
    assert create_run(project, request("unet", epochs=1, augment=["noise"])).recipe().augment == ["noise"]


def test_only_a_fast_model_looks_once(project):
    for number in range(4):
        write_png(project.picture_path(f"{number}.png"), brushed(number, turned=False))
        mask = np.zeros((brushed(number, turned=False).shape), np.uint8)
        mask[20:30, 20:30] = 1
        annotation.save_mask(project, f"{number}.png", mask)
    for quality, mirror in (("fast", False), ("balanced", True), ("best", True)):
        recipe = create_run(project, request("unet", epochs=1, quality=quality)).recipe()
        assert recipe.mirror == mirror and recipe.reasons["mirror"]
    assert not create_run(project, request("unet", epochs=1, mirror=False)).recipe().mirror


def test_tiles_share_what_the_network_sees_around_a_pixel(project):
    mask = np.zeros((brushed(0, turned=False).shape), np.uint8)
    mask[20:30, 20:30] = 1
    for number in range(4):
        write_png(project.picture_path(f"{number}.png"), brushed(number, turned=False))
        annotation.save_mask(project, f"{number}.png", mask)
    recipe = create_run(project, request("unet", epochs=1, device="cpu")).recipe()
    assert recipe.overlap >= 2 * reach(recipe) and str(reach(recipe)) in recipe.reasons["overlap"]
    deep = create_run(project, request("unet", epochs=1, device="cpu", encoder="resnet34")).recipe()
    assert deep.overlap < 2 * reach(deep)  # too far for any tile
