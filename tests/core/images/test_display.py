"""Mapping of values to brightness: equal to its formula and for every part; presets in display.json."""

from __future__ import annotations

import json

import numpy as np
import pytest

from workbench.core.geometry.drawing import Rect
from workbench.core.images.display import (
    Alignment,
    Display,
    ToneMapper,
    align,
    automatic,
    difference,
    difference_map,
    full_range,
    select_channel,
    stretched,
)
from workbench.core.problems import ProjectBroken, ProjectReadOnly
from workbench.core.project.project import Project
from workbench.inference.io.opencv import cv2
from workbench.session.display_presets import DisplayFile, load_displays, save_displays

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("display", [Display(30, 170), Display(20, 240, 2.2), Display(60, 61, 0.5, invert=True)])
def test_brightness_equals_the_formula(dtype, display):
    values = RNG.integers(0, 255, (40, 50)).astype(dtype)
    light = np.clip((values.astype(np.float64) - display.low) / (display.high - display.low), 0, 1)
    light = light ** (1 / display.gamma)
    expected = (1 - light if display.invert else light) * 255
    assert np.abs(display.apply(values).astype(float) - expected).max() <= 1.01


def test_not_a_number_is_black_and_infinity_is_white():
    values = np.array([[np.nan, np.inf, -np.inf, 0.5]], np.float32)
    assert Display(0, 1).apply(values).tolist() == [[0, 255, 0, 128]]


def test_value_ranges_of_camera_images():
    twelve = RNG.integers(100, 3900, (300, 300)).astype(np.uint16)
    assert full_range(twelve) == (0.0, 4095.0) and automatic(twelve).high > 3500
    assert automatic(twelve.astype(np.uint8)) == Display()
    dull = RNG.integers(90, 130, (300, 300)).astype(np.uint8)
    assert (stretched(dull).low, stretched(dull).high) == (90, 129)
    flat = np.full((9, 9), 7, np.uint8)
    assert stretched(flat).high > stretched(flat).low


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("color", [False, True])
def test_part_is_mapped_like_the_whole_image(dtype, color):
    shape = (301, 407, 3) if color else (301, 407)
    image = (RNG.random(shape) * 200).astype(dtype)
    for display in (Display(local_contrast=3), Display(flat_field=True), Display(local_contrast=2, flat_field=True)):
        developer = ToneMapper(image, display)
        whole = developer.map_region(image, np.arange(301.0), np.arange(407.0))
        assert whole.dtype == np.uint8 and whole.shape == shape
        for y, x, h, w in ((0, 0, 40, 60), (100, 151, 90, 33), (260, 366, 41, 41)):
            part = developer.map_region(
                image[y : y + h, x : x + w], np.arange(y, y + h, dtype=float), np.arange(x, x + w, dtype=float)
            )
            assert np.array_equal(part, whole[y : y + h, x : x + w])


def test_channels():
    image = RNG.integers(0, 65535, (5, 6, 3)).astype(np.uint16)
    assert np.array_equal(select_channel(image, "green"), image[:, :, 1])
    gray = select_channel(image, "grey")
    assert gray.dtype == np.uint16 and np.abs(gray - image @ [0.299, 0.587, 0.114]).max() <= 1
    assert select_channel(gray, "blue") is gray and select_channel(image, "colour") is image


def test_displays_are_stored_and_broken_files_are_refused(tmp_path):
    with Project.create(tmp_path / "p") as project:
        assert load_displays(project) == DisplayFile()
        kept = DisplayFile(presets={"灯 1": Display(3, 9, palette="hot")}, good_sample="lot/a.png")
        save_displays(project, kept)
        assert load_displays(project) == kept
        path = project.root / "display.json"
        for text in ("{", "[]", '{"presets": {"a": {"palette": "sepia"}}}', '{"format": 99}', '{"presets": 3}'):
            path.write_text(text)
            with pytest.raises(ProjectBroken):
                load_displays(project)
        path.write_text(json.dumps({"format": 1, "presets": {}, "later": True}))
        assert load_displays(project) == DisplayFile()
    with pytest.raises(ProjectReadOnly):
        save_displays(Project.open(tmp_path / "p", write=False), kept)


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


def test_no_difference_where_a_colored_reference_image_is_not_needed():
    sample = np.repeat(surface()[:, :, None], 3, axis=2).astype(np.uint8)
    below = Alignment(np.array([[1, 0, 0], [0, 1, 10_000]], np.float32), 1.0, 0.0, 0.9)
    assert not difference_map(sample, sample, below).any()
