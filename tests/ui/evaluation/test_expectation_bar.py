"""Line on other parts and changed lighting above the evaluation of both kinds of model."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.session.mask_run import make_mask_project
from tests.session.stored_result import store_result, stored_result
from tests.session.verdict_run import make_verdict_project
from tests.ui.evaluation.evaluation_windows import open_project
from workbench.core.evaluation.expectation import CHANGES


def open_evaluation(application, run, qtbot):
    window = open_project(application, run, qtbot)
    window.table["evaluation"].trigger()
    page = window.evaluation
    qtbot.waitUntil(lambda: page.save_report.isEnabled(), timeout=20_000)
    return page


@pytest.mark.parametrize(
    "make, percent, start, value",
    [
        (make_mask_project, False, "Expect Dice 0.8", "0.91"),
        (make_verdict_project, True, "Expect 8", "91%"),
    ],
    ids=["unet", "resnet"],
)
def test_range_reason_and_worst_change_are_shown(application, tmp_path, qtbot, make, percent, start, value):
    bar = open_evaluation(
        application, store_result(make(tmp_path / "p"), **stored_result(percent=percent)), qtbot
    ).expectation
    assert bar.isVisible() and bar.range.text().startswith(start) and "on 40 parts" in bar.reason.text()
    assert bar.lighting.text() == f"Changed lighting: worst “darker” {value} (−3 points)"


def test_table_of_changes_marks_the_worst_and_stays_unfolded(application, tmp_path, qtbot):
    page = open_evaluation(application, store_result(make_mask_project(tmp_path / "p"), **stored_result()), qtbot)
    bar, table = page.expectation, page.expectation.table
    assert not table.isVisible()
    QTest.mouseClick(bar.lighting, Qt.MouseButton.LeftButton)
    assert table.isVisible() and table.columnCount() == len(CHANGES) + 2
    heads = [table.horizontalHeaderItem(column).text() for column in range(table.columnCount())]
    assert heads[:3] == ["", "unchanged", "darker (worst)"] and heads[-1] == "brighter"
    assert [table.item(row, 2).text() for row in range(2)] == ["0.91", "−3.0"] and table.item(0, 2).font().bold()
    assert not table.horizontalHeaderItem(2).icon().isNull() and table.horizontalHeaderItem(3).icon().isNull()
    assert "120 validation/test images" in table.toolTip()
    rebuilt = type(bar)(page._style)
    qtbot.addWidget(rebuilt)
    assert rebuilt.lighting.isChecked()


def test_table_of_changes_follows_the_size_of_the_texts(application, tmp_path, qtbot):
    page = open_evaluation(application, store_result(make_mask_project(tmp_path / "p"), **stored_result()), qtbot)
    table, style = page.expectation.table, application.style
    usual = table.height()
    style.set_text_size(150)
    try:
        assert table.maximumHeight() > usual
        rows = sum(table.rowHeight(row) for row in range(2))
        scroll_bar = table.horizontalScrollBar().sizeHint().height()
        assert table.maximumHeight() >= table.horizontalHeader().sizeHint().height() + rows + scroll_bar
    finally:
        style.set_text_size(100)
    assert table.maximumHeight() == usual


def test_few_parts_state_that_there_is_no_range(application, tmp_path, qtbot):
    run = store_result(make_mask_project(tmp_path / "p"), **{**stored_result(parts=2), "lighting": None})
    bar = open_evaluation(application, run, qtbot).expectation
    assert bar.range.text() == "The range to expect on other parts cannot be stated."
    assert "Only 2 parts of the validation/test images count" in bar.reason.text() and not bar.lighting.isVisible()


def test_run_of_an_earlier_version_shows_nothing(application, tmp_path, qtbot):
    page = open_evaluation(application, make_mask_project(tmp_path / "p"), qtbot)
    assert not page.expectation.isVisible()


def test_line_disappears_with_the_metrics(application, tmp_path, qtbot):
    page = open_evaluation(application, store_result(make_mask_project(tmp_path / "p"), **stored_result()), qtbot)
    assert page.expectation.isVisible()
    application.services.evaluation.close()
    assert not page.expectation.isVisible()
