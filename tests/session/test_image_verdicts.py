"""Verdict rule of a run in the evaluation: chosen, stored with the operating point, measured on other images."""

from __future__ import annotations

import json

import pytest

from tests.session.mask_run import COUNTS, make_mask_project
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.operating_point import ChosenRule
from workbench.core.evaluation.verdict_rules import RuleChoice
from workbench.inference.region_table import RegionLimit
from workbench.inference.verdict_rule import VerdictRule

BUDGET = RuleChoice("budget", 10.0)


@pytest.fixture
def run(tmp_path):
    return make_mask_project(tmp_path / "p")


def wait_for_result(evaluation, qtbot, action):
    action()
    qtbot.waitUntil(lambda: evaluation.verdicts.result is not None)
    return evaluation.verdicts.result


def test_rule_is_chosen_stored_and_measured_on_the_other_split(evaluation, run, qtbot):
    verdicts = evaluation.verdicts
    result = wait_for_result(evaluation, qtbot, lambda: evaluation.open(run, "val"))
    assert result.rule is None and result.auroc is not None and not evaluation.can_store()
    result = wait_for_result(evaluation, qtbot, lambda: verdicts.set_choice(BUDGET))
    assert result.rule.method == "leave_one_out" and result.rule.caught.total + result.rule.false.total == COUNTS["val"]
    assert "too few" in result.note and evaluation.can_store() and not evaluation.moved
    evaluation.store()
    stored = operating_point.read(run)
    assert stored.rule == ChosenRule(result.rule.rule, BUDGET, ("val",)) and stored.chosen_on == ()
    assert operating_point.settings_of(run).verdict_rule == result.rule.rule and not evaluation.can_store()
    on_test = wait_for_result(evaluation, qtbot, lambda: evaluation.open(run, "test"))
    assert verdicts.choice == BUDGET and on_test.rule.rule == result.rule.rule and on_test.rule.method == "other"
    assert not evaluation.can_store()


def test_threshold_follows_the_operating_point(evaluation, run, qtbot):
    wait_for_result(evaluation, qtbot, lambda: evaluation.open(run, "test"))
    first = wait_for_result(evaluation, qtbot, lambda: evaluation.verdicts.set_choice(RuleChoice("cost", 5.0)))
    evaluation.store()
    moved = evaluation.point.at(1, area=400)
    evaluation.set_point(moved)
    assert evaluation.verdicts.result is None and not evaluation.can_store()  # the threshold is being chosen again
    qtbot.waitUntil(lambda: evaluation.verdicts.result is not None)
    second = evaluation.verdicts.result
    assert evaluation.can_store() and second.rule.false.hits <= first.rule.false.hits
    evaluation.store()
    stored = operating_point.read(run)
    assert stored.chosen_on == ("test",) and stored.rule.rule == second.rule.rule


def test_reset_removes_point_and_rule(evaluation, run, qtbot):
    wait_for_result(evaluation, qtbot, lambda: evaluation.open(run, "val"))
    choice = RuleChoice("region", 0.0, (RegionLimit(1, area=30),), bad="")
    wait_for_result(evaluation, qtbot, lambda: evaluation.verdicts.set_choice(choice))
    assert evaluation.can_restore()
    evaluation.store()
    assert operating_point.settings_of(run).verdict_rule.limits == choice.limits
    evaluation.restore()
    assert evaluation.verdicts.choice is None and operating_point.read(run).rule is None
    assert not (run.root / operating_point.FILE).exists()


def test_rule_can_be_removed_alone(evaluation, run, qtbot):
    point = operating_point.OperatingPoint((0.4, 0.5), (9, 9))
    operating_point.store(
        run, point, chosen_on=["val"], rule=ChosenRule(VerdictRule("mass", 3.0), RuleChoice("mass", 3))
    )
    wait_for_result(evaluation, qtbot, lambda: evaluation.open(run, "test"))
    assert evaluation.verdicts.choice == RuleChoice("mass", 3)
    wait_for_result(evaluation, qtbot, lambda: evaluation.verdicts.set_choice(None))
    evaluation.store()
    stored = operating_point.read(run)
    assert stored.rule is None and stored.chosen_on == ("val",)
    assert operating_point.OperatingPoint.of(operating_point.settings_of(run)) == point


def test_rule_outlives_a_damaged_record(run):
    rule = VerdictRule("mass", 7.0)
    point = operating_point.OperatingPoint.of(operating_point.settings_of(run))
    operating_point.store(run, point, chosen_on=(), rule=ChosenRule(rule, BUDGET, ("val",)))
    path = run.root / operating_point.FILE
    content = json.loads(path.read_text("utf-8"))
    for record in ({**content["verdict_rule"], "choice": 5}, {}, None, [1]):
        path.write_text(json.dumps({**content, "verdict_rule": record}), "utf-8")
        assert operating_point.read(run).rule == ChosenRule(rule, RuleChoice("mass", 7.0))
    path.unlink()
    assert operating_point.read(run).rule == ChosenRule(rule, RuleChoice("mass", 7.0))
