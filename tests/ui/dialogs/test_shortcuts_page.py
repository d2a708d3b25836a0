"""Editable shortcuts: conflicts, reassignment, reset, storage, and the texts that quote them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from workbench.session.preferences import Preferences
from workbench.ui.actions.shortcut_changes import ShortcutsDialog
from workbench.ui.help.guide_window import GuideWindow
from workbench.ui.shortcuts import change_shortcuts, key_sequences, key_text, with_current_keys

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def default_shortcuts():
    yield
    change_shortcuts({})


@pytest.fixture
def page(driver):
    return driver.window.dialogs.show_settings("keyboard").shortcuts


def record(page, id: str, key, modifiers=Qt.KeyboardModifier.NoModifier) -> None:
    page.select(id)
    page.recorder.setFocus()
    QTest.keyClick(page.recorder, key, modifiers)


def click(button) -> None:
    assert button.isVisible() and button.isEnabled()
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_new_shortcut_is_used_shown_and_stored(page, driver):
    window, table = driver.window, driver.window.table
    buttons = [button for button in window.findChildren(QToolButton) if button.defaultAction() is table["fit"]]
    record(page, "fit", Qt.Key.Key_Q)
    assert page.status.text() == "This shortcut is free."
    click(page.set_button)
    assert [keys.toString() for keys in table["fit"].shortcuts()] == ["Q"] and key_text("fit") == "Q"
    assert table["fit"].toolTip() == "Fit to window (Q)"
    assert buttons and all(button.accessibleName() == button.toolTip() == "Fit to window (Q)" for button in buttons)
    assert Preferences.load().shortcuts == {"fit": "Q"}
    page.window().close()
    driver.activate()
    driver.canvas.view_state.actual_size()
    driver.key(Qt.Key.Key_Q)
    driver.qtbot.waitUntil(lambda: driver.canvas.view_state.fitted)
    search = window.images.search
    search.setFocus()
    driver.canvas.view_state.actual_size()
    QTest.keyClicks(search, "q")  # in an editor a letter is text
    assert search.text() == "q" and not driver.canvas.view_state.fitted


def test_used_key_is_refused_until_it_is_reassigned(page, driver):
    record(page, "fit", Qt.Key.Key_T, CTRL)
    assert page.status.text() == "Ctrl+T is used by “Start or stop training”." and not page.set_button.isEnabled()
    with pytest.raises(ValueError, match="Start or stop training"):
        driver.window.dialogs.shortcut_changes.assign("fit", QKeySequence("Ctrl+T"))
    click(page.reassign_button)
    assert key_text("fit") == "Ctrl+T" and key_text("train") == ""
    assert driver.window.training.controls.button.toolTip().endswith("defects") or "(" not in (
        driver.window.training.controls.button.toolTip()
    )
    page.select("train")
    click(page.reset_button)  # its default belongs to another command now
    assert "Fit to window" in page.status.text() and key_text("train") == ""
    click(page.reassign_button)
    assert key_text("train") == "Ctrl+T" and key_text("fit") == ""


def test_keys_of_canvas_and_menu_bar_cannot_be_reassigned(page, driver):
    page.select("fit")
    for keys, name in (("Space", "Canvas"), ("Esc", "Canvas"), ("Ctrl+1", "Canvas"), ("Alt+P", "Menu Project")):
        page.recorder.setKeySequence(QKeySequence(keys))
        assert page.status.text() == f"{keys} is used by “{name}” and cannot be reassigned."
        assert not page.reassign_button.isVisible() and not page.set_button.isEnabled()


def test_second_key_removal_and_reset(page, driver):
    record(page, "next", Qt.Key.Key_Q, CTRL | Qt.KeyboardModifier.AltModifier)
    click(page.add_button)
    assert [keys.toString() for keys in key_sequences("next")] == ["D", "PgDown", "Ctrl+Alt+Q"]
    page.select("fit")
    click(page.remove_button)
    assert not key_sequences("fit") and not driver.window.table["fit"].shortcuts()
    click(page.reset_button)
    assert key_text("fit") == "Ctrl+F" and Preferences.load().shortcuts == {"next": "D; PgDown; Ctrl+Alt+Q"}
    click(page.window().restore)
    assert Preferences.load().shortcuts == {} and len(key_sequences("next")) == 2


def test_search_finds_commands_and_keys(page):
    for text in ("ctrl+shift+l", "label errors"):
        page.search.setText(text)
        shown = [id for id, item in page.items.items() if not item.isHidden()]
        assert shown == ["label_errors"], text
    groups = [page.tree.topLevelItem(i) for i in range(page.tree.topLevelItemCount())]
    assert [group.text(0) for group in groups if not group.isHidden()] == ["Image"]


def test_protected_shortcut_follows_the_change(page, driver):
    """A changed shortcut of a command that changes the label has no effect in an editor, as the default one."""
    driver.open(driver.session.keys[0])
    driver.drag((20, 20), (40, 30))
    record(page, "undo", Qt.Key.Key_U, CTRL)
    click(page.set_button)
    page.window().close()
    driver.activate()
    driver.window.images.search.setFocus()
    QTest.keyClick(driver.window.images.search, Qt.Key.Key_U, CTRL)
    assert driver.session.can_undo()
    driver.canvas.setFocus()
    driver.key(Qt.Key.Key_U, CTRL)
    assert not driver.session.can_undo()


def test_shortcuts_dialog_and_guide_quote_the_change(page, driver):
    driver.window.table["guide"].trigger()
    driver.window.findChild(GuideWindow).open_page("labeling.md")
    for id, key in (("class_1", Qt.Key.Key_Q), ("class_2", Qt.Key.Key_L)):
        record(page, id, key)
        click(page.set_button)
    record(page, "label_next", Qt.Key.Key_F9)
    click(page.set_button)
    text = driver.window.findChild(GuideWindow).browser.toPlainText()
    assert "Label next (F9" in text and "Ctrl+Shift+L" in text
    driver.window.table["keys"].trigger()
    dialog = driver.window.findChild(ShortcutsDialog)
    rows = [text for text, _ in dialog.rows]
    assert {"q class 1", "l class 2", "3 class 3", "f9 label next"} <= set(rows) and "1 … 9 class 1 … 9" not in rows


def test_stored_changes_are_applied_at_start_and_damaged_ones_are_ignored(qapp):
    change_shortcuts({"fit": "Ctrl+Alt+F", "pan": "P", "train": "nonsense+", "redo": ""})
    assert key_text("fit") == "Ctrl+Alt+F" and key_text("pan") == "Space"
    assert key_text("train") == "Ctrl+T" and key_text("redo") == ""


def test_words_that_contain_a_shortcut_are_not_replaced(qapp):
    change_shortcuts({"train": "F9", "next": "Q", "export": ""})
    assert with_current_keys("Ctrl+T, Ctrl+Tab, D, (Ctrl+E)") == "F9, Ctrl+Tab, D, (no shortcut)"
