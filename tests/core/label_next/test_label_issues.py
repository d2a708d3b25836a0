"""Where a label may be wrong: what is found, what is left alone, what is mended, and that a slip travels well."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.inference.conftest import gray_settings
from workbench.core.geometry.drawing import Rect
from workbench.core.label_next.image_features import CachedPrediction
from workbench.core.label_next.label_issues import (
    LabelIssue,
    find_issues,
    is_current,
    is_same_issue,
    verdict_issue,
    worst_first,
)
from workbench.core.project.project import DONT_CARE, NOT_LABELED
from workbench.inference.predictor import apply_thresholds

A, B = Rect(10, 10, 20, 12), Rect(50, 40, 14, 9)
SETTINGS = gray_settings(thresholds=(0.5, 0.5), min_area=(0, 0))


def look(scores: dict[Rect, tuple[int, int]], label: dict[Rect, int]) -> tuple[list[LabelIssue], int]:
    """scores: where, (place of the class, 255 times the probability). label: where, class id."""
    planes, mask = np.zeros((2, 70, 90), np.uint8), np.zeros((70, 90), np.uint8)
    for rect, (place, score) in scores.items():
        planes[place][rect.slices] = score
    for rect, id in label.items():
        mask[rect.slices] = id
    return find_issues(planes, apply_thresholds(planes, SETTINGS)[0], mask, SETTINGS)


def test_agreement_has_no_label_errors():
    assert look({A: (0, 250), B: (1, 240)}, {A: 3, B: 7}) == ([], 2)
    assert look({}, {}) == ([], 0)


def test_a_certain_region_that_the_label_lacks():
    slips, count = look({A: (0, 250), B: (1, 150)}, {})  # the second is not sure enough
    assert count == 0 and [(s.kind, s.class_id, s.rect, s.area) for s in slips] == [("missing", 3, A, 240)]
    assert slips[0].certainty == pytest.approx(250 / 255) and slips[0].selection.inside.all()


def test_where_nothing_is_labeled_nothing_is_missing():
    for id in (DONT_CARE, NOT_LABELED):
        assert look({A: (0, 250)}, {A: id})[0] == []


def test_a_region_beside_a_label_is_a_matter_of_taste():
    beside = Rect(A.x + 2, A.y + A.height + 1, 10, 6)
    slips, _ = look({A: (0, 250), beside: (1, 100)}, {beside: 7})
    assert slips == []


def test_a_labeled_region_that_the_model_is_certain_is_background():
    slips, count = look({A: (0, 250), B: (1, 5)}, {A: 3, B: 7})
    assert count == 2 and [(s.kind, s.class_id, s.rect) for s in slips] == [("extra", 7, B)]
    assert look({B: (1, 60)}, {B: 7})[0] == []  # it sees a little: that is doubt, not certainty
    assert look({}, {B: 9})[0] == []  # a class that the model does not know


def test_another_class():
    slips, _ = look({A: (1, 250)}, {A: 3})
    assert [(s.kind, s.class_id, s.labeled_id) for s in slips] == [("class", 7, 3)]


def test_corners_are_added():
    scores = np.zeros((2, 40, 40), np.uint8)
    scores[0, 5:15, 5:15] = 250
    mask = apply_thresholds(scores, SETTINGS)[0]
    slips, _ = find_issues(scores, mask, np.zeros((40, 40), np.uint8), SETTINGS, corner=(4096, 10))
    assert slips[0].rect == Rect(4101, 15, 10, 10)


def test_a_corrected_label_holds_no_label_error_any_more():
    label = np.zeros((70, 90), np.uint8)
    issue = look({A: (0, 250)}, {})[0][0]
    assert is_current(issue, label)
    label[issue.rect.slices][issue.selection.inside] = 3
    assert (
        not is_current(issue, label)
        and not is_current(issue, None)
        and not is_current(issue, np.zeros((5, 5), np.uint8))
    )
    extra = look({B: (1, 0)}, {B: 7})[0][0]
    assert not is_current(extra, label)
    label[B.slices] = 7
    assert is_current(extra, label)
    verdict = verdict_issue({"OK": 0.03, "NG": 0.97}, "OK")
    assert is_current(verdict, None, "OK") and not is_current(verdict, None, "NG")


def test_verdicts_differ_only_where_the_model_is_certain():
    issue = verdict_issue({"OK": 0.03, "NG": 0.97}, "OK")
    assert (issue.kind, issue.verdict, issue.predicted_verdict) == (
        "verdict",
        "OK",
        "NG",
    ) and issue.certainty == pytest.approx(0.97)
    for probabilities, verdict in (
        ({"OK": 0.3, "NG": 0.7}, "OK"),
        ({"OK": 0.97, "NG": 0.03}, "OK"),
        ({"OK": 0.97, "NG": 0.03}, None),
        ({"OK": 0.97, "NG": 0.03}, "other"),
        ({}, "OK"),
    ):
        assert verdict_issue(probabilities, verdict) is None


def test_the_worst_come_first_and_what_was_learned_weighs_less():
    certain = LabelIssue("missing", 3, 0, 0.99, A, 240)
    small, trained_on = replace(certain, area=4), replace(certain, trained_on=True)
    less = replace(certain, certainty=0.85)
    assert worst_first([trained_on, small, less, certain]) == [certain, less, small, trained_on]


def test_the_same_place_is_known_again():
    one = LabelIssue("missing", 3, 0, 0.9, A, 240)
    assert is_same_issue(one, replace(one, certainty=0.99, rect=Rect(A.x + 2, A.y, A.width, A.height)))
    assert not is_same_issue(one, replace(one, rect=B)) and not is_same_issue(one, replace(one, class_id=7))
    assert not is_same_issue(one, replace(one, kind="extra"))
    verdict = LabelIssue("verdict", verdict="OK", predicted_verdict="NG")
    assert is_same_issue(verdict, replace(verdict, certainty=0.9)) and not is_same_issue(
        verdict, replace(verdict, predicted_verdict="X")
    )


def test_prediction_maps_survive_its_text():
    slips, labeled_project = look({A: (0, 250), B: (1, 250)}, {B: 3})
    sight = CachedPrediction(issues=tuple(slips), labeled_regions=labeled_project, probabilities={"OK": 0.5})
    again = CachedPrediction.from_text(sight.to_text())
    assert again == sight and np.array_equal(again.issues[0].selection.inside, slips[0].selection.inside)
    for text in ("", "[]", "{}", '{"seen": [{}], "slips": [], "labelled": 0, "probabilities": null}'):
        with pytest.raises((ValueError, KeyError, TypeError)):
            CachedPrediction.from_text(text)
