"""Verdict of an image from given maps: score, rule, reason, and its way through model.json."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy  # loads its modules when they are used first
from hypothesis import given, strategies as st

from workbench.inference import components
from workbench.inference.model_settings import SettingsError, load_settings, save_settings, settings_text
from workbench.inference.predictor import Predictor, apply_thresholds
from workbench.inference.region_table import RegionLimit
from workbench.inference.regions import image_verdict, measure_classes, verdict_table
from workbench.inference.verdict_rule import VerdictRule, apply_rule, reason_text, rejects

from .conftest import BRIGHT, DARK, gray_settings

NAMES = {DARK.id: DARK.name, BRIGHT.id: BRIGHT.name}


def table_from(class_scores: np.ndarray, **changes):
    settings = gray_settings(min_area=(0, 0), thresholds=(0.5, 0.5), **changes)
    mask, scores = apply_thresholds(class_scores, settings)
    return verdict_table(mask, scores, measure_classes(mask, scores, settings), settings)


@pytest.fixture
def table():
    """A dark region of 6 pixels with probability 0.6 and one of 4 pixels with 0.8; a bright one of 2 pixels, 1.0."""
    scores = np.zeros((2, 12, 20), np.uint8)
    scores[0, 1:3, 1:4] = 153
    scores[0, 6:8, 10:12] = 204
    scores[1, 10, 2:4] = 255
    return table_from(scores)


def test_anomaly_score_is_probability_times_area(table):
    assert table.anomaly_score == pytest.approx(6 * 0.6 + 4 * 0.8 + 2)
    assert table.mass.tolist() == pytest.approx([3.6, 3.2, 2.0])
    assert table.box.tolist() == [[1, 1, 3, 2], [10, 6, 2, 2], [2, 10, 2, 1]]
    assert table_from(np.zeros((2, 5, 5), np.uint8)).anomaly_score == 0


def test_uncertain_pixels_hardly_count_with_an_exponent():
    """A stain of 600 pixels with probability 0.3 beside a pit of 9 pixels with 0.96."""
    class_scores = np.zeros((2, 40, 40), np.uint8)
    class_scores[0, :20, :30] = 77
    class_scores[0, 30:33, 30:33] = 245
    masses = {}
    for exponent in (1, 8):
        settings = gray_settings(min_area=(0, 0), thresholds=(0.05, 0.05), anomaly_exponent=exponent)
        mask, scores = apply_thresholds(class_scores, settings)
        found = verdict_table(mask, scores, measure_classes(mask, scores, settings), settings)
        masses[exponent] = found.mass.tolist()
        assert found.anomaly_score == pytest.approx(sum(found.mass), abs=0.001)
    assert masses[1] == pytest.approx([600 * 77 / 255, 9 * 245 / 255])
    assert masses[8] == pytest.approx([600 * (77 / 255) ** 8, 9 * (245 / 255) ** 8], abs=0.01)
    assert masses[8][1] > masses[8][0]


def test_faint_regions_are_ranked_and_rejected_with_an_exponent():
    scores = []
    settings = gray_settings(min_area=(0, 0), thresholds=(0.05, 0.05), anomaly_exponent=32)
    for pixels in (1, 2):
        class_scores = np.zeros((2, 8, 8), np.uint8)
        class_scores[0, 2, 2 : 2 + pixels] = 60
        mask, highest = apply_thresholds(class_scores, settings)
        faint = verdict_table(mask, highest, measure_classes(mask, highest, settings), settings)
        scores.append(faint.anomaly_score)
        assert rejects(VerdictRule("mass", 0), faint) and not rejects(VerdictRule("mass", 0.01), faint)
    assert scores == [float(f"{pixels * (60 / 255) ** 32:.4g}") for pixels in (1, 2)]
    assert reason_text(apply_rule(VerdictRule("mass", scores[0]), faint, NAMES).reason).startswith("anomaly score ")


def test_models_of_earlier_versions_have_no_exponent(tmp_path):
    plain = gray_settings(min_area=(0, 0), thresholds=(0.5, 0.5))
    assert "anomaly_exponent" not in settings_text(plain)
    assert "border_exponent" not in settings_text(plain)
    changed = replace(plain, anomaly_exponent=8, border_exponent=2)
    save_settings(changed, tmp_path / "model.json")
    assert load_settings(tmp_path / "model.json") == changed
    with pytest.raises(SettingsError):
        replace(plain, anomaly_exponent=0)
    with pytest.raises(SettingsError):
        replace(plain, border_exponent=-1)


@given(
    seed=st.integers(0, 10_000),
    border=st.integers(0, 9),
    exponents=st.sampled_from([(1, 0), (8, 0), (32, 2)]),
    rows=st.sampled_from([1, 3, 100]),
)
def test_border_of_the_image_does_not_count(seed, border, exponents, rows):
    """Regions by scipy; masks in bands of a few rows."""
    generator = np.random.default_rng(seed)
    class_scores = generator.integers(0, 256, (2, *generator.integers(1, 24, 2)), np.uint8)
    anomaly_exponent, border_exponent = exponents
    settings = gray_settings(
        min_area=(2, 3),
        thresholds=(0.6, 0.7),
        verdict_border=border,
        anomaly_exponent=anomaly_exponent,
        border_exponent=border_exponent,
    )
    mask, scores = apply_thresholds(class_scores, settings)
    before = mask.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(components, "MAX_BAND_PIXELS", rows * mask.shape[1])
        found = verdict_table(mask, scores, measure_classes(mask, scores, settings), settings)
    assert np.array_equal(mask, before)
    inside = np.zeros(mask.shape, bool)
    inside[border : max(border, mask.shape[0] - border), border : max(border, mask.shape[1] - border)] = True
    expected = []
    for class_id in (DARK.id, BRIGHT.id):
        labels, count = scipy.ndimage.label(mask == class_id, np.ones((3, 3)))
        for number in range(1, count + 1):
            region = labels == number
            y, x = np.nonzero(region & inside)
            if not len(y):
                continue
            share, probabilities = len(y) / np.count_nonzero(region), scores[y, x] / 255
            mass = (probabilities**anomaly_exponent).sum() * share**border_exponent
            box = (x.min(), y.min(), x.max() - x.min() + 1, y.max() - y.min() + 1)
            expected.append((class_id, *box, len(y), probabilities.max(), pytest.approx(mass, abs=1e-4 * len(y))))
    columns = (found.class_id, *found.box.T, found.area, found.peak, found.mass)
    measured = sorted(zip(*(column.tolist() for column in columns)))
    assert [row[:7] for row in measured] == [row[:7] for row in sorted(expected, key=lambda row: row[:7])]
    for row, reference in zip(measured, sorted(expected, key=lambda row: row[:7])):
        assert row[7] == reference[7], (row, anomaly_exponent, border_exponent, border, rows)


def test_region_that_grows_from_the_border_counts_less_than_one_inside():
    class_scores = np.zeros((2, 40, 40), np.uint8)
    class_scores[0, :12, 4:9] = class_scores[0, 20:25, 20:25] = 255
    masses = {}
    for exponent in (0, 2):
        settings = gray_settings(min_area=(0, 0), thresholds=(0.5, 0.5), verdict_border=8, border_exponent=exponent)
        mask, scores = apply_thresholds(class_scores, settings)
        masses[exponent] = verdict_table(mask, scores, measure_classes(mask, scores, settings), settings).mass.tolist()
    assert masses == {0: [4.0, 25.0], 2: [pytest.approx(4 * (4 / 60) ** 2), 25.0]}


def test_prediction_ignores_the_border(gray_export):
    opened = Predictor.open(gray_export)
    image = np.full((40, 40), 100, np.uint8)
    image[:6, 10:20] = 250  # a bright region at the border, with the probability 1
    results = [
        Predictor(replace(opened.settings, verdict_border=width), opened.engine).predict(image) for width in (0, 4, 6)
    ]
    assert [result.table.area.tolist() for result in results] == [[60], [20], []]
    assert [len(result.regions) for result in results] == [1, 1, 1]  # drawn and listed nevertheless
    assert results[1].table.box.tolist() == [[10, 4, 10, 2]]


def test_rule_by_mass_rejects_above_its_threshold(table):
    empty = table_from(np.zeros((2, 5, 5), np.uint8))
    assert not rejects(VerdictRule("mass", 8.8), table) and rejects(VerdictRule("mass", 8.799), table)
    assert rejects(VerdictRule("mass", 0), table) and not rejects(VerdictRule("mass", 0), empty)
    verdict = apply_rule(VerdictRule("mass", 5), table, NAMES)
    assert (verdict.name, verdict.rejected) == ("NG", True)
    assert verdict.reason["threshold"] == 5 and verdict.reason["region"]["area"] == 6 and not verdict.reason["limit"]
    assert reason_text(verdict.reason) == (
        "anomaly score 8.8 above 5.0; largest contribution: dark scratch at (1, 1), 6 px²"
    )
    accepted = apply_rule(VerdictRule("mass", 50), empty, NAMES)
    assert accepted.name == "OK" and reason_text(accepted.reason) == "anomaly score 0.0 not above 50.0"


def test_images_between_two_scores_are_unsure(table):
    """The second threshold of both kinds of rules; the score of the table is 8.8."""
    empty = table_from(np.zeros((2, 5, 5), np.uint8))
    by_region = {"limits": (RegionLimit(DARK.id, area=7),)}
    for unsure, mass, verdict in ((8.8, 50, "OK"), (8.7, 50, "unsure"), (0, 50, "unsure"), (8.7, 8.75, "NG")):
        found = apply_rule(VerdictRule("mass", mass, unsure=unsure), table, NAMES)
        assert (found.name, found.rejected) == (verdict, verdict == "NG")
        assert found.reason.get("unsure") == (unsure if verdict == "unsure" else None)
        if verdict != "NG":
            assert apply_rule(VerdictRule("region", unsure=unsure, **by_region), table, NAMES).name == verdict
    assert reason_text(found.reason | {"unsure": 8.7}) == "anomaly score 8.8 above 8.7, but not rejected"
    assert apply_rule(VerdictRule("mass", 50, unsure=0), empty, NAMES).name == "OK"
    assert '"unsure"' not in settings_text(gray_settings(verdict_rule=VerdictRule("mass", 5)))


@pytest.mark.parametrize(
    "limit, rejected",
    [
        (RegionLimit(DARK.id, area=7), False),
        (RegionLimit(DARK.id, area=6), True),
        (RegionLimit(DARK.id, probability=0.81), False),
        (RegionLimit(DARK.id, probability=0.8), True),
        (RegionLimit(DARK.id, area=100, probability=0.8), True),
        (RegionLimit(BRIGHT.id, area=3), False),
        (RegionLimit(BRIGHT.id, area=2), True),
    ],
)
def test_rule_by_region_rejects_at_area_or_probability_of_its_class(table, limit, rejected):
    rule = VerdictRule("region", limits=(limit,))
    assert rejects(rule, table) == rejected
    verdict = apply_rule(rule, table, NAMES)
    assert (verdict.reason["region"] is not None) == rejected
    assert verdict.reason["limit"] == ({"area": limit.area, "probability": limit.probability} if rejected else None)


def test_reason_names_the_region_that_reaches_its_limit(table):
    rule = VerdictRule("region", limits=(RegionLimit(DARK.id, probability=0.7), RegionLimit(BRIGHT.id, area=50)))
    reason = apply_rule(rule, table, NAMES).reason
    assert (reason["region"]["x"], reason["region"]["y"], reason["region"]["class_name"]) == (10, 6, "dark scratch")
    assert reason_text(reason) == "dark scratch at (10, 6), 4 px², probability up to 0.80"


def test_verdict_can_be_the_class_of_greatest_mass(table):
    assert apply_rule(VerdictRule("mass", 1, bad=""), table, NAMES).name == "dark scratch"
    only_bright = VerdictRule("region", limits=(RegionLimit(BRIGHT.id, area=1),), bad="")
    assert apply_rule(only_bright, table, NAMES).name == "亮点"
    assert apply_rule(VerdictRule("mass", 100, good="gut", bad=""), table, NAMES).name == "gut"


@given(st.lists(st.integers(0, 255), min_size=48, max_size=48), st.floats(0, 60))
def test_image_with_a_stronger_map_stays_rejected(values, threshold):
    """Raising probabilities above the detection threshold never lowers the score."""
    plane = np.array(values, np.uint8).reshape(1, 6, 8)
    stronger = np.where(plane >= 128, np.maximum(plane, 200), plane).astype(np.uint8)
    weak, strong = (table_from(np.concatenate([maps, np.zeros_like(maps)])) for maps in (plane, stronger))
    rule = VerdictRule("mass", threshold)
    assert weak.anomaly_score == pytest.approx(plane[plane >= 128].sum() / 255, abs=1e-3)
    assert strong.anomaly_score >= weak.anomaly_score and rejects(rule, strong) >= rejects(rule, weak)


def test_rule_is_stored_in_model_json_and_left_out_without_one(tmp_path):
    rule = VerdictRule("region", limits=(RegionLimit(DARK.id, 20, 0.9), RegionLimit(BRIGHT.id, area=4)), bad="")
    for used in (rule, VerdictRule("mass", 12.5), replace(rule, unsure=3.0), VerdictRule("mass", 12.5, unsure=0.0)):
        settings = gray_settings(verdict_rule=used)
        save_settings(settings, tmp_path / "model.json")
        assert load_settings(tmp_path / "model.json") == settings
    assert "verdict_rule" not in settings_text(gray_settings())
    assert image_verdict(table_from(np.zeros((2, 5, 5), np.uint8)), gray_settings()) is None


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "median"},
        {"mass": -1},
        {"mass": "1"},
        {"unsure": 3},
        {"unsure": -1},
        {"unsure": "1"},
        {"unsure": 1, "good": "unsure"},
        {"mass": float("nan")},
        {"kind": "region"},
        {"limits": [{"class_id": 3, "area": 4}]},
        {"kind": "region", "limits": [{"class_id": 3, "most": -1}]},
        {"kind": "region", "limits": [{"class_id": 3, "probability": 1.5}]},
        {"kind": "region", "limits": [{"class_id": 99, "area": 4}]},
        {"kind": "region", "limits": [{"class_id": 3, "outcome": "melt"}]},
        {"kind": "region", "limits": [{"class_id": 3, "outcome": "rework"}], "bad": "rework"},
        {"kind": "region", "limits": [{"class_id": 3, "length": "4"}]},
        {"kind": "region", "limits": 5},
        {"good": "NG"},
        {"good": ""},
        {"colour": "red"},
    ],
)
def test_damaged_rule_is_refused(tmp_path, change):
    path = tmp_path / "model.json"
    content = json.loads(settings_text(gray_settings(verdict_rule=VerdictRule("mass", 3))))
    content["verdict_rule"] |= change
    path.write_text(json.dumps(content))
    with pytest.raises(SettingsError, match="verdict_rule"):
        load_settings(path)
