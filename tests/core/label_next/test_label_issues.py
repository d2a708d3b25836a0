"""Suspected label errors: detection, exceptions, correction, order and storage."""

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
from workbench.inference.regions import find_regions

A, B = Rect(10, 10, 20, 12), Rect(50, 40, 14, 9)
SETTINGS = gray_settings(thresholds=(0.5, 0.5), min_area=(0, 0))


def find(scores: dict[Rect, tuple[int, int]], label: dict[Rect, int]) -> tuple[list[LabelIssue], int]:
    """Return the label issues. Rectangles map to (index of the class, 255 times the probability), and to class ids."""
    planes, mask = np.zeros((2, 70, 90), np.uint8), np.zeros((70, 90), np.uint8)
    for rect, (place, score) in scores.items():
        planes[place][rect.slices] = score
    for rect, id in label.items():
        mask[rect.slices] = id
    return find_issues(planes, apply_thresholds(planes, SETTINGS)[0], mask, SETTINGS)


def test_correct_labels_have_no_issues():
    assert find({A: (0, 250), B: (1, 240)}, {A: 3, B: 7}) == ([], 2)
    assert find({}, {}) == ([], 0)


def test_a_certain_region_that_the_label_lacks():
    issues, count = find({A: (0, 250), B: (1, 150)}, {})  # the second one is too uncertain
    assert count == 0 and [(s.kind, s.class_id, s.rect, s.area) for s in issues] == [("missing", 3, A, 240)]
    assert issues[0].certainty == pytest.approx(250 / 255) and issues[0].selection.inside.all()


def test_probability_is_that_of_the_predicted_region():
    """The number of an issue equals the one beside the predicted region, however certain the middle of it is."""
    scores, middle = np.zeros((2, 70, 90), np.uint8), Rect(A.x + 6, A.y + 4, 6, 5)
    scores[0][A.slices], scores[0][middle.slices] = 150, 254
    mask, highest = apply_thresholds(scores, SETTINGS)
    (region,) = find_regions(mask, highest, SETTINGS)
    label = np.zeros((70, 90), np.uint8)
    (missing,), _ = find_issues(scores, mask, label, SETTINGS)
    label[A.slices] = 7
    (other,), _ = find_issues(scores, mask, label, SETTINGS)
    assert missing.probability == other.probability == region.score < missing.certainty
    assert verdict_issue({"OK": 0.05, "NG": 0.95}, "OK").probability == 0.95


def test_unlabeled_areas_have_no_missing_regions():
    for id in (DONT_CARE, NOT_LABELED):
        assert find({A: (0, 250)}, {A: id})[0] == []


def test_a_region_touching_a_label_is_no_issue():
    beside = Rect(A.x + 2, A.y + A.height + 1, 10, 6)
    issues, _ = find({A: (0, 250), beside: (1, 100)}, {beside: 7})
    assert issues == []


def test_a_labeled_region_that_the_model_is_certain_is_background():
    issues, count = find({A: (0, 250), B: (1, 5)}, {A: 3, B: 7})
    assert count == 2 and [(s.kind, s.class_id, s.rect) for s in issues] == [("extra", 7, B)]
    assert find({B: (1, 60)}, {B: 7})[0] == []  # a low probability is uncertainty, not a contradiction
    assert find({}, {B: 9})[0] == []  # a class that the model lacks


def test_a_label_that_is_wrong_as_a_whole_touches_the_defect_at_most_slightly():
    """As if the label of another image had been painted: it lies beside the defect, whose end it covers."""
    wrong = Rect(A.x + A.width - 1, A.y + A.height - 1, 30, 9)
    issues, _ = find({A: (0, 250)}, {wrong: 3})
    assert {(issue.kind, issue.class_id) for issue in issues} == {("missing", 3), ("extra", 3)}
    missing = next(issue for issue in issues if issue.kind == "missing")
    label = np.zeros((70, 90), np.uint8)
    label[wrong.slices] = 3
    assert is_current(missing, label) and missing.area == missing.selection.inside.sum() > 0.9 * 240
    assert find({A: (0, 250)}, {Rect(A.x + A.width - 8, A.y, 30, 12): 3})[0] == []  # covers a part of the defect
    middle = Rect(A.x + 4, A.y + 4, 4, 4)
    issues, _ = find({A: (0, 140), middle: (0, 250)}, {wrong: 7})
    assert [issue.kind for issue in issues] == ["extra"]  # the model is certain of the middle of its region only


def test_another_class():
    issues, _ = find({A: (1, 250)}, {A: 3})
    assert [(s.kind, s.class_id, s.labeled_id) for s in issues] == [("class", 7, 3)]


def test_corners_are_added():
    scores = np.zeros((2, 40, 40), np.uint8)
    scores[0, 5:15, 5:15] = 250
    mask = apply_thresholds(scores, SETTINGS)[0]
    issues, _ = find_issues(scores, mask, np.zeros((40, 40), np.uint8), SETTINGS, corner=(4096, 10))
    assert issues[0].rect == Rect(4101, 15, 10, 10)


def test_a_corrected_label_has_no_issue():
    label = np.zeros((70, 90), np.uint8)
    issue = find({A: (0, 250)}, {})[0][0]
    assert is_current(issue, label)
    label[issue.rect.slices][issue.selection.inside] = 3
    assert (
        not is_current(issue, label)
        and not is_current(issue, None)
        and not is_current(issue, np.zeros((5, 5), np.uint8))
    )
    extra = find({B: (1, 0)}, {B: 7})[0][0]
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


def test_order_by_severity_with_training_images_last():
    certain = LabelIssue("missing", 3, 0, 0.99, A, 240)
    small, trained_on = replace(certain, area=4), replace(certain, trained_on=True)
    less = replace(certain, certainty=0.85)
    assert worst_first([trained_on, small, less, certain]) == [certain, less, small, trained_on]


def test_an_issue_at_the_same_place_is_recognized():
    one = LabelIssue("missing", 3, 0, 0.9, A, 240)
    assert is_same_issue(one, replace(one, certainty=0.99, rect=Rect(A.x + 2, A.y, A.width, A.height)))
    assert not is_same_issue(one, replace(one, rect=B)) and not is_same_issue(one, replace(one, class_id=7))
    assert not is_same_issue(one, replace(one, kind="extra"))
    verdict = LabelIssue("verdict", verdict="OK", predicted_verdict="NG")
    assert is_same_issue(verdict, replace(verdict, certainty=0.9)) and not is_same_issue(
        verdict, replace(verdict, predicted_verdict="X")
    )


def test_issues_survive_serialization():
    issues, labeled_project = find({A: (0, 250), B: (1, 250)}, {B: 3})
    sight = CachedPrediction(issues=tuple(issues), labeled_regions=labeled_project, probabilities={"OK": 0.5})
    again = CachedPrediction.from_text(sight.to_text())
    assert again == sight and np.array_equal(again.issues[0].selection.inside, issues[0].selection.inside)
    for text in ("", "[]", "{}", '{"seen": [{}], "slips": [], "labelled": 0, "probabilities": null}'):
        with pytest.raises((ValueError, KeyError, TypeError)):
            CachedPrediction.from_text(text)
