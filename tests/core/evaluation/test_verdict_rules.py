"""Choice of the verdict rule by budget and cost, and its evaluation on images that it was not chosen on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.core.evaluation.ranked_images import image, images_of
from workbench.core.evaluation.verdict_rules import RuleChoice, choose_rule, evaluate_rule, rule_note, split_in_half
from workbench.inference.region_table import RegionLimit
from workbench.inference.verdict_rule import VerdictRule, rejects


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60, unique=True), st.integers(1, 50))
def test_budget_is_the_conformal_quantile_of_the_good_images(scores, budget):
    threshold = choose_rule(RuleChoice("budget", budget), images_of(scores, [2000])).mass
    rank = math.ceil((len(scores) + 1) * (1 - budget / 100) - 1e-9)
    if rank > len(scores):
        assert threshold == pytest.approx(1.1 * max(scores), abs=1e-3)
    else:
        expected = sorted(scores)[rank - 1]
        assert threshold >= expected and [s > threshold for s in scores] == [s > expected for s in scores]


def test_budget_holds_on_average_for_new_parts():
    """Each group of five images has a common offset; with one vote per image the budget would be exceeded."""
    rng = np.random.default_rng(3)
    false = []
    for _ in range(150):
        offsets, noise = rng.exponential(100, 25), rng.exponential(3, (25, 5))
        images = [image(float(offsets[g] + noise[g, i]), False, f"{g}") for g in range(24) for i in range(5)]
        threshold = choose_rule(RuleChoice("budget", 10), images).mass
        false.append(np.mean(offsets[24] + noise[24] > threshold))
    assert np.mean(false) < 0.13


def test_few_parts_or_images_are_stated():
    few = images_of(range(10), [50])
    assert choose_rule(RuleChoice("budget", 5), few).mass == pytest.approx(9.9)
    assert "10 good images are too few" in rule_note(RuleChoice("budget", 5), few, "same")
    assert "at least 19 are needed" in rule_note(RuleChoice("budget", 5), few, "same")
    # Its counts are not those of the threshold that the sentence names.
    assert "chosen on all other parts" in rule_note(RuleChoice("budget", 5), few, "leave_one_out")
    assert rule_note(RuleChoice("mass", 5), few, "same").id == "verdict.entered"
    parts = [image(float(n), False, f"{n % 4}") for n in range(40)]
    assert 38 <= choose_rule(RuleChoice("budget", 5), parts).mass < 39
    assert "show 4 parts" in rule_note(RuleChoice("budget", 5), parts, "same")
    assert "any region rejects" in rule_note(RuleChoice("budget", 5), images_of([], [3]), "same")
    enough = images_of(range(19), [50])
    assert rule_note(RuleChoice("budget", 5), enough, "same").id == "verdict.same_images"


def test_cost_weighs_missed_images_against_false_alarms():
    images = images_of([1, 2, 3, 4, 10], [0, 8, 20, 30])
    cheap, dear = (choose_rule(RuleChoice("cost", ratio), images).mass for ratio in (0.5, 3))
    assert 10 < cheap < 20 and 4 < dear < 8
    for one_sided in (images_of([5], []), images_of([], [5])):
        assert choose_rule(RuleChoice("cost", 5), one_sided).mass == 0


def test_threshold_lies_between_scores_so_that_rounding_changes_nothing():
    images = images_of([100.0 + n for n in range(40)], [500])
    threshold = choose_rule(RuleChoice("budget", 10), images).mass
    assert min(abs(entry.score - threshold) for entry in images) == pytest.approx(0.5)


def test_threshold_of_tiny_scores_is_not_rounded_to_zero():
    """A threshold of 0 would reject each image with a region."""
    good = [1e-6 * (1 + number) for number in range(40)]
    threshold = choose_rule(RuleChoice("budget", 10), images_of(good, [5.0])).mass
    assert sorted(good)[36] < threshold < sorted(good)[37]


def test_rule_is_measured_on_images_it_was_not_chosen_on():
    rng = np.random.default_rng(0)
    images = images_of(rng.exponential(10, 70), rng.exponential(60, 30))
    result = evaluate_rule(RuleChoice("budget", 5), images)
    assert result.method == "cross_fitted"
    assert result.rule == choose_rule(RuleChoice("budget", 5), images)  # in use is the rule chosen on all
    second = split_in_half(images)
    for half in (False, True):
        other = [entry for entry, side in zip(images, second) if side != half]
        rule = choose_rule(RuleChoice("budget", 5), other)
        own = [(entry, hit) for entry, side, hit in zip(images, second, result.rejected) if side == half]
        assert [hit for _, hit in own] == [entry.score > rule.mass for entry, _ in own]
    assert result.caught.total == 30 and result.false.total == 70
    few = images[15:74]
    result = evaluate_rule(RuleChoice("budget", 5), few)
    assert result.method == "leave_one_out" and rule_note(RuleChoice("cost", 5), few, result.method).fields["n"] == 60
    for entry, hit in zip(few, result.rejected):
        assert hit == (entry.score > choose_rule(RuleChoice("budget", 5), [e for e in few if e is not entry]).mass)
    one_defective = [*images[:20], images[80]]
    assert evaluate_rule(RuleChoice("cost", 5), one_defective).method == "same"
    assert evaluate_rule(RuleChoice("mass", 5), images).method == "same"
    fixed = evaluate_rule(RuleChoice("budget", 5), images, rule=VerdictRule("mass", 20.0), fixed=True)
    assert fixed.method == "other" and list(fixed.rejected) == [entry.score > 20 for entry in images]


def test_halves_share_no_part_and_balance_defects():
    images = [image(float(n), n % 3 == 0, f"part {n // 4}") for n in range(80)]
    sides = split_in_half(images)
    groups = [{entry.group for entry, side in zip(images, sides) if side == half} for half in (False, True)]
    assert not groups[0] & groups[1] and abs(sum(sides) - 40) <= 4
    assert sides == split_in_half(images)


def test_limits_of_the_false_alarms_count_parts():
    result = evaluate_rule(RuleChoice("mass", 100), images_of(range(30), [200]))
    assert result.false.hits == 0 and result.good_parts == 30
    assert result.false_limit == result.least_limit == pytest.approx(0.095, abs=1e-3)
    one_alarm = evaluate_rule(RuleChoice("mass", 28.5), images_of(range(30), [200]))
    assert one_alarm.false.hits == 1 and one_alarm.false_limit > 0.14 and one_alarm.least_limit == result.least_limit
    same_part = evaluate_rule(RuleChoice("mass", 100), [image(1, False, "part") for _ in range(30)])
    assert same_part.good_parts == 1 and same_part.least_limit == pytest.approx(0.95)


@pytest.mark.parametrize(
    "choice",
    [
        RuleChoice(),
        RuleChoice("cost", 3, bad=""),
        RuleChoice("mass", 0),
        RuleChoice("region", limits=(RegionLimit(2, 30, None), RegionLimit(3, None, 0.5)), good="gut", bad="schlecht"),
    ],
)
def test_choice_survives_json(choice):
    assert RuleChoice.from_json(choice.to_json()) == choice
    rule = choose_rule(choice, images_of([1], [5]))
    assert choose_rule(RuleChoice.of(rule), images_of([], [])) == rule


@pytest.mark.parametrize("by, value", [("budget", 0), ("budget", 100), ("cost", 0), ("mass", -5), ("area", 3)])
def test_impossible_choice_is_refused(by, value):
    with pytest.raises(ValueError):
        RuleChoice(by, value)


def test_region_rule_without_limits_is_refused():
    with pytest.raises(ValueError, match="limits"):
        RuleChoice("region")


def test_rule_of_few_images_is_not_stated_to_be_perfect():
    """Ten good and ten defective images that overlap: measured on the images that chose it, the rule misses none."""
    told, true = [], []
    rng = np.random.default_rng(0)
    unseen = images_of(rng.normal(40, 12, 400), rng.normal(60, 12, 400))
    for _ in range(40):
        images = images_of(rng.normal(40, 12, 10), rng.normal(60, 12, 10))
        result = evaluate_rule(RuleChoice("cost", 10), images)
        told.append(result.caught.value)
        true.append(np.mean([rejects(result.rule, entry.regions) for entry in unseen if entry.defective]))
    assert abs(np.mean(told) - np.mean(true)) < 0.04 and np.mean(told) < 0.97
