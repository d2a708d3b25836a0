"""Image verdict panel: rules, results and stored rule of a UNet run in the evaluation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.ui.evaluation.evaluation_windows import choose_rule
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.verdict_rules import RuleChoice
from workbench.inference.region_table import RegionLimit
from workbench.ui.evaluation.operating_point_panel import LimitEditor


def test_budget_shows_results_with_limits_and_is_stored(page, verdicts, run, qtbot):
    panel = page.verdict
    assert panel.choice is None and panel.caught.isHidden() and not panel.ranking.isHidden()
    assert panel.ranking.text().startswith("AUROC of the anomaly score: ")
    choose_rule(panel, "budget")
    panel.values["budget"].setValue(20)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.choice == RuleChoice("budget", 20.0))
    assert panel.caught.text().startswith("Defective images rejected: ") and "of 2" in panel.false.text()
    assert "Lowest limit that can be shown with 1 part: 95.0%" in panel.limit.text()
    assert "2 good images are too few" in panel.note.text()
    assert page.points.store.isEnabled()
    QTest.mouseClick(page.points.store, Qt.MouseButton.LeftButton)
    assert operating_point.read(run).rule.choice == RuleChoice("budget", 20.0) and not page.points.store.isEnabled()
    QTest.mouseClick(page.points.restore, Qt.MouseButton.LeftButton)
    assert operating_point.read(run).rule is None and panel.rule.currentData() == "" and panel.caught.isHidden()


def test_rule_that_rejects_no_defective_image_has_a_warning(page, verdicts, qtbot):
    panel = page.verdict
    choose_rule(panel, "mass")
    panel.values["mass"].setValue(1e6)
    qtbot.waitUntil(lambda: panel.warning.texts == ["This rule rejects none of the defective images."])
    assert "rejected: 0 of " in panel.caught.text() and not panel.warning.isHidden()
    panel.values["mass"].setValue(0)
    qtbot.waitUntil(lambda: not panel.warning.texts)
    choose_rule(panel, "")
    assert panel.warning.isHidden()


def test_fields_of_the_chosen_rule_are_shown(page, verdicts):
    panel = page.verdict
    for by in ("budget", "cost", "mass"):
        choose_rule(panel, by)
        assert [name for name, box in panel.values.items() if not box.isHidden()] == [by]
        assert panel.limits.isHidden() and not panel.bad.isHidden()
    choose_rule(panel, "region")
    assert all(box.isHidden() for box in panel.values.values()) and not panel.limits.isHidden()
    choose_rule(panel, "")
    assert panel.bad.isHidden() and panel.limits.isHidden()


def test_ignored_border_is_evaluated_and_stored(page, verdicts, application, run, qtbot):
    evaluation = application.services.evaluation
    assert page.verdict.border.text() == "Off" and evaluation.result.images[0].regions.anomaly_score > 0
    with qtbot.waitSignal(evaluation.evaluated):
        page.verdict.border.setValue(60)
    assert {image.regions.anomaly_score for image in evaluation.result.images} == {0.0}
    assert page.points.store.isEnabled()
    QTest.mouseClick(page.points.store, Qt.MouseButton.LeftButton)
    assert operating_point.settings_of(run).verdict_border == 60
    QTest.mouseClick(page.points.restore, Qt.MouseButton.LeftButton)
    assert operating_point.settings_of(run).verdict_border == 0
    qtbot.waitUntil(lambda: page.verdict.border.value() == 0)


def condition(sentence, number: int, key: str, value: float) -> None:
    """Choose a condition of a sentence as the user does."""
    row = sentence.conditions[number]
    row.kind.setCurrentIndex(row.kind.findData(key))
    row.kind.activated.emit(row.kind.currentIndex())
    row.value.setValue(value)


def test_rule_by_region_needs_a_sentence(page, verdicts, qtbot):
    panel = page.verdict
    choose_rule(panel, "region")
    panel.bad.setCurrentIndex(panel.bad.findData(""))
    assert verdicts.choice is None and panel.rule.currentData() == "region"
    panel.limits.add.click()
    condition(panel.limits.sentences[0], 0, "area", 30)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.result.rule is not None)
    assert verdicts.choice == RuleChoice("region", 0.0, (RegionLimit(1, area=30),), bad="")
    panel.limits.add.click()
    sentence = panel.limits.sentences[1]
    sentence.name.setCurrentIndex(sentence.name.findData(2))
    condition(sentence, 0, "length_below", 12)
    condition(sentence, 1, "edge", 4)
    sentence.most.setValue(3)
    sentence.outcome.setCurrentIndex(1)
    sentence.outcome.activated.emit(1)
    second = RegionLimit(2, most=3, length_below=12, edge=4, outcome="rework")
    assert verdicts.choice.limits == (RegionLimit(1, area=30), second)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.result.rule is not None)
    assert panel.band.isVisibleTo(panel) and "to be reworked" in panel.band.text()
    condition(sentence, 0, None, 0)
    assert len(sentence.conditions) == 2 and verdicts.choice.limits[1] == replace(second, length_below=None)
    panel.limits.sentences[0].remove.click()
    assert verdicts.choice.limits == (replace(second, length_below=None),)


def test_stored_rule_is_shown_when_the_run_is_opened_again(page, verdicts, application, run, qtbot):
    choose_rule(page.verdict, "mass")
    page.verdict.values["mass"].setValue(42)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.result.rule is not None)
    application.services.evaluation.store()
    choose_rule(page.verdict, "")
    with qtbot.waitSignal(application.services.evaluation.evaluated):
        application.services.evaluation.open(run, "val")
    assert page.verdict.choice == RuleChoice("mass", 42.0)


def test_curve_shows_the_rule(page, verdicts, qtbot):
    choose_rule(page.verdict, "cost")
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.result.rule is not None)
    point = page.verdict.plot._point.getData()
    rule = verdicts.result.rule
    assert [float(value[0]) for value in point] == pytest.approx([100 * rule.false.value, 100 * rule.caught.value])
    page.verdict.plot.show_curve(None, None)
    assert "needs good and defective" in page.verdict.plot._hint.text()


def test_areas_are_in_square_millimeters_if_the_scale_is_known(qtbot):
    limits = LimitEditor()
    qtbot.addWidget(limits)
    limits.show_classes({1: "scratch", 2: "pit"}, 20.0)
    limits.show_limits((RegionLimit(1, area=500), RegionLimit(2, area=1, probability=0.5)))
    box = limits.sentences[0].conditions[0].value
    assert box.value() == pytest.approx(0.2) and box.suffix() == " mm²"
    parts = RegionLimit(2, area=1), RegionLimit(2, probability=0.5)  # one of the two suffices
    assert limits.limits == (RegionLimit(1, area=500), *parts)
    limits.show_classes({1: "scratch"}, 200.0)
    assert limits.limits == (RegionLimit(1, area=500),)
    assert limits.sentences[0].conditions[0].value.value() == pytest.approx(20)
    limits.show_classes({1: "scratch"}, None)
    exact = RegionLimit(1, most=2, length=12.3456)
    limits.show_limits((exact,))
    assert limits.limits == (exact,) and limits.sentences[0].conditions[0].value.suffix() == " px"


def test_zones_are_offered_once_the_project_has_one(qtbot):
    limits = LimitEditor()
    qtbot.addWidget(limits)
    limits.show_classes({1: "scratch"}, None)
    limits.add.click()
    kind = limits.sentences[0].conditions[0].kind
    assert not kind.model().item(kind.findData("zone")).isEnabled()
    limits.show_classes({1: "scratch"}, None, ("A", "thread"))
    row = limits.sentences[0].conditions[0]
    assert row.kind.model().item(row.kind.findData("zone")).isEnabled()
    row.kind.setCurrentIndex(row.kind.findData("zone"))
    row.kind.activated.emit(row.kind.currentIndex())
    assert limits.limits == (RegionLimit(1, zone="A"),) and row.value.isHidden() and not row.zone.isHidden()
    row.zone.setCurrentText("thread")
    row.zone.activated.emit(1)
    assert limits.limits == (RegionLimit(1, zone="thread"),)
    limits.show_limits((RegionLimit(1, zone="removed"),))
    assert limits.limits == (RegionLimit(1, zone="removed"),)


def test_panel_is_not_wider_than_its_column(page, verdicts, qtbot):
    """A region rule in mm² with a long class name must not push the other fields out of view."""
    panel = page.verdict
    panel.show_classes({1: ("an unusually long name of a class", "#ff0000")}, 50.0)
    choose_rule(panel, "region")
    panel.limits.add.click()
    condition(panel.limits.sentences[0], 0, "area", 1.5)
    qtbot.waitUntil(lambda: verdicts.result is not None and verdicts.result.rule is not None)
    column = panel.parentWidget()
    view = column.parentWidget()
    box = panel.limits.sentences[0].conditions[0].value
    qtbot.waitUntil(lambda: box.width() > 0)
    assert column.minimumSizeHint().width() <= view.width() and column.width() == view.width()
    assert box.width() >= 84
