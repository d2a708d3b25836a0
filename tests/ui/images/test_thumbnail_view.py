"""Search terms, sorting, thumbnail view, image table, and verdicts for several images at once."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from tests.conftest import fill_project
from tests.ui.images.list_projects import CountedList, HundredThousand
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.ui.images.image_filters import EXAMPLES
from workbench.ui.images.image_model import EDGE, RowRole, ThumbnailProvider
from workbench.ui.images.thumbnail_view import BulkActions, ThumbnailView

pytestmark = pytest.mark.usefixtures("one_window")

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def pictures(opened):
    return opened.window.images


def names(pictures) -> list[str]:
    return [key.rpartition("/")[2] for key in pictures.model.keys]


def test_search_terms_filter_the_list_and_invalid_ones_are_shown(opened, pictures, qtbot):
    qtbot.waitUntil(lambda: "3 done" in pictures.count.text(), timeout=5000)
    pictures.search.setText("class:scratch verdict:NG lot0")
    assert pictures.model.rowCount() == 3 and not pictures.search_errors.isVisible()
    pictures.search.setText("class:rust status:broken")
    assert names(pictures) == ["bad.png"] and pictures.search_errors.isVisible()
    assert "rust" in pictures.search_errors.text() and "scratch, pit" in pictures.search_errors.text()
    pictures.search.setText("prob:high")
    assert pictures.search_errors.text().endswith("“high” is not a number. Examples: 0.5, <0.5, >=0.5, 0.2..0.5.")
    pictures.search.setText("nothing")
    assert all(example in opened.window.findChild(type(pictures.no_match_page)).help.text() for example in EXAMPLES)
    pictures.clear_filters()
    assert pictures.model.rowCount() == 5 and not pictures.search_errors.isVisible()


def test_search_terms_are_completed(pictures):
    field = pictures.search
    field.setFocus()
    QTest.keyClicks(field, "lot0 cl")
    assert field.completions.stringList() == ["class:"]
    field.clear()
    QTest.keyClicks(field, "lot0 status:do")
    assert field.completer().pathFromIndex(field.completions.index(0)) == "lot0 status:done"


def test_list_is_sorted_by_area_probability_and_name(opened, pictures, qtbot):
    session = opened.services.session
    qtbot.waitUntil(lambda: len(session.rows) == 5, timeout=5000)
    area = {key: row.area for key, row in session.rows.items()}
    pictures.filters.sort_by("area", descending=True)
    shown = [area[key] for key in pictures.model.keys]
    assert shown == sorted(area.values(), reverse=True) and shown[0] > 0
    session.set_score(session.keys[2], 0.7)
    pictures.filters.sort_by("score", descending=False)
    qtbot.waitUntil(lambda: pictures.model.keys[0] == session.keys[2], timeout=5000)
    pictures.filters.sort_by("name", descending=True)
    assert pictures.model.keys == session.keys[::-1]


def test_go_to_next_image_of_a_state(driver):
    session, pictures = driver.session, driver.window.images
    driver.open(session.keys[0])
    driver.key(Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    driver.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    pictures.go_to("broken", 1)
    driver.qtbot.waitUntil(lambda: session.key == "lot1/bad.png", timeout=5000)
    pictures.go_to("done", -1)
    driver.qtbot.waitUntil(lambda: session.key == session.keys[2], timeout=5000)
    pictures.go_to("started", 1)  # there is none
    assert session.key == session.keys[2]


def test_shift_digit_sets_the_verdict_and_opens_the_next_image(driver):
    session = driver.session
    driver.open(session.keys[0])
    driver.key(Qt.Key.Key_1, SHIFT)
    driver.qtbot.waitUntil(lambda: session.key == session.keys[1], timeout=5000)
    assert session.rows[session.keys[0]].verdict == "OK" and session.editor.class_id == 1
    session.undo()
    assert session.flush() and session.rows[session.keys[0]].verdict == "NG"


def test_digits_set_verdicts_in_a_project_without_classes(application, qtbot, tmp_path):
    session = application.services.session
    with Project.create(tmp_path / "p", verdicts=["OK", "NG"]) as project:
        keys = fill_project(project, 2)
        for key in keys:
            project.mask_path(key).unlink()
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(tmp_path / "p")
    table = application.window.table
    qtbot.waitUntil(lambda: table["class_2"].isEnabled() and table["class_2"].text() == "NG", timeout=5000)
    assert not table["class_3"].isEnabled()
    QTest.keyClick(application.window.canvas, Qt.Key.Key_2)
    qtbot.waitUntil(lambda: session.key == keys[1], timeout=5000)
    assert session.flush() and annotation.load_note(session.project, keys[0]).verdict == "NG"


def test_thumbnail_view_sets_verdicts_of_many_images_as_one_step(driver):
    session, pictures, table = driver.session, driver.window.images, driver.window.table
    driver.open(session.keys[0])
    table["thumbnails"].trigger()
    view = pictures.thumbnail_view
    assert view.isVisible() and not driver.canvas.isVisible()
    was = {key: row.verdict for key, row in session.rows.items()}
    view.select_all()
    assert len(view.selected()) == 5 and "5 selected" in view.selection_label.text()
    view.bulk.verdict_buttons["OK"].click()
    session.verdict_steps.finish()
    assert session.flush()
    good = [key for key in session.keys if not session.rows[key].broken]
    assert {session.rows[key].verdict for key in good} == {"OK"} and len(view.selected()) == 5
    assert [annotation.load_note(session.project, key).verdict for key in good] == ["OK"] * 4
    session.undo()
    session.verdict_steps.finish()
    assert session.flush() and {key: row.verdict for key, row in session.rows.items()} == was
    index = pictures.model.index_of("lot1/new.png")
    view.list_view.setCurrentIndex(index)
    QTest.keyClick(view.list_view, Qt.Key.Key_2, SHIFT)
    assert session.rows["lot1/new.png"].verdict == "NG"
    QTest.keyClick(view.list_view, Qt.Key.Key_Return)
    driver.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    assert driver.canvas.isVisible() and session.note.status == "new"


def test_selection_is_kept_when_the_list_changes(opened, pictures, qtbot):
    view = pictures.thumbnail_view
    pictures.toggle_thumbnails()
    view.list_view.clearSelection()
    flags = QItemSelectionModel.SelectionFlag
    for key in (pictures.model.keys[1], pictures.model.keys[3]):
        view.list_view.selectionModel().select(pictures.model.index_of(key), flags.Select | flags.Rows)
    chosen = view.selected()
    assert len(chosen) == 2
    pictures.filters.sort_by("name", descending=True)
    assert view.selected() == chosen[::-1]
    pictures.search.setText(chosen[0])
    assert view.selected() == chosen[:1]
    pictures.toggle_thumbnails()


def test_table_shows_and_sorts_by_columns(opened, pictures, qtbot):
    session = opened.services.session
    pictures.toggle_thumbnails()
    pictures.thumbnail_view.show_table(True)
    model, header = pictures.model, pictures.thumbnail_view.table_view.horizontalHeader()
    index = model.index_of(session.keys[0])
    cells = [index.siblingAtColumn(i).data() for i in range(model.columnCount())]
    row = session.rows[session.keys[0]]
    assert cells[:5] == [row.key, "Done", "NG", "scratch", "1"] and cells[5] == f"{row.area:,}"
    assert cells[model.column_of("date")][:2] == "20"
    area = model.column_of("area")
    header.sectionClicked.emit(area)
    header.sectionClicked.emit(area)
    assert pictures.filters.descending.isChecked() and pictures.filters.sort.currentData() == "area"
    assert header.sortIndicatorSection() == area
    assert header.sortIndicatorOrder() == Qt.SortOrder.DescendingOrder
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    aligned = [index.siblingAtColumn(i).data(Qt.ItemDataRole.TextAlignmentRole) for i in range(model.columnCount())]
    numbers = {column.sort for column, side in zip(model.columns, aligned, strict=True) if side == right}
    texts = {"name", "status", "verdict", "classes", "date"}
    assert {"regions", "area", "score"} <= numbers and not numbers & texts
    assert [header.model().headerData(i, Qt.Orientation.Horizontal) for i in (0, 5)] == ["Name", "Labeled area (px²)"]
    selected = pictures.thumbnail_view.table_view.selectionModel().selectedRows()
    assert [index.row() for index in selected] == [model.index_of(session.key).row()]
    pictures.toggle_thumbnails()


def test_table_fits_into_a_window_of_1280_pixels(style_sheet, opened, pictures, qtbot):
    opened.window.resize(1280, 720)
    pictures.toggle_thumbnails()
    pictures.thumbnail_view.show_table(True)
    qtbot.wait(50)
    assert pictures.thumbnail_view.table_view.horizontalScrollBar().maximum() == 0
    pictures.toggle_thumbnails()


def test_thumbnails_show_current_labels(driver):
    session, pictures = driver.session, driver.window.images
    driver.open("lot1/new.png")
    driver.drag((20, 20), (40, 30))
    driver.qtbot.waitUntil(lambda: bool(session.rows["lot1/new.png"].counts), timeout=5000)
    row = pictures.model.index_of("lot1/new.png").data(RowRole)
    driver.qtbot.waitUntil(lambda: pictures.thumbnails.labels(row) is not None, timeout=5000)
    image = pictures.thumbnails.labels(row)
    shown = np.array([[image.pixelIndex(x, y) for x in range(image.width())] for y in range(image.height())])
    assert np.array_equal(shown, driver.saved()) and max(shown.shape) <= EDGE


@pytest.mark.parametrize("as_table", [False, True])
def test_thumbnail_view_of_100000_images_requests_visible_rows_only(opened, qtbot, as_table):
    model, thumbnails = CountedList(HundredThousand()), ThumbnailProvider()
    view = ThumbnailView(opened.services.session, model, thumbnails, opened.window.theme_manager)
    qtbot.addWidget(view)
    view.show_table(as_table)
    view.resize(900, 600)
    view.show()
    model.relist()
    qtbot.wait(50)
    assert model.rowCount() == 100_000 and 0 < model.requested < 20_000
    model.text = "lot42/"
    model.refilter()
    qtbot.wait(20)
    assert model.rowCount() == 1000 and model.requested < 20_000
    thumbnails.end()


def test_changes_of_several_images_are_reported_with_an_undo_button(opened, pictures, qtbot):
    window, session = opened.window, opened.services.session
    pictures.toggle_thumbnails()
    view = pictures.thumbnail_view
    view.list_view.selectAll()
    QTest.mouseClick(view.bulk.verdict_buttons["NG"], Qt.MouseButton.LeftButton)
    assert any(text.startswith("Changed: verdict NG for ") for text in window.messages.texts)
    view.bulk.set_split("test")
    qtbot.waitUntil(lambda: any("Changed: data split of 5 images" in text for text in window.messages.texts))
    (message,) = [message for message in window.messages.shown if "data split" in message.full_text]
    QTest.mouseClick(message.findChildren(QPushButton)[0], Qt.MouseButton.LeftButton)
    assert session.note.pin is None


def test_tools_are_hidden_beside_thumbnails(opened, pictures):
    window = opened.window
    for on in (True, False):
        pictures.toggle_thumbnails()
        assert (window.tools.isHidden(), window.options.isHidden()) == (on, on)
    pictures.toggle_thumbnails()
    window.evaluation_navigation.toggle()
    window.evaluation_navigation.leave()
    assert pictures.browsing and window.tools.isHidden() and window.header.isHidden()
    pictures.open(opened.services.session.keys[1])
    assert window.tools.isVisible() and window.options.isVisible()


def test_buttons_for_several_images_are_whole_in_a_narrow_view(opened, qtbot):
    bulk = BulkActions(opened.services.session, list)
    qtbot.addWidget(bulk)
    for width, rows in ((bulk.row_width() - 1, 2), (bulk.row_width(), 1)):
        bulk.fit(width)
        bulk.resize(width, bulk.sizeHint().height())
        bulk.grab()  # lays the buttons out
        buttons = [bulk.done_button, bulk.not_done_button, bulk.split_button, *bulk.verdict_buttons.values()]
        assert len({button.y() for button in buttons}) == rows
        assert all(button.width() >= button.minimumSizeHint().width() for button in buttons)
        assert max(button.geometry().right() for button in buttons) < width
