"""AUROC, ROC curve and recall at few false alarms of given scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.core.evaluation.ranked_images import image, images_of
from workbench.core.evaluation.confidence import upper_limit
from workbench.core.evaluation.intervals import limits
from workbench.core.evaluation.verdict_rules import GroupedProportion, auroc_interval, image_auroc, recall_at, roc_curve
from workbench.core.messages import Message


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=12),
    st.lists(st.integers(0, 8), min_size=1, max_size=12),
)
def test_auroc_counts_pairs_with_ties_as_half(good, bad):
    pairs = [(b > g) + (b == g) / 2 for g in good for b in bad]
    images = images_of(good, bad)
    assert image_auroc(images) == pytest.approx(np.mean(pairs))
    interval = auroc_interval(images)
    if min(len(good), len(bad)) < 5:
        assert interval == Message("interval.ranked_parts", n=len(bad), k=len(good), m=5)
    else:
        assert 0 <= interval.low <= image_auroc(images) + 1e-9 and image_auroc(images) - 1e-9 <= interval.high <= 1
    curve = roc_curve(images)
    assert curve.false[-1] == curve.recall[-1] == 1 and np.all(np.diff(curve.false) >= 0)
    for threshold, false, recall in zip(curve.thresholds, curve.false, curve.recall):
        assert false == pytest.approx(np.mean(np.array(good) > threshold))
        assert recall == pytest.approx(np.mean(np.array(bad) > threshold))


def test_nothing_is_ranked_without_good_or_without_defective_images():
    for images in ([], images_of([1, 2], []), images_of([], [3])):
        assert image_auroc(images) is None and limits(auroc_interval(images)) is None and roc_curve(images) is None


def test_interval_of_a_perfect_ranking_narrows_with_the_number_of_parts():
    few, many = (auroc_interval(images_of([0] * n, [5] * n)) for n in (5, 50))
    assert few.low < many.low < 1 and many.high == pytest.approx(1)
    five_parts = auroc_interval([image(5 * (n % 2), n % 2 > 0, f"{n % 5}") for n in range(100)])
    assert five_parts.low == pytest.approx(few.low)


def test_ranking_of_images_of_few_parts_has_no_interval():
    one_part = [image(5 * bad, bad, "same") for bad in [False, True] * 50]
    assert image_auroc(one_part) == 1
    why = "only 1 part with defective images and 1 with good ones, at least 5 of each are needed"
    assert str(auroc_interval(one_part)) == why


def test_recall_at_a_share_of_false_alarms():
    images = images_of(range(1, 21), [0, 5, 19.5, 20.5, 30])
    found, why = recall_at(images, 0.05)  # one of 20 may be rejected: the threshold is 19
    assert (found.hits, found.total, why) == (3, 5, "")
    assert recall_at(images, 0.10)[0].hits == 3 and recall_at(images, 0.5)[0].hits == 3
    found, why = recall_at(images, 0.01)
    assert found is None and "20 good images; at least 100" in why
    assert recall_at(images_of(range(20), []), 0.05) == (None, "There are no images with defects.")


@pytest.mark.parametrize("n, limit", [(10, 0.259), (20, 0.139), (30, 0.095), (60, 0.049), (100, 0.030), (300, 0.00993)])
def test_upper_limit_without_events_is_the_rule_of_three(n, limit):
    assert upper_limit(0, n) == pytest.approx(limit, abs=6e-4)
    assert upper_limit(0, n) == pytest.approx(1 - 0.05 ** (1 / n))


def test_upper_limit_is_that_of_clopper_and_pearson():
    assert upper_limit(2, 50) == pytest.approx(0.12061, abs=1e-4)  # published tables
    assert upper_limit(5, 5) == upper_limit(0, 0) == 1


def test_proportion_of_images_has_the_interval_of_its_parts():
    hits = [True, False] * 20
    alone = GroupedProportion.of(hits, [f"{n}" for n in range(40)]).interval
    in_groups = GroupedProportion.of(sorted(hits), [f"{n // 5}" for n in range(40)]).interval  # those of a part agree
    assert in_groups[0] < alone[0] and in_groups[1] > alone[1]
    few = GroupedProportion.of(hits, [f"{n // 20}" for n in range(40)])
    assert few.interval is None and few.why == "only 2 parts, at least 5 are needed"
    assert GroupedProportion.of([], []).why == "only 0 parts, at least 5 are needed"
