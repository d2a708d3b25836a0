"""Intervals with the part as the unit. tests/benchmarks/intervals.py simulates more layouts and draws."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.benchmarks.intervals import FIGURES, SPREADS, simulate, simulate_new_part
from workbench.core.evaluation import intervals
from workbench.core.evaluation.intervals import Interval, NewPart

FIGURE = {figure.name: figure for figure in FIGURES}
PIXELS = np.array([[80, 10, 10], [60, 5, 30], [200, 40, 10], [50, 50, 50], [90, 0, 10], [10, 3, 2]], float)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("share, beta", (0.9, 0.3)),
        pytest.param("share, beta", (0.98, 0.1), marks=pytest.mark.slow),
        ("share, copied", (0.5, 0.3)),
        ("precision of regions", (0.9, 0.1)),
        ("macro F1", (0.9, 0.3)),
        ("Dice", (1.0,)),
        pytest.param("IoU", (0.5,), marks=pytest.mark.slow),
        ("Dice, mean of classes", (1.0,)),
        ("false alarms per image", (2.0, 1.0)),
        ("kappa", (0.5, 0.1, 0.3)),
        pytest.param("kappa", (0.5, 0.02, 0.0), marks=pytest.mark.slow),
        pytest.param("kappa", (0.1, 0.1, 0.0), marks=pytest.mark.slow),
        ("difference of shares", (0.9, 0.1)),
        ("difference of Dice", (1.0,)),
    ],
)
def test_intervals_contain_the_true_value(name, setting):
    """Of 150 simulated evaluations, which the previous methods failed in up to half where parts repeat."""
    layouts = itertools.product((5, 20), (1, 10))
    cells = [simulate(FIGURE[name], parts, images, setting, 150, 2000) for parts, images in layouts]
    assert np.mean([cell.coverage for cell in cells]) >= 0.93
    assert min(cell.coverage for cell in cells) >= 0.87  # 0.90 less one and a half standard errors of 150 draws
    assert not any(cell.left_out for cell in cells if cell.parts >= 10)


@pytest.mark.parametrize(("name", "setting"), [("share, beta", (0.9, 0.1)), ("Dice", (0.5,)), ("Dice", (1.0,))])
@pytest.mark.parametrize(("parts", "images"), [(10, 4), (20, 1)])
def test_intervals_are_not_much_wider_than_the_values_vary(name, setting, parts, images):
    assert simulate(FIGURE[name], parts, images, setting, 100, 4000).width <= 1.5


def test_images_of_one_part_widen_the_interval():
    """The same 90 of 100 images, once of a hundred parts, once of ten that are all right or all wrong."""
    apart = intervals.share_interval([1] * 90 + [0] * 10, [1] * 100)
    together = intervals.share_interval([10] * 9 + [0], [10] * 10)
    assert apart.low > 0.82 and together.low < 0.65 and together.high > 0.95
    assert apart.method == together.method == "share"


@pytest.mark.parametrize(
    ("successes", "trials", "parts"),
    [([4] * 4, [4] * 4, 4), ([3], [4], 1), ([], [], 0), ([1, 1, 0, 0, 0], [1, 1, 0, 0, 0], 2)],
)
def test_below_five_parts_the_reason_is_stated(successes, trials, parts):
    reason = f"only {parts} {'part' if parts == 1 else 'parts'}, at least 5 are needed"
    assert intervals.share_interval(successes, trials) == reason
    assert intervals.rate_interval(successes, trials) == reason


def test_parts_without_labels_do_not_count_for_dice():
    good = np.concatenate([PIXELS[:3], [[0, 7, 0]] * 40])
    assert intervals.ratio_interval(good, intervals.dice) == "only 3 parts have such a label, at least 5 are needed"


def test_all_agree_is_no_certainty():
    found = intervals.share_interval([4] * 10, [4] * 10)
    assert found.high == 1 and 0.8 < found.low < 0.95
    missed = intervals.share_interval([0] * 10, [4] * 10)
    assert missed.low == 0 and missed.high == pytest.approx(1 - found.low)
    assert intervals.difference_interval([[1, 1]] * 6, [[1, 1]] * 6, intervals.ratio).high > 0.1


def test_interval_contains_its_value():
    rng = np.random.default_rng(0)
    for _ in range(200):
        parts, classes = rng.integers(5, 30), rng.integers(1, 4)
        sums = rng.integers(0, rng.choice([2, 5, 5000]), (parts, classes, 3))
        for statistic in (intervals.dice, intervals.iou):
            found = intervals.ratio_interval(sums, statistic)
            value = np.nanmean(statistic(sums.sum(axis=0).astype(float)))
            assert isinstance(found, str) or 0 <= found.low <= value <= found.high <= 1


def test_metrics_of_sums():
    totals = PIXELS.sum(axis=0)
    assert totals.tolist() == [490, 108, 112]
    assert intervals.dice(totals) == 980 / 1200 and intervals.iou(totals) == 490 / 710
    assert intervals.f1(np.array([8.0, 10, 9])) == 16 / 19 and intervals.ratio(np.array([3.0, 4])) == 0.75
    assert np.isnan(intervals.dice(np.array([0.0, 5, 0]))) and np.isnan(intervals.ratio(np.zeros(2)))


def test_sums_over_parts():
    sums = intervals.sum_by_part([[1, 2], [3, 4], [5, 6]], ["b", "a", "b"])
    assert sums.tolist() == [[6, 8], [3, 4]]


def test_paired_difference_is_narrower_than_the_intervals_of_both():
    rng = np.random.default_rng(1)
    middle = rng.uniform(0.3, 0.95, 20)
    first, second = (np.stack([1000 * share, 200 * share, 1000 * (1 - share)], -1) for share in (middle, middle * 0.97))
    difference = intervals.difference_interval(first, second, intervals.dice)
    alone = intervals.ratio_interval(first, intervals.dice)
    assert difference.high < 0 and difference.high - difference.low < (alone.high - alone.low) / 5
    error = intervals.difference_error(first, second, intervals.dice)
    assert error == pytest.approx((difference.high - difference.low) / 2 / 2.09, rel=0.05)
    assert intervals.difference_error(first[:1], second[:1], intervals.dice) is None


def test_a_class_on_one_part_does_not_remove_the_interval_of_the_mean():
    sums = np.zeros((12, 2, 3))
    sums[:, 0] = np.tile(PIXELS, (2, 1))
    sums[3, 1] = (5, 5, 5)
    mean, alone = intervals.ratio_interval(sums, intervals.dice), intervals.ratio_interval(sums[:, 1], intervals.dice)
    assert isinstance(mean, Interval) and alone == "only 1 part has such a label, at least 5 are needed"


def test_one_new_part_keeps_the_limit_with_the_stated_probability():
    for spread in SPREADS:
        stated, kept = simulate_new_part(20, 4, spread, 600)
        assert stated == pytest.approx(19 / 21) and kept == pytest.approx(stated, abs=0.04)


def test_one_new_part():
    sums = np.stack([np.arange(1, 20), np.full(19, 20)], axis=-1)
    assert intervals.new_part(sums, intervals.ratio) == NewPart(2 / 20, 0.9)
    few = intervals.new_part(sums[:6], intervals.ratio)
    assert few == "A statement on a single new part needs 9 parts. Only 6 parts count in the metric."
    assert intervals.new_part(sums[:9], intervals.ratio) == NewPart(1 / 20, 0.9)
