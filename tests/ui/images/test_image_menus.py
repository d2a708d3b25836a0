"""Context menus of images, and status, verdict and data split of several images at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.conftest import fill_project
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.ui.actions.menus import ImageContextMenu
from workbench.ui.evaluation.evaluation_navigation import CentralStack

pytestmark = pytest.mark.usefixtures("one_window")

PLAIN, CTRL = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton


def right_click(view, position) -> None:
    """Send the events of a right click, as the platform does."""
    QTest.mouseClick(view.viewport(), RIGHT, PLAIN, position)
    menu = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, position, view.viewport().mapToGlobal(position))
    QApplication.sendEvent(view.viewport(), menu)


def menu_of(driver, key: str) -> ImageContextMenu:
    view = driver.window.images.view
    right_click(view, view.visualRect(driver.window.images.model.index_of(key)).center())
    return driver.window.findChild(ImageContextMenu)


def entries(menu) -> dict:
    return {action.text(): action for action in menu.actions() if action.text()}


def note(driver, key: str):
    driver.session.verdict_steps.finish()
    assert driver.session.flush()
    return annotation.load_note(driver.session.project, key)


def test_verdicts_of_the_current_image_show_their_keys(driver):
    first, new = driver.session.keys[0], "lot1/new.png"
    driver.open(first)
    keys = {}
    for key in (first, new):
        menu = menu_of(driver, key)
        keys[key] = list(entries(entries(menu)["Verdict"].menu()))
        menu.close()
        driver.qtbot.waitUntil(lambda: driver.window.findChild(ImageContextMenu) is None)
    assert keys == {first: ["OK\tAlt+1", "NG\tAlt+2", "No verdict"], new: ["OK", "NG", "No verdict"]}


def test_no_entry_has_a_mnemonic(driver):
    """In Chinese, a single one would show its letter in brackets."""
    driver.open(driver.session.keys[0])
    menu = menu_of(driver, driver.session.keys[0])
    texts = list(entries(menu))
    menu.close()
    assert "Use as reference image" in texts and not any("&" in text for text in texts)


def test_menu_of_the_list_acts_on_the_image_under_the_pointer(driver):
    session = driver.session
    first, new = session.keys[0], "lot1/new.png"
    driver.open(first)
    menu = menu_of(driver, new)
    assert menu.keys == [new] and session.opening == first  # a right click opens no image
    actions = entries(menu)
    assert list(actions) == [
        *("Open", "Mark as done", "Mark as not done", "Verdict", "Data split"),
        *("Show in folder", "Copy path", "Remove from project…"),
    ]
    assert not actions["Mark as not done"].isEnabled()
    actions["Mark as done"].trigger()
    assert note(driver, new).status == "done" and session.rows[new].status == "done"
    assert not annotation.load_mask(session.project, new).any()  # a good image has an empty mask
    entries(actions["Verdict"].menu())["NG"].trigger()
    entries(actions["Data split"].menu())["Test set"].trigger()
    driver.qtbot.waitUntil(lambda: note(driver, new).pin == "test")
    assert note(driver, new).verdict == "NG" and note(driver, first).pin is None
    actions["Copy path"].trigger()
    assert QGuiApplication.clipboard().text() == str(session.project.image_path(new))
    menu.close()
    for expected in (("done", "NG", None), ("done", None, None), ("new", None, None)):
        session.undo()
        found = note(driver, new)
        assert (found.status, found.verdict, found.pin) == expected
    assert session.key == first
    session.redo()
    assert note(driver, new).status == "done"


def test_menu_opens_an_image_and_shows_its_folder(driver, monkeypatch):
    shown = []
    monkeypatch.setattr(driver.window.project_commands, "show_path", shown.append)
    driver.open(driver.session.keys[0])
    menu = menu_of(driver, "lot1/new.png")
    entries(menu)["Show in folder"].trigger()
    entries(menu)["Open"].trigger()
    menu.close()
    driver.qtbot.waitUntil(lambda: driver.session.key == "lot1/new.png")
    assert shown == [driver.session.project.image_path("lot1/new.png").parent]


def test_right_click_beside_regions_opens_the_menu_of_the_image(driver):
    driver.open("lot1/new.png")
    QTest.mouseClick(driver.canvas, RIGHT, PLAIN, driver.pixel(50, 40))
    menu = driver.window.findChild(ImageContextMenu)
    assert menu.keys == ["lot1/new.png"] and "Open" not in entries(menu)
    entries(menu)["Mark as done"].trigger()
    menu.close()
    assert driver.session.note.status == "done" and driver.session.key == "lot1/new.png"


def test_menu_of_a_read_only_project_changes_nothing(application, opened, root, qtbot):
    session = application.services.session
    session.close_project()
    with qtbot.waitSignal(session.current.opened):
        session.open_project(root, write=False)
    application.window.image_menus.show_menu([session.keys[0]], application.window.pos())
    actions = entries(application.window.findChild(ImageContextMenu))
    assert not any(actions[text].isEnabled() for text in ("Mark as done", "Verdict", "Data split"))
    assert actions["Copy path"].isEnabled()
    application.window.findChild(ImageContextMenu).close()


def test_commands_copy_the_path_and_mark_as_done_by_key(driver):
    driver.open("lot1/new.png")
    driver.window.table["copy_path"].trigger()
    assert QGuiApplication.clipboard().text().endswith("new.png")
    driver.key(Qt.Key.Key_Return, CTRL)
    assert driver.session.note.status == "done" and driver.session.opening == "lot1/new.png"


def test_thumbnail_view_has_a_button_and_is_left_by_escape(driver):
    images, center = driver.window.images, driver.window.findChild(CentralStack)
    button = images.filters.thumbnails
    assert "Ctrl+G" in button.toolTip()
    QTest.mouseClick(button, LEFT)
    assert center.currentWidget() is images.thumbnail_view and button.isChecked()
    QTest.keyClick(images.thumbnail_view.list_view, Qt.Key.Key_Escape)
    assert center.currentWidget() is driver.canvas and not button.isChecked() and driver.canvas.hasFocus()


@pytest.fixture
def sheet(driver):
    """Thumbnail view with all five images selected, of which one cannot be read."""
    driver.open(driver.session.keys[0])
    driver.window.table["thumbnails"].trigger()
    driver.window.images.thumbnail_view.select_all()
    return driver


def test_status_and_data_split_of_selected_thumbnails(sheet):
    session, view = sheet.session, sheet.window.images.thumbnail_view
    readable = [key for key in session.keys if not session.rows[key].broken]
    QTest.mouseClick(view.bulk.not_done_button, LEFT)
    assert {note(sheet, key).status for key in readable} == {"started"}
    QTest.mouseClick(view.bulk.done_button, LEFT)
    assert {note(sheet, key).status for key in readable} == {"done"} and len(view.selected()) == 5
    assert any("4 images marked as done" in text for text in sheet.window.messages.texts)
    entries(view.bulk.split_button.menu())["Validation set"].trigger()
    sheet.qtbot.waitUntil(lambda: {note(sheet, key).pin for key in readable} == {"val"})
    for _ in range(3):
        session.undo()
    statuses = [note(sheet, key).status for key in readable]
    assert statuses == ["done", "done", "done", "new"] and {note(sheet, key).pin for key in readable} == {None}


def test_menu_commands_act_on_the_selected_thumbnails(sheet):
    session, table = sheet.session, sheet.window.table
    sheet.qtbot.waitUntil(table["not_done"].isEnabled)
    table["not_done"].trigger()
    table["split_test"].trigger()
    first = session.keys[0]
    sheet.qtbot.waitUntil(lambda: note(sheet, first).pin == "test")
    assert {session.rows[key].status for key in session.keys if not session.rows[key].broken} == {"started"}


def test_interrupted_change_of_status_is_recovered(tmp_path, application, qtbot):
    """The journal holds the change until the notes are written."""
    session = application.services.session
    with Project.create(tmp_path / "p", classes=["scratch"]) as project:
        keys = fill_project(project, 2)
        project.mask_path(keys[1]).unlink()
        project.note_path(keys[1]).unlink()
    with qtbot.waitSignal(session.current.opened):
        session.open_project(tmp_path / "p")
    qtbot.waitUntil(lambda: len(session.rows) == 2 and session.rows[keys[1]].width > 0)
    steps = session.verdict_steps
    steps._tasks.submit = lambda *_: None  # as if the process ended before the notes are written
    steps.set_statuses(keys[1:], "done")
    recorded = [path for path in (tmp_path / "p" / "journal").rglob("*") if path.is_file()]
    assert any(keys[1].encode() in path.read_bytes() and b'"new_mask": true' in path.read_bytes() for path in recorded)
