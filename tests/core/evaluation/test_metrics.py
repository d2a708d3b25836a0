"""Metrics compared with independent implementations; degenerate predictions; regions by size; resampled intervals."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.evaluation.metrics import (
    ANY,
    ENOUGH,
    SegmentationMeter,
    VerdictMeter,
    count_image,
    dice,
    dice_interval,
    size_edges,
    wilson,
)
from workbench.core.project.project import DONT_CARE

CLASSES = {1: "scratch", 2: "pit"}


def flood(where: np.ndarray) -> list[set[tuple[int, int]]]:
    """Return the 8-connected components, found by a plain search."""
    left = set(zip(*np.nonzero(where)))
    parts = []
    while left:
        pending = [left.pop()]
        part = set(pending)
        while pending:
            y, x = pending.pop()
            near = {(y + dy, x + dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)} & left
            left -= near
            part |= near
            pending += near
        parts.append(part)
    return parts


def random_pair(rng):
    truth = (rng.random((24, 31)) < 0.12) * rng.integers(1, 3, (24, 31))
    message = np.where(rng.random((24, 31)) < 0.7, truth, (rng.random((24, 31)) < 0.05) * rng.integers(1, 3, (24, 31)))
    truth[rng.random((24, 31)) < 0.05] = 254
    return truth.astype(np.uint8), message.astype(np.uint8)


@pytest.mark.parametrize("seed", range(5))
def test_pixel_and_defect_metrics_equal_plain_counting(seed):
    rng = np.random.default_rng(seed)
    meter = SegmentationMeter(CLASSES)
    pairs = [random_pair(rng) for _ in range(4)]
    for truth, message in pairs:
        meter.add(truth, message)
    report = meter.report()

    for id, name in CLASSES.items():
        t = np.concatenate([p[0].ravel() for p in pairs])
        s = np.concatenate([p[1].ravel() for p in pairs])
        keep = t < 254
        both = np.sum((t == id) & (s == id) & keep)
        dice = 2 * both / (np.sum((t == id) & keep) + np.sum((s == id) & keep))
        assert report["per_class"][name]["dice"] == pytest.approx(dice, abs=1e-12)
        assert report["per_class"][name]["iou"] == pytest.approx(dice / (2 - dice), abs=1e-12)
    assert report["dice"] == pytest.approx(np.mean([c["dice"] for c in report["per_class"].values()]))

    found = defects = false = 0
    for truth, message in pairs:
        marked = (message > 0) & (truth < 254)
        for id in CLASSES:
            for part in flood(truth == id):
                defects += 1
                covered = sum(marked[p] for p in part)
                found += covered >= max(1, 0.1 * len(part))
        for part in flood(message > 0):
            real = any(0 < truth[p] < 254 for p in part)
            counted = sum(truth[p] < 254 for p in part)
            false += not real and counted * 2 >= len(part)
    assert report["regions"]["defects"] == defects
    assert report["regions"]["found"] == found
    assert report["regions"]["false"] == false
    assert report["regions"]["false_per_picture"] == pytest.approx(false / 4)


def test_empty_prediction_gives_an_alert_and_no_score():
    meter = SegmentationMeter(CLASSES)
    truth = np.zeros((9, 9), np.uint8)
    truth[4, 4] = 1
    meter.add(truth, np.zeros_like(truth))
    for _ in range(50):
        meter.add(np.zeros_like(truth), np.zeros_like(truth))
    report = meter.report()
    assert report["only_background"] is True
    assert report["dice"] == 0 and report["regions"]["recall"] == 0
    assert report["per_class"]["pit"]["dice"] is None
    assert report["good_pictures"] == 50


def test_class_without_labels_enters_no_mean_but_its_false_alarms_count():
    meter = SegmentationMeter(CLASSES)
    truth, predicted = np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8)
    truth[2, :6] = predicted[2, :6] = 1
    predicted[6, 6] = 2
    meter.add(truth, predicted)
    report = meter.report()
    assert report["per_class"]["pit"] | {"dice": None, "iou": None, "precision": 0} == report["per_class"]["pit"]
    assert report["dice"] == report["iou"] == 1
    assert report["any_defect"]["dice"] == pytest.approx(12 / 13) and report["regions"]["false"] == 1
    counts = [count_image("a.png", truth, predicted, list(CLASSES))]
    assert dice(counts, 2) is None and dice(counts, 1) == 1 and dice(counts) == pytest.approx(12 / 13)


def test_images_without_defects_have_no_score():
    meter = SegmentationMeter(CLASSES)
    meter.add(np.zeros((5, 5), np.uint8), np.zeros((5, 5), np.uint8))
    report = meter.report()
    assert report["dice"] is None and report["regions"]["recall"] is None and not report["only_background"]


def test_no_images_give_no_score():
    assert SegmentationMeter(CLASSES).report()["dice"] is None
    assert VerdictMeter(("OK", "NG")).report()["accuracy"] is None


def test_metrics_of_verdicts_equal_plain_counting():
    meter = VerdictMeter(("OK", "NG", "other"))
    for truth, message in [("OK", "OK")] * 6 + [("OK", "NG")] * 2 + [("NG", "NG")] * 3 + [("NG", "OK")]:
        meter.add(truth, message)
    report = meter.report()
    assert report["accuracy"] == pytest.approx(9 / 12)
    f1_ok, f1_ng = 2 * 6 / (8 + 7), 2 * 3 / (4 + 5)
    assert report["macro_f1"] == pytest.approx((f1_ok + f1_ng) / 2)
    assert report["confusion"]["rows"] == [[6, 2, 0], [1, 3, 0], [0, 0, 0]]
    assert report["per_class"]["other"]["f1"] is None


def test_coverage_of_the_interval():
    rng = np.random.default_rng(0)
    for share, total in ((0.9, 20), (0.5, 12), (0.98, 60)):
        hits = rng.binomial(total, share, 4000)
        inside = [low <= share <= high for low, high in (wilson(int(h), total) for h in hits)]
        assert 0.92 <= np.mean(inside) <= 0.995
    assert wilson(0, 0) is None
    assert wilson(5, 5)[1] == 1.0


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


def test_sums_equal_those_of_the_accumulated_metrics():
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


def test_interval_of_dice_covers_the_truth_and_needs_enough_images():
    """About 19 of 20 intervals contain the Dice that the images have by construction."""
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


def test_empty_label_and_empty_prediction_have_no_score():
    empty = np.zeros((5, 5), np.uint8)
    assert dice([count_image("", empty, empty, (1,))]) is None


@pytest.mark.parametrize(
    ("areas", "edges"), [([5] * 30, []), ([1, 2, 3], []), (list(range(1, 100)), [34, 66]), ([4] * 5 + [900] * 9, [])]
)
def test_regions_are_divided_by_size_if_sizes_differ(areas, edges):
    assert size_edges(areas) == edges
