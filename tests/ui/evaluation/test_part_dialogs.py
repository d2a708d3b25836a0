"""Dialogs about parts: bounds and parts to label next, gauge study with a table of inspectors."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from tests.session.verdict_run import make_verdict_project
from tests.ui.evaluation.evaluation_windows import open_project
from workbench.core.evaluation import gauge_study
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png
from workbench.ui.evaluation.part_dialogs import GaugeDialog, PartPlanDialog


def open_evaluation(application, run, qtbot):
    window = open_project(application, run, qtbot)
    window.table["evaluation"].trigger()
    qtbot.waitUntil(lambda: window.evaluation.parts.isEnabled(), timeout=20_000)
    return window


@pytest.fixture
def gauge(application, run, qtbot):
    window = open_project(application, run, qtbot)
    window.table["study_gauge"].trigger()
    return window.findChild(GaugeDialog)


def enter(widget, text: str) -> None:
    widget.selectAll()
    QTest.keyClicks(widget, text)


def test_bounds_are_planned_from_the_shown_evaluation(application, run, qtbot):
    window = open_evaluation(application, run, qtbot)
    QTest.mouseClick(window.evaluation.parts, Qt.MouseButton.LeftButton)
    dialog = window.findChild(PartPlanDialog)
    missed, alarms = dialog.cards["missed"], dialog.cards["alarms"]
    assert dialog.isVisible() and missed.number.text() == "≤ 64%"
    assert "0 of 3 defective parts are missed" in missed.detail.text() and "299 defective" in missed.detail.text()
    assert "149 parts with good images" in alarms.detail.text()
    box = dialog.bounds["missed"]
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.value() == 2 and "149 defective" in missed.detail.text()
    enter(dialog.confidence.lineEdit(), "90")
    QTest.keyClick(dialog.confidence, Qt.Key.Key_Tab)
    assert missed.number.text() == "≤ 54%" and "90% confidence" in missed.detail.text()
    assert "none of them is detected" in dialog.definition.text() and dialog.good.isHidden()


def test_images_of_new_parts_are_listed_and_opened(application, run, qtbot):
    with Project.open(run.project_root) as project:
        for number in range(3):
            write_png(project.image_path(f"zone{number}/q.png"), np.full((80, 96), 60 + 40 * number, np.uint8))
    window = open_evaluation(application, run, qtbot)
    window.table["plan_parts"].trigger()
    dialog = window.findChild(PartPlanDialog)
    with qtbot.waitSignal(dialog.job.ranked, timeout=20_000):
        QTest.mouseClick(dialog.start_button, Qt.MouseButton.LeftButton)
    keys = {dialog.table.item(row, 0).text() for row in range(dialog.table.rowCount())}
    assert keys and keys <= {f"zone{number}/q.png" for number in range(3)} and dialog.table.isVisible()
    with qtbot.waitSignal(application.services.session.current.opened, timeout=20_000):
        dialog.table.setCurrentCell(0, 0)
        QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    assert application.services.session.key in keys


def test_the_verdict_of_good_parts_is_chosen_by_its_name_and_can_be_changed(application, tmp_path, qtbot):
    window = open_evaluation(application, make_verdict_project(tmp_path / "v"), qtbot)
    window.table["plan_parts"].trigger()
    dialog = window.findChild(PartPlanDialog)
    assert dialog.good.currentText() == "OK" and not dialog.good.isHidden()
    assert "1 of 10 defective" in dialog.cards["missed"].detail.text()
    QTest.keyClick(dialog.good, Qt.Key.Key_Down)
    assert dialog.good.currentText() == "NG" and "1 of 10 parts with good" in dialog.cards["alarms"].detail.text()


def test_study_with_inspectors_is_shown_stored_and_in_the_report(application, gauge, run, tmp_path, qtbot, monkeypatch):
    table = tmp_path / "inspectors.csv"
    table.write_text("part,Anna,Bert\np00,NG,OK\np01,NG,NG\np02,OK,OK\n", "utf-8")
    assert gauge.figures.isHidden() and "Take several images" in gauge.about.text()
    QTest.keyClick(gauge.repeats, Qt.Key.Key_Down)
    enter(gauge.pattern, "(p[0-9]+)")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(table), ""))
    QTest.mouseClick(gauge.inspectors.findChild(type(gauge.start_button)), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(gauge.job.studied, timeout=20_000):
        QTest.mouseClick(gauge.start_button, Qt.MouseButton.LeftButton)
    assert gauge.isVisible() and gauge.figures.isVisible()
    rows = [[gauge.figures.item(row, column).text() for column in range(3)] for row in range(gauge.figures.rowCount())]
    assert [row[0] for row in rows] == ["Model, repeats", "Model and Anna", "Model and Bert", "Anna and Bert"]
    assert rows[3][1] == "2 of 3 (no CI)" and "below 5 parts" in gauge.about.text()
    assert "Cohen's kappa" in gauge.figures.horizontalHeaderItem(2).toolTip()
    assert [gauge.parts.horizontalHeaderItem(n).text() for n in range(4)] == ["Part", "Model", "Anna", "Bert"]
    assert gauge_study.load(run).images == 9 and "training images" in gauge.status.text()
    gauge.close()
    window = application.window
    window.table["evaluation"].trigger()
    qtbot.waitUntil(lambda: window.evaluation.save_report.isEnabled(), timeout=20_000)
    window.table["study_gauge"].trigger()
    assert gauge.figures.isVisible()  # of the stored study
    path = tmp_path / "r.html"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), "Web page (*.html)"))
    with qtbot.waitSignal(application.services.evaluation_report.saved, timeout=20_000):
        QTest.mouseClick(gauge.report, Qt.MouseButton.LeftButton)
    assert "Gauge study" in path.read_text("utf-8") and "Anna and Bert" in path.read_text("utf-8")


def test_an_unusable_table_is_reported_with_its_line(gauge, tmp_path, qtbot):
    table = tmp_path / "inspectors.csv"
    table.write_text("image,Anna\ntest/p00,perhaps\n", "utf-8")
    enter(gauge.inspectors.line, str(table))
    with qtbot.waitSignal(gauge.job.failed, timeout=20_000):
        QTest.mouseClick(gauge.start_button, Qt.MouseButton.LeftButton)
    assert gauge.isVisible() and "line 2: perhaps is none of the verdicts OK, NG" in gauge.status.text()


def test_commands_need_a_model_and_an_evaluation(application, run, qtbot):
    window = open_project(application, run, qtbot)
    assert window.table["study_gauge"].isEnabled() and not window.table["plan_parts"].isEnabled()
