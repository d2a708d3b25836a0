"""Prediction of an image at other thresholds, equal to that of the model with them; maturity of a prediction."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.core.evaluation.gray_network import Gray
from tests.inference.conftest import gray_settings, spotted
from workbench.core.evaluation.prediction_maps import (
    LabelFacts,
    PredictionFacts,
    PredictionMaps,
    maturity,
    measure_prediction,
    trained_maturity,
)
from workbench.core.project.image_row import ImageRow
from workbench.core.project.project import DONT_CARE, NOT_LABELED
from workbench.inference.predictor import Predictor


@pytest.fixture
def picture() -> np.ndarray:
    return spotted(np.random.default_rng(1))


def maps_of(picture: np.ndarray, settings=None) -> PredictionMaps:
    settings = settings or gray_settings()
    found = Predictor(settings, Gray()).predict(picture, keep_probabilities=True)
    return PredictionMaps(found.mask, found.scores, found.class_scores, settings)


@pytest.mark.parametrize("thresholds", [(0.5, 0.6), (0.01, 0.99), (0.8, 0.2), (1.0, 1.0)])
def test_other_thresholds_give_the_prediction_of_the_network_with_them(picture, thresholds):
    maps = maps_of(picture)
    requests = Predictor(dataclasses.replace(gray_settings(), thresholds=thresholds), Gray()).predict(picture)
    assert maps.adjustable and np.array_equal(maps.with_thresholds(thresholds), requests.mask)


def test_a_single_class_needs_one_probability_map_only(picture):
    one = gray_settings()
    one = dataclasses.replace(one, classes=one.classes[:1], thresholds=(0.5,), min_area=(0,))
    whole = maps_of(picture)
    maps = PredictionMaps(np.zeros_like(whole.mask), whole.planes[0], None, one)
    assert maps.adjustable and np.array_equal(maps.with_thresholds((0.3,)) > 0, whole.planes[0] >= 0.3 * 255)
    assert not PredictionMaps(whole.mask, whole.scores, None, gray_settings()).adjustable


def test_area_without_prediction_stays_unknown(picture):
    maps = maps_of(picture)
    mask = maps.mask.copy()
    mask[:40] = 255
    part = dataclasses.replace(maps, mask=mask)
    assert (part.with_thresholds((0.01, 0.01))[:40] == 255).all() and (part.uncertainty()[:40] == 0).all()


def test_uncertainty_is_the_margin_of_the_two_most_probable_classes(picture):
    rng = np.random.default_rng(2)
    for classes in (1, 2, 4):
        shares = rng.dirichlet(np.full(classes + 1, 0.3), (30, 40))
        planes = np.rint(255 * np.moveaxis(shares[..., 1:], -1, 0)).astype(np.uint8)
        ground = np.clip(255 - planes.astype(int).sum(axis=0), 0, 255)
        ordered = np.sort(np.concatenate([planes.astype(int), ground[None]]), axis=0)
        expected = 255 - (ordered[-1] - ordered[-2])
        maps = PredictionMaps(np.zeros((30, 40), np.uint8), planes.max(axis=0), planes)
        assert np.abs(maps.uncertainty().astype(int) - expected).max() <= 0


LABELS = LabelFacts(marked=0.01, density=8.0)
GOOD = PredictionFacts(marked=0.008, regions=3, megapixels=0.5, undecided=0.02)


def state(labels: LabelFacts = LABELS, validation: float | None = None, before: bool = False, **facts) -> str:
    found = PredictionFacts(**(vars(GOOD) | facts))
    return maturity(found, labels, validation, mature_before=before).state


def test_plausible_prediction_is_mature():
    assert state() == "mature" and maturity(GOOD, LABELS).mature
    assert state(dice=0.6) == "mature"


def test_regions_need_a_first_score_while_the_model_is_trained():
    def wanted(validation, **facts):
        found = PredictionFacts(**(vars(GOOD) | facts))
        return maturity(found, LABELS, validation, needs_score=True).state

    assert wanted(None) == "unmeasured" and wanted(0.3) == "mature" and wanted(0.02) == "wrong"
    assert wanted(None, dice=0.6) == "mature" and wanted(None, dice=0.01) == "wrong"
    assert wanted(None, marked=0.2) == "too_much"


def test_immature_predictions_have_a_reason():
    assert state(marked=0.9, regions=1) == "everything"
    assert state(marked=0.3, regions=31_109) == "scattered"
    assert state(marked=0.2) == "too_much"
    assert state(marked=0.0, regions=0) == "nothing"
    assert state(marked=0.0001, regions=5) == "nothing"
    assert state(undecided=0.8) == "uncertain"
    assert state(dice=0.01) == "wrong"
    assert not maturity(PredictionFacts(marked=0.9), LABELS).mature


def test_limits_depend_on_the_labels_and_not_on_a_step():
    plates = LabelFacts(marked=0.7, density=2.0)
    assert state(plates, marked=0.75, regions=2) == "mature"
    assert state(plates, marked=0.9, regions=2) == "everything"
    dense = LabelFacts(marked=0.02, density=900.0)
    assert state(regions=800) == "scattered" and state(dense, regions=800) == "mature"
    assert state(LabelFacts(), regions=2) == "mature"  # without an index of the labels


def test_part_around_the_labels_may_hold_all_of_them():
    facts = {"marked": 0.08, "megapixels": 1.5}
    assert state(**facts) == "too_much" and state(**facts, part=0.1) == "mature"


@pytest.mark.parametrize(
    "between", [{"marked": 0.045}, {"regions": 30}, {"undecided": 0.45}, {"dice": 0.1}, {"marked": 0.0, "regions": 0}]
)
def test_display_does_not_alternate_between_similar_predictions(between):
    """A value between the limits changes neither state."""
    assert state(**between) != "mature"
    assert state(**between, before=True) == "mature"


def test_mature_model_can_become_immature():
    for facts in ({"marked": 0.9}, {"regions": 5000}, {"undecided": 0.95}, {"dice": 0.0}):
        assert state(**facts, before=True) != "mature"


def test_poor_validation_counts_where_there_is_no_label():
    assert state(validation=0.02) == "wrong" and state(validation=0.2) == "mature"
    assert state(validation=0.02, dice=0.6) == "mature"


def test_validation_proves_that_defects_are_detected():
    larger_than_all_labels = {"marked": 0.2, "regions": 3}
    assert state(**larger_than_all_labels, validation=0.1) == "too_much"
    assert state(**larger_than_all_labels, validation=0.6) == "mature"
    assert state(marked=0.0, regions=0, validation=0.6) == "mature"  # a good image
    assert state(marked=0.95, validation=0.6) == "everything"
    assert state(regions=31_109, validation=0.6) == "scattered"


def test_facts_are_measured_in_the_predicted_part():
    mask = np.full((100, 200), NOT_LABELED, np.uint8)
    mask[:50, :100] = 0
    mask[10:20, 10:20] = 1
    mask[20:25, 10:20] = 2  # touches the other one
    scores = np.full(mask.shape, 128, np.uint8)
    scores[:50, :100] = 10
    scores[:5, :100] = 100
    facts = measure_prediction(PredictionMaps(mask, scores))
    assert facts.marked == 150 / 5000 and facts.regions == 2 and facts.megapixels == 0.005
    assert facts.part == 0.25 and facts.undecided == 0.1 and facts.dice is None
    nothing = measure_prediction(PredictionMaps(np.full((4, 4), NOT_LABELED, np.uint8), np.zeros((4, 4), np.uint8)))
    assert nothing == PredictionFacts()


def test_agreement_with_a_label_ignores_unknown_areas_and_classes():
    mask = np.zeros((40, 40), np.uint8)
    mask[0:10, 0:10] = 1
    maps = PredictionMaps(mask, mask)
    label = np.zeros_like(mask)
    assert measure_prediction(maps, label).dice is None  # no defect to agree with
    label[0:10, 0:5] = 2
    assert measure_prediction(maps, label).dice == pytest.approx(2 * 50 / 150)
    label[0:10, 5:10] = DONT_CARE
    assert measure_prediction(maps, label).dice == 1.0
    label[20:30, 0:10] = 1
    assert measure_prediction(maps, label).dice == pytest.approx(2 * 50 / 200)
    assert measure_prediction(maps, label[:20]).dice is None  # the image was replaced


def test_label_facts_are_the_greatest_of_any_image():
    rows = [
        ImageRow("a", 1000, 1000, counts=((1, 5000), (2, 5000), (DONT_CARE, 90_000)), regions=((1, 2), (2, 1))),
        ImageRow("b", 500, 500, counts=((1, 1000),), regions=((1, 3), (DONT_CARE, 50))),
        ImageRow("broken", broken="unreadable"),
    ]
    index = {row.key: row for row in rows}
    assert LabelFacts.of([*index, "no longer listed"], index) == LabelFacts(marked=0.01, density=12.0)
    assert LabelFacts.of([], index) == LabelFacts()


def trained_state(validation: float | None, **facts) -> str:
    return trained_maturity(PredictionFacts(**(vars(GOOD) | facts)), LABELS, validation).state


def test_weak_model_of_a_finished_run_is_immature():
    assert trained_state(0.02) == "wrong" and trained_state(0.02, marked=0.0001) == "wrong"
    assert trained_state(0.1, marked=0.2) == "too_much" and trained_state(0.3, regions=5000) == "scattered"
    assert trained_state(0.3, undecided=0.8) == "uncertain"
    assert trained_state(0.6, marked=0.95) == trained_state(None, marked=0.95) == "everything"


def test_finished_run_may_find_nothing_or_more_than_the_labels():
    assert trained_state(0.02, marked=0.0, regions=0) == "mature"
    assert trained_state(0.3) == "mature"
    for validation in (0.6, None):  # a model that detects defects, and one that was never measured
        assert trained_state(validation, marked=0.3, regions=5000, undecided=0.8) == "mature"
