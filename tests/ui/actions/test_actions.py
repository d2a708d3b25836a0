"""Command table: shortcuts, menus, icons and states of the commands."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from workbench.core import resources
from workbench.core.project import annotation
from workbench.core.runs.dataset import collect
from workbench.ui.actions.menus import HISTORY, NAVIGATION, OVERLAYS, RUN_MENU, TOOL_STRIP, commands, ids
from workbench.ui.actions.shortcut_changes import ShortcutsDialog
from workbench.ui.text.formatting import plain

pytestmark = pytest.mark.usefixtures("one_window")


def test_command_table_with_menus_icons_and_shortcuts(application, qtbot):
    # Shortcuts are unique.
    keys = Counter(key.toString() for action in application.window.table.all() for key in action.shortcuts())
    assert keys and [key for key, count in keys.items() if count > 1] == []
    # Mnemonics are unique in each menu.
    for menu in application.window.menuBar().findChildren(QMenu):
        texts = [action.text() for action in menu.actions() if "&" in action.text()]
        mnemonics = Counter(text[text.index("&") + 1].lower() for text in texts)
        assert not {key for key, count in mnemonics.items() if count > 1}, (menu.title(), texts)
    # Every command is in a menu once.
    listed = Counter(command.id for command in commands(application.window.table.menus))
    assert set(listed) == set(application.window.table.commands)
    assert max(listed.values()) == 1
    assert {id for bar in (TOOL_STRIP, NAVIGATION, HISTORY, OVERLAYS, RUN_MENU) for id in ids(bar)} <= set(listed)
    # Every icon exists and is used.
    drawn = {path.stem for path in resources.path("icons").glob("*.svg")}
    named = {row.icon for row in application.window.table.commands.values() if row.icon}
    assert named <= drawn
    sources = "".join(
        path.read_text("utf-8") for path in (resources.folder().parent / "workbench" / "ui").rglob("*.py")
    ) + resources.text("style.qss")
    assert {name for name in drawn if f'"{name}"' not in sources and f"({name}," not in sources} <= {"app"}
    # The dialog of the shortcuts lists the table.
    application.window.table["keys"].trigger()
    page = application.window.findChild(ShortcutsDialog)
    text = "\n".join(text for text, _ in page.rows)
    for keys in ("ctrl+z", "d, pgdown", "1 … 9", "alt+1 … alt+9", "f1"):
        assert keys in text
    page.search.setText("polygon")
    shown = [text for text, labels in page.rows if not labels[0].isHidden()]
    assert shown and all("polygon" in text for text in shown)
    page.close()


# Keys that users rely on; they do not change between versions.
PROMISED = {
    "next": ["D", "PgDown"],
    "previous": ["A", "PgUp"],
    "next_unlabeled": ["Ctrl+Shift+D", "Ctrl+PgDown"],
    "previous_unlabeled": ["Ctrl+PgUp"],
    "accept_all": ["Ctrl+Shift+A"],
    "toward_labels": ["Alt+Left"],
    "toward_suggestions": ["Alt+Right"],
    "done_next": ["Enter", "Return"],
    "fit": ["Ctrl+F"],
    "actual": ["Ctrl+0"],
    "brush": ["B"],
    "eraser": ["E"],
    "polygon": ["P"],
    "rectangle": ["R"],
    "fill": ["F"],
    "bigger": ["]"],
    "smaller": ["["],
    "class_1": ["1"],
    "class_9": ["9"],
    "pick": ["I"],
    "keep": ["X"],
    "undo": ["Ctrl+Z"],
    "redo": ["Ctrl+Shift+Z", "Ctrl+Y"],
    "copy_previous": ["Ctrl+P"],
    "train": ["Ctrl+T"],
    "keys": ["F1"],
}


def test_promised_keys(application):
    table = application.window.table
    shortcuts = {id: [key.toString() for key in table[id].shortcuts()] for id in PROMISED}
    assert shortcuts == {id: [QKeySequence(key).toString() for key in keys] for id, keys in PROMISED.items()}


def test_commands_are_disabled_when_not_applicable(application, qtbot, root):
    table, session = application.window.table, application.services.session
    for id in ("undo", "next", "done_next", "train", "export", "predict", "close_project", "class_1"):
        assert not table[id].isEnabled(), id
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: table["next"].isEnabled() and table["class_2"].isEnabled() and table["train"].isEnabled())
    assert not table["undo"].isEnabled() and not table["class_3"].isEnabled() and not table["export"].isEnabled()
    session.editor.begin("paint")
    session.editor.paint_segment((5, 5), (9, 9), 3, 1)
    session.editor.commit()
    qtbot.waitUntil(table["undo"].isEnabled)


def test_data_split_commands_set_and_clear_the_pin(driver):
    session, table = driver.session, driver.window.table
    key = session.keys[0]
    driver.open(key)
    driver.qtbot.waitUntil(table["split_automatic"].isChecked, timeout=5000)
    table["split_val"].trigger()
    session.flush()
    project = session.project
    assert annotation.load_note(project, key).pin == "val" and session.note.history[-1].what == "pin"
    assert key in [item.key for item in collect(project, "unet").of("val")]
    driver.open(session.keys[1])
    driver.qtbot.waitUntil(table["split_automatic"].isChecked, timeout=5000)
    driver.open(key)
    driver.qtbot.waitUntil(table["split_val"].isChecked, timeout=5000)
    table["split_automatic"].trigger()
    session.flush()
    assert annotation.load_note(project, key).pin is None and not collect(project, "unet").of("val")


def test_typing_does_not_trigger_commands(driver):
    """Letters, Enter and page keys in a text field stay there."""
    session, search = driver.session, driver.window.images.search
    driver.open("lot1/new.png")
    driver.key(Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert search.hasFocus()
    QTest.keyClicks(search, "new")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_PageDown):
        QTest.keyClick(search, key)
    driver.qtbot.wait(30)
    assert search.text() == "new" and session.key == "lot1/new.png" and session.note.status == "new"
    assert driver.canvas.tool == "brush"


def test_menus_show_the_names_of_classes_and_verdicts(application, root, qtbot):
    table, session = application.window.table, application.services.session

    def menu(title: str) -> QMenu:  # each time a new Python object, because PySide 6.9 invalidates those of menus
        return next(menu for menu in application.window.menuBar().findChildren(QMenu) if menu.title() == title)

    def shown(title: str) -> list[tuple[str, str]]:
        actions = [action for action in menu(title).actions() if action.isVisible()]
        return [(action.text(), action.shortcut().toString()) for action in actions]

    assert shown("Select &class") == shown("&Verdict") == []
    menu("&Label").aboutToShow.emit()
    assert not menu("Select &class").isEnabled()
    with qtbot.waitSignal(session.current.opened, timeout=10_000):
        session.open_project(root)
    session.classes.add("pore & crack")
    session.classes.choose(2)
    qtbot.waitUntil(table["class_2"].isChecked)
    assert shown("Select &class") == [("scratch", "1"), ("pit", "2"), ("pore && crack", "3")]
    assert not table["class_1"].isChecked()
    assert shown("&Verdict") == [("OK", "Alt+1"), ("NG", "Alt+2")]
    assert shown("Set verdict &and go to next") == [("OK", "Shift+1"), ("NG", "Shift+2")]
    menu("&Label").aboutToShow.emit()
    assert menu("Select &class").isEnabled()
    session.verdict_steps.set_verdicts([session.key], "NG")
    qtbot.waitUntil(lambda: table["verdict_2"].isChecked() and not table["verdict_1"].isChecked())
    application.window.table["keys"].trigger()
    page = application.window.findChild(ShortcutsDialog)
    assert "1 … 9 class 1 … 9" in [text for text, _ in page.rows]
    page.close()


def test_key_of_a_disabled_command_shows_the_reason_on_the_canvas_and_in_a_list(driver):
    # With the focus in a list.
    driver.window.images.view.setFocus()
    QTest.keyClick(driver.window.images.view, Qt.Key.Key_Y)
    assert ["label errors first" in text for text in driver.window.messages.texts] == [True]
    # With the focus on the canvas.
    messages = driver.window.messages
    for key, keys, reason in (
        (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier, "“Undo” is not available. There is nothing to undo."),
        (Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier, "“Predict current image” is not available. Train a model"),
        (Qt.Key.Key_9, Qt.KeyboardModifier.ShiftModifier, "No verdict has this number."),
    ):
        for _ in range(2):
            driver.key(key, keys)
        assert sum(reason in text for text in messages.texts) == 1


def test_key_shows_no_reason_if_it_is_enabled_or_a_text_is_edited(driver):
    # Enabled commands.
    driver.key(Qt.Key.Key_N)
    driver.key(Qt.Key.Key_E)
    assert driver.canvas.tool == "eraser" and not driver.window.messages.texts
    # Disabled commands, while a text is edited.
    search = driver.window.images.search
    search.setFocus()
    for key, keys in ((Qt.Key.Key_Y, None), (Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)):
        QTest.keyClick(search, key, keys or Qt.KeyboardModifier.NoModifier)
    assert search.text() == "y" and not driver.window.messages.texts


def test_changed_shortcut_of_a_disabled_command_shows_the_reason(driver):
    window = driver.window
    window.dialogs.shortcut_changes.assign("predict", QKeySequence("Ctrl+Alt+P"))
    driver.key(Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert not window.messages.texts
    driver.key(Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
    assert ["Train a model first" in text for text in window.messages.texts] == [True]
    window.dialogs.shortcut_changes.reset_all()


def test_keys_cycle_through_panels_choose_tools_and_change_the_image(driver):
    # F6 cycles through the panels.
    window = driver.window
    driver.canvas.setFocus()
    focused = []
    for _ in range(4):
        QTest.keyClick(window, Qt.Key.Key_F6)
        focused.append(window.focusWidget())
    assert window.images.view in focused and window.classes.view in focused and focused[-1] is driver.canvas
    # Keys of tools.
    for tool in ("brush", "eraser", "polygon"):
        command = driver.window.table[tool]
        driver.canvas.choose_tool("fill")
        driver.key(Qt.Key(ord(command.shortcut().toString())))
        assert driver.canvas.tool == tool
        driver.qtbot.waitUntil(command.isChecked)
    # Keys of images and verdicts.
    session = driver.session
    driver.open(session.keys[0])
    driver.key(Qt.Key.Key_D)
    driver.key(Qt.Key.Key_PageDown)  # before the first of them has been read
    driver.qtbot.waitUntil(lambda: session.key == session.keys[2], timeout=5000)
    driver.key(Qt.Key.Key_A)
    driver.qtbot.waitUntil(lambda: session.key == session.keys[1], timeout=5000)
    driver.key(Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert session.note.verdict == "OK"
    driver.key(Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert session.note.verdict is None
    driver.open("lot1/new.png")
    assert session.note.status == "new"
    driver.open(session.keys[0])
    driver.key(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    driver.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    driver.key(Qt.Key.Key_Return)
    driver.qtbot.waitUntil(lambda: session.rows["lot1/new.png"].status == "done", timeout=5000)


def test_mnemonics_are_removed_from_names():
    assert plain("&Undo") == "Undo" and plain("撤销(&U)") == "撤销" and plain("Rec&tangle") == "Rectangle"
    assert plain("pore && crack") == "pore & crack"
