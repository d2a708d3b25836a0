"""Inspection areas: their pixels, their files, and predictions in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.inference.conftest import gray_settings, pixelwise, spotted
from workbench.inference.inspection_area import AreaPolygon, InspectionArea, area_of
from workbench.inference.model_settings import (
    ModelSettings,
    SettingsError,
    load_settings,
    save_settings,
    settings_from_json,
)
from workbench.inference.predictor import Predictor, apply_thresholds

SQUARE = AreaPolygon(((10, 20), (30, 20), (30, 40), (10, 40)))
HOLE = AreaPolygon(((15, 25), (20, 25), (20, 30), (15, 30)), excluded=True)


def box(*edges: int, folder: str = "") -> InspectionArea:
    left, top, right, bottom = edges
    return InspectionArea(100, 50, (AreaPolygon(((left, top), (right, top), (right, bottom), (left, bottom))),), folder)


def test_pixels_are_those_of_the_polygons_in_their_order():
    inside = InspectionArea(100, 50, (SQUARE, HOLE)).inside((50, 100, 3))
    assert inside.dtype == bool and inside.shape == (50, 100) and not inside.flags.writeable
    assert inside[19:41, 9:31].sum() == inside.sum() and inside[21:24, 11:29].all() and not inside[26:29, 16:19].any()
    whole = InspectionArea(100, 50, (HOLE,)).inside((50, 100))
    assert whole[0, 0] and whole[49, 99] and not whole[27, 17]


def test_an_image_of_another_size_has_the_area_scaled():
    area = InspectionArea(100, 50, (SQUARE,))
    small, large = area.inside((50, 100)), area.inside((100, 300))
    assert abs(small.mean() - large.mean()) < 0.02 and large[41:79, 31:89].all() and area.share == small.mean()


def test_the_nearest_folder_decides():
    areas = (box(0, 0, 9, 9), box(0, 0, 8, 8, folder="lot1"), box(0, 0, 7, 7, folder="@cam/b"))
    names = {"a.png": "", "lot1/a.png": "lot1", "lot10/a.png": "", "@cam/b/c/a.png": "@cam/b", "cam/b/a.png": "@cam/b"}
    assert {name: area_of(areas, name).folder for name in names} == names
    assert area_of(areas[1:], "a.png") is None


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ({"width": 10, "height": 0, "polygons": [{"points": [[0, 0], [1, 0], [1, 1]]}]}, "pixels"),
        ({"width": 10, "height": 10, "polygons": []}, "needs a polygon"),
        ({"width": 10, "height": 10, "polygons": [{"points": [[0, 0], [1, 0]]}]}, "three corners"),
        ({"width": 10, "height": 10, "polygons": [{"points": [[0, 0], [1, 0], [1, "a"]]}]}, "three corners"),
        ({"width": 10, "height": 10, "polygons": [{"points": [[0, 0], [1, 0], [1, 1]], "hole": 1}]}, "not known"),
        ([], "needs width"),
    ],
)
def test_a_damaged_area_is_refused_with_the_reason(content, part):
    with pytest.raises(ValueError, match=part):
        InspectionArea.from_json(content)
    with pytest.raises(SettingsError, match=part):
        settings_from_json({"format": 1, "task": "segmentation", "name": "n", "areas": [content]})


def test_settings_keep_areas_and_those_without_have_the_former_file(tmp_path):
    plain, areas = gray_settings(), (box(1, 2, 30, 40), box(1, 2, 30, 40, folder="lot1"))
    save_settings(replace(plain, areas=areas), tmp_path / "model.json")
    assert load_settings(tmp_path / "model.json").areas == areas
    save_settings(plain, tmp_path / "model.json")
    assert "areas" not in (tmp_path / "model.json").read_text()
    with pytest.raises(SettingsError, match="different folders"):
        replace(plain, areas=(areas[0], areas[0]))


def test_outside_is_background_also_in_parts_of_an_image():
    image = spotted(np.random.default_rng(3), 50, 100)
    settings = gray_settings(min_area=(0, 0), areas=(box(20, 0, 80, 50, folder="lot1"),))
    predictor, free = Predictor(settings, pixelwise), Predictor(replace(settings, areas=()), pixelwise)
    inside = settings.areas[0].inside(image.shape)
    expected = np.where(inside, free.predict(image).mask, 0)
    result = predictor.predict(image, name="lot1/a.png", keep_probabilities=True)
    assert expected.any() and (result.mask == expected).all() and not result.scores[~inside].any()
    assert (apply_thresholds(result.class_scores, settings)[0] == expected).all()
    assert (predictor.predict(image).mask == free.predict(image).mask).all()
    part = predictor.predict(image[10:40, 15:60], name="lot1/a.png", crop=(15, 10, 100, 50))
    assert (part.mask == expected[10:40, 15:60]).all()
    probabilities = predictor.probabilities(image, name="lot1/a.png")
    assert (probabilities[0, ~inside] == 1).all() and np.allclose(probabilities.sum(axis=0), 1)


def test_a_verdict_does_not_depend_on_what_lies_outside():
    def mean(batch: np.ndarray) -> np.ndarray:
        bright = 1 / (1 + np.exp(-8 * batch.mean(axis=(1, 2, 3))))
        return np.stack([bright, 1 - bright], axis=1).astype(np.float32)

    options = {"mean": (0.5,), "std": (0.5,), "verdicts": ("bright", "dark"), "input_size": 32}
    settings = ModelSettings(task="classification", name="n", areas=(box(20, 0, 80, 50),), **options)
    image = np.full((50, 100), 150, np.uint8)
    fixture = image.copy()
    fixture[:, 85:] = 0
    here, there = (Predictor(settings, mean).predict(each) for each in (image, fixture))
    assert here.probabilities == there.probabilities and here.verdict == "bright"
    free = Predictor(replace(settings, areas=()), mean)
    assert free.predict(image).probabilities != free.predict(fixture).probabilities
