"""Figures compared with independent implementations; degenerate predictions; classes; regions by size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.evaluation.mask_counts import count_masks, figures_of
from workbench.core.evaluation.figure_texts import image_errors, mask_report, verdict_report
from workbench.core.evaluation.figures import VerdictCount, size_edges, verdict_figures

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


@pytest.mark.parametrize("seed", range(3))
def test_confusion_of_regions_equals_plain_counting(seed):
    rng = np.random.default_rng(seed)
    pairs = [random_pair(rng) for _ in range(4)]
    report = mask_report(figures_of(pairs, CLASSES))
    expected = np.zeros((3, 3), int)  # labeled: 1, 2, background; predicted: 1, 2, missed
    regions = right = 0
    for truth, message in pairs:
        for label in CLASSES:
            for part in flood(truth == label):
                own = [message[p] for p in part if message[p]]
                found = len(own) >= max(1, 0.1 * len(part))
                expected[label - 1, np.bincount(own, minlength=3)[1:].argmax() if found else 2] += 1
        for part in flood(message > 0):
            own = np.bincount([message[p] for p in part], minlength=3)[1:].argmax()
            under = np.bincount([truth[p] for p in part if 0 < truth[p] < 254], minlength=3)[1:]
            counted = sum(truth[p] < 254 for p in part)
            regions += 1
            right += bool(under.any()) and under.argmax() == own
            expected[2, own] += not under.any() and counted * 2 >= len(part)
    confusion = report["region_confusion"]
    assert confusion["labeled"] == ["scratch", "pit", "background"]
    assert confusion["predicted"] == ["scratch", "pit", "missed"]
    assert confusion["rows"] == expected.tolist()
    defects = expected[:2].sum()
    assert report["recall_right_class"] == pytest.approx((expected[0, 0] + expected[1, 1]) / defects)
    assert report["recall_any"] == pytest.approx(1 - expected[:2, 2].sum() / defects)
    assert report["region_precision_right_class"] == pytest.approx(right / regions)


def test_empty_prediction_gives_an_alert_and_no_score():
    truth = np.zeros((9, 9), np.uint8)
    truth[4, 4] = 1
    nothing = np.zeros_like(truth)
    report = mask_report(figures_of([(truth, nothing), *[(nothing, nothing)] * 50], CLASSES))
    assert report["only_background"] is True
    assert report["dice"] == 0 and report["regions"]["recall"] == 0
    assert report["per_class"]["pit"]["dice"] is None
    assert report["good_pictures"] == 50


def test_class_without_labels_enters_no_mean_but_its_false_alarms_count():
    truth, predicted = np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8)
    truth[2, :6] = predicted[2, :6] = 1
    predicted[6, 6] = 2
    figures = figures_of([(truth, predicted)], CLASSES)
    report = mask_report(figures)
    assert report["per_class"]["pit"] | {"dice": None, "iou": None, "precision": 0} == report["per_class"]["pit"]
    assert report["dice"] == report["dice_mean"] == report["iou"] == 1
    assert report["any_defect"]["dice"] == pytest.approx(12 / 13) and report["regions"]["false"] == 1
    values = [figures.get("dice", "class", 2), figures.get("dice", "class", 1), figures.get("dice")]
    assert [each.value for each in values] == [None, 1, pytest.approx(12 / 13)]


def test_images_without_defects_have_no_score():
    report = mask_report(figures_of([(np.zeros((5, 5), np.uint8),) * 2], CLASSES))
    assert report["dice"] is None and report["regions"]["recall"] is None and not report["only_background"]


def test_no_images_give_no_score():
    assert mask_report(figures_of([], CLASSES))["dice"] is None
    assert verdict_report(verdict_figures([], [], ("OK", "NG")))["accuracy"] is None


def test_metrics_of_verdicts_equal_plain_counting():
    pairs = [("OK", "OK")] * 6 + [("OK", "NG")] * 2 + [("NG", "NG")] * 3 + [("NG", "OK")]
    parts = [str(number) for number in range(len(pairs))]
    report = verdict_report(verdict_figures([VerdictCount(*pair) for pair in pairs], parts, ("OK", "NG", "other")))
    assert report["accuracy"] == pytest.approx(9 / 12)
    f1_ok, f1_ng = 2 * 6 / (8 + 7), 2 * 3 / (4 + 5)
    assert report["macro_f1"] == pytest.approx((f1_ok + f1_ng) / 2)
    assert report["confusion"]["rows"] == [[6, 2, 0], [1, 3, 0], [0, 0, 0]]
    assert report["per_class"]["other"]["f1"] is None


def test_intervals_belong_to_the_figure_beside_them():
    """The mean of the classes and any defect have different values, and each value lies in its own interval."""
    rng = np.random.default_rng(1)
    pairs = []
    for _ in range(12):
        truth, predicted = np.zeros((40, 40), np.uint8), np.zeros((40, 40), np.uint8)
        truth[2:20, 2:20], truth[30:33, 30:33] = 1, 2
        predicted[2 : 18 + rng.integers(0, 3), 2:20] = 1
        predicted[30:33, 30 : 31 + rng.integers(0, 2)] = 2
        pairs.append((truth, predicted))
    report = mask_report(figures_of(pairs, CLASSES))
    assert report["dice"] == report["dice_mean"] < report["dice_any"] - 0.1
    for key in ("dice", "dice_any", "iou", "iou_any"):
        low, high = report[f"{key}_interval"]
        assert low <= report[key] <= high, key
    assert not report["dice_interval"][0] <= report["dice_any"] <= report["dice_interval"][1]


def test_swapped_classes_are_reported_although_every_defect_is_detected():
    """Recall of any defect stays at 100 %; that with the right class is 0, and an alert says so."""
    truth = np.zeros((30, 40), np.uint8)
    truth[3:9, 3:9], truth[3:9, 20:26], truth[20:24, 5:12] = 1, 2, 1
    swapped = np.array([0, 2, 1], np.uint8)[truth]
    right, wrong = (figures_of([(each, truth)] * 6, CLASSES) for each in (truth, swapped))
    assert right.alerts == () and right.get("recall_right_class").value == 1
    assert wrong.alerts == ("wrong_class",)
    assert wrong.get("recall").value == 1 and wrong.get("recall_right_class").value == 0
    assert wrong.get("region_precision").value == 1 and wrong.get("region_precision_right_class").value == 0
    assert mask_report(wrong)["region_confusion"]["rows"] == [[0, 6, 0], [12, 0, 0], [0, 0, 0]]


def test_few_parts_have_a_reason_instead_of_an_interval():
    truth = np.zeros((9, 9), np.uint8)
    truth[2, :6] = 1
    figures = figures_of([(truth, truth)] * 8, CLASSES, ["a", "b"] * 4)
    found = figures.get("recall")
    assert (
        found.edges is None
        and str(found.interval) == "only 2 parts, at least 5 are needed"
        and (found.images, found.parts) == (8, 2)
    )
    assert found.to_json()["why"] == str(found.interval)
    assert figures_of([(truth, truth)] * 8, CLASSES).get("recall").edges is not None


def test_exported_figures_state_what_they_count():
    """Of eight images, six show a defect; the number of images is never that of other things counted."""
    truth, good = np.zeros((9, 9), np.uint8), np.zeros((9, 9), np.uint8)
    truth[2, :6] = 1
    figures = figures_of([(truth, truth)] * 6 + [(good, good)] * 2, CLASSES, ["a", "b"] * 4)
    counted = {(row["id"], row["scope"]): row["counted"] for row in (each.to_json() for each in figures.rows)}
    assert counted["recall", "any"] == {"images": 6, "parts": 2, "defects": 6}
    assert counted["region_precision", "any"] == {"images": 6, "parts": 2, "regions": 6}
    assert counted["dice", "any"] == {"images": 6, "parts": 2, "pixels": 36}
    assert counted["dice", "mean"] == {"images": 6, "parts": 2}
    assert counted["false_alarms", "any"] == {"images": 8, "parts": 2}
    assert counted["missed_images", "any"] == {"images": 6, "parts": 2}
    verdicts = verdict_figures([VerdictCount("OK", "OK")] * 4 + [VerdictCount("NG", "OK")], [*"aabbc"], ("OK", "NG"))
    counted = {(row["id"], row["scope"]): row["counted"] for row in (each.to_json() for each in verdicts.rows)}
    assert counted["f1", "mean"] == counted["accuracy", "any"] == {"images": 5, "parts": 3}


def test_a_wrong_class_is_an_error_of_its_image():
    truth = np.zeros((30, 40), np.uint8)
    truth[3:9, 3:9], truth[3:9, 20:26], truth[20:24, 5:12] = 1, 1, 2
    predicted = truth.copy()
    predicted[3:9, 3:9], predicted[20:24, 5:12], predicted[25:29, 30:35] = 2, 0, 1
    counts = count_masks(truth, predicted, (1, 2))
    assert (counts.missed, counts.confused, counts.false, counts.errors) == (1, 1, 1, 3)
    text = image_errors(counts)
    assert text == "1 missed defect, 1 defect with a wrong class, 1 false alarm"
    assert image_errors(count_masks(truth, truth, (1, 2))) == "no errors"


def test_detected_defect_with_little_overlap_is_not_without_errors():
    truth = np.zeros((30, 40), np.uint8)
    truth[10:20, 10:20] = 1
    large, small, beside, fair = (np.zeros_like(truth) for _ in range(4))
    large[10:20, 6:34], small[10:20, 10:14], beside[10:20, 15:25], fair[10:20, 10:23] = 1, 1, 1, 1
    texts = [image_errors(count_masks(truth, mask, (1,))) for mask in (large, small, beside, fair)]
    overlap = "detected, but with little overlap (Dice 0.50)"
    assert texts == ["detected, 180% too large", "detected, 60% too small", overlap, "no errors"]


def test_empty_label_and_empty_prediction_have_no_score():
    empty = np.zeros((5, 5), np.uint8)
    assert count_masks(empty, empty, (1,)).dice is None


@pytest.mark.parametrize(
    ("areas", "edges"), [([5] * 30, []), ([1, 2, 3], []), (list(range(1, 100)), [34, 66]), ([4] * 5 + [900] * 9, [])]
)
def test_regions_are_divided_by_size_if_sizes_differ(areas, edges):
    assert size_edges(areas) == edges
