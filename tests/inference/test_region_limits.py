"""Limits on the number of regions of one kind, as on a drawing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.inference.conftest import gray_settings
from workbench.core.evaluation.stored_predictions import collect_prediction, cut_patches, evaluate_prediction
from workbench.core.evaluation.verdict_rules import RuleChoice, ScoredImage, evaluate_rule
from workbench.inference.inspection_area import AreaMaps, AreaPolygon, InspectionArea, area_of
from workbench.inference.model_settings import SettingsError, settings_from_json, settings_text
from workbench.inference.region_table import ANY_CLASS, RegionLimit, RegionTable, limit_text
from workbench.inference.regions import image_verdict, measure_classes, verdict_table
from workbench.inference.verdict_rule import VerdictRule, reason_text

SCRATCH, PIT = 3, 7
UM = 50.0  # 0.5 mm are 10 pixels, 2 mm are 40
# At most 3 scratches shorter than 0.5 mm, no longer ones, none within 2 mm of the edge.
DRAWING = (
    RegionLimit(SCRATCH, most=3, length_below=10),
    RegionLimit(SCRATCH, length=10),
    RegionLimit(SCRATCH, edge=40),
    RegionLimit(PIT, most=1, apart=5, outcome="rework"),
    RegionLimit(ANY_CLASS, most=4, outcome="unsure"),
)
RULE = VerdictRule("region", limits=DRAWING)


def face(*spots: tuple[int, int, int, int, int], shape=(200, 300)) -> np.ndarray:
    """Return a mask with boxes: class id, left, top, width, height."""
    mask = np.zeros(shape, np.uint8)
    for id, left, top, width, height in spots:
        mask[top : top + height, left : left + width] = id
    return mask


def table_of(mask: np.ndarray, **changes) -> RegionTable:
    settings = gray_settings(um_per_pixel=UM, min_area=(0, 0), **changes)
    scores = np.where(mask > 0, np.uint8(200), np.uint8(0))
    maps = AreaMaps.of(area_of(settings.areas, ""), mask.shape)
    return verdict_table(mask, scores, measure_classes(mask, scores, settings), settings, maps)


def verdict(mask: np.ndarray, rule: VerdictRule = RULE, **changes):
    return image_verdict(table_of(mask, **changes), gray_settings(um_per_pixel=UM, verdict_rule=rule))


SHORT = [(SCRATCH, 60 + 20 * n, 100, 6, 2) for n in range(4)]


@pytest.mark.parametrize(
    ("spots", "name", "sentence"),
    [
        (SHORT[:3], "OK", ""),
        (SHORT, "NG", "4 found, at most 3 dark scratch shorter than 0.5 mm, otherwise reject"),
        ([(SCRATCH, 60, 100, 10, 2)], "NG", "1 found, at most 0 dark scratch of length from 0.5 mm"),
        ([(SCRATCH, 39, 100, 6, 2)], "NG", "dark scratch nearer to the edge than 2 mm"),
        ([(SCRATCH, 40, 100, 6, 2)], "OK", ""),
        ([(PIT, 60, 100, 5, 5), (PIT, 68, 100, 5, 5)], "rework", "nearer to another than 0.25 mm, otherwise rework"),
        ([(PIT, 60, 100, 5, 5), (PIT, 69, 100, 5, 5)], "OK", ""),
        ([(PIT, 10 + 20 * n, 50, 3, 3) for n in range(5)], "unsure", "at most 4 any region, otherwise unsure"),
        ([(PIT, 60, 100, 5, 5), (PIT, 68, 100, 5, 5), (SCRATCH, 60, 150, 30, 2)], "NG", "of length from"),
    ],
)
def test_the_worst_outcome_of_the_exceeded_limits_holds(spots, name, sentence):
    found = verdict(face(*spots))
    assert found.name == name and found.rejected == (name in ("NG", "rework"))
    assert sentence in reason_text(json.loads(json.dumps(found.reason)))
    assert bool(sentence) == bool(found.reason["region"]) == ("sentence" in found.reason)


def test_limits_and_the_band_of_the_anomaly_score_are_one_rule():
    pit, banded = face((PIT, 60, 100, 5, 5)), replace(RULE, unsure=10.0)
    assert verdict(pit).name == "OK" and verdict(pit, banded).name == "unsure"
    assert verdict(pit, banded).reason["unsure"] == 10
    assert verdict(face((PIT, 60, 100, 3, 3)), banded).name == "OK"
    assert verdict(face(*SHORT), banded).name == "NG"


def test_the_edge_is_that_of_the_inspection_area():
    mask, rule = face((SCRATCH, 100, 100, 6, 2)), VerdictRule("region", limits=DRAWING[2:3])
    polygon = AreaPolygon(((0, 0), (130, 0), (130, 200), (0, 200)))
    assert verdict(mask, rule).name == "OK" and table_of(mask).edge == 98
    area = InspectionArea(300, 200, (polygon,))
    assert verdict(mask, rule, areas=(area,)).name == "NG" and table_of(mask, areas=(area,)).edge == 25
    inner = VerdictRule("region", limits=(RegionLimit(SCRATCH, inner=25),))
    assert verdict(mask, inner, areas=(area,)).name == "NG"
    assert verdict(face((SCRATCH, 101, 100, 6, 2)), inner, areas=(area,)).name == "OK"


def test_zones_only_mark_and_a_region_is_in_all_that_it_touches():
    marked = (
        AreaPolygon(((50, 50), (100, 50), (100, 100), (50, 100)), zone="A"),
        AreaPolygon(((60, 60), (70, 60), (70, 70), (60, 70)), excluded=True, zone="A"),
        AreaPolygon(((90, 90), (150, 90), (150, 150), (90, 150)), zone="B"),
    )
    areas = (InspectionArea(300, 200, marked),)
    assert areas[0].inside((200, 300)).all() and areas[0].share == 1 and areas[0].zones == ("A", "B")
    spots = {"A": (49, 80), "": (62, 62), "AB": (95, 95), "B": (120, 120), " ": (200, 150)}
    for names, (left, top) in spots.items():
        table = table_of(face((PIT, left, top, 3, 3)), areas=areas)
        assert table.zones[0] == set(names.strip()) and table.edge == min(left, top, 197 - top)
    rule = VerdictRule("region", limits=(RegionLimit(PIT, most=1, zone="A"),))
    mask = face(*[(PIT, left, top, 3, 3) for left, top in spots.values()])
    found = image_verdict(table_of(mask, areas=areas), gray_settings(verdict_rule=rule, areas=areas))
    assert found.name == "NG" and found.reason["sentence"] == "at most 1 亮点 in zone A, otherwise reject"
    assert found.reason["found"] == 2 and found.reason["limit"]["zone"] == "A" and rule.zones == ("A",)
    for others in ((), (InspectionArea(300, 200, marked[2:]),), (replace(areas[0], folder="lot1"),)):
        with pytest.raises(SettingsError, match="needs the zone 'A'"):
            gray_settings(verdict_rule=rule, areas=others)


@pytest.mark.parametrize("name", ["a,b", "a:b", "a=b", " a", "a\n", "x" * 41])
def test_names_of_zones_fit_into_a_sentence_of_the_command_line(name):
    with pytest.raises(ValueError, match="the name of a zone"):
        AreaPolygon(((0, 0), (1, 0), (1, 1)), zone=name)


def test_a_region_cut_by_the_ignored_border_keeps_its_length():
    table = table_of(face((SCRATCH, 10, 100, 40, 1)), verdict_border=30)
    assert table.area == 20 and table.feret[0, 0] == pytest.approx(np.hypot(40, 1)) and table.edge == 30


def test_distances_are_those_of_the_nearest_pixels():
    generator = np.random.default_rng(0)
    for _ in range(20):
        one, other = generator.integers(0, 20, 2), generator.integers(28, 50, 2)
        mask = face((PIT, *map(int, one), 7, 4), (PIT, *map(int, other), 4, 7), shape=(60, 60))
        table = table_of(mask)
        places = [np.argwhere(face((1, *map(int, box)), shape=mask.shape)) for box in table.box]
        nearest = np.sqrt(((places[0][:, None] - places[1][None]) ** 2).sum(axis=2).min())
        every = np.full(2, True)
        assert table.close(every, nearest + 0.01).all() and not table.close(every, nearest).any()


def test_sentences_state_what_one_of_two_conditions_suffices_for():
    limit = RegionLimit(PIT, area=400, probability=0.9, width_below=3)
    assert limit_text(limit, {PIT: "pit"}, UM) == (
        "at most 0 pit of area from 1 mm² or of probability from 0.9 narrower than 0.15 mm, otherwise reject"
    )
    assert "of area from 400 px² " in limit_text(limit, {PIT: "pit"}, None)


def test_rules_are_stored_and_those_without_sentences_have_the_former_file():
    settings = gray_settings(verdict_rule=RULE)
    assert settings_from_json(json.loads(settings_text(settings))) == settings
    former = json.loads(settings_text(gray_settings(verdict_rule=VerdictRule("region", limits=(RegionLimit(3, 5),)))))
    assert former["verdict_rule"]["limits"] == [{"class_id": 3, "area": 5, "probability": None}]
    with pytest.raises(ValueError, match="named 'rework'"):
        replace(RULE, bad="rework")


def test_labeled_images_give_the_verdicts_of_predictions_with_intervals_by_part():
    area = InspectionArea(300, 200, (AreaPolygon(((4, 4), (290, 9), (280, 196), (2, 190))),))
    settings = gray_settings(verdict_rule=RULE, um_per_pixel=UM, min_area=(0, 0), areas=(area,), verdict_border=3)
    faces = [face(*SHORT[:n]) for n in range(5)] + [face((SCRATCH, 10 + 10 * n, 100, 6, 2)) for n in range(5)]
    faces += [face((PIT, 60, 100, 5, 5), (PIT, 68, 100, 5, 5)), face(*[(PIT, 20 + 20 * n, 50, 3, 3) for n in range(5)])]
    images, expected = [], []
    for number, mask in enumerate(faces):
        scores = np.stack([np.where(mask == id, np.uint8(200), np.uint8(0)) for id in (SCRATCH, PIT)])
        stored = collect_prediction(str(number), mask, cut_patches(scores), [SCRATCH, PIT])
        images.append(ScoredImage(str(number), str(number), mask.any(), evaluate_prediction(stored, settings).regions))
        found = verdict(mask, areas=(area,), verdict_border=3)
        expected.append({"OK": None, "NG": "reject"}.get(found.name, found.name))
    result = evaluate_rule(RuleChoice.of(RULE), images)
    assert list(result.outcomes) == expected and {*expected} == {None, "reject", "rework", "unsure"}
    told = result.to_json()
    assert told["caught"] == sum(outcome in ("reject", "rework") for outcome in expected) and told["rework"] == 1
    assert told["unsure"] == 1 and told["missed"] == expected.count(None) - 1 and told["recall_interval"] is not None
    assert RuleChoice.from_json(json.loads(json.dumps(result.to_json()["rule"] and RuleChoice.of(RULE).to_json())))
