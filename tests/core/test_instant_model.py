"""Linear head on the pretrained features: what it learns from a few labels."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from tests.spot_images import PIT, scene
from workbench.core.frozen_encoder import FrozenEncoder
from workbench.core.instant_model import (
    FrozenFeatures,
    LabeledCells,
    cross_fit,
    fit_head,
    label_cells,
    labeled_cells,
    read_features,
    value_range,
)

RUST = 3


@pytest.fixture(scope="module")
def read() -> Callable[..., FrozenFeatures]:
    encoder = FrozenEncoder()

    def read(image: np.ndarray, most: int = 1024) -> FrozenFeatures:
        features = read_features(encoder, image, value_range([image]), most)
        assert features is not None
        return features

    return read


def learned(read, *scenes: tuple[np.ndarray, np.ndarray], done: bool = True) -> list[LabeledCells]:
    cells = [labeled_cells(read(image), mask, done=done) for image, mask in scenes]
    return [one for one in cells if one is not None]


def dice(found: np.ndarray, mask: np.ndarray) -> float:
    return 2 * np.count_nonzero(found & (mask > 0)) / (np.count_nonzero(found) + np.count_nonzero(mask))


@pytest.mark.parametrize("kind", ["gray", "16 bit", "color", "float"])
def test_defect_is_found_in_another_image_after_one_label(read, kind):
    def converted(image: np.ndarray) -> np.ndarray:
        if kind == "16 bit":
            return image.astype(np.uint16) * 16  # of a camera with 12 bits
        if kind == "float":
            return image.astype(np.float32) / 1000
        return np.repeat(image[:, :, None], 3, axis=2) if kind == "color" else image

    image, mask = scene(0, (40, 30))
    other, other_mask = scene(1, (100, 70))
    head = fit_head(learned(read, (converted(image), mask)))
    assert head is not None and head.ids == (PIT,)
    (scores,) = head.scores(read(converted(other)))
    assert scores.shape == other.shape and scores.dtype == np.uint8
    assert dice(scores >= 128, other_mask) > 0.6


def test_large_image_is_reduced_or_read_in_tiles(read):
    image, mask = scene(0, (540, 300), (40, 500), size=(620, 700))
    reduced, full = read(image, 350), read(image)
    assert (reduced.cell, full.cell) == (16, 8)
    assert full.shape == (78, 88) and reduced.shape == (39, 44)
    whole = FrozenEncoder().image_levels(image, value_range([image]))
    error = abs(full.levels[0][40:] - whole[2]).max(axis=0)
    assert np.median(error) < 0.02 * abs(whole[2]).max(), "tiles agree with the whole image except near their edges"
    for features, least in ((reduced, 0.4), (full, 0.6)):
        (scores,) = fit_head([labeled_cells(features, mask, done=True)]).scores(features)
        assert dice(scores >= 128, mask) > least


def test_ignored_and_unlabeled_pixels_have_no_weight(read):
    image, mask = scene(0, (40, 30))
    mask[:, 80:] = 254
    mask[80:] = 255
    labels = label_cells(read(image), mask, done=True)
    weights = labels.weights.reshape(15, 20)
    assert weights[:10, :10].all() and not weights[10:].any() and not weights[:, 10:].any()
    assert set(labels.shares) == {PIT}


def test_unpainted_cells_count_less_before_the_image_is_done(read):
    features = read(scene(0, (40, 30))[0])
    mask = np.zeros((120, 160), np.uint8)
    mask[32:40, 48:56] = PIT
    weights = label_cells(features, mask, done=False).weights.reshape(15, 20)
    assert weights[4, 6] == 1 and weights[4, 7] == 0 and 0 < weights[14, 19] < 1
    assert label_cells(features, mask, done=True).weights.all()
    assert labeled_cells(features, np.zeros_like(mask), done=False) is None, "nothing is painted yet"
    assert labeled_cells(features, np.zeros_like(mask), done=True) is not None, "a good image"


def test_only_painted_classes_exist(read):
    image, mask = scene(0, (40, 30), (100, 70))
    mask[70:94, 100:124] = RUST
    assert fit_head(learned(read, (image, mask))).ids == (PIT, RUST)
    assert fit_head(learned(read, scene(1))) is None, "no defect"
    assert fit_head([]) is None


def test_fit_from_an_earlier_head_gives_the_same(read):
    cells = learned(read, scene(0, (40, 30)), scene(1, (90, 60)), scene(2))
    early = fit_head(cells[:1])
    features = cells[1].features
    again, fresh = fit_head(cells, early).probabilities(features), fit_head(cells).probabilities(features)
    np.testing.assert_allclose(again, fresh, atol=0.05)


def test_score_is_of_images_of_other_groups(read):
    scenes = [scene(seed, (10 * seed, 8 * seed)) for seed in range(6)]
    cells = {f"{number}": one for number, one in enumerate(learned(read, *scenes))}
    assert cross_fit(cells, {key: key for key in cells}) > 0.6
    assert cross_fit(cells, dict.fromkeys(cells, "part")) is None, "all images are of one part"
    assert cross_fit(cells, {key: key for key in cells}, cancelled=lambda: True) is None
    wrong = np.zeros((120, 160), np.uint8)
    wrong[:30] = PIT  # a label that no other image confirms
    cells["0"] = labeled_cells(read(scenes[0][0]), wrong, done=True)
    assert cross_fit(cells, {key: key for key in cells}, ["0"]) < 0.3


def test_paddle_is_not_imported():
    code = "import workbench.core.instant_learner, sys; sys.exit('paddle' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
