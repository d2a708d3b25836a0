"""Image list, classes, verdicts, layers and display panel."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QStringListModel, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListView, QPushButton, QSlider

from tests.core.images.jpeg_files import jpeg_with_wrong_size
from tests.ui.images.list_projects import CountedList, HundredThousand
from workbench.core.project.project import DONT_CARE, Project
from workbench.inference.io.image_io import write_png
from workbench.session.next_step import NextStep, Remark, Workflow
from workbench.ui.canvas.layers.canvas_layers import MODES
from workbench.ui.images.image_delegate import shown_folder, two_lines
from workbench.ui.images.image_model import RowRole
from workbench.ui.images.images_panel import ImageListView
from workbench.ui.labels.classes_panel import eye_rect
from workbench.ui.shell.workspace import SidePanel
from workbench.ui.shortcuts import key_text
from workbench.ui.widgets.dialogs import Question
from workbench.ui.widgets.keyboard import focus_chain

pytestmark = pytest.mark.usefixtures("one_window")


@pytest.fixture
def panel(opened):
    return opened.window.images


def test_next_and_position_follow_filter_and_sort_order(driver):
    # The next image is that of the filtered list.
    panel, session = driver.window.images, driver.session
    driver.open(session.keys[0])
    panel.filters.filter.setCurrentIndex(panel.filters.filter.findData("open"))
    driver.key(Qt.Key.Key_D)
    driver.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    assert panel.view.currentIndex().data() == "lot1/new.png"
    # The position is that in the shown list.
    panel.filters.filter.setCurrentIndex(0)
    panel, position = driver.window.images, driver.window.header.position
    driver.open("lot1/new.png")
    assert position.text() == "5 of 5"
    panel.filters.filter.setCurrentIndex(panel.filters.filter.findData("open"))
    assert position.text() == "1 of 1"
    panel.filters.filter.setCurrentIndex(0)
    panel.filters.sort_by("name", descending=True)
    assert position.text() == "1 of 5"


def test_first_press_stays_on_the_first_image_of_a_new_project(application, tmp_path, qtbot):
    session, window = application.services.session, application.window
    with Project.create(tmp_path / "new", classes=["pit"]) as project:
        for number in range(3):
            write_png(project.image_path(f"p{number}.png"), np.full((40, 50), 90 + number, np.uint8))
    with qtbot.waitSignal(session.current.opened):
        session.open_project(tmp_path / "new")
    qtbot.waitUntil(lambda: len(session.rows) == 3 and window.canvas.content.seen)
    window.table["next_open"].trigger()
    assert session.opening == "p0.png" and any("first image" in text for text in window.messages.texts)
    window.table["next_open"].trigger()  # the user does not want to label it
    qtbot.waitUntil(lambda: session.key == "p1.png")


def test_row_and_status_bar_after_a_stroke(driver):
    # The row of the list is updated.
    session, model = driver.session, driver.window.images.model
    driver.open("lot1/new.png")
    driver.drag((20, 20), (40, 30))
    driver.qtbot.waitUntil(lambda: bool(model.index_of("lot1/new.png").data(RowRole).counts), timeout=5000)
    row = model.index_of("lot1/new.png").data(RowRole)
    assert row.status == "started" and row.counts == ((1, int(np.count_nonzero(session.mask))),)
    # The status bar shows the pixel under the pointer.
    driver.open("lot1/new.png")
    driver.canvas.set_diameter(11)
    driver.drag((20, 20), (30, 20))
    QTest.mouseMove(driver.canvas, driver.pixel(25.5, 20.5))
    status = driver.window.status
    driver.qtbot.waitUntil(lambda: "25, 20" in status.pixel.text(), timeout=5000)
    assert "gray 140" in status.pixel.text() and "scratch" in status.pixel.text()
    assert "11 px" in status.brush.text() and "%" in status.zoom.text()
    QTest.mouseMove(driver.canvas, driver.pixel(-3, 20))
    driver.qtbot.waitUntil(lambda: not status.pixel.text(), timeout=5000)  # outside of the image
    driver.session.flush()
    assert status.save_state.text() == "All saved"
    QTest.mouseMove(driver.canvas, QPoint(3, 3))


def test_list_with_search_and_filters(opened, panel, qtbot):
    # Thumbnails are loaded for visible rows.
    good = set(opened.services.session.keys) - {"lot1/bad.png"}
    qtbot.waitUntil(lambda: good <= set(panel.thumbnails.pixmaps), timeout=10_000)
    assert panel.thumbnails.get("lot1/bad.png") is None
    pixmap = panel.thumbnails.get("lot1/new.png")
    assert (pixmap.width(), pixmap.height()) == (96, 80)
    # Tab reaches the verdicts in their section.
    window = opened.window
    chain = focus_chain(window.findChild(SidePanel))
    places = [chain.index(button) for button in window.verdict.buttons.values()]
    assert places == list(range(places[0], places[0] + len(places)))
    assert chain.index(window.verdict.add_button) < places[0] < chain.index(window.layers.findChild(QSlider))
    # A click in the list opens the image.
    session = opened.services.session
    place = panel.view.visualRect(panel.model.index_of(session.keys[2])).center()
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: session.key == session.keys[2], timeout=5000)
    assert opened.window.header.position.text() == "3 of 5"
    # Search and filters.
    assert panel.model.rowCount() == 5
    qtbot.waitUntil(lambda: "3 done" in panel.count.text(), timeout=5000)
    panel.search.setText("NEW")
    assert panel.model.keys == ["lot1/new.png"] and "1 of 5" in panel.count.text()
    panel.search.clear()
    shown = {}
    for i, entry in enumerate(panel.model.filters):
        panel.filters.filter.setCurrentIndex(i)
        shown[entry.name] = set(panel.model.keys) - {opened.services.session.key}
    assert shown["broken"] == {"lot1/bad.png"} and shown["open"] == {"lot1/new.png"}
    assert len(shown["all"]) == 4 and len(shown["done"]) == 2 and len(shown["defects"]) == 2
    panel.search.setText("nothing like this")
    assert panel.pages.currentWidget() is panel.no_match_page
    panel.no_match_page.clear.click()
    assert panel.model.rowCount() == 5


def test_empty_project_shows_the_getting_started_page(application, qtbot, tmp_path):
    session, panel = application.services.session, application.window.images
    session.create_project(tmp_path / "empty")
    qtbot.waitUntil(lambda: panel.pages.currentWidget() is panel.empty_page, timeout=5000)
    assert panel.empty_page.files.isVisible() and panel.count.text() == ""
    write_png(tmp_path / "a.png", np.zeros((5, 5), np.uint8))
    session.add_images([tmp_path / "a.png"])
    qtbot.waitUntil(lambda: session.key == "a.png", timeout=10_000)
    assert panel.pages.currentWidget() is panel.view


def test_list_of_100000_images_requests_visible_rows_only(qtbot, opened):
    """The view measures one row and asks for the visible ones."""
    model = CountedList(HundredThousand())
    view = QListView()
    qtbot.addWidget(view)
    settings = opened.window.images.view
    view.setUniformItemSizes(settings.uniformItemSizes())
    view.setLayoutMode(settings.layoutMode())
    view.setBatchSize(settings.batchSize())
    view.setModel(model)
    view.resize(230, 500)
    view.show()
    model.relist()
    qtbot.wait(30)
    assert model.rowCount() == 100_000 and model.requested < 20_000
    model.text = "lot42/"
    model.refilter()
    assert model.rowCount() == 1000


def test_classes_are_selected_added_renamed_recolored_and_hidden(driver):
    # List and current class are synchronized.
    session, panel = driver.session, driver.window.classes
    driver.key(Qt.Key.Key_2)
    assert panel.view.currentIndex().data() == "pit"
    panel.view.setCurrentIndex(panel.item(DONT_CARE).index())
    assert session.editor.class_id == DONT_CARE
    driver.open("lot1/new.png")
    driver.drag((20, 20), (40, 20))
    assert set(np.unique(driver.saved())) == {0, DONT_CARE}
    # Changes of the classes.
    session, panel = driver.session, driver.window.classes
    panel.add()
    editor = panel.view.viewport().findChild(QLineEdit)
    assert editor is not None and session.editor.class_id == 3
    editor.setText("Öl, Fleck 油")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    driver.qtbot.waitUntil(lambda: session.project.classes[2].name == "Öl, Fleck 油", timeout=5000)
    panel.recolor(3, "#123456")
    assert session.project.classes[2].color == "#123456"
    assert driver.canvas.scene.colors[3] == "#123456"
    rect = panel.view.visualRect(panel.item(1).index())
    QTest.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=eye_rect(rect).center())
    assert session.classes.hidden == {1} and driver.canvas.scene.hidden_ids == {1}
    panel.item(2).setText("scratch")  # taken already: refused, and the old name comes back
    assert [panel.model.item(i).text() for i in range(3)] == ["scratch", "pit", "Öl, Fleck 油"]
    assert any("scratch" in text for text in driver.window.messages.texts)


def test_verdict_buttons_set_and_remove_the_verdict(driver):
    session, panel = driver.session, driver.window.verdict
    driver.open("lot1/new.png")
    panel.buttons["NG"].click()
    assert session.note.verdict == "NG" and panel.buttons["NG"].isChecked()
    panel.buttons["NG"].click()
    assert session.note.verdict is None and not panel.buttons["NG"].isChecked()
    panel.add_button.click()
    panel.name_field.setText("Rework")
    QTest.keyClick(panel.name_field, Qt.Key.Key_Return)
    assert list(panel.buttons) == ["OK", "NG", "Rework"]
    driver.open("lot1/bad.png")
    assert not panel.buttons["OK"].isEnabled()


def test_verdict_buttons_show_their_keys_if_there_is_room(opened, qtbot):
    button = opened.window.verdict.buttons["OK"]
    assert button.key == key_text("verdict_1") == "Alt+1"
    button.resize(button.sizeHint())
    wide = button.grab().toImage()
    button.resize(button.fontMetrics().horizontalAdvance("OK") + 24, button.height())  # the name only
    narrow, shown = button.grab().toImage(), button.key
    button.show_key("")
    assert shown and button.grab().toImage() == narrow
    button.resize(wide.deviceIndependentSize().toSize())
    assert button.grab().toImage() != wide


def test_layers_and_display(driver):
    # Layers can be hidden and faded.
    canvas, layers = driver.canvas, driver.window.layers
    driver.key(Qt.Key.Key_H)
    assert not canvas.scene.label_style.visible and not layers.labels.check.isChecked()
    driver.key(Qt.Key.Key_H, Qt.KeyboardModifier.ShiftModifier)
    assert not canvas.scene.prediction_style.visible
    driver.key(Qt.Key.Key_C, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.scene.prediction_style.filled and MODES[layers.display.modes.currentIndex()] == "filled"
    layers.labels.slider.setValue(20)
    assert canvas.scene.label_style.opacity == 0.2
    # Sliders of the display never cross and can be reset.
    canvas, display = driver.canvas, driver.window.display
    display.high.setValue(400)
    assert canvas.scene.display.high == pytest.approx(102, abs=1)
    display.low.setValue(900)
    assert canvas.scene.display.low < canvas.scene.display.high == pytest.approx(102, abs=1)
    display.gamma.setValue(750)
    assert canvas.scene.display.gamma == pytest.approx(2, abs=0.02)
    display.reset.click()
    assert (canvas.scene.display.low, canvas.scene.display.high, canvas.scene.display.gamma) == (0, 255, 1)
    assert display.low.value() == 0 and display.high.value() == 1000 and display.gamma.value() == 500


def test_message_of_a_failed_save_is_removed_after_success(driver):
    session, messages = driver.session, driver.window.messages
    driver.open("lot1/new.png")
    folder = session.project.root / "masks"
    moved = folder.rename(folder.with_name("away"))
    folder.write_text("a file where a folder should be")
    driver.drag((20, 20), (40, 20))
    driver.qtbot.waitUntil(lambda: session.autosave.state == "failed", timeout=5000)
    assert any(str(folder) in text for text in messages.texts)
    assert "Retrying" in driver.window.status.save_state.text()
    driver.window.project_commands.close_project()
    driver.window.findChild(Question).buttons["cancel"].click()
    assert session.project is not None
    folder.unlink()
    moved.rename(folder)
    assert session.flush()
    assert not any(str(folder) in text for text in messages.texts)
    assert driver.window.status.save_state.text() == "All saved"


def test_folder_of_an_image_in_a_source_folder_has_no_mark():
    assert shown_folder("@camera 1/lot 2/a.png") == "camera 1/lot 2" and shown_folder("lot 2/a.png") == "lot 2"
    assert shown_folder("a.png") == ""


def test_list_shows_the_current_image_after_the_evaluation(application, tmp_path, qtbot):
    """The evaluation hides the list, which is laid out again after that."""
    root, session, window = tmp_path / "many", application.services.session, application.window
    with Project.create(root, classes=["scratch"], verdicts=[]) as project:
        for number in range(60):
            write_png(project.image_path(f"lot1/part{number:02d}.png"), np.full((16, 20), 140, np.uint8))
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    view, last = window.images.view, session.keys[-1]
    session.open_image(last)

    def shown() -> bool:
        return view.viewport().rect().contains(view.visualRect(view.currentIndex()).center())

    qtbot.waitUntil(lambda: session.key == last and shown(), timeout=10_000)
    window.evaluation_navigation.toggle()
    view.verticalScrollBar().setValue(0)  # as the layout of a hidden list does
    window.evaluation_navigation.leave()
    qtbot.waitUntil(shown, timeout=5000)


ROWS = 1000


@pytest.fixture
def view(qtbot) -> ImageListView:
    view = ImageListView()
    qtbot.addWidget(view)
    view.resize(200, 400)
    view.setModel(QStringListModel([f"image-{n}" for n in range(ROWS)], view))
    view.show()
    return view


def visible(view: ImageListView, row: int) -> bool:
    return view.viewport().rect().contains(view.visualRect(view.model().index(row, 0)).center())


def test_distant_row_is_shown(view, qtbot):
    view.setCurrentIndex(view.model().index(ROWS - 50, 0))
    view.scrollTo(view.currentIndex())
    qtbot.waitUntil(lambda: visible(view, ROWS - 50), timeout=5000)


def test_rows_are_shown_at_once_after_a_resize(view):
    """Until the end of a layout in batches, Qt finds and paints no row in the middle of the list."""
    view.scrollTo(view.model().index(ROWS // 2, 0))
    view.resize(200, 420)
    view.doItemsLayout()
    assert view.indexAt(view.viewport().rect().center()).isValid()


def test_change_of_a_row_does_not_scroll_the_list(view, qtbot):
    qtbot.waitUntil(lambda: view.verticalScrollBar().maximum() > 10_000, timeout=5000)
    view.verticalScrollBar().setValue(10_000)
    least = []
    view.verticalScrollBar().valueChanged.connect(least.append)
    view.model().setData(view.model().index(3, 0), "another name")
    qtbot.wait(20)
    assert not least and view.verticalScrollBar().value() == 10_000


def test_current_row_stays_visible_when_the_list_gets_lower(view, qtbot):
    last = next(row for row in range(ROWS) if not visible(view, row + 1))
    view.setCurrentIndex(view.model().index(last, 0))
    view.resize(200, 120)
    qtbot.waitUntil(lambda: visible(view, last), timeout=5000)


def test_current_row_that_is_cut_by_the_new_height_is_scrolled_into_view(view, qtbot):
    last = next(row for row in range(ROWS) if not visible(view, row + 1))
    view.setCurrentIndex(view.model().index(last, 0))
    view.scrollTo(view.currentIndex())
    row = view.visualRect(view.currentIndex())
    view.resize(200, view.height() - (view.viewport().height() - row.center().y()) + 3)
    qtbot.waitUntil(lambda: view.visualRect(view.currentIndex()).bottom() < view.viewport().height(), timeout=5000)


def test_row_that_was_scrolled_away_stays_there(view, qtbot):
    view.setCurrentIndex(view.model().index(0, 0))
    qtbot.waitUntil(lambda: view.verticalScrollBar().maximum() > 2000, timeout=5000)
    view.verticalScrollBar().setValue(2000)
    view.resize(200, 120)
    assert view.verticalScrollBar().value() == 2000 and not visible(view, 0)


def test_a_reason_in_chinese_is_wrapped_between_any_of_its_characters(qapp):
    font, text = QFont(), "预测有 scratch，标注为良品"
    for missing in range(1, 4):  # so many characters do not fit in the first line
        width = QFontMetrics(font).horizontalAdvance(text[:-missing]) + 1
        assert two_lines(text, font, width) == [text[:-missing], text[-missing:]]
    width = QFontMetrics(font).horizontalAdvance("The label is ") + 1
    assert two_lines("The label is missing\nSecond", font, width) == ["The label is", "missing"]
    assert two_lines("First\nSecond", font, width) == ["First", "Second"]


def test_image_that_failed_to_open_is_marked_as_unreadable(opened, root, qtbot):
    session, images = opened.services.session, opened.window.images
    lying = root / "pictures" / "lot1" / "lying.jpg"
    lying.write_bytes(jpeg_with_wrong_size(96, 80))  # its header is in order, only decoding shows that it is incomplete
    gone = session.project.image_path("lot1/new.png")
    session.refresh_images()
    qtbot.waitUntil(lambda: "lot1/lying.jpg" in session.rows, timeout=20_000)
    assert not session.rows["lot1/lying.jpg"].broken
    gone.unlink()
    for key in ("lot1/lying.jpg", "lot1/new.png"):
        with qtbot.waitSignal(session.current.failed, timeout=20_000):
            images.open(key)
    first = next(key for key in session.keys if session.rows[key].masked)
    with qtbot.waitSignal(session.current.opened, timeout=20_000):
        images.open(first)
    found = set()
    broken = {"lot1/lying.jpg", "lot1/new.png", "lot1/bad.png"}
    qtbot.waitUntil(lambda: {key for key, row in session.rows.items() if row.broken} == broken, timeout=20_000)
    for _ in broken:
        with qtbot.waitSignal(session.current.failed, timeout=20_000):
            opened.window.table["next_broken"].trigger()
        found.add(session.key)
    assert found == broken


def test_blue_button_and_a_click_in_a_list_give_the_keyboard_to_the_canvas(driver):
    window, view = driver.window, driver.window.images.view
    driver.open("lot0/p000.png")
    driver.qtbot.waitUntil(window.stage_bar.next.isEnabled)
    window.images.search.setFocus()
    QTest.mouseClick(window.stage_bar.next, Qt.MouseButton.LeftButton)  # good images are marked on their thumbnails
    assert window.images.thumbnail_view.isAncestorOf(QApplication.focusWidget())
    window.images.filters.thumbnails.click()
    for clicked in (view, window.classes.view):
        clicked.setFocus()
        place = clicked.visualRect(clicked.model().index(1, 0)).center()
        QTest.mouseClick(clicked.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert driver.canvas.hasFocus()
    view.setFocus()
    row = view.currentIndex().row()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.hasFocus() and view.currentIndex().row() == row + 1


def test_step_that_cannot_go_gives_the_reason_and_offers_all_images(driver):
    window, session, search = driver.window, driver.session, driver.window.images.search
    driver.open("lot0/p000.png")
    search.setText("p00")
    window.images._filter_timer.timeout.emit()
    window.table["next_open"].trigger()
    [message] = window.messages.shown
    assert message.text == "No listed image is left to mark as done." and "hidden by the search" in message.advice
    assert session.key == "lot0/p000.png"
    [button] = [button for button in message.findChildren(QPushButton) if button.text() == "Show all images"]
    button.click()
    assert search.text() == "" and window.images.model.rowCount() == len(session.keys)
    window.table["next_open"].trigger()
    driver.qtbot.waitUntil(lambda: session.key == "lot1/new.png")


def test_blue_button_that_cannot_go_gives_that_reason_instead_of_its_own(driver, monkeypatch):
    window = driver.window
    driver.open("lot0/p000.png")
    window.images.search.setText("p00")
    window.images._filter_timer.timeout.emit()
    reason = Remark(id="unmeasured")
    step = NextStep(stage="label", id="label_defects", command="next_open", count=6, reason=reason)
    monkeypatch.setattr(driver.services.workflow, "workflow", Workflow(step))
    window.stage_bar.refresh()
    QTest.mouseClick(window.stage_bar.next, Qt.MouseButton.LeftButton)
    assert [message.text for message in window.messages.shown] == ["No listed image is left to mark as done."]


def test_escape_clears_the_search(driver):
    search = driver.window.images.search
    search.setText("p001")
    search.setFocus()
    QTest.keyClicks(search, "x")
    QTest.keyClick(search, Qt.Key.Key_Escape)
    assert search.text() == "" and driver.canvas.hasFocus()
