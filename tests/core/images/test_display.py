"""Mapping of values to brightness: equal to its formula and for every part; presets in display.json."""

from __future__ import annotations

import json

import numpy as np
import pytest

from workbench.core.images.display import Display, ToneMapper, automatic, full_range, select_channel, stretched
from workbench.core.problems import ProjectBroken, ProjectReadOnly
from workbench.core.project.project import Project
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
