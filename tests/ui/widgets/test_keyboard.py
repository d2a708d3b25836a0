"""Keys and wheel turns in editors: every key of the command table typed into every editor of the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QApplication, QComboBox, QDialog, QLineEdit, QPushButton, QScrollBar

from workbench.ui.actions.shortcut_changes import ShortcutsDialog
from workbench.ui.widgets.keyboard import EDITORS
from workbench.ui.widgets.text_labels import CollapsibleSection

K, M = Qt.Key, Qt.KeyboardModifier
NEW = "lot1/new.png"
# Commands that open a dialog, show another page in place of the image, or end the test's window.
SKIPPED = {
    "new_project",
    "open_project",
    "add_images",
    "add_folder",
    "close_project",
    "quit",
    "make_sample",
    "about",
    "full_screen",
    "export_options",
    "training_settings",
    "train",
    "export",
    "predict_folder",
    "keys",
    "evaluation",
    "thumbnails",
    "compare_runs",
}
PLAIN = [
    K.Key_Return,
    K.Key_Enter,
    K.Key_Escape,
    K.Key_Delete,
    K.Key_Backspace,
    K.Key_Space,
    K.Key_Left,
    K.Key_Right,
    K.Key_Up,
    K.Key_Down,
    K.Key_PageUp,
    K.Key_PageDown,
    K.Key_Home,
    K.Key_End,
    *(K(code) for code in range(ord("A"), ord("Z") + 1)),
    *(K(code) for code in range(ord("0"), ord("9") + 1)),
    K.Key_BracketLeft,
    K.Key_BracketRight,
    K.Key_Comma,
    K.Key_Period,
    K.Key_Plus,
    K.Key_Minus,
]


def editors(root) -> list:
    """Return the focusable editors below a widget, without the parts of spin boxes and combo boxes."""
    widgets = [w for kind in EDITORS for w in root.findChildren(kind) if w.window() is root.window()]
    return [
        widget
        for widget in dict.fromkeys(widgets)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not isinstance(widget, QScrollBar)
        and not isinstance(widget.parent(), EDITORS)
    ]


def pressed_keys(window) -> list:
    """Return the keys to type with their modifiers: plain ones and those of the command table."""
    keys_to_type = [(key, M.NoModifier) for key in PLAIN] + [(K.Key_Tab, M.NoModifier)]
    for command in window.table.commands.values():
        if command.id not in SKIPPED:
            for keys in window.table[command.id].shortcuts():
                combination = keys[0]
                if not K.Key_F1 <= combination.key() <= K.Key_F35:
                    keys_to_type.append((combination.key(), combination.keyboardModifiers()))
    return list(dict.fromkeys(keys_to_type))


def state(driver) -> tuple:
    session = driver.session
    notes = {key: (row.status, row.verdict) for key, row in session.rows.items()}
    note = session.note
    opened = note.verdict, note.status, note.pin, note.explicit_background, len(note.decided)
    return (
        session.key,
        driver.window.images._requested,
        session.mask.tobytes(),
        opened,
        notes,
        driver.canvas.tool,
        session.editor.class_id,
        session.editor.keep_other,
        session.can_redo(),
    )


@pytest.fixture
def labeled_project(driver, qtbot):
    """Labeled image with strokes that undo and redo would change; every panel is unfolded."""
    driver.open(NEW)
    driver.session.classes.choose(1)
    driver.drag((20, 20), (60, 40))
    driver.drag((20, 60), (60, 60))
    driver.session.undo()
    for section in driver.window.findChildren(CollapsibleSection):
        section.heading.setChecked(True)
    driver.window.training.heading.setChecked(True)
    driver.window.verdict.add_button.click()
    for tool in ("wand", "crack", "region", "threshold", "brush"):
        driver.canvas.choose_tool(tool)
    qtbot.wait(20)
    return driver


def type_into(driver, widget, keys) -> list[str]:
    """Type keys one by one into an editor that has the focus; returns those that changed something else."""
    before, wrong = state(driver), []
    for key, modifiers in keys:
        if not widget.isVisible():
            driver.window.verdict.add_button.click()  # Return hides the field for a new verdict
        widget.setFocus()
        if QApplication.focusWidget() is not widget:
            return [*wrong, "no focus"]
        QTest.keyClick(QApplication.focusWidget(), key, modifiers)
        popup = QApplication.activePopupWidget()
        while popup is not None:
            popup.close()
            popup = QApplication.activePopupWidget()
        if state(driver) != before:
            wrong.append(f"{modifiers.name} {K(key).name}")
            driver.open(NEW)
            before = state(driver)
    return wrong


def test_no_key_in_an_editor_of_the_window_changes_the_label(labeled_project):
    driver, wrong, typed = labeled_project, {}, 0
    keys = pressed_keys(driver.window)
    # Every tool has fields of its own in the option bar.
    tools = {"brush": "size", "wand": "tolerance", "crack": "line", "region": "step"}
    typed_into = set()
    for tool in tools:
        driver.canvas.choose_tool(tool)
        for widget in editors(driver.window):
            if widget in typed_into or not widget.isVisible() or not widget.isEnabled():
                continue
            typed_into.add(widget)
            typed += len(keys)
            changing = type_into(driver, widget, keys)
            if changing:
                wrong[f"{type(widget).__name__} {widget.accessibleName() or widget.objectName()}"] = changing
    window = driver.window
    assert {window.images.search, window.training.controls.minutes, window.display.gamma} <= typed_into
    assert sum(window.options.isAncestorOf(widget) for widget in typed_into) >= len(tools)
    assert len(typed_into) > 15 and typed > 1000
    assert not wrong


def test_no_key_in_a_class_name_changes_the_label(labeled_project, qtbot):
    driver, view = labeled_project, labeled_project.window.classes.view
    before = state(driver)
    for key, modifiers in pressed_keys(driver.window):
        if key == K.Key_Tab:
            continue  # the editor opens on the next name
        view.edit(view.model().index(0, 0))
        field = view.findChild(QLineEdit)
        field.setFocus()
        QTest.keyClick(field, key, modifiers)
        field.setText("scratch")
        assert state(driver) == before, (key, modifiers)
        QApplication.sendPostedEvents()  # Return closes the editor by an event, which must come before its deletion
        view.setFocus()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_no_key_in_a_dialog_changes_the_label(labeled_project, qtbot):
    driver, keys, editors_tested = labeled_project, pressed_keys(labeled_project.window), 0
    ending = {K.Key_Escape, K.Key_Return, K.Key_Enter}
    driver.window.table["keys"].trigger()
    driver.window.project_commands.new_project()
    driver.window.project_commands.predict_folder()
    driver.window.training_settings.open()
    dialogs = [dialog for dialog in driver.window.findChildren(QDialog) if dialog.isVisible()]
    assert len(dialogs) >= 4 and any(isinstance(dialog, ShortcutsDialog) for dialog in dialogs)
    before = state(driver)
    for dialog in dialogs:
        dialog.activateWindow()
        for widget in [w for w in editors(dialog) if w.isVisible() and w.isEnabled()][:6]:
            for key, modifiers in keys:
                if key not in ending and not modifiers:
                    widget.setFocus()
                    QTest.keyClick(widget, key, modifiers)
                    if (popup := QApplication.activePopupWidget()) is not None:
                        popup.close()
            editors_tested += 1
            assert state(driver) == before, (dialog, widget)
    assert editors_tested >= 12
    for dialog in dialogs:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.close()


def test_no_key_in_the_dialog_of_a_command_changes_the_label(labeled_project, qtbot):
    driver, keys = labeled_project, pressed_keys(labeled_project.window)
    for command in ("import_labels", "export_labels", "merge_project", "pack", "unpack", "statistics", "adopt_model"):
        driver.window.table[command].trigger()
        (dialog,) = [dialog for dialog in driver.window.findChildren(QDialog) if dialog.isVisible()]
        before, typed_into = state(driver), set()
        for widget in [w for w in editors(dialog) if w.isVisible() and w.isEnabled()]:
            for key, modifiers in keys:
                if modifiers or key in {K.Key_Escape, K.Key_Return, K.Key_Enter}:
                    continue
                if QApplication.activeWindow() is not dialog:  # closing the list of a combo box may activate another
                    dialog.activateWindow()
                    qtbot.waitUntil(lambda dialog=dialog: QApplication.activeWindow() is dialog)
                widget.setFocus()
                QTest.keyClick(widget, key, modifiers)
                while (popup := QApplication.activePopupWidget()) is not None:
                    popup.close()
                assert state(driver) == before, (command, widget, K(key), modifiers)
            typed_into.add(widget)
        assert typed_into and dialog.isVisible(), command
        dialog.close()


def test_return_in_a_number_field_of_a_tool_commits(driver):
    driver.open(NEW)
    for tool, name, value in (("brush", "size", 30), ("wand", "tolerance", 35), ("crack", "widest", 12)):
        driver.canvas.choose_tool(tool)
        spin = driver.window.options.spins[name]
        QTest.mouseClick(spin.lineEdit(), Qt.MouseButton.LeftButton)
        assert spin.hasFocus(), tool
        spin.selectAll()
        QTest.keyClicks(spin, str(value))
        QTest.keyClick(spin, K.Key_Return)
        assert spin.value() == value
        assert (driver.canvas.diameter if name == "size" else driver.canvas.options[name]) == value, tool
        assert driver.session.key == NEW and driver.session.note.status == "new", tool
        assert driver.canvas.hasFocus(), tool
        QTest.keyClick(driver.canvas, K.Key_E)
        assert driver.canvas.tool == "eraser", tool


def test_escape_in_a_field_restores_the_old_value(driver):
    window, canvas = driver.window, driver.canvas
    driver.open(NEW)
    window.training.heading.setChecked(True)
    spin, minutes, search = window.options.spins["size"], window.training.controls.minutes, window.images.search
    device, opacity = window.training.controls.device, window.layers.findChild(QAbstractSlider)
    canvas.set_diameter(26)
    for field, text in ((spin, "30"), (minutes, "9"), (search, "zzz")):
        old = field.text()
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)
        assert field.text() != old
        QTest.keyClick(field, K.Key_Escape)
        assert field.text() == old and canvas.hasFocus()
    assert canvas.diameter == 26
    for field, value in ((device, device.currentIndex), (opacity, opacity.value)):
        old = value()
        field.setFocus()
        QTest.keyClick(field, K.Key_Down)
        assert value() != old
        QTest.keyClick(field, K.Key_Escape)
        assert value() == old and canvas.hasFocus()


def test_field_used_with_the_pointer_returns_the_focus(driver, qtbot):
    window, canvas = driver.window, driver.canvas
    driver.open(NEW)
    window.training.heading.setChecked(True)
    slider = window.options.sliders["size"]
    QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(60, slider.height() // 2))
    assert canvas.hasFocus()
    box = window.training.controls.device
    box.setFocus()
    box.showPopup()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is box.view(), timeout=5000)
    QTest.keyClick(box.view(), K.Key_Return)
    qtbot.waitUntil(lambda: window.focusWidget() is canvas, timeout=5000)
    window.activateWindow()  # the offscreen platform does not do so when a popup has closed
    qtbot.waitUntil(canvas.hasFocus, timeout=5000)
    minutes = window.training.controls.minutes
    minutes.setFocus()
    minutes.selectAll()
    QTest.keyClicks(minutes, "7")
    driver.drag((20, 20), (30, 30))
    assert minutes.value() == 7 and canvas.hasFocus()
    QTest.keyClick(canvas, K.Key_P)
    assert canvas.tool == "polygon"


def test_auto_repeated_return_marks_nothing_as_done(driver):
    """The first Return leaves the field; its repeats reach the canvas."""
    driver.open(NEW)
    for id in ("done_next", "verdict_next_1"):
        assert not driver.window.table[id].autoRepeat()


def test_a_new_verdict_and_a_class_name_are_committed_with_return(driver):
    window = driver.window
    window.verdict.add_button.click()
    name = window.verdict.name_field
    QTest.keyClicks(name, "rework")
    QTest.keyClick(name, K.Key_Return)
    assert "rework" in driver.session.project.file.verdicts and driver.canvas.hasFocus()
    view = window.classes.view
    view.setFocus()
    view.edit(view.model().index(0, 0))
    field = view.findChild(QLineEdit)
    field.setText("crack")
    QTest.keyClick(field, K.Key_Return)
    assert driver.session.project.classes[0].name == "crack" and driver.canvas.hasFocus()


def test_return_presses_a_button_that_was_reached_by_the_keyboard(driver, qtbot):
    driver.open(NEW)
    for button in driver.window.verdict.findChildren(QPushButton)[:2]:
        driver.window.activateWindow()
        button.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(driver.window.windowHandle(), K.Key_Return)
        assert driver.session.key == NEW and driver.session.note.status != "done"
        assert driver.session.note.verdict == button.text()
    driver.canvas.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(driver.window.windowHandle(), K.Key_Return)
    qtbot.waitUntil(lambda: driver.session.rows[NEW].status == "done")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("button", K.Key_Return),
        ("export", K.Key_Space),
        pytest.param("button", K.Key_Space, marks=pytest.mark.slow),
        pytest.param("export", K.Key_Return, marks=pytest.mark.slow),
    ],
)
def test_second_press_of_a_key_does_not_stop_what_the_first_one_started(driver, name, key):
    """The button turns into "Stop" or "Cancel export"."""
    controls, clicks = driver.window.training.controls, []
    button = getattr(controls, name)
    for clicked in (controls.train_clicked, controls.export_clicked):
        clicked.disconnect()
        clicked.connect(lambda: clicks.append(True))
    button.setEnabled(True)
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, key)
    assert clicks == [True] and driver.canvas.hasFocus()


@pytest.mark.parametrize("key", [K.Key_Return, K.Key_Space])
def test_key_that_has_pressed_train_does_not_reach_the_image(driver, qtbot, key):
    """A press is held back until it is clear that the key is aimed at the image: Return would mark it as done."""
    driver.open(NEW)
    window, session, guard, now = driver.window, driver.session, driver.window.editor_keys.repeated_key, [0.0]
    guard.clock = lambda: now[0]
    controls = window.training.controls
    controls.train_clicked.disconnect()
    controls.button.setEnabled(True)
    controls.button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(controls.button, key)
    assert driver.canvas.hasFocus()
    now[0] = 60.0
    accepted = []
    window.table["accept_all"].triggered.connect(lambda: accepted.append(True))
    QTest.keyClick(window.windowHandle(), key)  # much later, but the first one
    now[0] = 60.5
    QTest.keyClick(window.windowHandle(), key)  # soon after it
    qtbot.wait(50)
    assert session.key == NEW and session.rows[NEW].status != "done" and not accepted
    assert any("activated the button" in text and "Train" in text for text in window.messages.texts)
    now[0] = 62.0
    QTest.keyClick(window.windowHandle(), K.Key_Return)
    qtbot.waitUntil(lambda: session.rows[NEW].status == "done")


def test_another_key_ends_holding_back(driver, qtbot):
    driver.open(NEW)
    controls = driver.window.training.controls
    controls.train_clicked.disconnect()
    controls.button.setEnabled(True)
    controls.button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(controls.button, K.Key_Return)
    QTest.keyClick(driver.window.windowHandle(), K.Key_E)
    QTest.keyClick(driver.window.windowHandle(), K.Key_Return)
    qtbot.waitUntil(lambda: driver.session.rows[NEW].status == "done")


def test_return_on_the_welcome_page_presses_the_focused_button(application, monkeypatch):
    window, pressed = application.window, []
    button = window.welcome.buttons["make_sample"]
    button.clicked.disconnect()
    button.clicked.connect(lambda: pressed.append(True))
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(window.windowHandle(), K.Key_Return)
    assert pressed == [True]


def test_canvas_shows_the_keyboard_focus(driver):
    driver.open(NEW)
    canvas, accent = driver.canvas, driver.canvas.palette().highlight().color()

    def corner():
        return canvas.grab().toImage().pixelColor(0, canvas.height() // 2)

    driver.window.images.view.setFocus()
    assert corner() != accent
    canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)
    assert corner() == accent
    QTest.mouseClick(canvas, Qt.MouseButton.MiddleButton)
    assert corner() != accent


def turn(widget, by: int = -120) -> None:
    """Turn the wheel over a widget, as the window system reports it to its window."""
    top = widget.window()
    QTest.wheelEvent(top.windowHandle(), QPointF(widget.mapTo(top, widget.rect().center())), QPoint(0, by))
    QApplication.processEvents()


def amount(widget):
    return widget.currentIndex() if isinstance(widget, QComboBox) else widget.value()


def test_the_wheel_over_an_editor_without_focus_scrolls_the_panel(driver, qtbot):
    window = driver.window
    driver.open(NEW)
    for section in window.findChildren(CollapsibleSection):
        section.heading.setChecked(True)
    window.resize(1280, 620)
    qtbot.wait(20)
    driver.canvas.setFocus()
    bar = window.side.verticalScrollBar()
    assert bar.maximum() > 0
    sliders = [w for w in editors(window) if not isinstance(w, QLineEdit) and w.isVisible() and w.isEnabled()]
    assert len(sliders) > 8
    scrolled = 0
    for widget in sliders:
        for by in (-120, 120):
            if window.side.isAncestorOf(widget):
                window.side.ensureWidgetVisible(widget)
            driver.canvas.setFocus()
            before, place = amount(widget), bar.value()
            turn(widget, by)
            assert amount(widget) == before and driver.canvas.hasFocus(), widget.accessibleName()
            scrolled += bar.value() != place
    assert scrolled > 4


def test_the_wheel_over_an_editor_with_focus_changes_it_and_dialogs_scroll(driver, qtbot):
    minutes = driver.window.training.controls.minutes
    minutes.setFocus()
    before = minutes.value()
    turn(minutes, 120)
    assert minutes.value() == before + 1
    driver.window.training_settings.open()
    dialog = next(d for d in driver.window.findChildren(QDialog) if d.isVisible())
    dialog.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is dialog, timeout=5000)
    boxes = [box for box in dialog.findChildren(QComboBox) if box.isVisible() and box.isEnabled()]
    assert boxes
    for box in boxes:
        if not box.hasFocus():
            before = box.currentIndex()
            turn(box)
            turn(box, 120)
            turn(box)
            assert box.currentIndex() == before
    dialog.close()
