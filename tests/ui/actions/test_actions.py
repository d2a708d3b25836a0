"""The table of commands: no two share a key, each is in a menu, has its icon, and does what its key promises."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QComboBox, QLineEdit, QListView, QWidget

from workbench.core import resources
from workbench.core.project import annotation
from workbench.core.runs.dataset import collect
from workbench.ui.actions.menus import MENUS, NAVIGATION, OVERLAYS, TOOLS, ids, titles
from workbench.ui.actions.shortcuts_dialog import ShortcutsDialog
from workbench.ui.text.formatting import plain


def test_no_two_commands_share_a_key(application):
    keys = Counter(key.toString() for action in application.window.table.all() for key in action.shortcuts())
    assert keys and [key for key, count in keys.items() if count > 1] == []


def test_every_command_is_in_a_menu_once(application):
    listed = Counter(id for table in MENUS.values() for id in ids(table))
    assert set(listed) == set(application.window.table.rows)
    assert max(listed.values()) == 1
    assert {id for table in (TOOLS, NAVIGATION, OVERLAYS) for id in ids(table)} <= set(listed)
    assert set(MENUS) <= set(titles())


def test_every_icon_exists_and_is_used(application):
    drawn = {path.stem for path in resources.path("icons").glob("*.svg")}
    named = {row.icon for row in application.window.table.rows.values() if row.icon}
    assert named <= drawn
    sources = "".join(
        path.read_text("utf-8") for path in (resources.folder().parent / "workbench" / "ui").rglob("*.py")
    ) + resources.text("style.qss")
    assert {name for name in drawn if f'"{name}"' not in sources and f"({name}," not in sources} <= {"app"}


# The keys that people are promised, window and manual alike.
PROMISED = {
    "next": ["D", "PgDown"],
    "previous": ["A", "PgUp"],
    "next_unlabelled": ["Ctrl+Shift+D", "Ctrl+PgDown"],
    "previous_unlabelled": ["Ctrl+PgUp"],
    "accept_all": ["Ctrl+Shift+A"],
    "toward_labels": ["Alt+Left"],
    "toward_proposals": ["Alt+Right"],
    "done_next": ["Return", "Enter"],
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
    found = {id: [key.toString() for key in table[id].shortcuts()] for id in PROMISED}
    assert found == {id: [QKeySequence(key).toString() for key in keys] for id, keys in PROMISED.items()}


@pytest.mark.parametrize("id, tool", [("brush", "brush"), ("eraser", "eraser"), ("polygon", "polygon")])
def test_tool_keys_choose_tools(hand, id, tool):
    hand.canvas.choose_tool("fill")
    hand.key(Qt.Key(ord(hand.window.table[id].shortcut().toString())))
    assert hand.canvas.tool == tool
    hand.qtbot.waitUntil(lambda: hand.window.table[id].isChecked())


def test_what_is_impossible_is_disabled(application, qtbot, root):
    table, session = application.window.table, application.services.session
    for id in ("undo", "next", "done_next", "train", "export", "predict", "close_project", "class_1"):
        assert not table[id].isEnabled(), id
    with qtbot.waitSignal(session.image_opened, timeout=10_000):
        session.open_project(root)
    qtbot.waitUntil(lambda: table["next"].isEnabled() and table["class_2"].isEnabled() and table["train"].isEnabled())
    assert not table["undo"].isEnabled() and not table["class_3"].isEnabled() and not table["export"].isEnabled()
    session.editor.begin("paint")
    session.editor.paint_segment((5, 5), (9, 9), 3, 1)
    session.editor.commit()
    qtbot.waitUntil(table["undo"].isEnabled)


def test_walking_and_judging_by_keys(hand):
    session = hand.session
    hand.open(session.keys[0])
    hand.key(Qt.Key.Key_D)
    hand.key(Qt.Key.Key_PageDown)  # before the first of them has been read
    hand.qtbot.waitUntil(lambda: session.key == session.keys[2], timeout=5000)
    hand.key(Qt.Key.Key_A)
    hand.qtbot.waitUntil(lambda: session.key == session.keys[1], timeout=5000)
    hand.key(Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert session.note.verdict == "OK"
    hand.key(Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert session.note.verdict is None
    hand.open("lot1/new.png")
    assert session.note.status == "new"
    hand.open(session.keys[0])
    hand.key(Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    hand.qtbot.waitUntil(lambda: session.key == "lot1/new.png", timeout=5000)
    hand.key(Qt.Key.Key_Return)
    hand.qtbot.waitUntil(lambda: session.rows["lot1/new.png"].status == "done", timeout=5000)


def test_a_person_holds_a_picture_out_and_takes_that_back(hand):
    session, table = hand.session, hand.window.table
    key = session.keys[0]
    hand.open(key)
    hand.qtbot.waitUntil(table["use_any"].isChecked, timeout=5000)
    table["use_val"].trigger()
    session.flush()
    project = session.project
    assert annotation.load_note(project, key).pin == "val" and session.note.history[-1].what == "pin"
    assert key in [item.key for item in collect(project, "unet").of("val")]
    hand.open(session.keys[1])
    hand.qtbot.waitUntil(table["use_any"].isChecked, timeout=5000)
    hand.open(key)
    hand.qtbot.waitUntil(table["use_val"].isChecked, timeout=5000)
    table["use_any"].trigger()
    session.flush()
    assert annotation.load_note(project, key).pin is None and not collect(project, "unet").of("val")


def test_typing_does_not_trigger_commands(hand):
    """Letters, Enter and page keys in a text field stay there."""
    session, search = hand.session, hand.window.images.search
    hand.open("lot1/new.png")
    hand.key(Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert search.hasFocus()
    QTest.keyClicks(search, "new")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_PageDown):
        QTest.keyClick(search, key)
    hand.qtbot.wait(30)
    assert search.text() == "new" and session.key == "lot1/new.png" and session.note.status == "new"
    assert hand.canvas.tool == "brush"


def test_every_control_can_be_reached_and_has_a_name(opened, qtbot):
    """A tooltip or a text, and a name for screen readers, on all that can be operated."""
    kinds = (QAbstractButton, QAbstractSlider, QComboBox, QLineEdit, QListView)
    for kind in kinds:
        for widget in opened.window.findChildren(kind):
            hidden_part = widget.objectName().startswith("qt_") or isinstance(widget.parent(), (QComboBox, QLineEdit))
            if hidden_part or not _ours(widget):
                continue
            text = widget.text() if isinstance(widget, QAbstractButton) else ""
            assert text or widget.accessibleName() or widget.toolTip(), (widget, widget.parent())


def _ours(widget: QWidget) -> bool:
    """Not a part that Qt or a plot makes for itself: scroll bars, editors of spin boxes, a menu never shown."""
    parents, parent = [], widget
    while parent is not None:
        parents.append(parent.metaObject().className())
        parent = parent.parentWidget()
    foreign = ("QComboBoxPrivate", "QScrollBar", "QDoubleSpinBox", "QMenu", "QToolBarExt")
    return not any(name.startswith(foreign) for name in parents)


def test_f6_walks_through_the_panels(hand):
    window = hand.window
    hand.canvas.setFocus()
    seen = []
    for _ in range(4):
        QTest.keyClick(window, Qt.Key.Key_F6)
        seen.append(window.focusWidget())
    assert window.images.view in seen and window.classes.view in seen and seen[-1] is hand.canvas


def test_keys_page_lists_what_the_table_says(application, qtbot):
    application.window.table["keys"].trigger()
    page = application.window.findChild(ShortcutsDialog)
    text = "\n".join(words for words, _ in page._rows)
    for keys in ("ctrl+z", "d, pgdown", "1 … 9", "alt+1 … alt+9", "f1"):
        assert keys in text
    page.search.setText("polygon")
    shown = [words for words, widgets in page._rows if not widgets[0].isHidden()]
    assert shown and all("polygon" in words for words in shown)
    page.close()


def test_mnemonics_are_taken_out_of_names():
    assert plain("&Undo") == "Undo" and plain("撤销(&U)") == "撤销" and plain("Rec&tangle") == "Rectangle"
