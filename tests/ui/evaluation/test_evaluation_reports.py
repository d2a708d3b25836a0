"""Reports and comparison in the window: buttons, menu, dialog, message."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from tests.core.documents.report_runs import make_other
from tests.session.mask_run import FALSE, make_mask_project
from tests.session.stored_result import store_result, stored_result
from tests.session.verdict_run import make_verdict_project
from tests.ui.evaluation.evaluation_windows import open_project
from workbench.core.project.storage import write_json
from workbench.ui.evaluation import comparison_dialog
from workbench.ui.evaluation.comparison_dialog import ComparisonDialog
from workbench.ui.widgets.dialogs import Question


def choose(monkeypatch, path, kind: str) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), kind))


def test_report_of_the_shown_evaluation_is_saved(application, tmp_path, qtbot, monkeypatch):
    window = open_project(application, make_mask_project(tmp_path / "p"), qtbot)
    action, button = window.table["save_evaluation_report"], window.evaluation.save_report
    assert not window.evaluation.reports.can_save()
    window.table["evaluation"].trigger()
    qtbot.waitUntil(lambda: button.isEnabled(), timeout=20_000)
    qtbot.waitUntil(action.isEnabled, timeout=20_000)
    pdf = "r", "PDF document (*.pdf)", "r.pdf", b"%PDF-"
    for name, kind, saved, start in (pdf, ("r.html", "Web page (*.html)", "r.html", b"<!doctype html>")):
        qtbot.waitUntil(lambda: button.isEnabled(), timeout=20_000)
        choose(monkeypatch, tmp_path / name, kind)
        with qtbot.waitSignal(application.services.evaluation_report.saved, timeout=30_000):
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert (tmp_path / saved).read_bytes().lstrip().startswith(start)
        assert any(str(tmp_path / saved) in text for text in window.messages.texts)


def test_report_of_verdicts_is_of_the_selected_split(application, tmp_path, qtbot, monkeypatch):
    window = open_project(application, make_verdict_project(tmp_path / "p"), qtbot)
    window.table["evaluation"].trigger()
    page = window.evaluation
    qtbot.waitUntil(lambda: page.save_report.isEnabled(), timeout=20_000)
    page.verdicts.split.setCurrentIndex(2)  # both splits
    choose(monkeypatch, tmp_path / "r.html", "Web page (*.html)")
    with qtbot.waitSignal(application.services.evaluation_report.saved, timeout=30_000):
        page.save_report.click()
    assert "validation and test images" in (tmp_path / "r.html").read_text("utf-8")


def test_failed_report_is_shown(application, tmp_path, qtbot, monkeypatch):
    window = open_project(application, make_mask_project(tmp_path / "p"), qtbot)
    window.table["evaluation"].trigger()
    qtbot.waitUntil(lambda: window.evaluation.save_report.isEnabled(), timeout=20_000)
    (tmp_path / "file").write_text("not a folder")
    choose(monkeypatch, tmp_path / "file" / "r.html", "")
    with qtbot.waitSignal(application.services.evaluation_report.failed, timeout=30_000):
        window.evaluation.save_report.click()
    assert any("could not be written" in text for text in window.messages.texts)


@pytest.fixture
def dialog(application, tmp_path, qtbot) -> ComparisonDialog:
    """Comparison of two runs, opened by the menu."""
    run = make_mask_project(tmp_path / "p")
    make_other(run, min_area=[9, 4000])  # the newer run, without the false alarm
    window = open_project(application, run, qtbot)
    qtbot.waitUntil(lambda: len(application.services.run_list.usable()) == 2, timeout=20_000)
    action = window.table["compare_evaluations"]
    with qtbot.waitSignal(application.services.evaluation_comparison.compared, timeout=30_000):
        action.trigger()
    return window.findChild(ComparisonDialog)


def test_comparison_shows_metrics_in_words_and_both_predictions(dialog, application, qtbot):
    assert dialog.first.currentData() == "20261122-090000-unet"
    texts = [[dialog.table.item(row, column).text() for column in range(5)] for row in range(dialog.table.rowCount())]
    why = "(no CI)"
    values = [f"0.00 {why}, 0 on 8 images", f"0.12 {why}, 1 on 8 images", f"+0.12 {why}"]
    assert texts[2] == ["False alarms per image", *values, "not known"]
    qtbot.waitUntil(lambda: all(dialog.table.rowHeight(row) >= dialog.table.sizeHintForRow(row) for row in range(6)))
    assert "8 images of 4 parts" in dialog.status.text() and "Only 4 parts were compared" in dialog.status.text()
    assert "differ on 1 of 8" in dialog.pairs_heading.text()
    assert [button.text() for button in dialog.pairs.buttons] == [FALSE] and dialog.legend.isVisible()
    session = application.services.session
    dialog.pairs.buttons[0].click()
    qtbot.waitUntil(lambda: session.key == FALSE, timeout=20_000)


def test_a_new_run_is_compared_with_that_of_the_last_export_and_exported(dialog, application, qtbot, monkeypatch):
    older, newer = dialog.second.currentData(), dialog.first.currentData()
    folder = application.services.session.project.root / "exports" / "line"
    write_json(folder / "model.json", {"run": older})
    (folder / "SHA256SUMS").write_text("")
    started: list[str] = []
    monkeypatch.setattr(application.services.export_job, "start", lambda run, *, options: started.append(run.name))
    threads = []
    look_up = comparison_dialog.exported_run
    monkeypatch.setattr(
        comparison_dialog, "exported_run", lambda root: threads.append(threading.get_ident()) or look_up(root)
    )
    with qtbot.waitSignal(application.services.evaluation_comparison.compared, timeout=30_000):
        application.window.table["compare_evaluations"].trigger()
    assert (dialog.first.currentData(), dialog.second.currentData()) == (older, newer)
    assert dialog.first.currentText().endswith("(last export)")
    assert threads and threading.get_ident() not in threads
    qtbot.waitUntil(dialog.export_button.isEnabled)
    dialog.export_button.click()
    for question in application.window.findChildren(Question):
        question.buttons["export"].click()
    assert started == [newer]


def test_comparison_needs_two_runs_and_can_be_saved(dialog, application, tmp_path, qtbot, monkeypatch):
    choose(monkeypatch, tmp_path / "c.html", "")
    with qtbot.waitSignal(application.services.evaluation_report.saved, timeout=30_000):
        dialog.save_button.click()
    assert "Comparison of runs" in (tmp_path / "c.html").read_text("utf-8")
    dialog.second.setCurrentIndex(dialog.first.currentIndex())
    dialog.second.activated.emit(0)
    assert "two different runs" in dialog.status.text() and not dialog.save_button.isEnabled()
    assert not dialog.results.isVisible()


def test_comparison_shows_expected_range_and_worst_lighting(application, tmp_path, qtbot):
    run = make_mask_project(tmp_path / "p")
    other = store_result(make_other(run), **stored_result())
    window = open_project(application, run, qtbot)
    qtbot.waitUntil(lambda: len(application.services.run_list.usable()) == 2, timeout=20_000)
    with qtbot.waitSignal(application.services.evaluation_comparison.compared, timeout=30_000):
        window.table["compare_evaluations"].trigger()
    dialog = window.findChild(ComparisonDialog)
    assert dialog.first.currentData() == other.name
    table = dialog.table
    texts = [[table.item(row, column).text() for column in range(5)] for row in range(table.rowCount())][4:6]
    assert texts[0][0] == "Expected on other parts" and texts[0][1].startswith("0.8") and texts[0][2:] == ["–", "–", ""]
    assert texts[1] == ["Worst changed lighting", "darker 0.91 (−3 points)", "–", "–", ""]
    assert "on its own validation/test images" in table.item(5, 1).toolTip() and not table.item(3, 1).toolTip()
