"""Difference from a reference image: defects are shown, shifts and changes of the lighting are not."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.geometry.drawing import Rect
from workbench.core.images.display import align, difference, difference_map
from workbench.inference.io.opencv import cv2


def surface(height: int = 420, width: int = 560, seed: int = 3) -> np.ndarray:
    """Return a board with holes and traces on a rough background, float32, about 0..255."""
    rng = np.random.default_rng(seed)
    ground = cv2.GaussianBlur(rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 1.2) * 14 + 120
    for _ in range(40):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        cv2.circle(ground, (x, y), int(rng.integers(3, 14)), float(rng.integers(40, 220)), -1, cv2.LINE_AA)
    return ground


def moved(picture: np.ndarray, dx: float, dy: float, degrees: float = 0.0) -> np.ndarray:
    """Return the image shifted to the right and down and rotated about its center."""
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    matrix[:, 2] += dx, dy
    return cv2.warpAffine(picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("degrees", [0.0, 0.6])
def test_defects_are_found_in_a_shifted_and_brighter_part(dtype, degrees):
    factor = {np.uint8: 1, np.uint16: 97, np.float32: 1 / 300}[dtype]
    rng = np.random.default_rng(1)
    sample = surface()
    picture = moved(sample, 7.4, -4.7, degrees) * 1.1 + 6
    defects = np.zeros(picture.shape, np.uint8)
    for x, y in ((80, 90), (300, 200), (450, 350)):
        cv2.line(defects, (x, y), (x + 25, y + 9), 1, 3)
    picture[defects > 0] -= 70
    noisy = [np.clip(p + rng.normal(0, 1, p.shape), 0, 255) * factor for p in (picture, sample)]
    picture, sample = ((np.rint(noise) if dtype != np.float32 else noise).astype(dtype) for noise in noisy)
    alignment = align(picture, sample)
    assert alignment.agreement > 0.9
    if not degrees:
        assert alignment.shift == pytest.approx((-7.4, 4.7), abs=0.3)
    hot = difference_map(picture, sample, alignment) > 128
    inner = np.zeros(hot.shape, bool)
    inner[20:-20, 20:-20] = True
    wide = cv2.dilate(defects, np.ones((5, 5), np.uint8)) > 0
    assert hot[defects > 0].mean() > 0.8
    assert hot[inner & ~wide].mean() < 0.006


def test_large_images_are_aligned_to_the_pixel():
    """They are aligned at a reduced size; the shift has to be exact at full size."""
    sample = surface(1500, 2600, 5)
    picture = moved(sample, -23, 14)
    assert align(picture, sample).shift == pytest.approx((23, -14), abs=0.6)


def test_parts_of_the_difference_equal_the_whole_and_inputs_are_unchanged():
    sample = surface().astype(np.uint8)
    picture = moved(sample, 5.3, 2.2)
    copies = picture.copy(), sample.copy()
    alignment = align(picture, sample)
    whole = difference(picture, sample, alignment)
    part = difference(picture, sample, alignment, Rect(100, 60, 200, 150))
    assert np.abs(whole[60:210, 100:300] - part).max() < 0.5
    assert np.array_equal(picture, copies[0]) and np.array_equal(sample, copies[1])


def test_equal_images_do_not_differ_and_colors_are_compared_as_gray():
    sample = np.repeat(surface()[:, :, None], 3, axis=2).astype(np.uint8)
    assert not difference_map(sample, sample).any()
    flat = np.full((40, 50), 7, np.uint8)
    assert not difference_map(flat, flat).any()
    with pytest.raises(ValueError, match="size"):
        align(flat, flat[:-1])


def test_no_difference_outside_of_the_reference_image():
    sample = surface()
    picture = moved(sample, 40, 0)
    picture[:, :30] = 255
    alignment = align(picture, sample)
    assert not difference(picture, sample, alignment)[:, :30].any()
