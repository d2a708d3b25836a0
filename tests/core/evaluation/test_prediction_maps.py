"""What a model saw, read with other thresholds: to the byte what the model would then say."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.core.evaluation.gray_network import Gray
from tests.inference.conftest import gray_settings, spotted
from workbench.core.evaluation.prediction_maps import PredictionMaps
from workbench.inference.predictor import Predictor


@pytest.fixture
def picture() -> np.ndarray:
    return spotted(np.random.default_rng(1))


def seen_of(picture: np.ndarray, settings=None) -> PredictionMaps:
    settings = settings or gray_settings()
    found = Predictor(settings, Gray()).predict(picture, keep_probabilities=True)
    return PredictionMaps(found.mask, found.scores, found.class_scores, settings)


@pytest.mark.parametrize("thresholds", [(0.5, 0.6), (0.01, 0.99), (0.8, 0.2), (1.0, 1.0)])
def test_other_thresholds_give_what_the_network_would_give_with_them(picture, thresholds):
    seen = seen_of(picture)
    requests = Predictor(dataclasses.replace(gray_settings(), thresholds=thresholds), Gray()).predict(picture)
    assert seen.adjustable and np.array_equal(seen.with_thresholds(thresholds), requests.mask)


def test_a_single_class_needs_no_more_than_the_scores(picture):
    one = gray_settings()
    one = dataclasses.replace(one, classes=one.classes[:1], thresholds=(0.5,), min_area=(0,))
    whole = seen_of(picture)
    seen = PredictionMaps(np.zeros_like(whole.mask), whole.planes[0], None, one)
    assert seen.adjustable and np.array_equal(seen.with_thresholds((0.3,)) > 0, whole.planes[0] >= 0.3 * 255)
    assert not PredictionMaps(whole.mask, whole.scores, None, gray_settings()).adjustable


def test_where_the_model_did_not_predict_stays_unknown(picture):
    seen = seen_of(picture)
    mask = seen.mask.copy()
    mask[:40] = 255
    part = dataclasses.replace(seen, mask=mask)
    assert (part.with_thresholds((0.01, 0.01))[:40] == 255).all() and (part.uncertainty()[:40] == 0).all()


def test_uncertainty_is_how_close_the_two_likeliest_answers_are(picture):
    rng = np.random.default_rng(2)
    for classes in (1, 2, 4):
        shares = rng.dirichlet(np.full(classes + 1, 0.3), (30, 40))
        planes = np.rint(255 * np.moveaxis(shares[..., 1:], -1, 0)).astype(np.uint8)
        ground = np.clip(255 - planes.astype(int).sum(axis=0), 0, 255)
        ordered = np.sort(np.concatenate([planes.astype(int), ground[None]]), axis=0)
        expected = 255 - (ordered[-1] - ordered[-2])
        seen = PredictionMaps(np.zeros((30, 40), np.uint8), planes.max(axis=0), planes)
        assert np.abs(seen.uncertainty().astype(int) - expected).max() <= 0
