"""Expected range on other parts, changed lighting, and the texts of both as stored with a run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.session.mask_run import make_mask_project
from tests.session.stored_result import store_result, stored_result
from workbench.core.evaluation.expectation import (
    CHANGES,
    Expectation,
    Forecast,
    LightingChange,
    change_lighting,
    expectation_of,
    forecast,
    lighting_table,
    signed,
)
from workbench.core.messages import Message
from workbench.core.runs.events import Finished, Started, Unknown, decode, encode
from workbench.inference.model_settings import ModelSettings


def verdicts(errors: int, groups: int, per_group: int = 10):
    counts = [(0.0 if image % per_group < errors else 1.0, 1.0) for image in range(groups * per_group)]
    return counts, [f"part {image // per_group}" for image in range(groups * per_group)]


def test_few_parts_give_no_range():
    result = forecast(*verdicts(1, 2))
    assert result.low is None and result.high is None and "Only 2 parts of" in result.why[0]


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


def test_one_part_with_most_of_the_defect_area_gives_no_range():
    """A Dice of 0.02 on five parts, two of them large, said nothing about other parts, where it was 0.76."""
    counts = [(0.0, 6435.0), (658.0, 12547.0), (0.0, 24071.0), (2500.0, 161147.0), (0.0, 59999.0)]
    result = forecast(counts, list("abcde"), percent=False)
    assert result.low is None and "count as 2.3 parts" in result.why[0]
    nearly = forecast([(1, 100), (1, 100), (1, 130)], ["a", "b", "c"])
    assert nearly.low is None and "count as 2.9 parts" in nearly.why[0]  # not "3.0", which would be enough


def test_parts_of_different_weight_widen_the_range():
    """Equal shares on eight parts: of equal areas, and of two different areas."""
    shares = np.array([0.9, 0.8, 0.9, 0.8, 0.9, 0.8, 0.9, 0.8])
    equal, uneven = (shares * area for area in (100.0, np.array([400.0, 400, 400, 400, 10, 10, 10, 10])))
    areas = [np.full(8, 100.0), np.array([400.0, 400, 400, 400, 10, 10, 10, 10])]
    results = [forecast(list(zip(c, a)), list("abcdefgh")) for c, a in zip((equal, uneven), areas)]
    assert results[1].low < results[0].low


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


def result(**changes):
    return {
        "forecast": {"low": 0.85, "high": 0.954, "why": ["0.94 on 40 parts that are not in the training images."]},
        "lighting": {"pictures": 120, "unchanged": 0.94, "changes": {"blurred": 0.95, "darker": 0.911}, "worst": None},
        **changes,
    }


def test_range_and_worst_change_are_stated_with_the_reason():
    unet, resnet = Expectation.of_result(result(), "unet"), Expectation.of_result(result(), "resnet")
    assert unet.lines() == [
        "Expect Dice 0.85 to 0.95 on average over other parts, with a probability of 95%. "
        "0.94 on 40 parts that are not in the training images.",
        "Changed lighting: worst “darker” 0.91 (−3 points)",
    ]
    assert resnet.range_text == (
        "Expect 85% to 95% correct verdicts on average over other parts, with a probability of 95%."
    )
    assert resnet.worst_text == "Changed lighting: worst “darker” 91% (−3 points)"
    assert [change.name for change in unet.changes] == ["darker", "blurred"] and unet.images == 120


def test_reason_is_recognized_as_a_message():
    assert isinstance(Expectation.of_result(result(), "unet").forecast.why[0], Message)


def test_range_of_few_parts_cannot_be_stated():
    few = {"low": None, "high": None, "why": [Message("forecast.few_parts", n=2, m=3)]}
    found = Expectation.of_result(result(forecast=few, lighting=None), "unet")
    assert found.limits is None and found.worst is None and found.worst_text == ""
    assert found.lines() == [
        "The range to expect on other parts cannot be stated. Only 2 parts of the validation/test images count in the "
        "metric. A forecast needs at least 3."
    ]


def test_lighting_alone_has_no_range():
    found = Expectation.of_result({"lighting": result()["lighting"]}, "unet")
    assert found.range_text == found.reason == "" and len(found.lines()) == 1


@pytest.mark.parametrize("kept", [{}, {"forecast": None, "lighting": None}, {"metrics": {"dice": 0.5}}])
def test_result_of_an_earlier_version_has_none(kept):
    assert Expectation.of_result(kept, "unet") is None


@pytest.mark.parametrize(
    "difference, text", [(-0.031, "−3 points"), (-0.01, "−1 point"), (0.014, "+1 point"), (-0.001, "0 points")]
)
def test_points_have_a_sign_and_a_singular(difference, text):
    assert LightingChange("darker", 0.9, difference).points == text


def test_sign_is_left_out_of_zero():
    assert [signed(value, 1) for value in (-0.04, 2.25, -3)] == ["0.0", "+2.2", "−3.0"]


def test_change_of_a_later_version_keeps_its_name():
    changes = {"pictures": 3, "unchanged": 0.9, "changes": {"rotated_light": 0.8}}
    found = Expectation.of_result({"lighting": changes}, "unet")
    assert "“rotated_light” 0.80 (−10 points)" in found.worst_text


def test_forecast_is_restored():
    stored = Forecast.from_json(json.loads(json.dumps(result()["forecast"])))
    assert (stored.low, stored.high) == (0.85, 0.954) and stored.to_json() == result()["forecast"]


@pytest.mark.parametrize(
    "broken",
    [
        {"forecast": "0.9"},
        {"forecast": {"low": "x", "high": 1.0, "why": []}},
        {"lighting": {"unchanged": 0.9}},
        {"lighting": {"pictures": 3, "unchanged": 0.9, "changes": {"darker": None}}},
    ],
)
def test_values_of_other_types_are_not_read(broken):
    line = json.dumps({"kind": "finished", "time": 1.0, "why": "done", "result": broken})
    assert isinstance(decode(line), Unknown)
    assert isinstance(decode(encode(Finished(result=stored_result()))), Finished)


def test_expectation_is_that_of_the_last_end_of_the_run(tmp_path):
    run = make_mask_project(tmp_path / "p")
    assert expectation_of(run) is None
    store_result(run, **stored_result(parts=2))
    assert expectation_of(run).limits is None
    store_result(run, **stored_result())
    assert expectation_of(run).limits is not None
    with run.events_path.open("a", encoding="utf-8") as file:
        file.write(encode(Started(model="unet", device="cpu", precision="fp32", pictures={}, resumed=True)) + "\n")
    assert expectation_of(run) is None  # continued: its weights change
    store_result(run)
    assert expectation_of(run) is None


def settings(**changes) -> ModelSettings:
    values = {"channels": 1, "full_scale": 255.0, "low": 0.0, "high": 255.0, "mean": (0.5,), "std": (0.25,)} | changes
    return ModelSettings(task="classification", name="a", run="b", verdicts=("OK", "NG"), input_size=64, **values)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("shape", [(20, 30), (20, 30, 3)])
def test_image_stays_usable(change, shape):
    image = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    changed = change_lighting(image, change, settings())
    assert changed.shape == image.shape and changed.dtype == image.dtype and (changed != image).any()


def test_sixteen_bits_change_as_eight_bits():
    image = np.random.default_rng(0).integers(50, 200, (20, 30), np.uint8)
    dark = image.astype(np.uint16) * 16  # twelve bits in a file of sixteen
    twelve = settings(full_scale=65535.0, high=255.0 * 16)
    for change in ("brighter", "gamma_high", "more_contrast", "uneven"):
        eight = change_lighting(image, change, settings()).astype(float)
        np.testing.assert_allclose(change_lighting(dark, change, twelve) / 16, eight, atol=1)


def test_table_names_the_worst_change():
    table = lighting_table(lambda change, count: 0.5 if change == "darker" else 0.9, 7)
    assert table is not None
    assert table["pictures"] == 7 and table["unchanged"] == 0.9 and set(table["changes"]) == set(CHANGES)
    assert table["worst"] == {"change": "darker", "value": 0.5}
    assert lighting_table(lambda change, count: 0.9, 0) is None
    assert lighting_table(lambda change, count: None, 3) is None
