"""Evaluation of a UNet run in the window: opening, sliders, cards and tables, leaving for a region on the canvas."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from tests.session.mask_run import FALSE, MISSED
from tests.ui.evaluation.evaluation_windows import CONTROL_SHIFT
from workbench.core.evaluation import operating_point
from workbench.core.evaluation.split_evaluation import EvaluatedImages
from workbench.core.evaluation.stored_predictions import LabeledDefect
from workbench.core.geometry.drawing import NOTHING, Rect
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.ui.text import evaluation_texts


def choose_tab(page, name):
    QTest.mouseClick(page.browser.tabs[name], Qt.MouseButton.LeftButton)
    return page.browser.gallery.cards


def test_page_of_an_evaluation(window, page, application):
    page.details.heading.setChecked(True)
    session, evaluation, plot = application.services.session, application.services.evaluation, page.curve
    assert window.center.in_evaluation and window.table["evaluation"].isChecked()
    assert not window.side.isVisible() and not window.images.isVisible() and not window.header.isVisible()
    assert not window.training.body.isVisible()
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not window.center.in_evaluation and window.center.currentWidget() is window.canvas
    assert window.side.isVisible() and window.images.isVisible()
    QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    assert (
        window.center.in_evaluation and page.summary.metrics["recall"].number.text() != "–"
    )  # without another evaluation
    # Shortcuts of the canvas do not change the hidden image.
    note, class_id, tool = session.note.model_copy(deep=True), session.editor.class_id, window.canvas.tool
    for key in (Qt.Key.Key_Return, Qt.Key.Key_2, Qt.Key.Key_E, Qt.Key.Key_D, Qt.Key.Key_Delete, Qt.Key.Key_Space):
        QTest.keyClick(page, key)
    assert session.note == note and session.editor.class_id == class_id and window.canvas.tool == tool
    # Metrics with intervals and origin.
    assert page.summary.metrics["recall"].number.text() == "6 of 7"  # too few defects for a percentage
    assert "no 95% CI: only 3 parts, at least 5 are needed" in page.summary.metrics["recall"].detail.text()
    assert page.summary.metrics["false_alarms"].number.text() in ("0.12", "0.13")
    assert "1 on 8 " in page.summary.metrics["false_alarms"].detail.text()
    assert page.classes.rowCount() == 5 and page.classes.item(1, 1).text() == "0 of 1"
    assert "8 images of 4 parts" in page.notices.texts[0] and "not used in training" in page.notices.texts[0]
    assert (
        page.browser.tabs["missed"].text() == "Missed defects  1"
        and page.browser.tabs["false"].text() == "False alarms  1"
    )
    # PySide invalidates the Python objects of menus once the page is shown: each with a submenu reported an error.
    for action in window.menuBar().actions():
        action.menu().aboutToShow.emit()
    # Missed defects have a reason.
    assert page.browser._missed_text(LabeledDefect(1, 9, NOTHING, 0.3)) == "Max. probability 0.30"
    assert page.browser._missed_text(LabeledDefect(1, 9, NOTHING, 0.98)) == "Less than 10% covered"
    # The curve passes through an operating point between its thresholds.
    curve = evaluation.sweep.curve(evaluation.point)
    plot.show_curve(curve, (0.123, 0.456), 0.49)
    x, y = plot._line.getData()
    place = x.tolist().index(pytest.approx(12.3))
    assert y[place] == pytest.approx(45.6) and len(x) == len(plot._steps) + 1
    assert place == sum(curve.thresholds[step] < 0.49 for step in plot._steps)
    plot.show_curve(curve, (float("nan"), 1.0), 0.49)
    assert len(plot._line.getData()[0]) == len(plot._steps)


def test_card_opens_its_region_on_canvas(window, page, application, qtbot):
    session = application.services.session
    cards = choose_tab(page, "false")
    assert [card.prediction.key for card in cards] == [FALSE]
    qtbot.waitUntil(lambda: page.browser.gallery.pixmap(cards[0]) is not None, timeout=10_000)
    place = page.browser.gallery.visualRect(page.browser.gallery.model().index(0, 0)).center()
    QTest.mouseClick(page.browser.gallery.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: session.key == FALSE and not window.center.in_evaluation, timeout=10_000)
    view = window.canvas.view
    assert view.to_image(view.width / 2, view.height / 2) == pytest.approx((67, 10), abs=1.5)
    QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    cards = choose_tab(page, "missed")
    assert [card.prediction.key for card in cards] == [MISSED] and cards[0].title == "pit"
    page.browser.gallery.setCurrentIndex(page.browser.gallery.model().index(0, 0))
    QTest.keyClick(page.browser.gallery, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.key == MISSED and not window.center.in_evaluation, timeout=10_000)


@pytest.mark.parametrize("empty, tab", [(("defects",), "false"), (("defects", "alarms"), "images")])
def test_first_tab_with_entries_is_selected(monkeypatch, request, empty, tab):
    for name in empty:
        monkeypatch.setattr(EvaluatedImages, name, lambda *_: [])
    page = request.getfixturevalue("page")
    assert page.browser.tab == tab
    choose_tab(page, "missed")
    page.browser.refresh()  # as after a change of the operating point
    assert page.browser.tab == "missed"


def test_images_are_sorted_worst_first_in_cards_and_table(window, page, application, qtbot):
    cards = choose_tab(page, "images")
    assert [card.prediction.key for card in cards[:2]] == [MISSED, FALSE] and len(cards) == 8
    choose_tab(page, "table")
    table = page.browser.table
    assert table.isVisible() and table.model().rowCount() == 8
    assert table.model().index(0, 0).data() == MISSED and table.model().index(0, 3).data() == "1"
    assert table.model().headerData(4, Qt.Orientation.Horizontal) == "Wrong class"
    table.sortByColumn(5, Qt.SortOrder.DescendingOrder)
    assert table.model().index(0, 0).data() == FALSE
    clean = next(row for row in range(8) if table.model().index(row, 2).data() == "–")
    assert table.model().index(clean, 6).data() == "–"  # Dice is undefined for a good image without predictions
    place = table.visualRect(table.model().index(1, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.center.in_evaluation, timeout=10_000)


def test_sliders_update_results_and_point_can_be_stored_and_reset(page, application, run, qtbot):
    evaluation, points = application.services.evaluation, page.points
    assert not points.store.isEnabled() and not points.restore.isEnabled()
    page.scope.setCurrentIndex(page.scope.findData(2))
    page.scope.activated.emit(page.scope.currentIndex())
    assert page.browser.tabs["missed"].text() == "Missed defects  1" and points.threshold_value.text() == "0.50"
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        points.area.setValue(7)  # 225 pixels; the bright spot has 140
    assert page.browser.tabs["false"].text() == "False alarms  0"
    assert any("being adjusted on these images" in text for text in page.notices.texts)
    assert evaluation.point.min_area == (9, 225) and points.area_value.text() == "225 px²"
    QTest.mouseClick(points.store, Qt.MouseButton.LeftButton)
    assert operating_point.settings_of(run).min_area == (9, 225) and not points.store.isEnabled()
    assert "set in the evaluation" in points.in_use.text()
    assert any("operating point was chosen on these images" in text for text in page.notices.texts)
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        QTest.mouseClick(points.restore, Qt.MouseButton.LeftButton)
    assert operating_point.settings_of(run).min_area == (9, 9) and evaluation.point.min_area == (9, 9)
    assert page.browser.tabs["false"].text() == "False alarms  1" and not points.restore.isEnabled()
    assert evaluation_texts.least_area(evaluation.point.at(1, area=100), [0, 1], None) == "by class"
    # The slider of the cost finds the point of the lowest cost.
    page.scope.setCurrentIndex(0)
    page.scope.activated.emit(0)
    assert points.total.text() == "Missed: 1, false alarms: 1, cost: 11"
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        points.cost.setValue(points.cost.value() - 1)
    assert "5 false alarms" in points.cost_text.text()
    assert points.total.text() == "Missed: 1, false alarms: 0, cost: 5"
    assert points.store.isEnabled()


def test_click_drag_and_arrow_keys_on_curve_choose_threshold(window, page, application, qtbot):
    # Disabled buttons name the reason.
    header = window.evaluation
    disabled = [button for button in header.findChildren(QPushButton) if button.isVisible() and not button.isEnabled()]
    assert {header.compare, page.points.store, page.points.restore} <= set(disabled)
    assert all(button.accessibleDescription() in button.toolTip().split("\n")[1:] for button in disabled)
    assert header.compare.toolTip().endswith("Train two models of the same kind first")
    assert page.points.store.toolTip().endswith("This operating point is in use already")
    page.points.threshold.setValue(page.points.threshold.value() + 5)
    qtbot.waitUntil(page.points.store.isEnabled, timeout=10_000)
    assert "\n" not in page.points.store.toolTip()
    # Threshold on the curve.
    page.details.heading.setChecked(True)
    evaluation, plot = application.services.evaluation, page.curve
    curve = evaluation.sweep.curve(evaluation.point)
    steps = [i for i in range(len(curve.thresholds)) if curve.precision[i] == curve.precision[i]]
    places = {(curve.recall[i], curve.precision[i]): i for i in steps}
    first, last = places[max(places)], places[min(places)]
    assert first != last

    def pixel(step: int) -> QPoint:
        return plot.position_of(step).toPoint()

    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        QTest.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(last))
    assert set(evaluation.point.thresholds) <= {curve.thresholds[i] for i in steps}
    chosen = evaluation.point.thresholds
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        QTest.mouseMove(plot.viewport(), pixel(first))
    QTest.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=pixel(first))
    assert len(set(evaluation.point.thresholds)) == 1 and evaluation.point.thresholds != chosen
    plot.setFocus()
    for key, expected in ((Qt.Key.Key_Down, steps[0]), (Qt.Key.Key_Up, steps[-1])):
        for _ in steps:
            QTest.keyClick(plot, key)
        assert set(evaluation.point.thresholds) == {curve.thresholds[expected]}
    assert "recall" in plot.tip(first)


def test_data_leak_is_shown_before_metrics(window, application, run, qtbot):
    project = application.services.session.project
    project.image_path(MISSED).write_bytes(project.image_path("train/p00.png").read_bytes())
    evaluation = application.services.evaluation
    with qtbot.waitSignal(evaluation.sweep_finished, timeout=20_000):
        QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    placeholder = window.evaluation.segmentation.placeholder
    assert placeholder.isVisible() and placeholder.leaks.count() >= 1
    assert f"{MISSED} is the same image as train/p00.png" in [
        placeholder.leaks.item(i).text() for i in range(placeholder.leaks.count())
    ]
    with qtbot.waitSignal(evaluation.evaluated, timeout=10_000):
        QTest.mouseClick(placeholder.button, Qt.MouseButton.LeftButton)
    assert not placeholder.isVisible() and any("leak" in text for text in window.evaluation.segmentation.notices.texts)


def test_placeholder_without_run(opened, qtbot):
    opened.window.table["evaluation"].trigger()
    placeholder = opened.window.evaluation.segmentation.placeholder
    assert placeholder.isVisible() and "Train a model first" in placeholder.text.text()
    opened.window.evaluation.back.click()
    assert not opened.window.center.in_evaluation


def test_corrected_label_is_counted_when_evaluation_is_shown_again(window, page, application, qtbot):
    session, evaluation = application.services.session, application.services.evaluation
    page.browser.gallery.region_chosen.emit(MISSED, choose_tab(page, "missed")[0].box)
    qtbot.waitUntil(lambda: session.key == MISSED and session.mask is not None, timeout=10_000)
    session.editor.begin("erase")
    session.editor.paint_polygon([(50, 0), (90, 0), (90, 20), (50, 20)], 0)
    session.editor.commit()
    with qtbot.waitSignal(evaluation.evaluated, timeout=20_000):
        assert session.flush()
        QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    assert page.browser.tabs["missed"].text() == "Missed defects  0"


def test_current_labels_and_validation_images(window, page, application, run, qtbot):
    mask = annotation.load_mask(Project.open(run.project_root, write=False), MISSED)
    mask[mask == 2] = 0
    annotation.save_mask(application.services.session.project, MISSED, mask)
    with qtbot.waitSignal(application.services.evaluation.evaluated, timeout=20_000):
        QTest.mouseClick(window.evaluation.recalculate, Qt.MouseButton.LeftButton)
    recall = page.summary.metrics["recall"]
    assert page.browser.tabs["missed"].text() == "Missed defects  0"
    assert recall.number.text() == "6 of 6" and recall.detail.text().startswith("no 95% CI")  # counts once
    assert any("1 label was changed after the training." in text for text in page.notices.texts)
    with qtbot.waitSignal(application.services.evaluation.evaluated, timeout=20_000):
        QTest.mouseClick(window.evaluation.splits["val"], Qt.MouseButton.LeftButton)
    assert (
        "thresholds were chosen on validation images" in page.notices.texts[0]
        and "Test images were not used" in page.notices.texts[0]
    )


def test_cell_of_the_classes_opens_its_regions(page, qtbot):
    browser = page.browser
    browser.tabs["classes"].click()
    matrix = browser.matrix
    assert matrix.isVisible()
    assert [matrix.horizontalHeaderItem(number).text() for number in (1, 2, 3)] == ["scratch", "pit", "missed"]
    cells = {(0, 0): 6, (1, 2): 1, (2, 1): 1}  # detected scratches, the missed pit, the false alarm
    for (row, column), count in cells.items():
        matrix.setCurrentCell(row, column + 1)
        assert matrix.item(row, column + 1).text() == str(count) and len(browser.gallery.cards) == count
    assert browser.gallery.cards[0].prediction.key == FALSE
    with qtbot.waitSignal(browser.region_chosen) as chosen:
        browser.gallery.clicked.emit(browser.gallery.model().index(0, 0))
    assert chosen.args == [FALSE, Rect(60, 5, 14, 10)]
    matrix.setCurrentCell(0, 2)
    assert not browser.gallery.cards  # no scratch is predicted as a pit
