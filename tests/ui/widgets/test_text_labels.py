"""Elided label: full text, shorter text, tooltip and preferred width at different widths."""

from __future__ import annotations

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication, QImage, QPixmap
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QSpinBox, QWidget

from tests.ui.layout_faults import MOST_ROUNDS, layout_rounds
from workbench.ui.widgets.text_labels import (
    ElidedLabel,
    align_text,
    available_area,
    center_text,
    resize_for_text,
    resize_on_screen,
    set_disabled_reason,
    set_width_for_text,
)
from workbench.ui.widgets.theme import FONTS

LONG, SHORT = "Dice 0.94 on 120 validation images; expect 0.85 to 0.95", "Dice 0.94; expect 0.85 to 0.95"
SHORTEST = "Dice 0.94"


@pytest.fixture
def label(qtbot) -> ElidedLabel:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.show()
    return label


def test_short_text_replaces_one_that_does_not_fit(label):
    label.set_text(LONG, short=[SHORT, SHORTEST])
    width = label.fontMetrics().horizontalAdvance
    for size, text in ((width(LONG) + 4, LONG), (width(LONG) - 4, SHORT), (width(SHORT) + 4, SHORT)):
        label.resize(size, 20)
        assert label.text() == text and label.full_text == LONG
        assert label.toolTip() == ("" if text == LONG else LONG)
    label.resize(width(SHORT) - 4, 20)
    assert label.text() == SHORTEST and label.toolTip() == LONG
    label.resize(width(SHORTEST) - 4, 20)
    assert label.text().endswith("…") and label.text()[:3] == SHORTEST[:3]


def test_empty_short_text_replaces_one_that_would_be_cut(label):
    label.set_text(LONG, short=[SHORTEST, ""])
    label.resize(label.fontMetrics().horizontalAdvance(SHORTEST) - 4, 20)
    assert label.text() == "" and label.toolTip() == LONG


def test_details_are_always_in_the_tooltip(label):
    label.resize(label.fontMetrics().horizontalAdvance(LONG) + 4, 20)
    label.set_text(LONG, details="reason")
    assert label.toolTip() == "reason"
    label.resize(40, 20)
    assert label.toolTip() == f"{LONG}\nreason"
    label.set_text(LONG)
    assert label.toolTip() == LONG


def test_label_as_wide_as_its_text_yields_to_the_row(qtbot):
    """The tooltip is set with the text, not when the label is painted, and eliding requests no further layout."""
    label, other, row = ElidedLabel(as_wide_as_text=True), QLabel("other"), QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(label)
    layout.addWidget(other)
    layout.addStretch(1)
    qtbot.addWidget(row)
    label.set_text(LONG)
    full = label.fontMetrics().horizontalAdvance(LONG)
    row.resize(full + other.sizeHint().width() + 40, 30)
    row.show()
    qtbot.waitUntil(lambda: label.width() == full)
    assert label.text() == LONG and label.toolTip() == ""
    row.resize(full, 30)
    assert layout_rounds(row) < MOST_ROUNDS
    assert label.text().endswith("…") and label.toolTip() == LONG and other.width() == other.sizeHint().width()
    assert label.sizeHint().width() == full and label.minimumSizeHint().width() == 0
    label.set_text(SHORTEST)
    qtbot.waitUntil(lambda: label.text() == SHORTEST)
    assert label.toolTip() == ""


def test_text_is_not_elided_at_its_own_width(label):
    """Widths are rounded; the text of some of these would be elided by one pixel too few."""
    for number in range(60):
        text = f"Measuring the speed, {number} s left"
        label.resize(label.fontMetrics().horizontalAdvance(text), 20)
        label.set_text(text)
        assert label.text() == text


def test_reason_is_added_to_the_tooltip_and_removed_again(qtbot):
    button = QPushButton("Save")
    qtbot.addWidget(button)
    button.setToolTip("Save the settings")
    for _ in range(2):  # a second time nothing is added
        set_disabled_reason(button, "The project is read-only")
        assert not button.isEnabled() and button.toolTip() == "Save the settings\nThe project is read-only"
    assert button.accessibleDescription() == "The project is read-only"
    set_disabled_reason(button, "Open an image first")
    assert button.toolTip() == "Save the settings\nOpen an image first"
    set_disabled_reason(button, "")
    assert button.isEnabled() and button.toolTip() == "Save the settings" and not button.accessibleDescription()


def test_a_tooltip_set_in_between_is_kept(qtbot):
    button = QPushButton("Save")
    qtbot.addWidget(button)
    set_disabled_reason(button, "Open an image first")
    assert button.toolTip() == "Open an image first"
    button.setToolTip("Save the labels")
    set_disabled_reason(button, "The project is read-only")
    assert button.toolTip() == "Save the labels\nThe project is read-only"
    set_disabled_reason(button, "")
    assert button.toolTip() == "Save the labels"


@pytest.fixture
def font(qapp) -> QFont:
    """Font of the application followed by one with Chinese characters."""
    installed = [name for name in FONTS["zh_CN"] if name in QFontDatabase.families()]
    if not installed:
        pytest.skip("no font with Chinese characters is installed")
    font = qapp.font()
    font.setFamilies([QFontInfo(font).family(), *installed])
    return font


def rows(widget: QWidget) -> tuple[int, int]:
    """Return the first and the last row of the text of a widget."""
    pixmap = QPixmap(widget.size())
    widget.render(pixmap)
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    pixels = np.array(image.constBits()).reshape(image.height(), image.bytesPerLine())
    dark = np.flatnonzero(pixels[6:-6, 12 : widget.width() - 24].min(1) < 128) + 6
    return int(dark[0]), int(dark[-1])


def test_text_is_at_the_height_of_that_of_buttons(qtbot, font, qapp):
    field = QSpinBox(value=5, suffix=" 分钟", readOnly=True, focusPolicy=Qt.FocusPolicy.NoFocus)
    plain = QSpinBox(value=5, suffix=" min")
    button = QPushButton("5 分钟  ", flat=True)
    for widget in (field, plain, button):
        qtbot.addWidget(widget)
        widget.setPalette(qapp.style().standardPalette())
        widget.setFont(font)
        widget.resize(120, 32)
    for box in (field, plain):
        align_text(box)
    field.show()
    button.show()
    assert np.abs(np.subtract(rows(field), rows(button))).max() <= 1
    assert plain.lineEdit().textMargins().top() == 0
    assert field.sizeHint().height() == plain.sizeHint().height()


def test_text_of_a_line_edit_is_centered(qtbot, font, qapp):
    field, other = QLineEdit(readOnly=True, focusPolicy=Qt.FocusPolicy.NoFocus), QPushButton("名称  ", flat=True)
    for widget in (field, other):
        qtbot.addWidget(widget)
        widget.setPalette(qapp.style().standardPalette())
        widget.setFont(font)
        widget.resize(120, 32)
    center_text(field)
    field.setText("    名称")
    field.show()
    other.show()
    assert np.abs(np.subtract(rows(field), rows(other))).max() <= 1
    field.setText("name")
    assert field.textMargins().top() == 0


def test_a_window_is_not_larger_than_the_screen(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    resize_on_screen(widget, 500, 400)
    assert (widget.width(), widget.height()) == (500, 400)
    resize_on_screen(widget, 5000, 4000)
    available = available_area(widget).size()
    assert widget.width() <= max(1024, available.width()) - 16
    assert widget.height() <= max(600, available.height()) - 40


def test_dialogs_are_larger_with_larger_texts(qtbot, qapp):
    font = qapp.font()
    larger = QFont(font)
    larger.setPointSizeF(1.5 * font.pointSizeF())
    qapp.setFont(larger)
    try:
        widget = QWidget()
        qtbot.addWidget(widget)
        resize_for_text(widget, 400, 200)
        assert (widget.width(), widget.height()) == (600, 300)
        set_width_for_text(widget, 300)
        assert widget.minimumWidth() == 450
        set_width_for_text(widget, 5000)
        assert widget.minimumWidth() <= max(1024, available_area(widget).size().width()) - 16
    finally:
        qapp.setFont(font)


def test_screen_is_not_deleted_with_a_window(qtbot):
    """The window has no parent, so that Python deletes it."""
    screen = QGuiApplication.primaryScreen()
    window = QDialog()
    set_width_for_text(window, 300)
    resize_for_text(window, 400, 200)
    window.show()
    assert available_area(window) == screen.availableGeometry()
    del window
    assert shiboken6.isValid(screen)


def test_contents_of_a_hidden_dialog_fit_the_screen_of_the_window(qtbot, monkeypatch):
    window, points = QWidget(), []
    qtbot.addWidget(window)
    window.setGeometry(300, 200, 100, 80)
    window.show()
    content = QWidget(QDialog(window))
    monkeypatch.setattr(QGuiApplication, "screenAt", points.append)
    available_area(content)
    assert points == [window.mapToGlobal(window.rect().center())]
