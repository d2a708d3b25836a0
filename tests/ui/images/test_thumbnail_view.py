"""Searching by terms, sorting, the contact sheet and the table, and verdicts for many pictures at once."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest

from tests.conftest import fill_project
from tests.ui.images.test_images_panel import CountedList, HundredThousand
from workbench.core.image_list.image_table import SORTS
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.ui.images.image_model import RowRole
from workbench.ui.images.search_field import EXAMPLES
from workbench.ui.images.thumbnail_provider import EDGE, ThumbnailProvider
from workbench.ui.images.thumbnail_view import ThumbnailView

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def pictures(opened):
    return opened.window.images


def names(pictures) -> list[str]:
    return [key.rpartition("/")[2] for key in pictures.model.keys]


def test_terms_narrow_the_list_and_a_wrong_one_is_told(opened, pictures, qtbot):
    qtbot.waitUntil(lambda: "3 done" in pictures.count.text(), timeout=5000)
    pictures.search.setText("class:scratch verdict:NG lot0")
    assert pictures.model.rowCount() == 3 and not pictures.wrong.isVisible()
    pictures.search.setText("class:rust status:broken")
    assert names(pictures) == ["bad.png"] and pictures.wrong.isVisible()
    assert "rust" in pictures.wrong.text() and "scratch, pit" in pictures.wrong.text()
    pictures.search.setText("nothing")
    assert all(example in opened.window.findChild(type(pictures._none)).help.text() for example in EXAMPLES)
    pictures.clear_filters()
    assert pictures.model.rowCount() == 5 and not pictures.wrong.isVisible()


def test_terms_are_offered_and_taken_while_typing(pictures):
    field = pictures.search
    field.setFocus()
    QTest.keyClicks(field, "lot0 cl")
    assert field._offers.stringList() == ["class:"]
    field.clear()
    QTest.keyClicks(field, "lot0 status:do")
    assert field.completer().pathFromIndex(field._offers.index(0)) == "lot0 status:done"


def test_sorting_by_what_is_known(opened, pictures, qtbot):
    session = opened.rooms.session
    qtbot.waitUntil(lambda: len(session.rows) == 5, timeout=5000)
    area = {key: row.area for key, row in session.rows.items()}
    pictures.choice.sort_by("area", descending=True)
    shown = [area[key] for key in pictures.model.keys]
    assert shown == sorted(area.values(), reverse=True) and shown[0] > 0
    session.set_score(session.keys[2], 0.7)
    pictures.choice.sort_by("score", descending=False)
    qtbot.waitUntil(lambda: pictures.model.keys[0] == session.keys[2], timeout=5000)
    pictures.choice.sort_by("name", descending=True)
    assert pictures.model.keys == session.keys[::-1]


def test_jumps_to_the_next_of_a_kind(hand):
    session, pictures = hand.session, hand.window.images
    hand.open(session.keys[0])
    hand.key(Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    hand.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    pictures.go_to("broken", 1)
    hand.qtbot.waitUntil(lambda: session.key == "lot1/bad.png", timeout=5000)
    pictures.go_to("done", -1)
    hand.qtbot.waitUntil(lambda: session.key == session.keys[2], timeout=5000)
    pictures.go_to("started", 1)  # there is none
    assert session.key == session.keys[2]


def test_one_key_judges_and_goes_on(hand):
    session = hand.session
    hand.open(session.keys[0])
    hand.key(Qt.Key.Key_1, SHIFT)
    hand.qtbot.waitUntil(lambda: session.key == session.keys[1], timeout=5000)
    assert session.rows[session.keys[0]].verdict == "OK" and session.class_id == 1
    session.undo()
    assert session.flush() and session.rows[session.keys[0]].verdict == "NG"


def test_plain_numbers_judge_where_there_is_nothing_to_paint_with(application, qtbot, tmp_path):
    session = application.rooms.session
    with Project.create(tmp_path / "p", verdicts=["OK", "NG"]) as project:
        keys = fill_project(project, 2)
        for key in keys:
            project.mask_path(key).unlink()
    with qtbot.waitSignal(session.image_opened, timeout=10_000):
        session.open_project(tmp_path / "p")
    table = application.window.table
    qtbot.waitUntil(table["class_2"].isEnabled, timeout=5000)
    assert not table["class_3"].isEnabled()
    QTest.keyClick(application.window.canvas, Qt.Key.Key_2)
    qtbot.waitUntil(lambda: session.key == keys[1], timeout=5000)
    assert session.flush() and annotation.load_note(session.project, keys[0]).verdict == "NG"


def test_the_sheet_judges_many_with_one_undo(hand):
    session, pictures, table = hand.session, hand.window.images, hand.window.table
    hand.open(session.keys[0])
    table["sheet"].trigger()
    sheet = pictures.sheet
    assert sheet.isVisible() and not hand.canvas.isVisible()
    was = {key: row.verdict for key, row in session.rows.items()}
    sheet.select_all()
    assert len(sheet.selected()) == 5 and "5 selected" in sheet.says.text()
    sheet.buttons["OK"].click()
    session.judging._tasks.wait()
    assert session.flush()
    good = [key for key in session.keys if not session.rows[key].broken]
    assert {session.rows[key].verdict for key in good} == {"OK"} and len(sheet.selected()) == 5
    assert [annotation.load_note(session.project, key).verdict for key in good] == ["OK"] * 4
    session.undo()
    session.judging._tasks.wait()
    assert session.flush() and {key: row.verdict for key, row in session.rows.items()} == was
    index = pictures.model.place("lot1/new.png")
    sheet.sheet.setCurrentIndex(index)
    QTest.keyClick(sheet.sheet, Qt.Key.Key_2, SHIFT)
    assert session.rows["lot1/new.png"].verdict == "NG"
    QTest.keyClick(sheet.sheet, Qt.Key.Key_Return)
    hand.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    assert hand.canvas.isVisible() and session.note.status == "new"


def test_what_is_selected_stays_selected_when_the_list_changes(opened, pictures, qtbot):
    sheet = pictures.sheet
    pictures.toggle_sheet()
    sheet.sheet.clearSelection()
    flags = QItemSelectionModel.SelectionFlag
    for key in (pictures.model.keys[1], pictures.model.keys[3]):
        sheet.sheet.selectionModel().select(pictures.model.place(key), flags.Select | flags.Rows)
    chosen = sheet.selected()
    assert len(chosen) == 2
    pictures.choice.sort_by("name", descending=True)
    assert sheet.selected() == chosen[::-1]
    pictures.search.setText(chosen[0])
    assert sheet.selected() == chosen[:1]
    pictures.toggle_sheet()


def test_the_table_shows_and_sorts_by_columns(opened, pictures, qtbot):
    session = opened.rooms.session
    pictures.toggle_sheet()
    pictures.sheet.show_table(True)
    model, header = pictures.model, pictures.sheet.table.horizontalHeader()
    line = model.place(session.keys[0])
    cells = [line.siblingAtColumn(i).data() for i in range(model.columnCount())]
    row = session.rows[session.keys[0]]
    assert cells[:5] == [row.key, "done", "NG", "scratch", "1"] and cells[5] == f"{row.area:,}" and cells[7][:2] == "20"
    header.sectionClicked.emit(SORTS.index("area"))
    header.sectionClicked.emit(SORTS.index("area"))
    assert pictures.choice.turn.isChecked() and pictures.choice.sort.currentData() == "area"
    assert header.sortIndicatorSection() == SORTS.index("area")
    assert header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
    pictures.toggle_sheet()


def test_labels_lie_over_the_thumbnails_and_follow_the_work(hand):
    session, pictures = hand.session, hand.window.images
    hand.open("lot1/new.png")
    hand.drag((20, 20), (40, 30))
    hand.qtbot.waitUntil(lambda: bool(session.rows["lot1/new.png"].counts), timeout=5000)
    row = pictures.model.place("lot1/new.png").data(RowRole)
    hand.qtbot.waitUntil(lambda: pictures.thumbnails.labels(row) is not None, timeout=5000)
    image = pictures.thumbnails.labels(row)
    shown = np.array([[image.pixelIndex(x, y) for x in range(image.width())] for y in range(image.height())])
    assert np.array_equal(shown, hand.saved()) and max(shown.shape) <= EDGE


@pytest.mark.parametrize("as_table", [False, True])
def test_a_sheet_of_a_hundred_thousand_asks_for_what_is_in_sight(opened, qtbot, as_table):
    model, thumbnails = CountedList(HundredThousand()), ThumbnailProvider()
    sheet = ThumbnailView(opened.rooms.session, model, thumbnails, opened.window._style)
    qtbot.addWidget(sheet)
    sheet.show_table(as_table)
    sheet.resize(900, 600)
    sheet.show()
    model.relist()
    qtbot.wait(50)
    assert model.rowCount() == 100_000 and 0 < model.asked < 20_000
    model.text = "lot42/"
    model.refilter()
    qtbot.wait(20)
    assert model.rowCount() == 1000 and model.asked < 20_000
    thumbnails.end()
