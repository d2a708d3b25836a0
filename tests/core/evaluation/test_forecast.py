"""Expected range on other parts: wide for few parts, lower where the lighting matters."""

from __future__ import annotations

import numpy as np

from workbench.core.evaluation.forecast import forecast


def verdicts(errors: int, groups: int, per_group: int = 10):
    counts = [(0.0 if image % per_group < errors else 1.0, 1.0) for image in range(groups * per_group)]
    return counts, [f"part {image // per_group}" for image in range(groups * per_group)]


def test_few_parts_give_no_range():
    result = forecast(*verdicts(1, 2))
    assert result.low is None and result.high is None and "2 different parts" in result.why[0]


def test_range_contains_the_metric_and_narrows_with_the_number_of_parts():
    few, many = forecast(*verdicts(1, 4)), forecast(*verdicts(1, 60))
    for result in (few, many):
        assert result.low < 0.9 < result.high
    assert many.high - many.low < few.high - few.low


def test_no_error_on_few_parts_is_not_certainty():
    result = forecast(*verdicts(0, 5))
    assert result.high == 1.0 and result.low < 0.9


def test_parts_that_differ_widen_the_range():
    counts = [(1.0, 1.0)] * 50 + [(0.0, 1.0)] * 50
    alternating = [f"{index % 10}" for index in range(100)]
    apart = [f"{index // 10}" for index in range(100)]
    assert forecast(counts, apart).low < forecast(counts, alternating).low


def test_sensitivity_to_lighting_lowers_the_range_and_is_named():
    counts, groups = verdicts(1, 20)
    lighting = {"unchanged": 0.9, "worst": {"change": "darker", "value": 0.7}}
    plain, changed = forecast(counts, groups), forecast(counts, groups, lighting)
    np.testing.assert_allclose(plain.low - changed.low, 0.2)
    assert changed.high == plain.high and "20 points lower" in changed.why[1] and "darker" in changed.why[1]


def test_images_without_pixels_of_the_class_carry_no_information():
    result = forecast([(0.0, 0.0)] * 10, [str(index) for index in range(10)])
    assert result.low is None


def test_measured_value_is_stated_as_the_metric_is_shown():
    counts, groups = [(94.0, 100.0)] * 10, [str(number) for number in range(10)]
    assert forecast(counts, groups).why[0].startswith("94.0% on 10 parts")
    assert forecast(counts, groups, percent=False).why[0].startswith("0.94 on 10 parts")
