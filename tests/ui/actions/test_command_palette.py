"""Command palette: fuzzy search in both languages, keys, reasons of disabled commands, focus."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from workbench.session.preferences import Preferences
from workbench.ui.actions.command_palette import KeyRole, PathRole, ReasonRole
from workbench.ui.shell.application import Application

OPEN = Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def palette(driver):
    QTest.keyClick(driver.canvas, *OPEN)
    palette = driver.window.dialogs.palette
    assert palette.isVisible() and palette.field.hasFocus()
    return palette


def names(palette) -> list[str]:
    return [entry.name for entry in palette.model.items]


def test_list_search_and_reasons_of_the_palette(palette, driver):
    # All commands are listed once.
    assert sorted(entry.id for entry in palette.model.items) == sorted(driver.window.table.commands)
    # Names and menu paths of both languages are found.
    for query, first in (
        ("undo", "Undo"),
        ("next unlab", "Next unlabeled image"),
        ("nui", "Next unlabeled image"),
        ("outlines poly", "Polygon"),
        ("theme dark", "Dark"),
        ("撤销", "Undo"),
        ("标注 画笔", "Brush"),
    ):
        palette.field.setText(query)
        assert names(palette)[0] == first, query
    # A search without a match shows a message.
    palette.field.setText("qqqq xyz")
    assert not names(palette) and palette.empty.isVisible()
    # A disabled command shows the reason and is not run.
    palette.field.setText("edit undo")
    index = palette.model.index(0)
    assert index.data() == "Undo" and index.data(ReasonRole) == "There is nothing to undo"
    assert index.data(KeyRole) == "Ctrl+Z" and index.data(PathRole) == "Edit"
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert index.data(ReasonRole)
    palette.field.setText("edit redo")
    palette.field.returnPressed.emit()
    assert palette.isVisible()


def test_arrows_move_and_escape_closes(palette, driver):
    key = driver.session.key
    palette.field.setText("image")
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.view.currentIndex().row() == 1
    QTest.keyClick(palette.field, Qt.Key.Key_PageDown)
    assert palette.view.currentIndex().row() > 1 and driver.session.opening == key
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible() and driver.canvas.hasFocus()


def test_enter_runs_the_selected_command_and_returns_the_focus(palette, driver):
    QTest.keyClicks(palette.field, "polygon")
    assert driver.canvas.tool == "brush"  # letters of the search are no shortcuts
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    driver.qtbot.waitUntil(lambda: driver.canvas.tool == "polygon")
    assert not palette.isVisible() and driver.canvas.hasFocus()
    assert driver.session.note.status == "done" and driver.session.key == driver.session.keys[0]  # no Mark as done
    QTest.keyClick(driver.canvas, *OPEN)
    assert names(palette)[0] == "Polygon" and palette.field.text() == ""  # used last


def test_command_that_moves_the_focus_keeps_it(palette, driver):
    QTest.keyClicks(palette.field, "search images")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    driver.qtbot.waitUntil(driver.window.images.search.hasFocus)


def test_click_runs_a_command(palette, driver):
    palette.field.setText("eraser")
    rect = palette.view.visualRect(palette.model.index(0))
    QTest.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    driver.qtbot.waitUntil(lambda: driver.canvas.tool == "eraser")


def test_every_disabled_command_has_a_reason(application, opened, root, qtbot):
    """A command is off exactly if one of its conditions is not met, and shows the reason of the first one."""
    table, session = application.window.table, application.services.session
    shared = {"Open or create a project first", "The project is read-only", "Open an image first"}
    qtbot.waitUntil(lambda: not table._refresh_timer.isActive())
    reasons = {id: table.reason(id) for id in table.commands}
    assert {id for id, reason in reasons.items() if reason} == {id for id in reasons if not table[id].isEnabled()}
    disabled = {id: reason for id, reason in reasons.items() if reason}
    assert len(disabled) > 10 and not shared & set(disabled.values())
    # The reasons that the user can remove first are shown first.
    session.close_project()
    assert table.reason("accept_all") == table.reason("next") == "Open or create a project first"
    session.open_project(root, write=False)
    assert table.reason("accept_all") == "The project is read-only" and not table.reason("show_folder")


def test_palette_opens_without_a_project(application, qtbot):
    window = application.window
    QTest.keyClick(window, *OPEN)
    palette = window.dialogs.palette
    palette.field.setText("new project")
    assert palette.model.index(0).data() == "New project" and not palette.model.index(0).data(ReasonRole)
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()


def test_english_names_are_found_in_the_chinese_window(qapp, qtbot):
    application = Application(qapp, Preferences(language="zh_CN", theme="dark"))
    palette = application.window.dialogs.palette
    palette.open()
    palette.field.setText("edit undo")
    assert palette.model.items[0].id == "undo" and palette.model.items[0].name == "撤销"
    application.end()
