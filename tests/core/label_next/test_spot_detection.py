"""Spot detection in single images of all kinds, in comparison with other images, and with labels."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.label_next.spot_detection import (
    EXAMPLES,
    MAX_PIXELS,
    SpotSearch,
    cell_features,
    example_directions,
    find_spots,
)
from workbench.core.problems import ImageBroken
from workbench.core.project import annotation
from workbench.inference.io.image_io import write_png
from workbench.inference.io.opencv import cv2


def surface(seed: int = 0, shape: tuple[int, int] = (200, 280)) -> np.ndarray:
    """Return a gray texture, float32 with values about 130 ± 12."""
    noise = np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)
    return 130 + 24 * cv2.GaussianBlur(noise, (0, 0), 0.8)


def pit(image: np.ndarray, x: int, y: int, depth: float = 60, size: int = 4) -> np.ndarray:
    image = image.copy()
    image[y - size : y + size + 1, x - size : x + size + 1] -= depth
    return image


def is_near(spot, x: int, y: int, distance: int = 10) -> bool:
    return abs(spot.x - x) <= distance and abs(spot.y - y) <= distance


@pytest.mark.parametrize("kind", ["gray", "color", "chroma", "16 bit", "float"])
def test_first_spot_is_the_defect(kind):
    image = pit(surface(), 70, 120)
    if kind == "color":
        image = np.stack([image, 0.9 * image, 0.7 * image], axis=2)
    if kind == "chroma":  # the same brightness everywhere
        red = surface()
        image = np.stack([red, red, red], axis=2)
        image[116:125, 66:75] += (30, -30, 0)
    dtype = {"16 bit": np.uint16, "float": np.float32}.get(kind, np.uint8)
    image = (image * (200 if kind == "16 bit" else 1)).clip(0, 65535).astype(dtype)
    spots = find_spots(cell_features(image))
    assert is_near(spots[0], 70, 120) and spots == find_spots(cell_features(image))
    strengths = [spot.strength for spot in spots]
    assert strengths == sorted(strengths, reverse=True)


def test_spots_are_apart_and_limited():
    image = surface()
    for x, y in ((50, 50), (150, 50), (230, 150)):
        image = pit(image, x, y)
    spots = find_spots(cell_features(image), count=3)
    assert sorted((spot.x // 100, spot.y // 100) for spot in spots) == [(0, 0), (1, 0), (2, 1)]


@pytest.mark.parametrize("change", [lambda i: 0.4 * i + 10, lambda i: i + 60])
def test_spots_do_not_depend_on_the_lighting(change):
    image = pit(surface(), 70, 120)
    points = [[(s.x, s.y) for s in find_spots(cell_features(i.astype(np.float32)))] for i in (image, change(image))]
    assert points[0][:2] == points[1][:2]


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (3, 4), (17, 9), (40, 40)])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_tiny_images(shape, channels):
    values = np.random.default_rng(1).integers(0, 255, (*shape, *channels)).astype(np.uint8)
    for spot in find_spots(cell_features(values)):
        assert 0 <= spot.x < shape[1] and 0 <= spot.y < shape[0] and spot.radius > 0 and np.isfinite(spot.strength)


@pytest.mark.parametrize("value", [0, 77, 255])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_even_image_has_no_spots(value, dtype):
    assert find_spots(cell_features(np.full((90, 120), value, dtype))) == ()
    assert find_spots(cell_features(np.full((90, 120, 3), value, dtype))) == ()


def test_pixels_that_are_no_numbers():
    image = pit(surface(), 70, 120)
    image[10, 10], image[20:22, 200] = np.nan, np.inf
    assert is_near(find_spots(cell_features(image.astype(np.float32)))[0], 70, 120)
    assert find_spots(cell_features(np.full((40, 40), np.nan, np.float32))) == ()


def test_large_image_is_reduced():
    image = pit(surface(shape=(512, 512)), 400, 100, size=6)
    large = cv2.resize(image.clip(0, 255).astype(np.uint8), (2048, 2048))
    features = cell_features(large)
    assert 16 * features.values[..., 0].size <= 1.1 * MAX_PIXELS
    assert is_near(find_spots(features)[0], 1600, 400, 40)


def test_border_of_the_part_is_no_spot():
    image = surface()
    image[:6] += 40  # the edge of the part
    image = pit(image, 150, 120, depth=40)
    assert is_near(find_spots(cell_features(image))[0], 150, 120)


def part(seed: int) -> np.ndarray:
    """Return a part with two bright holes at the same place in each image."""
    image = surface(seed)
    for x in (60, 210):
        cv2.circle(image, (x, 60), 12, 240.0, cv2.FILLED)
    return image


def test_structure_common_to_all_images_is_no_spot():
    features = cell_features(pit(part(9), 140, 140, depth=40))
    alone, others = find_spots(features), [cell_features(part(seed)) for seed in range(4)]
    assert not is_near(alone[0], 140, 140), "the holes are spots"
    assert is_near(find_spots(features, others)[0], 140, 140)
    unaligned = [cell_features(surface(seed)) for seed in range(4)]
    assert find_spots(features, unaligned) == alone
    assert find_spots(features, others[:2]) == alone, "too few to know"


def test_labeled_defects_raise_similar_spots():
    """Bright and dark pits of nearly the same strength: the label decides."""
    image = pit(pit(surface(5), 70, 120, depth=-52), 210, 80, depth=50)
    features = cell_features(image)
    assert is_near(find_spots(features)[0], 70, 120)
    labeled = pit(surface(6), 100, 100)
    mask = np.zeros(labeled.shape, bool)
    mask[96:105, 96:105] = True
    directions = example_directions(cell_features(labeled), mask)
    assert directions.shape[0] == 1 and np.allclose(np.linalg.norm(directions, axis=1), 1, atol=1e-4)
    assert is_near(find_spots(features, examples=directions)[0], 210, 80)
    assert example_directions(cell_features(labeled), np.zeros(labeled.shape, bool)).shape[0] == 0
    assert example_directions(cell_features(np.full((60, 60), 9, np.uint8)), np.ones((60, 60), bool)).shape[0] == 0


@pytest.fixture
def filled(project):
    for number in range(6):
        image = pit(part(number), 140, 100 + 10 * number, depth=40)
        write_png(project.image_path(f"lot1/{number}.png"), image.clip(0, 255).astype(np.uint8))
    write_png(project.image_path("lot1/small.png"), surface(3, (60, 80)).clip(0, 255).astype(np.uint8))
    project.image_path("lot1/bad.png").write_bytes(b"\x89PNG nothing")
    return project


def test_images_of_a_project_are_compared(filled):
    search = SpotSearch(filled, filled.images())
    for number in range(6):
        assert is_near(search.spots(f"lot1/{number}.png")[0], 140, 100 + 10 * number)
    search.spots("lot1/small.png")
    with pytest.raises(ImageBroken):
        search.spots("lot1/bad.png")
    assert SpotSearch(filled, filled.images()).spots("lot1/0.png", cancelled=lambda: True) == ()


def test_labels_of_a_project_are_used(filled, monkeypatch):
    keys = [f"lot1/{number}.png" for number in range(6)]
    for number, key in enumerate(keys):
        mask = np.zeros((200, 280), np.uint8)
        mask[96 + 10 * number : 105 + 10 * number, 136:145] = 1
        annotation.save_mask(filled, key, mask)
    search = SpotSearch(filled, filled.images())
    plain, raised = search.spots(keys[0]), search.spots(keys[0], labeled=[*keys, "lot1/bad.png"])
    assert len(keys) <= EXAMPLES and is_near(raised[0], 140, 100) and raised[0].strength > plain[0].strength
    assert search.spots(keys[0], labeled=keys[:1]) == plain, "its own label is no hint"
