"""Learner of the instant overlay, with images of several sizes and labels that change."""

from __future__ import annotations

import numpy as np
import pytest

from tests.spot_images import scene
from workbench.core import instant_learner
from workbench.core.instant_learner import InstantLearner, InstantPrediction, ShownImage
from workbench.core.project import annotation
from workbench.core.project.image_row import ImageRow, read_row
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

PLACES = {"a.png": (40, 30), "b.png": (100, 70), "c.png": (10, 60)}


@pytest.fixture
def project(tmp_path):
    """Project of three images with one defect each; that of b.png is labeled."""
    with Project.create(tmp_path / "project", classes=["pit"]) as project:
        for number, (key, place) in enumerate(PLACES.items()):
            image, mask = scene(number, place)
            write_png(project.image_path(key), image)
            if key == "b.png":
                annotation.save_mask(project, key, mask)
                annotation.save_note(project, key, annotation.Note(status="done"))
        yield project


def update(learner: InstantLearner, shown: ShownImage, *rows: ImageRow, cancelled=lambda: False) -> list:
    reports: list[InstantPrediction] = []
    learner.update(shown, {row.key: row for row in rows}, [], reports.append, cancelled)
    return reports


def is_found(prediction: InstantPrediction, key: str) -> bool:
    x, y = PLACES[key]
    return prediction.maps.scores[y + 4 : y + 20, x + 4 : x + 20].mean() > 128


def shown(key: str, mask: np.ndarray, *, edits: int = 0, done: bool = False, next_key: str | None = None) -> ShownImage:
    image = scene(list(PLACES).index(key), PLACES[key])[0]
    return ShownImage(key, image, mask, edits, done, next_key)


def test_large_images_are_shown_reduced_first_and_then_in_full(project, monkeypatch):
    monkeypatch.setattr(instant_learner, "REDUCED", 80)
    learner, row = InstantLearner(project), read_row(project, "b.png")
    empty = np.zeros((120, 160), np.uint8)
    reports = update(learner, shown("a.png", empty), row)
    areas = [prediction.maps.settings.min_area[0] for prediction in reports]
    assert areas[0] == 16**2 and areas[-1] == 8**2 and is_found(reports[-1], "a.png")
    painted = scene(0, PLACES["a.png"])[1]
    again = update(learner, shown("a.png", painted, edits=1), row)
    assert {prediction.maps.settings.min_area[0] for prediction in again} == {8**2}, "no return to the reduced image"
    assert again[-1].images == 2


def test_features_of_the_next_image_are_ready(project):
    learner = InstantLearner(project)
    painted = scene(0, PLACES["a.png"])[1]
    update(learner, shown("a.png", painted, next_key="c.png"))
    assert [key for key, *_ in learner._features] == ["a.png", "c.png"]


def test_canceled_update_is_continued(project):
    learner, row = InstantLearner(project), read_row(project, "b.png")
    empty = np.zeros((120, 160), np.uint8)
    assert not update(learner, shown("a.png", empty), row, cancelled=lambda: True)
    assert is_found(update(learner, shown("a.png", empty), row)[-1], "a.png")


def test_removed_and_unreadable_labels_are_forgotten(project):
    learner, row = InstantLearner(project), read_row(project, "b.png")
    empty = np.zeros((120, 160), np.uint8)
    assert update(learner, shown("a.png", empty), row)
    assert not update(learner, shown("a.png", empty)), "nothing is labeled any more"
    project.mask_path("b.png").write_bytes(b"no image")
    assert not update(InstantLearner(project), shown("a.png", empty), row)


def test_a_dark_first_image_does_not_decide_the_range_of_gray_values(tmp_path):
    """Values of 12 bits in 16; the first image is empty."""
    with Project.create(tmp_path / "deep", classes=["pit"]) as project:
        images = [np.full((64, 64), 40, np.uint16), *(np.linspace(0, 4000, 64 * 64).reshape(64, 64) for _ in range(3))]
        for number, image in enumerate(images):
            write_png(project.image_path(f"{number}.png"), image.astype(np.uint16))
        learner = InstantLearner(project)
        update(learner, ShownImage("0.png", images[0], np.ones((64, 64), np.uint8), 1, done=False))
        assert learner._settings is not None and learner._settings.high > 3900 and learner._settings.low <= 40
