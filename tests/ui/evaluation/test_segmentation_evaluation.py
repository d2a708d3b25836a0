"""The review in the real window: opened by key, moved by sliders, left by a card for the place on the canvas."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.session.mask_run import FALSE, MISSED, make_mask_project
from workbench.core.evaluation import operating_point
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.run import Run

CONTROL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def run(tmp_path) -> Run:
    return make_mask_project(tmp_path / "项目 [r]")


@pytest.fixture
def window(application, run, qtbot):
    session = application.rooms.session
    with qtbot.waitSignal(session.image_opened, timeout=10_000):
        session.open_project(run.project_root)
    return application.window


@pytest.fixture
def review(window, application, qtbot):
    """The page, with the figures of the test pictures on it."""
    room = application.rooms.review
    with qtbot.waitSignals([room.evaluated, room.swept], timeout=20_000):
        QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    return window.review.masks


def tab(review, name):
    QTest.mouseClick(review.tabs[name], Qt.MouseButton.LeftButton)
    return review.gallery.cards


def test_it_opens_by_key_with_room_around_it_and_goes_back(window, review):
    assert window.center.in_review and window.table["review"].isChecked()
    assert not window.side.isVisible() and not window.images.isVisible() and not window.header.isVisible()
    assert not window.training.body.isVisible()
    QTest.keyClick(review, Qt.Key.Key_Escape)
    assert not window.center.in_review and window.center.currentWidget() is window.canvas
    assert window.side.isVisible() and window.images.isVisible() and window.training.body.isVisible()
    QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    assert window.center.in_review and review.summary.found.number.text() != "–"  # it was not looked at anew


def test_keys_of_the_canvas_leave_the_hidden_picture_alone(window, review, application):
    session = application.rooms.session
    note, class_id, tool = session.note.model_copy(deep=True), session.class_id, window.canvas.tool
    for key in (Qt.Key.Key_Return, Qt.Key.Key_2, Qt.Key.Key_E, Qt.Key.Key_D, Qt.Key.Key_Delete, Qt.Key.Key_Space):
        QTest.keyClick(review, key)
    assert session.note == note and session.class_id == class_id and window.canvas.tool == tool


def test_figures_say_how_sure_they_are_and_where_they_come_from(window, review):
    assert review.summary.found.number.text() == "49–97%"  # 6 of 7: too few for one number
    assert "6 of 7" in review.summary.found.detail.text() and "too few" in review.summary.found.detail.text()
    assert review.summary.false.number.text() in ("0.12", "0.13")
    assert "1 on 8 pictures" in review.summary.false.detail.text()
    assert review.classes.rowCount() == 3 and review.classes.item(1, 1).text() == "0 of 1"
    assert "8 pictures of 4 parts" in review.notices.texts[0] and "no say" in review.notices.texts[0]
    assert review.tabs["missed"].text() == "Missed  1" and review.tabs["false"].text() == "False alarms  1"


def test_a_card_leads_to_its_place_on_the_canvas(window, review, application, qtbot):
    session = application.rooms.session
    cards = tab(review, "false")
    assert [card.evidence.key for card in cards] == [FALSE]
    qtbot.waitUntil(lambda: review.gallery.pixmap(cards[0]) is not None, timeout=10_000)
    place = review.gallery.visualRect(review.gallery.model().index(0, 0)).center()
    QTest.mouseClick(review.gallery.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: session.key == FALSE and not window.center.in_review, timeout=10_000)
    view = window.canvas.view
    assert view.to_image(view.width / 2, view.height / 2) == pytest.approx((67, 10), abs=1.5)
    QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    cards = tab(review, "missed")
    assert [card.evidence.key for card in cards] == [MISSED] and cards[0].title == "pit"
    review.gallery.setCurrentIndex(review.gallery.model().index(0, 0))
    QTest.keyClick(review.gallery, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.key == MISSED and not window.center.in_review, timeout=10_000)


def test_pictures_come_worst_first_as_cards_and_as_a_table(window, review, application, qtbot):
    cards = tab(review, "pictures")
    assert [card.evidence.key for card in cards[:2]] == [MISSED, FALSE] and len(cards) == 8
    tab(review, "table")
    table = review.table
    assert table.isVisible() and table.model().rowCount() == 8
    assert table.model().index(0, 0).data() == MISSED and table.model().index(0, 3).data() == "1"
    table.sortByColumn(4, Qt.SortOrder.DescendingOrder)
    assert table.model().index(0, 0).data() == FALSE
    clean = next(row for row in range(8) if table.model().index(row, 2).data() == "–")
    assert table.model().index(clean, 5).data() == "–"  # a good picture left empty has no Dice
    place = table.visualRect(table.model().index(1, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not window.center.in_review, timeout=10_000)


def test_sliders_move_everything_at_once_and_a_point_can_be_used_and_taken_back(review, application, run, qtbot):
    room, points = application.rooms.review, review.points
    assert not points.store.isEnabled() and not points.restore.isEnabled()
    review.scope.setCurrentIndex(review.scope.findData(2))
    review.scope.activated.emit(review.scope.currentIndex())
    assert review.tabs["missed"].text() == "Missed  1" and points.threshold_says.text() == "0.50"
    with qtbot.waitSignal(room.evaluated, timeout=10_000):
        points.area.setValue(7)  # 225 pixels; the bright spot has 140
    assert review.tabs["false"].text() == "False alarms  0"
    assert any("tried on these very pictures" in text for text in review.notices.texts)
    assert room.point.min_area == (9, 225) and points.area_says.text() == "225 px²"
    QTest.mouseClick(points.store, Qt.MouseButton.LeftButton)
    assert operating_point.settings_of(run).min_area == (9, 225) and not points.store.isEnabled()
    assert "chosen in review" in points.in_use.text()
    assert any("point in use was chosen on these pictures" in text for text in review.notices.texts)
    with qtbot.waitSignal(room.evaluated, timeout=10_000):
        QTest.mouseClick(points.restore, Qt.MouseButton.LeftButton)
    assert operating_point.settings_of(run).min_area == (9, 9) and room.point.min_area == (9, 9)
    assert review.tabs["false"].text() == "False alarms  1" and not points.restore.isEnabled()


def test_the_cost_slider_moves_to_the_cheapest_point(review, application, qtbot):
    room, points = application.rooms.review, review.points
    assert points.total.text() == "Missed: 1. False alarms: 1. Together they cost 11."
    with qtbot.waitSignal(room.evaluated, timeout=10_000):
        points.cost.setValue(points.cost.value() - 1)
    assert "5 false alarms" in points.cost_says.text()
    assert points.total.text() == "Missed: 1. False alarms: 0. Together they cost 5."
    assert points.store.isEnabled()


def test_a_press_on_the_curve_chooses_its_threshold(review, application, qtbot):
    room, curve = application.rooms.review, review.curve
    shown = curve._curve
    step = next(i for i in range(len(shown.thresholds)) if shown.precision[i] == shown.precision[i])
    at = curve._at(shown.recall[step], shown.precision[step])
    with qtbot.waitSignal(room.evaluated, timeout=10_000):
        QTest.mouseClick(curve, Qt.MouseButton.LeftButton, pos=QPoint(round(at.x()), round(at.y())))
    assert set(room.point.thresholds) <= set(shown.thresholds) and len(set(room.point.thresholds)) == 1


def test_validation_pictures_say_that_they_chose(window, review, application, qtbot):
    with qtbot.waitSignal(application.rooms.review.evaluated, timeout=20_000):
        QTest.mouseClick(window.review.splits["val"], Qt.MouseButton.LeftButton)
    assert "chose its thresholds" in review.notices.texts[0] and "Test pictures had no say." in review.notices.texts[0]


def test_a_leak_is_shown_before_any_score(window, application, run, qtbot):
    project = application.rooms.session.project
    project.image_path(MISSED).write_bytes(project.image_path("train/p00.png").read_bytes())
    room = application.rooms.review
    with qtbot.waitSignal(room.swept, timeout=20_000):
        QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    waiting = window.review.masks.waiting
    assert waiting.isVisible() and waiting.pairs.count() >= 1
    assert f"{MISSED} is the same picture as train/p00.png" in [
        waiting.pairs.item(i).text() for i in range(waiting.pairs.count())
    ]
    with qtbot.waitSignal(room.evaluated, timeout=10_000):
        QTest.mouseClick(waiting.button, Qt.MouseButton.LeftButton)
    assert not waiting.isVisible() and any("leak" in text for text in window.review.masks.notices.texts)


def test_without_a_run_it_teaches_what_to_do(opened, qtbot):
    opened.window.table["review"].trigger()
    waiting = opened.window.review.masks.waiting
    assert waiting.isVisible() and "Train a model first" in waiting.text.text()
    opened.window.review.back.click()
    assert not opened.window.center.in_review


def test_a_label_corrected_on_the_canvas_is_counted_when_the_review_is_seen_again(window, review, application, qtbot):
    session, room = application.rooms.session, application.rooms.review
    review.gallery.chosen.emit(MISSED, tab(review, "missed")[0].box)
    qtbot.waitUntil(lambda: session.key == MISSED and session.mask is not None, timeout=10_000)
    session.editor.begin("erase")
    session.editor.paint_polygon([(50, 0), (90, 0), (90, 20), (50, 20)], 0)
    session.editor.commit()
    with qtbot.waitSignal(room.evaluated, timeout=20_000):
        assert session.flush()
        QTest.keyClick(window.canvas, Qt.Key.Key_R, CONTROL_SHIFT)
    assert review.tabs["missed"].text() == "Missed  0"


def test_corrected_labels_are_counted_anew(window, review, application, run, qtbot):
    mask = annotation.load_mask(Project.open(run.project_root, write=False), MISSED)
    mask[mask == 2] = 0
    annotation.save_mask(application.rooms.session.project, MISSED, mask)
    with qtbot.waitSignal(application.rooms.review.evaluated, timeout=20_000):
        QTest.mouseClick(window.review.again, Qt.MouseButton.LeftButton)
    assert review.tabs["missed"].text() == "Missed  0" and review.summary.found.detail.text().startswith("6 of 6")
    assert any("Labels changed since the training: 1." in text for text in review.notices.texts)
