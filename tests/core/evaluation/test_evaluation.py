"""Evaluation: counts from stored probabilities equal those of the whole image at every operating point."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy  # loads its modules when they are used first
from hypothesis import given, settings as limits, strategies as some

from tests.core.evaluation.mask_counts import count_masks, figures_of
from workbench.core.evaluation import stored_predictions as kept
from workbench.core.evaluation.confidence import digits_supported, garwood_interval, student_quantile
from workbench.core.evaluation.figures import mask_figures
from workbench.core.evaluation.operating_point import (
    AREAS,
    THRESHOLDS,
    OperatingPoint,
    OperatingPointSweep,
    count_thresholds,
)
from workbench.core.evaluation.stored_predictions import ANY, collect_prediction, cut_patches, evaluate_prediction
from workbench.inference.model_settings import ClassSettings, ModelSettings
from workbench.inference.predictor import apply_thresholds
from workbench.inference.regions import measure_classes, verdict_table

CLASSES = (ClassSettings(1, "scratch", "#ff0000"), ClassSettings(4, "pit", "#00ff00"))
MODEL = ModelSettings(task="segmentation", name="m", classes=CLASSES, thresholds=(0.5, 0.5), min_area=(0, 0))
EIGHT = np.ones((3, 3), int)


def scene(seed: int, height: int = 70, width: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Return a label with two classes and ignored areas, and probabilities that match a half of it."""
    rng = np.random.default_rng(seed)
    truth = np.zeros((height, width), np.uint8)
    logits = np.full((3, height, width), -3.0)
    logits[0] = 2
    for _ in range(rng.integers(0, 7)):
        y, x, high, wide = rng.integers(0, height), rng.integers(0, width), *rng.integers(1, 18, 2)
        which = int(rng.integers(0, 2))
        part = (slice(y, y + high), slice(x, x + wide))
        if rng.random() < 0.7:
            truth[part] = (1, 4)[which]
        if rng.random() < 0.7:
            logits[(1 + which, *part)] += rng.uniform(2, 8)
    truth[: rng.integers(0, 12), : rng.integers(0, 30)] = 254
    logits += rng.normal(0, 1.2, logits.shape)
    shares = np.exp(logits) / np.exp(logits).sum(axis=0)
    return truth, np.rint(255 * shares[1:]).astype(np.uint8)


points = some.builds(
    OperatingPoint,
    some.tuples(some.floats(0.05, 1), some.floats(0.05, 1)),
    some.tuples(some.integers(0, 60), some.integers(0, 60)),
)


@limits(max_examples=60, deadline=None)
@given(seed=some.integers(0, 10_000), point=points)
def test_counts_do_not_depend_on_the_patches(seed, point):
    truth, scores = scene(seed)
    found = []
    for most in (0, 1 << 30):  # cut into patches; as a whole
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kept, "MAX_UNCUT_PIXELS", most)
            stored = collect_prediction("a", truth, cut_patches(scores), (1, 4))
        found.append(evaluate_prediction(stored, point.on(MODEL)).counts)
    assert found[0] == found[1]


@limits(max_examples=40, deadline=None)
@given(
    seed=some.integers(0, 10_000),
    point=points,
    border=some.integers(0, 40),
    small=some.booleans(),
    exponents=some.sampled_from(((1, 0), (8, 0), (32, 2))),
)
def test_verdict_counts_the_same_regions_as_a_prediction(seed, point, border, small, exponents):
    truth, scores = scene(seed)
    settings = dataclasses.replace(point, verdict_border=border).on(
        dataclasses.replace(MODEL, anomaly_exponent=exponents[0], border_exponent=exponents[1])
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "MAX_UNCUT_PIXELS", 1 << 30 if small else 0)
        found = collect_prediction("a", truth, cut_patches(scores), (1, 4))
    evaluated = evaluate_prediction(found, settings).regions
    mask, highest = apply_thresholds(scores, settings)
    predicted = verdict_table(mask, highest, measure_classes(mask, highest, settings), settings)
    assert evaluated.anomaly_score == predicted.anomaly_score
    assert sorted(map(tuple, evaluated.box.tolist())) == sorted(map(tuple, predicted.box.tolist()))
    assert sorted(evaluated.area.tolist()) == sorted(predicted.area.tolist())


@limits(max_examples=40, deadline=None)
@given(seeds=some.lists(some.integers(0, 10_000), min_size=1, max_size=3, unique=True), point=points)
def test_metrics_agree_with_other_implementations(seeds, point):
    """Pixels by scikit-learn; regions by scipy."""
    from sklearn.metrics import f1_score, jaccard_score  # not by every process that collects this test

    truths, masks, evaluated = [], [], []
    for seed in seeds:
        truth, scores = scene(seed)
        evaluated.append(
            evaluate_prediction(collect_prediction(str(seed), truth, cut_patches(scores), (1, 4)), point.on(MODEL))
        )
        truths.append(truth)
        masks.append(reference_prediction(scores, point))
    result = mask_figures([each.counts for each in evaluated], ["g"] * len(evaluated), {1: "scratch", 4: "pit"})
    real, message = np.concatenate([t.ravel() for t in truths]), np.concatenate([m.ravel() for m in masks])
    counts = real < 254
    real, message = real[counts], message[counts]
    for id in (1, 4):
        dice, iou = (result.get(name, "class", id).value for name in ("dice", "iou"))
        assert (dice is None) == (not (real == id).any())
        if dice is not None:
            assert dice == pytest.approx(f1_score(real == id, message == id), abs=1e-9)
            assert iou == pytest.approx(jaccard_score(real == id, message == id), abs=1e-9)
    if result.get("dice").value is not None:
        assert result.get("dice").value == pytest.approx(f1_score(real > 0, message > 0), abs=1e-9)
        assert result.get("iou").value == pytest.approx(jaccard_score(real > 0, message > 0), abs=1e-9)
    defects = found = false = 0
    for truth, mask in zip(truths, masks):
        for id in (1, 4):
            labels, count = scipy.ndimage.label(truth == id, EIGHT)
            if count:
                area = scipy.ndimage.sum_labels(np.ones_like(labels), labels, np.arange(1, count + 1))
                covered = scipy.ndimage.sum_labels((mask > 0) & (truth < 254), labels, np.arange(1, count + 1))
                defects, found = defects + count, found + int((covered >= np.maximum(1, 0.1 * area)).sum())
        labels, count = scipy.ndimage.label(mask > 0, EIGHT)
        for number in range(1, count + 1):
            of_region = truth[labels == number]
            touches = ((of_region > 0) & (of_region < 254)).any()
            false += not touches and 2 * np.count_nonzero(of_region < 254) >= of_region.size
    recall = result.get("recall")
    assert (recall.hits, recall.total, result.get("false_alarms").hits) == (found, defects, false)
    assert sum(row.hits for row in result.all("false_alarms", "class")) == false
    assert sum(row.total for row in result.all("recall", "size")) in (0, defects)


def reference_prediction(scores: np.ndarray, point: OperatingPoint) -> np.ndarray:
    """Predict with scipy: the most probable class at or above its threshold, without small regions."""
    levels = np.ceil(255 * np.array(point.thresholds) - 1e-9)[:, None, None]
    able = np.where(scores >= np.maximum(levels, 1), scores, 0).astype(int)
    mask = np.where(able.max(axis=0) > 0, np.array([1, 4])[able.argmax(axis=0)], 0)
    for id, least in zip((1, 4), point.min_area):
        labels, count = scipy.ndimage.label(mask == id, EIGHT)
        if count:
            area = scipy.ndimage.sum_labels(np.ones_like(labels), labels, np.arange(count + 1))
            mask[(labels > 0) & (area[labels] < least)] = 0
    return mask.astype(np.uint8)


@limits(max_examples=30, deadline=None)
@given(seed=some.integers(0, 10_000), step=some.integers(0, len(THRESHOLDS) - 1), area=some.integers(0, 6))
def test_the_curve_contains_the_counts_of_each_point(seed, step, area):
    """Exact for a single class, since no other class competes for a pixel."""
    one = dataclasses.replace(MODEL, classes=CLASSES[:1], thresholds=(0.5,), min_area=(0,))
    truth, scores = scene(seed)
    truth[truth == 4] = 0
    found = collect_prediction("a", truth, cut_patches(scores[:1]), (1,))
    sweep = OperatingPointSweep([found], [count_thresholds(found, 1)], (1,))
    point = OperatingPoint((THRESHOLDS[step],), (AREAS[area],))
    facts, curve = evaluate_prediction(found, point.on(one)).counts, sweep.curve(point, 0)
    if facts.defects:
        assert curve.recall[step] == pytest.approx(1 - facts.missed / len(facts.defects), abs=1e-9)
    assert curve.false[step] == facts.false
    if facts.regions:
        assert curve.precision[step] == pytest.approx((facts.regions - facts.false) / facts.regions, abs=1e-9)


def test_the_point_of_lowest_cost_is_the_minimum_of_the_grid():
    one = dataclasses.replace(MODEL, classes=CLASSES[:1], thresholds=(0.5,), min_area=(0,))
    found = []
    for seed in range(12):
        truth, scores = scene(seed)
        truth[truth == 4] = 0
        found.append(collect_prediction(str(seed), truth, cut_patches(scores[:1]), (1,)))
    sweep = OperatingPointSweep(found, [count_thresholds(each, 1) for each in found], (1,))

    def cost(point: OperatingPoint, escape: float) -> float:
        evaluated = [evaluate_prediction(each, point.on(one)).counts for each in found]
        return escape * sum(each.missed for each in evaluated) + sum(each.false for each in evaluated)

    for escape in (0.1, 1, 30):
        best = sweep.cheapest(OperatingPoint((0.5,), (0,)), escape)
        least = min(cost(OperatingPoint((t,), (a,)), escape) for t in THRESHOLDS[::4] for a in AREAS[::3])
        assert cost(best, escape) <= least
    dear, cheap = sweep.cheapest(OperatingPoint((0.5,), (0,)), 1000), sweep.cheapest(OperatingPoint((0.5,), (0,)), 0.01)
    missed = [sum(evaluate_prediction(each, point.on(one)).counts.missed for each in found) for point in (dear, cheap)]
    assert missed[0] < missed[1]


# --- intervals ------------------------------------------------------------------------------------------


def test_intervals_equal_published_tables():
    for count in (0, 1, 4.5, 141, 2000):
        low = scipy.stats.gamma.ppf(0.025, count) if count else 0
        assert garwood_interval(count, 7) == pytest.approx(
            [low / 7, scipy.stats.gamma.ppf(0.975, count + 1) / 7], rel=1e-9
        )
    for freedom in range(1, 60):
        assert student_quantile(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), rel=2e-3)


def test_interval_that_ignores_parts_is_too_narrow():
    rng = np.random.default_rng(5)
    groups, inside = np.repeat(np.arange(8), 15), []
    for _ in range(300):
        own = rng.gamma(2, 0.6, 8)
        low, high = garwood_interval(int(rng.poisson(own[groups]).sum()), 120)
        inside.append(low <= 1.2 <= high)
    assert np.mean(inside) < 0.6


def test_few_regions_have_no_percentage():
    assert not digits_supported(19) and digits_supported(20)


# --- alerts ---------------------------------------------------------------------------------------------


def figures(pairs):
    """Return the figures of (label, prediction) of images of as many parts."""
    return figures_of(pairs, {1: "scratch", 4: "pit"})


def test_a_model_that_predicts_the_same_for_every_image_gives_an_alert():
    bad, good = np.zeros((20, 20), np.uint8), np.zeros((20, 20), np.uint8)
    bad[5:9, 5:9], bad[12:15, 12:15] = 1, 4
    nothing, spot = np.zeros_like(bad), np.zeros_like(bad)
    spot[:3, :3] = 1
    empty = figures([(bad, nothing)] + [(good, nothing)] * 6)
    assert empty.alerts == ("only_background",) and empty.get("dice").value == 0
    assert figures([(bad, spot)] + [(good, spot)] * 6).alerts == ("every_good_picture", "one_class")
    assert "everything" in figures([(bad, np.ones_like(bad))]).alerts
    assert figures([(bad, bad)] + [(good, nothing)] * 6).alerts == ()


def test_good_images_without_prediction_have_no_dice():
    good = np.zeros((20, 20), np.uint8)
    result = figures([(good, good)] * 9)
    assert [result.get(id).value for id in ("dice", "iou", "recall")] == [None] * 3
    assert result.good == 9 and result.get("false_alarms").value == 0
    assert result.get("false_alarms").edges[1] > 0.3
    assert {ANY, 1, 4} == set(count_masks(good, good, (1, 4)).pixels)
