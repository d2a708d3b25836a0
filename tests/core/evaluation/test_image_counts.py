"""Facts of single pictures: regions by size, and intervals by drawing pictures anew."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.evaluation.image_counts import ANY, ENOUGH, count_image, dice, dice_interval, size_edges
from workbench.core.evaluation.metrics import SegmentationMeter
from workbench.core.project.project import DONT_CARE


def pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    truth, message = np.zeros((60, 80), np.uint8), np.zeros((60, 80), np.uint8)
    for mask in (truth, message):
        for _ in range(rng.integers(0, 4)):
            y, x = rng.integers(0, 50), rng.integers(0, 70)
            mask[y : y + rng.integers(2, 9), x : x + rng.integers(2, 9)] = rng.integers(1, 3)
    keep = rng.random(truth.shape) < 0.9
    message = np.where((truth > 0) & keep & (rng.random() < 0.7), truth, message)
    truth[:5, :9] = DONT_CARE
    return truth, message


def test_the_sums_are_those_of_the_meter():
    rng = np.random.default_rng(0)
    meter, facts = SegmentationMeter({1: "a", 2: "b"}), []
    for number in range(40):
        truth, message = pair(rng)
        meter.add(truth, message)
        facts.append(count_image(str(number), truth, message, (1, 2)))
    report = meter.report()
    assert dice(facts) == pytest.approx(report["any_defect"]["dice"])
    for id, name in ((1, "a"), (2, "b")):
        assert dice(facts, id) == pytest.approx(report["per_class"][name]["dice"])
        of_class = [defect.found for each in facts for defect in each.defects if defect.class_id == id]
        assert len(of_class) == report["per_class"][name]["defects"] > 10
        assert np.mean(of_class) == pytest.approx(report["per_class"][name]["recall_defects"])
        low, high = report["per_class"][name]["recall_interval"]
        assert low < np.mean(of_class) < high
    assert sum(each.false for each in facts) == report["regions"]["false"] > 0
    assert sum(each.missed for each in facts) == report["regions"]["defects"] - report["regions"]["found"] > 0


def test_an_interval_covers_and_is_given_for_enough_images_only():
    """Of pictures whose Dice is known by construction, 19 of 20 intervals or so hold it."""
    rng = np.random.default_rng(3)
    real = np.ones((1, 100), bool)

    def sample(count: int) -> list:
        facts = []
        for _ in range(count):
            message = np.arange(100)[None] < 100 * rng.beta(4, 2)
            facts.append(count_image("", real.astype(np.uint8), message.astype(np.uint8), (1,)))
        return facts

    true = dice(sample(4000))
    assert true is not None
    inside = 0
    for _ in range(60):
        low, high = dice_interval(sample(25))
        inside += low <= true <= high
    assert 50 <= inside <= 60
    few = sample(ENOUGH - 1) + [count_image("", np.zeros((1, 9), np.uint8), np.ones((1, 9), np.uint8), (1,))]
    assert dice_interval(few) is None and dice(few, ANY) is not None
    some = sample(12)
    assert dice_interval(some, 1) == dice_interval(some, 1)


def test_nothing_to_find_and_nothing_found_is_no_score():
    empty = np.zeros((5, 5), np.uint8)
    assert dice([count_image("", empty, empty, (1,))]) is None


@pytest.mark.parametrize(
    ("areas", "edges"), [([5] * 30, []), ([1, 2, 3], []), (list(range(1, 100)), [34, 66]), ([4] * 5 + [900] * 9, [])]
)
def test_sizes_are_parted_where_there_are_sizes(areas, edges):
    assert size_edges(areas) == edges
