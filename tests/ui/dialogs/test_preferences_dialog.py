"""Settings dialog: every field is applied and stored at once, and the defaults can be restored."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton

from tests.core.click_model.toy_click_networks import toy_pair
from workbench.session.preferences import Preferences
from workbench.ui.canvas.option_bar import ClickModelStatus
from workbench.ui.dialogs.preferences_dialog import PAGES, PreferencesDialog
from workbench.ui.widgets.theme import scaled_text

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def dialog(driver):
    QTest.keyClick(driver.window, Qt.Key.Key_Comma, CTRL)
    dialog = driver.window.findChild(PreferencesDialog)
    assert dialog is not None and dialog.isVisible()
    yield dialog
    driver.window.view_settings.set_text_size(100)
    driver.window.view_settings.set_theme("dark")


def editor(dialog, page: str, text: str):
    form = dialog.forms[page]
    return next(edit for field, edit in zip(form.fields, form.editors) if field.text == text)


def test_appearance_is_applied_and_stored_at_once(style_sheet, dialog, driver):
    size = QApplication.font().pointSizeF()
    theme = editor(dialog, "appearance", "Theme")
    theme.setFocus()
    QTest.keyClick(theme, Qt.Key.Key_End)
    assert driver.window.theme_manager.theme.name == "light" and Preferences.load().theme == "light"
    text_size = editor(dialog, "appearance", "Text size")
    text_size.stepBy(3)
    assert QApplication.font().pointSizeF() == pytest.approx(1.3 * size) and Preferences.load().text_size == 130
    assert driver.window.findChild(QLabel).font().pointSizeF() == pytest.approx(1.3 * size)
    QTest.mouseClick(dialog.restore, Qt.MouseButton.LeftButton)
    assert QApplication.font().pointSizeF() == pytest.approx(size) and theme.currentData() == "system"


def test_language_reopens_the_dialog_in_the_new_window(dialog, opened, qtbot):
    old = opened.window
    language = editor(dialog, "appearance", "Language / 语言")
    language.setCurrentIndex(language.findData("zh_CN"))
    qtbot.waitUntil(lambda: opened.window is not old)
    new = opened.window.findChild(PreferencesDialog)
    assert new.isVisible() and new.page == "appearance"
    assert opened.window.table["undo"].text() == "撤销(&U)"


def test_fields_of_labeling_and_training_and_the_window_agree(dialog, driver):
    # Fields of labeling change canvas and tools.
    dialog.open_page("labeling")
    editor(dialog, "labeling", "Label opacity").setValue(70)
    assert driver.canvas.scene.label_style.opacity == 0.7 and driver.window.layers.labels.slider.value() == 70
    editor(dialog, "labeling", "Brush size").setValue(31)
    assert driver.canvas.diameter == 31
    check = editor(dialog, "labeling", "Brush: fill closed strokes")
    QTest.mouseClick(check, Qt.MouseButton.LeftButton, pos=QPoint(8, check.height() // 2))
    assert driver.canvas.options.on("encircle")
    editor(dialog, "labeling", "Grow and shrink by").setValue(3)
    assert driver.canvas.options["step"] == 3
    dialog.restore.click()
    assert driver.canvas.diameter == 16 and not driver.canvas.options.on("encircle")
    assert driver.canvas.scene.label_style.opacity == 0.45 and driver.canvas.options["step"] == 1
    # Defaults of the training are those of its panel.
    controls = driver.window.training.controls
    editor(dialog, "training", "Time limit").setValue(12)
    model = editor(dialog, "training", "Model")
    model.setCurrentIndex(model.findData("resnet"))
    assert controls.values()[:2] == ("resnet", 12) and controls.resnet.isChecked()
    dialog.open_page("training")
    dialog.restore.click()
    assert controls.values() == ("unet", Preferences().minutes, "auto")
    # Values changed in the window are shown.
    driver.canvas.set_diameter(44)
    driver.window.activateWindow()
    dialog.activateWindow()
    driver.qtbot.waitUntil(lambda: editor(dialog, "labeling", "Brush size").value() == 44)


@pytest.mark.parametrize("choice, expected", [("next_open", 4), ("stay", 0)])
def test_done_opens_the_chosen_image(dialog, driver, choice, expected):
    session = driver.session
    driver.open(session.keys[0])
    combo = editor(dialog, "labeling", "After “Mark as done”, open")
    combo.setCurrentIndex(combo.findData(choice))
    assert Preferences.load().after_done == choice
    dialog.close()
    driver.activate()
    driver.key(Qt.Key.Key_Return)
    assert session.opening == session.keys[expected]


def test_dialog_exists_once_and_pages_are_reached_by_keyboard(dialog, driver):
    assert driver.window.dialogs.show_settings() is dialog
    dialog.list.setFocus()
    shown = [dialog.page]
    for _ in PAGES[1:]:
        QTest.keyClick(dialog.list, Qt.Key.Key_Down)
        shown.append(dialog.page)
    assert shown == list(PAGES) and dialog.pages.currentIndex() == len(PAGES) - 1
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_font_sizes_of_the_style_sheet_are_scaled():
    assert scaled_text("a { font-size: 20px; padding: 4px; }", 1.5) == "a { font-size: 30px; padding: 4px; }"


def test_files_of_the_click_model_are_checked_at_once(dialog, driver, tmp_path, monkeypatch):
    clicks, status = driver.services.clicks, dialog.findChild(ClickModelStatus)
    encoder, decoder = toy_pair(tmp_path, "sam2")
    decoder = decoder.rename(tmp_path / "decoder.onnx")  # keyboard events are made of ASCII characters only
    dialog.open_page("click_model")
    assert "built-in" in status.text()
    field = editor(dialog, "click_model", "Image encoder")
    field.line.setFocus()
    QTest.keyClicks(field.line, str(decoder))
    QTest.keyClick(field.line, Qt.Key.Key_Tab)
    assert Preferences.load().click_encoder == str(decoder) and not clicks.own_files
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *args: (str(encoder), ""))
    editor(dialog, "click_model", "Mask decoder").findChild(QPushButton).click()
    driver.qtbot.waitUntil(lambda: clicks.problem is not None, timeout=60_000)
    assert "exchange the two" in status.text()
    editor(dialog, "click_model", "Image encoder").findChild(QPushButton).click()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *args: (str(decoder), ""))
    editor(dialog, "click_model", "Mask decoder").findChild(QPushButton).click()
    driver.qtbot.waitUntil(lambda: "Segment Anything 2" in status.text(), timeout=60_000)
    assert driver.window.table["click"].isEnabled()
    values = editor(dialog, "click_model", "Pixel values")
    values.setCurrentIndex(values.findData("255"))
    assert Preferences.load().click_values == "255"
    dialog.restore.click()
    assert not clicks.own_files and Preferences.load().click_decoder == "" and "built-in" in status.text()


def test_option_bar_opens_the_files_of_the_click_model(driver):
    driver.canvas.choose_tool("click")
    field = driver.window.options.click_model
    assert field.isVisible()
    driver.qtbot.waitUntil(lambda: field.state.text() == "Built-in network", timeout=60_000)
    field.button.click()
    dialog = driver.window.findChild(PreferencesDialog)
    assert dialog.isVisible() and dialog.page == "click_model"
